//! Functions that level off at 1, piece by piece, where the machine looks tables up in a register.

use crate::lanes::{Cmp, ENTRIES, Val};

use super::num::Num;

/// An odd function of a magnitude: in each piece `value + t q(t)` with `t` the distance from its center; in the first
/// one, whose center is 0, `t + t q(t)`, so that small values keep all their bits.
///
/// Four pieces share an octave of `scale` times the magnitude plus 1/2, so that they are even where the function
/// rises and grow where it levels off.  The value at a center is a float but for a small part of its last bit, so that
/// it is the one rounding at the end that counts.
pub(super) struct Pieces<const COUNT: usize> {
    /// From here on the function is 1.
    pub(super) limit: f64,
    pub(super) scale: f64,
    pub(super) centers: [f64; ENTRIES],
    pub(super) values: [f64; ENTRIES],
    /// Of `q`, lowest first.
    pub(super) coefficients: [[f64; ENTRIES]; COUNT],
}

impl Num<'_> {
    /// The function of a magnitude in `f32`, or of NaN.
    pub(super) fn piecewise<const COUNT: usize>(&mut self, a: Val, pieces: &Pieces<COUNT>) -> Val {
        let a = self.at_most(a, pieces.limit);
        let (scale, half) = (self.c(pieces.scale), self.c(0.5));
        let place = self.fma(a, scale, half);
        let bits = self.bits(place);
        // The low bits of the exponent and two of the mantissa.
        let index = self.lshr(bits, 21);
        let center = self.entry(&pieces.centers, index);
        let t = self.sub(a, center);
        let mut q = None;
        for row in pieces.coefficients.iter().rev() {
            let coefficient = self.entry(row, index);
            q = Some(match q {
                Some(q) => self.fma(q, t, coefficient),
                None => coefficient,
            });
        }
        let q = q.unwrap_or(t);
        let value = self.entry(&pieces.values, index);
        // Only the value at 0 is 0.
        let first = self.cmp_c(Cmp::Eq, value, 0.0);
        let value = self.select(first, t, value);
        self.fma(t, q, value)
    }
}
