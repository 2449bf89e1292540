//! Rows of roots, powers, exponentials and logarithms.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LOG2_E, LOG10_E};

use super::formula::*;
use super::row::{Accuracy, Derivative, Eval, Form, Kinks, Row, TypeRule, kink, operand};
use crate::lanes::Prim;
use crate::math;

pub(super) static SQRT: Row = Row {
    name: "sqrt",
    form: Form::Call,
    doc: "The square root; NaN below 0.",
    operands: &[operand("x", 0.1, 4.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| x[0].sqrt()),
    derivative: Derivative::Partials(|| vec![number(0.5) / out()]),
    kinks: Kinks::jumps(|x| x[0].abs(), &[kink(&[0.0], &[f64::INFINITY], "the limit")]),
    lower: |l, _, x| l.prim(Prim::Sqrt, x),
    accuracy: Accuracy::NEAREST,
};

pub(super) static RSQRT: Row = Row {
    name: "rsqrt",
    form: Form::Call,
    doc: "1 over the square root.",
    operands: &[operand("x", 0.1, 4.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| 1.0 / x[0].sqrt()),
    // Not by the cube of the result, which overflows for small operands.
    derivative: Derivative::Partials(|| vec![number(-0.5) * out() / x()]),
    kinks: Kinks::jumps(|x| x[0].abs(), &[kink(&[0.0], &[f64::NEG_INFINITY], "the limit")]),
    lower: |l, dtype, x| math::rsqrt(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static CBRT: Row = Row {
    name: "cbrt",
    form: Form::Call,
    doc: "The cube root, with the sign of the operand.",
    operands: &[operand("x", 0.2, 4.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::cbrt(x[0])),
    derivative: Derivative::Partials(|| vec![recip(number(3.0) * square(out()))]),
    kinks: Kinks::bends(|x| x[0].abs(), &[kink(&[0.0], &[f64::INFINITY], "the limit")]),
    lower: |l, dtype, x| math::cbrt(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static EXP: Row = Row {
    name: "exp",
    form: Form::Call,
    doc: "e to the power of the operand.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::exp(x[0])),
    derivative: Derivative::Partials(|| vec![out()]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| math::exp(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static EXP2: Row = Row {
    name: "exp2",
    form: Form::Call,
    doc: "2 to the power of the operand.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::exp2(x[0])),
    derivative: Derivative::Partials(|| vec![number(LN_2) * out()]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| math::exp2(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.5, 1.5),
};

pub(super) static EXPM1: Row = Row {
    name: "expm1",
    form: Form::Call,
    doc: "`exp(x) - 1` without cancellation near 0.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::expm1(x[0])),
    // Not as `out + 1`, which loses all digits of a small derivative.
    derivative: Derivative::Partials(|| vec![exp(x())]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| math::expm1(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static LOG: Row = Row {
    name: "log",
    form: Form::Call,
    doc: "The natural logarithm; -inf at 0, NaN below.",
    operands: &[operand("x", 0.1, 5.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::log(x[0])),
    derivative: Derivative::Partials(|| vec![recip(x())]),
    kinks: Kinks::jumps(|x| x[0].abs(), &[kink(&[0.0], &[f64::INFINITY], "the limit")]),
    lower: |l, dtype, x| math::log(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static LOG2: Row = Row {
    name: "log2",
    form: Form::Call,
    doc: "The logarithm to base 2; -inf at 0, NaN below.",
    operands: &[operand("x", 0.1, 5.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::log2(x[0])),
    derivative: Derivative::Partials(|| vec![number(LOG2_E) / x()]),
    kinks: Kinks::jumps(|x| x[0].abs(), &[kink(&[0.0], &[f64::INFINITY], "the limit")]),
    lower: |l, dtype, x| math::log2(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static LOG10: Row = Row {
    name: "log10",
    form: Form::Call,
    doc: "The logarithm to base 10; -inf at 0, NaN below.",
    operands: &[operand("x", 0.1, 5.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| x[0].log10()),
    derivative: Derivative::Partials(|| vec![number(LOG10_E) / x()]),
    kinks: Kinks::jumps(|x| x[0].abs(), &[kink(&[0.0], &[f64::INFINITY], "the limit")]),
    lower: |l, dtype, x| math::log10(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static LOG1P: Row = Row {
    name: "log1p",
    form: Form::Call,
    doc: "`log(1 + x)` without cancellation near 0; -inf at -1, NaN below.",
    operands: &[operand("x", -0.8, 4.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::log1p(x[0])),
    derivative: Derivative::Partials(|| vec![recip(number(1.0) + x())]),
    kinks: Kinks::jumps(|x| (x[0] + 1.0).abs(), &[kink(&[-1.0], &[f64::INFINITY], "the limit")]),
    lower: |l, dtype, x| math::log1p(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static ERF: Row = Row {
    name: "erf",
    form: Form::Call,
    doc: "The error function.",
    operands: &[operand("x", -2.5, 2.5)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::erf(x[0])),
    derivative: Derivative::Partials(|| vec![number(FRAC_2_SQRT_PI) * exp(-square(x()))]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| math::erf(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.5, 1.5),
};

pub(super) static SIGMOID: Row = Row {
    name: "sigmoid",
    form: Form::Call,
    doc: "`1 / (1 + exp(-x))`, without overflow.",
    operands: &[operand("x", -4.0, 4.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| logistic(x[0])),
    // Not as `out * (1 - out)`, which loses all digits of a small derivative.
    derivative: Derivative::Partials(|| vec![out() * sigmoid(-x())]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| math::sigmoid(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.5, 1.5),
};

/// The exponential is of a negative number, so that it cannot overflow, and keeps small values.
fn logistic(x: f64) -> f64 {
    let power = libm::exp(-x.abs());
    if x < 0.0 { power / (1.0 + power) } else { 1.0 / (1.0 + power) }
}

pub(super) static POW: Row = Row {
    name: "pow",
    form: Form::Call,
    doc: "`x` to the power of `y`; NaN for a negative base and a fraction, 1 for an exponent of 0.",
    operands: &[operand("x", 0.3, 3.0), operand("y", -2.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::pow(x[0], x[1])),
    derivative: Derivative::Partials(|| {
        let zero = || number(0.0);
        vec![
            select(eq(y(), zero()), zero(), y() * pow(x(), y() - number(1.0))),
            select(eq(x(), zero()), zero(), out() * log(x())),
        ]
    }),
    kinks: Kinks::jumps(
        |x| x[0].abs(),
        &[
            kink(&[0.0, 2.0], &[0.0, 0.0], "by the exponent 0 at base 0"),
            kink(&[0.0, 1.0], &[1.0, 0.0], "by the exponent 0 at base 0"),
            kink(&[0.0, 0.5], &[f64::INFINITY, 0.0], "by the exponent 0 at base 0"),
            kink(&[0.0, 0.0], &[0.0, 0.0], "by the base 0 at exponent 0"),
            kink(&[2.0, 0.0], &[0.0, LN_2], "by the base 0 at exponent 0"),
        ],
    ),
    lower: |l, dtype, x| math::pow(l, dtype, x[0], x[1]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static HYPOT: Row = Row {
    name: "hypot",
    form: Form::Call,
    doc: "`sqrt(x*x + y*y)` without overflow; inf where an operand is infinite, beside NaN too.",
    operands: &[operand("x", -3.0, 3.0), operand("y", -3.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::hypot(x[0], x[1])),
    derivative: Derivative::Partials(|| {
        let along = |side| select(eq(out(), number(0.0)), number(0.0), side / out());
        vec![along(x()), along(y())]
    }),
    kinks: Kinks::bends(
        |x| libm::hypot(x[0], x[1]),
        &[kink(&[0.0, 0.0], &[0.0, 0.0], "the mean of all directions")],
    ),
    lower: |l, dtype, x| math::hypot(l, dtype, x[0], x[1]),
    accuracy: Accuracy::ulp(1.0, 1.5),
};
