//! Values of the oracle and their error bounds.

use tensorjit_runtime::abi::DType;

use super::run;
use crate::dim::Dim;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::concat::Concat;
use crate::graph::ops::constant::Constant;
use crate::graph::ops::dim_value::DimValue;
use crate::graph::ops::iota::Iota;
use crate::graph::ops::pad::{Pad, PadAxis};
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::reshape::Reshape;
use crate::graph::ops::scan::{Output, Scan};
use crate::graph::ops::slice::{Range, Slice};
use crate::graph::sketch::{Sketch, dim, m, n, sample};
use crate::graph::table::Ew;
use crate::graph::value::Value;
use crate::graph::{NodeId, Op, Type};

fn floats(shape: &[usize], values: &[f64]) -> Value {
    Value::floats(DType::F64, shape, values)
}

/// Applies an operator to values whose extents are constants.
fn apply(op: Op, dims: &[i64], inputs: &[Value]) -> Value {
    let types: Vec<Type> = inputs
        .iter()
        .map(|value| {
            let shape: Vec<Dim> = value.shape.iter().map(|n| Dim::constant(*n as i64)).collect();
            Type::new(value.dtype, shape)
        })
        .collect();
    let mut sketch = Sketch::new(&types);
    let operands: Vec<NodeId> = (0..inputs.len() as u32).map(|i| sketch.input(i)).collect();
    let node = sketch.add(op, &operands);
    run(&sketch.finish(&[node]), dims, inputs).unwrap().remove(0)
}

#[test]
fn operators_have_their_values() {
    let counting = floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let nine = floats(&[], &[9.0]);
    let range = |start, step, len| Range { start: dim(start), step, len: dim(len) };
    let border = |low, gap, extent| PadAxis { low: dim(low), gap, extent: dim(extent) };
    let cases: Vec<(Op, Vec<Value>, Value)> = vec![
        (Op::Constant(Constant::number(DType::F64, 2.5)), vec![], floats(&[], &[2.5])),
        (Op::DimValue(DimValue(&n() * &m())), vec![], Value::ints(DType::I64, &[], &[6])),
        (Op::Iota(Iota { dtype: DType::I32, extent: n() }), vec![], Value::ints(DType::I32, &[2], &[0, 1])),
        (Op::Iota(Iota { dtype: DType::F64, extent: dim(0) }), vec![], floats(&[0], &[])),
        (
            Op::Permute(Permute { axes: vec![1, 0] }),
            vec![counting.clone()],
            floats(&[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
        ),
        (
            Op::Reshape(Reshape { shape: vec![dim(3), dim(2)] }),
            vec![counting.clone()],
            floats(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ),
        (
            Op::Slice(Slice { ranges: vec![range(1, -1, 2), range(0, 2, 2)] }),
            vec![counting.clone()],
            floats(&[2, 2], &[4.0, 6.0, 1.0, 3.0]),
        ),
        (
            Op::Pad(Pad { axes: vec![border(0, 1, 3), border(1, 0, 4)] }),
            vec![counting.clone(), nine.clone()],
            floats(&[3, 4], &[9.0, 1.0, 2.0, 3.0, 9.0, 9.0, 9.0, 9.0, 9.0, 4.0, 5.0, 6.0]),
        ),
        (
            Op::Pad(Pad { axes: vec![border(1, 3, 2)] }),
            vec![floats(&[0], &[]), nine],
            floats(&[2], &[9.0, 9.0]),
        ),
        (
            Op::Concat(Concat { axis: 1 }),
            vec![counting.clone(), floats(&[2, 0], &[]), floats(&[2, 1], &[7.0, 8.0])],
            floats(&[2, 4], &[1.0, 2.0, 3.0, 7.0, 4.0, 5.0, 6.0, 8.0]),
        ),
        (Op::StopGradient, vec![counting.clone()], counting.clone()),
        (Op::Variable(3), vec![counting.clone()], counting),
        (
            Op::Elementwise(Ew::Add),
            vec![
                Value::ints(DType::I32, &[2], &[i32::MAX.into(), 1]),
                Value::ints(DType::I32, &[2], &[1, 1]),
            ],
            Value::ints(DType::I32, &[2], &[i32::MIN.into(), 2]),
        ),
        (
            Op::Elementwise(Ew::Select),
            vec![Value::bools(&[2], &[true, false]), floats(&[2], &[1.0, 2.0]), floats(&[2], &[3.0, 4.0])],
            floats(&[2], &[1.0, 4.0]),
        ),
        (
            Op::Elementwise(Ew::Dmul),
            vec![floats(&[2], &[f64::INFINITY, f64::NAN]), floats(&[2], &[0.0, 0.0])],
            floats(&[2], &[0.0, 0.0]),
        ),
    ];
    for (op, inputs, expected) in cases {
        assert_eq!(apply(op.clone(), &[2, 3], &inputs), expected, "{op:?}");
    }
}

#[test]
fn a_scan_carries_slices_and_stacks() {
    let (ty, number) = (Type::new(DType::F64, [n()]), Type::scalar(DType::I64));
    let mut body = Sketch::new(&[ty.clone(), Type::scalar(DType::F64), number]);
    let (carry, slice) = (body.input(0), body.input(1));
    let slice = body.add(Op::Broadcast(Broadcast { shape: vec![n()], axes: vec![] }), &[slice]);
    let next = body.ew(Ew::Mul, &[carry, slice]);
    let body = std::sync::Arc::new(body.finish(&[next, carry]));
    for (reverse, stacked) in [(false, [1.0, 2.0, 3.0, 6.0]), (true, [5.0, 10.0, 1.0, 2.0])] {
        let mut outer = Sketch::new(&[ty.clone(), Type::new(DType::F64, [dim(2)])]);
        let operands = [outer.input(0), outer.input(1)];
        let (body, count) = (body.clone(), dim(2));
        let scan = Scan { body, count, carries: 1, slices: 1, reverse, conditional: false, counted: false };
        let scan = outer.add(Op::Scan(scan), &operands);
        let results = [0, 1].map(|result| outer.add(Op::Output(Output(result)), &[scan]));
        let inputs = [floats(&[2], &[1.0, 2.0]), floats(&[2], &[3.0, 5.0])];
        let found = run(&outer.finish(&results), &[2, 0], &inputs).unwrap();
        assert_eq!(found[0].to_f64(), [15.0, 30.0]);
        assert_eq!(found[1].to_f64(), stacked, "reverse = {reverse}");
    }
}

#[test]
fn inputs_must_fit_their_types() {
    let mut sketch = Sketch::new(&[Type::new(DType::F32, [n()])]);
    let x = sketch.input(0);
    let graph = sketch.finish(&[x]);
    let value = sample(DType::F32, &[2], 1);
    assert!(run(&graph, &[2, 0], std::slice::from_ref(&value)).is_ok());
    assert!(run(&graph, &[3, 0], std::slice::from_ref(&value)).is_err(), "another extent");
    assert!(run(&graph, &[2, 0], &[]).is_err(), "no value");
    assert!(run(&graph, &[2, 0], &[sample(DType::F64, &[2], 1)]).is_err(), "another element type");
}

/// Evaluates `build` of inputs that f32 holds in f32 arithmetic of this machine, and by the oracle.
fn error_of(row: Ew, inputs: &[f64]) -> (f64, f64) {
    let types = vec![Type::scalar(DType::F32); inputs.len()];
    let mut sketch = Sketch::new(&types);
    let operands: Vec<NodeId> = (0..inputs.len() as u32).map(|i| sketch.input(i)).collect();
    // Operands that are not exact themselves: thirds.
    let three = sketch.full(&Type::scalar(DType::F32), 3.0);
    let thirds: Vec<NodeId> = operands.iter().map(|x| sketch.ew(Ew::Div, &[*x, three])).collect();
    let node = sketch.ew(row, &thirds);
    let values: Vec<Value> = inputs.iter().map(|x| Value::floats(DType::F32, &[], &[*x])).collect();
    let element = run(&sketch.finish(&[node]), &[0, 0], &values).unwrap()[0].elements[0];
    (element.float(), element.error)
}

#[test]
fn bounds_hold_for_arithmetic_in_f32() {
    let [a, b, c] = [0.7f32, -1.3, 2.9].map(|x| x / 3.0);
    let cases: Vec<(Ew, Vec<f64>, f32)> = vec![
        (Ew::Add, vec![0.7, -1.3], a + b),
        (Ew::Sub, vec![0.7, -1.3], a - b),
        (Ew::Mul, vec![0.7, -1.3], a * b),
        (Ew::Div, vec![0.7, -1.3], a / b),
        (Ew::Maximum, vec![0.7, -1.3], a.max(b)),
        (Ew::Sqrt, vec![2.9], c.sqrt()),
        (Ew::Exp, vec![-1.3], b.exp()),
        (Ew::Log, vec![0.7], a.ln()),
        (Ew::Fma, vec![0.7, -1.3, 2.9], a.mul_add(b, c)),
        (Ew::Fma, vec![0.7, -1.3, 2.9], a * b + c),
        (Ew::Square, vec![-1.3], b * b),
    ];
    for (row, inputs, kernel) in cases {
        let (value, error) = error_of(row, &inputs);
        let distance = (f64::from(kernel) - value).abs();
        assert!(distance <= error, "{row:?}: off by {distance:e}, bound {error:e}");
        assert!(error < 1e-5, "{row:?}: the bound {error:e} says nothing");
    }
}

#[test]
fn bounds_are_infinite_where_an_error_may_take_another_branch() {
    let cases: Vec<(Ew, Vec<f64>, bool)> = vec![
        (Ew::Lt, vec![1.0, 1.0], false),
        (Ew::Lt, vec![1.0, 2.0], true),
        (Ew::Eq, vec![1.0, 1.0], false),
        (Ew::Ne, vec![1.0, 5.0], true),
        (Ew::Floor, vec![9.0], false),
        (Ew::Floor, vec![10.0], true),
        (Ew::Sign, vec![1.0], true),
        (Ew::Cast(DType::I32), vec![10.0], true),
        (Ew::Abs, vec![-1.0], true),
        (Ew::IsNan, vec![1.0], true),
        (Ew::Maximum, vec![1.0, 1.0], true),
        (Ew::Recip, vec![1.0], true),
    ];
    for (row, inputs, known) in cases {
        let (_, error) = error_of(row, &inputs);
        assert_eq!(error.is_finite(), known, "{row:?} of {inputs:?}: {error:e}");
    }
}

/// A zero that masks have made, and what a sum makes of it, must not look as if rounding could have made it.
#[test]
fn zeros_are_exact() {
    let error = |row: Ew, a: f64, b: f64| {
        apply(Op::Elementwise(row), &[], &[floats(&[1], &[a]), floats(&[1], &[b])]).elements[0].error
    };
    for row in [Ew::Add, Ew::Sub, Ew::Mul, Ew::Dmul] {
        assert_eq!(error(row, 0.0, -0.0), 0.0, "{row:?}");
    }
    assert_eq!(error(Ew::Mul, 0.0, 3.0), 0.0);
    assert!(error(Ew::Mul, 1e-200, 1e-200) > 0.0, "an underflow is not exact");
    let sum = |x: &Value| {
        apply(Op::Reduce(Reduce { kind: ReduceKind::Sum, axes: vec![0] }), &[], std::slice::from_ref(x))
    };
    assert_eq!(sum(&floats(&[3], &[0.0, 0.0, 0.0])).elements[0].error, 0.0);
    assert!(sum(&floats(&[2], &[1.0, -1.0])).elements[0].error > 0.0);
}
