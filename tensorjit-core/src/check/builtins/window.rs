//! Windows, convolution and pooling: borders, windows of each axis, then a product or a reduction.

use tensorjit_runtime::abi::Relation;

use super::super::call::{Arg, Call};
use super::super::derive::lacking;
use super::super::report::Checked;
use super::super::scope::Checker;
use super::super::value::{Placed, Value};
use super::create::zero;
use crate::diag::Origin;
use crate::dim::Dim;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::constant::Constant;
use crate::graph::ops::contract::Contract;
use crate::graph::ops::pad::{Pad, PadAxis};
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::reshape::Reshape;
use crate::graph::ops::window::Window;
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op};

/// How windows lie along one axis.
#[derive(Clone)]
struct Walk {
    size: Dim,
    stride: i64,
    dilation: i64,
    /// The borders before and after the axis.
    low: Dim,
    high: Dim,
}

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
    let stride = checker.steps(stride.as_ref(), 1, "stride")?[0];
    let dilation = checker.steps(dilation.as_ref(), 1, "dilation")?[0];
    let walk = Walk { size, stride, dilation, low: Dim::default(), high: Dim::default() };
    Ok(Value::Node(checker.windowed(node, axis, &walk, call.at)?))
}

/// `conv(x, w, stride = 1, padding = 0, dilation = 1, groups = 1)`: `x` is `[batch, channels, ..]`, `w` is
/// `[features, channels / groups, ..]`, with one to three axes behind.
pub(in super::super) fn conv(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), Some(w), stride, padding, dilation, groups] = call.args.as_slice() else {
        return Err(lacking(checker, call));
    };
    let (node, kernel) = checker.same_floats(call, x, w)?;
    let (shape, taps) = (checker.graph.ty(node).shape.clone(), checker.graph.ty(kernel).shape.clone());
    if !(3..=5).contains(&shape.len()) || taps.len() != shape.len() {
        let message = format!(
            "`{}` takes [batch, channels, ..] and [features, channels, ..] with one to three axes behind, \
             these are {} and {}",
            call.name,
            checker.show_shape(&shape),
            checker.show_shape(&taps)
        );
        return checker.fail("rank", call.at, message);
    }
    let groups = match groups {
        None => Dim::constant(1),
        Some(arg) => checker.value_dim(&arg.value, "the number of groups", arg.expr.span)?,
    };
    let why = "the channels of the kernel times the groups must be the channels of the tensor";
    checker.demand(&shape[1], Relation::Eq, &(&taps[1] * &groups), call.at, why)?;
    let walks = checker.walks(
        call,
        &shape[2..],
        &taps[2..],
        [stride.as_ref(), padding.as_ref(), dilation.as_ref()],
    )?;
    let node =
        checker.with_fill(node, &walks, Constant::number(checker.graph.ty(node).dtype, 0.0), call.at)?;
    let node = checker.all_windows(node, &walks, call.at)?;
    Ok(Value::Node(checker.convolved(node, kernel, &groups, walks.len(), call.at)?))
}

/// `max_pool(x, size, stride = size, padding = 0, dilation = 1)` over the last axes, as many as `size` names.
pub(in super::super) fn max_pool(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let (node, walks) = checker.pooled(call)?;
    let dtype = checker.graph.ty(node).dtype;
    let node = checker.with_fill(node, &walks, Constant::least(dtype), call.at)?;
    let node = checker.all_windows(node, &walks, call.at)?;
    Ok(Value::Node(checker.over_taps(node, ReduceKind::Max, walks.len(), call.at)?))
}

/// `sum_pool(x, size, stride = size, padding = 0, dilation = 1)`: borders are zeros.
pub(in super::super) fn sum_pool(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let (node, walks) = checker.pooled(call)?;
    let dtype = checker.graph.ty(node).dtype;
    let node = checker.with_fill(node, &walks, zero(dtype), call.at)?;
    let node = checker.all_windows(node, &walks, call.at)?;
    Ok(Value::Node(checker.over_taps(node, ReduceKind::Sum, walks.len(), call.at)?))
}

/// `avg_pool(x, size, stride = size, padding = 0, dilation = 1)`: of the elements that are no border.
pub(in super::super) fn avg_pool(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let sum = sum_pool(checker, call)?;
    let (node, walks) = checker.pooled(call)?;
    let ty = checker.graph.ty(node).clone();
    if !ty.dtype.is_float() {
        let found = checker.show_type(&ty);
        return checker.fail("element-type", call.at, format!("`avg_pool` takes floats, this is {found}"));
    }
    // How many elements of a window are no border is a product of an own count for each axis.
    let one = checker.add(Op::Constant(Constant::number(ty.dtype, 1.0)), &[], call.at)?;
    let spatial = ty.shape[ty.rank() - walks.len()..].to_vec();
    let ones = Op::Broadcast(Broadcast { shape: spatial, axes: Vec::new() });
    let ones = checker.add(ones, &[one], call.at)?;
    let ones = checker.with_fill(ones, &walks, zero(ty.dtype), call.at)?;
    let ones = checker.all_windows(ones, &walks, call.at)?;
    let count = checker.over_taps(ones, ReduceKind::Sum, walks.len(), call.at)?;
    let operands = [sum, Value::Node(count)].map(|value| Placed { value, at: call.at });
    checker.elementwise(Ew::Div, call.name, operands.to_vec(), call.at)
}

impl Checker<'_> {
    /// Two tensors of one float type.
    fn same_floats(&mut self, call: &Call<'_>, x: &Arg<'_>, w: &Arg<'_>) -> Checked<(NodeId, NodeId)> {
        let (node, kernel) = (self.typed(&x.value, x.expr.span)?, self.typed(&w.value, w.expr.span)?);
        let (a, b) = (self.graph.ty(node).clone(), self.graph.ty(kernel).clone());
        if a.dtype != b.dtype || !a.dtype.is_float() {
            let (a, b) = (self.show_type(&a), self.show_type(&b));
            let message =
                format!("`{}` takes two tensors of one float type, these are {a} and {b}", call.name);
            return self.fail("element-type", call.at, message);
        }
        Ok((node, kernel))
    }

    /// The tensor of a pooling, and how its windows lie.
    fn pooled(&mut self, call: &Call<'_>) -> Checked<(NodeId, Vec<Walk>)> {
        let [Some(x), Some(size), stride, padding, dilation] = call.args.as_slice() else {
            return Err(lacking(self, call));
        };
        let node = self.typed(&x.value, x.expr.span)?;
        let shape = self.graph.ty(node).shape.clone();
        let single = [Placed { value: size.value.clone(), at: size.expr.span }];
        let items = size.value.elements().unwrap_or(&single);
        let mut sizes = Vec::with_capacity(items.len());
        for item in items {
            sizes.push(self.value_dim(&item.value, "the size of a window", item.at)?);
        }
        if sizes.is_empty() || sizes.len() > shape.len() {
            let message = format!("windows have one to {} axes, these have {}", shape.len(), sizes.len());
            return self.fail("rank", size.expr.span, message);
        }
        let spatial = &shape[shape.len() - sizes.len()..];
        let mut walks =
            self.walks(call, spatial, &sizes, [stride.as_ref(), padding.as_ref(), dilation.as_ref()])?;
        if stride.is_none() {
            for walk in &mut walks {
                walk.stride = match walk.size.as_const() {
                    Some(size @ 1..) => size,
                    _ => {
                        let message = "give a `stride`: it is a constant, and this size is none";
                        return self.fail("option-value", size.expr.span, message);
                    }
                };
            }
            self.same_borders(call, spatial, padding.as_ref(), &mut walks)?;
        }
        Ok((node, walks))
    }

    /// One walk for each axis, from the options `stride`, `padding` and `dilation`.
    fn walks(
        &mut self,
        call: &Call<'_>,
        extents: &[Dim],
        sizes: &[Dim],
        [stride, padding, dilation]: [Option<&Arg<'_>>; 3],
    ) -> Checked<Vec<Walk>> {
        let strides = self.steps(stride, sizes.len(), "stride")?;
        let dilations = self.steps(dilation, sizes.len(), "dilation")?;
        let borders = match padding {
            Some(arg) if !matches!(arg.value, Value::Text(_)) => self.pad_widths(arg, sizes.len())?,
            _ => vec![(Dim::default(), Dim::default()); sizes.len()],
        };
        let walks = sizes.iter().zip(strides).zip(dilations).zip(borders);
        let mut walks: Vec<Walk> = walks
            .map(|(((size, stride), dilation), (low, high))| Walk {
                size: size.clone(),
                stride,
                dilation,
                low,
                high,
            })
            .collect();
        self.same_borders(call, extents, padding, &mut walks)?;
        Ok(walks)
    }

    /// The borders that `padding = "same"` asks for: as many windows as there are elements over the stride, and
    /// the odd element of a border at its end.
    fn same_borders(
        &mut self,
        call: &Call<'_>,
        extents: &[Dim],
        padding: Option<&Arg<'_>>,
        walks: &mut [Walk],
    ) -> Checked<()> {
        let Some(arg) = padding else { return Ok(()) };
        let Value::Text(text) = &arg.value else { return Ok(()) };
        match text.as_str() {
            "valid" => return Ok(()),
            "same" | "same_lower" => {}
            _ => {
                let message = format!(
                    "`padding` of `{}` is a number, a pair for each axis, \"valid\", \"same\" or \"same_lower\"",
                    call.name
                );
                return self.fail("option-value", arg.expr.span, message);
            }
        }
        let lower = text == "same_lower";
        let one = Dim::constant(1);
        for (walk, extent) in walks.iter_mut().zip(extents) {
            let stride = Dim::constant(walk.stride);
            let reach = &(&(&walk.size - &one) * &Dim::constant(walk.dilation)) + &one;
            let total = match walk.stride {
                1 => &reach - &one,
                _ => {
                    let count = extent.ceil_div(&stride);
                    let needed = &(&(&(&count - &one) * &stride) + &reach) - extent;
                    self.dim_extremum(&needed, &Dim::default(), true)
                }
            };
            let less = total.floor_div(&Dim::constant(2));
            let more = &total - &less;
            (walk.low, walk.high) = if lower { (more, less) } else { (less, more) };
        }
        Ok(())
    }

    /// Positive constants, one for all axes or one each.
    fn steps(&mut self, arg: Option<&Arg<'_>>, rank: usize, option: &str) -> Checked<Vec<i64>> {
        let Some(arg) = arg else { return Ok(vec![1; rank]) };
        let steps: Option<Vec<i64>> = match arg.value.elements() {
            None => arg.value.as_int().map(|step| vec![step; rank]),
            Some(items) => items.iter().map(|item| item.value.as_int()).collect(),
        };
        match steps {
            Some(steps)
                if steps.len() == rank && steps.iter().all(|s| (1..=i64::from(u16::MAX)).contains(s)) =>
            {
                Ok(steps)
            }
            _ => {
                let message = format!("`{option}` is a positive constant, or one for each of {rank} axes");
                self.fail("option-value", arg.expr.span, message)
            }
        }
    }

    /// The last axes with their borders.
    fn with_fill(&mut self, node: NodeId, walks: &[Walk], fill: Constant, at: Origin) -> Checked<NodeId> {
        let none = Dim::default();
        if walks.iter().all(|walk| walk.low == none && walk.high == none) {
            return Ok(node);
        }
        let shape = self.graph.ty(node).shape.clone();
        let before = shape.len() - walks.len();
        let axes = shape.iter().enumerate().map(|(axis, extent)| match axis.checked_sub(before) {
            None => PadAxis { low: none.clone(), gap: 0, extent: extent.clone() },
            Some(i) => {
                let Walk { low, high, .. } = &walks[i];
                PadAxis { low: low.clone(), gap: 0, extent: &(low + extent) + high }
            }
        });
        let axes = axes.collect();
        let fill = self.add(Op::Constant(fill), &[], at)?;
        self.add(Op::Pad(Pad { axes }), &[node, fill], at)
    }

    /// The windows of the last axes; their taps are as many further axes.
    fn all_windows(&mut self, mut node: NodeId, walks: &[Walk], at: Origin) -> Checked<NodeId> {
        let before = self.graph.ty(node).rank() - walks.len();
        for (i, walk) in walks.iter().enumerate() {
            node = self.windowed(node, before + i, walk, at)?;
        }
        Ok(node)
    }

    /// The windows of one axis; their taps are a new last axis.
    fn windowed(&mut self, node: NodeId, axis: usize, walk: &Walk, at: Origin) -> Checked<NodeId> {
        let (zero, one) = (Dim::default(), Dim::constant(1));
        let shape = self.graph.ty(node).shape.clone();
        self.demand(&walk.size, Relation::Ge, &one, at, "a window must have at least one element")?;
        let reach = &(&(&walk.size - &one) * &Dim::constant(walk.dilation)) + &one;
        let room = &shape[axis] - &reach;
        self.demand(&room, Relation::Ge, &zero, at, "a window must fit into its axis with its borders")?;
        let count = &room.floor_div(&Dim::constant(walk.stride)) + &one;
        let count = self.graph.facts.normalize(&count);
        let mut repeated = shape.clone();
        repeated.push(walk.size.clone());
        let axes = (0..shape.len()).collect();
        let node = self.add(Op::Broadcast(Broadcast { shape: repeated, axes }), &[node], at)?;
        let (taps, stride, dilation) = (shape.len(), walk.stride, walk.dilation);
        self.add(
            Op::Window(Window { axis, taps, stride, dilation, extent: count, inverse: false }),
            &[node],
            at,
        )
    }

    /// Folds the last axes.
    fn over_taps(&mut self, node: NodeId, kind: ReduceKind, count: usize, at: Origin) -> Checked<NodeId> {
        let rank = self.graph.ty(node).rank();
        self.add(Op::Reduce(Reduce { kind, axes: (rank - count..rank).collect() }), &[node], at)
    }

    /// Sums windows times kernels over channels and taps; features come second.
    fn convolved(
        &mut self,
        windows: NodeId,
        kernel: NodeId,
        groups: &Dim,
        spatial: usize,
        at: Origin,
    ) -> Checked<NodeId> {
        if groups.is(1) {
            let mut sum = vec![(1, 1)];
            sum.extend((0..spatial).map(|i| (2 + spatial + i, 2 + i)));
            let product = Op::Contract(Contract { batch: Vec::new(), sum });
            let product = self.add(product, &[windows, kernel], at)?;
            let mut order: Vec<usize> = (0..spatial + 2).collect();
            order.rotate_right(1);
            order.swap(0, 1);
            return self.add(Op::Permute(Permute { axes: order }), &[product], at);
        }
        let (x, w) = (self.graph.ty(windows).shape.clone(), self.graph.ty(kernel).shape.clone());
        let zero = Dim::default();
        self.demand(groups, Relation::Gt, &zero, at, "there must be at least one group")?;
        let why = "the groups must divide the features";
        self.demand(&w[0].modulo(groups), Relation::Eq, &zero, at, why)?;
        let features = w[0].exact_quotient(groups).unwrap_or_else(|| w[0].floor_div(groups));
        let features = self.graph.facts.normalize(&features);
        let split = |shape: &[Dim], axis: usize, parts: [Dim; 2]| {
            let mut split = shape.to_vec();
            split.splice(axis..=axis, parts);
            split
        };
        let x = split(&x, 1, [groups.clone(), w[1].clone()]);
        let w = split(&w, 0, [groups.clone(), features]);
        let (windows, kernel) = (
            self.add(Op::Reshape(Reshape { shape: x.clone() }), &[windows], at)?,
            self.add(Op::Reshape(Reshape { shape: w.clone() }), &[kernel], at)?,
        );
        let mut sum = vec![(2, 2)];
        sum.extend((0..spatial).map(|i| (3 + spatial + i, 3 + i)));
        let product =
            self.add(Op::Contract(Contract { batch: vec![(1, 0)], sum }), &[windows, kernel], at)?;
        // [group, batch, places.., feature] to [batch, group, feature, places..].
        let mut order = vec![1, 0, 2 + spatial];
        order.extend(2..2 + spatial);
        let product = self.add(Op::Permute(Permute { axes: order }), &[product], at)?;
        let shape = self.graph.ty(product).shape.clone();
        let mut merged = vec![shape[0].clone(), self.graph.facts.normalize(&(&shape[1] * &shape[2]))];
        merged.extend_from_slice(&shape[3..]);
        self.add(Op::Reshape(Reshape { shape: merged }), &[product], at)
    }
}
