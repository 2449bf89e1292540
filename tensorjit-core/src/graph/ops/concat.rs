//! Operands one after another along an axis.

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;

/// All operands have the same other extents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Concat {
    /// The axis.
    pub axis: usize,
}

impl Concat {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "concat is not built yet"))
    }
}
