//! How the operands of products stand in memory, once it is known which axes are joined.

use std::collections::BTreeSet;

use super::reads::{self, At, Found};
use super::roots::{Along, Kind, Root, elements, variable};
use tensorjit_runtime::abi::DType;

use crate::diag::Bug;
use crate::dim::{Dim, Sym};
use crate::graph::{Graph, NodeId, Op};

/// Finds along which axes the operands of products are contiguous, and how far the rows of the left one are apart.
pub(super) fn orient(graph: &Graph, roots: &mut [Root]) -> Result<(), Bug> {
    let nodes: BTreeSet<NodeId> = roots.iter().map(|root| root.node).collect();
    let is_leaf = |id: NodeId| nodes.contains(&id) || matches!(graph.node(id).op, Op::Input(_));
    for root in roots.iter_mut().filter(|root| root.kind == Kind::Product) {
        let rank = root.parallel.len();
        let variables: Vec<Dim> = (0..rank + root.folded.len()).map(variable).collect();
        let operands = elements(graph, root.node, &variables);
        let term = root.folded.len().checked_sub(1).map(|last| rank + last);
        for (side, own) in [root.row_axis(), root.column_axis()].into_iter().enumerate() {
            for (axis, along) in [(term, Along::Terms), (own, Along::Own)] {
                if let Some(variable) = axis.and_then(|axis| variables[axis].as_sym())
                    && is_contiguous(graph, &is_leaf, &operands[side], variable)?
                {
                    root.along[side] = along;
                }
            }
        }
        if let Some(row) = root.row_axis().and_then(|axis| variables[axis].as_sym()) {
            root.row_bytes = distance(graph, &is_leaf, &operands[0], row, graph.ty(root.node).dtype)?;
        }
    }
    Ok(())
}

/// The bytes between neighbours along a variable of an operand that is one tensor of type `dtype`, moved about.
fn distance(
    graph: &Graph,
    is_leaf: &dyn Fn(NodeId) -> bool,
    (operand, at): &(NodeId, Vec<Dim>),
    variable: Sym,
    dtype: DType,
) -> Result<Option<i64>, Bug> {
    let mut found = Found::default();
    reads::collect(graph, is_leaf, *operand, at, &mut found)?;
    let mut reads = found.reads.iter();
    let (Some((leaf, at)), None) = (reads.next(), reads.next()) else { return Ok(None) };
    let ty = graph.ty(*leaf);
    let offset = match at {
        At::Axes(at) => reads::flat(&ty.shape, at),
        At::Flat(offset) => offset.clone(),
        At::Data => return Ok(None),
    };
    let scale = offset.linear_in(variable).and_then(|(scale, _)| scale.as_const());
    Ok(scale.filter(|_| ty.dtype == dtype).and_then(|scale| scale.checked_mul(dtype.size() as i64)))
}

/// Whether the elements of an operand along a variable are neighbours in memory, or the same.
fn is_contiguous(
    graph: &Graph,
    is_leaf: &dyn Fn(NodeId) -> bool,
    (operand, at): &(NodeId, Vec<Dim>),
    variable: Sym,
) -> Result<bool, Bug> {
    let mut found = Found::default();
    reads::collect(graph, is_leaf, *operand, at, &mut found)?;
    Ok(found.reads.iter().all(|(leaf, at)| {
        let offset = match at {
            At::Axes(at) => reads::flat(&graph.ty(*leaf).shape, at),
            At::Flat(offset) => offset.clone(),
            At::Data => return false,
        };
        offset.linear_in(variable).is_some_and(|(scale, _)| scale.is(1) || scale.is(0))
    }))
}
