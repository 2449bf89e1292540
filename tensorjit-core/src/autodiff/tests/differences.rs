//! Every operator against central differences, along random directions, first and second derivatives.

use tensorjit_runtime::abi::DType;

use super::build::{Random, tensor};
use crate::graph::ops::arg_reduce::ArgReduce;
use crate::graph::ops::cholesky::Cholesky;
use crate::graph::ops::concat::Concat;
use crate::graph::ops::contract::Contract;
use crate::graph::ops::cumulate::Running;
use crate::graph::ops::determinant::{Determinant, Part};
use crate::graph::ops::dim_value::DimValue;
use crate::graph::ops::gather::Gather;
use crate::graph::ops::indexing::{Indexed, Indexing};
use crate::graph::ops::iota::Iota;
use crate::graph::ops::pad::{Pad, PadAxis};
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reduce::ReduceKind;
use crate::graph::ops::reshape::Reshape;
use crate::graph::ops::scan::{Output, Scan};
use crate::graph::ops::scatter::{Combine, Scatter};
use crate::graph::ops::slice::{Range, Slice};
use crate::graph::ops::solve::Solve;
use crate::graph::ops::triangular_solve::TriangularSolve;
use crate::graph::sketch::{Sketch, dim, m, n};
use crate::graph::table::Ew;
use crate::graph::table::row::{Derivative, TypeRule};
use crate::graph::value::Value;
use crate::graph::{NodeId, Op, Type};
use std::sync::Arc;

/// A function of the inputs that it declares.
struct Case {
    name: &'static str,
    low: f64,
    high: f64,
    build: fn(&mut Sketch) -> NodeId,
}

const fn case(name: &'static str, low: f64, high: f64, build: fn(&mut Sketch) -> NodeId) -> Case {
    Case { name, low, high, build }
}

/// The structural operators, each over symbols N and M.
const CASES: &[Case] = &[
    case("cholesky", -1.0, 1.0, |b| {
        let a = b.matrix();
        b.add(Op::Cholesky(Cholesky), &[a])
    }),
    case("lower triangular systems", -1.0, 1.0, |b| {
        let (a, x) = (b.matrix(), b.variable(&[dim(2), n(), m()]));
        b.add(Op::TriangularSolve(TriangularSolve { lower: true, unit: false }), &[a, x])
    }),
    case("upper triangular systems with a diagonal of ones", -0.5, 0.5, |b| {
        let (a, x) = (b.matrix(), b.variable(&[dim(2), n(), m()]));
        b.add(Op::TriangularSolve(TriangularSolve { lower: false, unit: true }), &[a, x])
    }),
    case("systems", -1.0, 1.0, |b| {
        let (a, x) = (b.matrix(), b.variable(&[dim(2), n(), m()]));
        b.add(Op::Solve(Solve { transposed: false }), &[a, x])
    }),
    case("transposed systems", -1.0, 1.0, |b| {
        let (a, x) = (b.matrix(), b.variable(&[dim(2), n(), m()]));
        b.add(Op::Solve(Solve { transposed: true }), &[a, x])
    }),
    case("determinants", -1.0, 1.0, |b| {
        let a = b.matrix();
        b.add(Op::Determinant(Determinant { part: Part::Whole }), &[a])
    }),
    case("logarithms of determinants", -1.0, 1.0, |b| {
        let a = b.matrix();
        b.add(Op::Determinant(Determinant { part: Part::LogSize }), &[a])
    }),
    case("sum", -2.0, 2.0, |b| {
        let x = b.variable(&[n(), dim(3), m()]);
        let x = b.ew(Ew::Square, &[x]);
        b.reduce(ReduceKind::Sum, x, &[0, 2])
    }),
    case("prod", -2.0, 2.0, |b| {
        let x = b.variable(&[n(), dim(2), m()]);
        b.reduce(ReduceKind::Prod, x, &[0, 2])
    }),
    case("prod of the inner axis", -2.0, 2.0, |b| {
        let x = b.variable(&[dim(2), n()]);
        let x = b.ew(Ew::Sin, &[x]);
        b.reduce(ReduceKind::Prod, x, &[1])
    }),
    case("max", -2.0, 2.0, |b| {
        let x = b.variable(&[n(), dim(3), m()]);
        let x = b.ew(Ew::Sin, &[x]);
        b.reduce(ReduceKind::Max, x, &[1])
    }),
    case("min", -2.0, 2.0, |b| {
        let x = b.variable(&[dim(2), dim(3)]);
        let x = b.ew(Ew::Square, &[x]);
        b.reduce(ReduceKind::Min, x, &[0, 1])
    }),
    case("argmax", -2.0, 2.0, |b| {
        let x = b.variable(&[dim(3), dim(2)]);
        let found = b.add(Op::ArgReduce(ArgReduce { least: false, axis: 0 }), &[x]);
        let found = b.ew(Ew::Cast(DType::F64), &[found]);
        let sum = b.reduce(ReduceKind::Sum, x, &[0]);
        b.ew(Ew::Mul, &[sum, found])
    }),
    case("matrix product", -2.0, 2.0, |b| {
        let (x, w) = (b.variable(&[n(), dim(3)]), b.variable(&[dim(3), m()]));
        b.matmul(x, w)
    }),
    case("product with itself", -2.0, 2.0, |b| {
        let x = b.variable(&[dim(3), dim(3)]);
        b.matmul(x, x)
    }),
    case("contraction with batches in odd places", -2.0, 2.0, |b| {
        let a = b.variable(&[dim(2), n(), dim(3), dim(2)]);
        let c = b.variable(&[dim(3), dim(2), m(), dim(2)]);
        b.add(Op::Contract(Contract { batch: vec![(3, 1)], sum: vec![(2, 0), (0, 3)] }), &[a, c])
    }),
    case("outer product", -2.0, 2.0, |b| {
        let (x, y) = (b.variable(&[n()]), b.variable(&[m()]));
        b.add(Op::Contract(Contract { batch: vec![], sum: vec![] }), &[x, y])
    }),
    case("gather", -2.0, 2.0, |b| {
        let x = b.variable(&[dim(2), dim(4), n()]);
        let x = b.ew(Ew::Square, &[x]);
        let place = b.add(Op::Iota(Iota { dtype: DType::I64, extent: dim(6) }), &[]);
        let place = b.add(Op::Reshape(Reshape { shape: vec![dim(2), dim(3)] }), &[place]);
        b.add(Op::Gather(Gather::one(1)), &[x, place])
    }),
    case("gather of windows with batches", -2.0, 2.0, |b| {
        let x = b.variable(&[dim(2), dim(5), dim(4)]);
        let x = b.ew(Ew::Square, &[x]);
        let place = b.counter(&[dim(3), dim(2)]);
        let window = Indexed { axis: 1, window: Some(dim(2)) };
        let indexing =
            Indexing { axes: vec![window, Indexed { axis: 2, window: None }], batch: vec![(0, 1)], at: 1 };
        b.add(Op::Gather(Gather { indexing }), &[x, place, place])
    }),
    case("scatter_add", -2.0, 2.0, |b| b.scatter(Combine::Add)),
    case("scatter_set", -2.0, 2.0, |b| b.scatter(Combine::Set)),
    case("scatter_mul", -2.0, 2.0, |b| b.scatter(Combine::Mul)),
    case("scatter_max", -2.0, 2.0, |b| b.scatter(Combine::Max)),
    case("scatter_min", -2.0, 2.0, |b| b.scatter(Combine::Min)),
    case("scatter of windows", -2.0, 2.0, |b| {
        let (base, updates) = (b.variable(&[dim(5), n()]), b.variable(&[dim(3), dim(2), n()]));
        let updates = b.ew(Ew::Square, &[updates]);
        let place = b.counter(&[dim(3)]);
        let axes = vec![Indexed { axis: 0, window: Some(dim(2)) }];
        let indexing = Indexing { axes, batch: vec![], at: 0 };
        b.add(Op::Scatter(Scatter { indexing, combine: Combine::Set }), &[base, place, updates])
    }),
    case("running sum", -2.0, 2.0, |b| b.running(Running::Sum, false, true)),
    case("running product", -2.0, 2.0, |b| b.running(Running::Prod, false, false)),
    case("running product of the others", -2.0, 2.0, |b| b.running(Running::Prod, true, true)),
    case("running maximum", -2.0, 2.0, |b| b.running(Running::Max, false, false)),
    case("running minimum from the end", -2.0, 2.0, |b| b.running(Running::Min, true, false)),
    case("recurrence", -2.0, 2.0, |b| b.running(Running::Linear, false, false)),
    case("recurrence from the end", -2.0, 2.0, |b| b.running(Running::Linear, true, false)),
    case("recurrence of the others", -2.0, 2.0, |b| b.running(Running::Linear, false, true)),
    case("broadcast", -2.0, 2.0, |b| {
        let x = b.variable(&[dim(2), dim(1)]);
        let x = b.ew(Ew::Square, &[x]);
        b.broadcast(x, &[n(), dim(2), dim(4)], &[1, 2])
    }),
    case("permute", -2.0, 2.0, |b| {
        let x = b.variable(&[dim(2), n(), dim(3)]);
        let x = b.ew(Ew::Square, &[x]);
        b.add(Op::Permute(Permute { axes: vec![2, 0, 1] }), &[x])
    }),
    case("reshape", -2.0, 2.0, |b| {
        let x = b.variable(&[dim(2), n(), dim(3)]);
        let x = b.ew(Ew::Square, &[x]);
        b.add(Op::Reshape(Reshape { shape: vec![n(), dim(6)] }), &[x])
    }),
    case("slice with steps", -2.0, 2.0, |b| {
        let x = b.variable(&[dim(7), dim(5)]);
        let x = b.ew(Ew::Square, &[x]);
        let ranges = vec![
            Range { start: dim(1), step: 2, len: dim(3) },
            Range { start: dim(4), step: -2, len: dim(2) },
        ];
        b.add(Op::Slice(Slice { ranges }), &[x])
    }),
    case("pad with gaps", -2.0, 2.0, |b| {
        let (x, fill) = (b.variable(&[dim(3), dim(2)]), b.variable(&[]));
        let x = b.ew(Ew::Square, &[x]);
        let axes = vec![
            PadAxis { low: dim(1), extent: dim(7), gap: 1 },
            PadAxis { low: dim(0), extent: dim(4), gap: 0 },
        ];
        b.add(Op::Pad(Pad { axes }), &[x, fill])
    }),
    case("concat", -2.0, 2.0, |b| {
        let (x, y) = (b.variable(&[dim(2), n()]), b.variable(&[dim(2), dim(3)]));
        let x = b.ew(Ew::Square, &[x]);
        b.add(Op::Concat(Concat { axis: 1 }), &[x, y, x])
    }),
    case("dimension as a number", -2.0, 2.0, |b| {
        let x = b.variable(&[n()]);
        let extent = b.add(Op::DimValue(DimValue(n())), &[]);
        let extent = b.ew(Ew::Cast(DType::F64), &[extent]);
        let x = b.ew(Ew::Square, &[x]);
        let sum = b.total(x);
        b.ew(Ew::Mul, &[sum, extent])
    }),
    case("variable", -2.0, 2.0, |b| {
        let x = b.variable(&[n()]);
        let x = b.add(Op::Variable(7), &[x]);
        b.ew(Ew::Square, &[x])
    }),
    case("scan", -2.0, 2.0, |b| {
        let ty = |rank: usize| Type::new(DType::F64, [n()][..rank].to_vec());
        let number = Type::scalar(DType::I64);
        // The carries p and r, the slice s, the capture q, the number of the step.
        let mut inner = Sketch::new(&[ty(1), ty(1), ty(0), ty(1), number]);
        let [p, r, s, q] = [0, 1, 2, 3].map(|input| inner.input(input));
        let product = inner.ew(Ew::Mul, &[p, q]);
        let sine = inner.ew(Ew::Sin, &[product]);
        let zero = inner.number(0.0, p);
        let mask = inner.ew(Ew::Gt, &[p, zero]);
        let kept = inner.ew(Ew::Select, &[mask, sine, r]);
        let factor = inner.broadcast(s, &[n()], &[]);
        let scaled = inner.ew(Ew::Mul, &[kept, factor]);
        let total = inner.reduce(ReduceKind::Sum, product, &[0]);
        inner.graph.outputs = vec![scaled, p, total];
        let scan = Scan {
            body: Arc::new(inner.graph),
            count: dim(3),
            carries: 2,
            slices: 1,
            reverse: false,
            conditional: false,
            counted: false,
        };
        let operands = [b.variable(&[n()]), b.variable(&[n()]), b.variable(&[dim(3)]), b.variable(&[n()])];
        let scan = b.add(Op::Scan(scan), &operands);
        let last = b.add(Op::Output(Output(0)), &[scan]);
        let totals = b.add(Op::Output(Output(2)), &[scan]);
        let sum = b.total(totals);
        let sum = b.broadcast(sum, &[n()], &[]);
        b.ew(Ew::Mul, &[last, sum])
    }),
    case("softmax", -2.0, 2.0, |b| {
        let x = b.variable(&[n(), dim(4)]);
        let shape = b.shape(x);
        let greatest = b.reduce(ReduceKind::Max, x, &[1]);
        let greatest = b.add(Op::StopGradient, &[greatest]);
        let greatest = b.broadcast(greatest, &shape, &[0]);
        let shifted = b.ew(Ew::Sub, &[x, greatest]);
        let e = b.ew(Ew::Exp, &[shifted]);
        let total = b.reduce(ReduceKind::Sum, e, &[1]);
        let total = b.broadcast(total, &shape, &[0]);
        b.ew(Ew::Div, &[e, total])
    }),
];

#[test]
fn structural_operators() {
    for case in CASES {
        for dims in [[1, 1], [2, 3], [3, 2]] {
            let mut b = Sketch::new(&[]);
            let y = (case.build)(&mut b);
            check(case.name, b, y, &dims, &|random, input| random.like(input, &dims, case.low, case.high));
        }
    }
}

#[test]
fn structural_operators_of_nothing() {
    for case in CASES {
        let mut b = Sketch::new(&[]);
        let y = (case.build)(&mut b);
        check(case.name, b, y, &[0, 0], &|random, input| random.like(input, &[0, 0], -1.0, 1.0));
    }
}

/// Every row that has a derivative, at samples of its domain that are away from its kinks.
#[test]
fn rows_of_the_table() {
    // Differences of what is rounded to a half are those of its steps.
    let coarse = |row: &Ew| matches!(row.row().types, TypeRule::Cast(to) if to.is_half());
    let is_zero = |row: &Ew| matches!(row.row().derivative, Derivative::Zero(_));
    for row in Ew::ALL.iter().filter(|row| !is_zero(row) && !coarse(row)) {
        let (mut b, operands) = (Sketch::new(&[]), row.row().operands);
        let bools = matches!(row, Ew::Select);
        let inputs: Vec<NodeId> = operands.iter().map(|_| b.variable(&[dim(5)])).collect();
        let mut args = inputs.clone();
        if bools {
            let half = b.number(0.5, args[0]);
            args[0] = b.ew(Ew::Gt, &[args[0], half]);
        }
        let mut y = b.ew(*row, &args);
        if b.graph.ty(y).dtype != DType::F64 {
            y = b.ew(Ew::Cast(DType::F64), &[y]);
        }
        let smooth = |random: &mut Random| {
            loop {
                let point: Vec<f64> = operands.iter().map(|o| random.next(o.low, o.high)).collect();
                if (row.row().kinks.distance)(&point) > 0.05 && (!bools || (point[0] - 0.5).abs() > 0.05) {
                    return point;
                }
            }
        };
        let mut random = Random(3);
        let points: Vec<Vec<f64>> = (0..5).map(|_| smooth(&mut random)).collect();
        let columns: Vec<Vec<f64>> =
            (0..operands.len()).map(|i| points.iter().map(|point| point[i]).collect()).collect();
        check(row.row().name, b, y, &[], &|random, input| match columns.get(random.0 as usize) {
            Some(column) => tensor(input, &[], column),
            None => random.like(input, &[], -1.0, 1.0),
        });
    }
}

/// Compares forward, reverse and both second derivatives of `y` with central differences.
///
/// `sample` is asked for the value of each input, with a generator whose seed is the input's position, and for
/// directions, with other seeds.
fn check(
    name: &str,
    mut b: Sketch,
    y: NodeId,
    dims: &[i64],
    sample: &dyn Fn(&mut Random, &crate::graph::Input) -> Value,
) {
    let declared = b.graph.inputs.clone();
    let variables: Vec<NodeId> = b
        .graph
        .ids()
        .filter(|id| matches!(b.graph.node(*id).op, Op::Input(_)) && b.graph.ty(*id).dtype.is_float())
        .collect();
    let shape = b.shape(y);
    let seed = b.variable(&shape);
    let directions: Vec<NodeId> = variables.iter().map(|x| b.variable(&b.shape(*x))).collect();
    let point: Vec<Value> =
        declared.iter().enumerate().map(|(i, input)| sample(&mut Random(i as u64), input)).collect();
    let rest: Vec<Value> = b.graph.inputs[declared.len()..]
        .iter()
        .enumerate()
        .map(|(i, input)| Random(1000 + i as u64).like(input, dims, -1.0, 1.0))
        .collect();

    let pairs = variables.iter().zip(&directions);
    let forward: Vec<NodeId> = pairs.map(|(x, v)| b.jvp(y, *x, *v)).collect();
    let forward = forward.into_iter().reduce(|a, c| b.ew(Ew::Add, &[a, c])).unwrap();
    let reverse: Vec<NodeId> = variables.iter().map(|x| b.vjp(y, *x, seed)).collect();
    let mut second = Vec::new();
    for gradient in &reverse {
        let parts: Vec<NodeId> =
            variables.iter().zip(&directions).map(|(x, v)| b.jvp(*gradient, *x, *v)).collect();
        second.push(parts.into_iter().reduce(|a, c| b.ew(Ew::Add, &[a, c])).unwrap());
    }
    // The same second derivative backward over backward: of the gradients' product with the directions.
    let products: Vec<NodeId> =
        reverse.iter().zip(&directions).map(|(g, v)| b.ew(Ew::Mul, &[*g, *v])).collect();
    let totals: Vec<NodeId> = products.into_iter().map(|product| b.total(product)).collect();
    let slope = totals.into_iter().reduce(|a, c| b.ew(Ew::Add, &[a, c])).unwrap();
    let backward: Vec<NodeId> = variables.iter().map(|x| b.grad(slope, *x)).collect();

    let inputs = |step: f64| -> Vec<Value> {
        let mut moved: Vec<Value> = point.clone();
        for (x, direction) in moved.iter_mut().zip(&rest[1..]) {
            for (element, change) in x.elements.iter_mut().zip(&direction.elements) {
                element.scalar = crate::graph::value::Scalar::Float(element.float() + step * change.float());
            }
        }
        moved.into_iter().chain(rest.iter().cloned()).collect()
    };
    let step = 1e-4;
    let difference = |outputs: &[NodeId]| -> Vec<Vec<f64>> {
        let (high, low) = (b.eval(dims, &inputs(step), outputs), b.eval(dims, &inputs(-step), outputs));
        let slope = |(high, low): (&Value, &Value)| {
            high.to_f64().iter().zip(low.to_f64()).map(|(h, l)| (h - l) / (2.0 * step)).collect()
        };
        high.iter().zip(&low).map(slope).collect()
    };
    let here = inputs(0.0);
    let values = |outputs: &[NodeId]| -> Vec<Vec<f64>> {
        b.eval(dims, &here, outputs).iter().map(Value::to_f64).collect()
    };

    let expected = difference(&[y]);
    close(name, "forward", &values(&[forward]), &expected);
    let against = |a: &[Vec<f64>], b: &[Vec<f64>]| -> f64 {
        a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| a * b).sum()
    };
    let along: Vec<Vec<f64>> = rest[1..].iter().map(Value::to_f64).collect();
    let reversed = against(&values(&reverse), &along);
    close(name, "reverse", &[vec![reversed]], &[vec![against(&expected, &[rest[0].to_f64()])]]);
    let expected = difference(&reverse);
    close(name, "forward over reverse", &values(&second), &expected);
    close(name, "reverse over reverse", &values(&backward), &expected);
    for (x, gradient) in variables.iter().zip(&reverse) {
        assert_eq!(b.graph.ty(*x), b.graph.ty(*gradient), "{name}: type of the gradient");
    }
}

fn close(name: &str, what: &str, found: &[Vec<f64>], expected: &[Vec<f64>]) {
    assert_eq!(found.len(), expected.len(), "{name}: {what}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len(), "{name}: {what}");
        let scale = expected.iter().fold(1.0, |scale: f64, x| scale.max(x.abs()));
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() <= 1e-5 * scale, "{name}: {what}: {found:?}, but differences {expected:?}");
        }
    }
}
