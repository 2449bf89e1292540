//! Tensors made of nothing: their element type is that of what they meet, or the option `dtype`.

use std::rc::Rc;

use tensorjit_runtime::abi::{DType, Relation};

use super::super::call::{Arg, Call};
use super::super::derive::lacking;
use super::super::report::Checked;
use super::super::scope::Checker;
use super::super::value::{Form, Kind, Literal, Operand, Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::graph::Op;
use crate::graph::ops::constant::Constant;
use crate::graph::table::Ew;

/// `zeros(shape, dtype)`.
pub(in super::super) fn zeros(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(shape), dtype] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    filled(checker, call, shape, Value::Literal(Literal::int(0, call.at).into()), dtype.as_ref())
}

/// `ones(shape, dtype)`.
pub(in super::super) fn ones(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(shape), dtype] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    filled(checker, call, shape, Value::Literal(Literal::int(1, call.at).into()), dtype.as_ref())
}

/// `full(shape, value, dtype)`.
pub(in super::super) fn full(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(shape), Some(value), dtype] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    filled(checker, call, shape, value.value.clone(), dtype.as_ref())
}

fn filled(
    checker: &mut Checker<'_>,
    call: &Call<'_>,
    shape: &Arg<'_>,
    value: Value,
    dtype: Option<&Arg<'_>>,
) -> Checked<Value> {
    let extents = checker.value_shape(&shape.value, shape.expr.span)?;
    for extent in &extents {
        checker.demand_extent(extent, shape.expr.span)?;
    }
    let operand = checker.operand(&value, call.at)?;
    let found = checker.shape(&operand);
    if !found.is_empty() {
        let message =
            format!("`{}` repeats a scalar, this has the shape {}", call.name, checker.show_shape(&found));
        let diagnostic = Diagnostic::new("shape-mismatch", message, call.at);
        return Err(checker.report(diagnostic.help("`broadcast_to` repeats tensors")));
    }
    let filled = checker.expand(operand, &extents, call.at)?.value();
    with_dtype(checker, filled, dtype, call.at)
}

/// The value with the element type of the option, where it is given.
fn with_dtype(
    checker: &mut Checker<'_>,
    value: Value,
    dtype: Option<&Arg<'_>>,
    at: Origin,
) -> Checked<Value> {
    let Some(arg) = dtype else { return Ok(value) };
    let Value::Elem(dtype) = arg.value else {
        let message = "`dtype` is an element type, such as `f32`";
        return checker.fail("option-value", arg.expr.span, message);
    };
    match checker.operand(&value, at)? {
        Operand::Literal(literal) => Ok(Value::Node(checker.settle(&literal, dtype, arg.expr.span)?)),
        Operand::Node(_) => checker.cast(&Placed { value, at }, dtype, at),
    }
}

/// `eye(n, m, dtype)`.
pub(in super::super) fn eye(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(n), m, dtype] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let rows = checker.value_dim(&n.value, "the number of rows", n.expr.span)?;
    checker.demand_extent(&rows, n.expr.span)?;
    let columns = match m {
        None => rows.clone(),
        Some(m) => {
            let columns = checker.value_dim(&m.value, "the number of columns", m.expr.span)?;
            checker.demand_extent(&columns, m.expr.span)?;
            columns
        }
    };
    let shape = [rows.clone(), columns.clone()];
    let down = counter(checker, rows, 0, &shape, call.at)?;
    let across = counter(checker, columns, 1, &shape, call.at)?;
    let diagonal = checker.elementwise(Ew::Eq, "eye", vec![down, across], call.at)?;
    let number = |value| Placed { value: Value::Literal(Literal::int(value, call.at).into()), at: call.at };
    let choice = vec![Placed { value: diagonal, at: call.at }, number(1), number(0)];
    let value = checker.elementwise(Ew::Select, "eye", choice, call.at)?;
    with_dtype(checker, value, dtype.as_ref(), call.at)
}

/// The index along an axis of a shape, as `i64`.
fn counter(
    checker: &mut Checker<'_>,
    extent: Dim,
    axis: usize,
    shape: &[Dim],
    at: Origin,
) -> Checked<Placed> {
    use crate::graph::ops::broadcast::Broadcast;
    use crate::graph::ops::iota::Iota;
    let count = checker.add(Op::Iota(Iota { dtype: DType::I64, extent }), &[], at)?;
    let op = Op::Broadcast(Broadcast { shape: shape.to_vec(), axes: vec![axis] });
    Ok(Placed { value: Value::Node(checker.add(op, &[count], at)?), at })
}

/// `iota(n, dtype)`.
pub(in super::super) fn iota(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(n), dtype] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let extent = checker.value_dim(&n.value, "the number of elements", n.expr.span)?;
    checker.demand_extent(&extent, n.expr.span)?;
    with_dtype(checker, counting(extent, call.at), dtype.as_ref(), call.at)
}

fn counting(extent: Dim, at: Origin) -> Value {
    let shape = vec![extent.clone()];
    Value::Literal(Rc::new(Literal { kind: Kind::Int, shape, form: Form::Iota(extent), at, depth: 0 }))
}

/// `arange(stop)` or `arange(start, stop, step)`, of dimensions.
pub(in super::super) fn arange(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(first), stop, step, dtype] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let what = "a bound of a range";
    let (start, end, end_at) = match stop {
        None => (Dim::constant(0), checker.value_dim(&first.value, what, first.expr.span)?, first.expr.span),
        Some(stop) => {
            let start = checker.value_dim(&first.value, what, first.expr.span)?;
            (start, checker.value_dim(&stop.value, what, stop.expr.span)?, stop.expr.span)
        }
    };
    let step = match step {
        None => 1,
        Some(arg) => match arg.value.as_int() {
            Some(step) if step != 0 && step != i64::MIN => step,
            _ => {
                let message = "the step of `arange` is a constant other than 0";
                return checker.fail("option-value", arg.expr.span, message);
            }
        },
    };
    let length = if step > 0 { &end - &start } else { &start - &end };
    let zero = Dim::constant(0);
    checker.demand(&length, Relation::Ge, &zero, end_at, "a range must not end before it starts")?;
    let extent = length.ceil_div(&Dim::constant(step.abs()));
    let count = counting(extent, call.at);
    let scaled = match step {
        1 => count,
        step => {
            let factor = Value::Literal(Literal::int(step.into(), call.at).into());
            literal_op(checker, Ew::Mul, &count, &factor, call.at)?
        }
    };
    let value = match start.is(0) {
        true => scaled,
        false => literal_op(checker, Ew::Add, &scaled, &dim_literal(start, call.at), call.at)?,
    };
    with_dtype(checker, value, dtype.as_ref(), call.at)
}

/// A dimension as a number of open type.
fn dim_literal(dim: Dim, at: Origin) -> Value {
    let form = Form::Dim(dim);
    Value::Literal(Rc::new(Literal { kind: Kind::Int, shape: Vec::new(), form, at, depth: 0 }))
}

fn literal_op(checker: &mut Checker<'_>, row: Ew, a: &Value, b: &Value, at: Origin) -> Checked<Value> {
    let args = vec![Placed { value: a.clone(), at }, Placed { value: b.clone(), at }];
    checker.elementwise(row, row.row().name, args, at)
}

/// `linspace(start, stop, num, endpoint)`; the last element is `stop` itself where it is included.
pub(in super::super) fn linspace(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(start), Some(stop), Some(num), endpoint] = call.args.as_slice() else {
        return Err(lacking(checker, call));
    };
    let count = checker.value_dim(&num.value, "the number of points", num.expr.span)?;
    checker.demand_extent(&count, num.expr.span)?;
    let included = match endpoint.as_ref().map(|arg| (&arg.value, arg.expr.span)) {
        None => true,
        Some((Value::Bool(included), _)) => *included,
        Some((_, at)) => return checker.fail("option-value", at, "`endpoint` is `true` or `false`"),
    };
    let (start, stop) = (float_only(&start.value), float_only(&stop.value));
    let one = Dim::constant(1);
    let gaps = if included { (&count - &one).maximum(&one) } else { count.maximum(&one) };
    let at = call.at;
    let span = literal_op(checker, Ew::Sub, &stop, &start, at)?;
    let step = literal_op(checker, Ew::Div, &span, &dim_literal(gaps, at), at)?;
    let offset = literal_op(checker, Ew::Mul, &counting(count.clone(), at), &step, at)?;
    let points = literal_op(checker, Ew::Add, &offset, &start, at)?;
    if !included || count.is(1) {
        return Ok(points);
    }
    let position = counter(checker, count.clone(), 0, std::slice::from_ref(&count), at)?;
    let last = Placed { value: Value::Dim(&count - &one), at };
    // With a single point both ends meet in it, and it is the start.
    let ends = checker.elementwise(Ew::Eq, "linspace", vec![position.clone(), last], at)?;
    let first = Placed { value: Value::Dim(Dim::constant(0)), at };
    let moved = checker.elementwise(Ew::Gt, "linspace", vec![position, first], at)?;
    let mask = vec![Placed { value: ends, at }, Placed { value: moved, at }];
    let mask = checker.elementwise(Ew::And, "linspace", mask, at)?;
    let choice = [mask, stop, points].map(|value| Placed { value, at });
    checker.elementwise(Ew::Select, "linspace", choice.to_vec(), at)
}

/// A number that only floats may become.
fn float_only(value: &Value) -> Value {
    match value {
        Value::Literal(literal) => match literal.form {
            Form::Int(number) => Value::Literal(Rc::new(Literal {
                kind: Kind::Float,
                shape: Vec::new(),
                form: Form::Int(number),
                at: literal.at,
                depth: 0,
            })),
            _ => value.clone(),
        },
        Value::Dim(dim) => Value::Literal(Rc::new(Literal {
            kind: Kind::Float,
            shape: Vec::new(),
            form: Form::Dim(dim.clone()),
            at: Origin::default(),
            depth: 0,
        })),
        other => other.clone(),
    }
}

/// The number zero of a type.
pub(in super::super) fn zero(dtype: DType) -> Constant {
    Constant::zero(dtype)
}
