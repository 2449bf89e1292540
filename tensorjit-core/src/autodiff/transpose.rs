//! The backward walk: over the nodes of a linear map, from the result's cotangent to those of the placeholders.

use std::collections::BTreeMap;

use super::flow::{Flow, masks};
use super::{custom, rules, scan};
use crate::diag::Bug;
use crate::graph::ops::scan::Output;
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

/// The cotangents of the placeholders for those of `seeds`, nodes that are linear in them.
pub(super) fn transpose(
    graph: &mut Graph,
    flow: &mut Flow,
    placeholders: &[NodeId],
    seeds: &[(NodeId, Cotangent)],
) -> Result<Vec<Option<Cotangent>>, Bug> {
    let mut found = vec![None; placeholders.len()];
    let Some(first) = placeholders.iter().map(|id| id.0).min() else { return Ok(found) };
    let Some(last) = seeds.iter().map(|(node, _)| node.0).max().filter(|last| *last >= first) else {
        return Ok(found);
    };
    // For each node what its users contribute, the last user first.
    let mut contributions: Vec<Vec<Cotangent>> = vec![Vec::new(); (last - first) as usize + 1];
    for (node, seed) in seeds.iter().filter(|(node, _)| node.0 >= first) {
        contributions[(node.0 - first) as usize].push(*seed);
    }
    // The cotangents of the results of operators that have several.
    let mut results: BTreeMap<NodeId, Vec<Option<Cotangent>>> = BTreeMap::new();
    for id in (first..=last).rev().map(NodeId) {
        let parts = std::mem::take(&mut contributions[(id.0 - first) as usize]);
        let cotangent = total(graph, id, parts)?;
        if graph.node(id).op.results().is_some() {
            let Some(cotangents) = results.remove(&id) else { continue };
            let masked =
                masks(&graph.node(id).op) || cotangents.iter().flatten().any(|cotangent| cotangent.masked);
            let linear = linear(graph, flow, id);
            let parts = match &graph.node(id).op {
                Op::CustomTangent(_) => custom::transpose(graph, id, &linear, &cotangents)?,
                // A linear function is transposed as its body is.
                Op::Custom(_) => {
                    let results = linear.iter().zip(&cotangents);
                    results.map(|(linear, found)| found.filter(|_| *linear).map(|found| found.node)).collect()
                }
                _ => scan::transpose(graph, id, &linear, &cotangents, flow)?,
            };
            for (input, part) in graph.node(id).inputs.iter().zip(parts) {
                if let Some(node) = part {
                    contributions[(input.0 - first) as usize].push(Cotangent { node, masked });
                }
            }
            continue;
        }
        let Some(cotangent) = cotangent else { continue };
        let node = graph.node(id);
        if matches!(node.op, Op::Input(_)) {
            if let Some(position) = placeholders.iter().position(|placeholder| *placeholder == id) {
                found[position] = Some(cotangent);
            }
            continue;
        }
        if let (Op::Output(Output(position)), [from]) = (&node.op, node.inputs.as_slice())
            && let Some(count) = graph.node(*from).op.results()
        {
            results.entry(*from).or_insert_with(|| vec![None; count])[*position] = Some(cotangent);
            continue;
        }
        let masked = cotangent.masked || masks(&node.op);
        let linear = linear(graph, flow, id);
        let inputs = node.inputs.clone();
        let parts = rules::transpose(graph, id, &linear, cotangent)?;
        for ((input, linear), part) in inputs.iter().zip(&linear).zip(parts) {
            if let (true, Some(node)) = (*linear, part) {
                contributions[(input.0 - first) as usize].push(Cotangent { node, masked });
            }
        }
    }
    Ok(found)
}

/// Which operands of a node depend on the placeholders.
fn linear(graph: &Graph, flow: &mut Flow, id: NodeId) -> Vec<bool> {
    graph.node(id).inputs.iter().map(|input| flow.is_linear(graph, *input)).collect()
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
