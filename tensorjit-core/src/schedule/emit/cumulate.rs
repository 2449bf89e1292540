//! Folds that run along an axis, one element after another, the fold so far in registers.
//!
//! Where the axis is not the last one, lanes are neighbours along the last.  What is carried may be of a wider type than
//! the elements, which are then converted step by step and the results rounded.

use super::Emit;
use super::tasks::Range;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::ops::cumulate::{Cumulate, Running};
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op};
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::schedule::fuse::Group;
use crate::schedule::joint;
use crate::schedule::reads::volume;
use crate::schedule::tasks::Cut;
use tensorjit_runtime::abi::DType;

/// Registers of lanes that walk down an axis together.
const REGISTERS: u32 = 4;

/// Rows that are folded along the last axis at the same time: as many as a sum takes cycles.
const ROWS: i64 = 4;

/// A running fold while it is emitted.
#[derive(Clone, Copy)]
struct Lane<'g> {
    root: usize,
    op: &'g Cumulate,
    inputs: &'g [NodeId],
    /// The type of what is carried.
    dtype: DType,
}

impl<'a> Emit<'a> {
    /// A running fold.
    pub(super) fn cumulate(&mut self, group: &Group) -> Result<(), Bug> {
        let root = group.stages[0][0];
        let graph = self.graph;
        let node = graph.node(self.roots[root].node);
        let Op::Cumulate(op) = &node.op else {
            return Err(Bug::new("schedule", format!("{:?} is no running fold", self.roots[root].node)));
        };
        let dtype = op.fold.carry(graph.ty(node.inputs[0]).dtype);
        let lane = Lane { root, op, inputs: &node.inputs, dtype };
        let mut extents = self.roots[root].parallel.clone();
        for axis in 0..extents.len().saturating_sub(1) {
            let apart = axis == op.axis || axis + 1 == op.axis;
            if !apart && joint::can_join(graph, &self.roots[root], axis) {
                extents[axis + 1] = &extents[axis] * &extents[axis + 1];
                extents[axis] = Dim::constant(1);
            }
        }
        let rows = Group { rows: op.axis, ..group.clone() };
        let cut = Cut::of(&self.facts, self.grain, self.roots, &rows);
        self.shared(cut.as_ref(), &mut |emit, range| emit.lanes_of(lane, &extents, range, &mut Vec::new()))
    }

    /// Loops over all axes but the one of the fold, which is innermost: those before it in a range of rows.
    fn lanes_of(
        &mut self,
        lane: Lane<'a>,
        extents: &[Dim],
        range: Range,
        at: &mut Vec<Dim>,
    ) -> Result<(), Bug> {
        let axis = at.len();
        let Some(extent) = extents.get(axis) else {
            return self.run(lane, &extents[lane.op.axis], std::slice::from_ref(at));
        };
        if axis == lane.op.axis {
            // Its place is filled by the loop inside.
            at.push(Dim::constant(0));
            self.lanes_of(lane, extents, None, at)?;
        } else if axis + 1 == extents.len() {
            self.lane_loop(extent, self.roots[lane.root].lane_bytes, REGISTERS, &mut |emit, sym| {
                at.push(Dim::sym(sym));
                emit.lanes_of(lane, extents, None, at)?;
                at.pop();
                Ok(())
            })?;
            return Ok(());
        } else if axis + 2 == extents.len() && axis + 1 == lane.op.axis && !extent.is(1) {
            return self.rows_together(lane, extents, range, at);
        } else {
            let inside = volume(extents.get(axis + 1..lane.op.axis).unwrap_or(&[]));
            self.rows_in(extent, &inside, range, |emit, sym, range| {
                at.push(Dim::sym(sym));
                emit.lanes_of(lane, extents, range, at)?;
                at.pop();
                Ok(Vec::new())
            })?;
            return Ok(());
        }
        at.pop();
        Ok(())
    }

    /// Loops over rows along the last axis, several at a time: their chains of operations do not wait for each other.
    fn rows_together(
        &mut self,
        lane: Lane<'a>,
        extents: &[Dim],
        range: Range,
        at: &[Dim],
    ) -> Result<(), Bug> {
        let [rows, extent] = &extents[at.len()..] else {
            return Err(Bug::new("schedule", "a row has one axis inside"));
        };
        let (from, to) = match range {
            Some(range) => range,
            None => (self.int(0), self.scalar_index(rows)?),
        };
        let several = self.int(ROWS);
        let count = self.b.prim(Prim::Sub, &[to, from]);
        let blocks = self.b.prim(Prim::IDiv, &[count, several]);
        let whole = self.b.prim(Prim::Mul, &[blocks, several]);
        let middle = self.b.prim(Prim::Add, &[from, whole]);
        for (from, to, step) in [(from, middle, ROWS), (middle, to, 1)] {
            self.range_loop((from, to, step), &[], &mut |emit, sym, _| {
                let row = |row: i64| [at, &[&Dim::sym(sym) + &Dim::constant(row), Dim::constant(0)]].concat();
                let ats: Vec<Vec<Dim>> = (0..step).map(row).collect();
                emit.run(lane, extent, &ats)?;
                Ok(Vec::new())
            })?;
        }
        Ok(())
    }

    /// The folds of the lanes at hand, at each of `ats`, from one end of the axis to the other.
    fn run(&mut self, lane: Lane<'a>, extent: &Dim, ats: &[Vec<Dim>]) -> Result<(), Bug> {
        let axis = lane.op.axis;
        let lanes = self.lanes;
        let nothing = self.nothing(lane);
        let width = nothing.len();
        let nothing: Vec<Val> = nothing.into_iter().map(|value| self.b.splat(value, lanes)).collect();
        let initial = nothing.repeat(ats.len());
        let result_type = self.graph.ty(self.roots[lane.root].node).dtype;
        let mut ats = ats.to_vec();
        self.scalar_loop(extent, &initial, &mut |emit, sym, folded| {
            let mut place = Dim::sym(sym);
            if lane.op.reverse {
                place = &(extent - &Dim::constant(1)) - &place;
            }
            let mut all = Vec::with_capacity(folded.len());
            let mut results = Vec::with_capacity(ats.len());
            for (at, folded) in ats.iter_mut().zip(folded.chunks(width)) {
                at[axis] = place.clone();
                let next = emit.step(lane, at, folded)?;
                all.extend(next.into_iter().map(|value| emit.b.splat(value, lanes)));
                let result = if lane.op.exclusive { folded } else { &all };
                results.push(emit.converted(result[result.len() - 1], result_type));
            }
            for (at, result) in ats.iter().zip(results) {
                emit.store(lane.root, at, result)?;
            }
            Ok(all)
        })?;
        Ok(())
    }

    /// The fold of no elements; the last of the values is the result.
    fn nothing(&mut self, lane: Lane<'a>) -> Vec<Val> {
        let dtype = lane.dtype;
        let (least, greatest) = dtype.bounds();
        let (least, greatest) = (least as i64, greatest as i64);
        let (float, int) = match lane.op.fold {
            Running::Sum | Running::Linear => (0.0, 0),
            Running::Prod => (1.0, 1),
            Running::Max | Running::ArgMax => (f64::NEG_INFINITY, least),
            Running::Min | Running::ArgMin => (f64::INFINITY, greatest),
        };
        let value = if dtype.is_float() { self.b.float(dtype, float) } else { self.b.int(dtype, int) };
        match lane.op.fold {
            // No index is -1, so that the first element wins.
            Running::ArgMax | Running::ArgMin => vec![value, self.int(-1)],
            _ => vec![value],
        }
    }

    /// A value as a float of another type, where it is not of that already.
    fn converted(&mut self, value: Val, dtype: DType) -> Val {
        if self.b.dtype(value) == dtype { value } else { self.b.prim(Prim::Convert(dtype), &[value]) }
    }

    /// The fold with the element at `at`.
    fn step(&mut self, lane: Lane<'a>, at: &[Dim], folded: &[Val]) -> Result<Vec<Val>, Bug> {
        let mut values = Vec::with_capacity(lane.inputs.len());
        for input in lane.inputs {
            let value = self.value(*input, at)?;
            values.push(self.converted(value, lane.dtype));
        }
        let function = match lane.op.fold {
            Running::Sum => Ew::Add,
            Running::Prod => Ew::Mul,
            Running::Max => Ew::Maximum,
            Running::Min => Ew::Minimum,
            Running::Linear if lane.dtype.is_float() => {
                return Ok(vec![self.b.prim(Prim::Fma, &[values[0], folded[0], values[1]])]);
            }
            Running::Linear => {
                let product = self.b.prim(Prim::Mul, &[values[0], folded[0]]);
                return Ok(vec![self.b.prim(Prim::Add, &[product, values[1]])]);
            }
            Running::ArgMax | Running::ArgMin => return self.step_of_index(lane, at, values[0], folded),
        };
        Ok(vec![self.apply(function, &[folded[0], values[0]])?])
    }

    /// The element takes the place of the winner so far where it is better, or is the first NaN, or the first at all.
    fn step_of_index(
        &mut self,
        lane: Lane<'a>,
        at: &[Dim],
        value: Val,
        folded: &[Val],
    ) -> Result<Vec<Val>, Bug> {
        let better = if lane.op.fold == Running::ArgMin { Cmp::Lt } else { Cmp::Gt };
        let mut takes = self.b.prim(Prim::Cmp(better), &[value, folded[0]]);
        if lane.dtype.is_float() {
            let nan = self.b.prim(Prim::Cmp(Cmp::Ne), &[value, value]);
            let was_number = self.b.prim(Prim::Cmp(Cmp::Eq), &[folded[0], folded[0]]);
            let first = self.b.prim(Prim::And, &[nan, was_number]);
            takes = self.b.prim(Prim::Or, &[takes, first]);
        }
        let zero = self.int(0);
        let none = self.b.prim(Prim::Cmp(Cmp::Lt), &[folded[1], zero]);
        takes = self.b.prim(Prim::Or, &[takes, none]);
        let index = self.scalar_index(&at[lane.op.axis])?;
        Ok(vec![
            self.b.prim(Prim::Select, &[takes, value, folded[0]]),
            self.b.prim(Prim::Select, &[takes, index, folded[1]]),
        ])
    }
}
