//! The index of the first extreme element.

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;

/// The result is `i64` and lacks the axis; the first NaN wins, else the first extreme.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArgReduce {
    /// Of the least instead of the greatest element.
    pub least: bool,
    /// The axis, not empty.
    pub axis: usize,
}

impl ArgReduce {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "arg_reduce is not built yet"))
    }
}
