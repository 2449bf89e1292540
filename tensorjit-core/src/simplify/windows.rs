//! Products of windows, formed before the rules: what the adjoint of a convolution sums, and in which order, is fixed
//! on the graph as it was written.

use std::collections::BTreeSet;

use super::rewriter::map;
use crate::diag::{Bug, Origin};
use crate::dim::Dim;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::constant::Constant;
use crate::graph::ops::contract::Contract;
use crate::graph::ops::pad::{Pad, PadAxis};
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::slice::{Range, Slice};
use crate::graph::ops::window::Window;
use crate::graph::{Graph, NodeId, Op};

/// `sum over taps (inverse windows (contract(x, y))) = contract(windows of x with borders, y)`, where `x` has the
/// positions and `y` the taps, and windows are neighbours: the taps are summed with the other terms.
///
/// So the product of all windows with all taps never stands in memory.  Where windows are `stride` positions apart,
/// all but one in `stride` terms would be zeros, and the product of what is there is the smaller work.
pub(super) fn form(graph: Graph) -> Result<Graph, Bug> {
    if !graph.ids().any(|id| matches!(&graph.node(id).op, Op::Window(window) if window.inverse)) {
        return Ok(graph);
    }
    let mut users = vec![0u32; graph.len()];
    for id in graph.ids() {
        graph.node(id).inputs.iter().for_each(|input| users[input.0 as usize] += 1);
    }
    graph.outputs.iter().for_each(|output| users[output.0 as usize] += 1);
    let mut result = Graph::new(graph.facts.clone(), graph.inputs.clone());
    let mut formed = BTreeSet::new();
    result.outputs = map(&graph, |id, op, inputs| {
        let origin = graph.origin(id);
        let product = match op {
            Op::Reduce(op) => summed_taps(&mut result, op, inputs, origin)?,
            // Nothing else reads the product, so that what the slice leaves out need not be computed.
            Op::Slice(op)
                if formed.contains(&inputs[0]) && users[graph.node(id).inputs[0].0 as usize] == 1 =>
            {
                sliced(&mut result, op, inputs, origin)?
            }
            _ => None,
        };
        if let Some(product) = product {
            formed.insert(product);
            return Ok(product);
        }
        result.add(op.clone(), inputs, origin)
    })?;
    Ok(result)
}

/// A product behind permutations.
struct Product {
    contract: Contract,
    operands: [NodeId; 2],
    /// The axes of the tensor, as axes of the product.
    axes: Vec<usize>,
}

impl Product {
    fn behind(graph: &Graph, mut id: NodeId) -> Option<Product> {
        let mut axes: Vec<usize> = (0..graph.ty(id).rank()).collect();
        loop {
            let node = graph.node(id);
            match (&node.op, node.inputs.as_slice()) {
                (Op::Permute(op), [operand]) => {
                    axes.iter_mut().for_each(|axis| *axis = op.axes[*axis]);
                    id = *operand;
                }
                (Op::Contract(op), [left, right]) => {
                    return Some(Product { contract: op.clone(), operands: [*left, *right], axes });
                }
                _ => return None,
            }
        }
    }

    /// The operand that an axis of the product belongs to alone, and which of its axes that is.
    fn own(&self, graph: &Graph, axis: usize) -> Option<(usize, usize)> {
        let [left, right] = self.operands.map(|id| graph.ty(id).rank());
        let axis = axis.checked_sub(self.contract.batch.len())?;
        let (left, right) = (self.contract.free_left(left), self.contract.free_right(right));
        let of_left = left.get(axis).map(|own| (0, *own));
        of_left.or_else(|| right.get(axis - left.len()).map(|own| (1, *own)))
    }

    fn build(self, graph: &mut Graph, origin: Origin) -> Result<NodeId, Bug> {
        let product = graph.add(Op::Contract(self.contract), &self.operands, origin)?;
        match self.axes.iter().copied().eq(0..self.axes.len()) {
            true => Ok(product),
            false => graph.add(Op::Permute(Permute { axes: self.axes }), &[product], origin),
        }
    }
}

fn summed_taps(
    graph: &mut Graph,
    reduce: &Reduce,
    inputs: &[NodeId],
    origin: Origin,
) -> Result<Option<NodeId>, Bug> {
    let (ReduceKind::Sum, [taps], [inverse]) = (reduce.kind, reduce.axes.as_slice(), inputs) else {
        return Ok(None);
    };
    let node = graph.node(*inverse);
    let (Op::Window(window), [operand, fill]) = (&node.op, node.inputs.as_slice()) else { return Ok(None) };
    let window = window.clone();
    let zero = Constant::number(node.ty.dtype, 0.0);
    let zeros = matches!(&graph.node(*fill).op, Op::Constant(fill) if *fill == zero);
    if !window.inverse || window.stride != 1 || window.taps != *taps || !zeros {
        return Ok(None);
    }
    let fill = *fill;
    let Some(mut product) = Product::behind(graph, *operand) else { return Ok(None) };
    let (position, tap) = (product.axes[window.axis], product.axes[window.taps]);
    let (Some((moved, position)), Some((kept, own))) =
        (product.own(graph, position), product.own(graph, tap))
    else {
        return Ok(None);
    };
    if moved == kept {
        return Ok(None);
    }
    let count = graph.ty(product.operands[kept]).shape[own].clone();
    let operand = product.operands[moved];
    let last = graph.ty(operand).rank();
    product.operands[moved] = shifted(graph, (operand, fill), (position, &count), &window, origin)?;
    // The terms stay in the order of the axes of the operand that has the taps.
    let kept_axis = |pair: &(usize, usize)| if kept == 0 { pair.0 } else { pair.1 };
    let sum = &mut product.contract.sum;
    let place = sum.iter().position(|pair| kept_axis(pair) > own).unwrap_or(sum.len());
    sum.insert(place, if kept == 0 { (own, last) } else { (last, own) });
    product.axes.remove(window.taps);
    product.axes.iter_mut().filter(|axis| **axis > tap).for_each(|axis| *axis -= 1);
    product.build(graph, origin).map(Some)
}

/// What a tensor has for each position and tap, zero where that is in no window, with the taps as a new last axis.
fn shifted(
    graph: &mut Graph,
    (operand, fill): (NodeId, NodeId),
    (axis, taps): (usize, &Dim),
    window: &Window,
    origin: Origin,
) -> Result<NodeId, Bug> {
    let last = taps - &Dim::constant(1);
    let reach = &last * &Dim::constant(window.dilation);
    let border = PadAxis { low: reach.clone(), gap: 0, extent: &window.extent + &reach };
    let padded = bordered(graph, (operand, fill), (axis, border), origin)?;
    let mut shape = graph.ty(padded).shape.clone();
    let axes = (0..shape.len()).collect();
    let behind = shape.len();
    shape.push(taps.clone());
    let repeated = graph.add(Op::Broadcast(Broadcast { shape, axes }), &[padded], origin)?;
    let op = Window { axis, taps: behind, stride: 1, inverse: false, ..window.clone() };
    let windows = graph.add(Op::Window(op), &[repeated], origin)?;
    // The later the tap, the earlier the window.
    let backwards = Range { start: last, step: -1, len: taps.clone() };
    let shape = graph.ty(windows).shape.clone();
    graph.add(Op::Slice(Slice::along(&shape, behind, backwards)), &[windows], origin)
}

/// Borders an axis below all movement of other axes, so that what stands in memory with its borders is no larger than
/// it must be.
fn bordered(
    graph: &mut Graph,
    (id, fill): (NodeId, NodeId),
    (axis, border): (usize, PadAxis),
    origin: Origin,
) -> Result<NodeId, Bug> {
    let node = graph.node(id);
    let extent = border.extent.clone();
    let below = node.inputs.first().copied();
    let (op, below, own) = match (node.op.clone(), below) {
        (Op::Permute(op), Some(below)) => {
            let own = op.axes[axis];
            (Op::Permute(op), below, own)
        }
        (Op::Slice(mut op), Some(below)) if op.ranges[axis] == Range::full(&graph.ty(below).shape[axis]) => {
            op.ranges[axis] = Range::full(&extent);
            (Op::Slice(op), below, axis)
        }
        (Op::Window(op), Some(below)) if !op.inverse && op.axis != axis && op.taps != axis => {
            (Op::Window(op), below, axis)
        }
        (Op::Broadcast(mut op), Some(below)) => match op.axes.iter().position(|own| *own == axis) {
            Some(own) if graph.ty(below).shape[own] == op.shape[axis] => {
                op.shape[axis] = extent;
                (Op::Broadcast(op), below, own)
            }
            _ => return pad(graph, (id, fill), (axis, border), origin),
        },
        (Op::Pad(mut op), Some(below)) if node.inputs[1] == fill => {
            let shape = &graph.ty(below).shape;
            if op.axes[axis] != PadAxis::none(&shape[axis]) {
                return pad(graph, (id, fill), (axis, border), origin);
            }
            op.axes[axis] = border;
            return graph.add(Op::Pad(op), &[below, fill], origin);
        }
        _ => return pad(graph, (id, fill), (axis, border), origin),
    };
    let below = bordered(graph, (below, fill), (own, border), origin)?;
    graph.add(op, &[below], origin)
}

fn pad(
    graph: &mut Graph,
    (id, fill): (NodeId, NodeId),
    (axis, border): (usize, PadAxis),
    origin: Origin,
) -> Result<NodeId, Bug> {
    let mut axes: Vec<PadAxis> = graph.ty(id).shape.iter().map(PadAxis::none).collect();
    axes[axis] = border;
    graph.add(Op::Pad(Pad { axes }), &[id, fill], origin)
}

/// The slice of a product is the product of slices.
fn sliced(
    graph: &mut Graph,
    slice: &Slice,
    inputs: &[NodeId],
    origin: Origin,
) -> Result<Option<NodeId>, Bug> {
    let Some(mut product) = inputs.first().and_then(|id| Product::behind(graph, *id)) else {
        return Ok(None);
    };
    let mut ranges =
        product.operands.map(|id| graph.ty(id).shape.iter().map(Range::full).collect::<Vec<_>>());
    for (range, axis) in slice.ranges.iter().zip(&product.axes) {
        match product.contract.batch.get(*axis) {
            Some((left, right)) => {
                ranges[0][*left] = range.clone();
                ranges[1][*right] = range.clone();
            }
            None => {
                let Some((side, own)) = product.own(graph, *axis) else { return Ok(None) };
                ranges[side][own] = range.clone();
            }
        }
    }
    for (operand, ranges) in product.operands.iter_mut().zip(ranges) {
        let full = ranges.iter().zip(&graph.ty(*operand).shape).all(|(range, n)| *range == Range::full(n));
        if !full {
            *operand = graph.add(Op::Slice(Slice { ranges }), &[*operand], origin)?;
        }
    }
    product.build(graph, origin).map(Some)
}
