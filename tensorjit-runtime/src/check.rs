//! Everything that must hold before native code runs.

use crate::abi::{Check, DType, DimExpr, Function, Relation, Solve, Symbol};
use crate::arg::{ArgView, MAX_RANK};
use crate::dims::{NoValue, UNKNOWN, eval, value};
use crate::fault::{Axis, Fault};
use crate::workspace::ALIGN;

/// Checks every axis in order, then the symbols, the conditions, and the values of index tensors.
///
/// `values` are those of the symbols, and room for those that the plan of the function needs beside them; the symbols
/// may be `given` by the caller, or known to be `legal` whatever the arguments. Returns the bytes of workspace that dense
/// copies of arguments take, each rounded up to [`ALIGN`].
///
/// # Safety
///
/// `args` describes all parameters of the function, or all but the results, each with its type and rank.
#[inline]
pub(crate) unsafe fn check(
    function: &Function,
    args: &[ArgView<'_>],
    values: &mut [i64],
    (given, legal): (bool, bool),
) -> Result<usize, Fault> {
    let (symbols, derived) = values.split_at_mut(function.symbols.len());
    if let Some((zero, programs)) = derived.split_first_mut() {
        *zero = 0;
        for (place, expr) in programs.iter_mut().zip(function.plan.programs) {
            *place = value(expr, symbols);
        }
    }
    // SAFETY: the caller's promise; the values have just been completed.
    let agrees = unsafe { function.plan.agrees(function, args, values) };
    let symbols = &values[..function.symbols.len()];
    let inside =
        |(&value, info): (&i64, &Symbol)| value != UNKNOWN && value >= info.low && value <= info.high;
    let right = agrees && (legal || symbols.iter().zip(function.symbols).all(inside));
    let staging = if args.iter().all(|arg| arg.plain) { Some(0) } else { copy_bytes(args) };
    let (true, Some(staging)) = (right, staging) else {
        return Err(diagnose(function, args, symbols, given));
    };
    if !legal {
        conditions(function, symbols)?;
        sizes(function, symbols)?;
    }
    if function.plan.indexed {
        indices(function, args, symbols)?;
    }
    Ok(staging)
}

/// The bytes of dense copies of the arguments that need one; `None` where no memory could hold them.
#[cold]
fn copy_bytes(args: &[ArgView<'_>]) -> Option<usize> {
    args.iter().try_fold(0_usize, |sum, arg| {
        let len = arg.len()?;
        if len == 0 || arg.is_dense() {
            return Some(sum);
        }
        sum.checked_add((len * arg.dtype.size()).checked_next_multiple_of(ALIGN)?)
    })
}

/// What is wrong with a shape or a symbol: of all faults the one that a reader of the arguments, from the first to the last,
/// meets first.
#[cold]
fn diagnose(function: &Function, args: &[ArgView<'_>], symbols: &[i64], given: bool) -> Fault {
    let axis = axes(function, args, symbols);
    // Given symbols were checked when they were taken.
    let bound = if given { None } else { bounds(function, args, symbols) };
    let found = [bound, axis, size(args)].into_iter().flatten().min_by_key(|(at, _)| *at);
    if let Some((_, fault)) = found {
        return fault;
    }
    match symbols.iter().position(|&value| value == UNKNOWN) {
        Some(symbol) => Fault::Unbound { symbol },
        // Copies of arguments that alone are small enough are too large together.
        None => Fault::WorkspaceOverflow,
    }
}

/// A fault and where the reader of the arguments, from the first to the last, meets it.
type Found = (Axis, Fault);

/// The first argument that no memory could hold.
fn size(args: &[ArgView<'_>]) -> Option<Found> {
    let param = args.iter().position(|arg| arg.len().is_none())?;
    // After the faults of all its axes.
    Some((Axis { param, axis: MAX_RANK }, Fault::Size { param }))
}

/// The first axis that has not the extent of its expression.
fn axes(function: &Function, args: &[ArgView<'_>], symbols: &[i64]) -> Option<Found> {
    for (param, (info, arg)) in function.params.iter().zip(args).enumerate() {
        for (axis, (expr, &found)) in info.shape.iter().zip(arg.shape()).enumerate() {
            let at = Axis { param, axis };
            match eval(expr, symbols) {
                Ok(expected) if usize::try_from(expected) == Ok(found) => {}
                Ok(expected) => return Some((at, Fault::Extent { at, expected, found })),
                Err(NoValue::Overflow) => return Some((at, Fault::AxisOverflow { at })),
                Err(NoValue::Unknown) => {
                    // Where the unknown symbol comes from another argument, that one is reported.
                    if let Some(symbol) = source(function, at, symbols) {
                        return Some((at, Fault::Indivisible { at, symbol, found }));
                    }
                }
            }
        }
    }
    None
}

/// The symbol that should have been solved from an axis, where all else in its expression is known.
fn source(function: &Function, at: Axis, symbols: &[i64]) -> Option<usize> {
    let is_here = |row: &&Solve| (row.param as usize, row.axis as usize) == (at.param, at.axis);
    let row = function.solve.iter().find(is_here)?;
    eval(&row.offset, symbols).ok()?;
    Some(row.symbol as usize)
}

/// The first axis from which a symbol outside its bounds was solved.
fn bounds(function: &Function, args: &[ArgView<'_>], symbols: &[i64]) -> Option<Found> {
    let faults = function.solve.iter().filter_map(|row| {
        let (symbol, at) = (row.symbol as usize, Axis { param: row.param as usize, axis: row.axis as usize });
        let (info, value) = (function.symbols.get(symbol)?, *symbols.get(symbol)?);
        let found = *args.get(at.param)?.shape().get(at.axis)?;
        let inside = value == UNKNOWN || (info.low..=info.high).contains(&value);
        (!inside).then_some((at, Fault::Bounds { at, symbol, found }))
    });
    faults.min_by_key(|(at, _)| *at)
}

/// The `where` clauses.
#[inline]
pub(crate) fn conditions(function: &Function, symbols: &[i64]) -> Result<(), Fault> {
    for (check, condition) in function.checks.iter().enumerate() {
        match holds(condition, symbols) {
            Ok(true) => {}
            Ok(false) => return Err(Fault::Condition { check }),
            Err(_) => return Err(Fault::ConditionOverflow { check }),
        }
    }
    Ok(())
}

/// What the code computes with, which must fit 64 bits and must not be negative.
#[inline]
pub(crate) fn sizes(function: &Function, symbols: &[i64]) -> Result<(), Fault> {
    for (size, info) in function.sizes.iter().enumerate() {
        match eval(&info.value, symbols) {
            Ok(value) if value >= info.least => {}
            Ok(value) => return Err(Fault::SizeBelow { size, value }),
            Err(_) => return Err(Fault::SizeOverflow { size }),
        }
    }
    Ok(())
}

fn holds(check: &Check, symbols: &[i64]) -> Result<bool, NoValue> {
    let (left, right) = (eval(&check.left, symbols)?, eval(&check.right, symbols)?);
    Ok(match check.relation {
        Relation::Eq => left == right,
        Relation::Ne => left != right,
        Relation::Lt => left < right,
        Relation::Le => left <= right,
        Relation::Gt => left > right,
        Relation::Ge => left >= right,
    })
}

/// The values of index tensors.
#[inline]
fn indices(function: &Function, args: &[ArgView<'_>], symbols: &[i64]) -> Result<(), Fault> {
    for (param, (info, arg)) in function.params.iter().zip(args).enumerate() {
        if let Some(bound) = &info.index_bound {
            check_index(param, arg, bound, symbols)?;
        }
    }
    Ok(())
}

fn check_index(param: usize, arg: &ArgView<'_>, bound: &DimExpr, symbols: &[i64]) -> Result<(), Fault> {
    let bound = eval(bound, symbols).map_err(|_| Fault::IndexOverflow { param })?;
    let rank = arg.shape().len();
    let mut fault = Ok(());
    // SAFETY: the description promises live, initialised elements of this type.
    let mut look = |index: &[usize], offset: isize, length: usize, stride: isize| unsafe {
        let found = match arg.dtype {
            DType::I8 => outside(arg.data.cast::<i8>().offset(offset), length, stride, bound),
            DType::I16 => outside(arg.data.cast::<i16>().offset(offset), length, stride, bound),
            DType::I32 => outside(arg.data.cast::<i32>().offset(offset), length, stride, bound),
            // An integer that is negative as a signed one is beyond every bound.
            DType::I64 | DType::U64 => outside(arg.data.cast::<i64>().offset(offset), length, stride, bound),
            DType::U8 => outside(arg.data.cast::<u8>().offset(offset), length, stride, bound),
            DType::U16 => outside(arg.data.cast::<u16>().offset(offset), length, stride, bound),
            DType::U32 => outside(arg.data.cast::<u32>().offset(offset), length, stride, bound),
            DType::Bool | DType::F16 | DType::BF16 | DType::F32 | DType::F64 => None,
        };
        if let Some((place, found)) = found {
            let mut position = [0; MAX_RANK];
            position[..index.len()].copy_from_slice(index);
            if rank > 0 {
                position[rank - 1] = place;
            }
            let found = if arg.dtype == DType::U64 { i128::from(found as u64) } else { found.into() };
            fault = Err(Fault::Index { param, position, rank, bound, found });
        }
        found.is_some()
    };
    let (length, stride) = match (arg.shape().last(), arg.strides().last()) {
        (Some(&length), Some(&stride)) => (length, stride),
        _ => (1, 1),
    };
    arg.find_row(|index, offset| look(index, offset, length, stride));
    fault
}

/// The first of `length` values that is not in `0..bound`.
///
/// # Safety
///
/// All these values are live and initialised.
unsafe fn outside<T: Copy + Into<i64>>(
    first: *const T,
    length: usize,
    stride: isize,
    bound: i64,
) -> Option<(usize, i64)> {
    // SAFETY: `i` is below the length.
    let value = |i: usize| unsafe { first.offset(i as isize * stride).read() }.into();
    // No early exit, so that the common case is a vector loop.
    let bad = (0..length).fold(false, |bad, i| bad | (value(i) < 0) | (value(i) >= bound));
    if !bad {
        return None;
    }
    (0..length).map(|i| (i, value(i))).find(|(_, value)| *value < 0 || *value >= bound)
}
