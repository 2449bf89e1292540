//! Windows, convolution and pooling: borders, windows of each axis, then a product or a reduction.

mod conv;
mod pool;
mod walk;

pub(super) use conv::{conv, conv_transpose};
pub(super) use pool::{avg_pool, lp_pool, max_pool, sum_pool};

use super::super::call::Call;
use super::super::derive::lacking;
use super::super::report::Checked;
use super::super::scope::Checker;
use super::super::value::Value;
use crate::dim::Dim;
use walk::Walk;

/// `windows(x, axis, size, stride = 1, dilation = 1)`: the axis becomes that of the windows, and their elements
/// are a new last axis.
pub(in super::super) fn windows(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(axis), Some(size), stride, dilation] = call.args.as_slice() else {
        return Err(lacking(checker, call));
    };
    let node = checker.typed(&x.value, x.expr.span)?;
    let rank = checker.graph.ty(node).rank();
    let axis = checker.axis(&axis.value, rank, axis.expr.span)?;
    let size = checker.value_dim(&size.value, "the size of a window", size.expr.span)?;
    checker.has_taps(&size, call.at)?;
    let stride = checker.steps(stride.as_ref(), 1, "stride")?[0];
    let dilation = checker.steps(dilation.as_ref(), 1, "dilation")?[0];
    let none = Dim::default;
    let walk = Walk { size, stride, dilation, low: none(), high: none(), beyond: none(), count: None };
    Ok(Value::Node(checker.windowed(node, axis, &walk, call.at)?))
}
