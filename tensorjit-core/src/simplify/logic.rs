//! Selections, truth values and conversions.

use tensorjit_runtime::abi::DType;

use super::Rule;
use super::rewriter::Rewriter;
use crate::diag::Bug;
use crate::graph::ops::constant::Constant;
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op};

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "select_constant",
        equation: "select(true, a, b) = a; select(false, a, b) = b",
        apply: |rewriter, op, inputs| {
            Ok(selection(op, inputs).and_then(|[mask, yes, no]| match rewriter.constant(mask) {
                Some(Constant::Bool(true)) => Some(yes),
                Some(Constant::Bool(false)) => Some(no),
                _ => None,
            }))
        },
    },
    Rule {
        name: "select_same",
        equation: "select(m, a, a) = a",
        apply: |_, op, inputs| {
            Ok(selection(op, inputs).filter(|[_, yes, no]| yes == no).map(|[_, yes, _]| yes))
        },
    },
    Rule {
        name: "select_not",
        equation: "select(!m, a, b) = select(m, b, a)",
        apply: |rewriter, op, inputs| {
            let found = selection(op, inputs).and_then(|[mask, yes, no]| {
                Some([rewriter.as_ew(mask, Ew::Not)?.first().copied()?, no, yes])
            });
            found.map_or(Ok(None), |operands| rewriter.ew(Ew::Select, &operands))
        },
    },
    Rule {
        name: "not_not",
        equation: "!!x = x",
        apply: |rewriter, op, inputs| match (op, inputs) {
            (Op::Elementwise(Ew::Not), [x]) => {
                Ok(rewriter.as_ew(*x, Ew::Not).and_then(|inner| inner.first().copied()))
            }
            _ => Ok(None),
        },
    },
    Rule {
        name: "and_true",
        equation: "m & true = true & m = m",
        apply: |rewriter, op, inputs| Ok(neutral(rewriter, op, inputs, Ew::And, true)),
    },
    Rule {
        name: "or_false",
        equation: "m | false = false | m = m",
        apply: |rewriter, op, inputs| Ok(neutral(rewriter, op, inputs, Ew::Or, false)),
    },
    Rule {
        name: "cast_same",
        equation: "(x: t) as t = x",
        apply: |rewriter, op, inputs| match (op, inputs) {
            (Op::Elementwise(Ew::Cast(to)), [x]) if rewriter.ty(*x).dtype == *to => Ok(Some(*x)),
            _ => Ok(None),
        },
    },
    Rule { name: "cast_cast", equation: "x as t as u = x as u, where t holds every x", apply: cast_cast },
];

fn selection(op: &Op, inputs: &[NodeId]) -> Option<[NodeId; 3]> {
    if *op == Op::Elementwise(Ew::Select) { inputs.try_into().ok() } else { None }
}

/// The other operand, where one is the truth value that changes nothing.
fn neutral(rewriter: &Rewriter, op: &Op, inputs: &[NodeId], row: Ew, value: bool) -> Option<NodeId> {
    let is_neutral = |id: &NodeId| rewriter.constant(*id) == Some(&Constant::Bool(value));
    match inputs {
        [a, b] if *op == Op::Elementwise(row) && is_neutral(b) => Some(*a),
        [a, b] if *op == Op::Elementwise(row) && is_neutral(a) => Some(*b),
        _ => None,
    }
}

fn cast_cast(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let (Op::Elementwise(Ew::Cast(to)), [between]) = (op, inputs) else { return Ok(None) };
    let Op::Elementwise(Ew::Cast(through)) = rewriter.node(*between).op else { return Ok(None) };
    match rewriter.node(*between).inputs.first().copied() {
        Some(x) if passes(rewriter.ty(x).dtype, through, *to) => rewriter.ew(Ew::Cast(*to), &[x]),
        _ => Ok(None),
    }
}

/// Whether `from as through as to` is `from as to`: floats saturate where integers wrap.
fn passes(from: DType, through: DType, to: DType) -> bool {
    let saturates = through.is_float() && from.is_int() && to.is_int();
    holds(through, from) && (!saturates || holds(to, from))
}

/// Whether every value of `from` is one of `to`.
fn holds(to: DType, from: DType) -> bool {
    match (from, to) {
        (DType::Bool, _) => true,
        (DType::F32, DType::F64) => true,
        (from, DType::F32 | DType::F64) if from.is_half() => true,
        (from, to) if from.is_int() && to.is_int() => to.holds(from),
        (from, DType::F32) if from.is_int() => from.size() <= 2,
        (from, DType::F64) if from.is_int() => from.size() <= 4,
        _ => to == from,
    }
}
