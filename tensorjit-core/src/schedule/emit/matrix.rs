//! Matrices that are computed in place, one after another: triangular systems here, factors in [`super::factor`].
//!
//! An element is what it is to be computed from less products of what has been computed, which are subtracted in the order of
//! the unknowns, each in one fused step.  Lanes are neighbouring columns, so that no order depends on them.

use super::tasks::Range;
use super::{Emit, Var};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::ops::triangular_solve::TriangularSolve;
use crate::graph::{NodeId, Op};
use crate::lanes::{Lanes, Prim, Val};
use crate::loops::Buf;
use crate::schedule::fuse::Group;
use crate::schedule::reads::volume;
use crate::schedule::tasks::Cut;

/// Registers of neighbouring columns that are computed together.
pub(super) const REGISTERS: u32 = 4;

/// The matrices of a root while they are computed.
#[derive(Clone, Copy)]
pub(super) struct Matrices<'g> {
    pub(super) root: usize,
    pub(super) op: &'g Op,
    pub(super) inputs: &'g [NodeId],
    /// Where they stand.
    pub(super) buf: Buf,
    pub(super) bytes: usize,
}

/// One of them.
pub(super) struct InPlace {
    pub(super) buf: Buf,
    /// Its index among the matrices.
    pub(super) batch: Vec<Dim>,
    /// Where it begins.
    pub(super) start: Dim,
    pub(super) rows: Dim,
    pub(super) columns: Dim,
    pub(super) bytes: usize,
}

impl InPlace {
    /// Where an element stands.
    pub(super) fn at(&self, row: &Dim, column: &Dim) -> Dim {
        &(&self.start + &(row * &self.columns)) + column
    }

    /// The index of an element of another tensor of as many matrices.
    pub(super) fn index(&self, row: &Dim, column: &Dim) -> Vec<Dim> {
        [&self.batch[..], &[row.clone(), column.clone()]].concat()
    }
}

impl<'a> Emit<'a> {
    /// The matrices of a group.
    pub(super) fn matrices(&mut self, group: &Group) -> Result<(), Bug> {
        let root = group.stages[0][0];
        let graph = self.graph;
        let id = self.roots[root].node;
        let node = graph.node(id);
        let Some(stored) = self.stored.get(&id).cloned() else {
            return Err(Bug::new("schedule", format!("{id:?} stands nowhere")));
        };
        let bytes = node.ty.dtype.size();
        let matrices = Matrices { root, op: &node.op, inputs: &node.inputs, buf: stored.buf, bytes };
        let batch = Group { rows: node.ty.rank() - 2, ..group.clone() };
        let cut = Cut::of(&self.facts, self.grain, self.roots, &batch);
        self.shared(cut.as_ref(), &mut |emit, range| emit.each_matrix(matrices, range, &mut Vec::new()))?;
        self.b.pin(stored.buf);
        self.copy_home(root)
    }

    /// Loops over the axes before the matrices, in a range of them.
    fn each_matrix(&mut self, matrices: Matrices<'a>, range: Range, batch: &mut Vec<Dim>) -> Result<(), Bug> {
        let roots = self.roots;
        let extents = &roots[matrices.root].parallel;
        let (before, last) = extents.split_at(extents.len() - 2);
        let Some(extent) = before.get(batch.len()) else {
            let start = &crate::schedule::reads::flat(before, batch) * &(&last[0] * &last[1]);
            let matrix = InPlace {
                buf: matrices.buf,
                batch: batch.clone(),
                start,
                rows: last[0].clone(),
                columns: last[1].clone(),
                bytes: matrices.bytes,
            };
            return match (matrices.op, matrices.inputs) {
                (Op::TriangularSolve(op), [a, b]) => self.triangular_solve(*op, (*a, *b), &matrix),
                (Op::Cholesky(_), [a]) => self.cholesky(*a, &matrix),
                (Op::Lu(_), [a]) => self.lu(*a, &matrix),
                (op, _) => Err(Bug::new("schedule", format!("{op:?} is not computed in place"))),
            };
        };
        let inside = volume(&before[batch.len() + 1..]);
        self.rows_in(extent, &inside, range, |emit, sym, range| {
            batch.push(Dim::sym(sym));
            emit.each_matrix(matrices, range, batch)?;
            batch.pop();
            Ok(Vec::new())
        })
    }

    /// The unknowns one after another, for some columns of right-hand sides at a time.
    fn triangular_solve(
        &mut self,
        op: TriangularSolve,
        (a, b): (NodeId, NodeId),
        x: &InPlace,
    ) -> Result<(), Bug> {
        let last = &x.rows - &Dim::constant(1);
        let place = |step: Dim| if op.lower { step } else { &last - &step };
        self.lane_loop(&x.columns, x.bytes, REGISTERS, &mut |emit, column| {
            let (column, lanes) = (Dim::sym(column), emit.lanes);
            emit.scalar_loop(&x.rows, &[], &mut |emit, step, _| {
                emit.b.pin(x.buf);
                let row = place(Dim::sym(step));
                let own = emit.value(b, &x.index(&row, &column))?;
                let own = emit.b.splat(own, lanes);
                let rest = emit.scalar_loop(&Dim::sym(step), &[own], &mut |emit, known, rest| {
                    let known = place(Dim::sym(known));
                    let factor = emit.value(a, &x.index(&row, &known))?;
                    let other = emit.load_at(x.buf, &x.at(&known, &column))?;
                    Ok(vec![emit.less_product(factor, other, rest[0], lanes)])
                })?;
                let mut found = rest[0];
                if !op.unit {
                    let divisor = emit.value(a, &x.index(&row, &row))?;
                    found = emit.b.prim(Prim::FDiv, &[found, divisor]);
                }
                emit.store_at(x.buf, &x.at(&row, &column), found)?;
                Ok(Vec::new())
            })?;
            Ok(())
        })
    }

    /// `rest - a * b`, rounded once.
    pub(super) fn less_product(&mut self, a: Val, b: Val, rest: Val, lanes: u32) -> Val {
        let negative = self.b.prim(Prim::FNeg, &[a]);
        let found = self.b.prim(Prim::Fma, &[negative, b, rest]);
        self.b.splat(found, lanes)
    }

    /// An index that is computed, as a variable.
    pub(super) fn computed(&mut self, index: Val) -> Dim {
        Dim::sym(self.fresh(Var::Scalar(index)))
    }
}
