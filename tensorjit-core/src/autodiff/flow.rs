//! Which nodes are linear in the placeholders, and on which of them a zero is strong.
//!
//! A zero that comes from a mask says that nothing there depends on the variable, whatever the derivative is.  So
//! what has passed a `select` is marked, with all that is made of it, and products with it are
//! [`Ew::Dmul`](crate::graph::table::Ew::Dmul): 0 where the tangent is 0, even if the derivative is infinite or NaN.

use std::collections::BTreeMap;

use crate::graph::table::Ew;
use crate::graph::{Graph, NodeId, Op};

/// How a node depends on the placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strand {
    /// Not at all.
    Constant,
    /// Linearly.
    Linear,
    /// Linearly and through a mask.
    Masked,
}

/// The strands of the nodes of a graph from the first placeholder on; it follows the graph as that grows.
#[derive(Debug)]
pub(super) struct Flow {
    base: u32,
    strands: Vec<Strand>,
    sources: Vec<(NodeId, Strand)>,
    /// For each scan of tangents: which of its results is the tangent of each result of the scan it belongs to.
    pub(super) results: BTreeMap<NodeId, Vec<Option<usize>>>,
    /// For each function with a rule of its own: the tangents of its results.
    pub(super) customs: BTreeMap<NodeId, Vec<Option<NodeId>>>,
}

impl Flow {
    /// A flow from the given inputs; those that have passed a mask already are marked so.
    pub(super) fn new(sources: Vec<(NodeId, Strand)>) -> Flow {
        let base = sources.iter().map(|(id, _)| id.0).min().unwrap_or(0);
        Flow { base, strands: Vec::new(), sources, results: BTreeMap::new(), customs: BTreeMap::new() }
    }

    /// The strand of a node.
    pub(super) fn of(&mut self, graph: &Graph, id: NodeId) -> Strand {
        let Some(position) = id.0.checked_sub(self.base) else { return Strand::Constant };
        while self.strands.len() <= position as usize {
            let next = NodeId(self.base + self.strands.len() as u32);
            self.strands.push(self.find(graph, next));
        }
        self.strands[position as usize]
    }

    /// Whether a node depends on a placeholder.
    pub(super) fn is_linear(&mut self, graph: &Graph, id: NodeId) -> bool {
        self.of(graph, id) != Strand::Constant
    }

    fn find(&self, graph: &Graph, id: NodeId) -> Strand {
        let node = graph.node(id);
        if matches!(node.op, Op::Input(_)) {
            let source = self.sources.iter().find(|(source, _)| *source == id);
            return source.map_or(Strand::Constant, |(_, strand)| *strand);
        }
        let known = |input: &NodeId| match input.0.checked_sub(self.base) {
            Some(position) => self.strands[position as usize],
            None => Strand::Constant,
        };
        let strand = node.inputs.iter().map(known).max().unwrap_or(Strand::Constant);
        if strand == Strand::Linear && masks(&node.op) { Strand::Masked } else { strand }
    }
}

/// Whether the operator, or its transpose, may put a zero in the place of a tangent: by a mask, or by position.
pub(super) fn masks(op: &Op) -> bool {
    let by_mask = match op {
        Op::Elementwise(row) => matches!(row, Ew::Select | Ew::Dmul),
        // Steps that are not taken give zeros too.
        Op::Scan(scan) => {
            scan.conditional || scan.counted || scan.body.ids().any(|id| masks(&scan.body.node(id).op))
        }
        Op::CustomTangent(custom) => custom.rule.ids().any(|id| masks(&custom.rule.node(id).op)),
        _ => false,
    };
    let by_position = match op {
        Op::Slice(_) | Op::Pad(_) | Op::Concat(_) | Op::Gather(_) | Op::Scatter(_) | Op::Window(_) => true,
        Op::Cumulate(op) => op.exclusive,
        _ => false,
    };
    by_mask || by_position
}
