//! Scans put together from a body whose inputs stand in any order.

use std::sync::Arc;

use super::ops::scan::Scan;
use super::{Graph, NodeId, Op};
use crate::diag::Bug;
use crate::dim::Dim;

/// What an input of a body stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A carry: its first value outside, and what it becomes in the body.
    Carry {
        /// Outside.
        first: NodeId,
        /// In the body.
        next: NodeId,
    },
    /// A slice of a tensor.
    Slice(NodeId),
    /// A value from outside.
    Capture(NodeId),
    /// The number of the step.
    Number,
    /// Nothing that is read.
    Unused,
}

/// One step of a scan that is being made.
pub(crate) struct Step<'a> {
    /// The number of steps.
    pub(crate) count: &'a Dim,
    /// Whether the last comes first.
    pub(crate) reverse: bool,
    /// What it computes.
    pub(crate) body: &'a Graph,
    /// One for each input of the body.
    pub(crate) parts: &'a [Part],
    /// Nodes of the body that are read from an input instead.
    pub(crate) taped: &'a [(NodeId, usize)],
}

/// What a step gives beside the next carries.
#[derive(Default)]
pub(crate) struct Outputs<'a> {
    /// What is stacked.
    pub(crate) stacks: &'a [NodeId],
    /// Whether the step is taken at all.
    pub(crate) condition: Option<NodeId>,
    /// The number of steps, a node outside.
    pub(crate) steps: Option<NodeId>,
}

impl Step<'_> {
    /// The scan with all carries of the parts, in their order, and what it stacks.  What the body does not read is
    /// left out.  Gives the operator and its operands.
    pub(crate) fn assemble(&self, outputs: &Outputs<'_>) -> Result<(Op, Vec<NodeId>), Bug> {
        let nexts = self.parts.iter().filter_map(Part::next);
        let results: Vec<NodeId> =
            nexts.chain(outputs.stacks.iter().copied()).chain(outputs.condition).collect();
        let needed = self.needed(&results);
        let order = self.order(&needed);
        let mut body = Graph::new(
            self.body.facts.clone(),
            order.iter().map(|input| self.body.inputs[*input].clone()).collect(),
        );
        let mut image: Vec<Option<NodeId>> = vec![None; self.body.len()];
        for id in self.body.ids().filter(|id| needed[id.0 as usize]) {
            let lost = || Bug::new("graph", format!("{id:?} of a step reads what is not there"));
            let (op, inputs) = match self.source(id) {
                Some(input) => {
                    let position = order.iter().position(|other| *other == input).ok_or_else(lost)?;
                    (Op::Input(position as u32), Vec::new())
                }
                None => {
                    let node = self.body.node(id);
                    let inputs = node.inputs.iter().map(|input| image[input.0 as usize]);
                    (node.op.clone(), inputs.collect::<Option<Vec<_>>>().ok_or_else(lost)?)
                }
            };
            image[id.0 as usize] = Some(body.add(op, &inputs, self.body.origin(id))?);
        }
        let lost = || Bug::new("graph", "a step lacks an output");
        body.outputs =
            results.iter().map(|id| image[id.0 as usize].ok_or_else(lost)).collect::<Result<_, _>>()?;
        let mut operands: Vec<NodeId> =
            order.iter().filter_map(|input| self.parts[*input].outside()).collect();
        operands.extend(outputs.steps);
        let carries = results.len() - outputs.stacks.len() - usize::from(outputs.condition.is_some());
        let slices = order.iter().filter(|input| matches!(self.parts[**input], Part::Slice(_))).count();
        let scan = Scan {
            body: Arc::new(body),
            count: self.count.clone(),
            carries,
            slices,
            reverse: self.reverse,
            conditional: outputs.condition.is_some(),
            counted: outputs.steps.is_some(),
        };
        Ok((Op::Scan(scan), operands))
    }

    /// The input that a node is, or is read from.
    fn source(&self, id: NodeId) -> Option<usize> {
        match (self.taped.iter().find(|(node, _)| *node == id), &self.body.node(id).op) {
            (Some((_, input)), _) => Some(*input),
            (None, Op::Input(input)) => Some(*input as usize),
            _ => None,
        }
    }

    /// Which nodes of the body are needed; what is read from an input needs nothing.
    fn needed(&self, results: &[NodeId]) -> Vec<bool> {
        let mut needed = vec![false; self.body.len()];
        results.iter().for_each(|result| needed[result.0 as usize] = true);
        for id in self.body.ids().rev() {
            if needed[id.0 as usize] && self.source(id).is_none() {
                self.body.node(id).inputs.iter().for_each(|input| needed[input.0 as usize] = true);
            }
        }
        needed
    }

    /// Which inputs the results depend on.
    pub(crate) fn inputs_of(&self, results: &[NodeId]) -> Vec<bool> {
        self.read(&self.needed(results))
    }

    /// Which inputs the nodes read that are needed.
    fn read(&self, needed: &[bool]) -> Vec<bool> {
        let mut read = vec![false; self.parts.len()];
        for id in self.body.ids().filter(|id| needed[id.0 as usize]) {
            if let Some(input) = self.source(id) {
                read[input] = true;
            }
        }
        read
    }

    /// The inputs that are kept, as a scan has them: all carries, the slices and captures that are read, the number
    /// of the step.
    fn order(&self, needed: &[bool]) -> Vec<usize> {
        let read = self.read(needed);
        let all = |wanted: fn(&Part) -> bool, always: bool| {
            let read = &read;
            let parts = self.parts.iter().enumerate();
            parts
                .filter(move |(input, part)| wanted(part) && (always || read[*input]))
                .map(|(input, _)| input)
        };
        let carries = all(|part| matches!(part, Part::Carry { .. }), true);
        let slices = all(|part| matches!(part, Part::Slice(_)), false);
        let captures = all(|part| matches!(part, Part::Capture(_)), false);
        carries.chain(slices).chain(captures).chain(all(|part| matches!(part, Part::Number), true)).collect()
    }
}

impl Part {
    /// What a carry becomes.
    pub(crate) fn next(&self) -> Option<NodeId> {
        match self {
            Part::Carry { next, .. } => Some(*next),
            _ => None,
        }
    }

    /// What it stands for outside.
    pub(crate) fn outside(&self) -> Option<NodeId> {
        match self {
            Part::Carry { first: outside, .. } | Part::Slice(outside) | Part::Capture(outside) => {
                Some(*outside)
            }
            Part::Number | Part::Unused => None,
        }
    }
}
