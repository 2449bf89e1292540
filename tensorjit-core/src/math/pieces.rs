//! Odd functions that level off at 1, piece by piece, where the machine looks tables up in a register.

use crate::lanes::{Cmp, ENTRIES, Val};

use super::num::Num;

/// Of each piece its center `c`, the value there, and the coefficients of `q`, lowest first: the function is
/// `value + t q(t)` with `t = x - c`.  In piece 0 it is `t + t q(t)`, so that small values keep all their bits.
pub(super) type Pieces<const ROWS: usize> = [[f64; ENTRIES]; ROWS];

/// Piece 0 reaches up to here.
const LOWEST: f64 = 0.25;

impl Num<'_> {
    /// The function of a magnitude in `f32`, which is at most the end of the last piece, or NaN.
    ///
    /// The value at a center is a float but for a small part of its last bit, so that it is the one rounding at the
    /// end that counts.
    pub(super) fn piecewise<const ROWS: usize>(&mut self, a: Val, pieces: &Pieces<ROWS>) -> Val {
        // Above the lowest piece an octave has two: the exponent and the first bit of the mantissa tell which.
        let inside = self.at_least(a, LOWEST * 0.75);
        let bits = self.bits(inside);
        let index = self.lshr(bits, 22);
        let [center, value, coefficients @ ..] = pieces.as_slice() else { return a };
        let center = self.entry(center, index);
        let t = self.sub(a, center);
        let mut q = self.c(0.0);
        for (power, row) in coefficients.iter().enumerate().rev() {
            let coefficient = self.entry(row, index);
            q = if power + 1 == coefficients.len() { coefficient } else { self.fma(q, t, coefficient) };
        }
        let value = self.entry(value, index);
        let lowest = self.cmp_c(Cmp::Lt, a, LOWEST);
        let value = self.select(lowest, a, value);
        self.fma(t, q, value)
    }
}
