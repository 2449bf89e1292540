//! Arithmetic on `f16` and `bf16`: operands are widened to `f32`, which holds them, and results rounded to the type.
//!
//! Only what moves elements, chooses between them or converts them has such operands; [`Graph::add`] writes every other
//! operator on them as conversions around the same operator on `f32`.  So each value of a graph is rounded once, sums and
//! products are of `f32` throughout, and no later stage computes with these types.

use tensorjit_runtime::abi::DType;

use super::ops::iota::Iota;
use super::ops::scatter::Combine;
use super::table::Ew;
use super::{Graph, NodeId, Op};
use crate::diag::{Bug, Origin};

impl Graph {
    /// Whether the operator computes with, or makes, numbers of a type that only stores them.
    pub(super) fn needs_widening(&self, op: &Op, inputs: &[NodeId]) -> bool {
        if let Op::Iota(iota) = op {
            return iota.dtype.is_half();
        }
        inputs.iter().any(|id| self.ty(*id).dtype.is_half()) && computes(op)
    }

    /// Adds the operator on the widened operands, and the conversion of its result.
    pub(super) fn add_widened(&mut self, op: Op, inputs: &[NodeId], origin: Origin) -> Result<NodeId, Bug> {
        if let Op::Iota(Iota { dtype, extent }) = op {
            let count = self.add(Op::Iota(Iota { dtype: DType::F32, extent }), &[], origin)?;
            return self.add(Op::Elementwise(Ew::Cast(dtype)), &[count], origin);
        }
        let mut half = None;
        for id in inputs {
            let dtype = self.ty(*id).dtype;
            if dtype.is_float() && *half.get_or_insert(dtype) != dtype {
                return Err(Bug::new("graph", format!("{op:?}: its operands are of two types of floats")));
            }
        }
        let mut widened = Vec::with_capacity(inputs.len());
        for id in inputs {
            widened.push(match self.ty(*id).dtype.is_half() {
                true => self.add(Op::Elementwise(Ew::Cast(DType::F32)), &[*id], origin)?,
                false => *id,
            });
        }
        let result = self.add(op, &widened, origin)?;
        match half {
            Some(half) if self.ty(result).dtype == DType::F32 => {
                self.add(Op::Elementwise(Ew::Cast(half)), &[result], origin)
            }
            _ => Ok(result),
        }
    }
}

/// Whether an operator does more than to move, choose or convert the elements of its operands.
fn computes(op: &Op) -> bool {
    match op {
        Op::Elementwise(row) => !matches!(row, Ew::Select | Ew::Cast(_)),
        Op::Scatter(scatter) => scatter.combine != Combine::Set,
        Op::Iota(_)
        | Op::Reduce(_)
        | Op::ArgReduce(_)
        | Op::Contract(_)
        | Op::Cumulate(_)
        | Op::Sort(_)
        | Op::Cholesky(_)
        | Op::TriangularSolve(_)
        | Op::Solve(_)
        | Op::Determinant(_)
        | Op::Lu(_) => true,
        Op::Input(_)
        | Op::Constant(_)
        | Op::DimValue(_)
        | Op::Broadcast(_)
        | Op::Permute(_)
        | Op::Reshape(_)
        | Op::Slice(_)
        | Op::Pad(_)
        | Op::Window(_)
        | Op::Concat(_)
        | Op::Gather(_)
        | Op::Variable(_)
        | Op::StopGradient
        | Op::Derivative(_)
        | Op::Scan(_)
        | Op::Output(_)
        | Op::Custom(_)
        | Op::CustomTangent(_)
        | Op::Placeholder(_) => false,
    }
}
