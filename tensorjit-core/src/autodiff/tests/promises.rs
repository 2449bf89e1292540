//! What the language promises of derivatives, one test each.

use crate::graph::ops::contract::Contract;
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::reshape::Reshape;
use crate::graph::sketch::{Sketch, dim, m, n};
use crate::graph::table::Ew;
use crate::graph::value::Value;
use crate::graph::{Graph, NodeId, Op};
use tensorjit_runtime::abi::DType;

/// How many nodes satisfy `matches`.
fn count(graph: &Graph, matches: impl Fn(&Op) -> bool) -> usize {
    graph.ids().filter(|id| matches(&graph.node(*id).op)).count()
}

#[test]
fn repeated_uses_add_up() {
    let mut b = Sketch::new(&[]);
    let x = b.variable(&[]);
    let square = b.ew(Ew::Mul, &[x, x]);
    let sum = b.ew(Ew::Add, &[square, x]);
    let y = b.ew(Ew::Add, &[sum, x]);
    let g = b.grad(y, x);
    assert_eq!(b.at(&[&[3.0]], g), [8.0]);
}

#[test]
fn a_shared_node_is_visited_once() {
    let mut b = Sketch::new(&[]);
    let x = b.variable(&[]);
    // Each level uses the one before twice: walking paths instead of nodes would take 2^40 steps.
    let y = (0..40).fold(x, |y, _| {
        let half = b.number(0.5, y);
        let left = b.ew(Ew::Mul, &[y, half]);
        let right = b.ew(Ew::Sin, &[y]);
        let right = b.ew(Ew::Mul, &[right, half]);
        b.ew(Ew::Add, &[left, right])
    });
    let g = b.grad(y, x);
    let graph = b.expanded(&[g]);
    assert!(graph.len() < 40 * 12, "{} nodes", graph.len());
}

#[test]
fn broadcasts_are_undone_to_the_source_shape() {
    let cases: [(&[i64], &[usize], &[f64]); 4] = [
        (&[2, 1], &[0, 1], &[4.0, 4.0]),
        (&[4], &[1], &[2.0, 2.0, 2.0, 2.0]),
        (&[1], &[1], &[8.0]),
        (&[], &[], &[8.0]),
    ];
    for (shape, axes, expected) in cases {
        let mut b = Sketch::new(&[]);
        let x = b.variable(&shape.iter().map(|extent| dim(*extent)).collect::<Vec<_>>());
        let wide = b.broadcast(x, &[dim(2), dim(4)], axes);
        let y = b.total(wide);
        let g = b.grad(y, x);
        assert_eq!(b.shape(g), b.shape(x));
        let ones = vec![1.0; expected.len()];
        assert_eq!(b.at(&[&ones], g), expected, "{shape:?}");
    }
}

#[test]
fn a_matrix_product_keeps_its_symbols() {
    let mut b = Sketch::new(&[]);
    let (x, w) = (b.variable(&[n(), m()]), b.variable(&[m(), &n() + &m()]));
    let product = b.matmul(x, w);
    let y = b.ew(Ew::Square, &[product]);
    let y = b.total(y);
    let (dx, dw) = (b.grad(y, x), b.grad(y, w));
    let graph = b.expanded(&[dx, dw]);
    assert_eq!(graph.ty(graph.outputs[0]).shape, [n(), m()]);
    assert_eq!(graph.ty(graph.outputs[1]).shape, [m(), &n() + &m()]);
    // As a careful engineer writes it: three products and no transposed copy.
    assert_eq!(count(&graph, |op| matches!(op, Op::Contract(_))), 3);
    assert_eq!(count(&graph, |op| matches!(op, Op::Permute(_))), 0);
    let weight = Op::Contract(Contract { batch: vec![], sum: vec![(0, 0)] });
    assert_eq!(count(&graph, |op| *op == weight), 1);
}

#[test]
fn a_gradient_need_not_read_its_variable() {
    let mut b = Sketch::new(&[]);
    let x = b.variable(&[n()]);
    let y = b.total(x);
    let g = b.grad(y, x);
    let graph = b.expanded(&[g]);
    assert_eq!(count(&graph, |op| matches!(op, Op::Input(_))), 0);
    assert_eq!(graph.inputs.len(), 1);
    assert_eq!(graph.ty(graph.outputs[0]).shape, [n()]);
    let ones = b.eval(&[3], &[Value::floats(DType::F64, &[3], &[5.0; 3])], &[g]);
    assert_eq!(ones[0].to_f64(), [1.0; 3]);
}

#[test]
fn an_independent_variable_has_zeros_of_its_shape() {
    let mut b = Sketch::new(&[]);
    let (x, z) = (b.variable(&[dim(2)]), b.variable(&[n(), dim(3)]));
    let y = b.total(x);
    let g = b.grad(y, z);
    let graph = b.expanded(&[g]);
    assert_eq!(graph.ty(graph.outputs[0]), b.graph.ty(z));
    assert_eq!(count(&graph, |op| matches!(op, Op::Reduce(_) | Op::Input(_))), 0);
}

#[test]
fn a_mask_has_no_derivative_and_second_derivatives_pass_it() {
    let mut b = Sketch::new(&[]);
    let x = b.variable(&[dim(3)]);
    let zero = b.number(0.0, x);
    let mask = b.ew(Ew::Gt, &[x, zero]);
    let relu = b.ew(Ew::Select, &[mask, x, zero]);
    let square = b.ew(Ew::Square, &[relu]);
    let y = b.total(square);
    let first = b.grad(y, x);
    let again = b.total(first);
    let second = b.grad(again, x);
    let at: &[f64] = &[-1.5, 0.0, 2.0];
    assert_eq!(b.at(&[at], first), [0.0, 0.0, 4.0]);
    assert_eq!(b.at(&[at], second), [0.0, 0.0, 2.0]);
}

#[test]
fn equal_expressions_under_two_names_are_two_variables() {
    let mut b = Sketch::new(&[]);
    let x = b.variable(&[]);
    let square = b.ew(Ew::Square, &[x]);
    let (p, q) = (b.add(Op::Variable(0), &[square]), b.add(Op::Variable(1), &[square]));
    let cube = b.ew(Ew::Mul, &[p, p]);
    let y = b.ew(Ew::Mul, &[cube, q]);
    let (by_p, by_q, by_x) = (b.grad(y, p), b.grad(y, q), b.grad(y, x));
    assert_eq!(b.at(&[&[2.0]], by_p), [32.0]);
    assert_eq!(b.at(&[&[2.0]], by_q), [16.0]);
    assert_eq!(b.at(&[&[2.0]], by_x), [192.0]);
}

#[test]
fn a_variable_in_between_is_held_while_the_first_passes_through() {
    let mut b = Sketch::new(&[]);
    let (w, x) = (b.variable(&[]), b.variable(&[]));
    let h = b.ew(Ew::Mul, &[w, x]);
    let h = b.add(Op::Variable(0), &[h]);
    let square = b.ew(Ew::Square, &[h]);
    let y = b.ew(Ew::Mul, &[square, w]);
    // All of one target, found in one walk: y = h^2 w, h = w x.
    let gradients = [b.grad(y, h), b.grad(y, w), b.grad(y, x)];
    let found: Vec<f64> = gradients.iter().map(|g| b.at(&[&[3.0], &[2.0]], *g)[0]).collect();
    let together = b.eval(
        &[],
        &[Value::floats(DType::F64, &[], &[3.0]), Value::floats(DType::F64, &[], &[2.0])],
        &gradients,
    );
    assert_eq!(found, [36.0, 108.0, 108.0]);
    assert_eq!(together.iter().flat_map(Value::to_f64).collect::<Vec<_>>(), found);
}

#[test]
fn stop_gradient_holds_its_operand() {
    let mut b = Sketch::new(&[]);
    let x = b.variable(&[]);
    let held = b.add(Op::StopGradient, &[x]);
    let y = b.ew(Ew::Mul, &[x, held]);
    let (g, all) = (b.grad(y, x), b.grad(held, x));
    assert_eq!(b.at(&[&[3.0]], g), [3.0]);
    assert_eq!(b.at(&[&[3.0]], all), [0.0]);
}

#[test]
fn ties_share_the_gradient_of_an_extreme() {
    let nan = f64::NAN;
    let cases: [(&[f64], &[f64]); 3] = [
        (&[1.0, 3.0, 3.0, 2.0], &[0.0, 0.5, 0.5, 0.0]),
        (&[2.0; 4], &[0.25; 4]),
        (&[1.0, nan, 3.0, nan], &[0.0, 0.5, 0.0, 0.5]),
    ];
    for (at, expected) in cases {
        let mut b = Sketch::new(&[]);
        let x = b.variable(&[dim(4)]);
        let y = b.reduce(ReduceKind::Max, x, &[0]);
        let g = b.grad(y, x);
        assert_eq!(b.at(&[at], g), expected, "{at:?}");
    }
}

#[test]
fn a_product_is_exact_at_zeros_to_the_third_order() {
    let mut b = Sketch::new(&[]);
    let x = b.variable(&[dim(4)]);
    let y = b.reduce(ReduceKind::Prod, x, &[0]);
    let g = b.grad(y, x);
    let weights = [b.variable(&[dim(4)]), b.variable(&[dim(4)])];
    let along = b.jvp(g, x, weights[0]);
    let third = b.jvp(along, x, weights[1]);
    let (e0, e1): (&[f64], &[f64]) = (&[1.0, 0.0, 0.0, 0.0], &[0.0, 1.0, 0.0, 0.0]);
    let cases: [(&[f64], [f64; 4], [f64; 4]); 3] = [
        (&[2.0, 3.0, 0.0, 5.0], [0.0, 0.0, 30.0, 0.0], [0.0, 0.0, 15.0, 0.0]),
        (&[0.0, 3.0, 0.0, 5.0], [0.0; 4], [0.0, 0.0, 15.0, 0.0]),
        (&[0.0, 0.0, 0.0, 5.0], [0.0; 4], [0.0; 4]),
    ];
    for (at, first, second) in cases {
        assert_eq!(b.at(&[at, e0, e1], g), first, "{at:?}");
        assert_eq!(b.at(&[at, e0, e1], along), second, "{at:?}");
        // By the first two elements, the rest is the product of what is left.
        assert_eq!(b.at(&[at, e0, e1], third), [0.0, 0.0, at[3], at[2]], "{at:?}");
    }
}

#[test]
fn hvp_is_the_second_derivative_times_a_vector() {
    let mut b = Sketch::new(&[]);
    let (x, v) = (b.variable(&[dim(2)]), b.variable(&[dim(2)]));
    // prod(x)^2 = a^2 b^2: the second derivative is [[2 b^2, 4 a b], [4 a b, 2 a^2]].
    let product = b.reduce(ReduceKind::Prod, x, &[0]);
    let y = b.ew(Ew::Square, &[product]);
    let found = b.hvp(y, x, v);
    assert_eq!(b.at(&[&[2.0, 3.0], &[1.0, 10.0]], found), [18.0 + 240.0, 24.0 + 80.0]);
}

#[test]
fn derivatives_nest() {
    let mut b = Sketch::new(&[]);
    let x = b.variable(&[]);
    let square = b.ew(Ew::Square, &[x]);
    let mut y = b.ew(Ew::Square, &[square]);
    for expected in [32.0, 48.0, 48.0, 24.0, 0.0] {
        y = b.grad(y, x);
        assert_eq!(b.at(&[&[2.0]], y), [expected]);
    }
}

#[test]
fn a_seed_that_depends_on_the_variable_is_differentiated_outside_only() {
    let mut b = Sketch::new(&[]);
    let x = b.variable(&[]);
    let y = b.ew(Ew::Square, &[x]);
    // 2 x times x; its derivative is 4 x.
    let inner = b.jvp(y, x, x);
    let outer = b.grad(inner, x);
    assert_eq!(b.at(&[&[3.0]], inner), [18.0]);
    assert_eq!(b.at(&[&[3.0]], outer), [12.0]);
    let inner = b.vjp(y, x, x);
    let outer = b.grad(inner, x);
    assert_eq!(b.at(&[&[3.0]], outer), [12.0]);
}

#[test]
fn movement_reverses_into_movement() {
    let mut b = Sketch::new(&[]);
    let (x, c) = (b.variable(&[n(), dim(6)]), b.variable(&[dim(3), n(), dim(2)]));
    let parted = b.add(Op::Reshape(Reshape { shape: vec![n(), dim(2), dim(3)] }), &[x]);
    let turned = b.add(Op::Permute(Permute { axes: vec![2, 0, 1] }), &[parted]);
    let product = b.ew(Ew::Mul, &[turned, c]);
    let y = b.total(product);
    let g = b.grad(y, x);
    let graph = b.expanded(&[g]);
    // The gradient is the constant factor, turned back and put together again: nothing is multiplied.
    assert_eq!(graph.len(), 3);
    assert_eq!(count(&graph, |op| matches!(op, Op::Permute(_) | Op::Reshape(_))), 2);
    assert_eq!(graph.ty(graph.outputs[0]).shape, [n(), dim(6)]);
}

/// The design's linear model: its gradients read like those written by hand.
#[test]
fn linear_step_is_as_by_hand() {
    let mut b = Sketch::new(&[]);
    let (x, y) = (b.variable(&[n(), dim(3)]), b.variable(&[n(), dim(2)]));
    let (w, bias, scale) = (b.variable(&[dim(3), dim(2)]), b.variable(&[dim(2)]), b.variable(&[]));
    let product = b.matmul(x, w);
    let wide = b.broadcast(bias, &[n(), dim(2)], &[1]);
    let error = b.ew(Ew::Add, &[product, wide]);
    let error = b.ew(Ew::Sub, &[error, y]);
    let square = b.ew(Ew::Mul, &[error, error]);
    let total = b.total(square);
    let loss = b.ew(Ew::Mul, &[total, scale]);
    let (dw, db) = (b.grad(loss, w), b.grad(loss, bias));
    let graph = b.expanded(&[loss, dw, db]);
    let forward = b.expanded(&[loss]).len();
    // Behind the loss: the scale over the batch, times the error, twice and added, then x^T times that, and its sum.
    let names: Vec<&Op> = graph.ids().skip(forward).map(|id| &graph.node(id).op).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    let reduces = |op: &&&Op| matches!(op, Op::Reduce(Reduce { kind: ReduceKind::Sum, .. }));
    assert_eq!(names.iter().filter(reduces).count(), 1);
    assert_eq!(names.iter().filter(|op| matches!(op, Op::Contract(_))).count(), 1);
}

/// A gradient that no output needs is not built.
#[test]
fn what_no_output_needs_is_dropped() {
    let mut b = Sketch::new(&[]);
    let x = b.variable(&[]);
    let y = b.ew(Ew::Sin, &[x]);
    let unused: NodeId = b.grad(y, x);
    assert_ne!(unused, y);
    assert_eq!(b.expanded(&[y]).len(), 2);
}
