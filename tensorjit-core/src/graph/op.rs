//! The closed set of operators.

use std::sync::Arc;

use super::ops::*;
use super::table::Ew;
use super::{Graph, NodeId, Type};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;

/// An operator with its attributes.  Everything but `Elementwise` is structural, one file each in [`super::ops`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Input `i` of the graph.
    Input(u32),
    /// A scalar constant.
    Constant(constant::Constant),
    /// A dimension as an `i64` scalar.
    DimValue(dim_value::DimValue),
    /// `0, 1, ..` along one axis.
    Iota(iota::Iota),
    /// A row of the table of elementwise functions; all operands have the shape of the result.
    Elementwise(Ew),
    /// Repeats along new and along singleton axes.
    Broadcast(broadcast::Broadcast),
    /// Reorders axes.
    Permute(permute::Permute),
    /// The same elements in row-major order under another shape.
    Reshape(reshape::Reshape),
    /// Every `step`-th element from `start`, per axis; a negative step walks down.
    Slice(slice::Slice),
    /// Surrounds, and spaces out, with the value of the second operand, a scalar.
    Pad(pad::Pad),
    /// The windows of an axis, or from windows to positions.
    Window(window::Window),
    /// Puts operands one after another along an axis.
    Concat(concat::Concat),
    /// Folds axes away: sum, product, maximum, minimum, any, all.
    Reduce(reduce::Reduce),
    /// The index of the first greatest or least element along an axis.
    ArgReduce(arg_reduce::ArgReduce),
    /// Sum of products over paired axes: matrix products of any rank.
    Contract(contract::Contract),
    /// Folds that run along an axis: running sums, products, extremes and recurrences.
    Cumulate(cumulate::Cumulate),
    /// The indices that sort the elements along an axis.
    Sort(sort::Sort),
    /// The factor of Cholesky.
    Cholesky(cholesky::Cholesky),
    /// The solutions of triangular systems.
    TriangularSolve(triangular_solve::TriangularSolve),
    /// The solutions of systems of equations.
    Solve(solve::Solve),
    /// Determinants.
    Determinant(determinant::Determinant),
    /// The triangular factors of square matrices.
    Lu(lu::Lu),
    /// Elements of the first operand at the places that the others name.
    Gather(gather::Gather),
    /// The first operand with the elements of the last put at, or combined with, the places that the others name.
    Scatter(scatter::Scatter),
    /// A variable that the user named and differentiates by: the identity, never merged with another.
    Variable(u32),
    /// The first operand, whose derivative is zero or, where there is a second operand, that of the second.
    StopGradient,
    /// A derivative that the autodiff stage replaces; no later stage sees one.
    Derivative(derivative::Derivative),
    /// A sub-graph run step by step; its results are taken by `Output`.
    Scan(scan::Scan),
    /// A result of an operator that has several.
    Output(scan::Output),
    /// The results of a function whose derivative has a rule of its own; no stage after autodiff sees one.
    Custom(custom::Custom),
    /// What such a rule is linear in, until it is transposed.
    CustomTangent(custom::Custom),
    /// A value that the body of a scan is given, while that is being read; no finished graph needs one.
    Placeholder(Placeholder),
}

/// Stands for an input of a sub-graph that is not built yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Placeholder {
    /// Which one: no two have the same number.
    pub number: u32,
    /// The user's name for it.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

impl Op {
    /// Where the element of the result at `at` comes from; `None` where the operator computes.
    ///
    /// `at` has one expression for each axis, within the extents of the result; `facts` may bound what stands in it.
    pub fn access(
        &self,
        facts: &Facts,
        operands: &[&Type],
        result: &Type,
        at: &[Dim],
    ) -> Option<Vec<Source>> {
        match self {
            Op::Broadcast(op) => Some(op.access(facts, operands, result, at)),
            Op::Permute(op) => Some(op.access(facts, operands, result, at)),
            Op::Reshape(op) => Some(op.access(facts, operands, result, at)),
            Op::Slice(op) => Some(op.access(facts, operands, result, at)),
            Op::Pad(op) => Some(op.access(facts, operands, result, at)),
            Op::Window(op) => Some(op.access(facts, operands, result, at)),
            Op::Concat(op) => Some(op.access(facts, operands, result, at)),
            Op::Input(_)
            | Op::Constant(_)
            | Op::DimValue(_)
            | Op::Iota(_)
            | Op::Elementwise(_)
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
            | Op::Gather(_)
            | Op::Scatter(_)
            | Op::Variable(_)
            | Op::StopGradient
            | Op::Derivative(_)
            | Op::Scan(_)
            | Op::Output(_)
            | Op::Custom(_)
            | Op::CustomTangent(_)
            | Op::Placeholder(_) => None,
        }
    }

    /// How many results there are, where `Output` nodes take them and the node itself has no value.
    pub fn results(&self) -> Option<usize> {
        match self {
            Op::Scan(op) => Some(op.results()),
            Op::Custom(op) | Op::CustomTangent(op) => Some(op.results),
            _ => None,
        }
    }

    /// The sub-graph of the operator.
    pub fn body(&self) -> Option<&Arc<Graph>> {
        match self {
            Op::Scan(op) => Some(&op.body),
            Op::Custom(op) | Op::CustomTangent(op) => Some(&op.rule),
            _ => None,
        }
    }
}

/// The type of `op` applied to `inputs`.
pub(super) fn infer(graph: &Graph, op: &Op, inputs: &[NodeId]) -> Result<Type, Bug> {
    let types: Vec<&Type> = inputs.iter().map(|id| graph.ty(*id)).collect();
    let facts = &graph.facts;
    match op {
        Op::Input(i) => match graph.inputs.get(*i as usize) {
            Some(input) => Ok(input.ty.clone()),
            None => Err(Bug::new("graph", format!("there is no input {i}"))),
        },
        Op::Constant(op) => op.infer(facts, &types),
        Op::DimValue(op) => op.infer(facts, &types),
        Op::Iota(op) => op.infer(facts, &types),
        Op::Elementwise(row) => row.infer(facts, &types),
        Op::Broadcast(op) => op.infer(facts, &types),
        Op::Permute(op) => op.infer(facts, &types),
        Op::Reshape(op) => op.infer(facts, &types),
        Op::Slice(op) => op.infer(facts, &types),
        Op::Pad(op) => op.infer(facts, &types),
        Op::Window(op) => op.infer(facts, &types),
        Op::Concat(op) => op.infer(facts, &types),
        Op::Reduce(op) => op.infer(facts, &types),
        Op::ArgReduce(op) => op.infer(facts, &types),
        Op::Contract(op) => op.infer(facts, &types),
        Op::Gather(op) => op.infer(facts, &types),
        Op::Cumulate(op) => op.infer(facts, &types),
        Op::Sort(op) => op.infer(facts, &types),
        Op::Cholesky(op) => op.infer(facts, &types),
        Op::TriangularSolve(op) => op.infer(facts, &types),
        Op::Solve(op) => op.infer(facts, &types),
        Op::Determinant(op) => op.infer(facts, &types),
        Op::Lu(op) => op.infer(facts, &types),
        Op::Scatter(op) => op.infer(facts, &types),
        Op::Variable(_) | Op::StopGradient => match types.as_slice() {
            [ty] => Ok((*ty).clone()),
            [ty, instead] if *op == Op::StopGradient && ty.fits(facts, instead) => Ok((*ty).clone()),
            _ => Err(Bug::new(
                "graph",
                "an identity takes one operand, and what has its derivative another one",
            )),
        },
        Op::Derivative(op) => op.infer(facts, &types),
        Op::Scan(op) => op.infer(facts, &types),
        Op::Output(op) => match inputs {
            [from] => match &graph.node(*from).op {
                Op::Scan(scan) => scan.result(op.0),
                Op::Custom(custom) | Op::CustomTangent(custom) if op.0 < custom.results => {
                    Ok(graph.ty(graph.node(*from).inputs[op.0]).clone())
                }
                _ => Err(Bug::new("graph", "a result of what has no such result")),
            },
            _ => Err(Bug::new("graph", "a result of several operators")),
        },
        Op::Custom(op) | Op::CustomTangent(op) => op.infer(facts, &types),
        Op::Placeholder(op) => Ok(op.ty.clone()),
    }
}
