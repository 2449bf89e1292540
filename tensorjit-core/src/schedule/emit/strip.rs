//! Strips: loops over batches, and over strips of rows, within which groups run one after another.

use super::tasks::Range;
use super::{Emit, Var};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::{Lanes, Prim, Val};
use crate::schedule::reads::volume;
use crate::schedule::strips::{HEIGHT, Strip};

/// The rows of the strip at hand.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// The position of their axis.
    pub(super) axis: usize,
    /// The first row.
    pub(super) from: Val,
    /// The row behind the last.
    pub(super) to: Val,
    /// The first row, as a variable.
    pub(super) first: Dim,
    /// The number of rows, as a variable.
    pub(super) count: Dim,
}

impl Emit<'_> {
    /// The groups of a strip, for every index of the rows that they share.
    pub(super) fn strip(&mut self, strip: &Strip) -> Result<(), Bug> {
        let first = &self.groups[strip.groups.start];
        let extents = self.roots[first.stages[0][0]].parallel[..strip.rows].to_vec();
        let (batch, rows) = extents.split_at(strip.rows - usize::from(strip.cut));
        self.shared(strip.tasks.as_ref(), &mut |emit, range| {
            emit.batches(strip, batch, rows.first(), range, &mut Vec::new())
        })
    }

    /// Loops over the axes of the batches, or the part of them in a range.
    fn batches(
        &mut self,
        strip: &Strip,
        batch: &[Dim],
        rows: Option<&Dim>,
        range: Range,
        at: &mut Vec<Dim>,
    ) -> Result<(), Bug> {
        match (batch.split_first(), rows) {
            (Some((extent, inner)), _) => self.rows_in(extent, &volume(inner), range, |emit, sym, range| {
                at.push(Dim::sym(sym));
                emit.batches(strip, inner, rows, range, at)?;
                at.pop();
                Ok(Vec::new())
            }),
            (None, Some(extent)) => self.cut_rows(strip, extent, at),
            (None, None) => self.members(strip, at),
        }
    }

    fn members(&mut self, strip: &Strip, at: &[Dim]) -> Result<(), Bug> {
        let groups = self.groups;
        groups[strip.groups.clone()].iter().try_for_each(|group| self.group(group, at))
    }

    /// Cuts the rows into strips, all of one height but the last.
    fn cut_rows(&mut self, strip: &Strip, extent: &Dim, at: &[Dim]) -> Result<(), Bug> {
        // An axis without rows has a strip without rows: what sums over it is 0.
        let turns = self.scalar_index(&extent.maximum(&Dim::constant(1)))?;
        let (zero, height, end) = (self.int(0), self.int(HEIGHT), self.scalar_index(extent)?);
        self.range_loop((zero, turns, HEIGHT), &[], &mut |emit, sym, _| {
            let from = emit.scalar_index(&Dim::sym(sym))?;
            let next = emit.b.prim(Prim::Add, &[from, height]);
            let to = emit.least(next, end);
            let count = emit.b.prim(Prim::Sub, &[to, from]);
            let [first, count] = [from, count].map(|value| Dim::sym(emit.fresh(Var::Scalar(value))));
            emit.strip = Some(Rows { axis: at.len(), from, to, first, count });
            emit.members(strip, at)?;
            emit.strip = None;
            Ok(Vec::new())
        })?;
        Ok(())
    }
}
