//! Reductions.

use super::Rule;
use super::rewriter::Rewriter;
use crate::diag::Bug;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::reshape::Reshape;
use crate::graph::{NodeId, Op};

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[Rule {
    name: "reduce_unit",
    equation: "reduce over axes of extent 1 = without these axes; a sum keeps one, as it adds to +0",
    apply: unit,
}];

fn unit(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let (Op::Reduce(reduce), [x]) = (op, inputs) else { return Ok(None) };
    let ty = rewriter.ty(*x).clone();
    let mut dropped: Vec<usize> = reduce.axes.iter().copied().filter(|axis| ty.shape[*axis].is(1)).collect();
    // The sum of one -0 is +0: the operator adds to the sum of no elements.
    if reduce.kind == ReduceKind::Sum && ty.dtype.is_float() && dropped.len() == reduce.axes.len() {
        dropped.pop();
    }
    if dropped.is_empty() {
        return Ok(None);
    }
    let kept: Vec<usize> = (0..ty.rank()).filter(|axis| !dropped.contains(axis)).collect();
    let axes = (0..kept.len()).filter(|axis| reduce.axes.contains(&kept[*axis])).collect::<Vec<_>>();
    let shape = kept.iter().map(|axis| ty.shape[*axis].clone()).collect();
    let reshaped = rewriter.make(Op::Reshape(Reshape { shape }), &[*x])?;
    match axes.is_empty() {
        true => Ok(Some(reshaped)),
        false => rewriter.make(Op::Reduce(Reduce { kind: reduce.kind, axes }), &[reshaped]).map(Some),
    }
}
