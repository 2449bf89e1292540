//! Hyperbolic functions and the logistic function, from the exponential of the magnitude.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::coefficients::{SINH_F32, SINH_F64, TANH_F32, TANH_F64, TANH_PIECES};
use super::exact::Pair;
use super::exp::{MAGIC_F32, MAGIC_F64, Rounded};
use super::num::Num;

impl Num<'_> {
    /// `e^a / 4` for a magnitude, as a pair without overflow up to twice the largest number.
    fn quarter_exp(&mut self, a: Val) -> Pair {
        let a = self.at_most(a, self.pick(89.6, 710.6));
        let (biased, e) = self.exp_pair(a);
        let scale = self.pow2(biased, -2);
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

/// The hyperbolic tangent, within 1 ULP.
pub fn tanh(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let a = n.abs(x);
    if n.has_tables() {
        let y = n.piecewise(a, &TANH_PIECES);
        return n.with_sign(y, x);
    }
    // Up to 1: a polynomial.
    let z = n.mul(a, a);
    let p = if n.is_f32() { n.poly(z, &TANH_F32) } else { n.poly(z, &TANH_F64) };
    let cube = n.mul(a, z);
    let small = n.fma(cube, p, a);
    // Above: 1 - 2 / (e^2a + 1), the quotient below 1/4, up to where it is nothing.
    let doubled = n.add(a, a);
    let doubled = n.at_most(doubled, n.pick(20.0, 40.0));
    let Rounded { biased, r, .. } = n.reduce_ln2_rounded(doubled);
    let y = n.expm1_rounded(r);
    let scale = n.pow2(biased, 0);
    let (one, two) = (n.c(1.0), n.c(2.0));
    let sum = n.add(scale, one);
    let sum = n.fma(scale, y, sum);
    let quotient = n.div(two, sum);
    let large = n.sub(one, quotient);
    let is_small = n.cmp_c(Cmp::Lt, a, 1.0);
    let y = n.select(is_small, small, large);
    n.with_sign(y, x)
}

/// The hyperbolic secant, `2 e^-a / (1 + e^-2a)` of the magnitude `a`, within 3 ULP.
pub fn sech(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let a = n.abs(x);
    // The exponential is subnormal before twice of it is: what is scaled, last, is the double.
    let a = n.at_most(a, n.pick(106.0, 748.0));
    let minus = n.neg(a);
    let Rounded { biased, n: exponent, r } = n.reduce_ln2_rounded(minus);
    let y = n.expm1_rounded(r);
    let one = n.c(1.0);
    let e = n.add(one, y);
    // The square is nothing beside 1 long before its exponent is out of range.
    let held = n.at_least(biased, n.pick(MAGIC_F32, MAGIC_F64) - 60.0);
    let scale = n.pow2(held, 0);
    let scaled = n.mul(scale, e);
    let sum = n.fma(scaled, scaled, one);
    let doubled = n.add(e, e);
    let value = n.div(doubled, sum);
    n.scale_pow2(value, exponent)
}

/// The logistic function `1 / (1 + e^-x)`, within 1 ULP, 1.5 without FMA.
pub fn sigmoid(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let (lowest, highest, shift) = n.pick((-20.0, 104.0, 48), (-40.0, 746.0, 200));
    let minus = n.neg(x);
    let minus = n.at_least(minus, lowest);
    let minus = n.at_most(minus, highest);
    let Rounded { biased, r, .. } = n.reduce_ln2_rounded(minus);
    let y = n.expm1_rounded(r);
    // Numerator and denominator are a power of two smaller than they should be, so that the denominator is
    // finite where the quotient is subnormal.
    let scale = n.pow2(biased, -shift);
    let unit = 2.0_f64.powi(-shift as i32);
    let numerator = n.c(unit);
    let sum = n.two_sum(scale, numerator);
    let denominator = n.fma(scale, y, sum.hi);
    let q = n.div(numerator, denominator);
    // One step of Newton's method, on what rounding took from the denominator and the quotient.
    let low = n.sub(sum.hi, denominator);
    let low = n.fma(scale, y, low);
    let low = n.add(low, sum.lo);
    let minus_q = n.neg(q);
    let rest = n.division_rest(numerator, minus_q, denominator);
    let error = n.fma(minus_q, low, rest);
    let slope = n.scale(q, 1.0 / unit);
    n.fma(error, slope, q)
}
