//! Where rules of differentiation build their nodes.
//!
//! Every structural operator has `linearize`, and every linear one `transpose`; both take a [`Site`].  The
//! helpers here skip what would be an identity, so that derivatives read as if written by hand.

use super::broadcast::Broadcast;
use super::constant::Constant;
use super::permute::Permute;
use super::reduce::{Reduce, ReduceKind};
use super::reshape::Reshape;
use crate::diag::{Bug, Origin};
use crate::dim::Dim;
use crate::graph::table::Ew;
use crate::graph::{Graph, NodeId, Op, Type};

/// The node that a rule is about, and the graph that it extends.
///
/// `linearize(&self, site, tangents)` returns the tangent of the node for the tangents of its operands, `None`
/// standing for zero throughout.  `transpose(&self, site, linear, cotangent)` is asked about a node that is
/// linear in the operands marked in `linear`; it returns their cotangents, and `None` for the others.
pub struct Site<'a> {
    /// The graph.
    pub graph: &'a mut Graph,
    /// The node.
    pub node: NodeId,
    /// Its operands.
    pub inputs: &'a [NodeId],
    /// The place that the nodes of the rule are attributed to.
    pub origin: Origin,
}

impl Site<'_> {
    /// Adds a node.
    pub fn add(&mut self, op: Op, inputs: &[NodeId]) -> Result<NodeId, Bug> {
        self.graph.add(op, inputs, self.origin)
    }

    /// The type of a node.
    pub fn ty(&self, id: NodeId) -> Type {
        self.graph.ty(id).clone()
    }

    /// The operand at `position`.
    pub fn input(&self, position: usize) -> Result<NodeId, Bug> {
        self.inputs.get(position).copied().ok_or_else(|| Bug::new("autodiff", "an operand is missing"))
    }

    /// An elementwise row.
    pub fn ew(&mut self, row: Ew, inputs: &[NodeId]) -> Result<NodeId, Bug> {
        self.add(Op::Elementwise(row), inputs)
    }

    /// A tensor of one number.
    pub fn full(&mut self, ty: &Type, value: f64) -> Result<NodeId, Bug> {
        let scalar = self.add(Op::Constant(Constant::number(ty.dtype, value)), &[])?;
        self.broadcast(scalar, &ty.shape, &[])
    }

    /// Zeros.
    pub fn zeros(&mut self, ty: &Type) -> Result<NodeId, Bug> {
        self.full(ty, 0.0)
    }

    /// Repeats `x`, whose axes become `axes` of `shape`.
    pub fn broadcast(&mut self, x: NodeId, shape: &[Dim], axes: &[usize]) -> Result<NodeId, Bug> {
        if self.graph.ty(x).shape == shape {
            return Ok(x);
        }
        self.add(Op::Broadcast(Broadcast { shape: shape.to_vec(), axes: axes.to_vec() }), &[x])
    }

    /// Repeats `x` along `axes`, rising, which it lacks, to `shape`: undoes the shape of a reduction.
    pub fn restore(&mut self, x: NodeId, shape: &[Dim], axes: &[usize]) -> Result<NodeId, Bug> {
        let kept: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).collect();
        self.broadcast(x, shape, &kept)
    }

    /// Sums over `axes`, rising.
    pub fn sum(&mut self, x: NodeId, axes: &[usize]) -> Result<NodeId, Bug> {
        if axes.is_empty() {
            return Ok(x);
        }
        self.add(Op::Reduce(Reduce { kind: ReduceKind::Sum, axes: axes.to_vec() }), &[x])
    }

    /// Result axis `i` is axis `axes[i]` of `x`.
    pub fn permute(&mut self, x: NodeId, axes: &[usize]) -> Result<NodeId, Bug> {
        if axes.iter().enumerate().all(|(i, axis)| i == *axis) {
            return Ok(x);
        }
        self.add(Op::Permute(Permute { axes: axes.to_vec() }), &[x])
    }

    /// The matrices of `x` transposed.
    pub fn transposed(&mut self, x: NodeId) -> Result<NodeId, Bug> {
        let rank = self.graph.ty(x).rank();
        self.add(Op::Permute(Permute::transposing(rank)), &[x])
    }

    /// The elements of `x` in another shape.
    pub fn reshape(&mut self, x: NodeId, shape: &[Dim]) -> Result<NodeId, Bug> {
        if self.graph.ty(x).shape == shape {
            return Ok(x);
        }
        self.add(Op::Reshape(Reshape { shape: shape.to_vec() }), &[x])
    }

    /// `select(mask, x, 0)`: the strong zero of a mask.
    pub fn keep(&mut self, mask: NodeId, x: NodeId) -> Result<NodeId, Bug> {
        let ty = self.ty(x);
        let zeros = self.zeros(&ty)?;
        self.ew(Ew::Select, &[mask, x, zeros])
    }

    /// The sum of two tangents or cotangents, either of which may be zero.
    pub fn plus(&mut self, a: Option<NodeId>, b: Option<NodeId>) -> Result<Option<NodeId>, Bug> {
        match (a, b) {
            (Some(a), Some(b)) => self.ew(Ew::Add, &[a, b]).map(Some),
            (one, None) | (None, one) => Ok(one),
        }
    }
}

/// The one tangent of an operator with one operand.
pub fn only(tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
    match tangents {
        [tangent] => Ok(*tangent),
        _ => Err(Bug::new("autodiff", format!("one tangent was expected, not {}", tangents.len()))),
    }
}
