//! Modified Bessel functions of the first kind, times `e^-|x|`.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::coefficients::{I0_FAR_F64, I0_NEAR_F64, I1_FAR_F64, I1_NEAR_F64};
use super::exp::exp;
use super::num::{Num, widened};

/// From here on the function goes like the inverse root.
const FAR: f64 = 8.0;

/// `e^-|x| I0(x)`, within 1 ULP in `f32` and 4 ULP in `f64`.
pub fn bessel_i0e(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let scaled = |n: &mut Num<'_>, x: Val| {
        let a = n.abs(x);
        let one = n.c(1.0);
        bessel(n, a, one, &I0_NEAR_F64, &I0_FAR_F64)
    };
    match dtype {
        DType::F64 => scaled(&mut Num::new(l, dtype), x),
        _ => widened(l, [x], |n, [x]| scaled(n, x)),
    }
}

/// `e^-|x| I1(x)`, within 1 ULP in `f32` and 4 ULP in `f64`.
pub fn bessel_i1e(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let scaled = |n: &mut Num<'_>, x: Val| {
        let a = n.abs(x);
        let y = bessel(n, a, a, &I1_NEAR_F64, &I1_FAR_F64);
        n.with_sign(y, x)
    };
    match dtype {
        DType::F64 => scaled(&mut Num::new(l, dtype), x),
        _ => widened(l, [x], |n, [x]| scaled(n, x)),
    }
}

/// Of a magnitude: `e^-a first p(a^2)`, or `q(16 / a - 1) / sqrt(a)`.
fn bessel(n: &mut Num<'_>, a: Val, first: Val, near: &[f64], far: &[f64]) -> Val {
    let square = n.mul(a, a);
    let p = n.poly(square, near);
    let minus = n.neg(a);
    let float = n.float;
    let decay = exp(n.lanes(), float, minus);
    let p = n.mul(p, decay);
    let close = n.mul(first, p);
    let (sixteen, minus_one) = (n.c(16.0), n.c(-1.0));
    let t = n.div(sixteen, a);
    let t = n.add(t, minus_one);
    let q = n.poly(t, far);
    let root = n.sqrt(a);
    let distant = n.div(q, root);
    let is_far = n.cmp_c(Cmp::Ge, a, FAR);
    n.select(is_far, distant, close)
}
