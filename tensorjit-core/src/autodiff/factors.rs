//! Elementwise code that depends on one value in several ways: `x * sigmoid(x)`, say.
//!
//! There the tangent is that of the value times one number for each element, which does not depend on tangents: it
//! is found first, as the tangent for tangents of one, and multiplies once.  Backwards the cotangent then meets one
//! factor, which is computed where the value was, in place of everything that the factor is made of.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::Flow;
use super::rules;
use crate::diag::{Bug, Failure};
use crate::graph::ops::site::Site;
use crate::graph::table::Ew;
use crate::graph::table::formula::Formula;
use crate::graph::table::row::Derivative;
use crate::graph::{Graph, NodeId, Op};

/// What is known of the nodes that have tangents.
#[derive(Default)]
pub(super) struct Factors {
    /// For each node the value whose elements its own elements depend on smoothly, each on one.
    bases: BTreeMap<NodeId, NodeId>,
    /// The derivative of a node by its base.
    found: BTreeMap<NodeId, NodeId>,
}

impl Factors {
    /// Takes note of a node that has tangents among its operands: its base is theirs, where they have one.
    pub(super) fn enter(&mut self, graph: &Graph, id: NodeId, tangents: &[Option<NodeId>]) {
        let base_of = |input| self.bases.get(&input).copied().unwrap_or(input);
        let mut bases = moving(graph, id, tangents).map(base_of);
        let first = bases.next();
        let shared = first.filter(|first| bases.all(|base| base == *first) && is_smooth(graph, id, tangents));
        self.bases.insert(id, shared.unwrap_or(id));
    }

    /// Makes a node the base of what follows.
    pub(super) fn begin(&mut self, id: NodeId) {
        self.bases.insert(id, id);
    }

    /// The value on which a node depends through several operands, which are not all that value.
    pub(super) fn joined(&self, graph: &Graph, id: NodeId, tangents: &[Option<NodeId>]) -> Option<NodeId> {
        let base = *self.bases.get(&id)?;
        let moving = || moving(graph, id, tangents);
        (base != id && moving().count() > 1 && moving().any(|input| input != base)).then_some(base)
    }

    /// The derivative of a node by its base; `None` is zero.
    pub(super) fn factor(
        &mut self,
        graph: &mut Graph,
        id: NodeId,
        flow: &mut Flow,
    ) -> Result<Option<NodeId>, Failure> {
        let base = *self.bases.get(&id).ok_or_else(|| Bug::new("autodiff", "a factor has no base"))?;
        let ty = graph.ty(base).clone();
        let origin = graph.origin(base);
        let ones = Site { graph, node: base, inputs: &[], origin }.full(&ty, 1.0)?;
        for node in self.between(graph, base, id) {
            let inputs = graph.node(node).inputs.clone();
            let factors: Vec<Option<NodeId>> =
                inputs.iter().map(|input| self.of(*input, base, ones)).collect();
            // What does not move with any of its operands has none: `copysign(1, x)`.
            if factors.iter().any(Option::is_some)
                && let Some(factor) = rules::linearize(graph, node, &factors, flow)?
            {
                self.found.insert(node, factor);
            }
        }
        Ok(self.found.get(&id).copied())
    }

    /// What is already known of the derivative of a node by a base: none where it does not depend on it.
    fn of(&self, node: NodeId, base: NodeId, ones: NodeId) -> Option<NodeId> {
        if node == base { Some(ones) } else { self.found.get(&node).copied() }
    }

    /// The nodes from a base, which is left out, to a node whose factors have not been found, in order.
    fn between(&self, graph: &Graph, base: NodeId, id: NodeId) -> BTreeSet<NodeId> {
        let (mut found, mut next) = (BTreeSet::new(), vec![id]);
        while let Some(node) = next.pop() {
            let begins = node == base || self.bases.get(&node) != Some(&base);
            if !begins && !self.found.contains_key(&node) && found.insert(node) {
                next.extend(&graph.node(node).inputs);
            }
        }
        found
    }
}

/// The operands that have tangents.
fn moving(graph: &Graph, id: NodeId, tangents: &[Option<NodeId>]) -> impl Iterator<Item = NodeId> {
    let inputs = graph.node(id).inputs.iter().zip(tangents);
    inputs.filter(|(_, tangent)| tangent.is_some()).map(|(input, _)| *input)
}

/// Whether each element is a smooth function of the elements of the operands: a choice between tangents, which hides
/// one of them whatever it is, cannot be made of factors.
fn is_smooth(graph: &Graph, id: NodeId, tangents: &[Option<NodeId>]) -> bool {
    let node = graph.node(id);
    let Op::Elementwise(row) = &node.op else { return false };
    let rules = match row.row().derivative {
        Derivative::Partials(rules) => rules(),
        Derivative::Linear { transpose, .. } => transpose(),
        Derivative::StrongProduct | Derivative::Zero(_) | Derivative::None(_) => return false,
    };
    let same_type = moving(graph, id, tangents).all(|input| graph.ty(input).dtype == node.ty.dtype);
    same_type && !rules.iter().any(chooses)
}

fn chooses(rule: &Formula) -> bool {
    match rule {
        Formula::Call(row, operands) => *row == Ew::Select || operands.iter().any(chooses),
        Formula::Arg(_) | Formula::Out | Formula::Const(_) => false,
    }
}
