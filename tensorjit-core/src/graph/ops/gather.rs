//! Elements at computed indices along one axis.

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;
use tensorjit_runtime::abi::DType;

/// Operands are the source and an `i64` tensor of indices, whose axes take the place of the axis.
/// Indices out of range are clamped; the axis is not empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gather {
    /// The axis of the source.
    pub axis: usize,
}

impl Gather {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [source, indices] = inputs else {
            return Err(Bug::new("graph", format!("gather takes two operands, not {}", inputs.len())));
        };
        if self.axis >= source.rank() || indices.dtype != DType::I64 {
            return Err(Bug::new(
                "graph",
                format!("gather from {source:?} along axis {} at {indices:?}", self.axis),
            ));
        }
        let mut shape = source.shape.clone();
        shape.splice(self.axis..=self.axis, indices.shape.iter().cloned());
        Ok(source.with_shape(shape))
    }
}
