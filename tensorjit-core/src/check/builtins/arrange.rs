//! Elements repeated, moved round and mirrored, all by movement operators.

use tensorjit_runtime::abi::{DType, Relation};

use super::super::call::{Arg, Call};
use super::super::derive::lacking;
use super::super::index::whole;
use super::super::report::{Checked, listed};
use super::super::scope::Checker;
use super::super::value::{Operand, Placed, Value};
use crate::diag::Origin;
use crate::dim::Dim;
use crate::dim::facts::Verdict;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::concat::Concat;
use crate::graph::ops::gather::Gather;
use crate::graph::ops::indexing::{Indexed, Indexing};
use crate::graph::ops::iota::Iota;
use crate::graph::ops::slice::Range;
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op};

/// `roll(x, shift, axis)`: elements that leave at the end of the axis come back at its start.
pub(in super::super) fn roll(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(shift), axis] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operand = checker.operand(&x.value, x.expr.span)?;
    let shape = checker.shape(&operand);
    let axis = checker.axis_or_only(axis.as_ref(), shape.len(), call.name, call.at)?;
    let Some(by) = shift.value.as_dim() else { return checker.rolled_by_value(call, operand, shift, axis) };
    let extent = &shape[axis];
    let by = checker.within(&by, extent);
    let left = extent - &by;
    let mut tail = shape.iter().map(whole).collect::<Vec<Range>>();
    let mut head = tail.clone();
    tail[axis] = Range { start: left.clone(), step: 1, len: by.clone() };
    head[axis] = Range { start: Dim::constant(0), step: 1, len: left };
    if by.is(0) {
        return Ok(operand.value());
    }
    let parts = [checker.slice(operand.clone(), tail, call.at)?, checker.slice(operand, head, call.at)?];
    Ok(checker.apply(Op::Concat(Concat { axis }), &parts, shape, call.at)?.value())
}

/// `tile(x, reps)`: the whole tensor again and again along each axis.
pub(in super::super) fn tile(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(reps)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operand = checker.operand(&x.value, x.expr.span)?;
    let mut reps_of = checker.value_shape(&reps.value, reps.expr.span)?;
    for count in &reps_of {
        checker.demand_extent(count, reps.expr.span)?;
    }
    // What is missing on either side is 1, on the left.
    let one = Dim::constant(1);
    let mut shape = checker.shape(&operand);
    let rank = shape.len().max(reps_of.len());
    shape.splice(0..0, vec![one.clone(); rank - shape.len()]);
    reps_of.splice(0..0, vec![one; rank - reps_of.len()]);
    let operand = checker.reshaped(operand, shape.clone(), call.at)?;
    let axes: Vec<(Dim, Dim)> = reps_of.into_iter().zip(shape).collect();
    checker.multiplied(operand, &axes, false, call.at)
}

/// `repeat(x, repeats, axis)`: each element several times, one after another.
pub(in super::super) fn repeat(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(repeats), axis] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operand = checker.operand(&x.value, x.expr.span)?;
    let shape = checker.shape(&operand);
    let axis = checker.axis_or_only(axis.as_ref(), shape.len(), call.name, call.at)?;
    let count = checker.value_dim(&repeats.value, "the number of repeats", repeats.expr.span)?;
    checker.demand_extent(&count, repeats.expr.span)?;
    let axes: Vec<(Dim, Dim)> = shape
        .into_iter()
        .enumerate()
        .map(|(i, extent)| (if i == axis { count.clone() } else { Dim::constant(1) }, extent))
        .collect();
    checker.multiplied(operand, &axes, true, call.at)
}

/// `diagonal(x, offset, axis1, axis2)`: elements at equal indices of two axes, along a last axis.
pub(in super::super) fn diagonal(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), offset, axis1, axis2] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let source = checker.typed(&x.value, x.expr.span)?;
    let rank = checker.graph.ty(source).rank();
    let mut axis_of = |arg: &Option<Arg<'_>>, default: i64| match arg {
        Some(arg) => checker.axis(&arg.value, rank, arg.expr.span),
        None => checker.axis(&Value::Dim(Dim::constant(default)), rank, call.at),
    };
    let (first, second) = (axis_of(axis1, 0)?, axis_of(axis2, 1)?);
    if first == second {
        return checker.fail("axis", call.at, format!("axis {first} is named twice"));
    }
    let offset = match offset {
        Some(arg) => checker.value_dim(&arg.value, "the offset of a diagonal", arg.expr.span)?,
        None => Dim::constant(0),
    };
    Ok(Value::Node(checker.diagonal(source, (first, second), &offset, call.at)?))
}

/// `meshgrid([a, b, ..], indexing)`: each vector along an axis of its own, repeated along those of the others.
pub(in super::super) fn meshgrid(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(vectors), indexing] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let swapped = match indexing.as_ref().map(|arg| (&arg.value, arg.expr.span)) {
        None => true,
        Some((Value::Text(text), _)) if text == "xy" => true,
        Some((Value::Text(text), _)) if text == "ij" => false,
        Some((_, at)) => {
            return checker.fail("option-value", at, "`indexing` is one of `\"xy\"` and `\"ij\"`");
        }
    };
    let Some(items) = vectors.value.elements().map(<[Placed]>::to_vec) else {
        let message = format!("`{}` takes a list of vectors: `[a, b]`", call.name);
        return checker.fail("option-value", vectors.expr.span, message);
    };
    let mut operands = Vec::with_capacity(items.len());
    let mut shape = Vec::with_capacity(items.len());
    for item in &items {
        let operand = checker.operand(&item.value, item.at)?;
        let own = checker.shape(&operand);
        let [extent] = own.as_slice() else {
            let message =
                format!("`{}` takes vectors, this is {}", call.name, checker.show_operand(&operand));
            return checker.fail("rank", item.at, message);
        };
        shape.push(extent.clone());
        operands.push(operand);
    }
    let place = |axis: usize| match axis {
        0 | 1 if swapped && items.len() > 1 => 1 - axis,
        axis => axis,
    };
    let full: Vec<Dim> = (0..items.len()).map(|axis| shape[place(axis)].clone()).collect();
    let mut grids = Vec::with_capacity(items.len());
    for (axis, (operand, item)) in operands.into_iter().zip(&items).enumerate() {
        let op = Op::Broadcast(Broadcast { shape: full.clone(), axes: vec![place(axis)] });
        let value = checker.apply(op, &[operand], full.clone(), call.at)?.value();
        grids.push(Placed { value, at: item.at });
    }
    Ok(Value::Tuple(grids))
}

/// How a border repeats what it surrounds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Border {
    /// Mirrored at the outermost element, which is not repeated.
    Reflect,
    /// Mirrored, the outermost element too.
    Symmetric,
    /// The outermost element again and again.
    Edge,
    /// What stands at the other end.
    Wrap,
}

impl Border {
    /// The border that an option names; none for a constant one.
    pub(super) fn of(checker: &mut Checker<'_>, mode: Option<&Arg<'_>>) -> Checked<Option<Border>> {
        let Some(arg) = mode else { return Ok(None) };
        let modes = [
            ("constant", None),
            ("reflect", Some(Border::Reflect)),
            ("symmetric", Some(Border::Symmetric)),
            ("edge", Some(Border::Edge)),
            ("wrap", Some(Border::Wrap)),
        ];
        match modes.iter().find(|(name, _)| matches!(&arg.value, Value::Text(text) if text == name)) {
            Some((_, border)) => Ok(*border),
            None => {
                let quoted = modes.map(|(name, _)| format!("\"{name}\""));
                let legal = listed(quoted.iter().map(String::as_str));
                checker.fail("option-value", arg.expr.span, format!("`mode` is one of {legal}"))
            }
        }
    }

    /// The ranges of an axis of which the borders of these widths are made, before and after.
    fn ranges(self, extent: &Dim, low: &Dim, high: &Dim) -> [Range; 2] {
        let one = Dim::constant(1);
        let last = extent - &one;
        let range = |start: Dim, step: i64, len: &Dim| Range { start, step, len: len.clone() };
        match self {
            Border::Reflect => [range(low.clone(), -1, low), range(extent - &Dim::constant(2), -1, high)],
            Border::Symmetric => [range(low - &one, -1, low), range(last, -1, high)],
            Border::Edge => [range(Dim::constant(0), 1, &one), range(last, 1, &one)],
            Border::Wrap => [range(extent - low, 1, low), range(Dim::constant(0), 1, high)],
        }
    }
}

impl Checker<'_> {
    /// Surrounds a tensor with what it repeats, axis by axis.
    pub(super) fn bordered(
        &mut self,
        mut operand: Operand,
        widths: &[(Dim, Dim)],
        border: Border,
        at: Origin,
    ) -> Checked<Value> {
        for (axis, (low, high)) in widths.iter().enumerate() {
            let shape = self.shape(&operand);
            let extent = shape[axis].clone();
            let mut parts = Vec::with_capacity(3);
            let mut padded = shape.clone();
            padded[axis] = &(low + &extent) + high;
            let [before, after] = border.ranges(&extent, low, high);
            for (range, width) in [(before, low), (after, high)] {
                if width.is(0) {
                    parts.push(None);
                    continue;
                }
                let least = match border {
                    Border::Reflect => width + &Dim::constant(1),
                    Border::Symmetric | Border::Wrap => width.clone(),
                    Border::Edge => Dim::constant(1),
                };
                let why = "a border has no more elements than there are to repeat";
                self.demand(&extent, Relation::Ge, &least, at, why)?;
                let mut ranges: Vec<Range> = shape.iter().map(whole).collect();
                ranges[axis] = range;
                let part = self.slice(operand.clone(), ranges, at)?;
                let mut repeated = shape.clone();
                repeated[axis] = width.clone();
                parts.push(Some(self.expand(part, &repeated, at)?));
            }
            let after = parts.pop().flatten();
            let before = parts.pop().flatten();
            let joined: Vec<Operand> = before.into_iter().chain([operand.clone()]).chain(after).collect();
            if joined.len() > 1 {
                operand = self.apply(Op::Concat(Concat { axis }), &joined, padded, at)?;
            }
        }
        Ok(operand.value())
    }

    /// The elements of `source` at equal indices of two axes, the second shifted by an offset, along a last axis.
    pub(super) fn diagonal(
        &mut self,
        source: NodeId,
        (first, second): (usize, usize),
        offset: &Dim,
        at: Origin,
    ) -> Checked<NodeId> {
        let shape = self.graph.ty(source).shape.clone();
        let zero = Dim::constant(0);
        let right = self.dim_extremum(offset, &zero, true);
        let down = &right - offset;
        let (rows, columns) = (&shape[first] - &down, &shape[second] - &right);
        let least = self.dim_extremum(&rows, &columns, false);
        let extent = self.dim_extremum(&least, &zero, true);
        let count = self.add(Op::Iota(Iota { dtype: DType::I64, extent: extent.clone() }), &[], at)?;
        let mut indices = Vec::with_capacity(2);
        for from in [down, right] {
            let mut index = count;
            if !from.is(0) {
                let from = self.typed(&Value::Dim(from), at)?;
                let from = self.expand(Operand::Node(from), std::slice::from_ref(&extent), at)?.value();
                let from = self.typed(&from, at)?;
                index = self.add(Op::Elementwise(Ew::Add), &[count, from], at)?;
            }
            indices.push(index);
        }
        let axes = [first, second].map(|axis| Indexed { axis, window: None }).to_vec();
        let indexing = Indexing { axes, batch: Vec::new(), at: shape.len() - 2 };
        self.add(Op::Gather(Gather { indexing }), &[source, indices[0], indices[1]], at)
    }

    /// A shift as one from 0 up to the extent.
    fn within(&self, by: &Dim, extent: &Dim) -> Dim {
        let facts = &self.graph.facts;
        let proven = |a: &Dim, b: &Dim| facts.decide(a, Relation::Le, b) == Verdict::Proven;
        let zero = Dim::constant(0);
        for shifted in [by.clone(), extent + by] {
            if proven(&zero, &shifted) && proven(&shifted, extent) {
                return shifted;
            }
        }
        let divisor = self.dim_extremum(extent, &Dim::constant(1), true);
        facts.normalize(&by.modulo(&divisor))
    }

    /// Rolls by a scalar that is known when the function runs.
    fn rolled_by_value(
        &mut self,
        call: &Call<'_>,
        operand: Operand,
        shift: &Arg<'_>,
        axis: usize,
    ) -> Checked<Value> {
        let by = self.typed(&shift.value, shift.expr.span)?;
        let ty = self.graph.ty(by).clone();
        if !ty.dtype.is_int() || ty.rank() > 0 {
            let found = self.show_type(&ty);
            return self.fail(
                "index-type",
                shift.expr.span,
                format!("a shift is an integer scalar, this is {found}"),
            );
        }
        let source = self.typed(&operand.value(), call.at)?;
        let extent = self.graph.ty(source).shape[axis].clone();
        let by = self.wide_index(by, shift.expr.span)?;
        let count = self.add(Op::Iota(Iota { dtype: DType::I64, extent: extent.clone() }), &[], call.at)?;
        let placed = |value: Value| Placed { value, at: call.at };
        let from = vec![placed(Value::Node(count)), placed(Value::Node(by))];
        let from = self.elementwise(Ew::Sub, call.name, from, call.at)?;
        let index = vec![placed(from), placed(Value::Dim(extent))];
        let index = self.elementwise(Ew::Mod, call.name, index, call.at)?;
        let index = self.typed(&index, call.at)?;
        Ok(Value::Node(self.add(Op::Gather(Gather::one(axis)), &[source, index], call.at)?))
    }

    /// Repeats each axis, given as how often and its extent: element by element where `inside`, or as a whole.
    fn multiplied(
        &mut self,
        operand: Operand,
        axes: &[(Dim, Dim)],
        inside: bool,
        at: Origin,
    ) -> Checked<Value> {
        let mut split = Vec::new();
        let mut kept = Vec::new();
        let mut shape = Vec::with_capacity(axes.len());
        for (count, extent) in axes {
            shape.push(count * extent);
            if count.is(1) {
                kept.push(split.len());
                split.push(extent.clone());
            } else if inside {
                kept.push(split.len());
                split.extend([extent.clone(), count.clone()]);
            } else {
                kept.push(split.len() + 1);
                split.extend([count.clone(), extent.clone()]);
            }
        }
        if split.len() == axes.len() {
            return Ok(operand.value());
        }
        let op = Op::Broadcast(Broadcast { shape: split.clone(), axes: kept });
        let repeated = self.apply(op, &[operand], split, at)?;
        Ok(self.reshaped(repeated, shape, at)?.value())
    }
}
