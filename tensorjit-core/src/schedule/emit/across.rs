//! Folds across the rows of a group: every row is folded into accumulators that stand in memory, in the order that
//! `fold.rs` states.

use super::Emit;
use super::fold::Fold;
use super::rows::FEW_OPERATIONS;
use super::tasks::Range;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::{Lanes, Prim, Val};
use crate::loops::Buf;
use crate::schedule::fuse::Group;
use crate::schedule::memory::Accumulators;
use crate::schedule::order::{BLOCK, RUN, is_one_block, is_one_run};
use crate::schedule::reads;
use crate::schedule::roots::Kind;
use crate::schedule::tasks::Cut;

/// The fewest registers of a block of columns whose elements take few operations.
const FEW_REGISTERS: u32 = 8;

/// A fold across rows while its loops are made.
#[derive(Clone, Debug)]
pub(super) struct Across {
    root: usize,
    fold: Fold,
    /// For each axis of the rows, outermost first.
    levels: Vec<Level>,
    /// The number of accumulators, elements of the result.
    count: Dim,
    /// Where all axes are folded: how many lanes the only accumulator has.
    lanes: Option<u32>,
}

/// The accumulators of an axis.
#[derive(Clone, Debug)]
struct Level {
    /// Of the blocks before.
    total: Place,
    /// Of the block at hand.
    block: Place,
    /// Of the run at hand.
    run: Place,
    /// Where tasks have their own: the elements from one to the next, of a run and of the others.
    run_slice: Option<Dim>,
    slice: Option<Dim>,
}

/// Where accumulators stand.
#[derive(Clone, Debug)]
struct Place {
    buf: Buf,
    /// The first element.
    from: Dim,
}

impl<'a> Emit<'a> {
    /// The loops over the rows of a group some of whose folds go across them.
    pub(super) fn rows_across(
        &mut self,
        group: &Group,
        extents: &[Dim],
        cut: Option<&Cut>,
    ) -> Result<(), Bug> {
        let roots = group.roots().filter(|root| self.roots[*root].kind == Kind::Across);
        let folds = roots.map(|root| self.across(root)).collect::<Result<Vec<_>, _>>()?;
        self.across = folds.clone();
        self.axis_across(group, extents, cut, &mut Vec::new())?;
        self.across.clear();
        folds.iter().try_for_each(|fold| self.finish_across(fold))
    }

    fn across(&mut self, root: usize) -> Result<Across, Bug> {
        let node = self.roots[root].node;
        let ty = self.graph.ty(node);
        let nowhere = || Bug::new("schedule", format!("{node:?} has no accumulators"));
        let fold = self.fold_of(root).ok_or_else(nowhere)?;
        let mut levels = Vec::new();
        let memory = self.memory;
        for accumulators in &memory.homes[root].accumulators {
            let mut arena = |offset: &Option<Dim>| Some(self.arena(ty.dtype, offset.as_ref()?));
            let total = arena(&accumulators.total);
            let block = arena(&accumulators.block);
            let run = arena(&accumulators.run);
            let total = total.or_else(|| Some(self.stored.get(&node)?.buf)).ok_or_else(nowhere)?;
            let place = |buf| Place { buf, from: Dim::default() };
            let block = block.unwrap_or(total);
            let run = place(run.unwrap_or(block));
            let Accumulators { slice, run_slice, .. } = accumulators.clone();
            levels.push(Level { total: place(total), block: place(block), run, run_slice, slice });
        }
        let lanes =
            self.roots[root].folded.last().map(|extent| self.fold_lanes(extent, self.roots[root].lane_bytes));
        Ok(Across { root, fold, levels, count: reads::volume(&ty.shape), lanes })
    }

    /// Folds an axis of the rows into its totals; within the innermost axis the stages are computed.
    fn axis_across(
        &mut self,
        group: &Group,
        extents: &[Dim],
        cut: Option<&Cut>,
        at: &mut Vec<Dim>,
    ) -> Result<(), Bug> {
        let Some((extent, inner)) = extents.split_first() else { return self.stages(group, at) };
        let axis = at.len();
        self.each_across(|emit, fold| emit.clear(fold, &fold.levels[axis].total))?;
        let end = self.scalar_index(extent)?;
        let one_run = is_one_run(extent);
        let in_registers = inner.is_empty() && group.sums_columns(self.roots);
        let mut run = |emit: &mut Self, from: Val, to: Val| {
            if in_registers {
                return emit.columns_of_run(group, at, (from, to));
            }
            if !one_run {
                emit.each_across(|emit, fold| emit.clear(fold, &fold.levels[axis].run))?;
            }
            emit.range_loop((from, to, 1), &[], &mut |emit, sym, _| {
                at.push(Dim::sym(sym));
                emit.axis_across(group, inner, cut, at)?;
                at.pop();
                if !inner.is_empty() {
                    emit.each_across(|emit, fold| {
                        emit.accumulate(fold, &fold.levels[axis].run, &fold.levels[axis + 1].total)
                    })?;
                }
                Ok(Vec::new())
            })?;
            if !one_run {
                emit.each_across(|emit, fold| {
                    emit.accumulate(fold, &fold.levels[axis].block, &fold.levels[axis].run)
                })?;
            }
            Ok(())
        };
        let mut steps = |emit: &mut Self, from: Val, end: Val| {
            if one_run {
                return run(emit, from, end);
            }
            emit.range_loop((from, end, RUN), &[], &mut |emit, sym, _| {
                let (from, size) = (emit.scalar_index(&Dim::sym(sym))?, emit.int(RUN));
                let to = emit.b.prim(Prim::Add, &[from, size]);
                let to = emit.least(to, end);
                run(emit, from, to)?;
                Ok(Vec::new())
            })?;
            Ok(())
        };
        if is_one_block(extent, 1) {
            let zero = self.int(0);
            return steps(self, zero, end);
        }
        let mut block = |emit: &mut Self, from: Val| {
            emit.each_across(|emit, fold| emit.clear(fold, &fold.levels[axis].block))?;
            let size = emit.int(BLOCK);
            let to = emit.b.prim(Prim::Add, &[from, size]);
            let to = emit.least(to, end);
            steps(emit, from, to)
        };
        let total = |emit: &mut Self| {
            emit.each_across(|emit, fold| {
                emit.accumulate(fold, &fold.levels[axis].total, &fold.levels[axis].block)
            })
        };
        match cut.filter(|cut| cut.axis == Some(axis)) {
            Some(cut) => {
                self.shared(Some(cut), &mut |emit, range| emit.blocks_of_task(axis, cut, range, &mut block))?;
                self.each_unit(axis, cut, None, &mut |emit, _| total(emit))
            }
            None => {
                let zero = self.int(0);
                self.range_loop((zero, end, BLOCK), &[], &mut |emit, sym, _| {
                    let from = emit.scalar_index(&Dim::sym(sym))?;
                    block(emit, from)?;
                    total(emit)?;
                    Ok(Vec::new())
                })?;
                Ok(())
            }
        }
    }

    /// Folds the rows of a run column by column: the accumulators of a few columns stay in registers for all rows.
    fn columns_of_run(&mut self, group: &Group, at: &[Dim], (from, to): (Val, Val)) -> Result<(), Bug> {
        let stage = &group.stages[0];
        let extent = self.roots[stage[0]].parallel[group.rows].clone();
        let roots = || stage.iter().map(|root| &self.roots[*root]);
        let bytes = roots().map(|root| root.lane_bytes).max().unwrap_or(4);
        // The wider a block of columns, the fewer of the lines of its rows are read for its neighbours too.
        let most = self.b.target().vector_registers / 2;
        let registers = if roots().all(|root| root.cost <= FEW_OPERATIONS) {
            (most / stage.len() as u32).max(FEW_REGISTERS)
        } else {
            2
        };
        self.lane_loop(&extent, bytes, registers, &mut |emit, column| {
            let folds = emit.across.clone();
            let mut identities = Vec::with_capacity(folds.len());
            for fold in &folds {
                let identity = emit.identity(fold.fold)[0];
                identities.push(emit.b.splat(identity, emit.lanes));
            }
            let runs = emit.range_loop((from, to, 1), &identities, &mut |emit, row, runs| {
                let index = [at, &[Dim::sym(row), Dim::sym(column)]].concat();
                let mut next = Vec::with_capacity(runs.len());
                for (fold, run) in folds.iter().zip(runs) {
                    let operand = emit.graph.node(emit.roots[fold.root].node).inputs[0];
                    let value = emit.value(operand, &index)?;
                    let value = emit.b.splat(value, emit.lanes);
                    next.extend(emit.combine(fold.fold, &[*run], &[value])?);
                }
                Ok(next)
            })?;
            folds.iter().zip(runs).try_for_each(|(fold, run)| {
                let place = &fold.levels[at.len()].block;
                emit.fold_into(fold, place, &Dim::sym(column), run)
            })
        })
    }

    /// The blocks of a task, whose accumulators of inner axes are its own.
    fn blocks_of_task(
        &mut self,
        axis: usize,
        cut: &Cut,
        range: Range,
        block: &mut dyn FnMut(&mut Self, Val) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        if let Some(task) = self.task {
            let from =
                |slice: &Option<Dim>| slice.as_ref().map(|slice| slice * &Dim::sym(task)).unwrap_or_default();
            for level in self.across.iter_mut().flat_map(|fold| &mut fold.levels[axis..]) {
                level.run.from = from(&level.run_slice);
            }
            for level in self.across.iter_mut().flat_map(|fold| &mut fold.levels[axis + 1..]) {
                (level.total.from, level.block.from) = (from(&level.slice), from(&level.slice));
            }
        }
        self.each_unit(axis, cut, range, &mut |emit, unit| {
            let size = emit.int(BLOCK);
            let from = emit.b.prim(Prim::Mul, &[unit, size]);
            block(emit, from)
        })
    }

    /// Runs `body` for units in a range, or for all, each the block of an axis with accumulators of its own.
    fn each_unit(
        &mut self,
        axis: usize,
        cut: &Cut,
        range: Range,
        body: &mut dyn FnMut(&mut Self, Val) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let (from, to) = match range {
            Some(range) => range,
            None => (self.int(0), self.scalar_index(&cut.units)?),
        };
        self.range_loop((from, to, 1), &[], &mut |emit, sym, _| {
            for level in emit.across.iter_mut().map(|fold| &mut fold.levels[axis]) {
                if let Some(slice) = &level.slice {
                    level.block.from = slice * &Dim::sym(sym);
                }
            }
            let unit = emit.scalar_index(&Dim::sym(sym))?;
            body(emit, unit)?;
            Ok(Vec::new())
        })?;
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
    fn clear(&mut self, fold: &Across, place: &Place) -> Result<(), Bug> {
        let identity = self.identity(fold.fold)[0];
        self.each_lane(fold, &mut |emit, offset, lanes| {
            emit.b.pin(place.buf);
            let identity = emit.b.splat(identity, lanes);
            emit.store_at(place.buf, &(&place.from + offset), identity)
        })
    }

    /// Folds the accumulators `from` into `to`.
    fn accumulate(&mut self, fold: &Across, to: &Place, from: &Place) -> Result<(), Bug> {
        self.each_lane(fold, &mut |emit, offset, _| {
            emit.b.pin(from.buf);
            let value = emit.load_at(from.buf, &(&from.from + offset))?;
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

    fn fold_into(&mut self, fold: &Across, to: &Place, offset: &Dim, value: Val) -> Result<(), Bug> {
        self.b.pin(to.buf);
        let offset = &to.from + offset;
        let old = self.load_at(to.buf, &offset)?;
        let new = self.combine(fold.fold, &[old], &[value])?;
        self.store_at(to.buf, &offset, new[0])
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
        self.fold_into(&fold, &fold.levels[rows - 1].run, &offset, value)
    }

    /// Folds the lanes of what a row was folded to into the accumulator.
    pub(super) fn fold_row_across(&mut self, root: usize, value: Val) -> Result<(), Bug> {
        let Some(fold) = self.across.iter().find(|fold| fold.root == root).cloned() else {
            return Err(Bug::new("schedule", "a row is not folded across rows"));
        };
        let to = &fold.levels[fold.levels.len() - 1].run;
        self.each_lane(&fold, &mut |emit, offset, _| emit.fold_into(&fold, to, offset, value))
    }

    /// After all rows: the result to all its homes.
    fn finish_across(&mut self, fold: &Across) -> Result<(), Bug> {
        let total = fold.levels[0].total.buf;
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
