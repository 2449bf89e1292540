//! A graph without what its outputs do not need.

use super::{Graph, NodeId, Op};
use crate::diag::Bug;

impl Graph {
    /// The graph of what the outputs need, with those inputs that are kept.
    pub fn prune(&self, kept: &[bool]) -> Result<Graph, Bug> {
        let is_kept = |position: usize| kept.get(position).copied().unwrap_or(false);
        let inputs = self.inputs.iter().enumerate().filter(|(i, _)| is_kept(*i));
        let mut new = Graph::new(self.facts.clone(), inputs.map(|(_, input)| input.clone()).collect());
        let live = self.reachable(&self.outputs);
        let mut image: Vec<Option<NodeId>> = vec![None; self.len()];
        for id in self.ids().filter(|id| live[id.0 as usize]) {
            let node = self.node(id);
            let op = match &node.op {
                Op::Input(i) if !is_kept(*i as usize) => {
                    return Err(Bug::new("graph", format!("a result still reads input {i}")));
                }
                Op::Input(i) => {
                    Op::Input((0..*i as usize).filter(|position| is_kept(*position)).count() as u32)
                }
                op => op.clone(),
            };
            let inputs: Option<Vec<NodeId>> =
                node.inputs.iter().map(|input| image[input.0 as usize]).collect();
            let inputs =
                inputs.ok_or_else(|| Bug::new("graph", format!("{id:?} stands before its operand")))?;
            image[id.0 as usize] = Some(new.add(op, &inputs, self.origin(id))?);
        }
        let outputs: Option<Vec<NodeId>> =
            self.outputs.iter().map(|output| image[output.0 as usize]).collect();
        new.outputs = outputs.ok_or_else(|| Bug::new("graph", "an output was not built"))?;
        Ok(new)
    }
}
