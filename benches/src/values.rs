//! Whether contenders agree: every output against the oracle in double precision.

use serde::{Deserialize, Serialize};

use crate::tensor::{Precision, Tensor};

/// The error above which a contender computes something else: relative, in the mean square of an output.
pub const fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::F32 => 1e-4,
        Precision::F64 => 1e-12,
    }
}

/// The error that rounding the exact result to the precision of the workload may have; below it none is better
/// than another.
pub const fn rounding(precision: Precision) -> f64 {
    match precision {
        Precision::F32 => f32::EPSILON as f64 / 2.0,
        Precision::F64 => f64::EPSILON / 2.0,
    }
}

/// How far a contender is from the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// The largest error of any output: whether it computes the same thing.
    pub largest: f64,
    /// The largest of an output of several elements, where there is one: how exactly it computes.  A sum of much
    /// that cancels has one error, which luck makes small or large.
    pub typical: f64,
}

/// Measures what was found.
pub fn distance(found: &[Tensor], exact: &[Tensor]) -> Distance {
    let largest = error(found, exact);
    let several: Vec<usize> = (0..exact.len()).filter(|i| exact[*i].len() > 1).collect();
    if several.is_empty() || !largest.is_finite() {
        return Distance { largest, typical: largest };
    }
    let errors = several.into_iter().map(|i| error(&found[i..=i], &exact[i..=i]));
    Distance { largest, typical: errors.fold(0.0, f64::max) }
}

/// The largest error of an output: the root of the mean square of what is wrong, relative to that of the exact
/// output.  Infinite where shapes or counts differ, or a NaN stands where none should.
fn error(found: &[Tensor], exact: &[Tensor]) -> f64 {
    if found.len() != exact.len() {
        return f64::INFINITY;
    }
    let one = |(found, exact): (&Tensor, &Tensor)| {
        if found.shape() != exact.shape() {
            return f64::INFINITY;
        }
        let (mut wrong, mut size) = (0.0, 0.0);
        for (found, exact) in found.iter().zip(exact) {
            wrong += (found - exact).powi(2);
            size += exact.powi(2);
        }
        let error = if wrong == 0.0 { 0.0 } else { (wrong / size).sqrt() };
        if error.is_nan() { f64::INFINITY } else { error }
    };
    found.iter().zip(exact).map(one).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr1;

    #[test]
    fn the_largest_error_counts() {
        let exact = [arr1(&[3.0, 4.0]).into_dyn(), arr1(&[1.0]).into_dyn()];
        let found = [arr1(&[3.0, 4.5]).into_dyn(), arr1(&[1.0]).into_dyn()];
        assert_eq!(error(&found, &exact), 0.1);
        assert_eq!(error(&exact, &exact), 0.0);
        assert_eq!(error(&found[..1], &exact), f64::INFINITY);
        assert_eq!(distance(&found, &exact), Distance { largest: 0.1, typical: 0.1 });
        let one = [exact[0].clone(), arr1(&[2.0]).into_dyn()];
        assert_eq!(distance(&one, &exact), Distance { largest: 1.0, typical: 0.0 });
        assert_eq!(error(&[arr1(&[f64::NAN, 4.0]).into_dyn()], &exact[..1]), f64::INFINITY);
    }
}
