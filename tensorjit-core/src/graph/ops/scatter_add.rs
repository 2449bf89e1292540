//! Sums of elements that go to the same place along one axis: the transpose of a gather.

use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::Type;
use tensorjit_runtime::abi::DType;

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
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [indices, updates] = inputs else {
            return Err(Bug::new("graph", format!("scatter_add takes two operands, not {}", inputs.len())));
        };
        let range = self.axis..self.axis + self.index_rank;
        let fits = indices.rank() == self.index_rank
            && updates
                .shape
                .get(range.clone())
                .is_some_and(|shape| shape.iter().zip(&indices.shape).all(|(a, b)| facts.same(a, b)));
        if !fits || indices.dtype != DType::I64 || updates.dtype == DType::Bool {
            return Err(Bug::new("graph", format!("scatter_add of {updates:?} at {indices:?} by {self:?}")));
        }
        let mut shape = updates.shape.clone();
        shape.splice(range, [self.extent.clone()]);
        Ok(updates.with_shape(shape))
    }
}
