//! Folds: the order of every sum is stated here and in `docs/numerics.md`, and nowhere else.
//!
//! A folded axis is cut into blocks of [`BLOCK`] steps, which are folded one by one, and the blocks are folded in
//! turn.  Where the last axis of the operand is folded, a step there is a vector whose lanes are folded separately; at
//! the end the upper half of the lanes is folded into the lower half until one is left.  Elsewhere a block goes in runs
//! of [`RUN`] steps, which are folded into it in turn.

use super::Emit;
use super::lanes::Turn;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::ops::reduce::ReduceKind;
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op};
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::schedule::order::{BLOCK, RUN, is_one_block, is_one_run};
use crate::schedule::roots::{self, Kind};
use tensorjit_runtime::abi::DType;

/// What a root folds with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fold {
    Reduce(ReduceKind, DType),
    /// The extreme of floats.  The accumulators are the extreme of what has come since the last NaN, and a NaN once
    /// one has come, before that any number, so that the chain from step to step is one comparison and one choice.
    Extreme {
        least: bool,
        dtype: DType,
    },
    /// The accumulators are the extreme value, NaN winning, and its index.
    Arg {
        least: bool,
        dtype: DType,
    },
    /// Sum of products.
    Dot(DType),
}

impl Fold {
    /// The number of its accumulators.
    fn width(self) -> usize {
        if matches!(self, Fold::Arg { .. } | Fold::Extreme { .. }) { 2 } else { 1 }
    }
}

/// Folds a range of steps, from the accumulators given.
type Part<'f, 'a> = &'f mut dyn FnMut(&mut Emit<'a>, (Val, Val), &[Val]) -> Result<Vec<Val>, Bug>;

impl<'a> Emit<'a> {
    pub(super) fn fold_of(&self, root: usize) -> Option<Fold> {
        let node = self.graph.node(self.roots[root].node);
        let dtype = |id: NodeId| self.graph.ty(id).dtype;
        match &node.op {
            Op::Reduce(op) => Some(match op.kind {
                // Across rows the chain from step to step goes through memory, and one accumulator is quicker.
                ReduceKind::Max | ReduceKind::Min
                    if node.ty.dtype.is_float() && self.roots[root].kind != Kind::Across =>
                {
                    Fold::Extreme { least: op.kind == ReduceKind::Min, dtype: node.ty.dtype }
                }
                kind => Fold::Reduce(kind, node.ty.dtype),
            }),
            Op::ArgReduce(op) => Some(Fold::Arg { least: op.least, dtype: dtype(node.inputs[0]) }),
            Op::Contract(_) => Some(Fold::Dot(node.ty.dtype)),
            _ => None,
        }
    }

    /// The folds that a stage makes as a whole.
    pub(super) fn folds(&self, stage: &[usize]) -> Vec<Fold> {
        stage.iter().filter_map(|root| self.inner_fold(*root)).collect()
    }

    fn inner_fold(&self, root: usize) -> Option<Fold> {
        self.fold_of(root).filter(|_| !self.roots[root].folded.is_empty())
    }

    /// Computes the roots of a stage over folded axes: maps at every element, folds as a whole.
    ///
    /// `at` are the variables of the parallel axes of the folds.  Lanes are dealt out along the last folded
    /// axis where `by_lanes`, otherwise each lane folds by itself.
    pub(super) fn fold_stage(&mut self, stage: &[usize], at: &[Dim], by_lanes: bool) -> Result<(), Bug> {
        let (mut axes, mut bytes) = (Vec::new(), 4);
        for root in stage.iter().map(|i| &self.roots[*i]).filter(|root| !root.folded.is_empty()) {
            (axes, bytes) = (root.folded.clone(), root.lane_bytes);
        }
        let lanes = match (by_lanes, axes.last()) {
            (true, Some(extent)) => self.fold_lanes(extent, bytes),
            _ => self.lanes,
        };
        let mut initial = Vec::new();
        for fold in self.folds(stage) {
            for value in self.identity(fold) {
                initial.push(self.b.splat(value, lanes));
            }
        }
        let folded = self.fold_axes(stage, at, &axes, lanes, by_lanes, &initial)?;
        let mut folded = folded.into_iter();
        for root in stage {
            let Some(fold) = self.inner_fold(*root) else { continue };
            let accumulators: Vec<Val> = folded.by_ref().take(fold.width()).collect();
            if self.roots[*root].kind == Kind::Across {
                self.fold_row_across(*root, accumulators[0])?;
                continue;
            }
            let result = if by_lanes { self.fold_halves(fold, accumulators)? } else { accumulators };
            let value = self.folded(fold, &result);
            self.finish(*root, at, value);
        }
        self.flush()
    }

    /// Two registers of lanes; fewer where the axis is known to be shorter, which changes no bit.
    pub(super) fn fold_lanes(&self, extent: &Dim, bytes: usize) -> u32 {
        self.lanes_for(extent, self.vector_lanes(bytes))
    }

    /// Folds the axes from the outermost in, starting from `initial`.
    fn fold_axes(
        &mut self,
        stage: &[usize],
        at: &[Dim],
        axes: &[Dim],
        lanes: u32,
        by_lanes: bool,
        initial: &[Val],
    ) -> Result<Vec<Val>, Bug> {
        let (axis, inner) = match axes {
            [] => return self.fold_step(stage, at, initial),
            [axis, inner @ ..] => (axis, inner),
        };
        if inner.is_empty() && by_lanes {
            return self.fold_lane_axis(stage, at, axis, lanes, initial);
        }
        let identities = initial.to_vec();
        let mut run = |emit: &mut Self, range: (Val, Val), part: &[Val]| {
            emit.range_loop((range.0, range.1, 1), part, &mut |emit, sym, carried| {
                let at = [at, &[Dim::sym(sym)]].concat();
                if inner.is_empty() {
                    return emit.fold_step(stage, &at, carried);
                }
                let one = emit.fold_axes(stage, &at, inner, lanes, by_lanes, &identities)?;
                emit.combine_all(stage, carried, &one)
            })
        };
        self.blocks(stage, axis, 1, initial, &mut |emit, range, part| {
            emit.runs(stage, axis, range, part, &mut run)
        })
    }

    /// Folds the steps of a block run by run; `run` folds a range from the identity, which `initial` is.
    fn runs(
        &mut self,
        stage: &[usize],
        axis: &Dim,
        (from, end): (Val, Val),
        initial: &[Val],
        run: Part<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        if is_one_run(axis) {
            return run(self, (from, end), initial);
        }
        let (from, total) = self.b.open_loop((from, end, RUN), initial);
        let memo = std::mem::take(&mut self.memo);
        let size = self.int(RUN);
        let to = self.b.prim(Prim::Add, &[from, size]);
        let to = self.least(to, end);
        let one = run(self, (from, to), initial)?;
        let next = self.combine_all(stage, &total, &one)?;
        self.memo = memo;
        Ok(self.b.close_loop(next))
    }

    fn fold_lane_axis(
        &mut self,
        stage: &[usize],
        at: &[Dim],
        axis: &Dim,
        lanes: u32,
        initial: &[Val],
    ) -> Result<Vec<Val>, Bug> {
        let folded = stage.iter().map(|root| &self.roots[*root]).rfind(|root| !root.folded.is_empty());
        let bytes = folded.map_or(4, |root| root.lane_bytes);
        let step = i64::from(lanes);
        let main = &axis.floor_div(&Dim::constant(step)) * &Dim::constant(step);
        let turn: Turn<'_, '_> =
            &mut |emit, sym, carried| emit.fold_step(stage, &[at, &[Dim::sym(sym)]].concat(), carried);
        if let Some(pieces) = self.pieces_of(axis, bytes, lanes) {
            return self.fold_pieces(stage, axis, &pieces, initial, turn);
        }
        if self.is_one_vector(axis, lanes) {
            return self.one_vector(axis, lanes, initial, turn);
        }
        let total = self.blocks(stage, &main, step, initial, &mut |emit, (from, to), part| {
            emit.fold_vectors((from, to), (lanes, bytes), part, turn)
        })?;
        if *axis == main {
            return Ok(total);
        }
        // The tail is a part of its own, so that the order does not depend on where the blocks end.
        let tail = if axis.as_const().is_none() && self.has_masks() && lanes > 1 {
            self.tail_halves(axis, &main, lanes, initial, turn)?
        } else {
            self.tail_vector(axis, &main, lanes, initial, turn)?
        };
        self.combine_all(stage, &total, &tail)
    }

    /// The rest of a loop in two turns of half the lanes, of which often only the first has any.
    fn tail_halves(
        &mut self,
        extent: &Dim,
        main: &Dim,
        lanes: u32,
        initial: &[Val],
        turn: Turn<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let half = lanes / 2;
        let initial: Vec<Val> = initial.iter().map(|value| self.b.half(*value, false)).collect();
        let low = self.tail_vector(extent, main, half, &initial, turn)?;
        let upper = main + &Dim::constant(half.into());
        let high = self.tail_vector(extent, &upper, half, &initial, turn)?;
        let join = |(low, high): (Val, Val)| self.b.shuffle(low, high, (0..lanes).collect());
        Ok(low.into_iter().zip(high).map(join).collect())
    }

    /// Folds `0..extent` block by block; `part` folds a range from the identity.
    fn blocks(
        &mut self,
        stage: &[usize],
        extent: &Dim,
        step: i64,
        initial: &[Val],
        part: Part<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let (zero, end) = (self.int(0), self.scalar_index(extent)?);
        let block = BLOCK * step;
        if is_one_block(extent, step) {
            return if extent.is(0) { Ok(initial.to_vec()) } else { part(self, (zero, end), initial) };
        }
        let (from, total) = self.b.open_loop((zero, end, block), initial);
        let memo = std::mem::take(&mut self.memo);
        let size = self.int(block);
        let to = self.b.prim(Prim::Add, &[from, size]);
        let last = self.b.prim(Prim::Cmp(Cmp::Lt), &[end, to]);
        let to = self.b.prim(Prim::Select, &[last, end, to]);
        let one = part(self, (from, to), initial)?;
        let next = self.combine_all(stage, &total, &one)?;
        self.memo = memo;
        Ok(self.b.close_loop(next))
    }

    /// Computes the maps of the stage at one element and folds it into the accumulators.
    fn fold_step(&mut self, stage: &[usize], at: &[Dim], carried: &[Val]) -> Result<Vec<Val>, Bug> {
        let mut carried = carried.iter().copied();
        let mut next = Vec::new();
        for root in stage {
            let Some(fold) = self.inner_fold(*root) else {
                self.compute(*root, at)?;
                continue;
            };
            let accumulators: Vec<Val> = carried.by_ref().take(fold.width()).collect();
            let folded = self.fold_element(*root, fold, at, &accumulators)?;
            for (new, old) in folded.into_iter().zip(accumulators) {
                let new = self.b.splat(new, self.b.lanes(old));
                next.push(match self.tail {
                    Some(tail) if self.b.lanes(old) == self.b.lanes(tail) => {
                        self.b.prim(Prim::Select, &[tail, new, old])
                    }
                    _ => new,
                });
            }
        }
        self.ask_for_next_row(at)?;
        self.flush()?;
        Ok(next)
    }

    fn fold_element(
        &mut self,
        root: usize,
        fold: Fold,
        at: &[Dim],
        accumulators: &[Val],
    ) -> Result<Vec<Val>, Bug> {
        let elements = roots::elements(self.graph, self.roots[root].node, at);
        let mut values = Vec::new();
        for (node, at) in &elements {
            values.push(self.value(*node, at)?);
        }
        match fold {
            Fold::Dot(dtype) if dtype.is_float() => {
                Ok(vec![self.b.prim(Prim::Fma, &[values[0], values[1], accumulators[0]])])
            }
            Fold::Dot(_) => {
                let product = self.b.prim(Prim::Mul, &values);
                Ok(vec![self.b.prim(Prim::Add, &[accumulators[0], product])])
            }
            Fold::Arg { .. } => {
                let index = self.lane_index(&at[at.len() - 1])?;
                self.combine(fold, accumulators, &[values[0], index])
            }
            // The first element is the extreme so far, and a NaN if it is one.
            Fold::Extreme { .. } if self.is_identity(fold, accumulators) => Ok(vec![values[0]; 2]),
            Fold::Extreme { .. } => self.combine(fold, accumulators, &[values[0], values[0]]),
            Fold::Reduce(..) => self.combine(fold, accumulators, &values),
        }
    }

    pub(super) fn combine_all(&mut self, stage: &[usize], a: &[Val], b: &[Val]) -> Result<Vec<Val>, Bug> {
        let mut combined = Vec::new();
        for fold in self.folds(stage) {
            let from = combined.len();
            let to = from + fold.width();
            combined.extend(self.combine(fold, &a[from..to], &b[from..to])?);
        }
        Ok(combined)
    }

    /// Folds two accumulators, the elements of `a` coming first.
    pub(super) fn combine(&mut self, fold: Fold, a: &[Val], b: &[Val]) -> Result<Vec<Val>, Bug> {
        let function = match fold {
            Fold::Dot(_) | Fold::Reduce(ReduceKind::Sum, _) => Ew::Add,
            Fold::Reduce(ReduceKind::Prod, _) => Ew::Mul,
            Fold::Reduce(ReduceKind::Max, _) => Ew::Maximum,
            Fold::Reduce(ReduceKind::Min, _) => Ew::Minimum,
            Fold::Reduce(ReduceKind::Any, _) => Ew::Or,
            Fold::Reduce(ReduceKind::All, _) => Ew::And,
            Fold::Extreme { least, .. } => {
                let better = self.b.prim(Prim::Cmp(if least { Cmp::Lt } else { Cmp::Gt }), &[a[0], b[0]]);
                let nan = self.b.prim(Prim::Cmp(Cmp::Ne), &[b[1], b[1]]);
                return Ok(vec![
                    self.b.prim(Prim::Select, &[better, a[0], b[0]]),
                    self.b.prim(Prim::Select, &[nan, b[1], a[1]]),
                ]);
            }
            Fold::Arg { least, dtype } => return self.combine_arg(least, dtype, a, b),
        };
        Ok(vec![self.apply(function, &[a[0], b[0]])?])
    }

    /// The value of the accumulators at the end.
    fn folded(&mut self, fold: Fold, accumulators: &[Val]) -> Val {
        let last = accumulators[accumulators.len() - 1];
        if !matches!(fold, Fold::Extreme { .. }) || accumulators[0] == last {
            return last;
        }
        let nan = self.b.prim(Prim::Cmp(Cmp::Ne), &[last, last]);
        self.b.prim(Prim::Select, &[nan, last, accumulators[0]])
    }

    /// The extreme of two candidates; of equals, and of two NaN, the one with the lower index.
    fn combine_arg(&mut self, least: bool, dtype: DType, a: &[Val], b: &[Val]) -> Result<Vec<Val>, Bug> {
        let better = if least { Cmp::Lt } else { Cmp::Gt };
        let earlier = self.b.prim(Prim::Cmp(Cmp::Lt), &[b[1], a[1]]);
        let wins = self.b.prim(Prim::Cmp(better), &[b[0], a[0]]);
        let equal = self.b.prim(Prim::Cmp(Cmp::Eq), &[b[0], a[0]]);
        let tie = self.b.prim(Prim::And, &[equal, earlier]);
        let mut takes = self.b.prim(Prim::Or, &[wins, tie]);
        if dtype.is_float() {
            let a_nan = self.b.prim(Prim::Cmp(Cmp::Ne), &[a[0], a[0]]);
            let b_nan = self.b.prim(Prim::Cmp(Cmp::Ne), &[b[0], b[0]]);
            let first_nan = self.b.prim(Prim::Select, &[a_nan, earlier, b_nan]);
            takes = self.b.prim(Prim::Select, &[b_nan, first_nan, takes]);
        }
        Ok(vec![
            self.b.prim(Prim::Select, &[takes, b[0], a[0]]),
            self.b.prim(Prim::Select, &[takes, b[1], a[1]]),
        ])
    }

    /// The value of no elements.
    pub(super) fn identity(&mut self, fold: Fold) -> Vec<Val> {
        let number = |emit: &mut Self, dtype: DType, float: f64, int: i64| {
            if dtype.is_float() { emit.b.float(dtype, float) } else { emit.b.int(dtype, int) }
        };
        let (Fold::Reduce(_, dtype)
        | Fold::Dot(dtype)
        | Fold::Extreme { dtype, .. }
        | Fold::Arg { dtype, .. }) = fold;
        let (least_int, greatest_int) = dtype.bounds();
        let (least_int, greatest_int) = (least_int as i64, greatest_int as i64);
        match fold {
            Fold::Reduce(ReduceKind::Sum, dtype) | Fold::Dot(dtype) => vec![number(self, dtype, 0.0, 0)],
            Fold::Reduce(ReduceKind::Prod, dtype) => vec![number(self, dtype, 1.0, 1)],
            Fold::Reduce(ReduceKind::Max, dtype) => {
                vec![number(self, dtype, f64::NEG_INFINITY, least_int)]
            }
            Fold::Reduce(ReduceKind::Min, dtype) => {
                vec![number(self, dtype, f64::INFINITY, greatest_int)]
            }
            Fold::Extreme { least, dtype } => {
                let worst = if least { f64::INFINITY } else { f64::NEG_INFINITY };
                vec![self.b.float(dtype, worst), self.b.float(dtype, 0.0)]
            }
            Fold::Reduce(ReduceKind::Any, _) => vec![self.b.int(DType::Bool, 0)],
            Fold::Reduce(ReduceKind::All, _) => vec![self.b.int(DType::Bool, 1)],
            Fold::Arg { least, dtype } => {
                let worst =
                    if least { (f64::INFINITY, greatest_int) } else { (f64::NEG_INFINITY, least_int) };
                vec![number(self, dtype, worst.0, worst.1), self.b.int(DType::I64, i64::MAX)]
            }
        }
    }

    /// Whether accumulators are those of no elements.
    fn is_identity(&mut self, fold: Fold, accumulators: &[Val]) -> bool {
        let identity = self.identity(fold);
        identity.into_iter().zip(accumulators).all(|(identity, accumulator)| {
            let lanes = self.b.lanes(*accumulator);
            self.b.splat(identity, lanes) == *accumulator
        })
    }

    /// Folds the lanes: the upper half into the lower half until one is left.
    pub(super) fn fold_halves(&mut self, fold: Fold, mut accumulators: Vec<Val>) -> Result<Vec<Val>, Bug> {
        while self.b.lanes(accumulators[0]) > 1 {
            let low: Vec<Val> = accumulators.iter().map(|v| self.b.half(*v, false)).collect();
            let high: Vec<Val> = accumulators.iter().map(|v| self.b.half(*v, true)).collect();
            accumulators = self.combine(fold, &low, &high)?;
        }
        Ok(accumulators)
    }
}
