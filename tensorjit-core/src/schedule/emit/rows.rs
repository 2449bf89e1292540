//! Loops over rows, and the stages of a row.

use super::Emit;
use super::coming::Asked;
use super::tasks::{Part, Range};
use crate::diag::Bug;
use crate::dim::{Dim, Sym};
use crate::lanes::Val;
use crate::schedule::fuse::Group;
use crate::schedule::joint;
use crate::schedule::reads;
use crate::schedule::roots::{Kind, Root};
use crate::schedule::tasks::{Cut, PIECE};

/// A fold of elements that take no more operations than this keeps eight accumulators in registers.
pub(super) const FEW_OPERATIONS: u32 = 12;

impl<'a> Emit<'a> {
    /// A group of loops over rows, at the indices `prefix` of the leading axes.
    pub(super) fn rows(&mut self, group: &Group, prefix: &[Dim]) -> Result<(), Bug> {
        let first = &self.roots[group.stages[0][0]];
        let extents = first.parallel[..group.rows].to_vec();
        let cut = Cut::of(&self.facts, self.grain, self.roots, group);
        if group.roots().any(|root| self.roots[root].kind == Kind::Across) {
            return self.past_caches(group, |emit| emit.rows_across(group, &extents, cut.as_ref()));
        }
        let extents = self.collapse(group, extents, prefix.len() + usize::from(self.strip.is_some()));
        // Where nothing is left inside a row, the last axis of the rows is the one for vectors.
        let inner = group.roots().any(|root| {
            let root = &self.roots[root];
            root.parallel.len() > group.rows || root.by_lanes
        });
        if !prefix.is_empty() {
            return self.row_loops(group, &extents[prefix.len()..], inner, None, &mut prefix.to_vec());
        }
        if !inner && self.turn(group, &extents, cut.as_ref())? {
            return Ok(());
        }
        let cut = cut.map(|cut| Cut { units: units(&extents, inner), ..cut });
        // A single piece of the last axis is not divided.
        let cut = cut.filter(|cut| !cut.units.is(1));
        let several = !reads::volume(&extents).is(1);
        let part: Part<'_, 'a> = &mut |emit, range| {
            let mut rows = |emit: &mut Self| emit.row_loops(group, &extents, inner, range, &mut Vec::new());
            emit.by_length(group, several, &mut |emit| emit.near_or_far(group, &mut rows))
        };
        if self.strip.is_some() {
            return self.shared(cut.as_ref(), part);
        }
        self.past_caches(group, |emit| emit.shared(cut.as_ref(), part))
    }

    /// Loops over the rows in a range of their units, or over all.
    fn row_loops(
        &mut self,
        group: &Group,
        extents: &[Dim],
        inner: bool,
        range: Range,
        at: &mut Vec<Dim>,
    ) -> Result<(), Bug> {
        match extents {
            [] => self.stages(group, at),
            [extent] if !inner => {
                let (bytes, registers) = self.vectors(group.roots());
                let range = match range {
                    Some(range) => {
                        let end = self.scalar_index(extent)?;
                        Some(self.elements_of(range, PIECE, end))
                    }
                    None => None,
                };
                let streaming = self.streaming(group.roots(), at)?;
                self.lane_range(extent, range, streaming, (bytes, registers), &mut |emit, sym| {
                    at.push(Dim::sym(sym));
                    emit.stages(group, at)?;
                    at.pop();
                    Ok(())
                })
            }
            [extent, rest @ ..] => {
                let strip = self.strip.as_ref().filter(|rows| rows.axis == at.len());
                let strip = strip.map(|rows| (rows.from, rows.to, 1));
                let mut row = |emit: &mut Self, sym: Sym, range| {
                    at.push(Dim::sym(sym));
                    emit.row_loops(group, rest, inner, range, at)?;
                    at.pop();
                    Ok(Vec::new())
                };
                if let Some(strip) = strip {
                    self.range_loop(strip, &[], &mut |emit, sym, _| row(emit, sym, None))?;
                    return Ok(());
                }
                self.rows_in(extent, &units(rest, inner), range, row)
            }
        }
    }

    /// Loops over an axis; the range is over it and those inside together, whose units are `inside`.
    pub(super) fn rows_in(
        &mut self,
        extent: &Dim,
        inside: &Dim,
        range: Range,
        mut row: impl FnMut(&mut Self, Sym, Range) -> Result<Vec<Val>, Bug>,
    ) -> Result<(), Bug> {
        match range {
            None => self.scalar_loop(extent, &[], &mut |emit, sym, _| row(emit, sym, None))?,
            Some(range) if extent.is(1) => {
                self.scalar_loop(extent, &[], &mut |emit, sym, _| row(emit, sym, Some(range)))?
            }
            Some((from, to)) if inside.is(1) => {
                self.range_loop((from, to, 1), &[], &mut |emit, sym, _| row(emit, sym, None))?
            }
            Some(range) => {
                let inside = self.scalar_index(inside)?;
                let extent = self.scalar_index(extent)?;
                let (from, to) = self.outer_range(range, extent, inside);
                self.range_loop((from, to, 1), &[], &mut |emit, sym, _| {
                    let outer = emit.scalar_index(&Dim::sym(sym))?;
                    let range = emit.inner_range(range, outer, inside);
                    row(emit, sym, Some(range))
                })?
            }
        };
        Ok(())
    }

    /// Bytes of an element and registers of a vector for a loop without folds along the lanes.
    fn vectors(&self, roots: impl Iterator<Item = usize> + Clone) -> (usize, u32) {
        let bytes = roots.clone().map(|root| self.roots[root].lane_bytes).max().unwrap_or(4);
        // A fold reads a few neighbours of every row: the more, the fewer times it walks down the rows.
        let cheap_fold = |root: &Root| root.kind == Kind::Fold && root.cost <= FEW_OPERATIONS;
        let registers = if roots.clone().all(|root| cheap_fold(&self.roots[root])) { 8 } else { 2 };
        (bytes, registers)
    }

    pub(super) fn stages(&mut self, group: &Group, at: &[Dim]) -> Result<(), Bug> {
        self.row.clear();
        let asked = self.asked_by_stages(group);
        for (stage, asked) in group.stages.iter().zip(asked) {
            for root in stage {
                if let Some(stored) = self.stored.get(&self.roots[*root].node) {
                    self.b.pin(stored.buf);
                }
            }
            self.memo.clear();
            self.asked = asked;
            self.stage(group, stage, at)?;
        }
        self.asked = Asked::default();
        Ok(())
    }

    fn stage(&mut self, group: &Group, stage: &[usize], at: &[Dim]) -> Result<(), Bug> {
        let folds = stage.iter().map(|root| &self.roots[*root]).find(|root| !root.folded.is_empty());
        let frame: &Root = folds.unwrap_or(&self.roots[stage[0]]);
        let (parallel, by_lanes) = (frame.parallel[group.rows..].to_vec(), frame.by_lanes);
        let folded = !frame.folded.is_empty();
        self.inner_loops(stage, &parallel, folded, by_lanes, &mut at.to_vec())
    }

    /// The parallel axes inside a row; the last is for vectors unless a fold takes the lanes.
    fn inner_loops(
        &mut self,
        stage: &[usize],
        extents: &[Dim],
        folded: bool,
        by_lanes: bool,
        at: &mut Vec<Dim>,
    ) -> Result<(), Bug> {
        let turn = |emit: &mut Self, at: &mut Vec<Dim>, sym: Sym, rest: &[Dim]| {
            at.push(Dim::sym(sym));
            emit.inner_loops(stage, rest, folded, by_lanes, at)?;
            at.pop();
            Ok(Vec::new())
        };
        match extents {
            [] if folded => self.fold_stage(stage, at, by_lanes),
            [] => {
                stage.iter().try_for_each(|root| self.compute(*root, at))?;
                self.ask_for_next_row(at)?;
                self.flush()
            }
            [extent] if !by_lanes && self.lanes == 1 => {
                let (bytes, registers) = self.vectors(stage.iter().copied());
                let streaming = if folded { None } else { self.streaming(stage.iter().copied(), at)? };
                self.lane_range(extent, None, streaming, (bytes, registers), &mut |emit, sym| {
                    turn(emit, at, sym, &[]).map(|_| ())
                })
            }
            [extent, rest @ ..] => {
                self.scalar_loop(extent, &[], &mut |emit, sym, _| turn(emit, at, sym, rest))?;
                Ok(())
            }
        }
    }

    /// Makes one loop of two where no access can tell: an outer variable stays 0, the inner one runs over both.
    ///
    /// From the outside in, so that an axis that has been joined to the next goes on with it.  The first `open` axes
    /// stay as they are.
    fn collapse(&self, group: &Group, mut extents: Vec<Dim>, open: usize) -> Vec<Dim> {
        for axis in open..extents.len().saturating_sub(1) {
            if group.roots().all(|root| joint::can_join(self.graph, &self.roots[root], axis)) {
                extents[axis + 1] = &extents[axis] * &extents[axis + 1];
                extents[axis] = Dim::constant(1);
            }
        }
        extents
    }
}

/// How many units of work the rows have: a unit is a row, or a piece of the last axis where that is the one for
/// vectors.
fn units(extents: &[Dim], inner: bool) -> Dim {
    match extents.split_last() {
        Some((last, outer)) if !inner => &reads::volume(outer) * &last.ceil_div(&Dim::constant(PIECE)),
        _ => reads::volume(extents),
    }
}
