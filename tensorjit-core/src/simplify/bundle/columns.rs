//! Nodes as the columns of one: what is at one index of its last axis.

use std::collections::BTreeMap;

use crate::diag::{Bug, Origin};
use crate::dim::Dim;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::concat::Concat;
use crate::graph::ops::reshape::Reshape;
use crate::graph::ops::scan::Output;
use crate::graph::ops::slice::{Range, Slice};
use crate::graph::{Graph, NodeId, Op, Type};

/// Where a result is: in which result of the new scan, and in which column of it, where it is in one.
pub(super) type Place = (usize, Option<usize>);

/// The graph around the scans.
pub(super) struct Outside {
    pub(super) new: Graph,
    /// Which nodes are columns: one index of the last axis of another.
    columns: BTreeMap<NodeId, (NodeId, usize)>,
}

impl Outside {
    pub(super) fn new(new: Graph) -> Outside {
        Outside { new, columns: BTreeMap::new() }
    }

    /// A result of a new scan, or a column of one.
    pub(super) fn result(
        &mut self,
        scan: NodeId,
        (position, place): Place,
        origin: Origin,
    ) -> Result<NodeId, Bug> {
        let whole = self.new.add(Op::Output(Output(position)), &[scan], origin)?;
        let Some(place) = place else { return Ok(whole) };
        let node = column(&mut self.new, whole, place, origin)?;
        self.columns.insert(node, (whole, place));
        Ok(node)
    }

    /// Nodes of one type as the columns of one.
    pub(super) fn together(&mut self, nodes: &[NodeId], origin: Origin) -> Result<NodeId, Bug> {
        if let Some((whole, _)) = self.columns.get(&nodes[0])
            && self.new.ty(*whole).shape.last() == Some(&Dim::constant(nodes.len() as i64))
            && nodes.iter().enumerate().all(|(i, node)| self.columns.get(node) == Some(&(*whole, i)))
        {
            return Ok(*whole);
        }
        together(&mut self.new, nodes, origin)
    }
}

/// Nodes of one type as the columns of one: along a new last axis.
pub(super) fn together(graph: &mut Graph, nodes: &[NodeId], origin: Origin) -> Result<NodeId, Bug> {
    let (first, count) = (nodes[0], Dim::constant(nodes.len() as i64));
    let mut shape = graph.ty(first).shape.clone();
    let axis = shape.len();
    if nodes.iter().all(|node| *node == first) {
        shape.push(count);
        return graph.add(Op::Broadcast(Broadcast { shape, axes: (0..axis).collect() }), &[first], origin);
    }
    if let Some((whole, ranges)) = run(graph, nodes) {
        let slice = graph.add(Op::Slice(Slice { ranges }), &[whole], origin)?;
        return graph.add(Op::Reshape(Reshape { shape: vec![count] }), &[slice], origin);
    }
    shape.push(Dim::constant(1));
    let column = Op::Reshape(Reshape { shape });
    let columns = nodes.iter().map(|node| graph.add(column.clone(), &[*node], origin));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    graph.add(Op::Concat(Concat { axis }), &columns, origin)
}

/// Of which node scalars are elements at one distance along one axis, and which.
fn run(graph: &Graph, scalars: &[NodeId]) -> Option<(NodeId, Vec<Range>)> {
    let elements: Option<Vec<(NodeId, Vec<Dim>)>> = scalars
        .iter()
        .map(|scalar| (graph.ty(*scalar).rank() == 0).then(|| element(graph, *scalar)))
        .collect();
    let elements = elements?;
    let (whole, first) = elements.first()?;
    let distance = |axis: usize| {
        let steps = elements.windows(2).map(|pair| (&pair[1].1[axis] - &pair[0].1[axis]).as_const());
        let steps: Option<Vec<i64>> = steps.collect();
        steps.filter(|steps| steps.iter().all(|step| *step == steps[0])).map(|steps| steps[0])
    };
    if elements.iter().any(|(other, _)| other != whole) {
        return None;
    }
    let distances = (0..first.len()).map(distance).collect::<Option<Vec<i64>>>()?;
    if distances.iter().filter(|distance| **distance != 0).count() != 1 {
        return None;
    }
    let ranges = first.iter().zip(distances).map(|(start, distance)| match distance {
        0 => Range { start: start.clone(), step: 1, len: Dim::constant(1) },
        step => Range { start: start.clone(), step, len: Dim::constant(scalars.len() as i64) },
    });
    Some((*whole, ranges.collect()))
}

/// The node of which a scalar is an element, through movement, and at which index.
fn element(graph: &Graph, mut id: NodeId) -> (NodeId, Vec<Dim>) {
    let mut at = Vec::new();
    loop {
        let node = graph.node(id);
        let types: Vec<&Type> = node.inputs.iter().map(|input| graph.ty(*input)).collect();
        let sources = node.op.access(&graph.facts, &types, &node.ty, &at);
        match sources.as_deref() {
            Some([source]) if source.guards.is_empty() => {
                (id, at) = (node.inputs[source.operand], source.index.clone());
            }
            _ => return (id, at),
        }
    }
}

/// One index of the last axis of a node.
pub(super) fn column(graph: &mut Graph, whole: NodeId, index: usize, origin: Origin) -> Result<NodeId, Bug> {
    let mut shape = graph.ty(whole).shape.clone();
    shape.pop();
    let one = Range { start: Dim::constant(index as i64), step: 1, len: Dim::constant(1) };
    let ranges = shape.iter().map(Range::full).chain([one]).collect();
    let slice = graph.add(Op::Slice(Slice { ranges }), &[whole], origin)?;
    graph.add(Op::Reshape(Reshape { shape }), &[slice], origin)
}
