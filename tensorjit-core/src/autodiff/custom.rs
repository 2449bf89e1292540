//! Functions with a rule of their own: the tangents of their results are those of the rule, or what the rule
//! transposes.  When all derivatives have been taken, only their results are left.

use std::sync::Arc;

use super::flow::Flow;
use super::transpose::Cotangent;
use crate::diag::{Bug, Diagnostic, Failure, Origin};
use crate::graph::ops::custom::Custom;
use crate::graph::ops::scan::{Output, Scan};
use crate::graph::ops::site::Site;
use crate::graph::{Graph, NodeId, Op};

/// The tangents of the results, which are noted in the flow; any of them stands for the node.
pub(super) fn linearize(
    site: &mut Site,
    op: &Custom,
    tangents: &[Option<NodeId>],
    flow: &mut Flow,
) -> Result<Option<NodeId>, Bug> {
    let (operands, tangents) = (op.arguments(site.inputs), op.arguments(tangents));
    if tangents.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut given = results(site, op, site.node)?;
    for (operand, tangent) in operands.iter().zip(tangents) {
        given.push(or_zeros(site, *tangent, *operand)?);
    }
    given.extend(op.captures(site.inputs));
    let found = match op.reverse {
        true => {
            let tangent = site.add(Op::CustomTangent(op.clone()), &given)?;
            results(site, op, tangent)?
        }
        false => site.graph.splice(&op.rule, &given)?,
    };
    // A result may not depend on what moves: its tangent is zero then.
    let found: Vec<Option<NodeId>> =
        found.into_iter().map(|id| flow.is_linear(site.graph, id).then_some(id)).collect();
    let stands = found.iter().flatten().next().copied();
    flow.customs.insert(site.node, found);
    Ok(stands)
}

/// The cotangents of the operands: the rule says those of the tangents.
pub(super) fn transpose(
    graph: &mut Graph,
    id: NodeId,
    linear: &[bool],
    cotangents: &[Option<Cotangent>],
) -> Result<Vec<Option<NodeId>>, Bug> {
    let node = graph.node(id).clone();
    let Op::CustomTangent(op) = &node.op else {
        return Err(Bug::new("autodiff", format!("{id:?} has no rule")));
    };
    let origin = graph.origin(id);
    let site = &mut Site { graph, node: id, inputs: &node.inputs, origin };
    let mut given = node.inputs[..op.results].to_vec();
    for (result, cotangent) in node.inputs.iter().zip(cotangents) {
        given.push(or_zeros(site, cotangent.map(|cotangent| cotangent.node), *result)?);
    }
    given.extend(op.captures(&node.inputs));
    let found = site.graph.splice(&op.rule, &given)?;
    let mut cotangents = vec![None; node.inputs.len()];
    for (position, cotangent) in (op.results..).zip(found) {
        cotangents[position] = linear[position].then_some(cotangent);
    }
    Ok(cotangents)
}

/// Nodes for the results of a node.
fn results(site: &mut Site, op: &Custom, from: NodeId) -> Result<Vec<NodeId>, Bug> {
    (0..op.results).map(|result| site.add(Op::Output(Output(result)), &[from])).collect()
}

fn or_zeros(site: &mut Site, tangent: Option<NodeId>, like: NodeId) -> Result<NodeId, Bug> {
    match tangent {
        Some(tangent) => Ok(tangent),
        None => {
            let ty = site.ty(like);
            site.zeros(&ty)
        }
    }
}

/// The error of a function that is differentiated forward and has a rule for the other direction alone.
pub(super) fn one_way(op: &Custom, at: Origin) -> Diagnostic {
    let message =
        format!("`{}` has a rule for reverse derivatives alone, and a forward one is asked for", op.name);
    let help = "give it the rule of its tangents, `#[jvp(..)]`, from which both directions follow";
    Diagnostic::new("no-derivative", message, at).help(help)
}

/// The graph with what functions give in the place of functions with a rule, which nobody asks for any more.
pub(super) fn erase(graph: Graph) -> Result<Graph, Failure> {
    if !has_rules(&graph) {
        return Ok(graph);
    }
    let mut new = Graph::new(graph.facts.clone(), graph.inputs.clone());
    let mut image: Vec<NodeId> = Vec::with_capacity(graph.len());
    let mut problems = Vec::new();
    for id in graph.ids() {
        let node = graph.node(id);
        let inputs: Vec<NodeId> = node.inputs.iter().map(|input| image[input.0 as usize]).collect();
        let origin = graph.origin(id);
        let op = match &node.op {
            // Nothing reads the node itself.
            Op::Custom(_) => {
                image.push(inputs[0]);
                continue;
            }
            Op::CustomTangent(op) => {
                let problem = one_way(op, origin);
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
                image.push(inputs[0]);
                continue;
            }
            Op::Output(Output(result))
                if let Op::Custom(_) | Op::CustomTangent(_) = graph.node(node.inputs[0]).op =>
            {
                image.push(image[graph.node(node.inputs[0]).inputs[*result].0 as usize]);
                continue;
            }
            Op::Scan(scan) => {
                let body = Arc::new(erase(Graph::clone(&scan.body))?);
                Op::Scan(Scan { body, ..scan.clone() })
            }
            op => op.clone(),
        };
        image.push(new.add(op, &inputs, origin)?);
    }
    if !problems.is_empty() {
        return Err(Failure::User(problems));
    }
    new.outputs = graph.outputs.iter().map(|output| image[output.0 as usize]).collect();
    let all = vec![true; new.inputs.len()];
    Ok(new.prune(&all)?)
}

fn has_rules(graph: &Graph) -> bool {
    graph.ids().any(|id| match &graph.node(id).op {
        Op::Custom(_) | Op::CustomTangent(_) => true,
        Op::Scan(scan) => has_rules(&scan.body),
        _ => false,
    })
}
