//! Folding of axes, positions of extremes, and numbers of elements.

use tensorjit_runtime::abi::{DType, Relation};

use super::super::call::{Arg, Call};
use super::super::derive::lacking;
use super::super::report::Checked;
use super::super::scope::Checker;
use super::super::types::axes as counted_axes;
use super::super::value::{Operand, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::graph::Op;
use crate::graph::ops::arg_reduce::ArgReduce;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::reshape::Reshape;

/// `sum(x, axis, keepdims)`.
pub(in super::super) fn sum(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    reduce(checker, call, ReduceKind::Sum)
}

/// `prod(x, axis, keepdims)`.
pub(in super::super) fn prod(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    reduce(checker, call, ReduceKind::Prod)
}

/// `max(x, axis, keepdims)`; of two dimensions, the larger one.
pub(in super::super) fn max(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    match of_dims(call) {
        Some((a, b)) => Ok(Value::Dim(checker.dim_extremum(&a, &b, true))),
        None => reduce(checker, call, ReduceKind::Max),
    }
}

/// `min(x, axis, keepdims)`; of two dimensions, the smaller one.
pub(in super::super) fn min(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    match of_dims(call) {
        Some((a, b)) => Ok(Value::Dim(checker.dim_extremum(&a, &b, false))),
        None => reduce(checker, call, ReduceKind::Min),
    }
}

/// `any(x, axis, keepdims)`.
pub(in super::super) fn any(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    reduce(checker, call, ReduceKind::Any)
}

/// `all(x, axis, keepdims)`.
pub(in super::super) fn all(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    reduce(checker, call, ReduceKind::All)
}

/// `argmax(x, axis, keepdims)`.
pub(in super::super) fn argmax(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    arg_reduce(checker, call, false)
}

/// `argmin(x, axis, keepdims)`.
pub(in super::super) fn argmin(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    arg_reduce(checker, call, true)
}

/// `size(x, axis)`: the number of elements, as a dimension.
pub(in super::super) fn size(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), axis] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operand = checker.operand(&x.value, x.expr.span)?;
    let shape = checker.shape(&operand);
    let axes = checker.axes_or_all(axis.as_ref(), shape.len())?;
    Ok(Value::Dim(product(axes.iter().map(|axis| &shape[*axis]))))
}

/// `ceil_div(a, b)` of dimensions.
pub(in super::super) fn ceil_div(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(a), Some(b)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let what = "an operand of `ceil_div`";
    let left = checker.value_dim(&a.value, what, a.expr.span)?;
    let right = checker.value_dim(&b.value, what, b.expr.span)?;
    Ok(Value::Dim(checker.dim_function("ceil_div", &left, &right, b.expr.span)?))
}

/// `known(condition)`: whether it is decided while the function is compiled, and true.
pub(in super::super) fn known(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(condition)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    Ok(Value::Bool(matches!(condition.value, Value::Bool(true))))
}

/// The product of extents.
pub(super) fn product<'d>(extents: impl Iterator<Item = &'d Dim>) -> Dim {
    extents.fold(Dim::constant(1), |product, extent| &product * extent)
}

/// Both operands of `max` or `min`, where the first is a dimension, which has no axes to fold.
fn of_dims(call: &Call<'_>) -> Option<(Dim, Dim)> {
    match call.args.as_slice() {
        [Some(a), Some(b), None] => Some((a.value.as_dim()?, b.value.as_dim()?)),
        _ => None,
    }
}

fn reduce(checker: &mut Checker<'_>, call: &Call<'_>, kind: ReduceKind) -> Checked<Value> {
    let [Some(x), axis, keepdims] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let operand = checker.operand(&x.value, x.expr.span)?;
    require_element(checker, call, kind, &operand, x)?;
    let shape = checker.shape(&operand);
    let axes = checker.axes_or_all(axis.as_ref(), shape.len())?;
    let keep = checker.flag(keepdims.as_ref(), "keepdims")?;
    if axes.is_empty() {
        return Ok(operand.value());
    }
    let left = without(&shape, &axes);
    let op = Op::Reduce(Reduce { kind, axes: axes.clone() });
    let folded = checker.apply(op, &[operand], left, call.at)?;
    Ok(kept(checker, folded, &shape, &axes, keep, call.at)?.value())
}

fn require_element(
    checker: &mut Checker<'_>,
    call: &Call<'_>,
    kind: ReduceKind,
    operand: &Operand,
    x: &Arg<'_>,
) -> Checked<()> {
    let logical = matches!(kind, ReduceKind::Any | ReduceKind::All);
    let is_bool = checker.node_of(operand).is_some_and(|id| checker.graph.ty(id).dtype == DType::Bool);
    if logical == is_bool {
        return Ok(());
    }
    let (takes, help) = match logical {
        true => ("bools", "compare first, such as `x != 0`"),
        false => ("numbers", "convert first, such as with `as i64`"),
    };
    let message = format!("`{}` takes {takes}, this is {}", call.name, checker.show_operand(operand));
    Err(checker.report(Diagnostic::new("element-type", message, x.expr.span).help(help)))
}

fn arg_reduce(checker: &mut Checker<'_>, call: &Call<'_>, least: bool) -> Checked<Value> {
    let [Some(x), axis, keepdims] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let id = checker.typed(&x.value, x.expr.span)?;
    let ty = checker.graph.ty(id).clone();
    if ty.dtype == DType::Bool {
        let message = format!("`{}` takes numbers, this is {}", call.name, checker.show_type(&ty));
        return checker.fail("element-type", x.expr.span, message);
    }
    let axes = checker.axes_or_all(axis.as_ref(), ty.rank())?;
    let keep = checker.flag(keepdims.as_ref(), "keepdims")?;
    if axes.is_empty() || (axes.len() > 1 && axes.len() < ty.rank()) {
        let at = axis.as_ref().map_or(call.at, |axis| axis.expr.span);
        let message = format!("`{}` is along one axis, or over all elements", call.name);
        return checker.fail("axis", at, message);
    }
    let count = product(axes.iter().map(|axis| &ty.shape[*axis]));
    let why = format!("`{}` needs an element", call.name);
    checker.demand(&count, Relation::Ge, &Dim::constant(1), call.at, &why)?;
    let (source, along) = match axes.as_slice() {
        [one] => (id, *one),
        // Over all elements the result counts in row-major order.
        _ => (checker.add(Op::Reshape(Reshape { shape: vec![count] }), &[id], call.at)?, 0),
    };
    let found = checker.add(Op::ArgReduce(ArgReduce { least, axis: along }), &[source], call.at)?;
    Ok(kept(checker, Operand::Node(found), &ty.shape, &axes, keep, call.at)?.value())
}

/// The extents but for those of some axes.
pub(super) fn without(shape: &[Dim], axes: &[usize]) -> Vec<Dim> {
    shape.iter().enumerate().filter(|(axis, _)| !axes.contains(axis)).map(|(_, dim)| dim.clone()).collect()
}

/// Puts the folded axes back with the extent 1, where asked.
fn kept(
    checker: &mut Checker<'_>,
    folded: Operand,
    shape: &[Dim],
    axes: &[usize],
    keep: bool,
    at: Origin,
) -> Checked<Operand> {
    if !keep {
        return Ok(folded);
    }
    let kept: Vec<Dim> = shape
        .iter()
        .enumerate()
        .map(|(axis, dim)| if axes.contains(&axis) { Dim::constant(1) } else { dim.clone() })
        .collect();
    checker.apply(Op::Reshape(Reshape { shape: kept.clone() }), &[folded], kept, at)
}

impl Checker<'_> {
    /// The axes that an option names, in order; all where it is missing or `"all"`.
    pub(super) fn axes_or_all(&mut self, axis: Option<&Arg<'_>>, rank: usize) -> Checked<Vec<usize>> {
        match axis {
            None => Ok((0..rank).collect()),
            Some(arg) if matches!(&arg.value, Value::Text(text) if text == "all") => Ok((0..rank).collect()),
            Some(arg) => {
                let mut axes = self.axes(arg, rank)?;
                axes.sort_unstable();
                Ok(axes)
            }
        }
    }

    /// The axes that an argument names, as written: one or a tuple.
    pub(super) fn axes(&mut self, arg: &Arg<'_>, rank: usize) -> Checked<Vec<usize>> {
        let Some(items) = arg.value.elements() else {
            return Ok(vec![self.axis(&arg.value, rank, arg.expr.span)?]);
        };
        let mut axes = Vec::with_capacity(items.len());
        for item in items {
            let axis = self.axis(&item.value, rank, item.at)?;
            if axes.contains(&axis) {
                return self.fail("axis", item.at, format!("axis {axis} is named twice"));
            }
            axes.push(axis);
        }
        Ok(axes)
    }

    /// One axis; negative ones count from the last.
    pub(super) fn axis(&mut self, value: &Value, rank: usize, at: Origin) -> Checked<usize> {
        let Some(axis) = value.as_int() else {
            let diagnostic = Diagnostic::new("axis", "an axis is an integer constant", at);
            return Err(
                self.report(diagnostic.help("write a number, or a tuple of numbers such as `(0, -1)`"))
            );
        };
        let counted = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
        match usize::try_from(counted) {
            Ok(counted) if counted < rank => Ok(counted),
            _ => {
                let diagnostic = Diagnostic::new(
                    "axis",
                    format!("there is no axis {axis}: the tensor has {}", counted_axes(rank)),
                    at,
                );
                Err(self.report(match rank {
                    0 => diagnostic.help("a scalar has no axes"),
                    _ => {
                        diagnostic.help(format!("axes are 0 to {}, or -1 to -{rank} from the last", rank - 1))
                    }
                }))
            }
        }
    }

    /// A truth value known now; false where it is missing.
    pub(super) fn flag(&mut self, arg: Option<&Arg<'_>>, name: &str) -> Checked<bool> {
        match arg.map(|arg| (&arg.value, arg.expr.span)) {
            None => Ok(false),
            Some((Value::Bool(value), _)) => Ok(*value),
            Some((_, at)) => self.fail("option-value", at, format!("`{name}` is `true` or `false`")),
        }
    }
}
