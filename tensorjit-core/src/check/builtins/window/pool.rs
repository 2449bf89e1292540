//! Pooling: folds of windows of the last axes.

use super::super::super::call::{Arg, Call};
use super::super::super::derive::lacking;
use super::super::super::report::Checked;
use super::super::super::scope::Checker;
use super::super::super::value::{Placed, Value};
use super::super::create::zero;
use super::walk::{Options, Walk};
use crate::diag::Origin;
use crate::dim::Dim;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::constant::Constant;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op};
use tensorjit_runtime::abi::DType;

/// `max_pool(x, size, stride = size, padding = 0, dilation = 1, ceil_mode = false)` over the last axes, as many as
/// `size` names.
pub(in super::super::super) fn max_pool(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let (node, walks) = checker.pooled(call)?;
    let dtype = checker.graph.ty(node).dtype;
    let node = checker.with_fill(node, &walks, Constant::least(dtype), call.at)?;
    let node = checker.all_windows(node, &walks, call.at)?;
    Ok(Value::Node(checker.over_taps(node, ReduceKind::Max, walks.len(), call.at)?))
}

/// `sum_pool(x, size, stride = size, padding = 0, dilation = 1, ceil_mode = false)`: borders are zeros.
pub(in super::super::super) fn sum_pool(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let (node, walks) = checker.pooled(call)?;
    Ok(Value::Node(checker.summed_windows(node, &walks, call.at)?))
}

/// `avg_pool(x, size, stride = size, padding = 0, dilation = 1, ceil_mode = false, count_include_pad = false)`: of the
/// elements that are no border, or of all that the borders leave.
pub(in super::super::super) fn avg_pool(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let (node, walks) = checker.pooled(call)?;
    checker.pools_floats(call, node)?;
    let with_borders = checker.flag(call.args.get(6).and_then(Option::as_ref), "count_include_pad")?;
    let sum = checker.summed_windows(node, &walks, call.at)?;
    // How many elements of a window count is a product of an own count for each axis.
    let ty = checker.graph.ty(node).clone();
    let mut spatial = ty.shape[ty.rank() - walks.len()..].to_vec();
    let mut counted = walks;
    if with_borders {
        for (walk, extent) in counted.iter_mut().zip(&mut spatial) {
            *extent = &(&std::mem::take(&mut walk.low) + extent) + &std::mem::take(&mut walk.high);
        }
    }
    let one = checker.add(Op::Constant(Constant::number(ty.dtype, 1.0)), &[], call.at)?;
    let ones = Op::Broadcast(Broadcast { shape: spatial, axes: Vec::new() });
    let ones = checker.add(ones, &[one], call.at)?;
    let count = checker.summed_windows(ones, &counted, call.at)?;
    let operands = [sum, count].map(|node| Placed { value: Value::Node(node), at: call.at });
    checker.elementwise(Ew::Div, call.name, operands.to_vec(), call.at)
}

/// `lp_pool(x, size, stride = size, padding = 0, dilation = 1, ceil_mode = false, p = 2)`: the p-th root of the sum of
/// the p-th powers of absolute values; its derivative is 0 where that is 0.
pub(in super::super::super) fn lp_pool(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let (node, walks) = checker.pooled(call)?;
    checker.pools_floats(call, node)?;
    let power = match call.args.get(6).and_then(Option::as_ref) {
        None => 2,
        Some(arg) => match arg.value.as_int() {
            Some(power @ 1..) => power,
            _ => return checker.fail("option-value", arg.expr.span, "`p` is a positive integer constant"),
        },
    };
    let dtype = checker.graph.ty(node).dtype;
    let number = |checker: &mut Checker<'_>, value: f64| {
        checker.add(Op::Constant(Constant::number(dtype, value)), &[], call.at)
    };
    let powers = match power {
        2 => checker.applied(Ew::Mul, call, &[node, node])?,
        _ => {
            let (size, exponent) = (checker.applied(Ew::Abs, call, &[node])?, number(checker, power as f64)?);
            if power == 1 { size } else { checker.applied(Ew::Pow, call, &[size, exponent])? }
        }
    };
    let total = checker.summed_windows(powers, &walks, call.at)?;
    let root = match power {
        1 => return Ok(Value::Node(total)),
        2 => checker.applied(Ew::Sqrt, call, &[total])?,
        _ => {
            let exponent = number(checker, 1.0 / power as f64)?;
            checker.applied(Ew::Pow, call, &[total, exponent])?
        }
    };
    let none = number(checker, 0.0)?;
    let empty = checker.applied(Ew::Le, call, &[total, none])?;
    Ok(Value::Node(checker.applied(Ew::Select, call, &[empty, none, root])?))
}

impl Checker<'_> {
    /// The tensor of a pooling, and how its windows lie.
    fn pooled(&mut self, call: &Call<'_>) -> Checked<(NodeId, Vec<Walk>)> {
        let [Some(x), Some(size), stride, padding, dilation, ceil, ..] = call.args.as_slice() else {
            return Err(lacking(self, call));
        };
        let node = self.typed(&x.value, x.expr.span)?;
        self.pools(call, node, "numbers", |dtype| dtype != DType::Bool)?;
        let shape = self.graph.ty(node).shape.clone();
        let sizes = self.dims_of(&size.value, None, "the size of a window", size.expr.span)?;
        if sizes.is_empty() || sizes.len() > shape.len() {
            let message = format!("windows have one to {} axes, these have {}", shape.len(), sizes.len());
            return self.fail("rank", size.expr.span, message);
        }
        let spatial = &shape[shape.len() - sizes.len()..];
        let strides = match stride {
            Some(_) => self.steps(stride.as_ref(), sizes.len(), "stride")?,
            None => self.strides_of(&sizes, size)?,
        };
        let options: Options<'_, '_> = [padding.as_ref(), dilation.as_ref()];
        let mut walks = self.walks(call, spatial, (&sizes, strides), options)?;
        if self.flag(ceil.as_ref(), "ceil_mode")? {
            self.round_up(spatial, &mut walks, size.expr.span)?;
        }
        Ok((node, walks))
    }

    /// The strides of windows that follow one another.
    fn strides_of(&mut self, sizes: &[Dim], size: &Arg<'_>) -> Checked<Vec<i64>> {
        match sizes.iter().map(Dim::as_const).collect() {
            Some(strides) => Ok(strides),
            None => {
                let message = "give a `stride`: it is a constant, and this size is none";
                self.fail("option-value", size.expr.span, message)
            }
        }
    }

    fn pools_floats(&mut self, call: &Call<'_>, node: NodeId) -> Checked<()> {
        self.pools(call, node, "floats", DType::is_float)
    }

    /// Demands elements of some kind.
    fn pools(&mut self, call: &Call<'_>, node: NodeId, what: &str, are: fn(DType) -> bool) -> Checked<()> {
        let ty = self.graph.ty(node).clone();
        if are(ty.dtype) {
            return Ok(());
        }
        let found = self.show_type(&ty);
        self.fail("element-type", call.at, format!("`{}` takes {what}, this is {found}", call.name))
    }

    /// The sums of windows; borders are zeros.
    fn summed_windows(&mut self, node: NodeId, walks: &[Walk], at: Origin) -> Checked<NodeId> {
        let dtype = self.graph.ty(node).dtype;
        let node = self.with_fill(node, walks, zero(dtype), at)?;
        let node = self.all_windows(node, walks, at)?;
        self.over_taps(node, ReduceKind::Sum, walks.len(), at)
    }

    /// Folds the last axes.
    fn over_taps(&mut self, node: NodeId, kind: ReduceKind, count: usize, at: Origin) -> Checked<NodeId> {
        let rank = self.graph.ty(node).rank();
        self.add(Op::Reduce(Reduce { kind, axes: (rank - count..rank).collect() }), &[node], at)
    }

    /// An elementwise function of nodes.
    fn applied(&mut self, function: Ew, call: &Call<'_>, operands: &[NodeId]) -> Checked<NodeId> {
        let operands =
            operands.iter().map(|node| Placed { value: Value::Node(*node), at: call.at }).collect();
        let value = self.elementwise(function, call.name, operands, call.at)?;
        self.typed(&value, call.at)
    }
}
