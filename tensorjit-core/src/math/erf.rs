//! The error function and its complement.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::coefficients::{ERF_F32, ERF_F64, ERF_PIECES, ERF_TAIL_F32, ERF_TAIL_F64, ERFC_F64};
use super::exp::Rounded;
use super::num::{Num, widened};

/// The error function, within 1 ULP.
pub fn erf(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let a = n.abs(x);
    if n.has_tables() {
        let y = n.piecewise(a, &ERF_PIECES);
        return n.with_sign(y, x);
    }
    // Up to 1: x + x p(x^2).
    let z = n.mul(a, a);
    let p = if n.is_f32() { n.poly(z, &ERF_F32) } else { n.poly(z, &ERF_F64) };
    let small = n.fma(a, p, a);
    // Above: 1 - e^-p(x - 1), up to where it is 1.
    let bounded = n.at_most(a, n.pick(4.0, 6.0));
    let one = n.c(1.0);
    let v = n.sub(bounded, one);
    let p = if n.is_f32() { n.poly(v, &ERF_TAIL_F32) } else { n.poly(v, &ERF_TAIL_F64) };
    let minus = n.neg(p);
    let Rounded { biased, r, .. } = n.reduce_ln2_rounded(minus);
    let y = n.expm1_rounded(r);
    // 1 - 2^n (1 + y)
    let scale = n.pow2(biased, 0);
    let rest = n.sub(one, scale);
    let minus_scale = n.neg(scale);
    let large = n.fma(minus_scale, y, rest);
    let is_small = n.cmp_c(Cmp::Lt, a, 1.0);
    let y = n.select(is_small, small, large);
    n.with_sign(y, x)
}

/// `1 - erf(x)` without cancellation, within 1 ULP in `f32` and 3 ULP in `f64`.
pub fn erfc(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    match dtype {
        DType::F64 => complement(&mut Num::new(l, dtype), x),
        _ => widened(l, [x], |n, [x]| complement(n, x)),
    }
}

/// Up to 1/2 the difference; above, `e^(-x^2) p(u) / (1 + 2 x)` with `u = (x - 3.75) / (x + 3.75)`.
fn complement(n: &mut Num<'_>, x: Val) -> Val {
    let (one, two) = (n.c(1.0), n.c(2.0));
    let a = n.abs(x);
    let z = n.mul(a, a);
    let p = n.poly(z, &ERF_F64);
    let small = n.fma(x, p, x);
    let small = n.sub(one, small);
    // At 28 the value has vanished.
    let bounded = n.at_most(a, 28.0);
    let middle = n.c(3.75);
    let (over, under) = (n.sub(bounded, middle), n.add(bounded, middle));
    let u = n.div(over, under);
    let p = n.poly(u, &ERFC_F64);
    let divisor = n.fma(two, bounded, one);
    let p = n.div(p, divisor);
    // The square is needed to more digits than it has: its error is one of the exponent.
    let square = n.two_prod(bounded, bounded);
    let minus = n.neg(square.hi);
    let Rounded { n: power, r, .. } = n.reduce_ln2_rounded(minus);
    let r = n.sub(r, square.lo);
    let y = n.expm1_rounded(r);
    let y = n.fma(y, p, p);
    let tail = n.scale_pow2(y, power);
    let other = n.sub(two, tail);
    let negative = n.cmp_c(Cmp::Lt, x, 0.0);
    let large = n.select(negative, other, tail);
    let is_small = n.cmp_c(Cmp::Lt, a, 0.5);
    let y = n.select(is_small, small, large);
    // NaN, which the bound took for a number.
    let number = n.cmp(Cmp::Eq, x, x);
    n.select(number, y, x)
}
