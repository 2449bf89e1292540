//! A sub-graph applied to explicit captures.

use std::rc::Rc;

use crate::diag::{Bug, Origin};
use crate::dim::facts::Facts;
use crate::graph::{Graph, NodeId, Op, Type};

/// Result `output` of the body; its inputs are bound to the operands in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Region {
    /// The body; its symbols are those of the outer graph.
    pub body: Rc<Graph>,
    /// Which of its outputs.
    pub output: usize,
}

impl Region {
    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let alike = |declared: &Type, given: &Type| {
            declared.dtype == given.dtype
                && declared.rank() == given.rank()
                && declared.shape.iter().zip(&given.shape).all(|(a, b)| facts.same(a, b))
        };
        if inputs.len() != self.body.inputs.len() {
            let message = format!("region: {} captures for {} inputs", inputs.len(), self.body.inputs.len());
            return Err(Bug::new("graph", message));
        }
        for (declared, given) in self.body.inputs.iter().zip(inputs) {
            if !alike(&declared.ty, given) {
                let message = format!("region: the capture {} is of another type", declared.name);
                return Err(Bug::new("graph", message));
            }
        }
        Ok(self.body.ty(self.result()?).clone())
    }

    /// The node of the body that is the result.
    pub fn result(&self) -> Result<NodeId, Bug> {
        let output = self.body.outputs.get(self.output).copied();
        output.ok_or_else(|| Bug::new("graph", format!("region: the body has no output {}", self.output)))
    }

    /// Adds the nodes of the body that the result needs to `graph`, bound to `captures`, and gives the result.
    pub fn inline(&self, graph: &mut Graph, captures: &[NodeId], origin: Origin) -> Result<NodeId, Bug> {
        let result = self.result()?;
        let mut needed = vec![false; result.0 as usize + 1];
        needed[result.0 as usize] = true;
        for id in (0..=result.0).rev().map(NodeId) {
            if needed[id.0 as usize] {
                self.body.node(id).inputs.iter().for_each(|input| needed[input.0 as usize] = true);
            }
        }
        let mut image: Vec<Option<NodeId>> = vec![None; needed.len()];
        for id in self.body.ids().take(needed.len()).filter(|id| needed[id.0 as usize]) {
            let node = self.body.node(id);
            let lost = || Bug::new("graph", format!("region: an operand of {id:?} comes after it"));
            let new = match &node.op {
                Op::Input(i) => *captures.get(*i as usize).ok_or_else(lost)?,
                op => {
                    let operands = node.inputs.iter().map(|input| image[input.0 as usize]);
                    let operands = operands.collect::<Option<Vec<_>>>().ok_or_else(lost)?;
                    graph.add(op.clone(), &operands, origin)?
                }
            };
            image[id.0 as usize] = Some(new);
        }
        image[result.0 as usize].ok_or_else(|| Bug::new("graph", "region: the body has no result"))
    }
}
