//! Movement: compositions, movement that does nothing, and movement of constants.

use super::Rule;
use super::rewriter::Rewriter;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::pad::Pad;
use crate::graph::ops::permute::Permute;
use crate::graph::ops::slice::{Range, Slice};
use crate::graph::{Node, NodeId, Op};

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "move_constant",
        equation: "moved(broadcast(c)) = broadcast(c), where c is a constant and so is every fill",
        apply: constant,
    },
    Rule {
        name: "move_nothing",
        equation: "moved(x) = x, where every element stays in place",
        apply: nothing,
    },
    Rule {
        name: "broadcast_broadcast",
        equation: "broadcast(broadcast(x)) = broadcast(x)",
        apply: |rewriter, op, inputs| match (op, source(rewriter, inputs)) {
            (Op::Broadcast(outer), Some(Node { op: Op::Broadcast(inner), inputs, .. })) => {
                let axes = inner.axes.iter().map(|axis| outer.axes[*axis]).collect();
                moved(rewriter, Op::Broadcast(Broadcast { shape: outer.shape.clone(), axes }), inputs.clone())
            }
            _ => Ok(None),
        },
    },
    Rule {
        name: "permute_permute",
        equation: "permute(permute(x)) = permute(x)",
        apply: |rewriter, op, inputs| match (op, source(rewriter, inputs)) {
            (Op::Permute(outer), Some(Node { op: Op::Permute(inner), inputs, .. })) => {
                let axes = outer.axes.iter().map(|axis| inner.axes[*axis]).collect();
                moved(rewriter, Op::Permute(Permute { axes }), inputs.clone())
            }
            _ => Ok(None),
        },
    },
    Rule {
        name: "reshape_reshape",
        equation: "reshape(reshape(x)) = reshape(x)",
        apply: |rewriter, op, inputs| match (op, source(rewriter, inputs)) {
            (Op::Reshape(outer), Some(Node { op: Op::Reshape(_), inputs, .. })) => {
                moved(rewriter, Op::Reshape(outer.clone()), inputs.clone())
            }
            _ => Ok(None),
        },
    },
    Rule {
        name: "slice_slice",
        equation: "slice(slice(x)) = slice(x)",
        apply: |rewriter, op, inputs| match (op, source(rewriter, inputs)) {
            (Op::Slice(outer), Some(Node { op: Op::Slice(inner), inputs, .. })) => {
                let ranges = inner.ranges.iter().zip(&outer.ranges).map(|(inner, outer)| {
                    let step = inner.step.checked_mul(outer.step)?;
                    Some(Range { start: inner.index(&outer.start), step, len: outer.len.clone() })
                });
                match ranges.collect::<Option<Vec<_>>>() {
                    Some(ranges) => moved(rewriter, Op::Slice(Slice { ranges }), inputs.clone()),
                    None => Ok(None),
                }
            }
            _ => Ok(None),
        },
    },
    Rule {
        name: "slice_pad",
        equation: "slice(pad(x)) = x, where the slice takes just the elements of x",
        apply: |rewriter, op, inputs| match (op, source(rewriter, inputs)) {
            (Op::Slice(slice), Some(Node { op: Op::Pad(pad), inputs, .. })) => {
                Ok(inputs.first().copied().filter(|x| takes_padded(rewriter, slice, pad, *x)))
            }
            _ => Ok(None),
        },
    },
    Rule {
        name: "slice_concat",
        equation: "slice(concat(x, y)) = y, where the slice takes just y",
        apply: slice_concat,
    },
    Rule {
        name: "slice_broadcast",
        equation: "slice(broadcast(x)) = broadcast(slice(x)), repeated axes only shortened",
        apply: slice_broadcast,
    },
    Rule {
        name: "permute_broadcast",
        equation: "permute(broadcast(x)) = broadcast(x) over renamed axes, where they keep their order",
        apply: permute_broadcast,
    },
];

/// The node of the only or first operand.
fn source<'a>(rewriter: &'a Rewriter, inputs: &[NodeId]) -> Option<&'a Node> {
    inputs.first().map(|id| rewriter.node(*id))
}

fn moved(rewriter: &mut Rewriter, op: Op, inputs: Vec<NodeId>) -> Result<Option<NodeId>, Bug> {
    rewriter.make(op, &inputs).map(Some)
}

/// The shape of a movement's result; `None` where the operator is no movement.
fn shape_of(rewriter: &Rewriter, op: &Op, inputs: &[NodeId]) -> Option<Vec<Dim>> {
    let operand = &rewriter.ty(*inputs.first()?).shape;
    match op {
        Op::Broadcast(op) => Some(op.shape.clone()),
        Op::Permute(op) => Some(op.axes.iter().map(|axis| operand[*axis].clone()).collect()),
        Op::Reshape(op) => Some(op.shape.clone()),
        Op::Slice(op) => Some(op.ranges.iter().map(|range| range.len.clone()).collect()),
        Op::Pad(op) => Some(op.axes.iter().map(|axis| axis.extent.clone()).collect()),
        Op::Concat(op) => {
            let mut shape = operand.clone();
            for other in &inputs[1..] {
                shape[op.axis] = &shape[op.axis] + &rewriter.ty(*other).shape[op.axis];
            }
            Some(shape)
        }
        _ => None,
    }
}

fn constant(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let Some(first) = inputs.first() else { return Ok(None) };
    let Some(constant) = rewriter.constant(*first).cloned() else { return Ok(None) };
    // A broadcast of a scalar constant is what this rule makes.
    let is_normal = matches!(op, Op::Broadcast(_)) && rewriter.ty(*first).rank() == 0;
    if is_normal || !inputs[1..].iter().all(|other| rewriter.constant(*other) == Some(&constant)) {
        return Ok(None);
    }
    match shape_of(rewriter, op, inputs) {
        Some(shape) => rewriter.full(constant, &shape),
        None => Ok(None),
    }
}

fn nothing(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let Some(first) = inputs.first() else { return Ok(None) };
    let (shape, facts) = (&rewriter.ty(*first).shape, &rewriter.graph().facts);
    let rising = |axes: &[usize]| axes.iter().enumerate().all(|(i, axis)| i == *axis);
    let same =
        |other: &[Dim]| shape.len() == other.len() && shape.iter().zip(other).all(|(a, b)| facts.same(a, b));
    let stays = match op {
        Op::Broadcast(op) => same(&op.shape),
        Op::Permute(op) => rising(&op.axes),
        Op::Reshape(op) => same(&op.shape),
        Op::Slice(op) => op
            .ranges
            .iter()
            .zip(shape)
            .all(|(range, n)| range.start.is(0) && range.step == 1 && facts.same(&range.len, n)),
        Op::Pad(op) => op.axes.iter().zip(shape).all(|(axis, n)| axis.is_none(facts, n)),
        Op::Concat(_) => inputs.len() == 1,
        _ => false,
    };
    Ok(stays.then_some(*first))
}

fn takes_padded(rewriter: &Rewriter, slice: &Slice, pad: &Pad, x: NodeId) -> bool {
    let facts = &rewriter.graph().facts;
    let axes = slice.ranges.iter().zip(&pad.axes).zip(&rewriter.ty(x).shape);
    axes.into_iter().all(|((range, axis), n)| {
        range.start == axis.low && range.step - 1 == axis.gap && facts.same(&range.len, n)
    })
}

fn slice_concat(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let (Op::Slice(slice), Some(Node { op: Op::Concat(concat), inputs: parts, ty })) =
        (op, source(rewriter, inputs))
    else {
        return Ok(None);
    };
    let facts = &rewriter.graph().facts;
    let others_full = slice.ranges.iter().zip(&ty.shape).enumerate().all(|(axis, (range, n))| {
        axis == concat.axis || (range.start.is(0) && range.step == 1 && facts.same(&range.len, n))
    });
    let range = &slice.ranges[concat.axis];
    if !others_full || range.step != 1 {
        return Ok(None);
    }
    let mut start = Dim::default();
    for part in parts {
        let n = &rewriter.ty(*part).shape[concat.axis];
        if facts.same(&start, &range.start) && facts.same(n, &range.len) {
            return Ok(Some(*part));
        }
        start = &start + n;
    }
    Ok(None)
}

fn slice_broadcast(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let (Op::Slice(slice), Some(Node { op: Op::Broadcast(broadcast), inputs: operand, .. })) =
        (op, source(rewriter, inputs))
    else {
        return Ok(None);
    };
    let Some(x) = operand.first().copied() else { return Ok(None) };
    let shape = slice.ranges.iter().map(|range| range.len.clone()).collect();
    // An axis of extent one stays whole: the result's broadcast repeats it as often as the slice is long.
    let ranges = broadcast
        .axes
        .iter()
        .zip(&rewriter.ty(x).shape)
        .map(|(axis, n)| if n.is(1) { Range::full(n) } else { slice.ranges[*axis].clone() })
        .collect();
    let outer = Broadcast { shape, axes: broadcast.axes.clone() };
    let inner = rewriter.make(Op::Slice(Slice { ranges }), &[x])?;
    moved(rewriter, Op::Broadcast(outer), vec![inner])
}

fn permute_broadcast(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let (Op::Permute(permute), Some(Node { op: Op::Broadcast(broadcast), inputs: operand, .. })) =
        (op, source(rewriter, inputs))
    else {
        return Ok(None);
    };
    let renamed = permute.inverse().axes;
    let axes: Vec<usize> = broadcast.axes.iter().map(|axis| renamed[*axis]).collect();
    if !axes.is_sorted() {
        return Ok(None);
    }
    let shape = permute.axes.iter().map(|axis| broadcast.shape[*axis].clone()).collect();
    let operand = operand.clone();
    moved(rewriter, Op::Broadcast(Broadcast { shape, axes }), operand)
}
