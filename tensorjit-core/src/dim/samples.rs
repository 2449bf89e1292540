//! Values of the symbols that meet all facts: where one contradicts a claim, no proof of it need be tried.

use std::collections::BTreeMap;

use super::interval::Interval;
use super::{Dim, Sym};

/// What is tried for the first, the second, .. symbol, in turn from the given place on: extents that real calls
/// have, small and large in every order.
const VALUES: [i64; 7] = [1, 2, 1009, 3, 40, 0, 100_003];

/// As many samples as there are values and, for each of these, one with all symbols equal.
const SAMPLES: usize = 2 * VALUES.len();

/// Assignments to the symbols, hidden ones included.
#[derive(Default)]
pub(super) struct Samples(Vec<BTreeMap<Sym, i64>>);

impl Samples {
    /// Those within the bounds of the symbols at which no polynomial of `known` is negative and none of `nonzero`
    /// is zero.
    pub(super) fn new(bounds: &[(Sym, Interval)], known: &[Dim], nonzero: &[Dim]) -> Samples {
        let assign = |sample: usize| -> BTreeMap<Sym, i64> {
            let value = |(place, (sym, bounds)): (usize, &(Sym, Interval))| {
                let step = if sample < VALUES.len() { 0 } else { place };
                (*sym, within(VALUES[(sample + step) % VALUES.len()], *bounds))
            };
            bounds.iter().enumerate().map(value).collect()
        };
        let admitted = |sample: &BTreeMap<Sym, i64>| {
            let value = |dim: &Dim| dim.eval(&|sym| sample.get(&sym).copied());
            known.iter().all(|dim| value(dim).is_some_and(|value| value >= 0))
                && nonzero.iter().all(|dim| value(dim).is_some_and(|value| value != 0))
        };
        let mut samples: Vec<_> = (0..SAMPLES).map(assign).filter(admitted).collect();
        samples.dedup();
        Samples(samples)
    }

    /// The least and the greatest value of `dim` among them, where there are any.
    pub(super) fn seen(&self, dim: &Dim) -> Interval {
        let values = self.0.iter().filter_map(|sample| dim.eval(&|sym| sample.get(&sym).copied()));
        values.fold(Interval::ALL, |seen, value| {
            let value = Some(i128::from(value));
            Interval { low: seen.low.min(value).or(value), high: seen.high.max(value) }
        })
    }
}

/// The nearest value within bounds.
fn within(value: i64, bounds: Interval) -> i64 {
    let clamped = i128::from(value);
    let clamped = bounds.high.map_or(clamped, |high| clamped.min(high));
    let clamped = bounds.low.map_or(clamped, |low| clamped.max(low));
    i64::try_from(clamped).unwrap_or(value)
}
