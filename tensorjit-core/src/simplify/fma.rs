//! Fused multiply-adds, formed last: what they round is fixed here, before anything is scheduled.

use super::rewriter::map;
use crate::diag::Bug;
use crate::graph::table::Ew;
use crate::graph::{Graph, NodeId, Op};

/// `a * b + c = fma(a, b, c)` on floats; the left product, if both operands of the sum are products.
///
/// Whether something else reads the product does not matter: it then stays beside the fused one.  Else two products
/// that are one node only where their extents happen to be equal would round otherwise than two nodes.
pub(super) fn form(graph: &Graph) -> Result<Graph, Bug> {
    let mut result = Graph::new(graph.facts.clone(), graph.inputs.clone());
    let mut image = vec![NodeId(0); graph.len()];
    result.outputs = map(graph, |id, op, inputs| {
        let new = match fused(graph, id) {
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

/// The operands of the fused multiply-add that a sum becomes.
fn fused(graph: &Graph, sum: NodeId) -> Option<[NodeId; 3]> {
    let node = graph.node(sum);
    let (Op::Elementwise(Ew::Add), [left, right]) = (&node.op, node.inputs.as_slice()) else { return None };
    if !node.ty.dtype.is_float() {
        return None;
    }
    let product = |product: &NodeId, other: &NodeId| match (
        &graph.node(*product).op,
        graph.node(*product).inputs.as_slice(),
    ) {
        (Op::Elementwise(Ew::Mul), [a, b]) => Some([*a, *b, *other]),
        _ => None,
    };
    product(left, right).or_else(|| product(right, left))
}
