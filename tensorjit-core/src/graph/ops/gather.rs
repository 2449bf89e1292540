//! Elements at computed indices along one axis.

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;

/// Operands are the source and an `i64` tensor of indices, whose axes take the place of the axis.
/// Indices out of range are clamped; the axis is not empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gather {
    /// The axis of the source.
    pub axis: usize,
}

impl Gather {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "gather is not built yet"))
    }
}
