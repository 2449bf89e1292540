//! Folds that run along an axis.

use tensorjit_runtime::abi::DType;

use super::super::call::{Arg, Call};
use super::super::derive::lacking;
use super::super::report::Checked;
use super::super::scope::Checker;
use super::super::types::axes as counted_axes;
use super::super::value::{Operand, Value};
use crate::diag::{Diagnostic, Origin};
use crate::graph::Op;
use crate::graph::ops::cumulate::{Cumulate, Running};

/// `cumsum(x, axis, reverse, exclusive)`.
pub(in super::super) fn cumsum(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    running(checker, call, Running::Sum)
}

/// `cumprod(x, axis, reverse, exclusive)`.
pub(in super::super) fn cumprod(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    running(checker, call, Running::Prod)
}

/// `cummax(x, axis, reverse, exclusive)`.
pub(in super::super) fn cummax(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    running(checker, call, Running::Max)
}

/// `cummin(x, axis, reverse, exclusive)`.
pub(in super::super) fn cummin(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    running(checker, call, Running::Min)
}

fn running(checker: &mut Checker<'_>, call: &Call<'_>, fold: Running) -> Checked<Value> {
    let [Some(x), axis, reverse, exclusive] = call.args.as_slice() else {
        return Err(lacking(checker, call));
    };
    let operand = checker.operand(&x.value, x.expr.span)?;
    let shape = checker.shape(&operand);
    if checker.node_of(&operand).is_some_and(|id| checker.graph.ty(id).dtype == DType::Bool) {
        let message = format!("`{}` takes numbers, this is {}", call.name, checker.show_operand(&operand));
        let diagnostic = Diagnostic::new("element-type", message, x.expr.span);
        return Err(checker.report(diagnostic.help("convert first, such as with `as i64`")));
    }
    let axis = checker.axis_or_only(axis.as_ref(), shape.len(), call.name, call.at)?;
    let reverse = checker.flag(reverse.as_ref(), "reverse")?;
    let exclusive = checker.flag(exclusive.as_ref(), "exclusive")?;
    let op = Op::Cumulate(Cumulate { fold, axis, reverse, exclusive });
    Ok(checker.apply(op, &[operand], shape, call.at)?.value())
}

/// `linear_recurrence(a, b, axis, reverse)`: `y[i] = a[i] * y[i - 1] + b[i]`, from 0.
pub(in super::super) fn linear_recurrence(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(a), Some(b), axis, reverse] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let (operands, shape) = checker.pair(call, a, b)?;
    let is_bool = |operand: &Operand| {
        checker.node_of(operand).is_some_and(|id| checker.graph.ty(id).dtype == DType::Bool)
    };
    if operands.iter().any(is_bool) {
        return checker.fail("element-type", call.at, format!("`{}` takes numbers, not `bool`", call.name));
    }
    let axis = checker.axis_or_only(axis.as_ref(), shape.len(), call.name, call.at)?;
    let reverse = checker.flag(reverse.as_ref(), "reverse")?;
    let op = Op::Cumulate(Cumulate { fold: Running::Linear, axis, reverse, exclusive: false });
    Ok(checker.apply(op, &operands, shape, call.at)?.value())
}

impl Checker<'_> {
    /// The axis that an option names; the only one where it is missing.
    pub(super) fn axis_or_only(
        &mut self,
        axis: Option<&Arg<'_>>,
        rank: usize,
        name: &str,
        at: Origin,
    ) -> Checked<usize> {
        match axis {
            Some(arg) => self.axis(&arg.value, rank, arg.expr.span),
            None if rank == 1 => Ok(0),
            None => {
                let message = format!("`{name}` is along one axis, the tensor has {}", counted_axes(rank));
                let diagnostic = Diagnostic::new("axis", message, at);
                Err(self.report(match rank {
                    0 => diagnostic.help("a scalar has no axes"),
                    _ => diagnostic.help(format!("say along which, such as with `axis = {}`", rank - 1)),
                }))
            }
        }
    }
}
