//! Products whose result is wanted in another order of axes: which operand is the left one, and over which axes
//! products are batches.
//!
//! No rule changes a term or the order of terms, so that they may look at extents: what they choose is which axis is
//! that of the vectors.

use super::Rule;
use super::rewriter::Rewriter;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::contract::Contract;
use crate::graph::ops::permute::Permute;
use crate::graph::{Node, NodeId, Op, Type};

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "permute_contract",
        equation: "permute(contract(x, y)) = contract(y, x), where the axes of x and those of y change places",
        apply: permute_contract,
    },
    Rule {
        name: "permute_contract_batch",
        equation: "permute(contract(x, y)) = contract(broadcast(y), x), where the first axes of x stay first and its others come behind those of y: the former are batches",
        apply: permute_contract_batch,
    },
    Rule {
        name: "contract_few_columns",
        equation: "contract(x, y) = permute(contract(y, x)), where the last axis of x makes vectors and that of y none",
        apply: contract_few_columns,
    },
];

/// Fewer elements than these along the last axis make no vectors.
const FEW_COLUMNS: i64 = 8;

/// The lanes of vectors, roughly, as the last vector of an axis is counted.
const LANES: i128 = 16;

/// The order of the axes of a product that is wanted, its operands, and how many of the axes are of batches, of the
/// left operand, and of the right one.
struct Wanted {
    permute: Permute,
    contract: Contract,
    operands: [NodeId; 2],
    counts: [usize; 3],
}

fn wanted(rewriter: &Rewriter, op: &Op, inputs: &[NodeId]) -> Option<Wanted> {
    let (Op::Permute(permute), [operand]) = (op, inputs) else { return None };
    let Node { op: Op::Contract(contract), inputs: operands, .. } = rewriter.node(*operand) else {
        return None;
    };
    let operands: [NodeId; 2] = operands.as_slice().try_into().ok()?;
    let paired = contract.batch.len() + contract.sum.len();
    let [left, right] = operands.map(|id| rewriter.ty(id).rank() - paired);
    let counts = [contract.batch.len(), left, right];
    // Without axes of its own on one side the order of the sum depends on which side that is.
    let wanted = Wanted { permute: permute.clone(), contract: contract.clone(), operands, counts };
    (left > 0 && right > 0).then_some(wanted)
}

fn permute_contract(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let Some(Wanted { permute, contract, operands, counts: [batch, left, right] }) =
        wanted(rewriter, op, inputs)
    else {
        return Ok(None);
    };
    let order = (0..batch).chain(batch + left..batch + left + right).chain(batch..batch + left);
    // The taps of a kernel, say, make no vectors, where the other operand's axis may.
    let few = few_columns(rewriter, &contract, operands);
    if !permute.axes.iter().copied().eq(order) || left > 1 && few[0] && !few[1] {
        return Ok(None);
    }
    turned_round(rewriter, &contract, operands).map(Some)
}

fn contract_few_columns(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let (Op::Contract(contract), [x, y]) = (op, inputs) else { return Ok(None) };
    let ranks = [*x, *y].map(|id| rewriter.ty(id).rank());
    let (left, right) = (contract.free_left(ranks[0]), contract.free_right(ranks[1]));
    // A short axis in memory may be one with that before it.
    let [_, .., last] = right[..] else { return Ok(None) };
    let is_short = few_columns(rewriter, contract, [*x, *y]) == [false, true];
    if left.is_empty() || !is_short || is_innermost(rewriter, *y, last) {
        return Ok(None);
    }
    let product = turned_round(rewriter, contract, [*x, *y])?;
    let (batch, behind) = (contract.batch.len(), contract.batch.len() + right.len());
    let axes = (0..batch).chain(behind..behind + left.len()).chain(batch..behind).collect();
    rewriter.make(Op::Permute(Permute { axes }), &[product]).map(Some)
}

/// Whether the last axes that the operands have alone make no vectors.
fn few_columns(rewriter: &Rewriter, contract: &Contract, operands: [NodeId; 2]) -> [bool; 2] {
    let [left, right] = operands.map(|id| rewriter.ty(id));
    let few = |ty: &Type, axes: Vec<usize>| {
        let extent = axes.last().and_then(|axis| ty.shape[*axis].as_const());
        extent.is_some_and(|extent| extent < FEW_COLUMNS)
    };
    [few(left, contract.free_left(left.rank())), few(right, contract.free_right(right.rank()))]
}

/// The product with its operands in the other order.
fn turned_round(rewriter: &mut Rewriter, contract: &Contract, [x, y]: [NodeId; 2]) -> Result<NodeId, Bug> {
    let swap = |pairs: &[(usize, usize)]| pairs.iter().map(|(left, right)| (*right, *left)).collect();
    let swapped = Contract { batch: swap(&contract.batch), sum: swap(&contract.sum) };
    rewriter.make(Op::Contract(swapped), &[y, x])
}

fn permute_contract_batch(
    rewriter: &mut Rewriter,
    op: &Op,
    inputs: &[NodeId],
) -> Result<Option<NodeId>, Bug> {
    let Some(Wanted { permute, contract, operands: [x, y], counts: [batch, left, right] }) =
        wanted(rewriter, op, inputs)
    else {
        return Ok(None);
    };
    let first = permute.axes.iter().position(|axis| *axis >= batch + left).unwrap_or(0);
    let order = (0..first).chain(batch + left..batch + left + right).chain(first..batch + left);
    if first <= batch || first >= batch + left || !permute.axes.iter().copied().eq(order) {
        return Ok(None);
    }
    let free = contract.free_left(rewriter.ty(x).rank());
    let Some(columns) = free.last().copied() else { return Ok(None) };
    if !makes_vectors(&rewriter.ty(x).shape[columns]) || !is_innermost(rewriter, x, columns) {
        return Ok(None);
    }
    let added = &free[..first - batch];
    let mut shape: Vec<Dim> = added.iter().map(|axis| rewriter.ty(x).shape[*axis].clone()).collect();
    shape.extend_from_slice(&rewriter.ty(y).shape);
    let axes = (added.len()..shape.len()).collect();
    let repeated = rewriter.make(Op::Broadcast(Broadcast { shape, axes }), &[y])?;
    let swap = |pairs: &[(usize, usize)]| -> Vec<(usize, usize)> {
        pairs.iter().map(|(left, right)| (added.len() + right, *left)).collect()
    };
    let mut batches = swap(&contract.batch);
    batches.extend(added.iter().copied().enumerate());
    rewriter
        .make(Op::Contract(Contract { batch: batches, sum: swap(&contract.sum) }), &[repeated, x])
        .map(Some)
}

/// Whether most lanes of the vectors of an axis are elements; of an unknown axis they are.
fn makes_vectors(extent: &Dim) -> bool {
    let elements = extent.as_const().map(i128::from);
    elements.is_none_or(|extent| 4 * extent >= 3 * LANES * ((extent + LANES - 1) / LANES))
}

/// Whether neighbours along an axis are neighbours in memory.
fn is_innermost(rewriter: &Rewriter, mut id: NodeId, mut axis: usize) -> bool {
    loop {
        let node = rewriter.node(id);
        let Some(operand) = node.inputs.first() else { return axis + 1 == node.ty.rank() };
        match &node.op {
            Op::Broadcast(op) => match op.axes.iter().position(|own| *own == axis) {
                Some(own) => axis = own,
                None => return false,
            },
            Op::Permute(op) => axis = op.axes[axis],
            Op::Slice(op) if op.ranges[axis].step == 1 => {}
            Op::Pad(op) if op.axes[axis].gap == 0 => {}
            Op::Window(op) if !op.inverse && op.taps != axis && (op.axis != axis || op.stride == 1) => {}
            Op::Reshape(_) if axis + 1 == node.ty.rank() => {
                let shape = &rewriter.ty(*operand).shape;
                if shape.last() != node.ty.shape.last() {
                    return false;
                }
                axis = shape.len() - 1;
            }
            Op::Slice(_) | Op::Pad(_) | Op::Window(_) | Op::Reshape(_) => return false,
            _ => return axis + 1 == node.ty.rank(),
        }
        id = *operand;
    }
}
