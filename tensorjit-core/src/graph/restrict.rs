//! A graph for some of the values of its symbols only.

use std::sync::Arc;

use super::ops::{pad::PadAxis, slice::Range};
use super::{Graph, NodeId, Op};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Condition;

impl Graph {
    /// The same computation where the conditions hold: they are facts, and every dimension has the form that
    /// follows from them, so that a symbol which they make constant is a constant.
    ///
    /// The graph is a simplified one.
    pub fn restrict(&self, conditions: &[Condition]) -> Result<Graph, Bug> {
        let mut facts = self.facts.clone();
        facts.conditions.extend_from_slice(conditions);
        for index in 0..facts.symbols.len() {
            let (low, high) = facts.range(&Dim::sym(crate::dim::Sym(index as u32)));
            let symbol = &mut facts.symbols[index];
            symbol.low = low.map_or(symbol.low, |low| low.max(symbol.low));
            symbol.high = high.map_or(symbol.high, |high| high.min(symbol.high));
        }
        let form = |dim: &Dim| facts.normalize(dim);
        let mut inputs = self.inputs.clone();
        for input in &mut inputs {
            input.ty.shape.iter_mut().for_each(|extent| *extent = form(extent));
        }
        let mut graph = Graph::new(facts.clone(), inputs);
        let mut new: Vec<NodeId> = Vec::with_capacity(self.len());
        for id in self.ids() {
            let node = self.node(id);
            let operands: Vec<NodeId> = node.inputs.iter().map(|input| new[input.0 as usize]).collect();
            let mut op = node.op.with_dims(&form)?;
            if let Op::Scan(scan) = &mut op {
                scan.body = Arc::new(scan.body.restrict(conditions)?);
            }
            new.push(graph.add(op, &operands, self.origin(id))?);
        }
        graph.outputs = self.outputs.iter().map(|output| new[output.0 as usize]).collect();
        Ok(graph)
    }
}

impl Op {
    /// The operator with other forms of its dimensions.
    fn with_dims(&self, form: &dyn Fn(&Dim) -> Dim) -> Result<Op, Bug> {
        let mut op = self.clone();
        let all = |dims: &mut [Dim]| dims.iter_mut().for_each(|dim| *dim = form(dim));
        match &mut op {
            Op::DimValue(op) => op.0 = form(&op.0),
            Op::Iota(op) => op.extent = form(&op.extent),
            Op::Broadcast(op) => all(&mut op.shape),
            Op::Reshape(op) => all(&mut op.shape),
            Op::Slice(op) => {
                for Range { start, len, .. } in &mut op.ranges {
                    (*start, *len) = (form(start), form(len));
                }
            }
            Op::Pad(op) => {
                for PadAxis { low, extent, .. } in &mut op.axes {
                    (*low, *extent) = (form(low), form(extent));
                }
            }
            Op::Window(op) => op.extent = form(&op.extent),
            Op::Gather(op) => op.indexing.with_dims(form),
            Op::Scatter(op) => op.indexing.with_dims(form),
            Op::Scan(op) => op.count = form(&op.count),
            Op::Input(_)
            | Op::Constant(_)
            | Op::Elementwise(_)
            | Op::Permute(_)
            | Op::Concat(_)
            | Op::Reduce(_)
            | Op::ArgReduce(_)
            | Op::Contract(_)
            | Op::Cumulate(_)
            | Op::Sort(_)
            | Op::Cholesky(_)
            | Op::TriangularSolve(_)
            | Op::Solve(_)
            | Op::Determinant(_)
            | Op::Lu(_)
            | Op::Output(_)
            | Op::Variable(_)
            | Op::StopGradient => {}
            Op::Derivative(_) | Op::Custom(_) | Op::CustomTangent(_) | Op::Placeholder(_) => {
                return Err(Bug::new("graph", "only a simplified graph is restricted"));
            }
        }
        Ok(op)
    }
}
