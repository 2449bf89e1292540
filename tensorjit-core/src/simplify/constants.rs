//! Folding of constants, and of work that a broadcast repeats.

use tensorjit_runtime::abi::DType;

use super::Rule;
use super::rewriter::Rewriter;
use crate::diag::Bug;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::constant::Constant;
use crate::graph::table::row::Accuracy;
use crate::graph::value::Scalar;
use crate::graph::{NodeId, Op};

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "dim_constant",
        equation: "dim(4) = 4",
        apply: |rewriter, op, _| match op {
            Op::DimValue(dim) => match dim.0.as_const() {
                Some(value) => rewriter.full(Constant::Int(DType::I64, value.into()), &[]),
                None => Ok(None),
            },
            _ => Ok(None),
        },
    },
    Rule {
        name: "fold",
        equation: "f(c, d) = the value of f at c and d, where kernels give the nearest float",
        apply: fold,
    },
    Rule {
        name: "below_broadcast",
        equation: "f(broadcast(x), broadcast(y)) = broadcast(f(x, y))",
        apply: below,
    },
];

fn fold(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let (Op::Elementwise(row), [first, .., last] | [first @ last]) = (op, inputs) else { return Ok(None) };
    let Some(args) = inputs
        .iter()
        .map(|input| rewriter.constant(*input).map(Constant::scalar))
        .collect::<Option<Vec<Scalar>>>()
    else {
        return Ok(None);
    };
    let work = rewriter.ty(*last).dtype;
    // A function that is not rounded to nearest has other bits in a kernel, where the operand may be a dimension.
    if row.row().accuracy.of(row.row().types.result(work)) > Accuracy::NEAREST.of(DType::F64) {
        return Ok(None);
    }
    let value = match row.fold(work, &args)? {
        Scalar::Float(value) if value.is_nan() => Scalar::Float(f64::NAN),
        value => value,
    };
    let dtype = row.row().types.result(work);
    let shape = rewriter.ty(*first).shape.clone();
    match Constant::of(dtype, value) {
        Some(constant) => rewriter.full(constant, &shape),
        None => Err(Bug::new("simplify", format!("{} gave {value:?}", row.row().name))),
    }
}

/// Operands that are all one broadcast, or constants, are computed before they are repeated.
fn below(rewriter: &mut Rewriter, op: &Op, inputs: &[NodeId]) -> Result<Option<NodeId>, Bug> {
    let Op::Elementwise(row) = op else { return Ok(None) };
    let repeated = |id: &NodeId| match &rewriter.node(*id).op {
        Op::Broadcast(broadcast) if rewriter.constant(*id).is_none() => {
            Some((broadcast, *rewriter.node(*id).inputs.first()?))
        }
        _ => None,
    };
    let Some((broadcast, source)) = inputs.iter().find_map(repeated) else { return Ok(None) };
    let shape = &rewriter.ty(source).shape;
    let alike = |id: &NodeId| {
        rewriter.constant(*id).is_some()
            || repeated(id).is_some_and(|(other, x)| other == broadcast && rewriter.ty(x).shape == *shape)
    };
    if !inputs.iter().all(alike) {
        return Ok(None);
    }
    let (broadcast, shape): (Broadcast, _) = (broadcast.clone(), shape.clone());
    let mut operands = Vec::with_capacity(inputs.len());
    for input in inputs {
        operands.extend(match rewriter.constant(*input).cloned() {
            Some(constant) => rewriter.full(constant, &shape)?,
            None => rewriter.node(*input).inputs.first().copied(),
        });
    }
    let small = rewriter.make(Op::Elementwise(*row), &operands)?;
    rewriter.make(Op::Broadcast(broadcast), &[small]).map(Some)
}
