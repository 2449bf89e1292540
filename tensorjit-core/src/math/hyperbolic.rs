//! Hyperbolic functions and the logistic function, from the exponential of the magnitude.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::coefficients::{SINH_F32, SINH_F64};
use super::exact::Pair;
use super::exp::Reduced;
use super::num::Num;

impl Num<'_> {
    /// `e^a / 4` for a magnitude, as a pair without overflow up to twice the largest number.
    fn quarter_exp(&mut self, a: Val) -> Pair {
        let a = self.at_most(a, self.pick(89.6, 710.6));
        let (biased, e) = self.exp_pair(a);
        let two = self.c(2.0);
        let lowered = self.sub(biased, two);
        let scale = self.pow2(lowered);
        Pair { hi: self.mul(scale, e.hi), lo: self.mul(scale, e.lo) }
    }

    /// `(e^a + sign * e^-a) / 2`.
    fn exp_mean(&mut self, a: Val, sign: f64) -> Val {
        let quarter = self.quarter_exp(a);
        let quarter = self.fast_two_sum(quarter.hi, quarter.lo);
        let inverse = self.c(sign / 16.0);
        let inverse = self.div(inverse, quarter.hi);
        let low = self.add(quarter.lo, inverse);
        let half = self.add(quarter.hi, low);
        self.add(half, half)
    }
}

/// The hyperbolic sine, within 1 ULP.
pub fn sinh(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let a = n.abs(x);
    let large = n.exp_mean(a, -1.0);
    let z = n.mul(a, a);
    let p = if n.is_f32() { n.poly(z, &SINH_F32) } else { n.poly(z, &SINH_F64) };
    let cube = n.mul(a, z);
    let small = n.fma(cube, p, a);
    let is_small = n.cmp_c(Cmp::Lt, a, 1.0);
    let y = n.select(is_small, small, large);
    n.with_sign(y, x)
}

/// The hyperbolic cosine, within 1 ULP.
pub fn cosh(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let a = n.abs(x);
    n.exp_mean(a, 1.0)
}

/// The hyperbolic tangent, within 1 ULP: `-t / (t + 2)` with `t = e^-2a - 1`.
pub fn tanh(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let a = n.abs(x);
    let doubled = n.scale(a, -2.0);
    let doubled = n.at_least(doubled, n.pick(-20.0, -40.0));
    let Reduced { biased, r } = n.reduce_ln2(doubled);
    let scale = n.pow2(biased);
    let minus_one = n.c(-1.0);
    let less = n.fast_two_sum(minus_one, scale);
    let t = n.expm1_reduced(scale, less, r);
    let t = n.fast_two_sum(t.hi, t.lo);
    let two = n.c(2.0);
    let sum = n.fast_two_sum(two, t.hi);
    let low = n.add(sum.lo, t.lo);
    let minus_q = n.div(t.hi, sum.hi);
    let q = n.abs(minus_q);
    // The quotient of the pairs, to first order; 1 / (t + 2) = (1 + q) / 2.
    let rest = n.division_rest(t, q, sum.hi);
    let error = n.fma(q, low, rest);
    let minus_half = n.c(-0.5);
    let minus_slope = n.fma(q, minus_half, minus_half);
    let y = n.fma(error, minus_slope, q);
    n.with_sign(y, x)
}

/// The logistic function `1 / (1 + e^-x)`, within 1 ULP.
pub fn sigmoid(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let a = n.abs(x);
    let minus = n.neg(a);
    let minus = n.at_least(minus, n.pick(-104.0, -746.0));
    let (biased, e) = n.exp_pair(minus);
    let e = n.fast_two_sum(e.hi, e.lo);
    let e = Pair { hi: n.scale_pow2(e.hi, biased), lo: n.scale_pow2(e.lo, biased) };
    let one = n.c(1.0);
    let sum = n.fast_two_sum(one, e.hi);
    let low = n.add(sum.lo, e.lo);
    let negative = n.cmp_c(Cmp::Lt, x, 0.0);
    let numerator = n.select(negative, e.hi, one);
    let numerator_low = n.select_c(negative, e.lo, 0.0);
    let q = n.div(numerator, sum.hi);
    // The quotient of the pairs, to first order; 1 / (1 + e) is q or 1 - q.
    let minus_q = n.neg(q);
    let rest = n.division_rest(Pair { hi: numerator, lo: numerator_low }, minus_q, sum.hi);
    let error = n.fma(minus_q, low, rest);
    let other = n.add(one, minus_q);
    let slope = n.select(negative, other, q);
    n.fma(error, slope, q)
}
