//! Logarithms: `x = 2^e (1 + f)` with `1 + f` between `sqrt(1/2)` and `sqrt(2)`.

use std::f64::consts::{FRAC_1_SQRT_2, LOG2_E};

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::coefficients::{LOG_F32, LOG_F64};
use super::exact::Pair;
use super::exp::{LN2_F32, LN2_F64};
use super::num::{Num, widened};

/// `log2(e)` as a part with few bits and the rest.
const LOG2_E_F32: (f64, f64) = (1.442_871_093_75, -0.000_176_052_853_930_741_55);
/// The same for `f64`.
const LOG2_E_F64: (f64, f64) = (1.442_695_040_721_446_3, 1.675_171_316_488_651_2e-10);

/// `x = 2^e (1 + f)`, exactly.
pub(super) struct Split {
    /// The exponent plus the type's bias, as an integer; for subnormal numbers that of `x` scaled up.
    biased: Val,
    /// The exponent.
    pub(super) e: Val,
    /// What the mantissa has above 1.
    pub(super) f: Val,
}

impl Num<'_> {
    /// Splits a positive finite number; other lanes give numbers without meaning.
    pub(super) fn split_exponent(&mut self, x: Val, subnormals: bool) -> Split {
        let (width, bias) = (self.mantissa_bits(), self.bias());
        let (smallest, lift) = self.pick((f64::from(f32::MIN_POSITIVE), 25), (f64::MIN_POSITIVE, 54));
        // An integer in the low mantissa of this float is that much above it.
        let base = (2.0_f64).powi(width as i32);
        let (mut x, mut offset) = (x, self.c(base + bias as f64));
        if subnormals {
            let small = self.cmp_c(Cmp::Lt, x, smallest);
            let lifted = self.scale(x, (2.0_f64).powi(lift));
            x = self.select(small, lifted, x);
            let lifted_offset = self.c(base + bias as f64 + f64::from(lift));
            offset = self.select(small, lifted_offset, offset);
        }
        let low = self.bits_of(FRAC_1_SQRT_2);
        let bits = self.bits(x);
        let above = self.add_i(bits, (bias << width) - low);
        let biased = self.lshr(above, width);
        let base_bits = self.bits_of(base);
        let base_bits = self.i(base_bits);
        let e = self.or(biased, base_bits);
        let e = self.float_from(e);
        let e = self.sub(e, offset);
        let mantissa = self.and_i(above, (1 << width) - 1);
        let mantissa = self.add_i(mantissa, low);
        let mantissa = self.float_from(mantissa);
        let one = self.c(1.0);
        Split { biased, e, f: self.sub(mantissa, one) }
    }

    /// `e ln 2 + log(1 + f)`, within 1 ULP.
    fn log_sum(&mut self, e: Val, f: Pair) -> Val {
        let (high, low) = self.pick(LN2_F32, LN2_F64);
        let (high, low) = (self.scale(e, high), self.c(low));
        let low = self.fma(e, low, f.lo);
        let sum = self.fast_two_sum(high, f.hi);
        // The square is subtracted last, as it is the largest part.
        let (half, inner) = self.log_tail(f.hi);
        let rest = self.add(inner, low);
        let rest = self.sub(rest, half);
        let low = self.add(sum.lo, rest);
        self.add(sum.hi, low)
    }

    /// `f^2 / 2` and the rest of `log(1 + f) = f - f^2 / 2 + rest`.
    fn log_tail(&mut self, f: Val) -> (Val, Val) {
        let square = self.mul(f, f);
        let half = self.scale(square, 0.5);
        if self.is_f32() {
            let p = self.poly(f, &LOG_F32);
            let cube = self.mul(square, f);
            return (half, self.mul(cube, p));
        }
        // With s = f / (2 + f) and 2 s + s R = log(1 + f) the rest is s (f^2 / 2 + R).
        let two = self.c(2.0);
        let sum = self.add(two, f);
        let s = self.div(f, sum);
        let z = self.mul(s, s);
        let p = self.poly(z, &LOG_F64);
        let inner = self.fma(z, p, half);
        (half, self.mul(s, inner))
    }

    /// Puts the special values of a logarithm in: of NaN, of numbers at and below the pole, of infinity.
    fn log_specials(&mut self, x: Val, pole: f64, y: Val) -> Val {
        let finite = self.cmp_c(Cmp::Lt, x, f64::INFINITY);
        let y = self.select(finite, y, x);
        let pole = self.c(pole);
        let below = self.cmp(Cmp::Lt, x, pole);
        let nan = self.c(f64::NAN);
        let y = self.select(below, nan, y);
        let at = self.cmp(Cmp::Eq, x, pole);
        let infinity = self.c(f64::NEG_INFINITY);
        self.select(at, infinity, y)
    }
}

/// The natural logarithm, within 1 ULP.
pub fn log(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let Split { e, f, .. } = n.split_exponent(x, true);
    let lo = n.c(0.0);
    let y = n.log_sum(e, Pair { hi: f, lo });
    n.log_specials(x, 0.0, y)
}

/// The binary logarithm, within 1 ULP; exact at powers of two.
pub fn log2(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let Split { e, f, .. } = n.split_exponent(x, true);
    // log(1 + f) = high + low, the high part with so few bits that its product with that of log2(e) is exact.
    let (half, inner) = n.log_tail(f);
    let high = n.sub(f, half);
    let high = n.truncate(high, n.pick(12, 32));
    let low = n.sub(f, high);
    let low = n.sub(low, half);
    let low = n.add(low, inner);
    let (e_high, e_low) = n.pick(LOG2_E_F32, LOG2_E_F64);
    let (e_high, e_low, log2_e) = (n.c(e_high), n.c(e_low), n.c(LOG2_E));
    let main = n.mul(high, e_high);
    let sum = n.fast_two_sum(e, main);
    let rest = n.mul(high, e_low);
    let rest = n.fma(low, log2_e, rest);
    let rest = n.add(sum.lo, rest);
    let y = n.add(sum.hi, rest);
    n.log_specials(x, 0.0, y)
}

/// `log(1 + x)`, within 1 ULP.
pub fn log1p(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let one = n.c(1.0);
    let u = n.two_sum(one, x);
    let Split { biased, e, f } = n.split_exponent(u.hi, false);
    // The part of 1 + x that rounding took, on the scale of f; nothing where x is huge.
    let (width, bias) = (n.mantissa_bits(), n.bias());
    let opposite = n.i(2 * bias);
    let opposite = n.sub(opposite, biased);
    let scale = n.shl(opposite, width);
    let scale = n.float_from(scale);
    let lost = n.mul(u.lo, scale);
    let moderate = n.cmp_c(Cmp::Lt, x, 1e30);
    let lost = n.select_c(moderate, lost, 0.0);
    let f = n.fast_two_sum(f, lost);
    // d log(1 + f) = df / (1 + f), to first order.
    let minus = n.neg(f.lo);
    let lo = n.fma(minus, f.hi, f.lo);
    let y = n.log_sum(e, Pair { hi: f.hi, lo });
    let y = n.with_sign(y, x);
    n.log_specials(x, -1.0, y)
}

/// `log10(2)` as a part with few bits and the rest.
const LOG10_2: (f64, f64) = (0.301_029_995_663_611_77, 3.694_239_077_158_931e-13);

/// `log10(e)` likewise.
const LOG10_E: (f64, f64) = (0.434_294_481_878_168_9, 2.508_294_671_164_527_5e-11);

/// The decimal logarithm, within 1 ULP.
pub fn log10(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    if dtype == DType::F32 {
        return widened(l, [x], |n, [x]| decimal(n, x));
    }
    decimal(&mut Num::new(l, dtype), x)
}

fn decimal(n: &mut Num<'_>, x: Val) -> Val {
    let Split { e, f, .. } = n.split_exponent(x, true);
    let (half, inner) = n.log_tail(f);
    let high = n.sub(f, half);
    let high = n.truncate(high, 32);
    let low = n.sub(f, high);
    let low = n.sub(low, half);
    let low = n.add(low, inner);
    // e log10(2) + high log10(e) exactly, but for small parts of both.
    let (power, main) = (n.scale(e, LOG10_2.0), n.scale(high, LOG10_E.0));
    let sum = n.fast_two_sum(power, main);
    let (log10_e, log10_e_low, log10_2_low) = (n.c(LOG10_E.0), n.c(LOG10_E.1), n.c(LOG10_2.1));
    let both = n.add(high, low);
    let rest = n.mul(both, log10_e_low);
    let rest = n.fma(e, log10_2_low, rest);
    let rest = n.fma(low, log10_e, rest);
    let rest = n.add(sum.lo, rest);
    let y = n.add(sum.hi, rest);
    n.log_specials(x, 0.0, y)
}
