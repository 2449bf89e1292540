//! Everything that must hold before native code runs.

use crate::abi::{Check, DType, DimExpr, Function, Relation, Solve};
use crate::arg::{ArgView, MAX_RANK};
use crate::dims::{NoValue, UNKNOWN, eval};
use crate::fault::{Axis, Fault};
use crate::strided::Survey;
use crate::workspace::ALIGN;

/// Checks every axis in order, then the symbols, the conditions, and the values of index tensors.
///
/// Returns the bytes of workspace that dense copies of arguments take, each rounded up to [`ALIGN`].
#[inline]
pub(crate) fn check(
    function: &Function,
    args: &[ArgView<'_>],
    symbols: &[i64],
    given: bool,
) -> Result<usize, Fault> {
    let axis = axes(function, args, symbols);
    // Given symbols were checked when they were taken.
    let bound = if given { None } else { bounds(function, args, symbols) };
    let staging = sizes(args);
    let (None, None, Ok(staging)) = (axis, bound, staging) else {
        return Err(first(axis, bound, staging.err()));
    };
    if let Some(symbol) = symbols.iter().position(|&value| value == UNKNOWN) {
        return Err(Fault::Unbound { symbol });
    }
    conditions(function, symbols)?;
    indices(function, args, symbols)?;
    Ok(staging)
}

/// A fault and where the reader of the arguments, from the first to the last, meets it.
type Found = (Axis, Fault);

/// The first of three faults, of which there is one at least.
#[cold]
fn first(axis: Option<Found>, bound: Option<Found>, size: Option<Found>) -> Fault {
    let found = [bound, axis, size].into_iter().flatten().min_by_key(|(at, _)| *at);
    found.map_or(Fault::WorkspaceOverflow, |(_, fault)| fault)
}

/// The bytes that dense copies take, or the first argument that no memory could hold.
#[inline]
fn sizes(args: &[ArgView<'_>]) -> Result<usize, Found> {
    let mut total = 0_usize;
    for (param, arg) in args.iter().enumerate() {
        let bytes = match arg.survey() {
            Some(Survey { dense: true, .. }) => continue,
            Some(Survey { len, .. }) => total.checked_add(len * arg.dtype.size()),
            None => None,
        };
        let rounded = bytes.and_then(|bytes| bytes.checked_next_multiple_of(ALIGN));
        total = rounded.ok_or((Axis { param, axis: MAX_RANK }, Fault::Size { param }))?;
    }
    Ok(total)
}

/// The first axis that has not the extent of its expression.
#[inline]
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
#[cold]
fn source(function: &Function, at: Axis, symbols: &[i64]) -> Option<usize> {
    let is_here = |row: &&Solve| (row.param as usize, row.axis as usize) == (at.param, at.axis);
    let row = function.solve.iter().find(is_here)?;
    eval(&row.offset, symbols).ok()?;
    Some(row.symbol as usize)
}

/// The first axis from which a symbol outside its bounds was solved.
#[inline]
fn bounds(function: &Function, args: &[ArgView<'_>], symbols: &[i64]) -> Option<Found> {
    let outside = |(&value, info): (&i64, &crate::abi::Symbol)| {
        value != UNKNOWN && !(info.low..=info.high).contains(&value)
    };
    if !symbols.iter().zip(function.symbols).any(outside) {
        return None;
    }
    first_outside(function, args, symbols)
}

#[cold]
fn first_outside(function: &Function, args: &[ArgView<'_>], symbols: &[i64]) -> Option<Found> {
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
    let rank = usize::from(arg.rank);
    let mut fault = Ok(());
    // SAFETY: the description promises live, initialised elements of this type.
    let mut look = |index: &[usize], offset: isize, length: usize, stride: isize| unsafe {
        let found = match arg.dtype {
            DType::I32 => outside(arg.data.cast::<i32>().offset(offset), length, stride, bound),
            DType::I64 => outside(arg.data.cast::<i64>().offset(offset), length, stride, bound),
            DType::Bool | DType::F32 | DType::F64 => None,
        };
        if let Some((place, found)) = found {
            let mut position = [0; MAX_RANK];
            position[..index.len()].copy_from_slice(index);
            if rank > 0 {
                position[rank - 1] = place;
            }
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
