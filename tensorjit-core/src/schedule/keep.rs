//! Which nodes are kept in memory, because computing them again at every use would cost more.

use std::collections::{BTreeMap, BTreeSet};

use super::cost::{EPILOGUE_COST, cost};
use super::reads;
use super::roots::variable;
use tensorjit_runtime::abi::DType;

use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::table::Ew;
use crate::graph::{Graph, NodeId, Op};

/// What it would cost to compute a node again at every use, and which nodes are therefore roots.
pub(super) struct Costs {
    pub(super) roots: Vec<bool>,
    /// Operations of one element as its users see it: none where it is a leaf.
    cost: Vec<u32>,
    /// Operations of one element down to the leaves.
    pub(super) own: Vec<u32>,
}

/// What it costs to sort an element.
const SORTING: u32 = 100;

/// What it costs to compute an element of a matrix from those before it, for as many as small ones have.
const ELIMINATION: u32 = 50;

/// An expression of this cost or more is not computed twice.
const WORTH_KEEPING: u32 = 6;

/// An expression of this cost is computed by loops of its own, so that no chain grows without bound.
const LONGEST: u32 = 512;

impl Costs {
    pub(super) fn of(graph: &Graph) -> Result<Costs, Bug> {
        let count = graph.ids().count();
        let mut users: BTreeMap<NodeId, u32> = BTreeMap::new();
        let mut spread = vec![false; count];
        for node in graph.ids().rev() {
            for input in &graph.node(node).inputs {
                *users.entry(*input).or_default() += 1;
                // An operand that is repeated along an axis is used many times by one user.
                spread[input.0 as usize] |= match graph.node(node).op {
                    Op::Broadcast(_) => true,
                    Op::Permute(_) | Op::Reshape(_) | Op::Slice(_) | Op::Window(_) => spread[node.0 as usize],
                    _ => false,
                };
            }
        }
        let mut costs = Costs { roots: vec![false; count], cost: vec![0; count], own: vec![0; count] };
        let outputs: BTreeSet<NodeId> = graph.outputs.iter().map(|output| stored(graph, *output)).collect();
        for node in graph.ids() {
            let used = users.get(&node).copied().unwrap_or(0);
            costs.visit(
                graph,
                node,
                used > 1 || (spread[node.0 as usize] && !graph.ty(node).shape.is_empty()),
            )?;
            if outputs.contains(&node) {
                costs.keep(graph, node);
            }
        }
        Ok(costs)
    }

    pub(super) fn is_leaf(&self, graph: &Graph, node: NodeId) -> bool {
        self.roots[node.0 as usize] || matches!(graph.node(node).op, Op::Input(_))
    }

    fn keep(&mut self, graph: &Graph, node: NodeId) {
        if !matches!(graph.node(node).op, Op::Input(_)) {
            let i = node.0 as usize;
            self.roots[i] = true;
            self.own[i] = self.own[i].max(self.cost[i]);
            self.cost[i] = 0;
        }
    }

    /// The operands have been visited.
    fn visit(&mut self, graph: &Graph, node: NodeId, reused: bool) -> Result<(), Bug> {
        let inputs = graph.node(node).inputs.clone();
        let i = node.0 as usize;
        self.cost[i] = inputs.iter().map(|id| self.cost[id.0 as usize]).fold(0, u32::saturating_add);
        match &graph.node(node).op {
            Op::Reduce(_) | Op::ArgReduce(_) | Op::Cumulate(_) => self.keep(graph, node),
            Op::Sort(_) => {
                self.cost[i] = self.cost[i].saturating_add(SORTING);
                self.keep(graph, node);
            }
            Op::Scatter(_) => {
                for input in &inputs {
                    self.keep_if(graph, *input, WORTH_KEEPING);
                }
                self.keep(graph, node);
            }
            Op::Cholesky(_) | Op::Lu(_) | Op::TriangularSolve(_) => {
                // The matrix of a system is read again and again.
                if let Op::TriangularSolve(_) = graph.node(node).op {
                    self.keep_operands(graph, node);
                }
                self.cost[i] = self.cost[i].saturating_add(ELIMINATION);
                self.keep(graph, node);
            }
            Op::Contract(op) => {
                if op.sum.is_empty() || graph.ty(inputs[1]).rank() > op.batch.len() + op.sum.len() {
                    self.keep_operands(graph, node);
                }
                self.keep(graph, node);
            }
            Op::Elementwise(function) => {
                self.keep_factor(graph, node);
                // What has been kept costs nothing here any more.
                self.cost[i] = inputs.iter().map(|id| self.cost[id.0 as usize]).fold(0, u32::saturating_add);
                let operands: Vec<DType> = inputs.iter().map(|id| graph.ty(*id).dtype).collect();
                self.cost[i] = self.cost[i].saturating_add(cost(*function, &operands)?);
            }
            // A scalar is computed before the loops that repeat it.
            Op::Broadcast(_) if graph.ty(inputs[0]).rank() == 0 => self.cost[i] = 0,
            Op::Gather(_) => self.keep_if(graph, inputs[0], WORTH_KEEPING),
            Op::Pad(_) => self.keep_if(graph, inputs[0], WORTH_KEEPING),
            Op::Concat(_) => {
                for input in &inputs {
                    self.keep_if(graph, *input, WORTH_KEEPING);
                }
                self.cost[i] = self.cost[i].saturating_add(2 * inputs.len() as u32);
            }
            Op::Reshape(_) => {
                let at: Vec<Dim> = (0..graph.ty(node).rank()).map(variable).collect();
                let affine = reads::is_affine_reshape(graph, node, &at);
                if !affine && !matches!(graph.node(inputs[0]).op, Op::Constant(_)) {
                    self.keep(graph, inputs[0]);
                }
            }
            Op::Scan(op) => {
                self.cost[i] = 0;
                // The first values of carries are computed where they are stored; all else is read in every step.
                for input in &inputs[op.carries..] {
                    self.keep(graph, stored(graph, *input));
                }
                return Ok(());
            }
            Op::Output(_) => self.keep(graph, node),
            Op::Derivative(_)
            | Op::Custom(_)
            | Op::CustomTangent(_)
            | Op::Placeholder(_)
            | Op::Solve(_)
            | Op::Determinant(_) => {
                return Err(Bug::new("schedule", format!("{node:?} should have been replaced")));
            }
            _ => {}
        }
        if reused && self.cost[i] >= WORTH_KEEPING || self.cost[i] >= LONGEST {
            self.keep(graph, node);
        }
        Ok(())
    }

    fn keep_if(&mut self, graph: &Graph, node: NodeId, worth: u32) {
        if self.cost[node.0 as usize] >= worth {
            self.keep(graph, node);
        }
    }

    /// What multiplies a product, and costs with this more than an epilogue may, is computed before, with what it is
    /// made of, so that the product is not read again for it.
    fn keep_factor(&mut self, graph: &Graph, node: NodeId) {
        let node = graph.node(node);
        let (Op::Elementwise(Ew::Mul | Ew::Dmul), [a, b]) = (&node.op, node.inputs.as_slice()) else {
            return;
        };
        for (product, factor) in [(*a, *b), (*b, *a)] {
            let is_product = matches!(graph.node(product).op, Op::Contract(_));
            let is_computed = matches!(graph.node(factor).op, Op::Elementwise(_));
            if is_product && is_computed && self.cost[factor.0 as usize] >= EPILOGUE_COST {
                self.keep(graph, factor);
            }
        }
    }

    /// Operands of a product are read many times: what is behind their movement stands in memory.
    fn keep_operands(&mut self, graph: &Graph, node: NodeId) {
        for operand in &graph.node(node).inputs {
            let base = self.behind_movement(graph, *operand);
            if self.cost[base.0 as usize] > 0
                || matches!(graph.node(base).op, Op::Pad(_) | Op::Concat(_) | Op::Gather(_))
            {
                self.keep(graph, base);
            }
        }
    }

    fn behind_movement(&self, graph: &Graph, mut node: NodeId) -> NodeId {
        while !self.is_leaf(graph, node)
            && matches!(
                graph.node(node).op,
                Op::Broadcast(_) | Op::Permute(_) | Op::Reshape(_) | Op::Slice(_) | Op::Window(_)
            )
        {
            node = graph.node(node).inputs[0];
        }
        node
    }
}

/// The node that is stored for an output: a reshape has the elements of its operand in the same order.
pub(super) fn stored(graph: &Graph, mut node: NodeId) -> NodeId {
    while let Op::Reshape(_) = graph.node(node).op {
        node = graph.node(node).inputs[0];
    }
    node
}
