//! Systems of equations and determinants by triangular factors, each matrix factored once.
//!
//! They come apart only here, after all derivatives, whose rules are about the whole.

use tensorjit_runtime::abi::DType;

use super::rewriter::map;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::ops::determinant::{Determinant, Part};
use crate::graph::ops::gather::Gather;
use crate::graph::ops::indexing::{Indexed, Indexing};
use crate::graph::ops::iota::Iota;
use crate::graph::ops::lu::Lu;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::site::Site;
use crate::graph::ops::slice::{Range, Slice};
use crate::graph::ops::solve::Solve;
use crate::graph::ops::sort::Sort;
use crate::graph::ops::triangular_solve::TriangularSolve;
use crate::graph::table::Ew;
use crate::graph::{Graph, NodeId, Op};

/// The graph without `solve` and `determinant`.
pub(super) fn factor(graph: Graph) -> Result<Graph, Bug> {
    let is_whole = |op: &Op| matches!(op, Op::Solve(_) | Op::Determinant(_));
    if !graph.ids().any(|id| is_whole(&graph.node(id).op)) {
        return Ok(graph);
    }
    let mut new = Graph::new(graph.facts.clone(), graph.inputs.clone());
    new.outputs = map(&graph, |id, op, inputs| {
        let origin = graph.origin(id);
        let site = &mut Site { graph: &mut new, node: id, inputs, origin };
        match op {
            Op::Solve(op) => solve(site, *op),
            Op::Determinant(op) => determinant(site, *op),
            op => site.add(op.clone(), inputs),
        }
    })?;
    Ok(new)
}

/// `P a = L U`: a solution is that of `L (U x) = P b`, and with the transposed matrix of `Uᵀ (Lᵀ P x) = b`.
fn solve(site: &mut Site, op: Solve) -> Result<NodeId, Bug> {
    let b = site.input(1)?;
    let [factors, order, _] = parts(site)?;
    let order = site.ew(Ew::Cast(DType::I64), &[order])?;
    let triangular = |site: &mut Site, lower: bool, unit: bool, a, b| {
        site.add(Op::TriangularSolve(TriangularSolve { lower, unit }), &[a, b])
    };
    if !op.transposed {
        let b = rows(site, b, order)?;
        let middle = triangular(site, true, true, factors, b)?;
        return triangular(site, false, false, factors, middle);
    }
    let factors = site.transposed(factors)?;
    let middle = triangular(site, true, false, factors, b)?;
    let x = triangular(site, false, true, factors, middle)?;
    let axis = site.ty(order).rank() - 1;
    let places = site.add(Op::Sort(Sort { axis, descending: false, nan_first: false }), &[order])?;
    rows(site, x, places)
}

/// The product along the diagonal of the upper factor, with a sign for each exchange of rows.
fn determinant(site: &mut Site, op: Determinant) -> Result<NodeId, Bug> {
    let [factors, _, signs] = parts(site)?;
    let ty = site.ty(factors);
    let rank = ty.rank();
    let count = site.add(Op::Iota(Iota { dtype: DType::I64, extent: ty.shape[rank - 1].clone() }), &[])?;
    let diagonal = diagonal(site, factors, count)?;
    let reduced =
        |site: &mut Site, kind, x| site.add(Op::Reduce(Reduce { kind, axes: vec![rank - 2] }), &[x]);
    match op.part {
        Part::LogSize => {
            let sizes = site.ew(Ew::Abs, &[diagonal])?;
            let logs = site.ew(Ew::Log, &[sizes])?;
            reduced(site, ReduceKind::Sum, logs)
        }
        Part::Whole => {
            let terms = site.ew(Ew::Mul, &[diagonal, signs])?;
            reduced(site, ReduceKind::Prod, terms)
        }
        Part::Sign => {
            let terms = site.ew(Ew::Mul, &[diagonal, signs])?;
            let terms = site.ew(Ew::Sign, &[terms])?;
            reduced(site, ReduceKind::Prod, terms)
        }
    }
}

/// The factors, the order of the rows, and the signs of the exchanges, of the first operand.
fn parts(site: &mut Site) -> Result<[NodeId; 3], Bug> {
    let a = site.input(0)?;
    let ty = site.ty(a);
    let rank = ty.rank();
    let packed = site.add(Op::Lu(Lu), &[a])?;
    let n = ty.shape[rank - 1].clone();
    let mut part = |start: Dim, len: Dim| {
        let mut ranges: Vec<Range> = ty.shape.iter().map(whole).collect();
        ranges[rank - 2] = Range { start, step: 1, len };
        site.add(Op::Slice(Slice { ranges }), &[packed])
    };
    let one = Dim::constant(1);
    let (factors, order, signs) =
        (part(Dim::constant(0), n.clone())?, part(n.clone(), one.clone())?, part(&n + &one, one)?);
    let mut shape = ty.shape.to_vec();
    shape.remove(rank - 2);
    Ok([factors, site.reshape(order, &shape)?, site.reshape(signs, &shape)?])
}

fn whole(extent: &Dim) -> Range {
    Range { start: Dim::constant(0), step: 1, len: extent.clone() }
}

/// The rows of matrices in another order.
fn rows(site: &mut Site, x: NodeId, order: NodeId) -> Result<NodeId, Bug> {
    let axis = site.ty(x).rank() - 2;
    let batch = (0..axis).map(|axis| (axis, axis)).collect();
    let indexing = Indexing { axes: vec![Indexed { axis, window: None }], batch, at: 0 };
    site.add(Op::Gather(Gather { indexing }), &[x, order])
}

/// The diagonals of matrices.
fn diagonal(site: &mut Site, x: NodeId, count: NodeId) -> Result<NodeId, Bug> {
    let rank = site.ty(x).rank();
    let axes = vec![Indexed { axis: rank - 2, window: None }, Indexed { axis: rank - 1, window: None }];
    let indexing = Indexing { axes, batch: Vec::new(), at: rank - 2 };
    site.add(Op::Gather(Gather { indexing }), &[x, count, count])
}
