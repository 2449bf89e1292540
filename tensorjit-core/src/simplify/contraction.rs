//! Contractions.

use super::Rule;
use super::rewriter::Rewriter;
use crate::diag::Bug;
use crate::graph::ops::contract::Contract;
use crate::graph::{NodeId, Op};

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "contract_permuted_left",
        equation: "contract(permute(x), y) = contract(x, y) over renamed axes, where the free axes keep their order",
        apply: |rewriter, op, inputs| absorb(rewriter, op, inputs, 0),
    },
    Rule {
        name: "contract_permuted_right",
        equation: "contract(x, permute(y)) = contract(x, y) over renamed axes, where the free axes keep their order",
        apply: |rewriter, op, inputs| absorb(rewriter, op, inputs, 1),
    },
];

fn absorb(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId], side: usize) -> Result<Option<NodeId>, Bug> {
    let (Op::Contract(contract), [_, _]) = (op, inputs) else { return Ok(None) };
    let node = rewriter.node(inputs[side]);
    let (Op::Permute(permute), [x]) = (&node.op, node.inputs.as_slice()) else { return Ok(None) };
    let free = match side {
        0 => contract.free_left(permute.axes.len()),
        _ => contract.free_right(permute.axes.len()),
    };
    if !free.is_sorted_by_key(|axis| permute.axes[*axis]) {
        return Ok(None);
    }
    let rename = |pairs: &[(usize, usize)]| {
        let renamed = pairs.iter().map(|(left, right)| match side {
            0 => (permute.axes[*left], *right),
            _ => (*left, permute.axes[*right]),
        });
        renamed.collect()
    };
    let renamed = Contract { batch: rename(&contract.batch), sum: rename(&contract.sum) };
    let mut operands = inputs.to_vec();
    operands[side] = *x;
    rewriter.make(Op::Contract(renamed), &operands).map(Some)
}
