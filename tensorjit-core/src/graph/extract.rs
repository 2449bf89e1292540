//! Sub-graphs as they are read: the body of a loop, and the side of a branch.
//!
//! To a loop belongs what depends on its placeholders, so that all else is computed once; to a branch belongs what it
//! has made, so that it is computed only there.  The rest is captured, but numbers and movement are repeated inside,
//! where they cost nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::step::Part;
use super::{Graph, Input, NodeId, Op};
use crate::diag::Bug;

/// A body whose first inputs are the placeholders, followed by the captures.
pub(crate) struct Extract {
    /// Its outputs are the results.
    pub(crate) body: Graph,
    /// The captures.
    pub(crate) captures: Vec<Part>,
}

impl Extract {
    /// What of `results` depends on `placeholders`.
    pub(crate) fn depending(
        graph: &Graph,
        placeholders: &[NodeId],
        results: &[NodeId],
    ) -> Result<Extract, Bug> {
        Extract::of(graph, placeholders, results, &|id| placeholders.contains(&id))
    }

    /// What of `results` was made when the graph had `len` nodes already.
    pub(crate) fn made_since(graph: &Graph, len: usize, results: &[NodeId]) -> Result<Extract, Bug> {
        Extract::of(graph, &[], results, &|id| id.0 as usize >= len)
    }

    fn of(
        graph: &Graph,
        placeholders: &[NodeId],
        results: &[NodeId],
        belongs: &dyn Fn(NodeId) -> bool,
    ) -> Result<Extract, Bug> {
        let (inside, targets) = inside(graph, belongs, results);
        let inputs = placeholders.iter().map(|id| match &graph.node(*id).op {
            Op::Placeholder(op) => Input { name: op.name.clone(), ty: op.ty.clone() },
            _ => Input { name: String::new(), ty: graph.ty(*id).clone() },
        });
        let body = Graph::new(graph.facts.clone(), inputs.collect());
        let mut copier = Copier { graph, targets, image: BTreeMap::new(), body, captures: Vec::new() };
        for (position, id) in placeholders.iter().enumerate() {
            let input = copier.body.add(Op::Input(position as u32), &[], graph.origin(*id))?;
            copier.image.insert(*id, input);
        }
        for id in graph.ids().filter(|id| inside[id.0 as usize] && !placeholders.contains(id)) {
            let node = graph.node(id);
            let inputs =
                node.inputs.iter().map(|input| copier.value(*input)).collect::<Result<Vec<_>, _>>()?;
            let new = copier.body.add(node.op.clone(), &inputs, graph.origin(id))?;
            copier.image.insert(id, new);
        }
        copier.body.outputs = results.iter().map(|id| copier.value(*id)).collect::<Result<_, _>>()?;
        Ok(Extract { body: copier.body, captures: copier.captures })
    }
}

/// Which nodes belong to the body, and by which from outside derivatives are taken in it.
///
/// What lies between such a variable and its derivative belongs to the body too, so that the dependence is not lost.
fn inside(
    graph: &Graph,
    belongs: &dyn Fn(NodeId) -> bool,
    results: &[NodeId],
) -> (Vec<bool>, BTreeSet<NodeId>) {
    let needed = graph.reachable(results);
    let mut targets = BTreeSet::new();
    loop {
        let mut inside = vec![false; graph.len()];
        let mut found = targets.clone();
        for id in graph.ids().filter(|id| needed[id.0 as usize]) {
            let node = graph.node(id);
            let depends = |input: &NodeId| inside[input.0 as usize] || targets.contains(input);
            let is_inside = belongs(id) || node.inputs.iter().any(depends);
            inside[id.0 as usize] = is_inside;
            if let (true, Op::Derivative(_), Some(x)) = (is_inside, &node.op, node.inputs.get(1)) {
                found.insert(*x);
            }
        }
        if found == targets {
            return (inside, targets);
        }
        targets = found;
    }
}

struct Copier<'g> {
    graph: &'g Graph,
    targets: BTreeSet<NodeId>,
    image: BTreeMap<NodeId, NodeId>,
    body: Graph,
    captures: Vec<Part>,
}

impl Copier<'_> {
    /// What stands for a node in the body; its own nodes are there already.
    fn value(&mut self, id: NodeId) -> Result<NodeId, Bug> {
        if let Some(known) = self.image.get(&id) {
            return Ok(*known);
        }
        let node = self.graph.node(id);
        let repeated = matches!(
            node.op,
            Op::Constant(_)
                | Op::DimValue(_)
                | Op::Iota(_)
                | Op::Broadcast(_)
                | Op::Permute(_)
                | Op::Reshape(_)
                | Op::Slice(_)
        );
        let new = if repeated && !self.targets.contains(&id) {
            let inputs = node.inputs.iter().map(|input| self.value(*input)).collect::<Result<Vec<_>, _>>()?;
            self.body.add(node.op.clone(), &inputs, self.graph.origin(id))?
        } else {
            self.captures.push(Part::Capture(id));
            self.body.inputs.push(Input { name: "capture".to_owned(), ty: node.ty.clone() });
            let input = Op::Input(self.body.inputs.len() as u32 - 1);
            self.body.add(input, &[], self.graph.origin(id))?
        };
        self.image.insert(id, new);
        Ok(new)
    }
}
