//! The backward walk: over the nodes of a linear map, from the result's cotangent to those of the placeholders.

use super::flow::{Flow, masks};
use super::rules;
use crate::diag::Bug;
use crate::graph::ops::site::Site;
use crate::graph::{Graph, NodeId, Op};

/// A cotangent, and whether its zeros are strong.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cotangent {
    /// The node.
    pub(super) node: NodeId,
    /// Whether it has passed a mask.
    pub(super) masked: bool,
}

/// The cotangents of the placeholders for that of `tangent`, which is linear in them.
pub(super) fn transpose(
    graph: &mut Graph,
    flow: &mut Flow,
    placeholders: &[NodeId],
    tangent: NodeId,
    seed: Cotangent,
) -> Result<Vec<Option<Cotangent>>, Bug> {
    let Some(first) = placeholders.iter().map(|id| id.0).min() else { return Ok(Vec::new()) };
    if tangent.0 < first {
        return Ok(vec![None; placeholders.len()]);
    }
    // For each node what its users contribute, the last user first.
    let mut contributions: Vec<Vec<Cotangent>> = vec![Vec::new(); (tangent.0 - first) as usize + 1];
    contributions[(tangent.0 - first) as usize].push(seed);
    let mut found = vec![None; placeholders.len()];
    for id in (first..=tangent.0).rev().map(NodeId) {
        let parts = std::mem::take(&mut contributions[(id.0 - first) as usize]);
        let Some(cotangent) = total(graph, id, parts)? else { continue };
        let op = &graph.node(id).op;
        if matches!(op, Op::Input(_)) {
            if let Some(position) = placeholders.iter().position(|placeholder| *placeholder == id) {
                found[position] = Some(cotangent);
            }
            continue;
        }
        let masked = cotangent.masked || masks(op);
        let inputs = graph.node(id).inputs.clone();
        let linear: Vec<bool> = inputs.iter().map(|input| flow.is_linear(graph, *input)).collect();
        let parts = rules::transpose(graph, id, &linear, cotangent, flow)?;
        for ((input, linear), part) in inputs.iter().zip(&linear).zip(parts) {
            if let (true, Some(node)) = (*linear, part) {
                contributions[(input.0 - first) as usize].push(Cotangent { node, masked });
            }
        }
    }
    Ok(found)
}

/// The sum of contributions, in the order of the forward code.
fn total(graph: &mut Graph, id: NodeId, parts: Vec<Cotangent>) -> Result<Option<Cotangent>, Bug> {
    let origin = graph.origin(id);
    let mut site = Site { graph, node: id, inputs: &[], origin };
    let mut sum = None;
    for part in parts.iter().rev() {
        sum = site.plus(sum, Some(part.node))?;
    }
    // A sum of masked and unmasked cotangents is zero for certain only where the unmasked ones are.
    let masked = parts.iter().any(|part| part.masked);
    Ok(sum.map(|node| Cotangent { node, masked }))
}
