//! Folds across the rows of a group: every row is folded into accumulators that stand in memory, in the order that
//! `fold.rs` states.

use super::Emit;
use super::fold::Fold;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::loops::{Buf, Buffer, Place};
use crate::schedule::fuse::Group;
use crate::schedule::order::{BLOCK, is_one_block};
use crate::schedule::reads;
use crate::schedule::roots::Kind;

/// A fold across rows while its loops are made.
#[derive(Clone, Debug)]
pub(super) struct Across {
    root: usize,
    fold: Fold,
    /// For each axis of the rows: the accumulators of the blocks before, and of the block at hand.
    levels: Vec<(Buf, Buf)>,
    /// The number of accumulators, elements of the result.
    count: Dim,
    /// Where all axes are folded: how many lanes the only accumulator has.
    lanes: Option<u32>,
}

impl<'a> Emit<'a> {
    /// The loops over the rows of a group some of whose folds go across them.
    pub(super) fn rows_across(&mut self, group: &Group, extents: &[Dim]) -> Result<(), Bug> {
        let roots = group.roots().filter(|root| self.roots[*root].kind == Kind::Across);
        let folds = roots.map(|root| self.across(root)).collect::<Result<Vec<_>, _>>()?;
        self.across = folds.clone();
        self.axis_across(group, extents, &mut Vec::new())?;
        self.across.clear();
        folds.iter().try_for_each(|fold| self.finish_across(fold))
    }

    fn across(&mut self, root: usize) -> Result<Across, Bug> {
        let node = self.roots[root].node;
        let ty = self.graph.ty(node);
        let nowhere = || Bug::new("schedule", format!("{node:?} has no accumulators"));
        let fold = self.fold_of(root).ok_or_else(nowhere)?;
        let mut levels = Vec::new();
        for accumulators in &self.memory.homes[root].accumulators {
            let mut arena = |offset: &Option<Dim>| {
                let place = Place::Arena(offset.clone()?);
                Some(self.b.buffer(Buffer { dtype: ty.dtype, place }))
            };
            let total = arena(&accumulators.total);
            let block = arena(&accumulators.block);
            let total = total.or_else(|| Some(self.stored.get(&node)?.buf)).ok_or_else(nowhere)?;
            levels.push((total, block.unwrap_or(total)));
        }
        let lanes =
            self.roots[root].folded.last().map(|extent| self.fold_lanes(extent, self.roots[root].lane_bytes));
        Ok(Across { root, fold, levels, count: reads::volume(&ty.shape), lanes })
    }

    /// Folds an axis of the rows into its totals; within the innermost axis the stages are computed.
    fn axis_across(&mut self, group: &Group, extents: &[Dim], at: &mut Vec<Dim>) -> Result<(), Bug> {
        let Some((extent, inner)) = extents.split_first() else { return self.stages(group, at) };
        let axis = at.len();
        self.each_across(|emit, fold| emit.clear(fold, fold.levels[axis].0))?;
        let mut steps = |emit: &mut Self, from: Val, to: Val| {
            emit.range_loop((from, to, 1), &[], &mut |emit, sym, _| {
                at.push(Dim::sym(sym));
                emit.axis_across(group, inner, at)?;
                at.pop();
                if !inner.is_empty() {
                    emit.each_across(|emit, fold| {
                        emit.accumulate(fold, fold.levels[axis].1, fold.levels[axis + 1].0)
                    })?;
                }
                Ok(Vec::new())
            })
        };
        let (zero, end) = (self.int(0), self.scalar_index(extent)?);
        if is_one_block(extent, 1) {
            steps(self, zero, end)?;
            return Ok(());
        }
        let (from, _) = self.b.open_loop((zero, end, BLOCK), &[]);
        let memo = std::mem::take(&mut self.memo);
        self.each_across(|emit, fold| emit.clear(fold, fold.levels[axis].1))?;
        let size = self.int(BLOCK);
        let to = self.b.prim(Prim::Add, &[from, size]);
        let last = self.b.prim(Prim::Cmp(Cmp::Lt), &[end, to]);
        let to = self.b.prim(Prim::Select, &[last, end, to]);
        steps(self, from, to)?;
        self.each_across(|emit, fold| emit.accumulate(fold, fold.levels[axis].0, fold.levels[axis].1))?;
        self.memo = memo;
        self.b.close_loop(Vec::new());
        Ok(())
    }

    fn each_across(
        &mut self,
        mut body: impl FnMut(&mut Self, &Across) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let folds = self.across.clone();
        folds.iter().try_for_each(|fold| body(self, fold))
    }

    /// Sets accumulators to the value of no elements.
    fn clear(&mut self, fold: &Across, buf: Buf) -> Result<(), Bug> {
        let identity = self.identity(fold.fold)[0];
        self.each_lane(fold, &mut |emit, offset, lanes| {
            emit.b.pin(buf);
            let identity = emit.b.splat(identity, lanes);
            emit.store_at(buf, offset, identity)
        })
    }

    /// Folds the accumulators `from` into `to`.
    fn accumulate(&mut self, fold: &Across, to: Buf, from: Buf) -> Result<(), Bug> {
        self.each_lane(fold, &mut |emit, offset, _| {
            emit.b.pin(from);
            let value = emit.load_at(from, offset)?;
            emit.fold_into(fold, to, offset, value)
        })
    }

    /// Runs `body` for the offsets of all accumulators, in vectors.
    fn each_lane(
        &mut self,
        fold: &Across,
        body: &mut dyn FnMut(&mut Self, &Dim, u32) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        if let Some(lanes) = fold.lanes {
            let zero = self.int(0);
            self.vector_turn(zero, lanes, None, &[], &mut |emit, sym, _| {
                body(emit, &Dim::sym(sym), lanes).map(|()| Vec::new())
            })?;
            return Ok(());
        }
        let bytes = self.roots[fold.root].lane_bytes;
        self.lane_loop(&fold.count, bytes, 2, &mut |emit, sym| body(emit, &Dim::sym(sym), emit.lanes))
    }

    fn fold_into(&mut self, fold: &Across, to: Buf, offset: &Dim, value: Val) -> Result<(), Bug> {
        self.b.pin(to);
        let old = self.load_at(to, offset)?;
        let new = self.combine(fold.fold, &[old], &[value])?;
        self.store_at(to, offset, new[0])
    }

    /// Folds an element of a row into the accumulator of its place.
    pub(super) fn fold_element_across(&mut self, root: usize, at: &[Dim]) -> Result<(), Bug> {
        let operand = self.graph.node(self.roots[root].node).inputs[0];
        let value = self.value(operand, at)?;
        let value = self.b.splat(value, self.lanes);
        let Some(fold) = self.across.iter().find(|fold| fold.root == root).cloned() else {
            return Err(Bug::new("schedule", format!("{operand:?} is not folded across rows")));
        };
        let rows = fold.levels.len();
        let offset = reads::flat(&self.graph.ty(self.roots[root].node).shape, &at[rows..]);
        self.fold_into(&fold, fold.levels[rows - 1].1, &offset, value)
    }

    /// Folds the lanes of what a row was folded to into the accumulator.
    pub(super) fn fold_row_across(&mut self, root: usize, value: Val) -> Result<(), Bug> {
        let Some(fold) = self.across.iter().find(|fold| fold.root == root).cloned() else {
            return Err(Bug::new("schedule", "a row is not folded across rows"));
        };
        let to = fold.levels[fold.levels.len() - 1].1;
        self.each_lane(&fold, &mut |emit, offset, _| emit.fold_into(&fold, to, offset, value))
    }

    /// After all rows: the result to all its homes.
    fn finish_across(&mut self, fold: &Across) -> Result<(), Bug> {
        let (total, _) = fold.levels[0];
        self.b.pin(total);
        if let Some(lanes) = fold.lanes {
            let zero = self.int(0);
            let lanes = self.b.load(total, zero, lanes, None);
            let value = self.fold_halves(fold.fold, vec![lanes])?;
            return self.store(fold.root, &[], value[0]);
        }
        let home = &self.memory.homes[fold.root];
        let skip = usize::from(home.arena.is_none());
        for argument in home.arguments.clone().into_iter().skip(skip) {
            self.copy(total, self.arguments[argument as usize], &fold.count)?;
        }
        Ok(())
    }
}
