//! Rows of tests, comparisons, bitwise logic, and the choice between two values.

use std::cmp::Ordering;

use tensorjit_runtime::abi::DType;

use super::formula::{number, out, select, x};
use super::lower::is_nan;
use super::row::{Accuracy, Derivative, Eval, Form, Kinks, Lower, Operand, Row, TypeRule, operand};
use crate::lanes::{Cmp, Lanes, Prim, Val};

/// The derivative of a function whose result is a truth value or an integer.
const DISCRETE: Derivative = Derivative::Zero("truth values and integers carry no derivative");

const ONE: &[Operand] = &[operand("x", -3.0, 3.0)];

const PAIR: &[Operand] = &[operand("a", -3.0, 3.0), operand("b", -3.0, 3.0)];

/// A test of one float.
const fn test(name: &'static str, doc: &'static str, eval: fn(f64) -> bool, lower: Lower) -> Row {
    Row {
        name,
        form: Form::Call,
        doc,
        operands: ONE,
        types: TypeRule::FloatTest,
        eval: Eval::Test(eval),
        derivative: DISCRETE,
        kinks: Kinks::NONE,
        lower,
        accuracy: Accuracy::EXACT,
    }
}

pub(super) static ISNAN: Row =
    test("isnan", "Whether the operand is NaN.", f64::is_nan, |l, _, x| is_nan(l, x[0]));

pub(super) static ISINF: Row =
    test("isinf", "Whether the operand is inf or -inf.", f64::is_infinite, |l, dtype, x| {
        against_infinity(l, dtype, Cmp::Eq, x[0])
    });

pub(super) static ISFINITE: Row =
    test("isfinite", "Whether the operand is neither infinite nor NaN.", f64::is_finite, |l, dtype, x| {
        against_infinity(l, dtype, Cmp::Lt, x[0])
    });

/// Compares the absolute value with infinity; false for NaN.
fn against_infinity(l: &mut dyn Lanes, dtype: DType, cmp: Cmp, x: Val) -> Val {
    let size = l.prim(Prim::FAbs, &[x]);
    let infinity = l.float(dtype, f64::INFINITY);
    l.cmp(cmp, size, infinity)
}

/// A comparison; those of order are not for bools.
const fn relation(
    name: &'static str,
    symbol: &'static str,
    doc: &'static str,
    types: TypeRule,
    eval: fn(Option<Ordering>) -> bool,
    lower: Lower,
) -> Row {
    Row {
        name,
        form: Form::Infix(symbol, 50),
        doc,
        operands: PAIR,
        types,
        eval: Eval::Relation(eval),
        derivative: DISCRETE,
        kinks: Kinks::jumps(|x| (x[0] - x[1]).abs(), &[]),
        lower,
        accuracy: Accuracy::EXACT,
    }
}

pub(super) static LT: Row = relation(
    "lt",
    "<",
    "Whether `a` is less; false for NaN.",
    TypeRule::Order,
    |order| order == Some(Ordering::Less),
    |l, _, x| l.cmp(Cmp::Lt, x[0], x[1]),
);

pub(super) static LE: Row = relation(
    "le",
    "<=",
    "Whether `a` is less or equal; false for NaN.",
    TypeRule::Order,
    |order| order.is_some_and(Ordering::is_le),
    |l, _, x| l.cmp(Cmp::Le, x[0], x[1]),
);

pub(super) static GT: Row = relation(
    "gt",
    ">",
    "Whether `a` is greater; false for NaN.",
    TypeRule::Order,
    |order| order == Some(Ordering::Greater),
    |l, _, x| l.cmp(Cmp::Gt, x[0], x[1]),
);

pub(super) static GE: Row = relation(
    "ge",
    ">=",
    "Whether `a` is greater or equal; false for NaN.",
    TypeRule::Order,
    |order| order.is_some_and(Ordering::is_ge),
    |l, _, x| l.cmp(Cmp::Ge, x[0], x[1]),
);

pub(super) static EQ: Row = relation(
    "eq",
    "==",
    "Whether both are equal; false for NaN.",
    TypeRule::Equality,
    |order| order == Some(Ordering::Equal),
    |l, _, x| l.cmp(Cmp::Eq, x[0], x[1]),
);

pub(super) static NE: Row = relation(
    "ne",
    "!=",
    "Whether both differ; true for NaN.",
    TypeRule::Equality,
    |order| order != Some(Ordering::Equal),
    |l, _, x| l.cmp(Cmp::Ne, x[0], x[1]),
);

/// A bitwise function of two operands.
const fn bitwise(
    name: &'static str,
    symbol: &'static str,
    binding: u8,
    doc: &'static str,
    eval: fn(&[i128]) -> i128,
    lower: Lower,
) -> Row {
    Row {
        name,
        form: Form::Infix(symbol, binding),
        doc,
        operands: PAIR,
        types: TypeRule::Bits,
        eval: Eval::Bits(eval),
        derivative: DISCRETE,
        kinks: Kinks::NONE,
        lower,
        accuracy: Accuracy::EXACT,
    }
}

pub(super) static AND: Row =
    bitwise("and", "&", 80, "Both; of integers bit by bit.", |x| x[0] & x[1], |l, _, x| l.prim(Prim::And, x));

pub(super) static OR: Row = bitwise(
    "or",
    "|",
    60,
    "At least one; of integers bit by bit.",
    |x| x[0] | x[1],
    |l, _, x| l.prim(Prim::Or, x),
);

pub(super) static XOR: Row = bitwise(
    "xor",
    "^",
    70,
    "Exactly one; of integers bit by bit.",
    |x| x[0] ^ x[1],
    |l, _, x| l.prim(Prim::Xor, x),
);

pub(super) static NOT: Row = Row {
    name: "not",
    form: Form::Prefix("!"),
    doc: "The other truth value; of integers bit by bit.",
    operands: ONE,
    types: TypeRule::Bits,
    eval: Eval::Bits(|x| !x[0]),
    derivative: DISCRETE,
    kinks: Kinks::NONE,
    lower: |l, dtype, x| {
        let ones = l.int(dtype, if dtype == DType::Bool { 1 } else { -1 });
        l.prim(Prim::Xor, &[x[0], ones])
    },
    accuracy: Accuracy::EXACT,
};

pub(super) static SELECT: Row = Row {
    name: "select",
    form: Form::Call,
    doc: "`a` where the mask is true, else `b`; what is not taken does not matter, be it NaN.",
    operands: &[operand("mask", 0.0, 1.0), operand("a", -3.0, 3.0), operand("b", -3.0, 3.0)],
    types: TypeRule::Select,
    eval: Eval::Select,
    derivative: Derivative::Linear {
        operands: &[1, 2],
        transpose: || vec![select(x(), out(), number(0.0)), select(x(), number(0.0), out())],
    },
    kinks: Kinks::NONE,
    lower: |l, _, x| l.select(x[0], x[1], x[2]),
    accuracy: Accuracy::EXACT,
};
