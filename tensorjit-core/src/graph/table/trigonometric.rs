//! Rows of trigonometric and hyperbolic functions.

use super::formula::*;
use super::row::{Accuracy, Derivative, Eval, Form, Kinks, Row, TypeRule, kink, operand};
use crate::math;

pub(super) static SIN: Row = Row {
    name: "sin",
    form: Form::Call,
    doc: "The sine of an angle in radians.",
    operands: &[operand("x", -4.0, 4.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::sin(x[0])),
    derivative: Derivative::Partials(|| vec![cos(x())]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| math::sin(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static COS: Row = Row {
    name: "cos",
    form: Form::Call,
    doc: "The cosine of an angle in radians.",
    operands: &[operand("x", -4.0, 4.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::cos(x[0])),
    derivative: Derivative::Partials(|| vec![-sin(x())]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| math::cos(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static TAN: Row = Row {
    name: "tan",
    form: Form::Call,
    doc: "The tangent of an angle in radians.",
    operands: &[operand("x", -1.3, 1.3)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::tan(x[0])),
    derivative: Derivative::Partials(|| vec![number(1.0) + square(out())]),
    kinks: Kinks::jumps(|x| libm::cos(x[0]).abs(), &[]),
    lower: |l, dtype, x| math::tan(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.5),
};

/// `1 / sqrt(1 - x*x)`, without cancellation near -1 and 1.
fn inverse_of_cosine() -> Formula {
    rsqrt((number(1.0) - x()) * (number(1.0) + x()))
}

pub(super) static ASIN: Row = Row {
    name: "asin",
    form: Form::Call,
    doc: "The angle in -pi/2..pi/2 of a sine; NaN beyond -1 and 1.",
    operands: &[operand("x", -0.9, 0.9)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::asin(x[0])),
    derivative: Derivative::Partials(|| vec![inverse_of_cosine()]),
    kinks: Kinks::jumps(|x| (1.0 - x[0].abs()).abs(), &[kink(&[1.0], &[f64::INFINITY], "the limit")]),
    lower: |l, dtype, x| math::asin(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static ACOS: Row = Row {
    name: "acos",
    form: Form::Call,
    doc: "The angle in 0..pi of a cosine; NaN beyond -1 and 1.",
    operands: &[operand("x", -0.9, 0.9)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::acos(x[0])),
    derivative: Derivative::Partials(|| vec![-inverse_of_cosine()]),
    kinks: Kinks::jumps(|x| (1.0 - x[0].abs()).abs(), &[kink(&[1.0], &[f64::NEG_INFINITY], "the limit")]),
    lower: |l, dtype, x| math::acos(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static ATAN: Row = Row {
    name: "atan",
    form: Form::Call,
    doc: "The angle in -pi/2..pi/2 of a tangent.",
    operands: &[operand("x", -4.0, 4.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::atan(x[0])),
    derivative: Derivative::Partials(|| vec![recip(number(1.0) + square(x()))]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| math::atan(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static ATAN2: Row = Row {
    name: "atan2",
    form: Form::Call,
    doc: "The angle in -pi..pi of the point (`x`, `y`), the zeros' signs told apart as in C.",
    operands: &[operand("y", -3.0, 3.0), operand("x", -3.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::atan2(x[0], x[1])),
    // In two divisions, because the square of the radius overflows and underflows.
    derivative: Derivative::Partials(|| {
        let radius = || hypot(x(), y());
        let around = |side| select(eq(radius(), number(0.0)), number(0.0), side / radius() / radius());
        vec![around(y()), around(-x())]
    }),
    kinks: Kinks::jumps(
        |x| if x[1] < 0.0 { x[0].abs() } else { libm::hypot(x[0], x[1]) },
        &[kink(&[0.0, 0.0], &[0.0, 0.0], "there is no angle to move")],
    ),
    lower: |l, dtype, x| math::atan2(l, dtype, x[0], x[1]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static SINH: Row = Row {
    name: "sinh",
    form: Form::Call,
    doc: "The hyperbolic sine.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::sinh(x[0])),
    derivative: Derivative::Partials(|| vec![cosh(x())]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| math::sinh(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static COSH: Row = Row {
    name: "cosh",
    form: Form::Call,
    doc: "The hyperbolic cosine.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::cosh(x[0])),
    derivative: Derivative::Partials(|| vec![sinh(x())]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| math::cosh(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static TANH: Row = Row {
    name: "tanh",
    form: Form::Call,
    doc: "The hyperbolic tangent.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| libm::tanh(x[0])),
    // Not as `1 - out * out`, which loses all digits of a small derivative.
    derivative: Derivative::Partials(|| vec![square(sech(x()))]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| math::tanh(l, dtype, x[0]),
    accuracy: Accuracy::ulp(1.0, 1.0),
};

pub(super) static SECH: Row = Row {
    name: "sech",
    form: Form::Call,
    doc: "The hyperbolic secant, `1 / cosh(x)`.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Float,
    // The hyperbolic cosine would overflow where this does not vanish yet.
    eval: Eval::Float(|x| {
        let e = libm::exp(-x[0].abs());
        2.0 * e / (1.0 + e * e)
    }),
    derivative: Derivative::Partials(|| vec![-(out() * tanh(x()))]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| math::sech(l, dtype, x[0]),
    accuracy: Accuracy::ulp(3.0, 3.0),
};
