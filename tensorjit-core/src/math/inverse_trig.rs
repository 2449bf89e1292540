//! Inverse trigonometric functions.  Those of `f32` are evaluated in `f64`, with shorter polynomials.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::coefficients::{ASIN_F32, ASIN_F64, ATAN_F32, ATAN_F64};
use super::exact::Pair;
use super::num::{Num, widened};
use super::trig::Precision;

/// What `FRAC_PI_2` lacks of `pi/2`.
const FRAC_PI_2_LOW: f64 = 6.123_233_995_736_766e-17;
/// The tangent of `pi/8`.
const TAN_PI_8: f64 = 0.414_213_562_373_095_03;

/// `asin` of a magnitude up to 1/2, and of the root that stands for larger ones.
struct AsinParts {
    /// Whether the magnitude is above 1/2.
    large: Val,
    /// The argument of the polynomial: `a`, or `sqrt((1 - a) / 2)`.
    s: Val,
    /// `asin(s) - s`, with the rounding error of the root.
    rest: Val,
}

/// A direction in the first quadrant by the axis or the diagonal that is nearest.
struct Slope {
    /// Whether the nearest axis is that of `y`.
    steep: Val,
    /// Whether the diagonal is nearer.
    diagonal: Val,
    /// The tangent of the angle from there, at most that of `pi/8`; negative from the diagonal towards the axis.
    q: Pair,
}

impl Num<'_> {
    /// The parts from which `asin` and `acos` of a magnitude are put together, in `f64`.
    fn asin_parts(&mut self, a: Val, precision: Precision) -> AsinParts {
        let large = self.cmp_c(Cmp::Gt, a, 0.5);
        let half = self.c(0.5);
        let minus_half = self.c(-0.5);
        let complement = self.fma(a, minus_half, half);
        let square = self.mul(a, a);
        let z = self.select(large, complement, square);
        let root = self.sqrt(complement);
        let s = self.select(large, root, a);
        let cube = self.mul(s, z);
        let rest = match precision {
            Precision::Single => {
                let p = self.poly(z, &ASIN_F32);
                self.mul(cube, p)
            }
            Precision::Double => {
                let p = self.poly(z, &ASIN_F64);
                let product = self.two_prod(root, root);
                let error = self.sub(complement, product.hi);
                let error = self.sub(error, product.lo);
                // The smallest number keeps 0 / 0 out at a = 1.
                let double = self.add(root, root);
                let smallest = self.c(f64::MIN_POSITIVE);
                let double = self.add(double, smallest);
                let low = self.div(error, double);
                let low = self.select_c(large, low, 0.0);
                self.fma(cube, p, low)
            }
        };
        AsinParts { large, s, rest }
    }

    fn asin_f64(&mut self, x: Val, precision: Precision) -> Val {
        let a = self.abs(x);
        let AsinParts { large, s, rest } = self.asin_parts(a, precision);
        let small = self.add(s, rest);
        // pi/2 - 2 (s + rest)
        let quarter = self.c(FRAC_PI_2);
        let twice = self.scale(s, -2.0);
        let sum = self.fast_two_sum(quarter, twice);
        let (minus_two, low) = (self.c(-2.0), self.c(FRAC_PI_2_LOW));
        let low = self.fma(rest, minus_two, low);
        let low = self.add(sum.lo, low);
        let big = self.add(sum.hi, low);
        let y = self.select(large, big, small);
        self.with_sign(y, x)
    }

    fn acos_f64(&mut self, x: Val, precision: Precision) -> Val {
        let a = self.abs(x);
        let AsinParts { large, s, rest } = self.asin_parts(a, precision);
        let (sign, zero) = (self.sign_bit(x), self.c(0.0));
        let negative = self.cmp(Cmp::Lt, x, zero);
        // pi/2 - (s + rest), 2 (s + rest) or pi - 2 (s + rest): a base less a signed multiple.
        let pi = self.c(PI);
        let base = self.select(negative, pi, zero);
        let quarter = self.c(FRAC_PI_2);
        let base = self.select(large, base, quarter);
        let base_low = self.c(FRAC_PI_2_LOW);
        let twice_low = self.c(2.0 * FRAC_PI_2_LOW);
        let large_low = self.select(negative, twice_low, zero);
        let base_low = self.select(large, large_low, base_low);
        // Small: subtract x.  Large: add 2 s where x is positive, subtract it where x is negative.
        let (two, minus_one) = (self.c(2.0), self.c(-1.0));
        let factor = self.select(large, two, minus_one);
        let factor = self.flip_sign(factor, sign);
        let main = self.mul(s, factor);
        let sum = self.fast_two_sum(base, main);
        let low = self.fma(rest, factor, base_low);
        let low = self.add(sum.lo, low);
        self.add(sum.hi, low)
    }

    /// The slope of the point `(x, y)` of two magnitudes without NaN.
    fn slope(&mut self, y: Val, x: Val, precision: Precision) -> Slope {
        let steep = self.cmp(Cmp::Gt, y, x);
        let under = self.select(steep, y, x);
        let over = self.select(steep, x, y);
        let bound = self.scale(under, TAN_PI_8);
        let diagonal = self.cmp(Cmp::Gt, over, bound);
        let zero = self.c(0.0);
        let q = match precision {
            Precision::Single => {
                let (difference, sum) = (self.sub(over, under), self.add(under, over));
                let numerator = self.select(diagonal, difference, over);
                let denominator = self.select(diagonal, sum, under);
                Pair { hi: self.div(numerator, denominator), lo: zero }
            }
            Precision::Double => {
                let minus_under = self.neg(under);
                let difference = self.fast_two_sum(minus_under, over);
                let sum = self.fast_two_sum(under, over);
                let numerator = Pair {
                    hi: self.select(diagonal, difference.hi, over),
                    lo: self.select(diagonal, difference.lo, zero),
                };
                let denominator = Pair {
                    hi: self.select(diagonal, sum.hi, under),
                    lo: self.select(diagonal, sum.lo, zero),
                };
                self.quotient(numerator, denominator)
            }
        };
        Slope { steep, diagonal, q }
    }

    /// `atan(q) - q.hi` for a slope.
    fn atan_rest(&mut self, q: Pair, precision: Precision) -> Val {
        let z = self.mul(q.hi, q.hi);
        let p = match precision {
            Precision::Single => self.poly(z, &ATAN_F32),
            Precision::Double => self.poly(z, &ATAN_F64),
        };
        let cube = self.mul(q.hi, z);
        // d atan(q) = dq / (1 + z), to first order.
        let minus_z = self.neg(z);
        let low = self.fma(minus_z, q.lo, q.lo);
        self.fma(cube, p, low)
    }

    /// The angle between 0 and `pi` of the point `(x, y)`, from magnitudes without NaN and the sign of `x`, in
    /// `f64`.
    fn atan_half_plane(&mut self, y: Val, x: Val, x_negative: Option<Val>, precision: Precision) -> Val {
        let Slope { steep, diagonal, q } = self.slope(y, x, precision);
        let rest = self.atan_rest(q, precision);
        // The angle is that of the nearest axis or diagonal, plus or minus that of the slope.
        let zero = self.c(0.0);
        let (flips, flat) = match x_negative {
            Some(negative) => {
                let pi = self.c(PI);
                (self.xor(steep, negative), self.select(negative, pi, zero))
            }
            None => (steep, zero),
        };
        let (quarter, eighth) = (self.c(FRAC_PI_2), self.c(FRAC_PI_4));
        let axis = self.select(steep, quarter, flat);
        let eighth = self.signed(flips, eighth);
        let eighth = self.select(diagonal, eighth, zero);
        let base = self.fast_two_sum(axis, eighth);
        let base_low = self.scale(base.hi, FRAC_PI_2_LOW / FRAC_PI_2);
        let base_low = self.add(base_low, base.lo);
        let q = self.signed(flips, q.hi);
        let rest = self.signed(flips, rest);
        let sum = self.fast_two_sum(base.hi, q);
        let low = self.add(sum.lo, base_low);
        let low = self.add(low, rest);
        self.add(sum.hi, low)
    }

    /// `-a` where the mask is set.
    fn signed(&mut self, mask: Val, a: Val) -> Val {
        let minus = self.neg(a);
        self.select(mask, minus, a)
    }

    fn atan_f64(&mut self, x: Val, precision: Precision) -> Val {
        let a = self.abs(x);
        // Beyond this the result is pi/2 already; the bound keeps the quotient finite.
        let bounded = self.at_most(a, 1e20);
        let one = self.c(1.0);
        let y = self.atan_half_plane(bounded, one, None, precision);
        // So small that the function is the identity, for the sake of subnormal numbers.
        let tiny = self.cmp_c(Cmp::Lt, a, 1e-9);
        let y = self.select(tiny, a, y);
        self.with_sign(y, x)
    }

    fn atan2_f64(&mut self, y: Val, x: Val, precision: Precision) -> Val {
        let (a, b) = (self.abs(y), self.abs(x));
        let sum = self.add(a, b);
        let is_nan = self.cmp(Cmp::Ne, sum, sum);
        let infinite = (self.cmp_c(Cmp::Eq, a, f64::INFINITY), self.cmp_c(Cmp::Eq, b, f64::INFINITY));
        let x_sign = self.sign_bit(x);
        let zero = self.i(0);
        let x_negative = self.cmp(Cmp::Lt, x_sign, zero);
        // Infinite operands become 1 and the others 0; the angle of (0, 0) is that of (1, 0).
        let any = self.or(infinite.0, infinite.1);
        let (one, none) = (self.c(1.0), self.c(0.0));
        let a_limit = self.select(infinite.0, one, none);
        let b_limit = self.select(infinite.1, one, none);
        let a = self.select(any, a_limit, a);
        let b = self.select(any, b_limit, b);
        let zeros = self.add(a, b);
        let at_origin = self.cmp(Cmp::Eq, zeros, none);
        let b = self.select(at_origin, one, b);
        let quotient = self.div(a, b);
        let (scaled_a, scaled_b) = match precision {
            Precision::Single => (a, b),
            Precision::Double => self.moderate(a, b),
        };
        let angle = self.atan_half_plane(scaled_a, scaled_b, Some(x_negative), precision);
        // A tiny angle to the positive axis is the quotient, which may be subnormal.
        let tiny = self.cmp_c(Cmp::Lt, quotient, 1e-9);
        let tiny_or_flat = self.select(x_negative, angle, quotient);
        let angle = self.select(tiny, tiny_or_flat, angle);
        let angle = self.with_sign(angle, y);
        let nan = self.c(f64::NAN);
        self.select(is_nan, nan, angle)
    }

    /// Both magnitudes times the same power of two, so that sums and products of their order stay in range.
    fn moderate(&mut self, a: Val, b: Val) -> (Val, Val) {
        let larger = self.cmp(Cmp::Gt, a, b);
        let top = self.select(larger, a, b);
        let huge = self.cmp_c(Cmp::Gt, top, 2.0_f64.powi(900));
        let small = self.cmp_c(Cmp::Lt, top, 2.0_f64.powi(-800));
        let (down, up, one) = (self.c(2.0_f64.powi(-200)), self.c(2.0_f64.powi(400)), self.c(1.0));
        let factor = self.select(small, up, one);
        let factor = self.select(huge, down, factor);
        (self.mul(a, factor), self.mul(b, factor))
    }
}

/// The inverse sine, within 1 ULP.
pub fn asin(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    match dtype {
        DType::F32 => widened(l, [x], |n, [x]| n.asin_f64(x, Precision::Single)),
        _ => Num::new(l, dtype).asin_f64(x, Precision::Double),
    }
}

/// The inverse cosine, within 1 ULP.
pub fn acos(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    match dtype {
        DType::F32 => widened(l, [x], |n, [x]| n.acos_f64(x, Precision::Single)),
        _ => Num::new(l, dtype).acos_f64(x, Precision::Double),
    }
}

/// The inverse tangent, within 1 ULP.
pub fn atan(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    match dtype {
        DType::F32 => widened(l, [x], |n, [x]| n.atan_f64(x, Precision::Single)),
        _ => Num::new(l, dtype).atan_f64(x, Precision::Double),
    }
}

/// The angle of the point `(x, y)`, within 1 ULP.
pub fn atan2(l: &mut dyn Lanes, dtype: DType, y: Val, x: Val) -> Val {
    match dtype {
        DType::F32 => widened(l, [y, x], |n, [y, x]| n.atan2_f64(y, x, Precision::Single)),
        _ => Num::new(l, dtype).atan2_f64(y, x, Precision::Double),
    }
}
