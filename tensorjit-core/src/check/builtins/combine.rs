//! Borders, and tensors put together.

use tensorjit_runtime::abi::Relation;

use super::super::call::{Arg, Call};
use super::super::derive::lacking;
use super::super::report::{Checked, counted};
use super::super::scope::Checker;
use super::super::types::axes as counted_axes;
use super::super::value::{Literal, Operand, Placed, Value};
use super::arrange::Border;
use super::create::zero;
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::graph::Op;
use crate::graph::ops::concat::Concat;
use crate::graph::ops::pad::{Pad, PadAxis};
use crate::graph::table::Ew;
use tensorjit_runtime::abi::DType;

/// `pad(x, widths, value, mode)`: `widths` is a pair for each axis, or one number for all sides.
pub(in super::super) fn pad(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(widths), fill, mode] = call.args.as_slice() else {
        return Err(lacking(checker, call));
    };
    let operand = checker.operand(&x.value, x.expr.span)?;
    let shape = checker.shape(&operand);
    let widths = checker.pad_widths(widths, shape.len())?;
    if let Some(border) = Border::of(checker, mode.as_ref())? {
        if let Some(fill) = fill {
            return checker.fail("option-value", fill.expr.span, "only a constant border has a value");
        }
        return checker.bordered(operand, &widths, border, call.at);
    }
    let mut axes = Vec::with_capacity(shape.len());
    for (extent, (low, high)) in shape.iter().zip(widths) {
        axes.push(PadAxis { extent: &(&low + extent) + &high, low, gap: 0 });
    }
    let fill = match fill {
        Some(fill) => fill.placed(),
        None => {
            let dtype = checker.node_of(&operand).map(|id| checker.graph.ty(id).dtype);
            let value = match dtype {
                Some(DType::Bool) => {
                    Value::Node(checker.add(Op::Constant(zero(DType::Bool)), &[], call.at)?)
                }
                _ => Value::Literal(Literal::int(0, call.at).into()),
            };
            Placed { value, at: call.at }
        }
    };
    let fill_operand = checker.operand(&fill.value, fill.at)?;
    if !checker.shape(&fill_operand).is_empty() {
        let found = checker.show_operand(&fill_operand);
        return checker.fail("rank", fill.at, format!("a border is filled with a scalar, this is {found}"));
    }
    let operands = [(operand, x.expr.span), (fill_operand, fill.at)];
    let found = checker.unify("pad", &operands, call.at)?;
    let [(operand, _), (fill_operand, _)] = operands;
    let operand = checker.settled(operand, found)?;
    let fill = checker.settled(fill_operand, found)?;
    let padded = axes.iter().map(|axis| axis.extent.clone()).collect();
    Ok(checker.apply(Op::Pad(Pad { axes }), &[operand, fill], padded, call.at)?.value())
}

impl Checker<'_> {
    pub(super) fn pad_widths(&mut self, arg: &Arg<'_>, rank: usize) -> Checked<Vec<(Dim, Dim)>> {
        let Some(items) = arg.value.elements() else {
            let width = self.pad_width(&arg.value, arg.expr.span)?;
            return Ok(vec![(width.clone(), width); rank]);
        };
        // A pair alone is meant for the only axis.
        let single = matches!(&arg.value, Value::Tuple(items) if items.iter().all(|item| item.value.as_dim().is_some()));
        let pairs: Vec<Placed> = match single && rank == 1 {
            true => vec![Placed { value: arg.value.clone(), at: arg.expr.span }],
            false => items.to_vec(),
        };
        if pairs.len() != rank {
            let message = format!("{} for {}", counted(pairs.len(), "border", "borders"), counted_axes(rank));
            let diagnostic = Diagnostic::new("axis", message, arg.expr.span);
            return Err(self.report(diagnostic.help("write one pair for each axis: `[(low, high), ..]`")));
        }
        let mut widths = Vec::with_capacity(rank);
        for pair in pairs {
            widths.push(match pair.value.elements() {
                None => {
                    let width = self.pad_width(&pair.value, pair.at)?;
                    (width.clone(), width)
                }
                Some([low, high]) => {
                    (self.pad_width(&low.value, low.at)?, self.pad_width(&high.value, high.at)?)
                }
                Some(_) => return self.fail("option-value", pair.at, "a border is a pair `(low, high)`"),
            });
        }
        Ok(widths)
    }

    fn pad_width(&mut self, value: &Value, at: Origin) -> Checked<Dim> {
        let width = self.value_dim(value, "the width of a border", at)?;
        self.demand(&width, Relation::Ge, &Dim::constant(0), at, "a border must not be negative")?;
        Ok(width)
    }

    /// The tensors of a list with one element type.
    fn tensors(&mut self, arg: &Arg<'_>, call: &Call<'_>) -> Checked<Vec<(Operand, Origin)>> {
        let items: &[Placed] = match arg.value.elements() {
            Some(items) if !items.is_empty() => items,
            _ => {
                let message = format!("`{}` takes a list of tensors: `[a, b]`", call.name);
                return self.fail("option-value", arg.expr.span, message);
            }
        };
        let mut operands = Vec::with_capacity(items.len());
        for item in items {
            operands.push((self.operand(&item.value, item.at)?, item.at));
        }
        let found = self.unify(call.name, &operands, call.at)?;
        let mut settled = Vec::with_capacity(operands.len());
        for (operand, at) in operands {
            settled.push((self.settled(operand, found)?, at));
        }
        Ok(settled)
    }

    /// Puts operands one after another along an axis; beside it their extents are equal.
    fn joined(&mut self, operands: &[(Operand, Origin)], axis: usize, call: &Call<'_>) -> Checked<Value> {
        let Some(((first, first_at), rest)) = operands.split_first() else {
            return Err(lacking(self, call));
        };
        let mut shape = self.shape(first);
        for (operand, at) in rest {
            let other = self.shape(operand);
            let alike = other.len() == shape.len()
                && (0..shape.len()).all(|i| i == axis || self.graph.facts.same(&shape[i], &other[i]));
            if !alike {
                let message = format!("the shapes of `{}` differ beside axis {axis}", call.name);
                let diagnostic = Diagnostic::new("shape-mismatch", message, call.at)
                    .label(*first_at, format!("this is {}", self.show_operand(first)))
                    .label(*at, format!("this is {}", self.show_operand(operand)));
                return Err(self.report(diagnostic));
            }
            shape[axis] = &shape[axis] + &other[axis];
        }
        if rest.is_empty() {
            return Ok(first.clone().value());
        }
        let parts: Vec<Operand> = operands.iter().map(|(operand, _)| operand.clone()).collect();
        Ok(self.apply(Op::Concat(Concat { axis }), &parts, shape, call.at)?.value())
    }
}

/// `concat([a, b], axis)`.
pub(in super::super) fn concat(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(tensors), axis] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operands = checker.tensors(tensors, call)?;
    let rank = operands.first().map_or(0, |(operand, _)| checker.shape(operand).len());
    let axis = match axis {
        Some(arg) => checker.axis(&arg.value, rank, arg.expr.span)?,
        None if rank > 0 => 0,
        None => {
            let diagnostic =
                Diagnostic::new("rank", "scalars have no axis along which they could be joined", call.at);
            return Err(checker.report(diagnostic.help("`stack` makes an axis")));
        }
    };
    checker.joined(&operands, axis, call)
}

/// `stack([a, b], axis)`: along a new axis.
pub(in super::super) fn stack(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(tensors), axis] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operands = checker.tensors(tensors, call)?;
    let rank = operands.first().map_or(0, |(operand, _)| checker.shape(operand).len());
    let axis = match axis {
        Some(arg) => checker.axis(&arg.value, rank + 1, arg.expr.span)?,
        None => 0,
    };
    let mut slabs = Vec::with_capacity(operands.len());
    for (operand, at) in operands {
        let own = checker.shape(&operand).len();
        if own != rank {
            let message = format!("`stack` takes equal shapes, these have {} and {own} axes", rank);
            return checker.fail("shape-mismatch", at, message);
        }
        slabs.push((checker.with_axes(operand, &[axis], at)?, at));
    }
    checker.joined(&slabs, axis, call)
}

/// `indices(x, N)`: integers that index an axis of extent `N`, as `i64`, for a narrower type may not hold all of `N`.
///
/// The values of a parameter are checked at the call; computed ones are clamped into the axis.
pub(in super::super) fn indices(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(extent)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let id = checker.typed(&x.value, x.expr.span)?;
    let ty = checker.graph.ty(id).clone();
    if !ty.dtype.is_int() {
        let found = checker.show_type(&ty);
        return checker.fail("index-type", x.expr.span, format!("indices are integers, this is {found}"));
    }
    let extent = checker.value_dim(&extent.value, "the extent of the axis", extent.expr.span)?;
    let given = matches!(checker.graph.node(id).op, Op::Input(_));
    checker.note_index(id, &extent);
    let wide = Value::Node(checker.wide_index(id, x.expr.span)?);
    if given {
        return Ok(wide);
    }
    let first = Value::Literal(Literal::int(0, call.at).into());
    let last = Value::Dim(&extent - &Dim::constant(1));
    let clamped = [wide, first, last].map(|value| Placed { value, at: call.at });
    checker.elementwise(Ew::Clip, call.name, clamped.to_vec(), call.at)
}
