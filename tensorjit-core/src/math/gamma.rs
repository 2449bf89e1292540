//! The logarithm of the gamma function, and its derivative.

use std::f64::consts::PI;

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::coefficients::{DIGAMMA_F64, LGAMMA_F64, STIRLING_F64};
use super::log::log;
use super::num::{Num, widened};
use super::trig::{cos, sin};

/// From here on Stirling's series has full precision.
const LARGE: f64 = 8.0;

/// `(log(2 pi) - 1) / 2`
const HALF_LOG_2PI_LESS_1: f64 = 0.418_938_533_204_672_7;

/// `log(pi)`
const LOG_PI: f64 = 1.144_729_885_849_400_2;

/// `log(|gamma(x)|)`, within 1 ULP in `f32`; in `f64` within 5 ULP of the value, or of 1 where that is more.
pub fn lgamma(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    match dtype {
        DType::F64 => log_gamma(&mut Num::new(l, dtype), x),
        _ => widened(l, [x], |n, [x]| log_gamma(n, x)),
    }
}

fn log_gamma(n: &mut Num<'_>, x: Val) -> Val {
    let size = n.abs(x);
    let above = log_gamma_positive(n, size);
    // gamma(x) gamma(-x) = -pi / (x sin(pi x)); beside 0 the logarithm of the size is all there is of it.
    let [sine, _] = turn(n, size);
    let sine = n.abs(sine);
    let product = n.mul(size, sine);
    let float = n.float;
    let logarithm = log(n.lanes(), float, product);
    let log_pi = n.c(LOG_PI);
    let reflected = n.sub(log_pi, logarithm);
    let reflected = n.sub(reflected, above);
    // At integers, beyond which there is no part of one, the value is infinite.
    let pole = n.cmp_c(Cmp::Eq, sine, 0.0);
    let reflected = {
        let infinity = n.c(f64::INFINITY);
        n.select(pole, infinity, reflected)
    };
    let negative = n.cmp_c(Cmp::Lt, x, -1e-20);
    let y = n.select(negative, reflected, above);
    let infinite = n.cmp_c(Cmp::Eq, size, f64::INFINITY);
    n.select(infinite, size, y)
}

/// For positive numbers: below 8 they are brought between 1.5 and 2.5, which costs the logarithm of a product.
fn log_gamma_positive(n: &mut Num<'_>, a: Val) -> Val {
    let (one, two) = (n.c(1.0), n.c(2.0));
    // a = 2 + t, or one or two less than that, where the product stands below the fraction.
    let (less_one, less_two) = (n.sub(a, one), n.sub(a, two));
    let tiny = n.cmp_c(Cmp::Lt, a, 0.5);
    let small = n.cmp_c(Cmp::Lt, a, 1.5);
    let t = n.select(small, less_one, less_two);
    let t = n.select(tiny, a, t);
    let next = n.add(a, one);
    let both = n.mul(a, next);
    let product = n.select(small, a, one);
    let product = n.select(tiny, both, product);
    let [t, product] = n.repeat(6, [t, product], |n, [t, product]| {
        let (one, two) = (n.c(1.0), n.c(2.0));
        let lower = n.sub(t, one);
        let factor = n.add(lower, two);
        let more = n.mul(product, factor);
        let beyond = n.cmp_c(Cmp::Ge, t, 0.5);
        [n.select(beyond, lower, t), n.select(beyond, more, product)]
    });
    let large = n.cmp_c(Cmp::Ge, a, LARGE);
    let argument = n.select(large, a, product);
    let float = n.float;
    let logarithm = log(n.lanes(), float, argument);
    let p = n.poly(t, &LGAMMA_F64);
    let minus = n.neg(logarithm);
    let signed = n.select(small, minus, logarithm);
    let below = n.fma(t, p, signed);
    // (a - 1/2) (log a - 1) + (log(2 pi) - 1) / 2 + p / a
    let inverse = n.div(one, a);
    let square = n.mul(inverse, inverse);
    let p = n.poly(square, &STIRLING_F64);
    let constant = n.c(HALF_LOG_2PI_LESS_1);
    let rest = n.fma(inverse, p, constant);
    let half = n.c(0.5);
    let (factor, logarithm) = (n.sub(a, half), n.sub(logarithm, one));
    let above = n.fma(factor, logarithm, rest);
    n.select(large, above, below)
}

/// The sine and the cosine of `pi x`.
fn turn(n: &mut Num<'_>, x: Val) -> [Val; 2] {
    let nearest = n.round(x);
    let part = n.sub(x, nearest);
    let angle = n.scale(part, PI);
    let float = n.float;
    [sin(n.lanes(), float, angle), cos(n.lanes(), float, angle)]
}

/// The derivative of the logarithm of the gamma function, within 1 ULP in `f32`; in `f64` within 4 ULP of the value, or
/// of 1 where that is more.
pub fn digamma(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    match dtype {
        DType::F64 => psi(&mut Num::new(l, dtype), x),
        _ => widened(l, [x], |n, [x]| psi(n, x)),
    }
}

fn psi(n: &mut Num<'_>, x: Val) -> Val {
    let one = n.c(1.0);
    let negative = n.cmp_c(Cmp::Lt, x, 0.0);
    let mirrored = n.sub(one, x);
    let a = n.select(negative, mirrored, x);
    // Less 1 / a, 1 / (a + 1) and so on, with what rounding takes of each and of the sum.
    let zero = n.c(0.0);
    let first = a;
    let [a, terms, lost] = n.repeat(8, [a, zero, zero], |n, [a, terms, lost]| {
        let (one, minus_one) = (n.c(1.0), n.c(-1.0));
        let next = n.add(a, one);
        let term = n.div(minus_one, a);
        // -1 - term a, and what that is of the quotient: a is so near to -1 / term.
        let minus_term = n.neg(term);
        let rest = n.division_rest(minus_one, minus_term, a);
        let rest = n.mul(rest, minus_term);
        let sum = n.two_sum(terms, term);
        let rest = n.add(rest, sum.lo);
        let rest = n.add(lost, rest);
        let below = n.cmp_c(Cmp::Lt, a, LARGE);
        [n.select(below, next, a), n.select(below, sum.hi, terms), n.select(below, rest, lost)]
    });
    let inverse = n.div(one, a);
    let square = n.mul(inverse, inverse);
    let p = n.poly(square, &DIGAMMA_F64);
    let half = n.scale(inverse, 0.5);
    let minus_half = n.neg(half);
    let rest = n.fma(square, p, minus_half);
    let float = n.float;
    let logarithm = log(n.lanes(), float, a);
    let sum = n.two_sum(logarithm, terms);
    let rest = n.add(rest, lost);
    let rest = n.add(rest, sum.lo);
    let y = n.add(sum.hi, rest);
    // Nothing is left of other terms beside that of 0, nor a rest of what is infinite.
    let infinite = n.div(one, first);
    let infinite = n.neg(infinite);
    let size = n.abs(first);
    let at_zero = n.cmp_c(Cmp::Lt, size, 1e-300);
    let y = n.select(at_zero, infinite, y);
    let large = n.cmp_c(Cmp::Ge, a, 1e300);
    let y = n.select(large, logarithm, y);
    // The other side of 0: less pi / tan(pi x).
    let [sine, cosine] = turn(n, x);
    let ratio = n.div(cosine, sine);
    let minus_pi = n.c(-PI);
    let reflected = n.fma(ratio, minus_pi, y);
    let pole = n.cmp_c(Cmp::Eq, sine, 0.0);
    let reflected = {
        let nan = n.c(f64::NAN);
        n.select(pole, nan, reflected)
    };
    n.select(negative, reflected, y)
}
