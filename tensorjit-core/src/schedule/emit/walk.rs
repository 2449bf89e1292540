//! Walks over the terms of a product: one loop whatever the number of axes, so that a short last axis, the taps of a
//! kernel say, costs no loop of its own, and a range of terms may begin and end anywhere.
//!
//! The indices of a term are carried from one to the next like the digits of a number.

use super::tile::Depth;
use super::{Emit, Var};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::schedule::reads;

/// What happens at a term, given its indices, its position, and the carried values.
type Turn<'f, 'a> = &'f mut dyn FnMut(&mut Emit<'a>, &[Dim], &Dim, &[Val]) -> Result<Vec<Val>, Bug>;

/// What happens at a term, given its indices and its position.
type Visit<'f, 'a> = &'f mut dyn FnMut(&mut Emit<'a>, &[Dim], &Dim) -> Result<(), Bug>;

/// How to walk over the terms of a depth.
pub(super) struct Walk<'d> {
    depth: &'d Depth,
    /// The axes with more than one index, where their indices are carried.
    digits: Vec<usize>,
    /// The axis with more than one index, where there is one such.
    single: Option<usize>,
}

impl<'d> Walk<'d> {
    /// One that gives the indices of terms.
    pub(super) fn of(depth: &'d Depth) -> Walk<'d> {
        let mut digits: Vec<usize> =
            (0..depth.extents.len()).filter(|axis| !depth.extents[*axis].is(1)).collect();
        let single = if digits.len() == 1 { digits.pop() } else { None };
        Walk { depth, digits, single }
    }

    /// One that gives their positions alone.
    pub(super) fn still(depth: &'d Depth) -> Walk<'d> {
        Walk { depth, digits: Vec::new(), single: None }
    }
}

/// Neighbouring terms that differ in the last index alone.
pub(super) struct Run {
    /// The other indices.
    pub(super) outer: Vec<Dim>,
    /// The last index of the first, and of the one after the last.
    pub(super) range: (Val, Val),
    /// How many there are, where that is known.
    pub(super) count: Option<i64>,
    /// What the position of a term is more than its last index.
    pub(super) before: Dim,
}

impl<'a> Emit<'a> {
    /// The carried indices of the term at a position.
    pub(super) fn start(&mut self, walk: &Walk<'_>, position: Val) -> Result<Vec<Val>, Bug> {
        let (from, zero) = (self.scalar_index(&walk.depth.from)?, self.int(0));
        if (from, position) == (zero, zero) {
            return Ok(vec![zero; walk.digits.len()]);
        }
        let mut rest = self.b.prim(Prim::Add, &[from, position]);
        let mut indices = Vec::with_capacity(walk.digits.len());
        for axis in walk.digits.iter().skip(1).rev() {
            // Without elements along an axis there is no term to start from.
            let (extent, one) = (self.scalar_index(&walk.depth.extents[*axis])?, self.int(1));
            let extent = self.greatest(extent, one);
            indices.push(self.b.prim(Prim::IRem, &[rest, extent]));
            rest = self.b.prim(Prim::IDiv, &[rest, extent]);
        }
        indices.extend((!walk.digits.is_empty()).then_some(rest));
        indices.reverse();
        Ok(indices)
    }

    /// Walks over the terms at positions in a range, from carried values and indices to those behind the last.
    pub(super) fn walk(
        &mut self,
        walk: &Walk<'_>,
        (from, to): (Val, Val),
        (carried, start): (&[Val], &[Val]),
        turn: Turn<'_, 'a>,
    ) -> Result<(Vec<Val>, Vec<Val>), Bug> {
        let extents = &walk.depth.extents;
        let initial = [carried, start].concat();
        let mut last = self.range_loop((from, to, 1), &initial, &mut |emit, sym, inside| {
            let (carried, digits) = inside.split_at(carried.len());
            let position = Dim::sym(sym);
            let mut term = vec![Dim::default(); extents.len()];
            if let Some(axis) = walk.single {
                term[axis] = &walk.depth.from + &position;
            }
            for (axis, digit) in walk.digits.iter().zip(digits) {
                term[*axis] = Dim::sym(emit.fresh(Var::Scalar(*digit)));
            }
            let mut next = turn(emit, &term, &position, carried)?;
            next.extend(emit.counted(walk, digits)?);
            Ok(next)
        })?;
        let digits = last.split_off(carried.len());
        Ok((last, digits))
    }

    /// The indices of the next term.
    fn counted(&mut self, walk: &Walk<'_>, digits: &[Val]) -> Result<Vec<Val>, Bug> {
        let (zero, one) = (self.int(0), self.int(1));
        let mut next = digits.to_vec();
        let mut carry = one;
        for (i, axis) in walk.digits.iter().enumerate().rev() {
            let up = self.b.prim(Prim::Add, &[digits[i], carry]);
            if i == 0 {
                next[i] = up;
                break;
            }
            let extent = self.scalar_index(&walk.depth.extents[*axis])?;
            let full = self.b.prim(Prim::Cmp(Cmp::Eq), &[up, extent]);
            next[i] = self.b.prim(Prim::Select, &[full, zero, up]);
            carry = self.b.prim(Prim::Select, &[full, one, zero]);
        }
        Ok(next)
    }

    /// Visits all terms of a depth.
    pub(super) fn all_terms(&mut self, depth: &Depth, visit: Visit<'_, 'a>) -> Result<(), Bug> {
        let walk = Walk::of(depth);
        let (from, to) = (self.int(0), self.scalar_index(&depth.count)?);
        let start = self.start(&walk, from)?;
        self.walk(&walk, (from, to), (&[], &start), &mut |emit, term, position, _| {
            visit(emit, term, position)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// Visits all terms of a depth run by run.
    pub(super) fn term_runs(
        &mut self,
        depth: &Depth,
        visit: &mut dyn FnMut(&mut Emit<'a>, &Run) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let Some((last, outer)) = depth.extents.split_last() else { return Ok(()) };
        let extent = self.scalar_index(last)?;
        let (from, to) = (&depth.from, &depth.from + &depth.count);
        if outer.iter().all(|extent| extent.is(1)) {
            let outer = vec![Dim::default(); outer.len()];
            let range = (self.scalar_index(from)?, self.scalar_index(&to)?);
            let count = depth.count.as_const();
            return visit(self, &Run { outer, range, count, before: -from });
        }
        if depth.part.is_none() {
            let zero = self.int(0);
            self.nest(outer, &[], &mut |emit, index, _| {
                let before = &reads::flat(outer, index) * last;
                let (outer, count) = (index.to_vec(), last.as_const());
                visit(emit, &Run { outer, range: (zero, extent), count, before })?;
                Ok(Vec::new())
            })?;
            return Ok(());
        }
        let [first, end] = [from, &to].map(|term| self.scalar_index(term));
        let (first, end) = (first?, end?);
        let (zero, one) = (self.int(0), self.int(1));
        // An axis without elements has no terms, and divides by nothing.
        let length = self.greatest(extent, one);
        let rows = (self.b.prim(Prim::IDiv, &[first, length]), self.quotient_up(end, length));
        self.range_loop((rows.0, rows.1, 1), &[], &mut |emit, sym, _| {
            let row = emit.scalar_index(&Dim::sym(sym))?;
            let begin = emit.b.prim(Prim::Mul, &[row, length]);
            let [first, end] = [first, end].map(|term| emit.b.prim(Prim::Sub, &[term, begin]));
            let range = (emit.greatest(first, zero), emit.least(end, extent));
            let rows =
                Depth { from: Dim::default(), count: Dim::default(), extents: outer.to_vec(), part: None };
            let index = emit.row_index(&rows, row)?;
            let before = &(&Dim::sym(sym) * last) - from;
            visit(emit, &Run { outer: index, range, count: None, before })?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// The indices of row `row` of so many.
    fn row_index(&mut self, rows: &Depth, row: Val) -> Result<Vec<Dim>, Bug> {
        let walk = Walk::of(rows);
        let mut index = vec![Dim::default(); rows.extents.len()];
        if let Some(axis) = walk.single {
            index[axis] = Dim::sym(self.fresh(Var::Scalar(row)));
        }
        for (axis, digit) in walk.digits.iter().zip(self.start(&walk, row)?) {
            index[*axis] = Dim::sym(self.fresh(Var::Scalar(digit)));
        }
        Ok(index)
    }
}
