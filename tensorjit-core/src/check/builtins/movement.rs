//! Other shapes and orders of the same elements.

use tensorjit_runtime::abi::Relation;

use super::super::call::Call;
use super::super::derive::lacking;
use super::super::report::Checked;
use super::super::scope::Checker;
use super::super::types::axes as counted_axes;
use super::super::value::{Operand, Value};
use super::reduce::{product, without};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::graph::Op;
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reshape::Reshape;
use crate::graph::ops::slice::Range;

/// `reshape(x, shape)`; one extent may be `-1`, which the others determine.
pub(in super::super) fn reshape(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(shape)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operand = checker.operand(&x.value, x.expr.span)?;
    let from = checker.shape(&operand);
    let mut extents = checker.value_shape(&shape.value, shape.expr.span)?;
    let open: Vec<usize> = (0..extents.len()).filter(|axis| extents[*axis].is(-1)).collect();
    let count = product(from.iter());
    match open.as_slice() {
        [] => {}
        [axis] => {
            let others = product(extents.iter().enumerate().filter(|(i, _)| i != axis).map(|(_, dim)| dim));
            extents[*axis] = checker.quotient(&count, &others, shape.expr.span)?;
        }
        _ => return checker.fail("reshape", shape.expr.span, "only one extent can be -1"),
    }
    for extent in &extents {
        checker.demand_extent(extent, shape.expr.span)?;
    }
    let target = product(extents.iter());
    if !checker.graph.facts.same(&count, &target) {
        let message = format!(
            "a reshape keeps the number of elements: {} has {}, {} has {}",
            checker.show_shape(&from),
            checker.show(&count),
            checker.show_shape(&extents),
            checker.show(&target)
        );
        let diagnostic = Diagnostic::new("reshape", message, call.at);
        let open =
            checker.graph.facts.decide(&count, Relation::Eq, &target) == crate::dim::facts::Verdict::Open;
        let clause = checker.where_clause(&count, Relation::Eq, &target);
        return Err(checker.report(match open {
            true => diagnostic.help(format!("if they are always equal, say so: `{clause}`")),
            false => diagnostic,
        }));
    }
    Ok(checker.reshaped(operand, extents, call.at)?.value())
}

impl Checker<'_> {
    /// The extent that makes up for `count` elements with the `others`.
    fn quotient(&mut self, count: &Dim, others: &Dim, at: Origin) -> Checked<Dim> {
        if let Some(exact) = count.exact_quotient(others) {
            return Ok(exact);
        }
        let zero = Dim::constant(0);
        self.demand(others, Relation::Gt, &zero, at, "the extents beside -1 must not be zero")?;
        self.demand(
            &count.modulo(others),
            Relation::Eq,
            &zero,
            at,
            "the extents beside -1 must divide the number of elements",
        )?;
        Ok(self.graph.facts.normalize(&count.floor_div(others)))
    }

    /// The same elements under another shape, of which the caller knows that it has as many.
    pub(super) fn reshaped(&mut self, operand: Operand, shape: Vec<Dim>, at: Origin) -> Checked<Operand> {
        if self.shape(&operand) == shape {
            return Ok(operand);
        }
        self.apply(Op::Reshape(Reshape { shape: shape.clone() }), &[operand], shape, at)
    }

    /// Adds axes of extent 1 at places of the result.
    pub(super) fn with_axes(&mut self, operand: Operand, axes: &[usize], at: Origin) -> Checked<Operand> {
        let mut extents = self.shape(&operand).into_iter();
        let rank = extents.len() + axes.len();
        let shape = (0..rank)
            .filter_map(|axis| if axes.contains(&axis) { Some(Dim::constant(1)) } else { extents.next() })
            .collect();
        self.reshaped(operand, shape, at)
    }
}

/// `transpose(x, axes)`, reversed where no axes are given, and `permute(x, axes)`.
pub(in super::super) fn transpose(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), axes] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operand = checker.operand(&x.value, x.expr.span)?;
    let shape = checker.shape(&operand);
    let order = match axes {
        None => (0..shape.len()).rev().collect(),
        Some(arg) => {
            let order = checker.axes(arg, shape.len())?;
            if order.len() != shape.len() {
                let message = format!("{} for {}", named(order.len()), counted_axes(shape.len()));
                let diagnostic = Diagnostic::new("axis", message, arg.expr.span);
                return Err(checker.report(diagnostic.help("name every axis once, in the new order")));
            }
            order
        }
    };
    if order.iter().copied().eq(0..shape.len()) {
        return Ok(operand.value());
    }
    let moved = order.iter().map(|axis| shape[*axis].clone()).collect();
    Ok(checker.apply(Op::Permute(Permute { axes: order }), &[operand], moved, call.at)?.value())
}

fn named(count: usize) -> String {
    match count {
        1 => "1 axis is named".to_owned(),
        count => format!("{count} axes are named"),
    }
}

/// `broadcast_to(x, shape)`.
pub(in super::super) fn broadcast_to(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(shape)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operand = checker.operand(&x.value, x.expr.span)?;
    let extents = checker.value_shape(&shape.value, shape.expr.span)?;
    for extent in &extents {
        checker.demand_extent(extent, shape.expr.span)?;
    }
    let from = checker.shape(&operand);
    match checker.join_shapes(&from, &extents) {
        Ok(joined) if checker.same_shape(&joined, &extents) => {
            Ok(checker.expand(operand, &extents, call.at)?.value())
        }
        _ => {
            let found = checker.show_operand(&operand);
            let message = format!("{found} does not broadcast to {}", checker.show_shape(&extents));
            let diagnostic = Diagnostic::new("shape-mismatch", message, call.at);
            Err(checker.report(diagnostic.help(
                "axes align at the last; only one that is missing on the left or has the extent 1 is repeated",
            )))
        }
    }
}

/// `expand_dims(x, axis)`: axes of extent 1 at places of the result.
pub(in super::super) fn expand_dims(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(axis)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operand = checker.operand(&x.value, x.expr.span)?;
    let added = axis.value.elements().map_or(1, <[_]>::len);
    let rank = checker.shape(&operand).len() + added;
    let axes = checker.axes(axis, rank)?;
    Ok(checker.with_axes(operand, &axes, call.at)?.value())
}

/// `squeeze(x, axis)`: drops axes of extent 1, all where none are named.
pub(in super::super) fn squeeze(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), axis] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operand = checker.operand(&x.value, x.expr.span)?;
    let shape = checker.shape(&operand);
    let axes = match axis {
        None => (0..shape.len()).filter(|axis| checker.is_one(&shape[*axis])).collect(),
        Some(arg) => {
            let axes = checker.axes(arg, shape.len())?;
            if let Some(axis) = axes.iter().find(|axis| !checker.is_one(&shape[**axis])) {
                let message = format!("axis {axis} has the extent {}, not 1", checker.show(&shape[*axis]));
                return checker.fail("axis", arg.expr.span, message);
            }
            axes
        }
    };
    let left = without(&shape, &axes);
    Ok(checker.reshaped(operand, left, call.at)?.value())
}

/// `drop_axes(x, axis, keepdims)`: squeezes the axes that a reduction has kept, unless they are to be kept.
pub(in super::super) fn drop_axes(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), axis, keepdims] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operand = checker.operand(&x.value, x.expr.span)?;
    if checker.flag(keepdims.as_ref(), "keepdims")? {
        return Ok(operand.value());
    }
    let shape = checker.shape(&operand);
    let axes = checker.axes_or_all(axis.as_ref(), shape.len())?;
    if let Some(axis) = axes.iter().find(|axis| !checker.is_one(&shape[**axis])) {
        let message = format!("axis {axis} has the extent {}, not 1", checker.show(&shape[*axis]));
        return checker.fail("axis", call.at, message);
    }
    let left = without(&shape, &axes);
    Ok(checker.reshaped(operand, left, call.at)?.value())
}

/// `flip(x, axis)`: walks axes backwards.
pub(in super::super) fn flip(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), axis] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operand = checker.operand(&x.value, x.expr.span)?;
    let shape = checker.shape(&operand);
    let axes = checker.axes_or_all(axis.as_ref(), shape.len())?;
    let ranges = shape.iter().enumerate().map(|(axis, extent)| backwards(extent, axes.contains(&axis)));
    let ranges: Vec<Range> = ranges.collect();
    Ok(checker.slice(operand, ranges, call.at)?.value())
}

fn backwards(extent: &Dim, flipped: bool) -> Range {
    match flipped {
        true => Range { start: extent - &Dim::constant(1), step: -1, len: extent.clone() },
        false => super::super::index::whole(extent),
    }
}
