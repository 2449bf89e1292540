//! Every so-many-th element of a range of each axis.

use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::Type;

/// One range for each axis; all indices are in bounds (the front end has proven it).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slice {
    /// In the order of the axes.
    pub ranges: Vec<Range>,
}

/// The elements `start + step * i` for `i` in `0..len`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// The first index.
    pub start: Dim,
    /// The distance, not zero; negative walks down.
    pub step: i64,
    /// How many.
    pub len: Dim,
}

impl Slice {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "slice is not built yet"))
    }
}
