//! Another order of the axes.

use super::site::Site;
use super::{Source, operands};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::value::{Env, Value};
use crate::graph::{NodeId, Op, Type};

/// Result axis `i` is operand axis `axes[i]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permute {
    /// A permutation.
    pub axes: Vec<usize>,
}

impl Permute {
    /// Axis `from` goes to the place `to`, the others keep their order.
    pub fn moving(rank: usize, from: usize, to: usize) -> Permute {
        let mut axes: Vec<usize> = (0..rank).filter(|axis| *axis != from).collect();
        axes.insert(to, from);
        Permute { axes }
    }

    /// The last two axes, those of matrices, change places.
    pub fn transposing(rank: usize) -> Permute {
        Permute::moving(rank, rank - 1, rank - 2)
    }

    /// The permutation that undoes this one.
    pub fn inverse(&self) -> Permute {
        let mut axes = vec![0; self.axes.len()];
        for (to, from) in self.axes.iter().enumerate() {
            axes[*from] = to;
        }
        Permute { axes }
    }

    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [operand] = operands("permute", inputs)?;
        let mut sorted = self.axes.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..operand.rank()) {
            let message = format!("permute: {:?} is no permutation of {} axes", self.axes, operand.rank());
            return Err(Bug::new("graph", message));
        }
        Ok(operand.with_shape(self.axes.iter().map(|axis| operand.shape[*axis].clone()).collect::<Vec<_>>()))
    }

    /// The value of the result.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [operand] = super::operands("permute", operands)?;
        let mut index = vec![0; shape.len()];
        Value::build(operand.dtype, shape, |at| {
            for (to, from) in self.axes.iter().enumerate() {
                index[*from] = at[to];
            }
            Ok(operand.at(&index))
        })
    }

    /// Where the element at `at` comes from.
    pub fn access(&self, _facts: &Facts, _operands: &[&Type], _result: &Type, at: &[Dim]) -> Vec<Source> {
        let index = self.inverse().axes.iter().map(|axis| at[*axis].clone()).collect();
        vec![Source::always(0, index)]
    }

    /// The tangent of the result: the operand's in the same order.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        super::apply_linear(Op::Permute(self.clone()), site, tangents)
    }

    /// The cotangent of the operand: the result's in the inverse order.
    pub fn transpose(
        &self,
        site: &mut Site,
        _linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        Ok(vec![Some(site.permute(cotangent, &self.inverse().axes)?)])
    }
}
