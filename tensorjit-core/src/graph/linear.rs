//! Whether the outputs of a sub-graph are linear in some of its inputs, so that they can be transposed.

use super::ops::constant::Constant;
use super::ops::cumulate::Running;
use super::ops::derivative::Derivative;
use super::ops::reduce::ReduceKind;
use super::ops::scan::Scan;
use super::ops::scatter::Combine;
use super::table::{Ew, row};
use super::{Graph, NodeId, Op};

impl Graph {
    /// The first node by which an output depends on the marked inputs otherwise than linearly.
    pub fn first_nonlinear(&self, marked: &[bool]) -> Option<NodeId> {
        let needed = self.reachable(&self.outputs);
        let depends = self.depending(marked);
        self.ids().find(|id| {
            let of = |input: &NodeId| depends[input.0 as usize];
            needed[id.0 as usize]
                && self.node(*id).inputs.iter().any(of)
                && !self.is_linear(*id, &|position| of(&self.node(*id).inputs[position]))
        })
    }

    /// Which nodes depend on the marked inputs.
    fn depending(&self, marked: &[bool]) -> Vec<bool> {
        let mut depends = vec![false; self.len()];
        for id in self.ids() {
            let node = self.node(id);
            depends[id.0 as usize] = match node.op {
                Op::Input(position) => marked.get(position as usize) == Some(&true),
                _ => node.inputs.iter().any(|input| depends[input.0 as usize]),
            };
        }
        depends
    }

    /// Whether a node is linear in all its operands that are marked, together, and zero where they are.
    fn is_linear(&self, id: NodeId, marked: &dyn Fn(usize) -> bool) -> bool {
        let inputs = &self.node(id).inputs;
        let last = inputs.len().saturating_sub(1);
        let only = |position: usize| (0..inputs.len()).all(|other| other == position || !marked(other));
        let gone = |position: usize| marked(position) || self.is_zero(inputs[position]);
        match &self.node(id).op {
            Op::Elementwise(Ew::Mul | Ew::Dmul) => !(marked(0) && marked(1)),
            Op::Elementwise(Ew::Div) => only(0),
            Op::Elementwise(ew) => match &ew.row().derivative {
                row::Derivative::Linear { operands, .. } => {
                    (0..inputs.len()).all(|position| !marked(position) || operands.contains(&position))
                        && operands.iter().all(|position| gone(*position))
                }
                _ => false,
            },
            Op::Broadcast(_)
            | Op::Permute(_)
            | Op::Reshape(_)
            | Op::Slice(_)
            | Op::Variable(_)
            | Op::Output(_) => true,
            Op::Pad(_) | Op::Window(_) | Op::Concat(_) => (0..inputs.len()).all(gone),
            Op::Reduce(op) => op.kind == ReduceKind::Sum,
            Op::Contract(_) => !(marked(0) && marked(1)),
            Op::Cumulate(op) => match op.fold {
                Running::Sum => true,
                Running::Linear => only(1),
                _ => false,
            },
            Op::Gather(_) => only(0),
            Op::Scatter(op) => {
                matches!(op.combine, Combine::Add | Combine::Set)
                    && (1..last).all(|index| !marked(index))
                    && gone(0)
                    && gone(last)
            }
            Op::TriangularSolve(_) | Op::Solve(_) => only(1),
            Op::Derivative(Derivative::Vjp | Derivative::Jvp | Derivative::Hvp) => only(2),
            Op::Scan(scan) => self.is_linear_scan(scan, inputs, marked),
            _ => false,
        }
    }

    /// Whether every step is linear; carries that come to depend on what is marked begin with zeros.
    fn is_linear_scan(&self, scan: &Scan, inputs: &[NodeId], marked: &dyn Fn(usize) -> bool) -> bool {
        if scan.counted && marked(inputs.len() - 1) {
            return false;
        }
        let mut inside: Vec<bool> =
            (0..scan.body.inputs.len()).map(|position| position < inputs.len() && marked(position)).collect();
        loop {
            let depends = scan.body.depending(&inside);
            let reached = |carry: &usize| !inside[*carry] && depends[scan.body.outputs[*carry].0 as usize];
            let Some(carry) = (0..scan.carries).find(reached) else {
                let stays = !scan.conditional
                    || scan.body.outputs.last().is_none_or(|condition| !depends[condition.0 as usize]);
                return stays && scan.body.first_nonlinear(&inside).is_none();
            };
            if !self.is_zero(inputs[carry]) {
                return false;
            }
            inside[carry] = true;
        }
    }

    /// Whether a node is the constant zero, moved at most.
    fn is_zero(&self, id: NodeId) -> bool {
        let node = self.node(id);
        match &node.op {
            Op::Constant(constant) => *constant == Constant::zero(node.ty.dtype),
            Op::Broadcast(_) | Op::Permute(_) | Op::Reshape(_) | Op::Slice(_) | Op::Variable(_) => {
                node.inputs.first().is_some_and(|input| self.is_zero(*input))
            }
            _ => false,
        }
    }
}
