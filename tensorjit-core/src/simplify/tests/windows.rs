//! The gradient of a convolution by its input becomes one product of windows.

use tensorjit_runtime::abi::DType;

use super::super::run;
use crate::dim::Dim;
use crate::graph::ops::contract::Contract;
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::slice::{Range, Slice};
use crate::graph::ops::window::Window;
use crate::graph::sketch::{Sketch, dim, floats, m, n, sample};
use crate::graph::{Graph, NodeId, Op};
use crate::interp;

/// What windows along an axis give to its positions.
fn spread(sketch: &mut Sketch, x: NodeId, (axis, extent): (usize, Dim), stride: i64) -> NodeId {
    let taps = sketch.graph.ty(x).rank() - 1;
    let zero = sketch.full(&floats(&[]), 0.0);
    let window = Window { axis, taps, stride, dilation: 2, extent, inverse: true };
    let spread = sketch.add(Op::Window(window), &[x, zero]);
    sketch.add(Op::Reduce(Reduce { kind: ReduceKind::Sum, axes: vec![taps] }), &[spread])
}

/// The gradient for a cotangent `[3, N, M]` and a kernel `[3, 2, 2, 3]`, without part of the borders.
fn gradient(stride: i64) -> Graph {
    let kernel = floats(&[dim(3), dim(2), dim(2), dim(3)]);
    let mut sketch = Sketch::new(&[floats(&[dim(3), n(), m()]), kernel]);
    let (g, w) = (sketch.input(0), sketch.input(1));
    let product = sketch.add(Op::Contract(Contract { batch: vec![], sum: vec![(0, 0)] }), &[g, w]);
    let product = sketch.add(Op::Permute(Permute { axes: vec![2, 0, 1, 3, 4] }), &[product]);
    let (width, height) = (&(&m() * &dim(stride)) + &dim(4), &(&n() * &dim(stride)) + &dim(2));
    let rows = spread(&mut sketch, product, (2, width), stride);
    let all = spread(&mut sketch, rows, (1, height.clone()), stride);
    let inner = |start, len| Range { start: dim(start), step: 1, len };
    let ranges = vec![inner(0, dim(2)), inner(0, height), inner(1, m())];
    let inner = sketch.add(Op::Slice(Slice { ranges }), &[all]);
    sketch.finish(&[inner])
}

fn count(graph: &Graph, which: impl Fn(&Op) -> bool) -> usize {
    graph.ids().filter(|id| which(&graph.node(*id).op)).count()
}

#[test]
fn the_gradient_by_the_input_is_one_product() {
    let before = gradient(1);
    let after = run(before.clone()).unwrap();
    crate::graph::verify::verify(&after, "simplify").unwrap();
    assert_eq!(count(&after, |op| matches!(op, Op::Contract(_))), 1);
    assert_eq!(count(&after, |op| matches!(op, Op::Reduce(_))), 0);
    assert_eq!(count(&after, |op| matches!(op, Op::Window(window) if window.inverse)), 0);
    // What is bordered is the cotangent, not its windows.
    let bordered = |id: NodeId| matches!(after.node(id).op, Op::Pad(_)).then(|| after.ty(id).rank());
    assert_eq!(after.ids().filter_map(bordered).collect::<Vec<_>>(), [3]);
    for dims in [[1, 1], [2, 3], [4, 2], [0, 2], [3, 0]] {
        let [n, m] = dims.map(|n| n as usize);
        let values = [sample(DType::F64, &[3, n, m], 1), sample(DType::F64, &[3, 2, 2, 3], 2)];
        // Small integers: no sum rounds.
        let value = |graph: &Graph| interp::run(graph, &dims, &values).unwrap()[0].to_f64();
        assert_eq!(value(&before), value(&after), "{dims:?}");
    }
}

#[test]
fn windows_that_are_apart_are_left() {
    let after = run(gradient(2)).unwrap();
    assert_eq!(count(&after, |op| matches!(op, Op::Window(window) if window.inverse)), 2);
}
