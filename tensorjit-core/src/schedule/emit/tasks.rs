//! Tasks: ranges of the rows of a group.

use std::mem;

use tensorjit_runtime::abi::DType;

use super::{Emit, Var};
use crate::diag::Bug;
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::schedule::tasks::{Cut, MOST_TASKS};

/// A part of the rows, counted over all their axes; the last axis in pieces where it is the one for vectors.
pub(super) type Range = Option<(Val, Val)>;

/// What a task does with its part of the units.
pub(super) type Part<'f, 'a> = &'f mut dyn FnMut(&mut Emit<'a>, Range) -> Result<(), Bug>;

impl<'a> Emit<'a> {
    /// Runs `part` for all units where they are not cut, and otherwise as tasks of neighbouring units: a single one
    /// where this call's work is small.
    pub(super) fn shared(&mut self, cut: Option<&Cut>, part: Part<'_, 'a>) -> Result<(), Bug> {
        let Some(Cut { units, work, .. }) = cut else { return part(self, None) };
        let units = self.scalar_index(units)?;
        let work = self.scalar_index(work)?;
        self.tasks(units, work, part)
    }

    /// Runs `part` as tasks over `0..units`.
    pub(super) fn tasks(&mut self, units: Val, work: Val, part: Part<'_, 'a>) -> Result<(), Bug> {
        let group = self.int(self.grain.group);
        let worth = self.b.prim(Prim::Cmp(Cmp::Ge), &[work, group]);
        self.b.open_branch(worth);
        let cut = self.cut(units, work);
        self.b.otherwise(cut.to_vec());
        // Without units there is no task, and no memory for one.
        let one = self.int(1);
        let count = self.least(units, one);
        let cut = self.b.close_branch(vec![units, count]);
        let (step, count) = (cut[0], cut[1]);
        let task = self.b.open_tasks(count, worth);
        let outer = (mem::take(&mut self.memo), mem::take(&mut self.task), self.several.replace(worth));
        self.task = Some(self.fresh(Var::Scalar(task)));
        let from = self.b.prim(Prim::Mul, &[task, step]);
        let to = self.b.prim(Prim::Add, &[from, step]);
        let to = self.least(to, units);
        part(self, Some((from, to)))?;
        self.fence();
        (self.memo, self.task, self.several) = outer;
        self.b.close_tasks();
        Ok(())
    }

    /// The units of a task and the number of tasks, for work of a size that is worth them.
    fn cut(&mut self, units: Val, work: Val) -> [Val; 2] {
        let (one, most, least) = (self.int(1), self.int(MOST_TASKS), self.int(self.grain.task));
        // As many tasks as there is work for, but no more than the most.
        let tasks = self.b.prim(Prim::IDiv, &[work, least]);
        let tasks = self.least(tasks, most);
        let tasks = self.greatest(tasks, one);
        let step = self.quotient_up(units, tasks);
        let step = self.greatest(step, one);
        [step, self.quotient_up(units, step)]
    }

    /// `a / b` rounded up, of numbers that are not negative.
    pub(super) fn quotient_up(&mut self, a: Val, b: Val) -> Val {
        let one = self.int(1);
        let sum = self.b.prim(Prim::Add, &[a, b]);
        let sum = self.b.prim(Prim::Sub, &[sum, one]);
        self.b.prim(Prim::IDiv, &[sum, b])
    }

    pub(super) fn least(&mut self, a: Val, b: Val) -> Val {
        let less = self.b.prim(Prim::Cmp(Cmp::Lt), &[a, b]);
        self.b.prim(Prim::Select, &[less, a, b])
    }

    pub(super) fn greatest(&mut self, a: Val, b: Val) -> Val {
        let less = self.b.prim(Prim::Cmp(Cmp::Lt), &[a, b]);
        self.b.prim(Prim::Select, &[less, b, a])
    }

    /// The range of the outer of two axes, of `extent` turns with `inner` units each, that a part of both touches.
    pub(super) fn outer_range(&mut self, (from, to): (Val, Val), extent: Val, inner: Val) -> (Val, Val) {
        let (zero, one) = (self.int(0), self.int(1));
        // The only task of small work has all, and need not divide.
        let several = self.several.unwrap_or_else(|| self.b.int(DType::Bool, 1));
        self.b.open_branch(several);
        let inner = self.greatest(inner, one);
        let first = self.b.prim(Prim::IDiv, &[from, inner]);
        let last = self.quotient_up(to, inner);
        self.b.otherwise(vec![first, last]);
        let range = self.b.close_branch(vec![zero, extent]);
        (range[0], range[1])
    }

    /// The part of turn `outer` of the axis around that lies in a part of both.
    pub(super) fn inner_range(&mut self, (from, to): (Val, Val), outer: Val, inner: Val) -> (Val, Val) {
        let zero = self.int(0);
        let before = self.b.prim(Prim::Mul, &[outer, inner]);
        let from = self.b.prim(Prim::Sub, &[from, before]);
        let to = self.b.prim(Prim::Sub, &[to, before]);
        (self.greatest(from, zero), self.least(to, inner))
    }

    /// The elements of an axis of `extent` elements in a range of pieces of so many.
    pub(super) fn elements_of(&mut self, (from, to): (Val, Val), piece: i64, extent: Val) -> (Val, Val) {
        let piece = self.int(piece);
        let from = self.b.prim(Prim::Mul, &[from, piece]);
        let to = self.b.prim(Prim::Mul, &[to, piece]);
        (from, self.least(to, extent))
    }
}
