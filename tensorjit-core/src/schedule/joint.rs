//! Neighbouring axes that a root need not tell apart, so that one loop may run over both.

use super::reads::{self, At};
use super::roots::{Kind, Root, variable};
use crate::dim::Dim;
use crate::graph::{Graph, NodeId};

/// Whether a root depends on axes `axis` and `axis + 1` of its domain only by offsets in which both make one count.
pub(super) fn can_join(graph: &Graph, root: &Root, axis: usize) -> bool {
    let (outer, inner) = (variable(axis), variable(axis + 1));
    let mut counted = root.counts.iter().flat_map(Dim::symbols).map(Dim::sym);
    if counted.any(|variable| variable == outer || variable == inner) {
        return false;
    }
    let Some(extent) = root.parallel.iter().chain(&root.folded).nth(axis + 1) else { return false };
    let own = At::Axes((0..root.parallel.len()).map(variable).collect());
    let reads = root.reads.iter().map(|(leaf, at)| (*leaf, at)).chain([(root.node, &own)]);
    reads.into_iter().all(|(leaf, at)| is_joint(graph, leaf, at, [&outer, &inner], extent))
}

fn is_joint(graph: &Graph, leaf: NodeId, at: &At, [outer, inner]: [&Dim; 2], extent: &Dim) -> bool {
    let offset = match at {
        At::Axes(index) => reads::flat(&graph.ty(leaf).shape, index),
        At::Flat(offset) => offset.clone(),
        At::Data => return false,
    };
    let scale = |variable: &Dim| offset.linear_in(variable.as_sym()?).map(|(scale, _)| scale);
    match (scale(outer), scale(inner)) {
        (Some(outer), Some(inner)) => outer == &inner * extent,
        _ => false,
    }
}

/// Finds the axes of the products' domains that can be joined to the next: never across the borders of rows, columns
/// and terms.
pub(super) fn find(graph: &Graph, roots: &mut [Root]) {
    for root in roots.iter_mut().filter(|root| root.kind == Kind::Product) {
        let rank = root.parallel.len();
        let columns = rank - root.right_axes;
        root.joints = (0..(rank + root.folded.len()).saturating_sub(1))
            .filter(|axis| axis + 1 != rank && axis + 1 != columns && can_join(graph, root, *axis))
            .collect();
    }
}

/// The extents of a domain after the axes in `joined` have each become part of the next: 1 for these.
pub(super) fn extents(domain: &[Dim], joined: impl Iterator<Item = usize>) -> Vec<Dim> {
    let mut extents = domain.to_vec();
    for axis in joined {
        extents[axis + 1] = &extents[axis] * &extents[axis + 1];
        extents[axis] = Dim::constant(1);
    }
    extents
}
