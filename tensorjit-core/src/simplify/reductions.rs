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
    equation: "reduce over axes of extent 1 = without these axes, where no order of floats changes",
    apply: unit,
}];

fn unit(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let (Op::Reduce(reduce), [x]) = (op, inputs) else { return Ok(None) };
    let ty = rewriter.ty(*x).clone();
    let is_unit = |axis: &usize| ty.shape[*axis].is(1);
    // Which axis is last decides how floats are folded, so that none goes while others are folded; and the sum
    // of one -0 is +0, as it adds to the sum of nothing.
    let keeps_bits =
        !ty.dtype.is_float() || (reduce.kind != ReduceKind::Sum && reduce.axes.iter().all(is_unit));
    if !keeps_bits || !reduce.axes.iter().any(is_unit) {
        return Ok(None);
    }
    let kept: Vec<usize> =
        (0..ty.rank()).filter(|axis| !(is_unit(axis) && reduce.axes.contains(axis))).collect();
    let axes: Vec<usize> = (0..kept.len()).filter(|axis| reduce.axes.contains(&kept[*axis])).collect();
    let shape = kept.iter().map(|axis| ty.shape[*axis].clone()).collect();
    let reshaped = rewriter.make(Op::Reshape(Reshape { shape }), &[*x])?;
    if axes.is_empty() {
        return Ok(Some(reshaped));
    }
    rewriter.make(Op::Reduce(Reduce { kind: reduce.kind, axes }), &[reshaped]).map(Some)
}
