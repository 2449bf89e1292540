//! Exponentials: `e^x = 2^n e^r` with `|r| <= ln 2 / 2`.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::coefficients::{EXP_F32, EXP_F64, EXP2_F32, EXP2_F64, EXPM1_F32};
use super::exact::Pair;
use super::num::Num;

const LOG2_E: f64 = std::f64::consts::LOG2_E;

/// `1.5 * 2^mantissa_bits`: a sum with it is rounded to an integer, which then stands in its low bits.
pub(super) const MAGIC_F32: f64 = 12_582_912.0;
/// The same for `f64`.
pub(super) const MAGIC_F64: f64 = 6_755_399_441_055_744.0;

/// `ln 2` as a part with few bits, whose products with exponents are exact, and the rest.
pub(super) const LN2_F32: (f64, f64) = (0.693145751953125, 1.428606765330187e-06);
/// The same for `f64`.
pub(super) const LN2_F64: (f64, f64) = (0.6931471805598903, 5.497923018708371e-14);

/// `x = n ln 2 + r`.
pub(super) struct Reduced {
    /// `n` in the low bits, the magic constant above.
    pub(super) biased: Val,
    /// `n`.
    pub(super) n: Val,
    /// `r`.
    pub(super) r: Pair,
}

/// `x = n ln 2 + r`, with `r` rounded.
pub(super) struct Rounded {
    /// `n` in the low bits, the magic constant above.
    pub(super) biased: Val,
    /// `n`.
    pub(super) n: Val,
    /// `r`.
    pub(super) r: Val,
}

impl Num<'_> {
    /// `x` rounded to an integer, in the low bits of the first result; as a number in the second.
    pub(super) fn round_magic(&mut self, x: Val, factor: f64) -> (Val, Val) {
        let (factor, magic) = (self.c(factor), self.pick(MAGIC_F32, MAGIC_F64));
        let magic = self.c(magic);
        let biased = self.fma(x, factor, magic);
        (biased, self.sub(biased, magic))
    }

    /// `2^(n + offset)` for the integer `n` in the low bits of `biased`, within the range of normal numbers.
    pub(super) fn pow2(&mut self, biased: Val, offset: i64) -> Val {
        let (width, bias) = (self.mantissa_bits(), self.bias());
        let bits = self.bits(biased);
        let exponent = self.shl(bits, width);
        let scale = self.add_i(exponent, (bias + offset) << width);
        self.float_from(scale)
    }

    /// The reduction of a clamped argument, `r` rounded.
    pub(super) fn reduce_ln2_rounded(&mut self, x: Val) -> Rounded {
        let (biased, n) = self.round_magic(x, LOG2_E);
        let (high, low) = self.pick(LN2_F32, LN2_F64);
        let (minus_high, minus_low) = (self.c(-high), self.c(-low));
        let first = self.fma(n, minus_high, x);
        Rounded { biased, n, r: self.fma(n, minus_low, first) }
    }

    /// `e^r - 1` for a reduced argument, rounded.
    pub(super) fn expm1_rounded(&mut self, r: Val) -> Val {
        let square = self.mul(r, r);
        let p = if self.is_f32() { self.poly(r, &EXP_F32) } else { self.poly(r, &EXP_F64) };
        self.fma(square, p, r)
    }

    /// The reduction of a clamped argument.
    pub(super) fn reduce_ln2(&mut self, x: Val) -> Reduced {
        let (biased, n) = self.round_magic(x, LOG2_E);
        let (high, low) = self.pick(LN2_F32, LN2_F64);
        // `n * high` is exact and so is the difference.
        let minus_high = self.c(-high);
        let first = self.fma(n, minus_high, x);
        let second = self.scale(n, low);
        let hi = self.sub(first, second);
        let taken = self.sub(first, hi);
        Reduced { biased, n, r: Pair { hi, lo: self.sub(taken, second) } }
    }

    /// `e^r - 1 - r` for a reduced argument; the largest term is added last.
    fn exp_tail(&mut self, r: Val) -> Val {
        let square = self.mul(r, r);
        let cube = self.mul(square, r);
        let (first, p) = if self.is_f32() {
            (EXPM1_F32[0], self.poly(r, &EXPM1_F32[1..]))
        } else {
            (EXP_F64[0], self.poly(r, &EXP_F64[1..]))
        };
        let half = self.scale(square, first);
        self.fma(cube, p, half)
    }

    /// `e^r` for a reduced argument, with an error far below a rounding.
    pub(super) fn exp_reduced(&mut self, r: Pair) -> Pair {
        let one = self.c(1.0);
        let tail = self.exp_tail(r.hi);
        let tail = self.add(tail, r.lo);
        let sum = self.fast_two_sum(one, r.hi);
        Pair { hi: sum.hi, lo: self.add(sum.lo, tail) }
    }

    /// `e^x` for a clamped argument, as a pair to be scaled by `2^n`.
    pub(super) fn exp_pair(&mut self, x: Val) -> (Val, Pair) {
        let Reduced { biased, r, .. } = self.reduce_ln2(x);
        (biased, self.exp_reduced(r))
    }

    /// `2^n e^r - 1`, from `2^n` and `2^n - 1`; the low part may be as large as the high one.
    pub(super) fn expm1_reduced(&mut self, scale: Val, less: Pair, r: Pair) -> Pair {
        let tail = self.exp_tail(r.hi);
        let tail = self.add(tail, r.lo);
        let part = self.mul(scale, r.hi);
        // Where the first is the smaller one it is 0: n is 0.
        let sum = self.fast_two_sum(less.hi, part);
        let low = self.add(sum.lo, less.lo);
        Pair { hi: sum.hi, lo: self.fma(scale, tail, low) }
    }
}

/// `e^x`, within 1 ULP.
pub fn exp(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let (lowest, highest) = n.pick((-104.0, 89.0), (-746.0, 710.0));
    let x = n.at_least(x, lowest);
    let x = n.at_most(x, highest);
    let reduced = n.reduce_ln2_rounded(x);
    let y = n.expm1_rounded(reduced.r);
    let one = n.c(1.0);
    let y = n.add(one, y);
    n.scale_pow2(y, reduced.n)
}

/// `2^x`, within 1 ULP.
pub fn exp2(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let (lowest, highest) = n.pick((-151.0, 129.0), (-1076.0, 1025.0));
    let x = n.at_least(x, lowest);
    let x = n.at_most(x, highest);
    let (_, nearest) = n.round_magic(x, 1.0);
    let r = n.sub(x, nearest);
    let square = n.mul(r, r);
    let p = if n.is_f32() { n.poly(r, &EXP2_F32) } else { n.poly(r, &EXP2_F64) };
    let tail = n.mul(square, p);
    let ln2 = n.c(std::f64::consts::LN_2);
    let y = n.fma(r, ln2, tail);
    let one = n.c(1.0);
    let y = n.add(one, y);
    n.scale_pow2(y, nearest)
}

/// `e^x - 1`, within 1 ULP.
pub fn expm1(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    // The last octave below overflow is computed a factor 2 lower, with the same relative error.
    let (lowest, highest, last) = n.pick((-20.0, 89.0, 88.0), (-40.0, 710.0, 709.0));
    let clamped = n.at_least(x, lowest);
    let clamped = n.at_most(clamped, highest);
    let in_last = n.cmp_c(Cmp::Gt, clamped, last);
    let Reduced { biased, r, .. } = n.reduce_ln2(clamped);
    let one = n.c(1.0);
    let lowered = n.sub(biased, one);
    let biased = n.select(in_last, lowered, biased);
    let scale = n.pow2(biased, 0);
    let minus_one = n.c(-1.0);
    let less = n.two_sum(scale, minus_one);
    let y = n.expm1_reduced(scale, less, r);
    let y = n.add(y.hi, y.lo);
    let doubled = n.add(y, y);
    let y = n.select(in_last, doubled, y);
    n.with_sign(y, x)
}
