//! Repetition along new axes and along axes of extent one.

use super::site::Site;
use super::{Source, operands};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::value::{Env, Value};
use crate::graph::{NodeId, Op, Type};

/// Operand axis `i` becomes result axis `axes[i]`; it has that axis' extent, or extent one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Broadcast {
    /// The shape of the result.
    pub shape: Vec<Dim>,
    /// Strictly rising, one for each axis of the operand.
    pub axes: Vec<usize>,
}

impl Broadcast {
    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [operand] = operands("broadcast", inputs)?;
        let rising = self.axes.windows(2).all(|pair| pair[0] < pair[1]);
        if self.axes.len() != operand.rank()
            || !rising
            || self.axes.last().is_some_and(|a| *a >= self.shape.len())
        {
            return Err(Bug::new(
                "graph",
                format!(
                    "broadcast: axes {:?} do not carry {} into {}",
                    self.axes,
                    facts.show_shape(&operand.shape),
                    facts.show_shape(&self.shape)
                ),
            ));
        }
        for (from, axis) in operand.shape.iter().zip(&self.axes) {
            let to = &self.shape[*axis];
            if !from.is(1) && !facts.same(from, to) {
                return Err(Bug::new(
                    "graph",
                    format!(
                        "broadcast: axis {axis} of {} is neither 1 nor {}",
                        facts.show(from),
                        facts.show(to)
                    ),
                ));
            }
        }
        Ok(operand.with_shape(self.shape.clone()))
    }

    /// The value of the result.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [operand] = super::operands("broadcast", operands)?;
        let mut index = vec![0; operand.shape.len()];
        Value::build(operand.dtype, shape, |at| {
            for (i, axis) in self.axes.iter().enumerate() {
                index[i] = if operand.shape[i] == 1 { 0 } else { at[*axis] };
            }
            Ok(operand.at(&index))
        })
    }

    /// Where the element at `at` comes from.
    pub fn access(&self, _facts: &Facts, operands: &[&Type], _result: &Type, at: &[Dim]) -> Vec<Source> {
        let extents = operands.first().map_or(&[][..], |ty| &ty.shape);
        let index = extents
            .iter()
            .zip(&self.axes)
            .map(|(extent, axis)| if extent.is(1) { Dim::default() } else { at[*axis].clone() })
            .collect();
        vec![Source::always(0, index)]
    }

    /// The tangent of the result: the same repetition of the operand's.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        super::apply_linear(Op::Broadcast(self.clone()), site, tangents)
    }

    /// The cotangent of the operand: sums over what was repeated; axes of extent one stay.
    pub fn transpose(
        &self,
        site: &mut Site,
        _linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let operand = site.ty(site.input(0)?);
        // Result axes that carry an operand axis unrepeated, and which operand axes these are.
        let mut carried = vec![false; self.shape.len()];
        let mut kept = Vec::new();
        for (i, axis) in self.axes.iter().enumerate() {
            if !operand.shape[i].is(1) || self.shape[*axis].is(1) {
                carried[*axis] = true;
                kept.push(i);
            }
        }
        let summed: Vec<usize> = (0..self.shape.len()).filter(|axis| !carried[*axis]).collect();
        let sum = site.sum(cotangent, &summed)?;
        Ok(vec![Some(site.broadcast(sum, &operand.shape, &kept)?)])
    }
}
