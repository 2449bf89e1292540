//! Sub-graphs put into a graph.

use super::{Graph, NodeId, Op};
use crate::diag::Bug;

impl Graph {
    /// The outputs of a sub-graph for its inputs, computed by nodes of this graph.
    pub fn splice(&mut self, body: &Graph, inputs: &[NodeId]) -> Result<Vec<NodeId>, Bug> {
        let lost = |id: NodeId| Bug::new("graph", format!("{id:?} of a sub-graph is not there"));
        let needed = body.reachable(&body.outputs);
        let mut image: Vec<Option<NodeId>> = vec![None; body.len()];
        for id in body.ids().filter(|id| needed[id.0 as usize]) {
            let node = body.node(id);
            image[id.0 as usize] = Some(match &node.op {
                Op::Input(position) => *inputs.get(*position as usize).ok_or_else(|| lost(id))?,
                op => {
                    let operands =
                        node.inputs.iter().map(|input| image[input.0 as usize].ok_or_else(|| lost(*input)));
                    self.add(op.clone(), &operands.collect::<Result<Vec<_>, Bug>>()?, body.origin(id))?
                }
            });
        }
        body.outputs.iter().map(|output| image[output.0 as usize].ok_or_else(|| lost(*output))).collect()
    }
}
