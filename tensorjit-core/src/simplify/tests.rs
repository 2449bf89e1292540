//! One case for each rule: the graph before, the text after, and the same values.

mod cases;
mod windows;

use std::collections::BTreeMap;

use tensorjit_runtime::abi::DType;

use super::{FAMILIES, run};
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::constant::Constant;
use crate::graph::ops::iota::Iota;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::reshape::Reshape;
use crate::graph::sketch::{Sketch, dim, floats, m, n, sample};
use crate::graph::table::Ew;
use crate::graph::value::Value;
use crate::graph::{Graph, NodeId, Op};
use crate::interp;
use cases::{Build, cases, full};

/// The nodes and outputs after, without the declarations.
fn text(graph: &Graph) -> String {
    let lines: Vec<String> = graph.ids().map(|id| graph.show_node(id)).collect();
    let outputs: Vec<String> = graph.outputs.iter().map(|id| format!("{id:?}")).collect();
    format!("{} -> {}", lines.join("; "), outputs.join(", "))
}

/// Builds over two inputs of f64[N, M] and one of bool[N, M], simplifies, and compares text and values.
fn check(name: &str, build: impl Fn(&mut Sketch, [NodeId; 3]) -> NodeId, expected: &str) {
    let ty = floats(&[n(), m()]);
    let mut sketch = Sketch::new(&[ty.clone(), ty.clone(), ty.with_dtype(DType::Bool)]);
    let inputs = [0, 1, 2].map(|i| sketch.input(i));
    let output = build(&mut sketch, inputs);
    let before = sketch.finish(&[output]);
    let after = run(before.clone()).unwrap();
    crate::graph::verify::verify(&after, "simplify").unwrap();
    assert_eq!(text(&after), expected, "{name}");
    for dims in [[0, 2], [1, 1], [2, 3], [4, 2]] {
        let shape = dims.map(|n| n as usize);
        let values =
            [sample(DType::F64, &shape, 1), sample(DType::F64, &shape, 2), sample(DType::Bool, &shape, 3)];
        let bits = |graph: &Graph| -> Vec<u64> {
            let result: Vec<Value> = interp::run(graph, &dims, &values).unwrap();
            result[0].to_f64().iter().map(|value| value.to_bits()).collect()
        };
        assert_eq!(bits(&before), bits(&after), "{name} at {dims:?}");
    }
}

#[test]
fn rules_rewrite_as_they_say() {
    for (name, build, expected) in cases() {
        check(name, build, expected);
    }
}

#[test]
fn every_rule_has_one_case_and_an_equation() {
    let mut count: BTreeMap<&str, usize> = cases().iter().map(|(name, ..)| (*name, 0)).collect();
    for rule in FAMILIES.iter().copied().flatten() {
        assert!(rule.equation.contains('='), "{}", rule.name);
        *count.get_mut(rule.name).unwrap_or_else(|| panic!("no case for {}", rule.name)) += 1;
    }
    assert!(count.values().all(|rules| *rules == 1), "{count:?}");
}

#[test]
fn what_would_change_bits_is_left() {
    let cases: Vec<(&str, Build)> = vec![
        ("x + 0.0 may turn -0 into 0", |s, [x, ..]| {
            let zero = full(s, 0.0);
            s.ew(Ew::Add, &[x, zero])
        }),
        ("x * 0 may be NaN", |s, [x, ..]| {
            let zero = full(s, 0.0);
            s.ew(Ew::Mul, &[x, zero])
        }),
        ("1/3 is not exact", |s, [x, ..]| {
            let three = full(s, 3.0);
            s.ew(Ew::Div, &[x, three])
        }),
        ("an input may be infinite", |s, [x, y, _]| s.ew(Ew::Dmul, &[x, y])),
        ("tanh of NaN is NaN", |s, [x, y, _]| {
            let d = s.ew(Ew::Tanh, &[x]);
            s.ew(Ew::Dmul, &[d, y])
        }),
        ("f32 rounds f64", |s, [x, ..]| {
            let single = s.ew(Ew::Cast(DType::F32), &[x]);
            s.ew(Ew::Cast(DType::F64), &[single])
        }),
        ("an extent that may be 1 is not", |s, [x, ..]| {
            s.add(Op::Reduce(Reduce { kind: ReduceKind::Max, axes: vec![0] }), &[x])
        }),
        ("iota counts", |s, _| s.add(Op::Iota(Iota { dtype: DType::F64, extent: n() }), &[])),
        ("a unit axis decides how the others are folded", |s, [x, ..]| {
            let x = s.add(Op::Reshape(Reshape { shape: vec![n(), m(), dim(1)] }), &[x]);
            s.add(Op::Reduce(Reduce { kind: ReduceKind::Prod, axes: vec![1, 2] }), &[x])
        }),
        ("the sum of one -0 is 0", |s, [x, ..]| {
            let x = s.add(Op::Reshape(Reshape { shape: vec![n(), m(), dim(1)] }), &[x]);
            s.add(Op::Reduce(Reduce { kind: ReduceKind::Sum, axes: vec![2] }), &[x])
        }),
    ];
    for (why, build) in cases {
        let ty = floats(&[n(), m()]);
        let mut sketch = Sketch::new(&[ty.clone(), ty.clone(), ty.with_dtype(DType::Bool)]);
        let inputs = [0, 1, 2].map(|i| sketch.input(i));
        let output = build(&mut sketch, inputs);
        let before = super::rewriter::sweep(&sketch.finish(&[output])).unwrap();
        assert_eq!(text(&run(before.clone()).unwrap()), text(&before), "{why}");
    }
}

#[test]
fn products_fuse_into_every_sum_that_reads_them() {
    let cases: Vec<(Build, &str)> = vec![
        (
            |s, [x, y, _]| {
                let p = s.ew(Ew::Mul, &[x, y]);
                s.ew(Ew::Add, &[y, p])
            },
            "%0 = input 0 : f64[N, M]; %1 = input 1 : f64[N, M]; %2 = fma %0, %1, %1 : f64[N, M] -> %2",
        ),
        (
            |s, [x, y, _]| {
                let (p, q) = (s.ew(Ew::Mul, &[x, y]), s.ew(Ew::Mul, &[x, x]));
                s.ew(Ew::Add, &[p, q])
            },
            "%0 = input 0 : f64[N, M]; %1 = input 1 : f64[N, M]; %2 = mul %0, %0 : f64[N, M]; \
             %3 = fma %0, %1, %2 : f64[N, M] -> %3",
        ),
        (
            |s, [x, y, _]| {
                let p = s.ew(Ew::Mul, &[x, y]);
                let sum = s.ew(Ew::Add, &[p, x]);
                s.ew(Ew::Maximum, &[sum, p])
            },
            "%0 = input 0 : f64[N, M]; %1 = input 1 : f64[N, M]; %2 = mul %0, %1 : f64[N, M]; \
             %3 = fma %0, %1, %0 : f64[N, M]; %4 = maximum %3, %2 : f64[N, M] -> %4",
        ),
        (
            |s, [x, ..]| {
                let x = s.ew(Ew::Cast(DType::I64), &[x]);
                let p = s.ew(Ew::Mul, &[x, x]);
                s.ew(Ew::Add, &[p, x])
            },
            "%0 = input 0 : f64[N, M]; %1 = cast_i64 %0 : i64[N, M]; %2 = mul %1, %1 : i64[N, M]; \
             %3 = add %2, %1 : i64[N, M] -> %3",
        ),
    ];
    for (build, expected) in cases {
        check("fma", build, expected);
    }
}

#[test]
fn what_no_output_needs_is_dropped_but_inputs_stay_declared() {
    let mut sketch = Sketch::new(&[floats(&[n()]), floats(&[n()])]);
    let (x, y) = (sketch.input(0), sketch.input(1));
    sketch.ew(Ew::Exp, &[y]);
    let after = run(sketch.finish(&[x])).unwrap();
    assert_eq!((after.len(), after.inputs.len()), (1, 2));
}

#[test]
fn time_is_linear_in_the_graph() {
    // Twenty thousand nodes: a quadratic pass would take minutes.
    let mut sketch = Sketch::new(&[floats(&[n()])]);
    let x = sketch.input(0);
    let mut sum = x;
    for i in 0..5000 {
        let constant = sketch.add(Op::Constant(Constant::number(DType::F64, f64::from(i) + 0.5)), &[]);
        let row = sketch.add(Op::Broadcast(Broadcast { shape: vec![n()], axes: vec![] }), &[constant]);
        let product = sketch.ew(Ew::Mul, &[sum, row]);
        sum = sketch.ew(Ew::Add, &[product, x]);
    }
    let start = std::time::Instant::now();
    assert_eq!(run(sketch.finish(&[sum])).unwrap().len(), 15_001);
    assert!(start.elapsed().as_secs() < 10);
}
