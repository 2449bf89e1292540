//! The inverse of the error function.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::coefficients::{ERF_INV_FAR_F64, ERF_INV_FARTHER_F64, ERF_INV_NEAR_F64};
use super::log::log;
use super::num::{Num, widened};

/// The inverse of the error function, within 1 ULP in `f32` and 3 ULP in `f64`; infinite at 1 and -1, NaN beyond.
pub fn erf_inv(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    match dtype {
        DType::F64 => inverse(&mut Num::new(l, dtype), x),
        _ => widened(l, [x], |n, [x]| inverse(n, x)),
    }
}

/// `x p(w)` with `w = -log(1 - x^2)`: in three pieces, the outer ones by the root of `w`, which the inverse approaches.
fn inverse(n: &mut Num<'_>, x: Val) -> Val {
    let one = n.c(1.0);
    // Factors lose less than the square would beside 1.
    let (below, above) = (n.sub(one, x), n.add(one, x));
    let product = n.mul(below, above);
    let float = n.float;
    let logarithm = log(n.lanes(), float, product);
    let w = n.neg(logarithm);
    let middle = n.c(-3.125);
    let t = n.add(w, middle);
    let near = n.poly(t, &ERF_INV_NEAR_F64);
    let root = n.sqrt(w);
    let far = {
        let middle = n.c(-3.25);
        let t = n.add(root, middle);
        n.poly(t, &ERF_INV_FAR_F64)
    };
    let farther = {
        let middle = n.c(-5.0);
        let t = n.add(root, middle);
        n.poly(t, &ERF_INV_FARTHER_F64)
    };
    let is_far = n.cmp_c(Cmp::Ge, w, 6.25);
    let is_farther = n.cmp_c(Cmp::Ge, w, 16.0);
    let p = n.select(is_far, far, near);
    let p = n.select(is_farther, farther, p);
    let y = n.mul(x, p);
    let infinite = n.c(f64::INFINITY);
    let infinite = n.with_sign(infinite, x);
    let size = n.abs(x);
    let at_end = n.cmp_c(Cmp::Eq, size, 1.0);
    n.select(at_end, infinite, y)
}
