//! A sub-graph applied to explicit captures.

use std::sync::Arc;

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::{Graph, NodeId, Op, Type};

/// Result `output` of the body; its inputs are bound to the operands in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Region {
    /// The body; its symbols are those of the outer graph.
    pub body: Arc<Graph>,
    /// Which of its outputs.
    pub output: usize,
}

/// Adds a node to the graph that takes a body in.
pub type Add<'a> = dyn FnMut(Op, &[NodeId]) -> Result<NodeId, Bug> + 'a;

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

    /// Builds the nodes of the body that the result needs by `add`, bound to `captures`, and gives the result.
    pub fn inline(&self, captures: &[NodeId], add: &mut Add<'_>) -> Result<NodeId, Bug> {
        let result = self.result()?;
        let needed = self.body.reachable(&[result]);
        let mut image: Vec<Option<NodeId>> = vec![None; self.body.len()];
        for id in self.body.ids().filter(|id| needed[id.0 as usize]) {
            let node = self.body.node(id);
            let lost = || Bug::new("graph", format!("region: an operand of {id:?} is missing"));
            let new = match &node.op {
                Op::Input(i) => *captures.get(*i as usize).ok_or_else(lost)?,
                op => {
                    let operands = node.inputs.iter().map(|input| image[input.0 as usize]);
                    add(op.clone(), &operands.collect::<Option<Vec<_>>>().ok_or_else(lost)?)?
                }
            };
            image[id.0 as usize] = Some(new);
        }
        image[result.0 as usize].ok_or_else(|| Bug::new("graph", "region: the body has no result"))
    }
}
