//! Whether nodes are linear in others, so that they can be transposed.

use std::collections::BTreeMap;

use super::ops::constant::Constant;
use super::ops::cumulate::Running;
use super::ops::derivative::Derivative;
use super::ops::reduce::ReduceKind;
use super::ops::scan::{Output, Scan};
use super::ops::scatter::Combine;
use super::table::{Ew, row};
use super::{Graph, NodeId, Op};

impl Graph {
    /// The first node by which `outputs` are not linear in the marked nodes; an output that does not depend on them
    /// is zero.
    pub fn first_nonlinear(&self, outputs: &[NodeId], marked: &dyn Fn(NodeId) -> bool) -> Option<NodeId> {
        let depends = self.depending(marked);
        let constant = |output: &&NodeId| !depends[output.0 as usize] && !self.is_zero(**output);
        self.nonlinear_node(outputs, marked, &depends).or_else(|| outputs.iter().find(constant).copied())
    }

    /// The first node that an output needs and that depends on marked nodes otherwise than linearly.
    fn nonlinear_node(
        &self,
        outputs: &[NodeId],
        marked: &dyn Fn(NodeId) -> bool,
        depends: &[bool],
    ) -> Option<NodeId> {
        let needed = self.reachable(outputs);
        let of = |input: &NodeId| depends[input.0 as usize];
        self.ids().find(|id| {
            let inputs = &self.node(*id).inputs;
            needed[id.0 as usize]
                && !marked(*id)
                && inputs.iter().any(of)
                && !self.is_linear(*id, &|position| of(&inputs[position]))
        })
    }

    /// Which nodes depend on the marked ones.  A scan does if any of its results does.
    fn depending(&self, marked: &dyn Fn(NodeId) -> bool) -> Vec<bool> {
        let mut depends = vec![false; self.len()];
        let mut scans: BTreeMap<NodeId, Vec<bool>> = BTreeMap::new();
        for id in self.ids() {
            let node = self.node(id);
            let of = |position: usize| depends[node.inputs[position].0 as usize];
            let any = (0..node.inputs.len()).any(of);
            depends[id.0 as usize] = match &node.op {
                Op::Output(Output(result)) if any && scans.contains_key(&node.inputs[0]) => {
                    scans[&node.inputs[0]][*result]
                }
                Op::Scan(scan) if any => {
                    let inside = scan.depending(&scan.reached(node.inputs.len(), &of));
                    scans.insert(id, scan.body.outputs.iter().map(|id| inside[id.0 as usize]).collect());
                    true
                }
                _ => any || marked(id),
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
            // Its results are those of its body, which are linear or not.
            Op::Custom(op) => !op.reverse,
            _ => false,
        }
    }

    /// Whether a scan is one that can be transposed: each step is linear, and what is carried is linear too and
    /// begins with zeros.
    fn is_linear_scan(&self, scan: &Scan, inputs: &[NodeId], marked: &dyn Fn(usize) -> bool) -> bool {
        let inside = scan.reached(inputs.len(), marked);
        let carries = |carry: usize| inside[carry] && (marked(carry) || self.is_zero(inputs[carry]));
        (0..scan.carries).all(carries)
            && !scan.conditional
            && !(scan.counted && marked(inputs.len() - 1))
            && scan.is_linear(&inside)
    }

    /// Whether a node is the constant zero, moved at most.
    fn is_zero(&self, id: NodeId) -> bool {
        let node = self.node(id);
        match &node.op {
            Op::Constant(constant) => *constant == Constant::zero(node.ty.dtype),
            Op::Broadcast(_)
            | Op::Permute(_)
            | Op::Reshape(_)
            | Op::Slice(_)
            | Op::Pad(_)
            | Op::Concat(_)
            | Op::Variable(_) => node.inputs.iter().all(|input| self.is_zero(*input)),
            _ => false,
        }
    }
}

impl Scan {
    /// Which inputs of the body depend on the operands that are marked: carries may do so after some steps.
    fn reached(&self, operands: usize, marked: &dyn Fn(usize) -> bool) -> Vec<bool> {
        let steps = operands - usize::from(self.counted);
        let mut reached: Vec<bool> =
            (0..self.body.inputs.len()).map(|position| position < steps && marked(position)).collect();
        loop {
            let depends = self.depending(&reached);
            let new = |carry: &usize| !reached[*carry] && depends[self.body.outputs[*carry].0 as usize];
            let Some(carry) = (0..self.carries).find(new) else { return reached };
            reached[carry] = true;
        }
    }

    /// Which nodes of the body depend on the inputs that are marked.
    fn depending(&self, inputs: &[bool]) -> Vec<bool> {
        self.body.depending(&|id| self.is_marked(id, inputs))
    }

    /// Whether a step is linear in the inputs that are marked.
    fn is_linear(&self, inputs: &[bool]) -> bool {
        let marked = |id| self.is_marked(id, inputs);
        self.body.nonlinear_node(&self.body.outputs, &marked, &self.depending(inputs)).is_none()
    }

    fn is_marked(&self, id: NodeId, inputs: &[bool]) -> bool {
        matches!(self.body.node(id).op, Op::Input(position) if inputs[position as usize])
    }
}
