//! Rows of arithmetic, on integers and floats.

use super::formula::*;
use super::lower::{extreme, int_div, neg, number as constant};
use super::row::{Accuracy, Derivative, Eval, Form, Kinks, Row, TypeRule, kink, operand};
use crate::lanes::{Cmp, Prim};

pub(super) static NEG: Row = Row {
    name: "neg",
    form: Form::Prefix("-"),
    doc: "The negative; the least integer stays itself.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(|x| -x[0], |x| -x[0]),
    derivative: Derivative::Linear { operands: &[0], transpose: || vec![-out()] },
    kinks: Kinks::NONE,
    lower: |l, dtype, x| neg(l, dtype, x[0]),
    accuracy: Accuracy::EXACT,
};

pub(super) static ABS: Row = Row {
    name: "abs",
    form: Form::Call,
    doc: "The absolute value; the least integer stays itself.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(|x| x[0].abs(), |x| x[0].abs()),
    derivative: Derivative::Partials(|| vec![sign(x())]),
    kinks: Kinks::bends(|x| x[0].abs(), &[kink(&[0.0], &[0.0], "the mean of both sides")]),
    lower: |l, dtype, x| {
        if dtype.is_float() {
            return l.prim(Prim::FAbs, &[x[0]]);
        }
        let (zero, negated) = (l.int(dtype, 0), neg(l, dtype, x[0]));
        let negative = l.cmp(Cmp::Lt, x[0], zero);
        l.select(negative, negated, x[0])
    },
    accuracy: Accuracy::EXACT,
};

pub(super) static SQUARE: Row = Row {
    name: "square",
    form: Form::Call,
    doc: "The operand times itself.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(|x| x[0] * x[0], |x| x[0].wrapping_mul(x[0])),
    derivative: Derivative::Partials(|| vec![number(2.0) * x()]),
    kinks: Kinks::NONE,
    lower: |l, _, x| l.mul(x[0], x[0]),
    accuracy: Accuracy::NEAREST,
};

pub(super) static ADD: Row = Row {
    name: "add",
    form: Form::Infix("+", 90),
    doc: "The sum.",
    operands: &[operand("a", -3.0, 3.0), operand("b", -3.0, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(|x| x[0] + x[1], |x| x[0] + x[1]),
    derivative: Derivative::Linear { operands: &[0, 1], transpose: || vec![out(), out()] },
    kinks: Kinks::NONE,
    lower: |l, _, x| l.add(x[0], x[1]),
    accuracy: Accuracy::NEAREST,
};

pub(super) static SUB: Row = Row {
    name: "sub",
    form: Form::Infix("-", 90),
    doc: "The difference.",
    operands: &[operand("a", -3.0, 3.0), operand("b", -3.0, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(|x| x[0] - x[1], |x| x[0] - x[1]),
    derivative: Derivative::Linear { operands: &[0, 1], transpose: || vec![out(), -out()] },
    kinks: Kinks::NONE,
    lower: |l, _, x| l.sub(x[0], x[1]),
    accuracy: Accuracy::NEAREST,
};

pub(super) static MUL: Row = Row {
    name: "mul",
    form: Form::Infix("*", 100),
    doc: "The product.",
    operands: &[operand("a", -3.0, 3.0), operand("b", -3.0, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(|x| x[0] * x[1], |x| x[0].wrapping_mul(x[1])),
    derivative: Derivative::Partials(|| vec![y(), x()]),
    kinks: Kinks::NONE,
    lower: |l, _, x| l.mul(x[0], x[1]),
    accuracy: Accuracy::NEAREST,
};

pub(super) static DIV: Row = Row {
    name: "div",
    form: Form::Infix("/", 100),
    doc: "The quotient; of integers truncated, 0 where the divisor is 0.",
    operands: &[operand("a", -3.0, 3.0), operand("b", 0.5, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(|x| x[0] / x[1], |x| if x[1] == 0 { 0 } else { x[0] / x[1] }),
    // By the result, because the square of the divisor overflows long before the quotient does.
    derivative: Derivative::Partials(|| vec![recip(y()), -(out() / y())]),
    kinks: Kinks::jumps(|x| x[1].abs(), &[kink(&[1.0, 0.0], &[f64::INFINITY, f64::NEG_INFINITY], "IEEE")]),
    lower: |l, dtype, x| {
        if dtype.is_float() { l.fdiv(x[0], x[1]) } else { int_div(l, dtype, x[0], x[1]) }
    },
    accuracy: Accuracy::NEAREST,
};

pub(super) static RECIP: Row = Row {
    name: "recip",
    form: Form::Call,
    doc: "1 over the operand.",
    operands: &[operand("x", 0.3, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| 1.0 / x[0]),
    derivative: Derivative::Partials(|| vec![-square(out())]),
    kinks: Kinks::jumps(|x| x[0].abs(), &[kink(&[0.0], &[f64::NEG_INFINITY], "the limit")]),
    lower: |l, dtype, x| {
        let one = l.float(dtype, 1.0);
        l.fdiv(one, x[0])
    },
    accuracy: Accuracy::NEAREST,
};

pub(super) static MAXIMUM: Row = Row {
    name: "maximum",
    form: Form::Call,
    doc: "The greater operand; NaN where one is NaN.  Zeros of both signs are equal, and either may result.",
    operands: &[operand("a", -3.0, 3.0), operand("b", -3.0, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(|x| if x[0] > x[1] || x[0].is_nan() { x[0] } else { x[1] }, |x| x[0].max(x[1])),
    derivative: Derivative::Partials(|| vec![share(gt(x(), y())), share(lt(x(), y()))]),
    kinks: Kinks::bends(distance, &[kink(&[1.0, 1.0], &[0.5, 0.5], "equal operands share")]),
    lower: |l, dtype, x| extreme(l, dtype, Cmp::Gt, x[0], x[1]),
    accuracy: Accuracy::EXACT,
};

pub(super) static MINIMUM: Row = Row {
    name: "minimum",
    form: Form::Call,
    doc: "The lesser operand; NaN where one is NaN.  Zeros of both signs are equal, and either may result.",
    operands: &[operand("a", -3.0, 3.0), operand("b", -3.0, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(|x| if x[0] < x[1] || x[0].is_nan() { x[0] } else { x[1] }, |x| x[0].min(x[1])),
    derivative: Derivative::Partials(|| vec![share(lt(x(), y())), share(gt(x(), y()))]),
    kinks: Kinks::bends(distance, &[kink(&[1.0, 1.0], &[0.5, 0.5], "equal operands share")]),
    lower: |l, dtype, x| extreme(l, dtype, Cmp::Lt, x[0], x[1]),
    accuracy: Accuracy::EXACT,
};

/// 1 for the winner, half for each of two equal operands.
fn share(wins: Formula) -> Formula {
    select(wins, number(1.0), select(eq(x(), y()), number(0.5), number(0.0)))
}

/// How far the operands are from being equal.
fn distance(x: &[f64]) -> f64 {
    (x[0] - x[1]).abs()
}

pub(super) static CLIP: Row = Row {
    name: "clip",
    form: Form::Call,
    doc: "`minimum(maximum(x, low), high)`: `high` where the bounds are crossed, NaN where an operand is NaN.",
    operands: &[operand("x", -3.0, 3.0), operand("low", -2.0, 0.0), operand("high", 0.1, 2.0)],
    types: TypeRule::Number,
    eval: Eval::Number(
        |x| {
            if x.iter().any(|operand| operand.is_nan()) {
                return f64::NAN;
            }
            let raised = if x[0] > x[1] { x[0] } else { x[1] };
            if raised < x[2] { raised } else { x[2] }
        },
        |x| x[0].max(x[1]).min(x[2]),
    ),
    // At and beyond a bound the bound decides the value, and takes the whole derivative.
    derivative: Derivative::Partials(|| {
        let when = |mask| select(mask, number(1.0), number(0.0));
        vec![
            when(and(gt(x(), y()), lt(x(), z()))),
            when(and(le(x(), y()), lt(y(), z()))),
            when(or(ge(x(), z()), ge(y(), z()))),
        ]
    }),
    kinks: Kinks::bends(
        |x| (x[0] - x[1]).abs().min((x[0] - x[2]).abs()).min((x[1] - x[2]).abs()),
        &[
            kink(&[0.0, 0.0, 1.0], &[0.0, 1.0, 0.0], "at a bound the bound has it"),
            kink(&[1.0, 0.0, 1.0], &[0.0, 0.0, 1.0], "at a bound the bound has it"),
            kink(&[0.0, 1.0, 1.0], &[0.0, 0.0, 1.0], "of equal bounds the upper has it"),
        ],
    ),
    lower: |l, dtype, x| {
        let raised = extreme(l, dtype, Cmp::Gt, x[0], x[1]);
        extreme(l, dtype, Cmp::Lt, raised, x[2])
    },
    accuracy: Accuracy::EXACT,
};

pub(super) static FMA: Row = Row {
    name: "fma",
    form: Form::Internal,
    doc: "`a * b + c`, rounded once at levels with FMA; the simplifier makes it.",
    operands: &[operand("a", -3.0, 3.0), operand("b", -3.0, 3.0), operand("c", -3.0, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(|x| libm::fma(x[0], x[1], x[2]), |x| x[0].wrapping_mul(x[1]).wrapping_add(x[2])),
    derivative: Derivative::Partials(|| vec![y(), x(), number(1.0)]),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| {
        if dtype.is_float() {
            return l.fma(x[0], x[1], x[2]);
        }
        let product = l.mul(x[0], x[1]);
        l.add(product, x[2])
    },
    accuracy: Accuracy::NEAREST,
};

pub(super) static DMUL: Row = Row {
    name: "dmul",
    form: Form::Internal,
    doc: "The strong product of a derivative and a tangent: 0 where `t` is 0, else `d * t`; derivatives make it.",
    operands: &[operand("d", -3.0, 3.0), operand("t", 0.1, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(|x| if x[1] == 0.0 { 0.0 } else { x[0] * x[1] }, |x| x[0].wrapping_mul(x[1])),
    derivative: Derivative::StrongProduct,
    // Only an infinite derivative makes of a tangent near zero something else than of zero.
    kinks: Kinks::jumps(
        |x| if x[0].is_finite() { f64::INFINITY } else { x[1].abs() },
        &[kink(&[3.0, 0.0], &[0.0, 3.0], "as of the product")],
    ),
    lower: |l, dtype, x| {
        let zero = constant(l, dtype, 0);
        let none = l.cmp(Cmp::Eq, x[1], zero);
        let product = l.mul(x[0], x[1]);
        l.select(none, zero, product)
    },
    accuracy: Accuracy::NEAREST,
};
