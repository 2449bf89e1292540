//! Scheduled and compiled graphs beside the oracle.

use tensorjit_runtime::abi::{DType, Level};

use super::alike;
use super::tasks::Grain;
use crate::codegen::targets::targets;
use crate::diag::Origin;
use crate::dim::facts::{Facts, SymbolInfo};
use crate::dim::{Dim, Sym};
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::constant::Constant;
use crate::graph::ops::contract::Contract;
use crate::graph::ops::iota::Iota;
use crate::graph::ops::pad::{Pad, PadAxis};
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::table::Ew;
use crate::graph::value::{Env, Value};
use crate::graph::{Graph, Input, NodeId, Op, Type};
use crate::interp;
use crate::loops::split::Limits;
use crate::loops::{Place, Target};
use crate::pipeline;
use crate::testing::{Program, Side, sample};

fn dims(count: u32) -> Vec<Dim> {
    (0..count).map(|i| Dim::sym(Sym(i))).collect()
}

fn graph(inputs: &[&[Dim]]) -> Graph {
    let symbols = ["M", "N", "K"].map(|name| SymbolInfo { name: name.into(), low: 0, high: i64::MAX });
    let facts = Facts { symbols: symbols.into(), ..Facts::default() };
    let input = |(i, shape): (usize, &&[Dim])| Input {
        name: format!("x{i}"),
        ty: Type::new(DType::F32, shape.to_vec()),
    };
    Graph::new(facts, inputs.iter().enumerate().map(input).collect())
}

fn add(graph: &mut Graph, op: Op, inputs: &[NodeId]) -> NodeId {
    graph.add(op, inputs, Origin::default()).expect("a well-typed node")
}

fn ew(graph: &mut Graph, ew: Ew, inputs: &[NodeId]) -> NodeId {
    add(graph, Op::Elementwise(ew), inputs)
}

fn fold(graph: &mut Graph, kind: ReduceKind, axes: &[usize], x: NodeId) -> NodeId {
    add(graph, Op::Reduce(Reduce { kind, axes: axes.to_vec() }), &[x])
}

/// Runs at all levels and compares within the error that the oracle allows.
fn check(graph: Graph, sizes: &[[i64; 3]]) -> Program {
    let program = Program::compile(graph, &[], &mut |_, _, _| {}).expect("it compiles");
    for dims in sizes {
        let inputs: Vec<Value> = program
            .graph()
            .inputs
            .iter()
            .enumerate()
            .map(|(i, input)| {
                let shape: Vec<usize> = input
                    .ty
                    .shape
                    .iter()
                    .map(|d| d.eval(&|s| dims.get(s.0 as usize).copied()).unwrap() as usize)
                    .collect();
                sample(DType::F32, &shape, i as u64)
            })
            .collect();
        let expected = interp::run(program.graph(), dims, &inputs).expect("the oracle runs");
        for level in program.levels() {
            for side in [Side::Front, Side::Back] {
                let found = program.run(level, dims, &inputs, side).expect("it runs");
                for (expected, found) in expected.iter().zip(&found) {
                    for (e, f) in expected.elements.iter().zip(&found.elements) {
                        let (e_value, f_value) = (e.float(), f.float());
                        let same = (e_value - f_value).abs() <= 4.0 * e.error || e_value == f_value;
                        assert!(
                            same,
                            "{level:?} {dims:?}: expected {e_value} +- {}, found {f_value}",
                            e.error
                        );
                    }
                }
            }
        }
    }
    program
}

const SIZES: [[i64; 3]; 7] =
    [[3, 5, 4], [0, 5, 2], [4, 0, 3], [17, 33, 0], [29, 64, 65], [1, 1, 1], [2, 1100, 3]];

/// The loops of a function at every level.
pub(super) fn emitted(text: &str) -> Vec<(Level, String)> {
    let parsed = crate::syntax::parse_text(text);
    let functions = crate::check::check(&parsed.block).expect("it is well-typed");
    let states = crate::testing::states(&functions[0]);
    let prepared =
        pipeline::prepare(functions[0].graph.clone(), &states, &mut |_, _, _| {}).expect("it is legal");
    let schedule = super::schedule(prepared.graph(), &states, Grain::default()).expect("it can be scheduled");
    let loops = |target: Target| {
        let (kernel, _) = schedule.emit(&target, Limits::WHOLE).expect("it has loops");
        (target.level, kernel.to_string())
    };
    targets("x86_64-unknown-linux-gnu", None).expect("it is supported").into_iter().map(loops).collect()
}

#[test]
fn maps() {
    let d = dims(2);
    let mut g = graph(&[&d, &d[1..]]);
    let (x, b) = (add(&mut g, Op::Input(0), &[]), add(&mut g, Op::Input(1), &[]));
    let b = add(&mut g, Op::Broadcast(Broadcast { shape: d.clone(), axes: vec![1] }), &[b]);
    let sum = ew(&mut g, Ew::Add, &[x, b]);
    let y = ew(&mut g, Ew::Square, &[sum]);
    g.outputs = vec![y];
    assert_eq!(check(g, &SIZES).nests(), 1);
}

/// Elements that depend on their position alone: no read of memory says that the axes are two.
#[test]
fn axes_that_are_counted_stay_apart() {
    let d = dims(2);
    let mut g = graph(&[&d]);
    let mut count = |axis: usize| {
        let iota = add(&mut g, Op::Iota(Iota { dtype: DType::F32, extent: d[axis].clone() }), &[]);
        add(&mut g, Op::Broadcast(Broadcast { shape: d.clone(), axes: vec![axis] }), &[iota])
    };
    let (row, column) = (count(0), count(1));
    let y = ew(&mut g, Ew::Sub, &[row, column]);
    g.outputs = vec![y];
    check(g, &SIZES);
}

/// A border is told from the inside by position alone.
#[test]
fn borders_keep_axes_apart() {
    let d = dims(2);
    let mut g = graph(&[&[]]);
    let x = add(&mut g, Op::Input(0), &[]);
    let inside = add(&mut g, Op::Broadcast(Broadcast { shape: d.clone(), axes: vec![] }), &[x]);
    let zero = add(&mut g, Op::Constant(Constant::number(DType::F32, 0.0)), &[]);
    let one = Dim::constant(1);
    let axes = d.iter().map(|extent| PadAxis { extent: extent + &one, low: one.clone(), gap: 0 }).collect();
    let y = add(&mut g, Op::Pad(Pad { axes }), &[inside, zero]);
    g.outputs = vec![y];
    check(g, &SIZES);
}

#[test]
fn softmax_is_one_nest() {
    let d = dims(2);
    let mut g = graph(&[&d]);
    let x = add(&mut g, Op::Input(0), &[]);
    let rows = |g: &mut Graph, x| add(g, Op::Broadcast(Broadcast { shape: dims(2), axes: vec![0] }), &[x]);
    let max = fold(&mut g, ReduceKind::Max, &[1], x);
    let max = rows(&mut g, max);
    let shifted = ew(&mut g, Ew::Sub, &[x, max]);
    let e = ew(&mut g, Ew::Exp, &[shifted]);
    let sum = fold(&mut g, ReduceKind::Sum, &[1], e);
    let sum = rows(&mut g, sum);
    let y = ew(&mut g, Ew::Div, &[e, sum]);
    g.outputs = vec![y];
    assert_eq!(check(g, &SIZES).nests(), 1);
}

#[test]
fn folds_of_all_axes() {
    let d = dims(2);
    let mut g = graph(&[&d]);
    let x = add(&mut g, Op::Input(0), &[]);
    let square = ew(&mut g, Ew::Square, &[x]);
    let all = fold(&mut g, ReduceKind::Sum, &[0, 1], square);
    let columns = fold(&mut g, ReduceKind::Sum, &[0], x);
    let rows = fold(&mut g, ReduceKind::Min, &[1], x);
    g.outputs = vec![all, columns, rows];
    check(g, &SIZES);
}

#[test]
fn what_lives_at_once_fits_the_workspace() {
    let sums = || Op::Contract(Contract { batch: vec![], sum: vec![(1, 0)] });
    let [m, n, k] = [0, 1, 2].map(|i| Dim::sym(Sym(i)));
    let mut g = graph(&[&[m, k.clone()], &[k.clone(), k.clone()], &[k, n]]);
    let inputs: Vec<NodeId> = (0..3).map(|i| add(&mut g, Op::Input(i), &[])).collect();
    let first = add(&mut g, sums(), &inputs[..2]);
    let second = add(&mut g, sums(), &[first, inputs[2]]);
    g.outputs = vec![second];
    let prepared = pipeline::prepare(g, &[], &mut |_, _, _| {}).expect("it is well-typed");
    let (workspace, live) = prepared.memory().expect("it can be scheduled");
    for dims in [[1, 1, 1], [7, 9, 65], [300, 400, 500]] {
        let value = |dim: &Dim| Env { dims: &dims }.value(dim).expect("it has a value");
        let largest = live.iter().map(value).max();
        assert!(largest >= Some(4 * dims[0] * dims[2]), "the first product stands in memory");
        assert!(largest <= Some(value(&workspace)), "{dims:?}");
    }
}

#[test]
fn products() {
    let d = dims(3);
    let (m, n, k) = (d[0].clone(), d[1].clone(), d[2].clone());
    let mut g = graph(&[&[m.clone(), k.clone()], &[k.clone(), n.clone()], std::slice::from_ref(&n)]);
    let inputs: Vec<NodeId> = (0..3).map(|i| add(&mut g, Op::Input(i), &[])).collect();
    let product = add(&mut g, Op::Contract(Contract { batch: vec![], sum: vec![(1, 0)] }), &inputs[..2]);
    let bias = add(&mut g, Op::Broadcast(Broadcast { shape: vec![m, n], axes: vec![1] }), &inputs[2..]);
    let y = ew(&mut g, Ew::Add, &[product, bias]);
    let z = ew(&mut g, Ew::Abs, &[y]);
    let left = add(&mut g, Op::Contract(Contract { batch: vec![], sum: vec![(0, 0)] }), &[inputs[0], z]);
    let flipped = add(&mut g, Op::Permute(Permute { axes: vec![1, 0] }), &[inputs[1]]);
    let right = add(&mut g, Op::Contract(Contract { batch: vec![], sum: vec![(1, 0)] }), &[z, flipped]);
    g.outputs = vec![y, left, right];
    check(g, &SIZES);
}

/// Two equal layers, and a third whose width is another: for each strip the first that is like it.
#[test]
fn equal_layers_are_alike() {
    let [m, n, k] = [0, 1, 2].map(|i| Dim::sym(Sym(i)));
    let square = [n.clone(), n.clone()];
    let mut g = graph(&[&[m, n.clone()], &square, &square, &[n, k]]);
    let inputs: Vec<NodeId> = (0..4).map(|i| add(&mut g, Op::Input(i), &[])).collect();
    let mut layer = inputs[0];
    for weights in &inputs[1..] {
        let sums = Op::Contract(Contract { batch: vec![], sum: vec![(1, 0)] });
        let product = add(&mut g, sums, &[layer, *weights]);
        layer = ew(&mut g, Ew::Tanh, &[product]);
        g.outputs.push(layer);
    }
    let schedule = super::schedule(&g, &[], Grain::default()).expect("it can be scheduled");
    let alike = schedule.alike;
    let firsts: Vec<usize> = alike.iter().map(|strip| strip.first).collect();
    assert_eq!(firsts, [0, 1, 0, 1, 4, 5], "a product and a map each");
    let place = |strip: usize, argument| {
        let own = &alike[strip];
        alike::translated(&Place::Arg(argument), &alike[own.first], own)
    };
    assert_eq!(place(2, 0), Some(Place::Arg(4)), "what the second layer reads");
    assert_eq!(place(2, 1), Some(Place::Arg(2)), "its weights");
    assert_eq!(place(3, 4), Some(Place::Arg(5)), "its result");
}
