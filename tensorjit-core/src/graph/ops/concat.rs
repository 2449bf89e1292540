//! Operands one after another along an axis.

use super::site::Site;
use super::slice::{Range, Slice};
use super::{Guard, Source};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::value::{Env, Value};
use crate::graph::{NodeId, Op, Type};

/// All operands have the same other extents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Concat {
    /// The axis.
    pub axis: usize,
}

impl Concat {
    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let Some((first, rest)) = inputs.split_first() else {
            return Err(Bug::new("graph", "concat: no operands"));
        };
        let Some(extent) = first.shape.get(self.axis) else {
            return Err(Bug::new("graph", format!("concat: no axis {} in {} axes", self.axis, first.rank())));
        };
        let mut total = extent.clone();
        for other in rest {
            let alike = other.dtype == first.dtype
                && other.rank() == first.rank()
                && (0..first.rank())
                    .all(|axis| axis == self.axis || facts.same(&first.shape[axis], &other.shape[axis]));
            if !alike {
                let (a, b) = (facts.show_shape(&first.shape), facts.show_shape(&other.shape));
                return Err(Bug::new(
                    "graph",
                    format!("concat: {a} and {b} differ beside axis {}", self.axis),
                ));
            }
            total = &total + &other.shape[self.axis];
        }
        let mut shape = first.shape.clone();
        shape[self.axis] = total;
        Ok(first.with_shape(shape))
    }

    /// The value of the result.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let Some(first) = operands.first() else { return Err(Bug::new("interp", "concat: no operands")) };
        Value::build(first.dtype, shape, |at| {
            let mut index = at.to_vec();
            for operand in operands {
                let extent = operand.shape[self.axis];
                if index[self.axis] < extent {
                    return Ok(operand.at(&index));
                }
                index[self.axis] -= extent;
            }
            Err(Bug::new("interp", "concat: an index is beyond the last operand"))
        })
    }

    /// Where the element at `at` comes from; the last operand takes what no other has.
    pub fn access(&self, _facts: &Facts, operands: &[&Type], _result: &Type, at: &[Dim]) -> Vec<Source> {
        let mut start = Dim::default();
        let mut sources = Vec::with_capacity(operands.len());
        for (operand, ty) in operands.iter().enumerate() {
            let mut index = at.to_vec();
            let value = &at[self.axis] - &start;
            index[self.axis] = value.clone();
            let extent = ty.shape[self.axis].clone();
            start = &start + &extent;
            let guards = match operand + 1 == operands.len() {
                true => Vec::new(),
                false => vec![Guard::Within { value, extent }],
            };
            sources.push(Source { operand, index, guards });
        }
        sources
    }

    /// The tangent of the result: the operands' tangents one after another.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        super::apply_jointly_linear(Op::Concat(self.clone()), site, tangents)
    }

    /// The cotangents of the operands: each its part of the result's.
    pub fn transpose(
        &self,
        site: &mut Site,
        linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let mut start = Dim::default();
        let mut parts = Vec::with_capacity(linear.len());
        for (input, linear) in site.inputs.iter().zip(linear) {
            let operand = site.ty(*input);
            let len = operand.shape[self.axis].clone();
            let next = &start + &len;
            let slice = Slice::along(&operand.shape, self.axis, Range { start, step: 1, len });
            parts.push(match linear {
                true => Some(site.add(Op::Slice(slice), &[cotangent])?),
                false => None,
            });
            start = next;
        }
        Ok(parts)
    }
}
