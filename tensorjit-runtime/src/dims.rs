//! Evaluation of dimension programs: checked `i64`, no panic whatever the program.

use crate::abi::{DimExpr, DimOp, Form, MAX_DEPTH};

/// Marks a symbol whose value is not known; no symbol can have it, as bounds start at zero.
pub(crate) const UNKNOWN: i64 = i64::MIN;

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoValue {
    /// A symbol in it is not known.
    Unknown,
    /// A result leaves the range of `i64`, or a divisor is not positive.
    Overflow,
}

/// The value of `expr` where symbol `i` is `symbols[i]`.
#[inline]
pub(crate) fn eval(expr: &DimExpr, symbols: &[i64]) -> Result<i64, NoValue> {
    match expr.form {
        Form::Const(value) => Ok(value),
        Form::Symbol(symbol) => read(symbols, symbol),
        Form::Program => match run_flat(expr.program, symbols) {
            Some(value) => Ok(value),
            None => run(expr.program, symbols),
        },
    }
}

/// The value of `expr`, or a negative number where it has none: what an extent is compared with.
#[inline]
pub(crate) fn value(expr: &DimExpr, symbols: &[i64]) -> i64 {
    match expr.form {
        Form::Const(value) => value,
        Form::Symbol(symbol) => symbols.get(symbol as usize).copied().unwrap_or(UNKNOWN),
        Form::Program => match run_flat(expr.program, symbols) {
            Some(value) => value,
            None => run(expr.program, symbols).unwrap_or(UNKNOWN),
        },
    }
}

#[inline]
fn read(symbols: &[i64], symbol: u32) -> Result<i64, NoValue> {
    match symbols.get(symbol as usize) {
        Some(&UNKNOWN) | None => Err(NoValue::Unknown),
        Some(&value) => Ok(value),
    }
}

/// The value of a program, as [`run`] finds it where it has one and is not deep, which is cheaper.
fn run_flat(program: &[DimOp], symbols: &[i64]) -> Option<i64> {
    // Sums and products are formed as their terms come, so that depth is how deep quotients and the like nest.
    let (mut below, mut depth) = ([0; 8], 0_usize);
    // The topmost value is not on the stack, which most operators so read once and never write.
    let mut top = 0;
    for op in program {
        let pushed = match op {
            DimOp::Const(value) => *value,
            DimOp::Symbol(symbol) => read(symbols, *symbol).ok()?,
            binary => {
                depth = depth.checked_sub(1).filter(|depth| *depth > 0)?;
                top = apply(*binary, *below.get(depth)?, top)?;
                continue;
            }
        };
        *below.get_mut(depth)? = top;
        depth += 1;
        top = pushed;
    }
    // Below the first value stands the one that nothing has pushed.
    (depth == 1).then_some(top)
}

/// The value of a program, or why it has none.
#[cold]
fn run(program: &[DimOp], symbols: &[i64]) -> Result<i64, NoValue> {
    let (mut stack, mut depth) = ([0; MAX_DEPTH], 0);
    for op in program {
        let value = match op {
            DimOp::Const(value) => *value,
            DimOp::Symbol(symbol) => read(symbols, *symbol)?,
            // An operator without operands cannot come from the compiler; it has no value either.
            binary => {
                depth = usize::checked_sub(depth, 2).ok_or(NoValue::Overflow)?;
                apply(*binary, stack[depth], stack[depth + 1]).ok_or(NoValue::Overflow)?
            }
        };
        // The compiler makes no deeper program.
        *stack.get_mut(depth).ok_or(NoValue::Overflow)? = value;
        depth += 1;
    }
    if depth == 1 { Ok(stack[0]) } else { Err(NoValue::Overflow) }
}

#[inline]
fn apply(op: DimOp, a: i64, b: i64) -> Option<i64> {
    match op {
        DimOp::Add => a.checked_add(b),
        DimOp::Sub => a.checked_sub(b),
        DimOp::Mul => a.checked_mul(b),
        DimOp::Min => Some(a.min(b)),
        DimOp::Max => Some(a.max(b)),
        DimOp::FloorDiv if b > 0 => Some(a.div_euclid(b)),
        DimOp::CeilDiv if b > 0 => Some(a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)),
        DimOp::Mod if b > 0 => Some(a.rem_euclid(b)),
        DimOp::FloorDiv | DimOp::CeilDiv | DimOp::Mod | DimOp::Const(_) | DimOp::Symbol(_) => None,
    }
}

/// Visits every symbol that the program reads, in order, repeated ones once.
pub(crate) fn symbols_of(expr: &DimExpr) -> Vec<u32> {
    let mut found = Vec::new();
    for op in expr.program {
        if let DimOp::Symbol(symbol) = op
            && !found.contains(symbol)
        {
            found.push(*symbol);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use DimOp::*;

    #[test]
    fn programs_have_their_values() {
        let symbols = [7, 3, UNKNOWN];
        let cases: &[(&'static [DimOp], Result<i64, NoValue>)] = &[
            (&[Const(5)], Ok(5)),
            (&[Symbol(0)], Ok(7)),
            (&[Symbol(2)], Err(NoValue::Unknown)),
            (&[Symbol(9)], Err(NoValue::Unknown)),
            (&[Symbol(2), Const(1), Add], Err(NoValue::Unknown)),
            (&[Symbol(0), Symbol(1), Add], Ok(10)),
            (&[Symbol(0), Symbol(1), Sub], Ok(4)),
            (&[Symbol(0), Symbol(1), Mul, Const(1), Sub], Ok(20)),
            (&[Symbol(0), Symbol(1), FloorDiv], Ok(2)),
            (&[Symbol(0), Symbol(1), CeilDiv], Ok(3)),
            (&[Symbol(0), Symbol(1), Mod], Ok(1)),
            (&[Const(-7), Const(2), FloorDiv], Ok(-4)),
            (&[Const(-7), Const(2), CeilDiv], Ok(-3)),
            (&[Const(-7), Const(2), Mod], Ok(1)),
            (&[Symbol(0), Symbol(1), Min], Ok(3)),
            (&[Symbol(0), Symbol(1), Max], Ok(7)),
            (&[Const(i64::MAX), Const(1), Add], Err(NoValue::Overflow)),
            (&[Const(i64::MIN), Const(1), Sub], Err(NoValue::Overflow)),
            (&[Const(i64::MAX), Const(2), Mul], Err(NoValue::Overflow)),
            (&[Const(i64::MAX), Const(1), CeilDiv], Ok(i64::MAX)),
            (&[Const(1), Const(0), FloorDiv], Err(NoValue::Overflow)),
            (&[Const(1), Const(-1), CeilDiv], Err(NoValue::Overflow)),
            (&[Const(1), Const(0), Mod], Err(NoValue::Overflow)),
            (&[], Err(NoValue::Overflow)),
            (&[Add], Err(NoValue::Overflow)),
            (&[Const(1), Add], Err(NoValue::Overflow)),
            (&[Const(1), Add, Const(1)], Err(NoValue::Overflow)),
            (&[Const(1), Const(2)], Err(NoValue::Overflow)),
        ];
        for (program, expected) in cases {
            assert_eq!(eval(&DimExpr::new(program, ""), &symbols), *expected, "{program:?}");
            assert_eq!(run(program, &symbols), *expected, "{program:?}");
            assert_eq!(run_flat(program, &symbols), expected.ok(), "{program:?}");
        }
    }

    /// The sum of `depth` times the symbol, all of which are pushed first.
    fn deep(depth: usize) -> DimExpr {
        let mut program = vec![Symbol(0); depth];
        program.resize(2 * depth - 1, Add);
        DimExpr::new(program.leak(), "")
    }

    #[test]
    fn depth_is_bounded() {
        assert_eq!(eval(&deep(40), &[7]), Ok(280));
        assert_eq!(eval(&deep(MAX_DEPTH), &[1]), Ok(MAX_DEPTH as i64));
        assert_eq!(eval(&deep(MAX_DEPTH + 1), &[1]), Err(NoValue::Overflow));
        assert_eq!(symbols_of(&deep(40)), [0]);
    }
}
