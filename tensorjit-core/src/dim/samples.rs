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
pub(super) struct Samples(Vec<BTreeMap<Sym, i64>>);

impl Samples {
    /// Those within the bounds of the free symbols, with the values that others have by their images, at which no
    /// polynomial of `known` is negative and none of `nonzero` is zero.
    pub(super) fn new(
        free: &[(Sym, Interval)],
        images: &BTreeMap<Sym, Dim>,
        known: &[Dim],
        nonzero: &[Dim],
    ) -> Samples {
        let assign = |sample: usize| -> Option<BTreeMap<Sym, i64>> {
            let value = |(place, (sym, bounds)): (usize, &(Sym, Interval))| {
                let step = if sample < VALUES.len() { 0 } else { place };
                Some((*sym, within(VALUES[(sample + step) % VALUES.len()], *bounds)?))
            };
            let mut values: BTreeMap<Sym, i64> = free.iter().enumerate().map(value).collect::<Option<_>>()?;
            let of = |dim: &Dim| dim.eval(&|sym| values.get(&sym).copied());
            let meets = known.iter().all(|dim| of(dim).is_some_and(|value| value >= 0))
                && nonzero.iter().all(|dim| of(dim).is_some_and(|value| value != 0));
            let others = images.iter().map(|(sym, image)| Some((*sym, of(image)?)));
            let others: Vec<(Sym, i64)> = others.collect::<Option<_>>()?;
            values.extend(others);
            meets.then_some(values)
        };
        let mut samples: Vec<_> = (0..SAMPLES).filter_map(assign).collect();
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
fn within(value: i64, bounds: Interval) -> Option<i64> {
    let at_most = bounds.high.map_or(i128::from(value), |high| high.min(value.into()));
    i64::try_from(bounds.low.map_or(at_most, |low| low.max(at_most))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n() -> Dim {
        Dim::sym(Sym(0))
    }

    fn samples(low: i64, high: i64, known: &[Dim], nonzero: &[Dim]) -> Samples {
        let twice = BTreeMap::from([(Sym(1), &n() + &n())]);
        Samples::new(&[(Sym(0), Interval::of_symbol(low, high))], &twice, known, nonzero)
    }

    #[test]
    fn all_facts_are_met() {
        let known = [&n() - &Dim::constant(3)];
        let nonzero = [&n() - &Dim::constant(40)];
        let seen = samples(2, 50, &known, &nonzero).seen(&n());
        assert_eq!(seen, Interval { low: Some(3), high: Some(50) });
        assert_eq!(samples(4, 4, &[], &[]).seen(&n()), Interval::point(4));
        assert_eq!(samples(0, 2, &known, &[]).seen(&n()), Interval::ALL, "no value meets them");
    }

    #[test]
    fn replaced_symbols_follow_their_images() {
        let seen = samples(1, 9, &[], &[]).seen(&Dim::sym(Sym(1)));
        assert_eq!(seen, Interval { low: Some(2), high: Some(18) });
    }
}
