//! Rows of conversions, one for each target.

use tensorjit_runtime::abi::DType;

use super::formula::out;
use super::lower::cast;
use super::row::{Accuracy, Derivative, Eval, Form, Kinks, Lower, Operand, Row, TypeRule, operand};

/// The row of the conversion to a type.
pub(super) fn row(to: DType) -> &'static Row {
    match to {
        DType::Bool => &TO_BOOL,
        DType::I8 => &TO_I8,
        DType::I16 => &TO_I16,
        DType::I32 => &TO_I32,
        DType::I64 => &TO_I64,
        DType::U8 => &TO_U8,
        DType::U16 => &TO_U16,
        DType::U32 => &TO_U32,
        DType::U64 => &TO_U64,
        DType::F32 => &TO_F32,
        DType::F64 => &TO_F64,
        DType::F16 => &TO_F16,
        DType::BF16 => &TO_BF16,
    }
}

const ONE: &[Operand] = &[operand("x", -3.0, 3.0)];

/// A conversion to bools or integers.
const fn to_discrete(
    name: &'static str,
    to: DType,
    doc: &'static str,
    distance: fn(&[f64]) -> f64,
    lower: Lower,
) -> Row {
    Row {
        name,
        form: Form::As,
        doc,
        operands: ONE,
        types: TypeRule::Cast(to),
        eval: Eval::Cast(to),
        derivative: Derivative::Zero("truth values and integers carry no derivative"),
        kinks: Kinks::jumps(distance, &[]),
        lower,
        accuracy: Accuracy::EXACT,
    }
}

/// A conversion to floats.
const fn to_float(name: &'static str, to: DType, doc: &'static str, lower: Lower) -> Row {
    Row {
        name,
        form: Form::As,
        doc,
        operands: ONE,
        types: TypeRule::Cast(to),
        eval: Eval::Cast(to),
        derivative: Derivative::Linear { operands: &[0], transpose: || vec![out()] },
        kinks: Kinks::NONE,
        lower,
        accuracy: Accuracy::NEAREST,
    }
}

/// How far a number is from the next integer.
fn to_integer(x: &[f64]) -> f64 {
    (x[0] - x[0].round()).abs()
}

static TO_BOOL: Row = to_discrete(
    "cast_bool",
    DType::Bool,
    "Whether the operand differs from 0, as NaN does.",
    |x| x[0].abs(),
    |l, from, x| cast(l, from, DType::Bool, x[0]),
);

/// Declares the conversion to each integer type.
macro_rules! to_integers {
    ($($row:ident $to:ident $name:literal;)*) => { $(
        static $row: Row = to_discrete(
            $name,
            DType::$to,
            "As an integer: floats are truncated, saturate at its ends, and NaN gives 0; integers wrap.",
            to_integer,
            |l, from, x| cast(l, from, DType::$to, x[0]),
        );
    )* };
}
to_integers! {
    TO_I8 I8 "cast_i8";
    TO_I16 I16 "cast_i16";
    TO_I32 I32 "cast_i32";
    TO_I64 I64 "cast_i64";
    TO_U8 U8 "cast_u8";
    TO_U16 U16 "cast_u16";
    TO_U32 U32 "cast_u32";
    TO_U64 U64 "cast_u64";
}

static TO_F32: Row = to_float("cast_f32", DType::F32, "The nearest float of 32 bits.", |l, from, x| {
    cast(l, from, DType::F32, x[0])
});

static TO_F64: Row = to_float("cast_f64", DType::F64, "The nearest float of 64 bits.", |l, from, x| {
    cast(l, from, DType::F64, x[0])
});

static TO_F16: Row = to_float(
    "cast_f16",
    DType::F16,
    "The nearest float of 16 bits, 5 of them the exponent; infinite from 65520 on.",
    |l, from, x| cast(l, from, DType::F16, x[0]),
);

static TO_BF16: Row = to_float(
    "cast_bf16",
    DType::BF16,
    "The nearest float of 16 bits, 8 of them the exponent.",
    |l, from, x| cast(l, from, DType::BF16, x[0]),
);
