//! Folding of axes.

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;
use tensorjit_runtime::abi::DType;

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
    pub fn infer(&self, _facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [x] = inputs else {
            return Err(Bug::new("graph", format!("reduce takes one operand, not {}", inputs.len())));
        };
        let rising = self.axes.windows(2).all(|pair| pair[0] < pair[1]);
        if self.axes.is_empty() || !rising || self.axes.iter().any(|axis| *axis >= x.rank()) {
            return Err(Bug::new("graph", format!("reduce of rank {} over axes {:?}", x.rank(), self.axes)));
        }
        let logical = matches!(self.kind, ReduceKind::Any | ReduceKind::All);
        if logical != (x.dtype == DType::Bool) {
            return Err(Bug::new("graph", format!("{:?} of {}", self.kind, x.dtype.name())));
        }
        let kept = x.shape.iter().enumerate().filter(|(axis, _)| !self.axes.contains(axis));
        Ok(x.with_shape(kept.map(|(_, extent)| extent.clone()).collect::<Vec<_>>()))
    }
}
