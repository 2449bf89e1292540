//! The index of the first extreme element.

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;
use tensorjit_runtime::abi::DType;

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
    pub fn infer(&self, _facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [x] = inputs else {
            return Err(Bug::new("graph", format!("arg_reduce takes one operand, not {}", inputs.len())));
        };
        if self.axis >= x.rank() || x.dtype == DType::Bool {
            return Err(Bug::new("graph", format!("arg_reduce of {x:?} along axis {}", self.axis)));
        }
        let mut shape = x.shape.clone();
        shape.remove(self.axis);
        Ok(Type::new(DType::I64, shape))
    }
}
