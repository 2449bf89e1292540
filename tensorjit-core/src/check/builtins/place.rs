//! Elements at computed places: taken, and put.

use tensorjit_runtime::abi::{DType, Relation};

use super::super::call::{Arg, Call};
use super::super::derive::lacking;
use super::super::report::{Checked, counted, listed};
use super::super::scope::Checker;
use super::super::types::axes as counted_axes;
use super::super::value::{Operand, Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::graph::ops::constant::Constant;
use crate::graph::ops::gather::Gather;
use crate::graph::ops::indexing::{Indexed, Indexing};
use crate::graph::ops::scatter::{Combine, Scatter};
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op};

/// `take(x, indices, axis)`: the axes of the indices take the place of the axis.
pub(in super::super) fn take(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(indices), axis] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let source = checker.typed(&x.value, x.expr.span)?;
    let shape = checker.graph.ty(source).shape.clone();
    let axis = checker.axis_or_only(axis.as_ref(), shape.len(), call.name, call.at)?;
    let indices = checker.index_of(&indices.placed(), &shape[axis], call.at)?;
    Ok(Value::Node(checker.add(Op::Gather(Gather::one(axis)), &[source, indices], call.at)?))
}

/// `take_along_axis(x, indices, axis)`: for each element of the indices one, the other axes going along.
pub(in super::super) fn take_along_axis(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(indices), axis] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let source = checker.typed(&x.value, x.expr.span)?;
    let (axis, others, index) = checker.along(call, (source, x.expr.span), indices, axis.as_ref())?;
    let source = checker.beside(source, axis, &others, call.at)?;
    let index = checker.beside(index, axis, &others, call.at)?;
    let rank = checker.graph.ty(source).rank();
    Ok(Value::Node(checker.add(Op::Gather(Gather::along(axis, rank)), &[source, index], call.at)?))
}

/// `put_along_axis(x, indices, values, axis, mode)`: the other way round.
pub(in super::super) fn put_along_axis(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(indices), Some(values), axis, mode] = call.args.as_slice() else {
        return Err(lacking(checker, call));
    };
    let combine = checker.combine(mode.as_ref())?;
    let (base, values) = checker.base_and_updates(call, x, values)?;
    let (axis, others, index) = checker.along(call, (base, x.expr.span), indices, axis.as_ref())?;
    let base = checker.beside(base, axis, &others, call.at)?;
    let index = checker.beside(index, axis, &others, call.at)?;
    let indexing = Indexing::along(axis, others.len());
    checker.put(call, combine, indexing, base, &[index], values)
}

/// `scatter_set(base, indices, updates, axis)`.
pub(in super::super) fn scatter_set(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    scatter(checker, call, Combine::Set)
}

/// `scatter_add(base, indices, updates, axis)`.
pub(in super::super) fn scatter_add(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    scatter(checker, call, Combine::Add)
}

/// `scatter_mul(base, indices, updates, axis)`.
pub(in super::super) fn scatter_mul(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    scatter(checker, call, Combine::Mul)
}

/// `scatter_max(base, indices, updates, axis)`.
pub(in super::super) fn scatter_max(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    scatter(checker, call, Combine::Max)
}

/// `scatter_min(base, indices, updates, axis)`.
pub(in super::super) fn scatter_min(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    scatter(checker, call, Combine::Min)
}

/// One index tensor for one axis, or a tuple of them for as many axes, the first ones where none are named.
fn scatter(checker: &mut Checker<'_>, call: &Call<'_>, combine: Combine) -> Checked<Value> {
    let [Some(base), Some(indices), Some(updates), axis] = call.args.as_slice() else {
        return Err(lacking(checker, call));
    };
    let tensors: Vec<Placed> = match &indices.value {
        Value::Tuple(items) | Value::List(items) => items.clone(),
        _ => vec![indices.placed()],
    };
    let (base, updates) = checker.base_and_updates(call, base, updates)?;
    let shape = checker.graph.ty(base).shape.clone();
    let axes = match axis {
        Some(arg) => checker.axes(arg, shape.len())?,
        None => (0..tensors.len()).collect(),
    };
    if axes.len() != tensors.len() || axes.len() > shape.len() || axes.is_empty() {
        let message = format!(
            "{} for {}",
            counted(tensors.len(), "index tensor", "index tensors"),
            counted_axes(axes.len().min(shape.len()))
        );
        return checker.fail("index-count", indices.expr.span, message);
    }
    let mut indexed = Vec::with_capacity(axes.len());
    for (tensor, axis) in tensors.iter().zip(&axes) {
        indexed.push((*axis, checker.index_of(tensor, &shape[*axis], call.at)?, tensor.at));
    }
    let (indexing, indices) = checker.indexing(&indexed, shape.len(), call.at)?;
    checker.put(call, combine, indexing, base, &indices, updates)
}

/// `dynamic_slice(x, starts, sizes)`: as many elements of each axis, from a computed start that is clamped so that all
/// lie inside.
pub(in super::super) fn dynamic_slice(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(starts), Some(sizes)] = call.args.as_slice() else {
        return Err(lacking(checker, call));
    };
    let source = checker.typed(&x.value, x.expr.span)?;
    let sizes_at = sizes.expr.span;
    let sizes = checker.value_shape(&sizes.value, sizes_at)?;
    let (indexing, indices) = checker.windows(source, starts, &sizes, sizes_at, call)?;
    if indices.is_empty() {
        return Ok(Value::Node(source));
    }
    let inputs = [&[source], indices.as_slice()].concat();
    Ok(Value::Node(checker.add(Op::Gather(Gather { indexing }), &inputs, call.at)?))
}

/// `dynamic_update_slice(x, update, starts)`: the other way round.
pub(in super::super) fn dynamic_update_slice(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(update), Some(starts)] = call.args.as_slice() else {
        return Err(lacking(checker, call));
    };
    let (base, updates) = checker.base_and_updates(call, x, update)?;
    let updates = checker.typed(&updates.value(), update.expr.span)?;
    let sizes = checker.graph.ty(updates).shape.clone();
    let (indexing, indices) = checker.windows(base, starts, &sizes, update.expr.span, call)?;
    if indices.is_empty() {
        return Ok(Value::Node(updates));
    }
    let inputs = [&[base], indices.as_slice(), &[updates]].concat();
    let op = Op::Scatter(Scatter { indexing, combine: Combine::Set });
    Ok(Value::Node(checker.add(op, &inputs, call.at)?))
}

impl Checker<'_> {
    /// An integer tensor that indexes an axis, as `i64`.  The values of a parameter are checked at the call.
    pub(in super::super) fn index_of(&mut self, value: &Placed, extent: &Dim, at: Origin) -> Checked<NodeId> {
        let indices = self.typed(&value.value, value.at)?;
        if !self.graph.ty(indices).dtype.is_int() {
            let found = self.show_type(self.graph.ty(indices));
            let message = format!("an index is an integer or a tensor of integers, this is {found}");
            return self.fail("index-type", value.at, message);
        }
        let why = "an axis that is indexed must not be empty";
        self.demand(extent, Relation::Ge, &Dim::constant(1), at, why)?;
        self.note_index(indices, extent);
        self.wide_index(indices, value.at)
    }

    /// Indices as `i64`.
    pub(super) fn wide_index(&mut self, indices: NodeId, at: Origin) -> Checked<NodeId> {
        match self.graph.ty(indices).dtype {
            DType::I64 => Ok(indices),
            DType::U64 => {
                // What is beyond `i64` stays beyond every axis.
                let shape = self.graph.ty(indices).shape.clone();
                let limit = Constant::Int(DType::U64, i64::MAX.into());
                let limit = limit.splat(&mut self.graph, &shape, at)?;
                let near = self.add(Op::Elementwise(Ew::Minimum), &[indices, limit], at)?;
                Ok(self.add(Op::Elementwise(Ew::Cast(DType::I64)), &[near], at)?)
            }
            _ => Ok(self.add(Op::Elementwise(Ew::Cast(DType::I64)), &[indices], at)?),
        }
    }

    /// What several index tensors mean: they broadcast together, and their axes stand where the axes that they index
    /// stood, first where others lie between these.
    pub(in super::super) fn indexing(
        &mut self,
        indexed: &[(usize, NodeId, Origin)],
        rank: usize,
        at: Origin,
    ) -> Checked<(Indexing, Vec<NodeId>)> {
        let mut shape: Vec<Dim> = Vec::new();
        for (_, indices, place) in indexed {
            let own = self.graph.ty(*indices).shape.clone();
            let Ok(joined) = self.join_shapes(&shape, &own) else {
                let (a, b) = (self.show_shape(&shape), self.show_shape(&own));
                let message = format!("the index tensors do not broadcast together: {a} and {b}");
                return self.fail("shape-mismatch", *place, message);
            };
            shape = joined;
        }
        let mut indices = Vec::with_capacity(indexed.len());
        for (_, tensor, _) in indexed {
            let expanded = self.expand(Operand::Node(*tensor), &shape, at)?.value();
            indices.push(self.typed(&expanded, at)?);
        }
        let mut axes: Vec<usize> = indexed.iter().map(|(axis, ..)| *axis).collect();
        axes.sort_unstable();
        let adjacent = axes.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let first = axes.first().map_or(0, |first| if adjacent { *first } else { 0 });
        let axes = indexed.iter().map(|(axis, ..)| Indexed { axis: *axis, window: None }).collect();
        let indexing = Indexing { axes, batch: Vec::new(), at: first.min(rank) };
        Ok((indexing, indices))
    }

    /// The axis, the extents of all others, and the index tensor of a function along an axis.
    fn along(
        &mut self,
        call: &Call<'_>,
        (source, source_at): (NodeId, Origin),
        indices: &Arg<'_>,
        axis: Option<&Arg<'_>>,
    ) -> Checked<(usize, Vec<Dim>, NodeId)> {
        let mut shape = self.graph.ty(source).shape.clone();
        let axis = self.axis_or_only(axis, shape.len(), call.name, call.at)?;
        let index = self.index_of(&indices.placed(), &shape[axis], call.at)?;
        let mut own = self.graph.ty(index).shape.clone();
        let one = Dim::constant(1);
        let joined = match own.len() == shape.len() {
            true => {
                (shape[axis], own[axis]) = (one.clone(), one);
                self.join_shapes(&shape, &own).ok()
            }
            false => None,
        };
        match joined {
            Some(others) => Ok((axis, others, index)),
            None => {
                let message = format!("the shapes of `{}` differ beside axis {axis}", call.name);
                let diagnostic = Diagnostic::new("shape-mismatch", message, call.at)
                    .label(source_at, format!("this is {}", self.show_type(self.graph.ty(source))))
                    .label(indices.expr.span, format!("this is {}", self.show_type(self.graph.ty(index))));
                Err(self.report(diagnostic.help("`take` takes whole slices along an axis")))
            }
        }
    }

    /// Repeats a tensor to the given extents on all axes but one.
    fn beside(&mut self, x: NodeId, axis: usize, others: &[Dim], at: Origin) -> Checked<NodeId> {
        let mut shape = others.to_vec();
        shape[axis] = self.graph.ty(x).shape[axis].clone();
        let expanded = self.expand(Operand::Node(x), &shape, at)?.value();
        self.typed(&expanded, at)
    }

    /// The base and the updates with one element type.
    fn base_and_updates(
        &mut self,
        call: &Call<'_>,
        base: &Arg<'_>,
        updates: &Arg<'_>,
    ) -> Checked<(NodeId, Operand)> {
        let left = (self.operand(&base.value, base.expr.span)?, base.expr.span);
        let right = (self.operand(&updates.value, updates.expr.span)?, updates.expr.span);
        let operands = [left, right];
        let found = self.unify(call.name, &operands, call.at)?;
        let [(left, at), (right, _)] = operands;
        let (left, right) = (self.settled(left, found)?.value(), self.settled(right, found)?);
        Ok((self.typed(&left, at)?, right))
    }

    /// Puts updates, which broadcast to what is indexed.
    fn put(
        &mut self,
        call: &Call<'_>,
        combine: Combine,
        indexing: Indexing,
        base: NodeId,
        indices: &[NodeId],
        updates: Operand,
    ) -> Checked<Value> {
        let ty = self.graph.ty(base).clone();
        if ty.dtype == DType::Bool && combine != Combine::Set {
            let message = format!("`{}` takes numbers, not `bool`", call.name);
            return self.fail("element-type", call.at, message);
        }
        let index_types: Vec<_> = indices.iter().map(|id| self.graph.ty(*id)).collect();
        let shape = indexing.infer(&self.graph.facts, &ty, &index_types)?;
        let own = self.shape(&updates);
        match self.join_shapes(&own, &shape) {
            Ok(joined) if self.same_shape(&joined, &shape) => {}
            _ => {
                let message = format!(
                    "the updates of `{}` have the shape {}, the places {}",
                    call.name,
                    self.show_shape(&own),
                    self.show_shape(&shape)
                );
                return self.fail("shape-mismatch", call.at, message);
            }
        }
        let updates = self.expand(updates, &shape, call.at)?.value();
        let updates = self.typed(&updates, call.at)?;
        let inputs = [&[base], indices, &[updates]].concat();
        Ok(Value::Node(self.add(Op::Scatter(Scatter { indexing, combine }), &inputs, call.at)?))
    }

    fn combine(&mut self, mode: Option<&Arg<'_>>) -> Checked<Combine> {
        const MODES: [Combine; 5] = [Combine::Set, Combine::Add, Combine::Mul, Combine::Max, Combine::Min];
        let Some(arg) = mode else { return Ok(Combine::Set) };
        let found =
            MODES.into_iter().find(|mode| matches!(&arg.value, Value::Text(text) if text == mode.name()));
        match found {
            Some(combine) => Ok(combine),
            None => {
                let quoted = MODES.map(|mode| format!("\"{}\"", mode.name()));
                let legal = listed(quoted.iter().map(String::as_str));
                self.fail("option-value", arg.expr.span, format!("`mode` is one of {legal}"))
            }
        }
    }

    /// Windows of the given sizes at computed starts, one a axis; an axis that a window has all of is not indexed.
    fn windows(
        &mut self,
        source: NodeId,
        starts: &Arg<'_>,
        sizes: &[Dim],
        sizes_at: Origin,
        call: &Call<'_>,
    ) -> Checked<(Indexing, Vec<NodeId>)> {
        let shape = self.graph.ty(source).shape.clone();
        let starts = match &starts.value {
            Value::Tuple(items) | Value::List(items) => items.clone(),
            _ => vec![starts.placed()],
        };
        if starts.len() != shape.len() || sizes.len() != shape.len() {
            let (count, what) = match starts.len() == shape.len() {
                true => (sizes.len(), ("size", "sizes")),
                false => (starts.len(), ("start", "starts")),
            };
            let message = format!("{} for {}", counted(count, what.0, what.1), counted_axes(shape.len()));
            let diagnostic = Diagnostic::new("index-count", message, call.at);
            return Err(self.report(diagnostic.help("write one for each axis: `(0, i)`")));
        }
        let (mut axes, mut indices) = (Vec::new(), Vec::new());
        for (axis, ((start, size), extent)) in starts.iter().zip(sizes).zip(&shape).enumerate() {
            self.demand_extent(size, sizes_at)?;
            self.demand(size, Relation::Le, extent, sizes_at, "a window must fit the axis")?;
            let index = match start.value.as_dim() {
                Some(dim) => self.typed(&Value::Dim(dim), start.at)?,
                None => self.typed(&start.value, start.at)?,
            };
            let ty = self.graph.ty(index).clone();
            if !ty.dtype.is_int() || ty.rank() > 0 {
                let message = format!("a start is an integer scalar, this is {}", self.show_type(&ty));
                return self.fail("index-type", start.at, message);
            }
            if !self.graph.facts.same(size, extent) {
                axes.push(Indexed { axis, window: Some(size.clone()) });
                indices.push(self.wide_index(index, start.at)?);
            }
        }
        Ok((Indexing { axes, batch: Vec::new(), at: 0 }, indices))
    }
}
