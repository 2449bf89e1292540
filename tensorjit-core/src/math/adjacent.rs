//! Functions of the bits of floats.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::num::Num;

/// The magnitude of `x` with the sign of `y`.
pub fn copysign(l: &mut dyn Lanes, dtype: DType, x: Val, y: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let size = n.abs(x);
    n.with_sign(size, y)
}

/// The float next to `x` on the way to `y`; `y` where they are equal.
pub fn nextafter(l: &mut dyn Lanes, dtype: DType, x: Val, y: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let zero = n.c(0.0);
    // Away from 0 the bits rise, whatever the sign.
    let bits = n.bits(x);
    let (up, down) = (n.add_i(bits, 1), n.add_i(bits, -1));
    let (rises, positive) = (n.cmp(Cmp::Gt, y, x), n.cmp(Cmp::Gt, x, zero));
    let inward = n.xor(rises, positive);
    let next = n.select(inward, down, up);
    let next = n.float_from(next);
    let least = n.i(1);
    let least = n.float_from(least);
    let least = n.with_sign(least, y);
    let at_zero = n.cmp(Cmp::Eq, x, zero);
    let next = n.select(at_zero, least, next);
    let equal = n.cmp(Cmp::Eq, x, y);
    let next = n.select(equal, y, next);
    // NaN of either.
    let (x_is, y_is) = (n.cmp(Cmp::Eq, x, x), n.cmp(Cmp::Eq, y, y));
    let numbers = n.and(x_is, y_is);
    let sum = n.add(x, y);
    n.select(numbers, next, sum)
}
