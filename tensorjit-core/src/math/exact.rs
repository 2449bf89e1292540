//! Arithmetic whose rounding errors are kept: sums and products as an unevaluated pair, high and low.

use crate::lanes::Val;

use super::num::Num;

/// A number as the sum of a float and a much smaller one.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    /// The number, rounded.
    pub(super) hi: Val,
    /// What rounding took.
    pub(super) lo: Val,
}

impl Num<'_> {
    /// `a + b` exactly, where `a` is zero or not smaller than `b` in magnitude (Dekker).
    pub(super) fn fast_two_sum(&mut self, a: Val, b: Val) -> Pair {
        let hi = self.add(a, b);
        let taken = self.sub(a, hi);
        Pair { hi, lo: self.add(taken, b) }
    }

    /// `a + b` exactly (Knuth).
    pub(super) fn two_sum(&mut self, a: Val, b: Val) -> Pair {
        let hi = self.add(a, b);
        let b_part = self.sub(hi, a);
        let a_part = self.sub(hi, b_part);
        let a_error = self.sub(a, a_part);
        let b_error = self.sub(b, b_part);
        Pair { hi, lo: self.add(a_error, b_error) }
    }

    /// `a * b` exactly, barring overflow of the halves and underflow of their products.
    pub(super) fn two_prod(&mut self, a: Val, b: Val) -> Pair {
        let hi = self.mul(a, b);
        if self.has_fma() {
            let minus = self.neg(hi);
            return Pair { hi, lo: self.fma(a, b, minus) };
        }
        let (a, b) = (self.split(a), self.split(b));
        let high = self.mul(a.hi, b.hi);
        let mut lo = self.sub(high, hi);
        for (x, y) in [(a.hi, b.lo), (a.lo, b.hi), (a.lo, b.lo)] {
            let part = self.mul(x, y);
            lo = self.add(lo, part);
        }
        Pair { hi, lo }
    }

    /// Two halves with so few bits that products of halves are exact (Veltkamp).
    fn split(&mut self, a: Val) -> Pair {
        let factor = self.pick(4097.0, 134_217_729.0);
        let scaled = self.scale(a, factor);
        let rest = self.sub(scaled, a);
        let hi = self.sub(scaled, rest);
        Pair { hi, lo: self.sub(a, hi) }
    }

    /// Clears low bits of the mantissa.
    pub(super) fn truncate(&mut self, a: Val, cleared: u32) -> Val {
        let bits = self.bits(a);
        let kept = self.and_i(bits, -1 << cleared);
        self.float_from(kept)
    }

    /// `a - q b` where `q` is the rounded quotient; without FMA what its rounding took is left out.
    pub(super) fn division_rest(&mut self, a: Val, minus_q: Val, b: Val) -> Val {
        if self.has_fma() { self.fma(minus_q, b, a) } else { self.c(0.0) }
    }

    /// `a / b` to twice the precision, for moderate operands.
    pub(super) fn quotient(&mut self, a: Pair, b: Pair) -> Pair {
        let one = self.c(1.0);
        let reciprocal = self.div(one, b.hi);
        let hi = self.mul(a.hi, reciprocal);
        let product = self.two_prod(hi, b.hi);
        let rest = self.sub(a.hi, product.hi);
        let rest = self.sub(rest, product.lo);
        let rest = self.add(rest, a.lo);
        let low = self.mul(hi, b.lo);
        let rest = self.sub(rest, low);
        let correction = self.mul(rest, reciprocal);
        self.fast_two_sum(hi, correction)
    }
}
