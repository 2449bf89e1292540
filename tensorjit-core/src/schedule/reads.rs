//! What an expression reads, and at which indices.
//!
//! Movement and elementwise nodes between a root and the leaves it reads are inlined: an element of the root is
//! an expression over elements of leaves, whose indices are dimension expressions over loop variables.

use std::collections::BTreeSet;

use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::ops::{Guard, Source};
use crate::graph::{Graph, Node, NodeId, Op, Type};

/// Where a leaf is read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum At {
    /// By one index per axis.
    Axes(Vec<Dim>),
    /// By the row-major offset: the leaf is read through a reshape.
    Flat(Dim),
    /// At indices that are values, not expressions.
    Data,
}

/// A leaf and where it is read.
pub(super) type Read = (NodeId, At);

/// Where the elements of a movement node come from; `None` for other nodes.
pub(super) fn sources(graph: &Graph, node: NodeId, at: &[Dim]) -> Option<Vec<Source>> {
    let Node { op, inputs, ty } = graph.node(node);
    let types: Vec<&Type> = inputs.iter().map(|id| graph.ty(*id)).collect();
    op.access(&graph.facts, &types, ty, at)
}

/// Variables of loops have numbers from here on; symbols of the function lie below.
pub(super) const FIRST_VARIABLE: u32 = 1 << 24;

/// Whether a reshape needs no division of loop variables.
pub(super) fn is_affine_reshape(graph: &Graph, node: NodeId, at: &[Dim]) -> bool {
    sources(graph, node, at).iter().flatten().flat_map(|source| &source.index).all(is_affine)
}

fn is_affine(index: &Dim) -> bool {
    let variables =
        |dim: &Dim| dim.symbols().into_iter().filter(|sym| sym.0 >= FIRST_VARIABLE).collect::<Vec<_>>();
    variables(index).into_iter().all(|sym| match index.linear_in(sym) {
        Some((scale, _)) => variables(&scale).is_empty(),
        None => false,
    })
}

/// The row-major strides of a shape.
pub(super) fn strides(shape: &[Dim]) -> Vec<Dim> {
    let mut strides = vec![Dim::constant(1); shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = &strides[axis] * &shape[axis];
    }
    strides
}

/// The row-major offset of an index.
pub(super) fn flat(shape: &[Dim], at: &[Dim]) -> Dim {
    strides(shape).iter().zip(at).fold(Dim::constant(0), |sum, (stride, index)| &sum + &(stride * index))
}

/// The number of elements of a shape.
pub(super) fn volume(shape: &[Dim]) -> Dim {
    shape.iter().fold(Dim::constant(1), |product, extent| &product * extent)
}

/// What an element depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    /// Elements of leaves.
    pub(super) reads: BTreeSet<Read>,
    /// Index expressions whose values matter in themselves: those of counters and of guards.
    pub(super) counts: BTreeSet<Dim>,
}

/// Collects what the element of `node` at `at` reads; `is_leaf` says which nodes stand in memory.
pub(super) fn collect(
    graph: &Graph,
    is_leaf: &dyn Fn(NodeId) -> bool,
    node: NodeId,
    at: &[Dim],
    found: &mut Found,
) -> Result<(), Bug> {
    let mut seen = BTreeSet::new();
    let mut work = vec![(node, at.to_vec())];
    while let Some((node, at)) = work.pop() {
        if is_leaf(node) {
            found.reads.insert((node, At::Axes(at)));
            continue;
        }
        if !seen.insert((node, at.clone())) {
            continue;
        }
        let inputs = &graph.node(node).inputs;
        match &graph.node(node).op {
            Op::Reshape(_) if is_leaf(inputs[0]) && !is_affine_reshape(graph, node, &at) => {
                found.reads.insert((inputs[0], At::Flat(flat(&graph.ty(node).shape, &at))));
            }
            Op::Gather(op) => {
                let rank = graph.ty(inputs[1]).rank();
                let (points, index) = op.indexing.split(&at, rank, Dim::constant(0));
                work.extend(inputs[1..].iter().map(|indices| (*indices, points.to_vec())));
                let mut leaves = Found::default();
                collect(graph, is_leaf, inputs[0], &index, &mut leaves)?;
                found.reads.extend(leaves.reads.into_iter().map(|(leaf, _)| (leaf, At::Data)));
                found.counts.extend(leaves.counts);
            }
            Op::Iota(_) => {
                found.counts.insert(at[0].clone());
            }
            _ => match sources(graph, node, &at) {
                Some(sources) => {
                    for source in sources {
                        found.counts.extend(source.guards.into_iter().map(|guard| match guard {
                            Guard::Within { value, .. } | Guard::Divides { value, .. } => value,
                        }));
                        work.push((inputs[source.operand], source.index));
                    }
                }
                None => work.extend(inputs.iter().map(|id| (*id, at.clone()))),
            },
        }
    }
    Ok(())
}
