//! The error function.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::coefficients::{ERF_F32, ERF_F64, ERF_PIECES, ERF_TAIL_F32, ERF_TAIL_F64};
use super::exp::Rounded;
use super::num::Num;

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
