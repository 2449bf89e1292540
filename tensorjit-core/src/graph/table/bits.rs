//! Rows of the bits of integers and floats: shifts, counts, and the two ways between a float and its bits.

use tensorjit_runtime::abi::DType;

use super::lower::number;
use super::row::{Accuracy, Derivative, Eval, Form, Kinks, Lower, Operand, Row, TypeRule, operand};
use super::{Scalar, wrap};
use crate::lanes::{Cmp, Lanes, Prim, Val};

const INTEGERS: Derivative = Derivative::Zero("integers carry no derivative");

const ONE: &[Operand] = &[operand("x", -3.0, 3.0)];

const SHIFTED: &[Operand] = &[operand("x", -3.0, 3.0), operand("n", 0.0, 3.0)];

/// The value for operands of a type; `None` where they are no integers.
type Value = fn(DType, &[Scalar]) -> Option<Scalar>;

/// A function of integers, of which all is said by its value.
const fn of_integers(
    (name, form): (&'static str, Form),
    doc: &'static str,
    operands: &'static [Operand],
    value: Value,
    lower: Lower,
) -> Row {
    Row {
        name,
        form,
        doc,
        operands,
        types: TypeRule::Int,
        eval: Eval::Typed(value),
        derivative: INTEGERS,
        kinks: Kinks::NONE,
        lower,
        accuracy: Accuracy::EXACT,
    }
}

/// A shift; amounts that are negative, or not below the width, shift everything out.
const fn shift(name: &'static str, form: Form, doc: &'static str, value: Value, lower: Lower) -> Row {
    of_integers((name, form), doc, SHIFTED, value, lower)
}

pub(super) static SHL: Row = shift(
    "shift_left",
    Form::Infix("<<", 85),
    "The bits `n` places further up; 0 where `n` is negative or not below the number of bits.",
    |dtype, x| {
        let (bits, amount) = (bits_of(dtype, x.first()?)?, amount(dtype, x.get(1)?)?);
        Some(int(dtype, amount.map_or(0, |n| bits << n)))
    },
    |l, dtype, x| {
        let (inside, amount, _) = bounded(l, dtype, x[1]);
        let shifted = l.shl(x[0], amount);
        let zero = l.int(dtype, 0);
        l.select(inside, shifted, zero)
    },
);

pub(super) static SHR: Row = shift(
    "shift_right",
    Form::Infix(">>", 85),
    "The bits `n` places further down, the sign entering, if any; all sign where `n` is negative or not below the number of bits.",
    |dtype, x| {
        let &Scalar::Int(value) = x.first()? else { return None };
        if dtype.is_unsigned() {
            return shifted_right_logical(dtype, x);
        }
        let last = 8 * dtype.size() as u32 - 1;
        Some(Scalar::Int(value >> amount(dtype, x.get(1)?)?.unwrap_or(last)))
    },
    |l, dtype, x| {
        if dtype.is_unsigned() {
            return shift_right_logical(l, dtype, x);
        }
        let (inside, amount, last) = bounded(l, dtype, x[1]);
        let amount = l.select(inside, amount, last);
        l.ashr(x[0], amount)
    },
);

pub(super) static SHR_LOGICAL: Row = shift(
    "shift_right_logical",
    Form::Call,
    "The bits `n` places further down, zeros entering; 0 where `n` is negative or not below the number of bits.",
    shifted_right_logical,
    shift_right_logical,
);

fn shifted_right_logical(dtype: DType, x: &[Scalar]) -> Option<Scalar> {
    let (bits, amount) = (bits_of(dtype, x.first()?)?, amount(dtype, x.get(1)?)?);
    Some(int(dtype, amount.map_or(0, |n| bits >> n)))
}

fn shift_right_logical(l: &mut dyn Lanes, dtype: DType, x: &[Val]) -> Val {
    let (inside, amount, _) = bounded(l, dtype, x[1]);
    let shifted = l.lshr(x[0], amount);
    let zero = l.int(dtype, 0);
    l.select(inside, shifted, zero)
}

/// A count of bits.
const fn count(name: &'static str, doc: &'static str, value: Value, lower: Lower) -> Row {
    of_integers((name, Form::Call), doc, ONE, value, lower)
}

pub(super) static COUNT_ONES: Row = count(
    "count_ones",
    "The number of bits that are set.",
    |dtype, x| Some(int(dtype, u64::from(bits_of(dtype, x.first()?)?.count_ones()))),
    |l, dtype, x| ones(l, dtype, x[0]),
);

pub(super) static LEADING_ZEROS: Row = count(
    "leading_zeros",
    "The number of bits above the highest that is set.",
    |dtype, x| {
        let others = 64 - 8 * dtype.size() as u64;
        Some(int(dtype, u64::from(bits_of(dtype, x.first()?)?.leading_zeros()) - others))
    },
    |l, dtype, x| {
        // Every bit below the highest is set too, and those that are not are counted.
        let mut filled = x[0];
        let mut step = 1;
        while step < 8 * dtype.size() as i64 {
            let amount = l.int(dtype, step);
            let below = l.lshr(filled, amount);
            filled = l.or(filled, below);
            step *= 2;
        }
        let all = l.int(dtype, -1);
        let above = l.xor(filled, all);
        ones(l, dtype, above)
    },
);

pub(super) static TO_BITS: Row = Row {
    name: "to_bits",
    form: Form::Call,
    doc: "The bits of a float, as an unsigned integer of its width.",
    operands: ONE,
    types: TypeRule::ToBits,
    eval: Eval::Typed(|dtype, x| match (dtype, x.first()?) {
        (DType::F32, Scalar::Float(x)) => Some(int(DType::U32, u64::from((*x as f32).to_bits()))),
        (DType::F64, Scalar::Float(x)) => Some(int(DType::U64, x.to_bits())),
        _ => None,
    }),
    derivative: INTEGERS,
    kinks: Kinks::NONE,
    lower: |l, dtype, x| l.bitcast(TypeRule::ToBits.result(dtype), x[0]),
    accuracy: Accuracy::EXACT,
};

pub(super) static FROM_BITS: Row = Row {
    name: "from_bits",
    form: Form::Call,
    doc: "The float that has the bits of an integer of its width.",
    operands: ONE,
    types: TypeRule::FromBits,
    eval: Eval::Typed(|dtype, x| {
        let bits = bits_of(dtype, x.first()?)?;
        Some(Scalar::Float(match TypeRule::FromBits.result(dtype) {
            DType::F32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        }))
    }),
    derivative: Derivative::Zero("it jumps from one float to the next"),
    kinks: Kinks::NONE,
    lower: |l, dtype, x| l.bitcast(TypeRule::FromBits.result(dtype), x[0]),
    accuracy: Accuracy::EXACT,
};

/// The bits of an integer of a type, in the low ones.
fn bits_of(dtype: DType, x: &Scalar) -> Option<u64> {
    let Scalar::Int(value) = x else { return None };
    let width = 8 * dtype.size() as u32;
    Some(*value as u64 & (u64::MAX >> (64 - width)))
}

/// The integer of a type that has these bits.
fn int(dtype: DType, bits: u64) -> Scalar {
    Scalar::Int(wrap(dtype, bits.into()))
}

/// An amount to shift by, where it is one; the outer `None` is for what is no integer.
fn amount(dtype: DType, n: &Scalar) -> Option<Option<u32>> {
    let Scalar::Int(n) = n else { return None };
    Some(u32::try_from(*n).ok().filter(|n| *n < 8 * dtype.size() as u32))
}

/// Whether an amount is below the width, the amount where it is and 0 elsewhere, and the greatest amount.
fn bounded(l: &mut dyn Lanes, dtype: DType, n: Val) -> (Val, Val, Val) {
    let (zero, last) = (l.int(dtype, 0), l.int(dtype, 8 * dtype.size() as i64 - 1));
    let positive = l.cmp(Cmp::Ge, n, zero);
    let small = l.cmp(Cmp::Le, n, last);
    let inside = l.and(positive, small);
    (inside, l.select(inside, n, zero), last)
}

/// The number of bits that are set: of each pair, of each four, of each byte, and the sum of all bytes in the highest.
fn ones(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let width = 8 * dtype.size() as i64;
    let down = |l: &mut dyn Lanes, x: Val, by: i64| {
        let by = l.int(dtype, by);
        l.lshr(x, by)
    };
    let pairs = l.int(dtype, 0x5555_5555_5555_5555);
    let half = down(l, x, 1);
    let half = l.and(half, pairs);
    let x = l.sub(x, half);
    let fours = l.int(dtype, 0x3333_3333_3333_3333);
    let high = down(l, x, 2);
    let (high, low) = (l.and(high, fours), l.and(x, fours));
    let x = l.add(high, low);
    let high = down(l, x, 4);
    let sum = l.add(x, high);
    let bytes = l.int(dtype, 0x0f0f_0f0f_0f0f_0f0f);
    let x = l.and(sum, bytes);
    let all = number(l, dtype, 0x0101_0101_0101_0101);
    let sum = l.prim(Prim::Mul, &[x, all]);
    down(l, sum, width - 8)
}
