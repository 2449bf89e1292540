//! Loops: the tangents of a scan are a scan, and its cotangents are one that walks the other way.
//!
//! The scan of tangents reads what the primal scan stacks for it: the carries before each step, and what is dear to
//! compute.  All else is computed anew from these, so that the tape is small.  It is linear, and its transpose is a
//! scan again; the cotangents of captures are summed in carries.

use std::collections::BTreeMap;

use super::flow::{Flow, Strand, masks};
use super::linearize as forward;
use super::tape::tape;
use super::transpose::{self as backward, Cotangent};
use crate::diag::{Bug, Failure};
use crate::graph::ops::scan::{Output, Scan};
use crate::graph::ops::site::Site;
use crate::graph::step::{Outputs, Part, Step};
use crate::graph::{Graph, Input, NodeId, Op};

/// The tangent of a result, for that of the scan.
pub(super) fn output(
    site: &mut Site,
    Output(position): Output,
    tangents: &[Option<NodeId>],
    flow: &Flow,
) -> Result<Option<NodeId>, Bug> {
    let [Some(scan)] = tangents else { return Ok(None) };
    let result = flow.results.get(scan).and_then(|results| *results.get(position)?);
    result.map(|result| site.add(Op::Output(Output(result)), &[*scan])).transpose()
}

/// The scan of the tangents of `scan`; which of its results is which tangent is noted in the flow.
pub(super) fn linearize(
    site: &mut Site,
    scan: &Scan,
    tangents: &[Option<NodeId>],
    flow: &mut Flow,
) -> Result<Option<NodeId>, Failure> {
    let given: Vec<bool> = tangents.iter().map(Option::is_some).collect();
    let mut active = active(scan, &given);
    let strand = strand(site, scan, tangents.iter().flatten(), flow);
    let results = scan.carries + scan.stacks();
    let (mut body, inputs, linear) = loop {
        let mut body = Graph::clone(&scan.body);
        let inputs = inputs(&mut body, site)?;
        let variables = (0..inputs.len()).filter(|position| active[*position]).map(|p| (inputs[p], strand));
        let variables: Vec<(NodeId, Strand)> = variables.collect();
        let linear = forward::linearize(&mut body, &scan.body.outputs[..results], &variables)?;
        let moving = moving(scan, &body, &linear, &active, &given);
        if moving == active {
            break (body, inputs, linear);
        }
        active = moving;
    };

    let mut map = vec![None; scan.results()];
    let mut stacks = Vec::new();
    let carries = active[..scan.carries].iter().filter(|active| **active).count();
    for (position, tangent) in linear.tangents.iter().enumerate() {
        match tangent {
            _ if position < scan.carries => {
                map[position] =
                    active[position].then(|| active[..position].iter().filter(|active| **active).count());
            }
            Some(tangent) => {
                map[position] = Some(carries + stacks.len());
                stacks.push(*tangent);
            }
            None => {}
        }
    }
    if map.iter().all(Option::is_none) {
        return Ok(None);
    }

    let mut parts = parts(scan, site);
    parts[..scan.carries].fill(Part::Unused);
    let mut placeholders = linear.placeholders.iter();
    for position in (0..inputs.len()).filter(|position| active[*position]) {
        let Some(placeholder) = placeholders.next() else { break };
        let outer = match tangents.get(position).copied().flatten() {
            Some(tangent) => tangent,
            None => outer_zeros(site, position)?,
        };
        parts.push(if position < scan.carries {
            let next = match linear.tangents[position] {
                Some(tangent) => tangent,
                None => zeros(&mut body, site, *placeholder)?,
            };
            Part::Carry { first: outer, next }
        } else if position < scan.carries + scan.slices {
            Part::Slice(outer)
        } else {
            Part::Capture(outer)
        });
    }
    // The scan of tangents is counted by the steps that the primal one has taken.
    let steps = match scan.conditional {
        true => Some(site.add(Op::Output(Output(scan.results() - 1)), &[site.node])?),
        false => scan.counted.then(|| site.inputs.last().copied()).flatten(),
    };
    let nexts = parts.iter().filter_map(Part::next);
    let results: Vec<NodeId> = nexts.chain(stacks.iter().copied()).collect();
    let taped = tape(site, scan, &mut body, &mut parts, &results, linear.placeholders[0])?;
    let step = Step { count: &scan.count, reverse: scan.reverse, body: &body, parts: &parts, taped: &taped };
    let (op, operands) = step.assemble(&Outputs { stacks: &stacks, condition: None, steps })?;
    let found = site.add(op, &operands)?;
    flow.results.insert(found, map);
    Ok(Some(found))
}

/// The cotangents of the operands of a scan that is linear in those that are marked.
pub(super) fn transpose(
    graph: &mut Graph,
    id: NodeId,
    linear: &[bool],
    cotangents: &[Option<Cotangent>],
    flow: &mut Flow,
) -> Result<Vec<Option<NodeId>>, Bug> {
    let node = graph.node(id).clone();
    let Op::Scan(scan) = &node.op else { return Err(Bug::new("autodiff", format!("{id:?} is no scan"))) };
    let origin = graph.origin(id);
    let site = &mut Site { graph, node: id, inputs: &node.inputs, origin };
    let active = active(scan, linear);
    if active[..scan.carries].contains(&false) {
        return Err(Bug::new("autodiff", format!("{id:?} is not linear in its carries")));
    }
    let tangents: Vec<NodeId> =
        site.inputs.iter().zip(linear).filter(|(_, linear)| **linear).map(|(input, _)| *input).collect();
    let strand = strand(site, scan, tangents.iter(), flow);
    let masked = strand == Strand::Masked || cotangents.iter().flatten().any(|cotangent| cotangent.masked);

    let mut body = Graph::clone(&scan.body);
    let inputs = inputs(&mut body, site)?;
    let mut parts = parts(scan, site);
    // What the body is linear in is read no more.
    (0..inputs.len())
        .filter(|position| active[*position])
        .for_each(|position| parts[position] = Part::Unused);
    let placeholders: Vec<NodeId> =
        inputs.iter().zip(&active).filter(|(_, active)| **active).map(|(input, _)| *input).collect();
    let mut inner = Flow::new(placeholders.iter().map(|id| (*id, strand)).collect());

    // The cotangents of the carries are carries, those of the stacks are slices.
    let mut seeds = Vec::new();
    for (position, output) in scan.body.outputs[..scan.carries + scan.stacks()].iter().enumerate() {
        let cotangent = cotangents.get(position).copied().flatten().map(|cotangent| cotangent.node);
        if position >= scan.carries && cotangent.is_none() {
            continue;
        }
        let seed = input(&mut body, "cotangent", *output, site)?;
        parts.push(match cotangent {
            Some(cotangent) if position >= scan.carries => Part::Slice(cotangent),
            first => {
                let first = match first {
                    Some(first) => first,
                    None => outer_zeros(site, position)?,
                };
                Part::Carry { first, next: seed }
            }
        });
        if inner.is_linear(&body, *output) {
            seeds.push((*output, Cotangent { node: seed, masked }));
        }
    }
    let found = backward::transpose(&mut body, &mut inner, &placeholders, &seeds)?;
    let mut found = found.into_iter();
    let first = inputs.len();
    let mut stacks = Vec::new();
    let mut results = vec![None; node.inputs.len()];
    let mut next = 0;
    for position in (0..inputs.len()).filter(|position| active[*position]) {
        let cotangent = found.next().flatten().map(|cotangent| cotangent.node);
        if position < scan.carries {
            let cotangent = match cotangent {
                Some(cotangent) => cotangent,
                None => zeros(&mut body, site, inputs[position])?,
            };
            if let Part::Carry { next, .. } = &mut parts[first + position] {
                *next = cotangent;
            }
            results[position] = linear[position].then_some(position);
        } else if position < scan.carries + scan.slices {
            stacks.extend(cotangent.map(|cotangent| (position, cotangent)));
        } else if let Some(cotangent) = cotangent {
            let sum = input(&mut body, "sum", inputs[position], site)?;
            let mut inner = Site { graph: &mut body, node: sum, inputs: &[], origin };
            let Some(total) = inner.plus(Some(sum), Some(cotangent))? else { continue };
            parts.push(Part::Carry { first: outer_zeros(site, position)?, next: total });
            results[position] = Some(scan.carries + next);
            next += 1;
        }
    }
    for (rank, (position, _)) in stacks.iter().enumerate() {
        results[*position] = Some(scan.carries + next + rank);
    }
    let stacks: Vec<NodeId> = stacks.into_iter().map(|(_, cotangent)| cotangent).collect();
    let steps = scan.counted.then(|| site.inputs.last().copied()).flatten();
    let step = Step { count: &scan.count, reverse: !scan.reverse, body: &body, parts: &parts, taped: &[] };
    let (op, operands) = step.assemble(&Outputs { stacks: &stacks, condition: None, steps })?;
    let found = site.add(op, &operands)?;
    let mut cotangents = Vec::with_capacity(results.len());
    for result in results {
        cotangents.push(match result {
            Some(result) => Some(site.add(Op::Output(Output(result)), &[found])?),
            None => None,
        });
    }
    Ok(cotangents)
}

/// Which inputs of the body depend on the operands that are marked: carries may do so after some steps.
fn active(scan: &Scan, given: &[bool]) -> Vec<bool> {
    let body = &scan.body;
    let mut active: Vec<bool> =
        (0..body.inputs.len()).map(|position| position + 1 < body.inputs.len() && given[position]).collect();
    loop {
        let mut depends = vec![false; body.len()];
        for id in body.ids() {
            let node = body.node(id);
            depends[id.0 as usize] = match &node.op {
                Op::Input(position) => active[*position as usize],
                op => {
                    (node.ty.dtype.is_float() || op.results().is_some())
                        && node.inputs.iter().any(|input| depends[input.0 as usize])
                }
            };
        }
        let reached = (0..scan.carries).filter(|carry| depends[body.outputs[*carry].0 as usize]);
        let new: Vec<usize> = reached.filter(|carry| !active[*carry]).collect();
        if new.is_empty() {
            return active;
        }
        new.into_iter().for_each(|carry| active[carry] = true);
    }
}

/// Which of the active inputs have tangents that are not zero, those that are given before all.  A carry depends on
/// others through a sign, say, without moving with them.
fn moving(scan: &Scan, body: &Graph, linear: &forward::Linear, active: &[bool], given: &[bool]) -> Vec<bool> {
    let positions = (0..active.len()).filter(|position| active[*position]);
    let positions: BTreeMap<NodeId, usize> = linear.placeholders.iter().copied().zip(positions).collect();
    let mut moving: Vec<bool> =
        (0..active.len()).map(|position| active[position] && given[position]).collect();
    loop {
        let mut depends = vec![false; body.len()];
        for id in body.ids() {
            depends[id.0 as usize] = match positions.get(&id) {
                Some(position) => moving[*position],
                None => body.node(id).inputs.iter().any(|input| depends[input.0 as usize]),
            };
        }
        let reached = (0..scan.carries).filter(|carry| active[*carry] && !moving[*carry]);
        let reached =
            reached.filter(|carry| linear.tangents[*carry].is_some_and(|id| depends[id.0 as usize]));
        let reached: Vec<usize> = reached.collect();
        if reached.is_empty() {
            return moving;
        }
        reached.into_iter().for_each(|carry| moving[carry] = true);
    }
}

/// The strand of all that is linear in the body.
fn strand<'a>(
    site: &Site,
    scan: &Scan,
    tangents: impl Iterator<Item = &'a NodeId>,
    flow: &mut Flow,
) -> Strand {
    let mut masked = masks(&Op::Scan(scan.clone()));
    for tangent in tangents {
        masked |= flow.of(site.graph, *tangent) == Strand::Masked;
    }
    if masked { Strand::Masked } else { Strand::Linear }
}

/// The inputs of a body as nodes.
fn inputs(body: &mut Graph, site: &Site) -> Result<Vec<NodeId>, Bug> {
    (0..body.inputs.len() as u32).map(|position| body.add(Op::Input(position), &[], site.origin)).collect()
}

/// A new input of a body, of the type of a node of it.
fn input(body: &mut Graph, name: &str, like: NodeId, site: &Site) -> Result<NodeId, Bug> {
    body.inputs.push(Input { name: name.to_owned(), ty: body.ty(like).clone() });
    body.add(Op::Input(body.inputs.len() as u32 - 1), &[], site.origin)
}

/// Zeros in a body, of the type of a node of it.
fn zeros(body: &mut Graph, site: &Site, like: NodeId) -> Result<NodeId, Bug> {
    let ty = body.ty(like).clone();
    Site { graph: body, node: like, inputs: &[], origin: site.origin }.zeros(&ty)
}

/// Zeros outside, of the type of an operand.
fn outer_zeros(site: &mut Site, position: usize) -> Result<NodeId, Bug> {
    let ty = site.ty(site.input(position)?);
    site.zeros(&ty)
}

/// What the inputs of the body of `scan` stand for outside.
pub(super) fn parts(scan: &Scan, site: &Site) -> Vec<Part> {
    let operands = site.inputs.iter().take(scan.body.inputs.len() - 1).enumerate();
    let parts = operands.map(|(position, operand)| {
        if position < scan.carries {
            Part::Carry { first: *operand, next: scan.body.outputs[position] }
        } else if position < scan.carries + scan.slices {
            Part::Slice(*operand)
        } else {
            Part::Capture(*operand)
        }
    });
    parts.chain([Part::Number]).collect()
}
