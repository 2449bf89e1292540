//! Folding of axes.

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;

/// Folds the axes away; `docs/numerics.md` states the order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reduce {
    /// The operation.
    pub kind: ReduceKind,
    /// Strictly rising, at least one.
    pub axes: Vec<usize>,
}

/// What folds, with its value for no elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReduceKind {
    /// Sum, 0.
    Sum,
    /// Product, 1.
    Prod,
    /// Maximum, NaN wins; -inf, or the least integer.
    Max,
    /// Minimum, NaN wins; +inf, or the greatest integer.
    Min,
    /// Of bools: whether one is true; false.
    Any,
    /// Of bools: whether all are true; true.
    All,
}

impl Reduce {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "reduce is not built yet"))
    }
}
