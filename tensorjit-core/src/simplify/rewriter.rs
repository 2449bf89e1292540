//! The driver of the rules.

use super::FAMILIES;
use super::range::Range;
use crate::diag::{Bug, Origin};
use crate::dim::Dim;
use crate::graph::ops::constant::Constant;
use crate::graph::table::Ew;
use crate::graph::{Graph, Node, NodeId, Op, Type};

/// Builds a graph of simplified nodes.
pub(super) struct Rewriter {
    graph: Graph,
    origin: Origin,
    /// What is known of the values of the first nodes.
    pub(super) ranges: Vec<Range>,
}

/// Rebuilds what the outputs need, by the rules.
pub(super) fn rewrite(graph: &Graph) -> Result<Graph, Bug> {
    let mut rewriter = Rewriter {
        graph: Graph::new(graph.facts.clone(), graph.inputs.clone()),
        origin: Origin::default(),
        ranges: Vec::new(),
    };
    let outputs = map(graph, |id, op, inputs| {
        rewriter.origin = graph.origin(id);
        rewriter.make(op.clone(), inputs)
    })?;
    rewriter.graph.outputs = outputs;
    Ok(rewriter.graph)
}

/// Rebuilds what the outputs need, as it is.
pub(super) fn sweep(graph: &Graph) -> Result<Graph, Bug> {
    let mut live = Graph::new(graph.facts.clone(), graph.inputs.clone());
    live.outputs = map(graph, |id, op, inputs| live.add(op.clone(), inputs, graph.origin(id)))?;
    Ok(live)
}

/// Calls `build` for each node that the outputs need, with what it made of the operands; gives what it made of
/// the outputs.
pub(super) fn map(
    graph: &Graph,
    mut build: impl FnMut(NodeId, &Op, &[NodeId]) -> Result<NodeId, Bug>,
) -> Result<Vec<NodeId>, Bug> {
    let needed = graph.reachable(&graph.outputs);
    // Operands come before their users, so that a node's image is set before it is read.
    let mut image = vec![NodeId(0); graph.len()];
    let mut operands = Vec::new();
    for id in graph.ids().filter(|id| needed[id.0 as usize]) {
        let node = graph.node(id);
        operands.clear();
        operands.extend(node.inputs.iter().map(|input| image[input.0 as usize]));
        image[id.0 as usize] = build(id, &node.op, &operands)?;
    }
    let missing = || Bug::new("simplify", "an output does not exist");
    graph.outputs.iter().map(|id| image.get(id.0 as usize).copied().ok_or_else(missing)).collect()
}

impl Rewriter {
    /// The node, or the simpler one that a rule makes of it.
    pub(super) fn make(&mut self, op: Op, inputs: &[NodeId]) -> Result<NodeId, Bug> {
        for rule in FAMILIES.iter().copied().flatten() {
            if let Some(simpler) = (rule.apply)(self, &op, inputs)? {
                return Ok(simpler);
            }
        }
        self.graph.add(op, inputs, self.origin)
    }

    /// An elementwise row, simplified.
    pub(super) fn ew(&mut self, row: Ew, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
        self.make(Op::Elementwise(row), inputs).map(Some)
    }

    /// A tensor of one constant.
    pub(super) fn full(&mut self, constant: Constant, shape: &[Dim]) -> Result<Option<NodeId>, Bug> {
        constant.splat(&mut self.graph, shape, self.origin).map(Some)
    }

    /// The graph as far as it is built.
    pub(super) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// A node.
    pub(super) fn node(&self, id: NodeId) -> &Node {
        self.graph.node(id)
    }

    /// The type of a node.
    pub(super) fn ty(&self, id: NodeId) -> &Type {
        self.graph.ty(id)
    }

    /// The operands, where the node is that row.
    pub(super) fn as_ew(&self, id: NodeId, row: Ew) -> Option<&[NodeId]> {
        let node = self.node(id);
        (node.op == Op::Elementwise(row)).then_some(&node.inputs)
    }

    /// The constant of which the node is a tensor.
    pub(super) fn constant(&self, id: NodeId) -> Option<&Constant> {
        match self.node(id) {
            Node { op: Op::Constant(constant), .. } => Some(constant),
            Node { op: Op::Broadcast(_), inputs, .. } => match &self.node(*inputs.first()?).op {
                Op::Constant(constant) => Some(constant),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the node is a tensor of `value`, bit for bit.
    pub(super) fn is_number(&self, id: NodeId, value: f64) -> bool {
        self.constant(id).is_some_and(|constant| *constant == Constant::number(constant.dtype(), value))
    }
}
