//! From the extents of the arguments to the values of the symbols.

use crate::abi::Function;
use crate::arg::ArgView;
use crate::dims::{UNKNOWN, eval};
use crate::fault::Fault;
use crate::stack::Stack;

/// The values of a function's symbols in the order of their declaration, and those of its plan behind them.
pub(crate) type Values = Stack<i64, 24>;

/// Takes the values that the caller gives, within their bounds.
pub(crate) fn take_given(function: &Function, given: &[usize], symbols: &mut [i64]) -> Result<(), Fault> {
    for (symbol, (value, info)) in symbols.iter_mut().zip(function.symbols).enumerate() {
        let found = *given.get(symbol).ok_or(Fault::Unbound { symbol })?;
        match i64::try_from(found) {
            Ok(number) if (info.low..=info.high).contains(&number) => *value = number,
            _ => return Err(Fault::GivenBounds { symbol, found }),
        }
    }
    Ok(())
}

/// Solves symbols from the extents of the arguments.
///
/// A symbol without a whole value stays unknown; the check of the axis that should have given it reports that,
/// so that the first failing argument is the one that is named.
#[inline]
pub(crate) fn solve(function: &Function, args: &[ArgView<'_>], symbols: &mut [i64]) {
    for row in function.solve {
        let extent = args.get(row.param as usize).and_then(|arg| arg.shape().get(row.axis as usize));
        if let Some(&extent) = extent
            && let Ok(offset) = eval(&row.offset, symbols)
            && let Some(value) = divide(extent, offset, row.scale)
            && let Some(slot) = symbols.get_mut(row.symbol as usize)
            && *slot == UNKNOWN
        {
            *slot = value;
        }
    }
}

/// `(extent - offset) / scale` where it is a whole number that fits.
#[inline]
fn divide(extent: usize, offset: i64, scale: i64) -> Option<i64> {
    let difference = i64::try_from(extent).ok()?.checked_sub(offset)?;
    if scale == 1 {
        return Some(difference);
    }
    let value = difference.checked_div(scale)?;
    (value.checked_mul(scale)? == difference).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::divide;

    #[test]
    fn only_whole_solutions_count() {
        for (extent, offset, scale, expected) in [
            (7, 0, 1, Some(7)),
            (7, 1, 2, Some(3)),
            (7, 0, 2, None),
            (1, 3, 1, Some(-2)),
            (2, 5, -1, Some(3)),
            (7, 0, 0, None),
            (usize::MAX, 0, 1, None),
            (1, i64::MIN, 1, None),
            (0, 0, 3, Some(0)),
        ] {
            assert_eq!(divide(extent, offset, scale), expected, "({extent} - {offset}) / {scale}");
        }
    }
}
