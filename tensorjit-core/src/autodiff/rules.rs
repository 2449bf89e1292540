//! The rules of all operators behind one door.

use super::flow::{Flow, Strand};
use super::transpose::Cotangent;
use super::{custom, elementwise, scan};
use crate::diag::{Bug, Failure};
use crate::graph::ops::site::{Site, only};
use crate::graph::{Graph, NodeId, Op};

/// The tangent of node `id` for those of its operands, one of which at least is not zero.
pub(super) fn linearize(
    graph: &mut Graph,
    id: NodeId,
    tangents: &[Option<NodeId>],
    flow: &mut Flow,
) -> Result<Option<NodeId>, Failure> {
    let node = graph.node(id).clone();
    let origin = graph.origin(id);
    let site = &mut Site { graph, node: id, inputs: &node.inputs, origin };
    let tangent = match &node.op {
        Op::Elementwise(row) => return elementwise::linearize(site, *row, tangents, flow),
        Op::Scan(op) => return scan::linearize(site, op, tangents, flow),
        Op::Custom(op) => custom::linearize(site, op, tangents, flow)?,
        Op::CustomTangent(op) => return Err(Failure::User(vec![custom::one_way(op, origin)])),
        Op::Output(op) => match flow.customs.get(&node.inputs[0]) {
            Some(tangents) => tangents[op.0],
            None => scan::output(site, *op, tangents, flow)?,
        },
        Op::Broadcast(op) => op.linearize(site, tangents)?,
        Op::Permute(op) => op.linearize(site, tangents)?,
        Op::Reshape(op) => op.linearize(site, tangents)?,
        Op::Slice(op) => op.linearize(site, tangents)?,
        Op::Pad(op) => op.linearize(site, tangents)?,
        Op::Window(op) => op.linearize(site, tangents)?,
        Op::Concat(op) => op.linearize(site, tangents)?,
        Op::Reduce(op) => op.linearize(site, tangents)?,
        Op::Contract(op) => op.linearize(site, tangents)?,
        Op::Gather(op) => op.linearize(site, tangents)?,
        Op::Scatter(op) => op.linearize(site, tangents)?,
        Op::Cumulate(op) => op.linearize(site, tangents)?,
        Op::Cholesky(op) => op.linearize(site, tangents)?,
        Op::TriangularSolve(op) => op.linearize(site, tangents)?,
        Op::Solve(op) => op.linearize(site, tangents)?,
        Op::Determinant(op) => op.linearize(site, tangents)?,
        Op::Variable(_) => only(tangents)?,
        Op::StopGradient => tangents.get(1).copied().flatten(),
        Op::Input(_)
        | Op::Constant(_)
        | Op::DimValue(_)
        | Op::Iota(_)
        | Op::ArgReduce(_)
        | Op::Sort(_)
        | Op::Lu(_)
        | Op::Placeholder(_) => {
            return Err(Bug::new("autodiff", format!("{:?} has a tangent", node.op)).into());
        }
        Op::Derivative(op) => {
            return Err(Bug::new("autodiff", format!("{} was not expanded", op.name())).into());
        }
    };
    Ok(tangent)
}

/// The cotangents of the operands of `id` that are marked in `linear`.
pub(super) fn transpose(
    graph: &mut Graph,
    id: NodeId,
    linear: &[bool],
    cotangent: Cotangent,
) -> Result<Vec<Option<NodeId>>, Bug> {
    let node = graph.node(id).clone();
    let origin = graph.origin(id);
    let site = &mut Site { graph, node: id, inputs: &node.inputs, origin };
    match &node.op {
        Op::Elementwise(row) => elementwise::transpose(site, *row, linear, cotangent),
        Op::Broadcast(op) => op.transpose(site, linear, cotangent.node),
        Op::Permute(op) => op.transpose(site, linear, cotangent.node),
        Op::Reshape(op) => op.transpose(site, linear, cotangent.node),
        Op::Slice(op) => op.transpose(site, linear, cotangent.node),
        Op::Pad(op) => op.transpose(site, linear, cotangent.node),
        Op::Window(op) => op.transpose(site, linear, cotangent.node),
        Op::Concat(op) => op.transpose(site, linear, cotangent.node),
        Op::Reduce(op) => op.transpose(site, linear, cotangent.node),
        Op::Contract(op) => op.transpose(site, linear, cotangent.node),
        Op::Gather(op) => op.transpose(site, linear, cotangent.node),
        Op::Scatter(op) => op.transpose(site, linear, cotangent.node),
        Op::Cumulate(op) => op.transpose(site, linear, cotangent.node),
        Op::TriangularSolve(op) => op.transpose(site, linear, cotangent.node),
        Op::Solve(op) => op.transpose(site, linear, cotangent.node),
        Op::Variable(_) => Ok(vec![Some(cotangent.node)]),
        op => Err(Bug::new("autodiff", format!("{op:?} is not linear"))),
    }
}

/// Whether products with a tangent of this strand must be strong.
pub(super) fn is_masked(flow: &mut Flow, graph: &Graph, tangent: NodeId) -> bool {
    flow.of(graph, tangent) == Strand::Masked
}
