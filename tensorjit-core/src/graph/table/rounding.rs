//! Rows that are constant between jumps, and the remainders, which are built of them.

use tensorjit_runtime::abi::DType;

use super::Scalar;
use super::formula::*;
use super::lower::{float_mod, int_mod, int_rem, number as constant};
use super::row::{Accuracy, Derivative, Eval, Form, Kink, Kinks, Row, TypeRule, kink, operand};
use crate::lanes::{Cmp, Prim};
use crate::math;

/// The derivative of a function that is constant between jumps.
const PIECEWISE_CONSTANT: Derivative = Derivative::Zero("constant between its jumps");

/// At a jump too.
const ZERO_AT_ZERO: &[Kink] = &[kink(&[0.0], &[0.0], "as beside it")];

/// How far a number is from the nearest integer.
fn to_integer(x: f64) -> f64 {
    (x - x.round()).abs()
}

pub(super) static SIGN: Row = Row {
    name: "sign",
    form: Form::Call,
    doc: "-1, 0 or 1; a zero keeps its sign, NaN stays.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(
        |x| {
            if x[0] > 0.0 {
                1.0
            } else if x[0] < 0.0 {
                -1.0
            } else {
                x[0]
            }
        },
        |x| x[0].signum(),
    ),
    derivative: PIECEWISE_CONSTANT,
    kinks: Kinks::jumps(|x| x[0].abs(), ZERO_AT_ZERO),
    lower: |l, dtype, x| {
        let (zero, one, minus_one) = (constant(l, dtype, 0), constant(l, dtype, 1), constant(l, dtype, -1));
        let negative = l.cmp(Cmp::Lt, x[0], zero);
        let positive = l.cmp(Cmp::Gt, x[0], zero);
        let other = l.select(negative, minus_one, x[0]);
        l.select(positive, one, other)
    },
    accuracy: Accuracy::EXACT,
};

pub(super) static FLOOR: Row = Row {
    name: "floor",
    form: Form::Call,
    doc: "The greatest integer that is not above the operand.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| x[0].floor()),
    derivative: PIECEWISE_CONSTANT,
    kinks: Kinks::jumps(|x| to_integer(x[0]), ZERO_AT_ZERO),
    lower: |l, _, x| l.prim(Prim::Floor, x),
    accuracy: Accuracy::EXACT,
};

pub(super) static CEIL: Row = Row {
    name: "ceil",
    form: Form::Call,
    doc: "The least integer that is not below the operand.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| x[0].ceil()),
    derivative: PIECEWISE_CONSTANT,
    kinks: Kinks::jumps(|x| to_integer(x[0]), ZERO_AT_ZERO),
    lower: |l, _, x| l.prim(Prim::Ceil, x),
    accuracy: Accuracy::EXACT,
};

pub(super) static ROUND: Row = Row {
    name: "round",
    form: Form::Call,
    doc: "The nearest integer, the even one of two.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| x[0].round_ties_even()),
    derivative: PIECEWISE_CONSTANT,
    kinks: Kinks::jumps(|x| to_integer(x[0] + 0.5), &[kink(&[0.5], &[0.0], "as beside it")]),
    lower: |l, _, x| l.prim(Prim::RoundEven, x),
    accuracy: Accuracy::EXACT,
};

pub(super) static TRUNC: Row = Row {
    name: "trunc",
    form: Form::Call,
    doc: "The operand without its fraction.",
    operands: &[operand("x", -3.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| x[0].trunc()),
    derivative: PIECEWISE_CONSTANT,
    kinks: Kinks::jumps(|x| to_integer(x[0]), &[kink(&[1.0], &[0.0], "as beside it")]),
    lower: |l, _, x| l.prim(Prim::Trunc, x),
    accuracy: Accuracy::EXACT,
};

pub(super) static REM: Row = Row {
    name: "rem",
    form: Form::Infix("%", 100),
    doc: "The remainder of the truncated quotient, with the sign of `a`, exact; of integers 0 where `b` is 0.",
    operands: &[operand("a", -5.0, 5.0), operand("b", 0.5, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(|x| libm::fmod(x[0], x[1]), |x| if x[1] == 0 { 0 } else { x[0] % x[1] }),
    derivative: Derivative::Partials(remainder_partials),
    kinks: Kinks::jumps(to_multiple, MULTIPLE),
    lower: |l, dtype, x| {
        if dtype.is_float() { math::rem(l, dtype, x[0], x[1]) } else { int_rem(l, dtype, x[0], x[1]) }
    },
    accuracy: Accuracy::EXACT,
};

pub(super) static MOD: Row = Row {
    name: "mod",
    form: Form::Call,
    doc: "The remainder of the floored quotient, with the sign of `b`; of integers 0 where `b` is 0.",
    operands: &[operand("a", -5.0, 5.0), operand("b", 0.5, 3.0)],
    types: TypeRule::Number,
    eval: Eval::Number(floored, |x| {
        let rem = if x[1] == 0 { 0 } else { x[0] % x[1] };
        if rem != 0 && (rem < 0) != (x[1] < 0) { rem + x[1] } else { rem }
    }),
    derivative: Derivative::Partials(remainder_partials),
    kinks: Kinks::jumps(to_multiple, MULTIPLE),
    lower: |l, dtype, x| {
        if dtype.is_float() { float_mod(l, dtype, x[0], x[1]) } else { int_mod(l, dtype, x[0], x[1]) }
    },
    accuracy: Accuracy::NEAREST,
};

/// `a % b` moved to the sign of `b`; a remainder of 0 has that sign too.
fn floored(x: &[f64]) -> f64 {
    let rem = libm::fmod(x[0], x[1]);
    if rem == 0.0 {
        0.0_f64.copysign(x[1])
    } else if (rem < 0.0) != (x[1] < 0.0) {
        rem + x[1]
    } else {
        rem
    }
}

/// A remainder is `a - b * quotient`, and `(a - out) / b` differs from the whole quotient only by rounding.
fn remainder_partials() -> Vec<Formula> {
    // Without a remainder the quotient is that of the division, infinite at 0.
    let divided = || eq(y(), number(0.0));
    vec![number(1.0), -select(divided(), x() / y(), round((x() - out()) / y()))]
}

/// How far `a` is from a multiple of `b`.
fn to_multiple(x: &[f64]) -> f64 {
    to_integer(x[0] / x[1]) * x[1].abs()
}

const MULTIPLE: &[Kink] = &[
    kink(&[4.0, 2.0], &[1.0, -2.0], "of the piece that has the value"),
    kink(&[1.0, 0.0], &[1.0, f64::NEG_INFINITY], "less the quotient"),
];

pub(super) static COPYSIGN: Row = Row {
    name: "copysign",
    form: Form::Call,
    doc: "The magnitude of `x` with the sign of `y`, that of a zero included.",
    operands: &[operand("x", -3.0, 3.0), operand("y", -3.0, 3.0)],
    types: TypeRule::Float,
    eval: Eval::Float(|x| x[0].copysign(x[1])),
    derivative: Derivative::Partials(|| vec![sign(x()) * copysign(number(1.0), y()), number(0.0)]),
    kinks: Kinks::jumps(
        |x| x[0].abs().min(x[1].abs()),
        &[kink(&[0.0, 1.0], &[0.0, 0.0], "by the sign of the operand")],
    ),
    lower: |l, dtype, x| math::copysign(l, dtype, x[0], x[1]),
    accuracy: Accuracy::EXACT,
};

pub(super) static NEXTAFTER: Row = Row {
    name: "nextafter",
    form: Form::Call,
    doc: "The float next to `x` on the way to `y`; `y` where they are equal.",
    operands: &[operand("x", -3.0, 3.0), operand("y", -3.0, 3.0)],
    types: TypeRule::OwnFloat,
    eval: Eval::Typed(|dtype, x| match (dtype, x) {
        (DType::F64, [Scalar::Float(x), Scalar::Float(y)]) => Some(Scalar::Float(libm::nextafter(*x, *y))),
        (_, [Scalar::Float(x), Scalar::Float(y)]) => {
            Some(Scalar::Float(f64::from(libm::nextafterf(*x as f32, *y as f32))))
        }
        _ => None,
    }),
    derivative: Derivative::Partials(|| vec![number(1.0), number(0.0)]),
    kinks: Kinks::bends(
        |x| (x[0] - x[1]).abs(),
        &[kink(&[1.0, 1.0], &[1.0, 0.0], "that of all other places")],
    ),
    lower: |l, dtype, x| math::nextafter(l, dtype, x[0], x[1]),
    accuracy: Accuracy::EXACT,
};
