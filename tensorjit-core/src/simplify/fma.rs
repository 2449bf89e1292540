//! Fused multiply-adds, formed first: what they round is fixed on the graph as the user wrote it, before any identity
//! that holds for one value of an extent alone can bring a product and a sum together.

use super::rewriter::map;
use crate::diag::Bug;
use crate::graph::table::Ew;
use crate::graph::{Graph, NodeId, Op};

/// `a * b + c = fma(a, b, c)` on floats; the left product, if both operands of the sum are products.
///
/// A product is seen through movement, which then moves its factors, and through variables.  Whether something else
/// reads the product does not matter: it then stays beside the fused one.  Else two products that are one node only
/// where their extents happen to be equal would round otherwise than two nodes.
pub(super) fn form(graph: &Graph) -> Result<Graph, Bug> {
    let mut result = Graph::new(graph.facts.clone(), graph.inputs.clone());
    let mut image = vec![NodeId(0); graph.len()];
    result.outputs = map(graph, |id, op, inputs| {
        let new = match fused(graph, id) {
            Some(Fused { product, movement, other }) => {
                let origin = graph.origin(id);
                let mut operands = [NodeId(0), NodeId(0), image[other.0 as usize]];
                for (operand, factor) in operands.iter_mut().zip(&graph.node(product).inputs) {
                    *operand = image[factor.0 as usize];
                    for op in movement.iter().rev() {
                        *operand = result.add((*op).clone(), &[*operand], origin)?;
                    }
                }
                result.add(Op::Elementwise(Ew::Fma), &operands, origin)?
            }
            None => result.add(op.clone(), inputs, graph.origin(id))?,
        };
        image[id.0 as usize] = new;
        Ok(new)
    })?;
    Ok(result)
}

/// A sum with a product.
struct Fused<'g> {
    product: NodeId,
    /// What stands between the product and the sum, the last first.
    movement: Vec<&'g Op>,
    other: NodeId,
}

fn fused(graph: &Graph, sum: NodeId) -> Option<Fused<'_>> {
    let node = graph.node(sum);
    let (Op::Elementwise(Ew::Add), [left, right]) = (&node.op, node.inputs.as_slice()) else { return None };
    if !node.ty.dtype.is_float() {
        return None;
    }
    product(graph, *left, *right).or_else(|| product(graph, *right, *left))
}

fn product(graph: &Graph, mut id: NodeId, other: NodeId) -> Option<Fused<'_>> {
    let mut movement = Vec::new();
    loop {
        let node = graph.node(id);
        match &node.op {
            Op::Elementwise(Ew::Mul) => return Some(Fused { product: id, movement, other }),
            Op::Broadcast(_) | Op::Permute(_) | Op::Reshape(_) | Op::Slice(_) => movement.push(&node.op),
            Op::Variable(_) | Op::StopGradient => {}
            _ => return None,
        }
        id = *node.inputs.first()?;
    }
}
