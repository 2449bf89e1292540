//! A border, and gaps, of one value.

use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::Type;

/// The second operand is the scalar that fills.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pad {
    /// In the order of the axes.
    pub axes: Vec<PadAxis>,
}

/// The extent of the result is `low + (n + (n - 1) * gap, or 0 where n is 0) + high`; element `i` goes to `low + i * (gap + 1)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PadAxis {
    /// Fill before the first element, at least 0.
    pub low: Dim,
    /// The extent of the result, large enough for all elements.
    pub extent: Dim,
    /// Fill between neighbours, at least 0.
    pub gap: i64,
}

impl Pad {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "pad is not built yet"))
    }
}
