//! Functions made of square roots.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::exp::exp;
use super::log::log;
use super::num::{Num, widened};

/// `1 / sqrt(x)`, within 1 ULP: the quotient and one step of Newton's method on what it lacks.
pub fn rsqrt(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let root = n.sqrt(x);
    let one = n.c(1.0);
    let y = n.div(one, root);
    // 1 - x y^2, from x y as a pair.
    let lack = if n.has_fma() {
        let product = n.two_prod(x, y);
        let minus_y = n.neg(y);
        let lack = n.fma(product.hi, minus_y, one);
        n.fma(product.lo, minus_y, lack)
    } else if n.is_f32() {
        widened(n.lanes(), [x, y], |n, [x, y]| {
            let product = n.mul(x, y);
            let product = n.mul(product, y);
            let one = n.c(1.0);
            n.sub(one, product)
        })
    } else {
        // The halves of a huge x would overflow; x / 2^600 and y 2^300 have the same product.
        let huge = n.cmp_c(Cmp::Gt, x, 1.0);
        let (down, up, same) = (n.c(2.0_f64.powi(-600)), n.c(2.0_f64.powi(300)), n.c(1.0));
        let x_factor = n.select(huge, down, same);
        let y_factor = n.select(huge, up, same);
        let x = n.mul(x, x_factor);
        let y = n.mul(y, y_factor);
        let product = n.two_prod(x, y);
        let square = n.two_prod(product.hi, y);
        let lack = n.sub(one, square.hi);
        let lack = n.sub(lack, square.lo);
        let low = n.mul(product.lo, y);
        n.sub(lack, low)
    };
    let half = n.scale(y, 0.5);
    let corrected = n.fma(half, lack, y);
    // At zeros, infinity and NaN the quotient is right and the correction is not.
    let ordinary = n.cmp_c(Cmp::Lt, y, f64::INFINITY);
    let positive = n.cmp_c(Cmp::Gt, y, 0.0);
    let ordinary = n.and(ordinary, positive);
    n.select(ordinary, corrected, y)
}

/// `sqrt(x^2 + y^2)` without overflow on the way, within 1 ULP in `f32` and 1.5 ULP in `f64`.
pub fn hypot(l: &mut dyn Lanes, dtype: DType, x: Val, y: Val) -> Val {
    let result = match dtype {
        DType::F32 => widened(l, [x, y], |n, [x, y]| {
            let square = n.mul(x, x);
            let sum = n.fma(y, y, square);
            n.sqrt(sum)
        }),
        _ => hypot_f64(&mut Num::new(l, dtype), x, y),
    };
    // An infinite operand prevails over NaN.
    let n = &mut Num::new(l, dtype);
    let mut result = result;
    for operand in [x, y] {
        let a = n.abs(operand);
        let infinite = n.cmp_c(Cmp::Eq, a, f64::INFINITY);
        result = n.select(infinite, a, result);
    }
    result
}

fn hypot_f64(n: &mut Num<'_>, x: Val, y: Val) -> Val {
    let (a, b) = (n.abs(x), n.abs(y));
    let swapped = n.cmp(Cmp::Gt, b, a);
    let (long, short) = (n.select(swapped, b, a), n.select(swapped, a, b));
    let huge = n.cmp_c(Cmp::Gt, long, 2.0_f64.powi(500));
    let small = n.cmp_c(Cmp::Lt, long, 2.0_f64.powi(-400));
    let (down, up, same) = (n.c(2.0_f64.powi(-600)), n.c(2.0_f64.powi(600)), n.c(1.0));
    let factor = n.select(small, up, same);
    let factor = n.select(huge, down, factor);
    let back = n.select(small, down, same);
    let back = n.select(huge, up, back);
    let (long, short) = (n.mul(long, factor), n.mul(short, factor));
    let square = n.mul(short, short);
    let sum = n.fma(long, long, square);
    let root = n.sqrt(sum);
    n.mul(root, back)
}

/// The cube root with the sign of the operand, within 1 ULP: by logarithms, and one step of Newton's method.
pub fn cbrt(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let n = &mut Num::new(l, dtype);
    let a = n.abs(x);
    // Subnormal numbers have too few bits for their cube root's cube, and products of huge ones overflow.
    let (small, huge) = n.pick((-100, 100), (-900, 900));
    let (is_small, is_huge) =
        (n.cmp_c(Cmp::Lt, a, 2.0_f64.powi(small)), n.cmp_c(Cmp::Gt, a, 2.0_f64.powi(huge)));
    let (up, down, same) = (n.c(2.0_f64.powi(75)), n.c(2.0_f64.powi(-75)), n.c(1.0));
    let factor = n.select(is_small, up, same);
    let factor = n.select(is_huge, down, factor);
    let (up, down) = (n.c(2.0_f64.powi(25)), n.c(2.0_f64.powi(-25)));
    let back = n.select(is_small, down, same);
    let back = n.select(is_huge, up, back);
    let b = n.mul(a, factor);
    let logarithm = log(n.lanes(), dtype, b);
    let power = n.scale(logarithm, 1.0 / 3.0);
    let y = exp(n.lanes(), dtype, power);
    // b - y^3, from the square as a pair.
    let square = n.two_prod(y, y);
    let cube = n.two_prod(square.hi, y);
    let lack = n.sub(b, cube.hi);
    let lack = n.sub(lack, cube.lo);
    let low = n.mul(square.lo, y);
    let lack = n.sub(lack, low);
    let slope = n.scale(square.hi, 3.0);
    let step = n.div(lack, slope);
    let y = n.add(y, step);
    let y = n.mul(y, back);
    let y = n.with_sign(y, x);
    // Zeros, infinities and NaN are their own.
    let finite = n.cmp_c(Cmp::Lt, a, f64::INFINITY);
    let positive = n.cmp_c(Cmp::Gt, a, 0.0);
    let ordinary = n.and(finite, positive);
    n.select(ordinary, y, x)
}
