//! Convolutions: products of windows and kernels, and the other way, with one to three axes behind the channels.

use tensorjit_runtime::abi::Relation;

use super::super::super::call::{Arg, Call};
use super::super::super::derive::lacking;
use super::super::super::report::Checked;
use super::super::super::scope::Checker;
use super::super::super::value::Value;
use super::walk::{Options, Walk};
use crate::diag::Origin;
use crate::dim::Dim;
use crate::graph::ops::constant::Constant;
use crate::graph::ops::contract::Contract;
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::reshape::Reshape;
use crate::graph::ops::slice::{Range, Slice};
use crate::graph::ops::window::Window;
use crate::graph::{NodeId, Op};

/// The tensor and the kernel of a convolution.
struct Operands {
    x: NodeId,
    w: NodeId,
    groups: Dim,
    /// How many axes stand behind the channels.
    spatial: usize,
}

/// `conv(x, w, stride = 1, padding = 0, dilation = 1, groups = 1)`: `x` is `[batch, channels, ..]`, `w` is
/// `[features, channels / groups, ..]`.
pub(in super::super::super) fn conv(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(w), stride, padding, dilation, groups] = call.args.as_slice() else {
        return Err(lacking(checker, call));
    };
    let mut operands = checker.convolved(call, x, w, groups.as_ref(), "[features, channels, ..]")?;
    let (shape, taps) = checker.shapes(&operands);
    let why = format!(
        "the channels of the tensor must be those of the kernel times the groups, these are {} and {}",
        checker.show_shape(&shape),
        checker.show_shape(&taps)
    );
    checker.demand(&shape[1], Relation::Eq, &(&taps[1] * &operands.groups), call.at, &why)?;
    let features = checker.shared_out(&operands.groups, &taps[0], "features", call.at)?;
    let strides = checker.steps(stride.as_ref(), operands.spatial, "stride")?;
    let options: Options<'_, '_> = [padding.as_ref(), dilation.as_ref()];
    let walks = checker.walks(call, &shape[2..], (&taps[2..], strides), options)?;
    checker.split_groups(&mut operands, [(1, &taps[1]), (0, &features)], call.at)?;
    let Operands { x, w, spatial, .. } = operands;
    let fill = Constant::number(checker.graph.ty(x).dtype, 0.0);
    let x = checker.with_fill(x, &walks, fill, call.at)?;
    let windows = checker.all_windows(x, &walks, call.at)?;
    // Channels stand behind the groups, where there are such, and taps behind everything.
    let grouped = usize::from(checker.graph.ty(w).rank() > spatial + 2);
    let (first, behind) = (1 + grouped, 2 + grouped);
    let mut sum = vec![(first, first)];
    sum.extend((0..spatial).map(|i| (behind + spatial + i, behind + i)));
    let batch = if grouped == 1 { vec![(1, 0)] } else { Vec::new() };
    let product = checker.add(Op::Contract(Contract { batch, sum }), &[windows, w], call.at)?;
    // Of groups, batch, places and features: batch, groups, features and places.
    let mut order: Vec<usize> = vec![grouped];
    order.extend(0..grouped);
    order.push(1 + grouped + spatial);
    order.extend(1 + grouped..1 + grouped + spatial);
    let product = checker.add(Op::Permute(Permute { axes: order }), &[product], call.at)?;
    Ok(Value::Node(checker.merge_groups(product, grouped, call.at)?))
}

/// `conv_transpose(x, w, stride = 1, padding = 0, output_padding = 0, dilation = 1, groups = 1)`: `x` is
/// `[batch, channels, ..]`, `w` is `[channels, features / groups, ..]`.
pub(in super::super::super) fn conv_transpose(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(w), stride, padding, output_padding, dilation, groups] = call.args.as_slice() else {
        return Err(lacking(checker, call));
    };
    let mut operands = checker.convolved(call, x, w, groups.as_ref(), "[channels, features, ..]")?;
    let spatial = operands.spatial;
    let (shape, taps) = checker.shapes(&operands);
    let why = format!(
        "the channels of the tensor must be those of the kernel, these are {} and {}",
        checker.show_shape(&shape),
        checker.show_shape(&taps)
    );
    checker.demand(&shape[1], Relation::Eq, &taps[0], call.at, &why)?;
    let channels = checker.shared_out(&operands.groups, &taps[0], "channels", call.at)?;
    if let Some(arg) = padding.as_ref().filter(|arg| matches!(arg.value, Value::Text(_))) {
        let message = format!("`padding` of `{}` is a number, or a pair for each axis", call.name);
        return checker.fail("option-value", arg.expr.span, message);
    }
    let strides = checker.steps(stride.as_ref(), operands.spatial, "stride")?;
    let options: Options<'_, '_> = [padding.as_ref(), dilation.as_ref()];
    let walks = checker.walks(call, &shape[2..], (&taps[2..], strides), options)?;
    let further = match output_padding {
        None => vec![Dim::default(); spatial],
        Some(arg) => checker.dims_of(&arg.value, Some(spatial), "`output_padding`", arg.expr.span)?,
    };
    for (extra, arg) in further.iter().zip(output_padding.iter().cycle()) {
        let at = arg.expr.span;
        checker.demand(extra, Relation::Ge, &Dim::default(), at, "`output_padding` must not be negative")?;
    }
    checker.split_groups(&mut operands, [(1, &channels), (0, &channels)], call.at)?;
    let Operands { x, w, .. } = operands;
    let grouped = usize::from(checker.graph.ty(w).rank() > spatial + 2);
    let batch = if grouped == 1 { vec![(1, 0)] } else { Vec::new() };
    let sum = vec![(1 + grouped, grouped)];
    let product = checker.add(Op::Contract(Contract { batch, sum }), &[x, w], call.at)?;
    // Of groups, batch, places, features and taps: batch, groups, features, places and taps.
    let mut order: Vec<usize> = vec![grouped];
    order.extend(0..grouped);
    order.push(1 + grouped + spatial);
    order.extend(1 + grouped..1 + grouped + spatial);
    order.extend(2 + grouped + spatial..2 + grouped + 2 * spatial);
    let mut node = checker.add(Op::Permute(Permute { axes: order }), &[product], call.at)?;
    for (i, (walk, extra)) in walks.iter().zip(&further).enumerate().rev() {
        node = checker.untapped(node, 2 + grouped + i, (walk, extra), call.at)?;
    }
    Ok(Value::Node(checker.merge_groups(node, grouped, call.at)?))
}

impl Checker<'_> {
    /// The operands of a convolution, with their ranks and element types checked.
    fn convolved(
        &mut self,
        call: &Call<'_>,
        x: &Arg<'_>,
        w: &Arg<'_>,
        groups: Option<&Arg<'_>>,
        kernel: &str,
    ) -> Checked<Operands> {
        let (node, weights) = (self.typed(&x.value, x.expr.span)?, self.typed(&w.value, w.expr.span)?);
        let (a, b) = (self.graph.ty(node).clone(), self.graph.ty(weights).clone());
        if a.dtype != b.dtype || !a.dtype.is_float() {
            let (a, b) = (self.show_type(&a), self.show_type(&b));
            let message =
                format!("`{}` takes two tensors of one float type, these are {a} and {b}", call.name);
            return self.fail("element-type", call.at, message);
        }
        if !(3..=5).contains(&a.rank()) || b.rank() != a.rank() {
            let message = format!(
                "`{}` takes [batch, channels, ..] and {kernel} with one to three axes behind, \
                 these are {} and {}",
                call.name,
                self.show_shape(&a.shape),
                self.show_shape(&b.shape)
            );
            return self.fail("rank", call.at, message);
        }
        let groups = match groups {
            None => Dim::constant(1),
            Some(arg) => {
                let groups = self.value_dim(&arg.value, "the number of groups", arg.expr.span)?;
                let why = "there must be at least one group";
                self.demand(&groups, Relation::Gt, &Dim::default(), arg.expr.span, why)?;
                groups
            }
        };
        Ok(Operands { x: node, w: weights, groups, spatial: a.rank() - 2 })
    }

    fn shapes(&self, operands: &Operands) -> (Vec<Dim>, Vec<Dim>) {
        (self.graph.ty(operands.x).shape.clone(), self.graph.ty(operands.w).shape.clone())
    }

    /// How many of so many channels or features each group has.
    fn shared_out(&mut self, groups: &Dim, all: &Dim, what: &str, at: Origin) -> Checked<Dim> {
        if groups.is(1) {
            return Ok(all.clone());
        }
        if let (Some(groups @ 1..), Some(all)) = (groups.as_const(), all.as_const())
            && all % groups != 0
        {
            return self.fail("condition-false", at, format!("{groups} groups cannot share {all} {what}"));
        }
        let why = format!("the groups must divide the {what}");
        self.demand(&all.modulo(groups), Relation::Eq, &Dim::default(), at, &why)?;
        let each = all.exact_quotient(groups).unwrap_or_else(|| all.floor_div(groups));
        Ok(self.graph.facts.normalize(&each))
    }

    /// Splits an axis of the tensor and one of the kernel into groups and what each of them has.
    fn split_groups(
        &mut self,
        operands: &mut Operands,
        [of_x, of_w]: [(usize, &Dim); 2],
        at: Origin,
    ) -> Checked<()> {
        if operands.groups.is(1) {
            return Ok(());
        }
        for (node, (axis, each)) in [(&mut operands.x, of_x), (&mut operands.w, of_w)] {
            let mut shape = self.graph.ty(*node).shape.clone();
            shape.splice(axis..=axis, [operands.groups.clone(), each.clone()]);
            *node = self.add(Op::Reshape(Reshape { shape }), &[*node], at)?;
        }
        Ok(())
    }

    /// Makes one axis of groups and their features, where there are groups.
    fn merge_groups(&mut self, node: NodeId, grouped: usize, at: Origin) -> Checked<NodeId> {
        if grouped == 0 {
            return Ok(node);
        }
        let mut shape = self.graph.ty(node).shape.clone();
        let merged = self.graph.facts.normalize(&(&shape[1] * &shape[2]));
        shape.splice(1..=2, [merged]);
        self.add(Op::Reshape(Reshape { shape }), &[node], at)
    }

    /// Adds what the taps along the last axis give to the positions of an axis, of which the borders are left out.
    fn untapped(
        &mut self,
        node: NodeId,
        axis: usize,
        (walk, further): (&Walk, &Dim),
        at: Origin,
    ) -> Checked<NodeId> {
        let one = Dim::constant(1);
        let shape = self.graph.ty(node).shape.clone();
        let taps = shape.len() - 1;
        let why = "a transposed convolution needs an element along each axis";
        self.demand(&shape[axis], Relation::Ge, &one, at, why)?;
        let (stride, dilation) = (walk.stride, walk.dilation);
        let all = &(&(&shape[axis] - &one) * &Dim::constant(stride)) + &walk.reach();
        let extent = self.graph.facts.normalize(&(&all + further));
        let rest = self.graph.facts.normalize(&(&(&extent - &walk.low) - &walk.high));
        let why = "the borders that are left out must not be more than there is";
        self.demand(&rest, Relation::Ge, &Dim::default(), at, why)?;
        let zero = Constant::number(self.graph.ty(node).dtype, 0.0);
        let zero = self.add(Op::Constant(zero), &[], at)?;
        let window = Window { axis, taps, stride, dilation, extent, inverse: true };
        let node = self.add(Op::Window(window), &[node, zero], at)?;
        let sum = Reduce { kind: ReduceKind::Sum, axes: vec![taps] };
        let node = self.add(Op::Reduce(sum), &[node], at)?;
        let shape = self.graph.ty(node).shape.clone();
        let inner = Range { start: walk.low.clone(), step: 1, len: rest };
        if inner == Range::full(&shape[axis]) {
            return Ok(node);
        }
        self.add(Op::Slice(Slice::along(&shape, axis, inner)), &[node], at)
    }
}
