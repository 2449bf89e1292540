//! Sub-graphs: their derivative is a sub-graph again, of the captures and the tangents or cotangents.

use std::sync::Arc;

use super::flow::Flow;
use super::linearize as forward;
use super::transpose::{self as backward, Cotangent};
use crate::diag::{Bug, Failure};
use crate::graph::ops::region::Region;
use crate::graph::ops::site::Site;
use crate::graph::{Graph, Input, NodeId, Op};

/// The tangent of a sub-graph's result: the linearised body, whose placeholders are inputs behind its own.
pub(super) fn linearize(
    site: &mut Site,
    region: &Region,
    tangents: &[Option<NodeId>],
    flow: &mut Flow,
) -> Result<Option<NodeId>, Failure> {
    let y = region.result()?;
    let mut body = Graph::clone(&region.body);
    let mut variables = Vec::new();
    let mut operands = site.inputs.to_vec();
    for (position, tangent) in tangents.iter().enumerate() {
        if let Some(tangent) = tangent {
            variables.push((input(&mut body, position, site)?, flow.of(site.graph, *tangent)));
            operands.push(*tangent);
        }
    }
    let linear = forward::linearize(&mut body, &[y], &variables)?;
    let Some(tangent) = linear.tangents[0] else { return Ok(None) };
    body.outputs = vec![tangent];
    let kept = vec![true; body.inputs.len()];
    let body = Arc::new(body.prune(&kept)?);
    Ok(Some(site.add(Op::Region(Region { body, output: 0 }), &operands)?))
}

/// The cotangents of the captures in which the sub-graph is linear: one body with an output for each.
pub(super) fn transpose(
    site: &mut Site,
    region: &Region,
    linear: &[bool],
    cotangent: Cotangent,
    flow: &mut Flow,
) -> Result<Vec<Option<NodeId>>, Bug> {
    let y = region.result()?;
    let mut body = Graph::clone(&region.body);
    let mut sources = Vec::new();
    for (position, _) in linear.iter().enumerate().filter(|(_, linear)| **linear) {
        let strand = flow.of(site.graph, site.input(position)?);
        sources.push((input(&mut body, position, site)?, strand));
    }
    let placeholders: Vec<NodeId> = sources.iter().map(|(id, _)| *id).collect();
    let seed_type = body.ty(y).clone();
    body.inputs.push(Input { name: "cotangent".to_owned(), ty: seed_type });
    let seed = input(&mut body, linear.len(), site)?;
    let seed = Cotangent { node: seed, ..cotangent };
    let found = backward::transpose(&mut body, &mut Flow::new(sources), &placeholders, &[(y, seed)])?;

    body.outputs = found.iter().flatten().map(|cotangent| cotangent.node).collect();
    // The cotangents do not read the inputs in which the body is linear.
    let kept: Vec<bool> = linear.iter().map(|linear| !linear).chain([true]).collect();
    let body = Arc::new(body.prune(&kept)?);
    let mut operands: Vec<NodeId> =
        site.inputs.iter().zip(linear).filter(|(_, linear)| !**linear).map(|(input, _)| *input).collect();
    operands.push(cotangent.node);
    let mut output = 0;
    let mut parts = found.into_iter();
    let mut results = Vec::with_capacity(linear.len());
    for linear in linear {
        let depends = *linear && parts.next().flatten().is_some();
        results.push(if depends {
            let region = Region { body: body.clone(), output };
            output += 1;
            Some(site.add(Op::Region(region), &operands)?)
        } else {
            None
        });
    }
    Ok(results)
}

/// Input `position` of a body, as a node.
fn input(body: &mut Graph, position: usize, site: &Site) -> Result<NodeId, Bug> {
    body.add(Op::Input(position as u32), &[], site.origin)
}
