//! The typed graph: hash-consed nodes in an arena, each referring only to earlier ones.
//!
//! [`Graph::add`] is the only door: it infers the type, validates, and interns, so that the arena's order is a
//! topological order and nothing ill-typed can be in it.

pub(crate) mod extract;
mod half;
mod linear;
mod op;
pub mod ops;
pub mod print;
mod prune;
mod restrict;
#[cfg(test)]
pub(crate) mod sketch;
mod splice;
pub(crate) mod step;
pub mod table;
mod ty;
pub mod value;
pub mod verify;

use std::collections::BTreeMap;

pub use op::{Op, Placeholder};
pub use ty::{Shape, Type};

use crate::diag::{Bug, Origin};
use crate::dim::facts::Facts;

/// A node; prints as in the textual form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl std::fmt::Debug for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// An operator applied to earlier nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// The operator with its attributes.
    pub op: Op,
    /// The operands.
    pub inputs: Vec<NodeId>,
    /// The type of the result, inferred.
    pub ty: Type,
}

/// What a graph takes: a parameter of the function, or a capture of a sub-graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Input {
    /// The user's name.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// Nodes with the facts about their dimensions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Graph {
    /// What is known of the symbols.
    pub facts: Facts,
    /// Declared inputs; `Op::Input(i)` is input `i`.
    pub inputs: Vec<Input>,
    /// Results in order.
    pub outputs: Vec<NodeId>,
    nodes: Vec<Node>,
    origins: Vec<Origin>,
    interned: BTreeMap<(Op, Vec<NodeId>), NodeId>,
}

impl Graph {
    /// A graph without nodes.
    pub fn new(facts: Facts, inputs: Vec<Input>) -> Graph {
        Graph { facts, inputs, ..Graph::default() }
    }

    /// Adds a node, or finds the equal one.
    ///
    /// The front end has checked the user's operands, so that a type error here is a bug of the caller.
    pub fn add(&mut self, op: Op, inputs: &[NodeId], origin: Origin) -> Result<NodeId, Bug> {
        if self.needs_widening(&op, inputs) {
            return self.add_widened(op, inputs, origin);
        }
        let key = (op, inputs.to_vec());
        if let Some(id) = self.interned.get(&key) {
            return Ok(*id);
        }
        let ty = op::infer(self, &key.0, inputs)?;
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node { op: key.0.clone(), inputs: key.1.clone(), ty });
        self.origins.push(origin);
        self.interned.insert(key, id);
        Ok(id)
    }

    /// The node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The type of a node.
    pub fn ty(&self, id: NodeId) -> &Type {
        &self.nodes[id.0 as usize].ty
    }

    /// Where the user wrote it.
    pub fn origin(&self, id: NodeId) -> Origin {
        self.origins[id.0 as usize]
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// For each node whether one of `roots` needs it; roots that do not exist need nothing.
    pub fn reachable(&self, roots: &[NodeId]) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        for root in roots {
            if let Some(place) = needed.get_mut(root.0 as usize) {
                *place = true;
            }
        }
        for (position, node) in self.nodes.iter().enumerate().rev() {
            if needed[position] {
                node.inputs.iter().for_each(|input| needed[input.0 as usize] = true);
            }
        }
        needed
    }

    /// All nodes in topological order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }
}
