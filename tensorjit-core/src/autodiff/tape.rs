//! What a scan stacks for the scan of its tangents.

use crate::diag::Bug;
use crate::graph::ops::scan::{Output, Scan};
use crate::graph::ops::site::Site;
use crate::graph::step::{Outputs, Part, Step};
use crate::graph::{Graph, Input, NodeId, Op};

/// Has `scan`, whose nodes are the first of `body`, stack what `results` read of it, nodes that are linear above the
/// placeholders, of which `first` is the first.  Gives the nodes with the new inputs of the body that have their values.
pub(super) fn tape(
    site: &mut Site,
    scan: &Scan,
    body: &mut Graph,
    parts: &mut Vec<Part>,
    results: &[NodeId],
    first: NodeId,
) -> Result<Vec<(NodeId, usize)>, Bug> {
    let taped = taped(scan, body, results, first);
    if taped.is_empty() {
        return Ok(Vec::new());
    }
    let mut primal = super::scan::parts(scan, site);
    primal.resize(body.inputs.len(), Part::Unused);
    let first_stack = scan.carries;
    let own = &scan.body.outputs[first_stack..first_stack + scan.stacks()];
    let stacks: Vec<NodeId> = own.iter().chain(&taped).copied().collect();
    let outputs = Outputs {
        stacks: &stacks,
        condition: scan.conditional.then(|| scan.body.outputs.last().copied()).flatten(),
        steps: scan.counted.then(|| site.inputs.last().copied()).flatten(),
    };
    let step = Step { count: &scan.count, reverse: scan.reverse, body, parts: &primal, taped: &[] };
    let (op, operands) = step.assemble(&outputs)?;
    let stacking = site.add(op, &operands)?;
    let mut found = Vec::with_capacity(taped.len());
    for (position, node) in taped.into_iter().enumerate() {
        let result = Output(first_stack + own.len() + position);
        parts.push(Part::Slice(site.add(Op::Output(result), &[stacking])?));
        body.inputs.push(Input { name: "tape".to_owned(), ty: body.ty(node).clone() });
        found.push((node, body.inputs.len() - 1));
    }
    Ok(found)
}

/// The nodes whose values are stacked: carries, and what is dear to compute again.
fn taped(scan: &Scan, body: &Graph, results: &[NodeId], first: NodeId) -> Vec<NodeId> {
    let mut linear = vec![false; body.len()];
    let mut needed = vec![false; body.len()];
    results.iter().for_each(|result| needed[result.0 as usize] = true);
    for id in body.ids().filter(|id| *id >= first) {
        let node = body.node(id);
        let is_placeholder = matches!(node.op, Op::Input(input) if input as usize >= scan.body.inputs.len());
        linear[id.0 as usize] = is_placeholder || node.inputs.iter().any(|input| linear[input.0 as usize]);
    }
    let mut found = Vec::new();
    for id in body.ids().rev() {
        if !needed[id.0 as usize] {
            continue;
        }
        let op = &body.node(id).op;
        let is_carry = matches!(op, Op::Input(input) if (*input as usize) < scan.carries);
        if !linear[id.0 as usize] && (is_carry || is_dear(op)) {
            found.push(id);
            continue;
        }
        body.node(id).inputs.iter().for_each(|input| needed[input.0 as usize] = true);
    }
    found.reverse();
    found
}

/// Whether a node costs more to compute again than to read.
fn is_dear(op: &Op) -> bool {
    !matches!(
        op,
        Op::Input(_)
            | Op::Constant(_)
            | Op::DimValue(_)
            | Op::Iota(_)
            | Op::Elementwise(_)
            | Op::Broadcast(_)
            | Op::Permute(_)
            | Op::Reshape(_)
            | Op::Slice(_)
            | Op::Pad(_)
            | Op::Concat(_)
            | Op::Gather(_)
            | Op::Variable(_)
            | Op::StopGradient
    )
}
