//! Sums of elements that go to the same place along one axis: the transpose of a gather.

use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::Type;

/// Operands are an `i64` tensor of indices, clamped as in a gather, and the updates, shaped as the result of that gather.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScatterAdd {
    /// The axis of the result.
    pub axis: usize,
    /// Its extent.
    pub extent: Dim,
    /// The number of axes of the index tensor, which stand at `axis` in the updates.
    pub index_rank: usize,
}

impl ScatterAdd {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "scatter_add is not built yet"))
    }
}
