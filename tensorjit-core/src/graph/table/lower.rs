//! Machine operations that several rows share, on integers and floats.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::math;

/// The number `value` of any numeric type.
pub(super) fn number(l: &mut dyn Lanes, dtype: DType, value: i64) -> Val {
    if dtype.is_float() { l.float(dtype, value as f64) } else { l.int(dtype, value) }
}

/// `-a`.
pub(super) fn neg(l: &mut dyn Lanes, dtype: DType, a: Val) -> Val {
    if dtype.is_float() {
        return l.prim(Prim::FNeg, &[a]);
    }
    let zero = l.int(dtype, 0);
    l.sub(zero, a)
}

/// Whether `a` is NaN.
pub(super) fn is_nan(l: &mut dyn Lanes, a: Val) -> Val {
    l.cmp(Cmp::Ne, a, a)
}

/// The operand on the side `cmp` of the other; NaN where one is NaN.
pub(super) fn extreme(l: &mut dyn Lanes, dtype: DType, cmp: Cmp, a: Val, b: Val) -> Val {
    let mut first = l.cmp(cmp, a, b);
    if dtype.is_float() {
        // Where `b` is NaN the comparison is false, and `b` is taken.
        let nan = is_nan(l, a);
        first = l.prim(Prim::Or, &[first, nan]);
    }
    l.select(first, a, b)
}

/// `b` where dividing by it cannot trap, else 1: not 0, and of signed integers not -1; where it is 0, and where it is
/// that -1.
fn safe_divisor(l: &mut dyn Lanes, dtype: DType, b: Val) -> (Val, Val, Option<Val>) {
    let (zero, one) = (l.int(dtype, 0), l.int(dtype, 1));
    let by_zero = l.cmp(Cmp::Eq, b, zero);
    if dtype.is_unsigned() {
        return (l.select(by_zero, one, b), by_zero, None);
    }
    let minus_one = l.int(dtype, -1);
    let by_minus_one = l.cmp(Cmp::Eq, b, minus_one);
    let traps = l.prim(Prim::Or, &[by_zero, by_minus_one]);
    (l.select(traps, one, b), by_zero, Some(by_minus_one))
}

/// Truncated integer quotient; 0 for division by 0, and MIN / -1 wraps.
pub(super) fn int_div(l: &mut dyn Lanes, dtype: DType, a: Val, b: Val) -> Val {
    let (divisor, by_zero, by_minus_one) = safe_divisor(l, dtype, b);
    let mut quotient = l.prim(Prim::IDiv, &[a, divisor]);
    if let Some(by_minus_one) = by_minus_one {
        let negated = neg(l, dtype, a);
        quotient = l.select(by_minus_one, negated, quotient);
    }
    let zero = l.int(dtype, 0);
    l.select(by_zero, zero, quotient)
}

/// Truncated integer remainder; 0 for division by 0.
pub(super) fn int_rem(l: &mut dyn Lanes, dtype: DType, a: Val, b: Val) -> Val {
    // Division by 1, in place of 0 or -1, leaves the 0 that both must leave.
    let (divisor, ..) = safe_divisor(l, dtype, b);
    l.prim(Prim::IRem, &[a, divisor])
}

/// Floored integer remainder; 0 for division by 0.
pub(super) fn int_mod(l: &mut dyn Lanes, dtype: DType, a: Val, b: Val) -> Val {
    let rem = int_rem(l, dtype, a, b);
    if dtype.is_unsigned() {
        return rem;
    }
    let zero = l.int(dtype, 0);
    let some = l.cmp(Cmp::Ne, rem, zero);
    let signs = l.prim(Prim::Xor, &[rem, b]);
    let differ = l.cmp(Cmp::Lt, signs, zero);
    let add = l.prim(Prim::And, &[some, differ]);
    let shifted = l.add(rem, b);
    l.select(add, shifted, rem)
}

/// Floored float remainder: 0 has the sign of the divisor.
pub(super) fn float_mod(l: &mut dyn Lanes, dtype: DType, a: Val, b: Val) -> Val {
    let rem = math::rem(l, dtype, a, b);
    let zero = l.float(dtype, 0.0);
    let rem_negative = l.cmp(Cmp::Lt, rem, zero);
    let divisor_negative = l.cmp(Cmp::Lt, b, zero);
    let differ = l.prim(Prim::Xor, &[rem_negative, divisor_negative]);
    let shifted = l.add(rem, b);
    let moved = l.select(differ, shifted, rem);
    let minus_zero = l.float(dtype, -0.0);
    let signed_zero = l.select(divisor_negative, minus_zero, zero);
    let none = l.cmp(Cmp::Eq, rem, zero);
    l.select(none, signed_zero, moved)
}

/// `x as to`: float to integer saturates, NaN to 0.
pub(super) fn cast(l: &mut dyn Lanes, from: DType, to: DType, x: Val) -> Val {
    if from == to {
        x
    } else if from.is_half() {
        let single = l.prim(Prim::Convert(DType::F32), &[x]);
        cast(l, DType::F32, to, single)
    } else if to.is_half() {
        let single = odd_single(l, from, x);
        l.prim(Prim::Convert(to), &[single])
    } else if to == DType::Bool {
        let zero = number(l, from, 0);
        l.cmp(Cmp::Ne, x, zero)
    } else if from.is_float() && to.is_int() {
        saturate(l, from, to, x)
    } else {
        l.prim(Prim::Convert(to), &[x])
    }
}

/// A number as an `f32` that may be rounded again to far fewer digits as if it had not been rounded here: what is not
/// exact is one of the two nearest, the odd one, which is no tie of the second rounding.
fn odd_single(l: &mut dyn Lanes, from: DType, x: Val) -> Val {
    let exact = match from {
        DType::F32 => return x,
        DType::F64 => x,
        DType::I64 | DType::U64 => {
            let tame = sticky(l, from, x);
            l.prim(Prim::Convert(DType::F64), &[tame])
        }
        DType::I32 | DType::U32 => l.prim(Prim::Convert(DType::F64), &[x]),
        _ => return l.prim(Prim::Convert(DType::F32), &[x]),
    };
    let nearest = l.prim(Prim::Convert(DType::F32), &[exact]);
    let back = l.prim(Prim::Convert(DType::F64), &[nearest]);
    let (reached, wanted) = (l.fabs(back), l.fabs(exact));
    let beyond = l.cmp(Cmp::Gt, reached, wanted);
    let inexact = l.cmp(Cmp::Ne, back, exact);
    let bits = l.bitcast(DType::I32, nearest);
    let one = l.int(DType::I32, 1);
    let below = l.sub(bits, one);
    let toward_zero = l.select(beyond, below, bits);
    let odd = l.or(toward_zero, one);
    let found = l.select(inexact, odd, bits);
    // Of NaN, which differs from itself, the low bit does not matter.
    l.bitcast(DType::F32, found)
}

/// An integer of 64 bits that `f64` holds: of a large one, the lowest bits are one that stands for all of them.
fn sticky(l: &mut dyn Lanes, dtype: DType, x: Val) -> Val {
    let (mask, zero) = (l.int(dtype, 0xffff), l.int(dtype, 0));
    let low = l.and(x, mask);
    let high = l.xor(x, low);
    let some = l.cmp(Cmp::Ne, low, zero);
    let bit = l.int(dtype, 0x8000);
    let bit = l.select(some, bit, zero);
    let rounded = l.or(high, bit);
    // Numbers of up to 52 bits are exact.
    let limit = l.int(dtype, 1 << 52);
    let mut small = l.cmp(Cmp::Lt, x, limit);
    if !dtype.is_unsigned() {
        let limit = l.int(dtype, -(1 << 52));
        let above = l.cmp(Cmp::Gt, x, limit);
        small = l.and(small, above);
    }
    l.select(small, x, rounded)
}

/// Float to integer: the conversion sees only what is in range.
fn saturate(l: &mut dyn Lanes, from: DType, to: DType, x: Val) -> Val {
    let (least, greatest) = to.bounds();
    // The least integer and the first one beyond the greatest are 0 or powers of two, and so are floats.
    let (low, high) = (l.float(from, least as f64), l.float(from, (greatest + 1) as f64));
    let above_low = l.cmp(Cmp::Ge, x, low);
    let below_high = l.cmp(Cmp::Lt, x, high);
    let in_range = l.prim(Prim::And, &[above_low, below_high]);
    let zero = l.float(from, 0.0);
    let tame = l.select(in_range, x, zero);
    let converted = l.prim(Prim::Convert(to), &[tame]);
    let (least, greatest) = (l.int(to, least as i64), l.int(to, greatest as i64));
    let below = l.cmp(Cmp::Lt, x, low);
    let above = l.cmp(Cmp::Ge, x, high);
    let converted = l.select(below, least, converted);
    l.select(above, greatest, converted)
}
