//! Fused multiply-adds, formed last: what they round is fixed here, before anything is scheduled.

use super::rewriter::map;
use crate::diag::Bug;
use crate::graph::table::Ew;
use crate::graph::{Graph, NodeId, Op};

/// `a * b + c = fma(a, b, c)` on floats where nothing else reads the product; the left one, if both operands of
/// the sum are such products.
pub(super) fn form(graph: &Graph) -> Result<Graph, Bug> {
    let mut uses = vec![0u32; graph.len()];
    for id in graph.ids() {
        graph.node(id).inputs.iter().for_each(|input| uses[input.0 as usize] += 1);
    }
    graph.outputs.iter().for_each(|output| uses[output.0 as usize] += 1);
    let mut fused: Vec<Option<[NodeId; 3]>> = vec![None; graph.len()];
    let mut absorbed = vec![false; graph.len()];
    for id in graph.ids() {
        let node = graph.node(id);
        let (Op::Elementwise(Ew::Add), true, [left, right]) =
            (&node.op, node.ty.dtype.is_float(), node.inputs.as_slice())
        else {
            continue;
        };
        for (product, other) in [(left, right), (right, left)] {
            let factors = graph.node(*product);
            if let (Op::Elementwise(Ew::Mul), 1, [a, b]) =
                (&factors.op, uses[product.0 as usize], factors.inputs.as_slice())
            {
                fused[id.0 as usize] = Some([*a, *b, *other]);
                absorbed[product.0 as usize] = true;
                break;
            }
        }
    }
    rebuild(graph, &fused, &absorbed)
}

fn rebuild(graph: &Graph, fused: &[Option<[NodeId; 3]>], absorbed: &[bool]) -> Result<Graph, Bug> {
    let mut result = Graph::new(graph.facts.clone(), graph.inputs.clone());
    let mut image = vec![NodeId(0); graph.len()];
    result.outputs = map(graph, |id, op, inputs| {
        let new = match fused[id.0 as usize] {
            // A product that is absorbed has no node; its sum alone reads it.
            _ if absorbed[id.0 as usize] => NodeId(0),
            Some(operands) => {
                let operands = operands.map(|operand| image[operand.0 as usize]);
                result.add(Op::Elementwise(Ew::Fma), &operands, graph.origin(id))?
            }
            None => result.add(op.clone(), inputs, graph.origin(id))?,
        };
        image[id.0 as usize] = new;
        Ok(new)
    })?;
    Ok(result)
}
