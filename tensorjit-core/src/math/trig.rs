//! Sine, cosine and tangent: `x = q pi/2 + r` with `|r| <= pi/4`.

use std::f64::consts::FRAC_2_PI;

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::coefficients::{COS_F32, COS_F64, SIN_F32, SIN_F64};
use super::exact::Pair;
use super::num::{Num, widened};

/// `pi/2` as a part with 33 bits, whose products with quadrants below 2^20 are exact, and the rest.
const FRAC_PI_2_33: (f64, f64) = (1.5707963267341256, 6.077100506506192e-11);
/// That rest as a second part with 33 bits, and the rest after it.
const FRAC_PI_2_66: (f64, f64) = (6.077100506303966e-11, 2.0222662487959506e-21);

/// `pi/2` in parts for `f32`: the second has 12 bits, so that a product with a quadrant below 2^13 is a multiple of
/// the last bit of the second difference.
const FRAC_PI_2_F32: [f64; 3] = [1.5707963705062866, -4.371395334601402e-08, 2.5633440682570896e-12];

/// Above this magnitude the parts of `pi/2` do not reach.
const LARGE: f64 = 1_048_576.0;
/// The same for `f32`.
const LARGE_F32: f64 = 10_000.0;

/// `x = q pi/2 + r`.
#[derive(Clone, Copy)]
pub(super) struct Angle {
    /// `|r| <= pi/4`, a little more at the edges.
    pub(super) r: Pair,
    /// `q` modulo 4 in the two low bits of an integer.
    pub(super) q: Val,
}

/// What an angle is reduced for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    /// A result in `f32`, computed in `f64`: no rounding on the way matters.
    Single,
    /// A result in the type of the arithmetic.
    Double,
}

impl Num<'_> {
    /// Reduces an angle in `f64`.
    fn reduce_angle(&mut self, x: Val, precision: Precision) -> Angle {
        let (biased, q) = self.round_magic(x, FRAC_2_PI);
        let minus_high = self.c(-FRAC_PI_2_33.0);
        let first = self.fma(q, minus_high, x);
        let r = match precision {
            Precision::Single => {
                let rest = self.scale(q, FRAC_PI_2_33.1);
                Pair { hi: self.sub(first, rest), lo: self.c(0.0) }
            }
            Precision::Double => {
                let second = self.scale(q, -FRAC_PI_2_66.0);
                let sum = self.two_sum(first, second);
                let third = self.scale(q, FRAC_PI_2_66.1);
                let low = self.sub(sum.lo, third);
                self.fast_two_sum(sum.hi, low)
            }
        };
        let q = self.bits(biased);
        self.unless_large(x, LARGE, Angle { r, q }, |n| n.payne_hanek(x, precision))
    }

    /// Reduces an angle in `f32`, with FMA.
    fn reduce_angle_f32(&mut self, x: Val) -> Angle {
        let (biased, q) = self.round_magic(x, FRAC_2_PI);
        let [first, second, third] = FRAC_PI_2_F32.map(|part| self.c(-part));
        // The first difference is exact, and so is what the second one loses.
        let above = self.fma(q, first, x);
        let hi = self.fma(q, second, above);
        let taken = self.sub(above, hi);
        let lo = self.fma(q, second, taken);
        let lo = self.fma(q, third, lo);
        let q = self.bits(biased);
        self.unless_large(x, LARGE_F32, Angle { r: Pair { hi, lo }, q }, |n| {
            let x = n.convert(DType::F64, x);
            let mut wide = Num::new(n.lanes(), DType::F64);
            let Angle { r, q } = wide.payne_hanek(x, Precision::Single);
            let hi = wide.convert(DType::F32, r.hi);
            let rounded = wide.convert(DType::F64, hi);
            let lo = wide.sub(r.hi, rounded);
            let r = Pair { hi, lo: wide.convert(DType::F32, lo) };
            Angle { r, q: wide.convert(DType::I32, q) }
        })
    }

    /// The angle `usual`, but that of `reduce` where `x` is finite and above the limit.
    fn unless_large(
        &mut self,
        x: Val,
        limit: f64,
        usual: Angle,
        reduce: impl Fn(&mut Num<'_>) -> Angle,
    ) -> Angle {
        let Angle { r, q } = usual;
        let a = self.abs(x);
        let large = self.cmp_c(Cmp::Ge, a, limit);
        let finite = self.cmp_c(Cmp::Lt, a, f64::INFINITY);
        let large = self.and(large, finite);
        let [hi, lo, q] = self.if_any(large, [r.hi, r.lo, q], |n| {
            let angle = reduce(n);
            [
                n.select(large, angle.r.hi, r.hi),
                n.select(large, angle.r.lo, r.lo),
                n.select(large, angle.q, q),
            ]
        });
        // Infinity leaves NaN in r: the difference of infinities.
        Angle { r: Pair { hi, lo }, q }
    }

    /// The sine of a reduced angle.
    fn sin_reduced(&mut self, r: Pair, precision: Precision) -> Pair {
        let z = self.mul(r.hi, r.hi);
        let cube = self.mul(r.hi, z);
        let short = self.is_f32() || precision == Precision::Single;
        let p = if short { self.poly(z, &SIN_F32) } else { self.poly(z, &SIN_F64) };
        match precision {
            Precision::Single => Pair { hi: self.fma(cube, p, r.hi), lo: self.c(0.0) },
            Precision::Double => {
                // sin(hi + lo) = sin(hi) + lo cos(hi), and 1 - z/2 is cosine enough.
                let half = self.scale(z, -0.5);
                let low = self.fma(half, r.lo, r.lo);
                let low = self.fma(cube, p, low);
                self.fast_two_sum(r.hi, low)
            }
        }
    }

    /// The cosine of a reduced angle.
    fn cos_reduced(&mut self, r: Pair, precision: Precision) -> Pair {
        let z = self.mul(r.hi, r.hi);
        let square = self.mul(z, z);
        let one = self.c(1.0);
        let half = self.scale(z, -0.5);
        let short = self.is_f32() || precision == Precision::Single;
        let p = if short { self.poly(z, &COS_F32) } else { self.poly(z, &COS_F64) };
        match precision {
            Precision::Single => {
                let sum = self.add(one, half);
                Pair { hi: self.fma(square, p, sum), lo: self.c(0.0) }
            }
            Precision::Double => {
                let sum = self.fast_two_sum(one, half);
                let minus = self.neg(r.hi);
                let low = self.fma(minus, r.lo, sum.lo);
                let low = self.fma(square, p, low);
                self.fast_two_sum(sum.hi, low)
            }
        }
    }

    /// Whether bit 0 of an integer is set.
    fn is_odd(&mut self, q: Val) -> Val {
        let bit = self.and_i(q, 1);
        let zero = self.i(0);
        self.cmp(Cmp::Ne, bit, zero)
    }

    /// The sine of a reduced angle and of so many quarter turns, one for the cosine.
    fn sin_shifted(&mut self, Angle { r, q }: Angle, quarters: i64, precision: Precision) -> Val {
        let q = self.add_i(q, quarters);
        let sin = self.sin_reduced(r, precision).hi;
        let cos = self.cos_reduced(r, precision).hi;
        let odd = self.is_odd(q);
        let y = self.select(odd, cos, sin);
        let half_turn = self.lshr(q, 1);
        let sign = self.shl(half_turn, self.pick(31, 63));
        self.flip_sign(y, sign)
    }

    /// `x` where it is so small that the function is the identity: keeps subnormal numbers and zeros.
    fn identity_near_zero(&mut self, x: Val, y: Val) -> Val {
        let a = self.abs(x);
        let tiny = self.cmp_c(Cmp::Lt, a, self.pick(2.4e-4, 7.4e-9));
        self.select(tiny, x, y)
    }

    /// The tangent of `x` in `f64`.
    fn tan_f64(&mut self, x: Val, precision: Precision) -> Val {
        let Angle { r, q } = self.reduce_angle(x, precision);
        let sin = self.sin_reduced(r, precision);
        let cos = self.cos_reduced(r, precision);
        // A quarter turn on, the tangent is -cos / sin.
        let odd = self.is_odd(q);
        let over = self.select(odd, cos.hi, sin.hi);
        let under = self.select(odd, sin.hi, cos.hi);
        let ratio = self.div(over, under);
        let ratio = match precision {
            Precision::Single => ratio,
            Precision::Double => {
                let over_low = self.select(odd, cos.lo, sin.lo);
                let under_low = self.select(odd, sin.lo, cos.lo);
                let minus = self.neg(ratio);
                let error = self.fma(minus, under_low, over_low);
                let correction = self.div(error, under);
                self.add(ratio, correction)
            }
        };
        let sign = self.shl(q, 63);
        self.flip_sign(ratio, sign)
    }
}

/// The sine of `x`, or its cosine, which is the sine a quarter turn further.
fn sin_of(l: &mut dyn Lanes, dtype: DType, x: Val, quarters: i64) -> Val {
    let mut n = Num::new(l, dtype);
    if dtype != DType::F32 {
        let angle = n.reduce_angle(x, Precision::Double);
        return n.sin_shifted(angle, quarters, Precision::Double);
    }
    if n.has_fma() {
        let angle = n.reduce_angle_f32(x);
        return n.sin_shifted(angle, quarters, Precision::Double);
    }
    widened(l, [x], |n, [x]| {
        let angle = n.reduce_angle(x, Precision::Single);
        n.sin_shifted(angle, quarters, Precision::Single)
    })
}

/// The sine, within 1 ULP for every finite angle.
pub fn sin(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let y = sin_of(l, dtype, x, 0);
    Num::new(l, dtype).identity_near_zero(x, y)
}

/// The cosine, within 1 ULP for every finite angle.
pub fn cos(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    sin_of(l, dtype, x, 1)
}

/// The tangent, within 1 ULP in `f32` and 1.5 ULP in `f64`, for every finite angle.
pub fn tan(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let y = match dtype {
        DType::F32 => widened(l, [x], |n, [x]| n.tan_f64(x, Precision::Single)),
        _ => Num::new(l, dtype).tan_f64(x, Precision::Double),
    };
    Num::new(l, dtype).identity_near_zero(x, y)
}
