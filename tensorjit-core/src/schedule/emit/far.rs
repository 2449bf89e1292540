//! Folds of rows that come from far.
//!
//! A loop that does nothing but read waits for memory.  In vectors as wide as registers it fills the queue of loads with
//! requests for lines far ahead, which leaves no room for those of the machine's own prefetching; in narrow ones it asks
//! for fewer lines at a time and gets them sooner.  What is near is read in wide vectors.  Each lane folds
//! the same elements either way.

use std::mem;

use super::Emit;
use super::fold::Fold;
use super::holds::Holds;
use super::lanes::Turn;
use crate::diag::Bug;
use crate::graph::ops::reduce::ReduceKind;
use crate::lanes::{Lanes, Prim, Val};
use crate::schedule::fuse::Group;
use crate::schedule::roots::Kind;

/// Bytes that are near: most of them in caches, and all of their pages known to the core.
const NEAR: i64 = 8 << 20;

/// Bytes of a narrow vector.
const NARROW: u32 = 16;

/// A sum whose element takes no more operations than this waits for memory, where that is far.
const LEAST_OPERATIONS: u32 = 2;

impl<'a> Emit<'a> {
    /// Makes `body`, for groups that do nothing but read for far memory too.
    pub(super) fn near_or_far(
        &mut self,
        group: &Group,
        body: &mut dyn FnMut(&mut Self) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let only_reads = |root: usize| {
            let root = &self.roots[root];
            let most = root.folded.last().and_then(|extent| self.most(extent));
            let is_short = most.is_some_and(|most| most <= self.most_of_short(root.lane_bytes));
            root.kind == Kind::Fold && root.by_lanes && root.cost <= LEAST_OPERATIONS && !is_short
        };
        let is_sum =
            |root| matches!(self.fold_of(root), Some(Fold::Reduce(ReduceKind::Sum, _) | Fold::Dot(_)));
        let waits = |root| only_reads(root) && is_sum(root);
        if group.stages.len() != 1 || !group.roots().all(waits) {
            return body(self);
        }
        match self.reaches(&self.traffic(group), NEAR + 1)? {
            Holds::Always => self.reading_far(body),
            Holds::Never => body(self),
            Holds::If(far) => {
                let memo = mem::take(&mut self.memo);
                self.b.open_branch(far);
                self.reading_far(body)?;
                self.b.otherwise(Vec::new());
                self.memo.clear();
                body(self)?;
                self.b.close_branch(Vec::new());
                self.memo = memo;
                Ok(())
            }
        }
    }

    fn reading_far(&mut self, body: &mut dyn FnMut(&mut Self) -> Result<(), Bug>) -> Result<(), Bug> {
        self.reads_far = true;
        body(self)?;
        self.reads_far = false;
        Ok(())
    }

    /// Folds a range of whole vectors of so many lanes of elements of `bytes` bytes.
    pub(super) fn fold_vectors(
        &mut self,
        (from, to): (Val, Val),
        (lanes, bytes): (u32, usize),
        initial: &[Val],
        turn: Turn<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let narrow = (NARROW / bytes as u32).max(2);
        if !self.reads_far || narrow >= lanes {
            let (index, inside) = self.b.open_loop((from, to, lanes.into()), initial);
            let next = self.vector_turn(index, lanes, None, &inside, turn)?;
            return Ok(self.b.close_loop(next));
        }
        let firsts = || (0..lanes).step_by(narrow as usize);
        let mut parts = Vec::new();
        for first in firsts() {
            let lanes: Vec<u32> = (first..first + narrow).collect();
            parts.extend(initial.iter().map(|value| self.b.shuffle(*value, *value, lanes.clone())));
        }
        let (index, inside) = self.b.open_loop((from, to, lanes.into()), &parts);
        let mut next = Vec::new();
        for (first, part) in firsts().zip(inside.chunks(initial.len().max(1))) {
            let first = self.int(first.into());
            let base = self.b.prim(Prim::Add, &[index, first]);
            next.extend(self.vector_turn(base, narrow, None, part, turn)?);
        }
        let parts = self.b.close_loop(next);
        let joined = (0..initial.len()).map(|value| {
            let own = parts.iter().skip(value).step_by(initial.len());
            self.join(own.copied().collect())
        });
        Ok(joined.collect())
    }

    /// Vectors one behind the other as one; their number is a power of two.
    fn join(&mut self, mut parts: Vec<Val>) -> Val {
        while let [_, _, ..] = parts[..] {
            let pairs = parts.chunks(2).map(|pair| {
                let lanes = 2 * self.b.lanes(pair[0]);
                self.b.shuffle(pair[0], pair[1], (0..lanes).collect())
            });
            parts = pairs.collect();
        }
        parts[0]
    }
}
