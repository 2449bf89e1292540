//! Elements in order.

use tensorjit_runtime::abi::Relation;

use super::super::call::{Arg, Call};
use super::super::derive::lacking;
use super::super::report::Checked;
use super::super::scope::Checker;
use super::super::value::{Operand, Placed, Value};
use crate::dim::Dim;
use crate::graph::ops::gather::Gather;
use crate::graph::ops::slice::Range;
use crate::graph::ops::sort::Sort;
use crate::graph::{NodeId, Op};

/// `argsort(x, axis, descending)`: indices of the elements in order; equal ones stay in theirs, NaN is last.
pub(in super::super) fn argsort(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), axis, descending] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let descending = checker.flag(descending.as_ref(), "descending")?;
    let (source, axis) = checker.sorted(x, axis.as_ref())?;
    Ok(Value::Node(checker.add(Op::Sort(Sort { axis, descending, nan_first: false }), &[source], call.at)?))
}

/// `sort(x, axis, descending)`.
pub(in super::super) fn sort(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), axis, descending] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let descending = checker.flag(descending.as_ref(), "descending")?;
    let (source, axis) = checker.sorted(x, axis.as_ref())?;
    let order = checker.add(Op::Sort(Sort { axis, descending, nan_first: false }), &[source], call.at)?;
    let rank = checker.graph.ty(source).rank();
    Ok(Value::Node(checker.add(Op::Gather(Gather::along(axis, rank)), &[source, order], call.at)?))
}

/// `top_k(x, k, axis, largest)`: the first elements in falling, or rising, order, and their indices.  The greatest is
/// that of `max`, which is NaN where there is one.
pub(in super::super) fn top_k(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(k), axis, largest] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let descending = largest.is_none() || checker.flag(largest.as_ref(), "largest")?;
    let (source, axis) = checker.sorted(x, axis.as_ref())?;
    let shape = checker.graph.ty(source).shape.clone();
    let count = checker.value_dim(&k.value, "the number of elements", k.expr.span)?;
    checker.demand_extent(&count, k.expr.span)?;
    let why = format!("`{}` takes no more elements than there are", call.name);
    checker.demand(&count, Relation::Le, &shape[axis], k.expr.span, &why)?;
    let order =
        checker.add(Op::Sort(Sort { axis, descending, nan_first: descending }), &[source], call.at)?;
    let ranges: Vec<Range> = shape
        .iter()
        .enumerate()
        .map(|(i, extent)| Range {
            start: Dim::constant(0),
            step: 1,
            len: if i == axis { count.clone() } else { extent.clone() },
        })
        .collect();
    let first = checker.slice(Operand::Node(order), ranges, call.at)?.value();
    let first = checker.typed(&first, call.at)?;
    let gather = Op::Gather(Gather::along(axis, shape.len()));
    let values = checker.add(gather, &[source, first], call.at)?;
    let placed = |node: NodeId| Placed { value: Value::Node(node), at: call.at };
    Ok(Value::Tuple(vec![placed(values), placed(first)]))
}

impl Checker<'_> {
    /// What is sorted, and along which axis: the last where none is named.
    fn sorted(&mut self, x: &Arg<'_>, axis: Option<&Arg<'_>>) -> Checked<(NodeId, usize)> {
        let source = self.typed(&x.value, x.expr.span)?;
        let rank = self.graph.ty(source).rank();
        let axis = match axis {
            Some(arg) => self.axis(&arg.value, rank, arg.expr.span)?,
            None => self.axis(&Value::Dim(Dim::constant(-1)), rank, x.expr.span)?,
        };
        Ok((source, axis))
    }
}
