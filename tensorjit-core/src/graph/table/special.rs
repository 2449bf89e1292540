//! Rows of special functions: of error, gamma and Bessel.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

use super::formula::*;
use super::row::{Accuracy, Derivative, Eval, Form, Kinks, Row, TypeRule, kink, operand};
use crate::math::{self, reference};

pub(super) static ERFC: Row = Row {
    name: "erfc",
    form: Form::Call,
    doc: "`1 - erf(x)` without cancellation for large operands.",
    operands: &[operand("x", -2.5, 4.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::erfc(x[0])),
    derivative: Derivative::Partials(|| vec![number(-FRAC_2_SQRT_PI) * exp(-square(x()))]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| math::erfc(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 3.0),
};

pub(super) static ERF_INV: Row = Row {
    name: "erf_inv",
    form: Form::Call,
    doc: "The inverse of the error function; infinite at -1 and 1, NaN beyond.",
    operands: &[operand("x", -0.95, 0.95)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| reference::erf_inv(x[0])),
    derivative: Derivative::Partials(|| vec![number(1.0 / FRAC_2_SQRT_PI) * exp(square(out()))]),
    kinks: Kinks::jumps(|x| (1.0 - x[0].abs()).abs(), &[kink(&[1.0], &[f64::INFINITY], "the limit")]),
    lower: |l, dtype, x| math::erf_inv(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 3.0),
};

pub(super) static LGAMMA: Row = Row {
    name: "lgamma",
    form: Form::Call,
    doc: "The logarithm of the absolute value of the gamma function; inf at 0 and at negative integers.",
    operands: &[operand("x", 0.2, 9.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::lgamma(x[0])),
    derivative: Derivative::Partials(|| vec![digamma(x())]),
    kinks: Kinks::jumps(|x| to_pole(x[0]), &[]),
    lower: |l, dtype, x| math::lgamma(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 5.0).beside_zeros(1.0),
};

pub(super) static DIGAMMA: Row = Row {
    name: "digamma",
    form: Form::Call,
    doc: "The derivative of `lgamma`; infinite at 0, NaN at negative integers.",
    operands: &[operand("x", 0.2, 9.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| reference::digamma(x[0])),
    derivative: Derivative::Partials(|| vec![trigamma()]),
    kinks: Kinks::jumps(|x| to_pole(x[0]), &[]),
    lower: |l, dtype, x| math::digamma(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 4.0).beside_zeros(1.0),
};

/// How far a number is from 0 or a negative integer.
fn to_pole(x: f64) -> f64 {
    if x > 0.0 { x } else { (x - x.round()).abs() }
}

/// The derivative of `digamma`, by its asymptotic series, to which ten terms of the sum of squares lead; mirrored below
/// 0.  As a formula it has derivatives of any order.
fn trigamma() -> Formula {
    // 1/6, -1/30, 1/42 and so on.
    const BERNOULLI: [f64; 8] = [
        1.0 / 6.0,
        -1.0 / 30.0,
        1.0 / 42.0,
        -1.0 / 30.0,
        5.0 / 66.0,
        -691.0 / 2730.0,
        7.0 / 6.0,
        -3617.0 / 510.0,
    ];
    let negative = || lt(x(), number(0.0));
    let a = || select(negative(), number(1.0) - x(), x());
    let inverse = || recip(a() + number(10.0));
    let mut series = number(BERNOULLI[7]);
    for term in BERNOULLI.iter().rev().skip(1) {
        series = series * square(inverse()) + number(*term);
    }
    let mut sum = inverse() + square(inverse()) * (number(0.5) + inverse() * series);
    for k in (0..10).rev() {
        sum = sum + square(recip(a() + number(f64::from(k))));
    }
    let mirror = square(number(PI) / sin(number(PI) * (x() - round(x()))));
    select(negative(), mirror - sum.clone(), sum)
}

pub(super) static BESSEL_I0E: Row = Row {
    name: "bessel_i0e",
    form: Form::Call,
    doc: "The modified Bessel function of order 0, times `exp(-abs(x))`.",
    operands: &[operand("x", -12.0, 12.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| reference::bessel_i0e(x[0])),
    derivative: Derivative::Partials(|| vec![bessel_i1e(x()) - sign(x()) * out()]),
    kinks: Kinks::bends(|x| x[0].abs(), &[kink(&[0.0], &[0.0], "the mean of both sides")]),
    lower: |l, dtype, x| math::bessel_i0e(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 4.0),
};

pub(super) static BESSEL_I1E: Row = Row {
    name: "bessel_i1e",
    form: Form::Call,
    doc: "The modified Bessel function of order 1, times `exp(-abs(x))`.",
    operands: &[operand("x", -12.0, 12.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| reference::bessel_i1e(x[0])),
    derivative: Derivative::Partials(|| {
        let beside = bessel_i0e(x()) - out() * (sign(x()) + recip(x()));
        vec![select(eq(x(), number(0.0)), number(0.5), beside)]
    }),
    kinks: Kinks::bends(|x| x[0].abs(), &[kink(&[0.0], &[0.5], "the limit")]),
    lower: |l, dtype, x| math::bessel_i1e(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 4.0),
};
