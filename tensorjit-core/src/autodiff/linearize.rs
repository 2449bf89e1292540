//! The forward walk: from variables to results, building the map between their tangents.

use std::collections::BTreeMap;

use super::factors::Factors;
use super::flow::{Flow, Strand};
use super::{elementwise, rules};
use crate::diag::{Bug, Failure};
use crate::graph::ops::site::Site;
use crate::graph::{Graph, Input, Node, NodeId, Op};

/// A linear map, as nodes of the graph above placeholders.
pub(super) struct Linear {
    /// The placeholder of each variable: an input of the graph, added at its end.
    pub(super) placeholders: Vec<NodeId>,
    /// The tangent of each result; `None` where it does not depend on the variables.
    pub(super) tangents: Vec<Option<NodeId>>,
    /// Which nodes depend on the placeholders.
    pub(super) flow: Flow,
}

/// The derivative of `results` by `variables`, with the strands of their tangents.
///
/// Each node that lies between is visited once.  A variable that depends on another one has its own tangent
/// added to what comes from there, which is the derivative by each with all others as they are computed.
pub(super) fn linearize(
    graph: &mut Graph,
    results: &[NodeId],
    variables: &[(NodeId, Strand)],
) -> Result<Linear, Failure> {
    let between = between(graph, results, variables.iter().map(|(id, _)| *id), carriers);
    let mut placeholders = Vec::with_capacity(variables.len());
    for (position, (variable, _)) in variables.iter().enumerate() {
        let ty = graph.ty(*variable).clone();
        graph.inputs.push(Input { name: format!("tangent {position}"), ty });
        let input = Op::Input(graph.inputs.len() as u32 - 1);
        placeholders.push(graph.add(input, &[], graph.origin(*variable))?);
    }
    let sources = placeholders.iter().copied().zip(variables.iter().map(|(_, strand)| *strand));
    let mut flow = Flow::new(sources.collect());

    let positions: BTreeMap<NodeId, usize> =
        variables.iter().enumerate().map(|(position, (variable, _))| (*variable, position)).collect();
    let last = results.iter().max().map_or(0, |last| last.0 as usize);
    let mut tangents: Vec<Option<NodeId>> = vec![None; last + 1];
    let mut factors = Factors::default();
    for id in between {
        let node = graph.node(id);
        let mut tangent = None;
        if node.ty.dtype.is_float() || node.op.results().is_some() {
            let inputs: Vec<Option<NodeId>> =
                node.inputs.iter().map(|input| tangents[input.0 as usize]).collect();
            if inputs.iter().any(Option::is_some) {
                factors.enter(graph, id, &inputs);
                tangent = match factors.joined(graph, id, &inputs) {
                    Some(base) => match (factors.factor(graph, id, &mut flow)?, tangents[base.0 as usize]) {
                        (Some(factor), Some(tangent)) => {
                            Some(elementwise::scaled(graph, id, factor, tangent, &mut flow)?)
                        }
                        _ => None,
                    },
                    None => rules::linearize(graph, id, &inputs, &mut flow)?,
                };
            }
        }
        if let Some(position) = positions.get(&id) {
            factors.begin(id);
            let origin = graph.origin(id);
            let mut site = Site { graph, node: id, inputs: &[], origin };
            tangent = site.plus(tangent, Some(placeholders[*position]))?;
        }
        tangents[id.0 as usize] = tangent;
    }
    let tangents = results.iter().map(|result| tangents[result.0 as usize]).collect();
    Ok(Linear { placeholders, tangents, flow })
}

/// The nodes on the ways from the variables to the results, in order; `operands` are those of a node that lead on.
fn between(
    graph: &Graph,
    results: &[NodeId],
    variables: impl Iterator<Item = NodeId>,
    operands: fn(&Node) -> &[NodeId],
) -> Vec<NodeId> {
    let Some(last) = results.iter().max().copied() else { return Vec::new() };
    let mut depends = vec![false; last.0 as usize + 1];
    let mut first = last.0 + 1;
    for variable in variables.filter(|variable| *variable <= last) {
        depends[variable.0 as usize] = true;
        first = first.min(variable.0);
    }
    for id in first..=last.0 {
        let inputs = operands(graph.node(NodeId(id)));
        if inputs.iter().any(|input| depends[input.0 as usize]) {
            depends[id as usize] = true;
        }
    }
    let mut needed = vec![false; last.0 as usize + 1];
    results.iter().for_each(|result| needed[result.0 as usize] = true);
    let mut found = Vec::new();
    for id in (first..=last.0).rev() {
        if needed[id as usize] && depends[id as usize] {
            found.push(NodeId(id));
            operands(graph.node(NodeId(id))).iter().for_each(|input| needed[input.0 as usize] = true);
        }
    }
    found.reverse();
    found
}

/// The operands by which a node is differentiated.  What else a function with a rule reads has part in no derivative.
fn carriers(node: &Node) -> &[NodeId] {
    match &node.op {
        Op::Custom(op) => op.arguments(&node.inputs),
        _ => &node.inputs,
    }
}

/// The map applied to vectors: the tangent of the one result, with other nodes in the place of the placeholders.
pub(super) fn apply(graph: &mut Graph, linear: &Linear, vectors: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let Some(tangent) = linear.tangents.first().copied().flatten() else { return Ok(None) };
    let Some(first) = linear.placeholders.iter().map(|id| id.0).min() else { return Ok(None) };
    let mut image: Vec<Option<NodeId>> = vec![None; (tangent.0 - first) as usize + 1];
    for (placeholder, vector) in linear.placeholders.iter().zip(vectors) {
        if let Some(place) = image.get_mut((placeholder.0 - first) as usize) {
            *place = Some(*vector);
        }
    }
    for id in between(graph, &[tangent], linear.placeholders.iter().copied(), |node| &node.inputs) {
        let place = (id.0 - first) as usize;
        if image[place].is_some() {
            continue;
        }
        let node = graph.node(id).clone();
        let mapped = |input: &NodeId| {
            let position = input.0.checked_sub(first);
            position.and_then(|position| image[position as usize]).unwrap_or(*input)
        };
        let inputs: Vec<NodeId> = node.inputs.iter().map(mapped).collect();
        image[place] = Some(graph.add(node.op, &inputs, graph.origin(id))?);
    }
    Ok(image[(tangent.0 - first) as usize])
}
