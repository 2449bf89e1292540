//! When two results of one program are the same within the bounds that the oracle carries.

use tensorjit_core::graph::value::Value;

/// How many times the bounds two results may differ.
const SLACK: f64 = 4.0;

/// How many elements were compared, and how many could not be, because a rounding error may decide them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// With a finite bound.
    pub(crate) compared: usize,
    /// Without.
    pub(crate) unsure: usize,
}

/// Compares a result with the oracle's; both carry bounds, those of exact numbers being 0.
pub(crate) fn compare(what: &str, found: &Value, oracle: &Value, tally: &mut Tally) -> Result<(), String> {
    if found.dtype != oracle.dtype || found.shape != oracle.shape {
        return Err(format!("{what}: {:?}, but the oracle has {:?}", found.shape, oracle.shape));
    }
    for (position, (f, o)) in found.elements.iter().zip(&oracle.elements).enumerate() {
        let bound = SLACK * (f.error + o.error);
        if !bound.is_finite() {
            tally.unsure += 1;
            continue;
        }
        tally.compared += 1;
        let (f, o) = (f.float(), o.float());
        let same = f == o || (f.is_nan() && o.is_nan()) || (f - o).abs() <= bound;
        if !same {
            return Err(format!(
                "{what}, element {position}: {f:e}, but the oracle has {o:e} within {bound:e}"
            ));
        }
    }
    Ok(())
}
