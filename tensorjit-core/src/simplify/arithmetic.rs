//! Arithmetic, without a change of rounding.

use super::Rule;
use super::rewriter::Rewriter;
use crate::diag::Bug;
use crate::graph::ops::constant::Constant;
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op};

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "mul_one",
        equation: "x * 1 = 1 * x = x",
        apply: |rewriter, op, inputs| {
            Ok(commuted(op, inputs, Ew::Mul).find(|(_, b)| rewriter.is_number(*b, 1.0)).map(|(a, _)| a))
        },
    },
    Rule {
        name: "mul_minus_one",
        equation: "x * -1 = -1 * x = -x",
        apply: |rewriter, op, inputs| {
            let factor = commuted(op, inputs, Ew::Mul).find(|(_, b)| rewriter.is_number(*b, -1.0));
            factor.map_or(Ok(None), |(a, _)| rewriter.ew(Ew::Neg, &[a]))
        },
    },
    Rule {
        name: "div_one",
        equation: "x / 1 = x",
        apply: |rewriter, op, inputs| {
            Ok(pair(op, inputs, Ew::Div).filter(|(_, b)| rewriter.is_number(*b, 1.0)).map(|(a, _)| a))
        },
    },
    Rule { name: "div_power_of_two", equation: "x / 2^k = x * 2^-k, both normal", apply: div_power_of_two },
    Rule {
        name: "add_zero",
        equation: "x + -0.0 = x; of integers x + 0 = x",
        apply: |rewriter, op, inputs| {
            Ok(commuted(op, inputs, Ew::Add).find(|(_, b)| rewriter.is_number(*b, -0.0)).map(|(a, _)| a))
        },
    },
    Rule {
        name: "sub_zero",
        equation: "x - 0.0 = x",
        apply: |rewriter, op, inputs| {
            Ok(pair(op, inputs, Ew::Sub).filter(|(_, b)| rewriter.is_number(*b, 0.0)).map(|(a, _)| a))
        },
    },
    Rule {
        name: "neg_neg",
        equation: "--x = x",
        apply: |rewriter, op, inputs| match (op, inputs) {
            (Op::Elementwise(Ew::Neg), [x]) => Ok(negated(rewriter, *x)),
            _ => Ok(None),
        },
    },
    Rule {
        name: "add_neg",
        equation: "x + -y = -y + x = x - y",
        apply: |rewriter, op, inputs| {
            let found = commuted(op, inputs, Ew::Add).find_map(|(a, b)| Some((a, negated(rewriter, b)?)));
            found.map_or(Ok(None), |(a, b)| rewriter.ew(Ew::Sub, &[a, b]))
        },
    },
    Rule {
        name: "sub_neg",
        equation: "x - -y = x + y",
        apply: |rewriter, op, inputs| {
            let found = pair(op, inputs, Ew::Sub).and_then(|(a, b)| Some((a, negated(rewriter, b)?)));
            found.map_or(Ok(None), |(a, b)| rewriter.ew(Ew::Add, &[a, b]))
        },
    },
    Rule {
        name: "pow_one",
        equation: "pow(x, 1) = x, the nearest float",
        apply: |rewriter, op, inputs| {
            Ok(pair(op, inputs, Ew::Pow).filter(|(_, b)| rewriter.is_number(*b, 1.0)).map(|(a, _)| a))
        },
    },
    Rule {
        name: "pow_two",
        equation: "pow(x, 2) = x * x, the nearest float",
        apply: |rewriter, op, inputs| match pair(op, inputs, Ew::Pow) {
            Some((x, b)) if rewriter.is_number(b, 2.0) => rewriter.ew(Ew::Square, &[x]),
            _ => Ok(None),
        },
    },
    Rule {
        name: "pow_minus_one",
        equation: "pow(x, -1) = 1 / x, the nearest float",
        apply: |rewriter, op, inputs| match pair(op, inputs, Ew::Pow) {
            Some((x, b)) if rewriter.is_number(b, -1.0) => rewriter.ew(Ew::Recip, &[x]),
            _ => Ok(None),
        },
    },
    Rule {
        name: "dmul_zero",
        equation: "dmul(d, 0) = 0",
        apply: |rewriter, op, inputs| {
            Ok(pair(op, inputs, Ew::Dmul).filter(|(_, t)| rewriter.is_number(*t, 0.0)).map(|(_, t)| t))
        },
    },
    Rule {
        name: "dmul_finite",
        equation: "dmul(d, t) = d * t where d is proven finite",
        apply: |rewriter, op, inputs| match pair(op, inputs, Ew::Dmul) {
            Some((d, t)) if rewriter.range(d).is_finite() => rewriter.ew(Ew::Mul, &[d, t]),
            _ => Ok(None),
        },
    },
];

/// The operands, where the operator is that row.
fn pair(op: &Op, inputs: &[NodeId], row: Ew) -> Option<(NodeId, NodeId)> {
    match (op, inputs) {
        (Op::Elementwise(found), [a, b]) if *found == row => Some((*a, *b)),
        _ => None,
    }
}

/// The operands in both orders, where the operator is that row.
fn commuted(op: &Op, inputs: &[NodeId], row: Ew) -> impl Iterator<Item = (NodeId, NodeId)> + use<> {
    pair(op, inputs, row).into_iter().flat_map(|(a, b)| [(a, b), (b, a)])
}

/// The `x` of which the node is `-x`.
fn negated(rewriter: &Rewriter, id: NodeId) -> Option<NodeId> {
    rewriter.as_ew(id, Ew::Neg)?.first().copied()
}

fn div_power_of_two(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let Some((x, divisor)) = pair(op, inputs, Ew::Div) else { return Ok(None) };
    let Some(Constant::Float(dtype, bits)) = rewriter.constant(divisor).cloned() else { return Ok(None) };
    // With no bit in the mantissa the reciprocal is a power of two as well; the exponents stay in the range of
    // normal f32, where both are exact.
    let value = f64::from_bits(bits);
    let is_power = bits & ((1 << (f64::MANTISSA_DIGITS - 1)) - 1) == 0;
    if !is_power || !(2f64.powi(-120)..=2f64.powi(120)).contains(&value.abs()) || value.abs() == 1.0 {
        return Ok(None);
    }
    let shape = rewriter.ty(divisor).shape.clone();
    match rewriter.full(Constant::number(dtype, 1.0 / value), &shape)? {
        Some(reciprocal) => rewriter.ew(Ew::Mul, &[x, reciprocal]),
        None => Ok(None),
    }
}
