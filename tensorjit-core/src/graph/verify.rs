//! What must hold of a graph after every stage.

use super::{Graph, NodeId, Op, op};
use crate::diag::Bug;

/// Infers every node again, and checks that operands come before their users and that outputs exist.
///
/// `stage` is the stage that made the graph.
pub fn verify(graph: &Graph, stage: &'static str) -> Result<(), Bug> {
    let bug = |message: String| Err(Bug::new(stage, message));
    for id in graph.ids() {
        let node = graph.node(id);
        if let Some(input) = node.inputs.iter().find(|input| **input >= id) {
            return bug(format!("{id:?} comes before its operand {input:?}"));
        }
        let ty = op::infer(graph, &node.op, &node.inputs)?;
        if ty != node.ty {
            return bug(format!("the type of {} is not the inferred {ty:?}", graph.show_node(id)));
        }
        if let Some(body) = node.op.body() {
            verify(body, stage)?;
        }
    }
    match graph.outputs.iter().find(|NodeId(output)| *output as usize >= graph.len()) {
        Some(output) => bug(format!("the output {output:?} does not exist")),
        None => Ok(()),
    }
}

/// Checks that no derivative and no rule for one is left, which no stage after autodiff knows.
pub fn verify_differentiated(graph: &Graph, stage: &'static str) -> Result<(), Bug> {
    for id in graph.ids() {
        match &graph.node(id).op {
            Op::Derivative(_) | Op::Custom(_) | Op::CustomTangent(_) | Op::Placeholder(_) => {
                return Err(Bug::new(
                    stage,
                    format!("this should have been replaced: {}", graph.show_node(id)),
                ));
            }
            Op::Scan(scan) => verify_differentiated(&scan.body, stage)?,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tensorjit_runtime::abi::DType;

    use super::*;
    use crate::diag::Origin;
    use crate::dim::Dim;
    use crate::dim::facts::Facts;
    use crate::graph::ops::permute::Permute;
    use crate::graph::{Input, Type};

    fn graph() -> Graph {
        let ty = Type::new(DType::F32, [Dim::constant(2), Dim::constant(3)]);
        let mut graph = Graph::new(Facts::default(), vec![Input { name: "x".into(), ty }]);
        let x = graph.add(Op::Input(0), &[], Origin(0)).unwrap();
        let y = graph.add(Op::Permute(Permute { axes: vec![1, 0] }), &[x], Origin(0)).unwrap();
        graph.outputs = vec![y];
        graph
    }

    #[test]
    fn what_does_not_hold_is_found() {
        assert_eq!(verify(&graph(), "test"), Ok(()));
        let mut lost = graph();
        lost.outputs.push(NodeId(2));
        assert!(verify(&lost, "test").unwrap_err().message.contains("does not exist"));
        let mut mistyped = graph();
        mistyped.nodes[1].ty = mistyped.nodes[0].ty.clone();
        assert!(verify(&mistyped, "test").unwrap_err().message.contains("not the inferred"));
        let mut cyclic = graph();
        cyclic.nodes[1].inputs = vec![NodeId(1)];
        assert!(verify(&cyclic, "test").unwrap_err().message.contains("before its operand"));
    }
}
