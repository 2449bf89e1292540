//! Powers of any base and exponent: the exponential of `y log |x|` to more than the type's precision.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::coefficients::{EXP2_POW, LOG_POW, LOG2_POW};
use super::exact::Pair;
use super::exp::{LN2_F64, Reduced};
use super::log::Split;
use super::num::{Num, widened};

/// `2/3` as a pair.
const TWO_THIRDS: (f64, f64) = (2.0 / 3.0, 3.700_743_415_417_188e-17);

impl Num<'_> {
    /// `a^y` for a positive base, both from `f32`, in `f64`.
    fn pow_single(&mut self, a: Val, y: Val) -> Val {
        let Split { e, f, .. } = self.split_exponent(a, false);
        let two = self.c(2.0);
        let sum = self.add(two, f);
        let s = self.div(f, sum);
        let z = self.mul(s, s);
        let p = self.poly(z, &LOG2_POW);
        let log2 = self.fma(s, p, e);
        let t = self.mul(log2, y);
        let t = self.at_least(t, -200.0);
        let t = self.at_most(t, 200.0);
        let (biased, nearest) = self.round_magic(t, 1.0);
        let r = self.sub(t, nearest);
        let p = self.poly(r, &EXP2_POW);
        let scale = self.pow2(biased, 0);
        self.mul(p, scale)
    }

    /// `log a` of a positive `f64`, to about 65 bits.
    fn log_pair(&mut self, a: Val) -> Pair {
        let Split { e, f, .. } = self.split_exponent(a, true);
        // s = f / (2 + f), z = s^2.
        let (two, zero) = (self.c(2.0), self.c(0.0));
        let sum = self.fast_two_sum(two, f);
        let s = self.quotient(Pair { hi: f, lo: zero }, sum);
        let mut z = self.two_prod(s.hi, s.hi);
        let cross = self.mul(s.hi, s.lo);
        z.lo = self.fma(two, cross, z.lo);
        // w = 2/3 + z p(z)
        let p = self.poly(z.hi, &LOG_POW);
        let p = self.mul(z.hi, p);
        let third = self.c(TWO_THIRDS.0);
        let mut w = self.fast_two_sum(third, p);
        let third_low = self.c(TWO_THIRDS.1);
        w.lo = self.add(w.lo, third_low);
        let cube = self.product(s, z);
        let tail = self.product(cube, w);
        // e ln 2 + 2 s + s z w
        let (high, low) = (self.scale(e, LN2_F64.0), self.c(LN2_F64.1));
        let first = self.add(s.hi, s.hi);
        let first = self.fast_two_sum(high, first);
        let second = self.fast_two_sum(first.hi, tail.hi);
        let low = self.mul(e, low);
        let s_low = self.fma(two, s.lo, tail.lo);
        let low = self.add(low, s_low);
        let low = self.add(low, second.lo);
        let low = self.add(low, first.lo);
        self.fast_two_sum(second.hi, low)
    }

    /// The product of two pairs.
    fn product(&mut self, a: Pair, b: Pair) -> Pair {
        let mut product = self.two_prod(a.hi, b.hi);
        product.lo = self.fma(a.hi, b.lo, product.lo);
        product.lo = self.fma(a.lo, b.hi, product.lo);
        product
    }

    /// `a^y` for a positive base, in `f64`.
    fn pow_double(&mut self, a: Val, y: Val) -> Val {
        let log = self.log_pair(a);
        // Beyond this every base but 1 overflows or underflows.
        let limit = 2.0_f64.powi(65);
        let y = self.at_least(y, -limit);
        let y = self.at_most(y, limit);
        let mut t = self.two_prod(log.hi, y);
        t.lo = self.fma(log.lo, y, t.lo);
        let magnitude = self.abs(t.hi);
        let beyond = self.cmp_c(Cmp::Gt, magnitude, 746.0);
        let zero = self.c(0.0);
        let low = self.select(beyond, zero, t.lo);
        let high = self.at_least(t.hi, -746.0);
        let high = self.at_most(high, 710.0);
        let Reduced { n, r, .. } = self.reduce_ln2(high);
        let r = Pair { hi: r.hi, lo: self.add(r.lo, low) };
        let power = self.exp_reduced_wide(r);
        self.scale_pow2(power, n)
    }

    /// `e^r` where the low part is not negligible beside a rounding of the result.
    fn exp_reduced_wide(&mut self, r: Pair) -> Val {
        let zero = self.c(0.0);
        let e = self.exp_reduced(Pair { hi: r.hi, lo: zero });
        let value = self.add(e.hi, e.lo);
        let low = self.fma(r.lo, value, e.lo);
        self.add(e.hi, low)
    }

    /// Puts the special values of IEEE's `pow` into `|x|^y`.
    fn pow_specials(&mut self, x: Val, y: Val, power: Val) -> Val {
        let (a, y_magnitude) = (self.abs(x), self.abs(y));
        let (zero, one, infinity) = (self.c(0.0), self.c(1.0), self.c(f64::INFINITY));
        // A base of 0 or infinity or an infinite exponent: infinity or 0.
        let y_infinite = self.cmp(Cmp::Eq, y_magnitude, infinity);
        let a_zero = self.cmp(Cmp::Eq, a, zero);
        let a_infinite = self.cmp(Cmp::Eq, a, infinity);
        let extreme = self.or(a_zero, a_infinite);
        let extreme = self.or(extreme, y_infinite);
        let above = self.cmp(Cmp::Gt, a, one);
        let up = self.cmp(Cmp::Gt, y, zero);
        let shrinks = self.xor(above, up);
        let limit = self.select(shrinks, zero, infinity);
        let result = self.select(extreme, limit, power);
        let a_one = self.cmp(Cmp::Eq, a, one);
        let result = self.select(a_one, one, result);
        // Negative bases: odd exponents keep the sign, others than integers are not defined.
        let whole = self.trunc(y);
        let is_whole = self.cmp(Cmp::Eq, whole, y);
        let half = self.scale(y, 0.5);
        let half_whole = self.trunc(half);
        let is_odd = self.cmp(Cmp::Ne, half, half_whole);
        let is_odd = self.and(is_whole, is_odd);
        let sign = self.sign_bit(x);
        let no_sign = self.i(0);
        let sign = self.select(is_odd, sign, no_sign);
        let result = self.flip_sign(result, sign);
        let negative = self.cmp(Cmp::Lt, x, zero);
        let finite = self.cmp_c(Cmp::Gt, x, f64::NEG_INFINITY);
        let broken = self.cmp(Cmp::Ne, whole, y);
        let undefined = self.and(negative, finite);
        let undefined = self.and(undefined, broken);
        let nan = self.c(f64::NAN);
        let result = self.select(undefined, nan, result);
        // NaN, but for an exponent of 0 and a base of 1.
        let sum = self.add(a, y_magnitude);
        let unordered = self.cmp(Cmp::Ne, sum, sum);
        let result = self.select(unordered, nan, result);
        let y_zero = self.cmp(Cmp::Eq, y, zero);
        let x_one = self.cmp(Cmp::Eq, x, one);
        let certain = self.or(y_zero, x_one);
        self.select(certain, one, result)
    }
}

/// `x^y` with the special values of IEEE's `pow`, within 1 ULP.
pub fn pow(l: &mut dyn Lanes, dtype: DType, x: Val, y: Val) -> Val {
    let a = Num::new(l, dtype).abs(x);
    let power = match dtype {
        DType::F32 => widened(l, [a, y], |n, [a, y]| n.pow_single(a, y)),
        _ => Num::new(l, dtype).pow_double(a, y),
    };
    Num::new(l, dtype).pow_specials(x, y, power)
}
