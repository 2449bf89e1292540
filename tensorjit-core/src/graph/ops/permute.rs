//! Another order of the axes.

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;

/// Result axis `i` is operand axis `axes[i]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permute {
    /// A permutation.
    pub axes: Vec<usize>,
}

impl Permute {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "permute is not built yet"))
    }
}
