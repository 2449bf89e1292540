//! The rules, an example of each, and what becomes of the example.

use tensorjit_runtime::abi::DType;

use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::concat::Concat;
use crate::graph::ops::contract::Contract;
use crate::graph::ops::dim_value::DimValue;
use crate::graph::ops::pad::{Pad, PadAxis};
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::reshape::Reshape;
use crate::graph::ops::slice::{Range, Slice};
use crate::graph::ops::window::Window;
use crate::graph::sketch::{Sketch, dim, floats, m, n};
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op, Type};

/// Builds an example from the three inputs.
pub(super) type Build = fn(&mut Sketch, [NodeId; 3]) -> NodeId;

pub(super) fn full(sketch: &mut Sketch, value: f64) -> NodeId {
    sketch.full(&floats(&[n(), m()]), value)
}

pub(super) fn permute(sketch: &mut Sketch, x: NodeId, axes: &[usize]) -> NodeId {
    sketch.add(Op::Permute(Permute { axes: axes.to_vec() }), &[x])
}

pub(super) fn repeat(sketch: &mut Sketch, x: NodeId) -> NodeId {
    sketch.add(Op::Broadcast(Broadcast { shape: vec![dim(2), n(), m()], axes: vec![1, 2] }), &[x])
}

pub(super) fn slice(sketch: &mut Sketch, x: NodeId, ranges: Vec<Range>) -> NodeId {
    sketch.add(Op::Slice(Slice { ranges }), &[x])
}

/// `x` between a zero and two.
pub(super) fn padded(sketch: &mut Sketch, x: NodeId) -> NodeId {
    let zero = sketch.full(&Type::scalar(DType::F64), 0.0);
    let rows = PadAxis { low: dim(1), extent: &n() + &dim(3), gap: 0 };
    sketch.add(Op::Pad(Pad { axes: vec![rows, PadAxis::none(&m())] }), &[x, zero])
}

pub(super) fn contract(sketch: &mut Sketch, x: NodeId, y: NodeId) -> NodeId {
    sketch.add(Op::Contract(Contract { batch: vec![], sum: vec![(1, 0)] }), &[x, y])
}

/// The first input itself.
const X: &str = "%0 = input 0 : f64[N, M] -> %0";

/// The rule, an example of it, and what becomes of the example.
pub(super) fn cases() -> Vec<(&'static str, Build, &'static str)> {
    vec![
        ("variable", |s, [x, ..]| s.add(Op::Variable(1), &[x]), X),
        ("stop_gradient", |s, [x, ..]| s.add(Op::StopGradient, &[x]), X),
        ("dim_constant", |s, _| s.add(Op::DimValue(DimValue(dim(4))), &[]), "%0 = constant 4 : i64 -> %0"),
        (
            "fold",
            |s, _| {
                let (one, eight) = (full(s, 1.0), full(s, 8.0));
                let eighth = s.ew(Ew::Div, &[one, eight]);
                s.ew(Ew::Cast(DType::F32), &[eighth])
            },
            "%0 = constant 0.125 : f32; \
             %1 = broadcast %0, shape = [N, M], axes = [] : f32[N, M] -> %1",
        ),
        (
            "below_broadcast",
            |s, [x, ..]| {
                let (rows, two) = (repeat(s, x), s.full(&floats(&[dim(2), n(), m()]), 2.0));
                s.ew(Ew::Mul, &[rows, two])
            },
            "%0 = input 0 : f64[N, M]; %1 = constant 2.0 : f64; \
             %2 = broadcast %1, shape = [N, M], axes = [] : f64[N, M]; %3 = mul %0, %2 : f64[N, M]; \
             %4 = broadcast %3, shape = [2, N, M], axes = [1, 2] : f64[2, N, M] -> %4",
        ),
        (
            "mul_one",
            |s, [x, ..]| {
                let one = full(s, 1.0);
                s.ew(Ew::Mul, &[one, x])
            },
            X,
        ),
        (
            "mul_minus_one",
            |s, [x, ..]| {
                let one = full(s, -1.0);
                s.ew(Ew::Mul, &[x, one])
            },
            "%0 = input 0 : f64[N, M]; %1 = neg %0 : f64[N, M] -> %1",
        ),
        (
            "div_one",
            |s, [x, ..]| {
                let one = full(s, 1.0);
                s.ew(Ew::Div, &[x, one])
            },
            X,
        ),
        (
            "div_power_of_two",
            |s, [x, ..]| {
                let eight = full(s, -8.0);
                s.ew(Ew::Div, &[x, eight])
            },
            "%0 = input 0 : f64[N, M]; %1 = constant -0.125 : f64; \
             %2 = broadcast %1, shape = [N, M], axes = [] : f64[N, M]; %3 = mul %0, %2 : f64[N, M] -> %3",
        ),
        (
            "add_zero",
            |s, [x, ..]| {
                let zero = full(s, -0.0);
                s.ew(Ew::Add, &[zero, x])
            },
            X,
        ),
        (
            "sub_zero",
            |s, [x, ..]| {
                let zero = full(s, 0.0);
                s.ew(Ew::Sub, &[x, zero])
            },
            X,
        ),
        (
            "neg_neg",
            |s, [x, ..]| {
                let neg = s.ew(Ew::Neg, &[x]);
                s.ew(Ew::Neg, &[neg])
            },
            X,
        ),
        (
            "add_neg",
            |s, [x, y, _]| {
                let neg = s.ew(Ew::Neg, &[x]);
                s.ew(Ew::Add, &[neg, y])
            },
            "%0 = input 0 : f64[N, M]; %1 = input 1 : f64[N, M]; %2 = sub %1, %0 : f64[N, M] -> %2",
        ),
        (
            "sub_neg",
            |s, [x, y, _]| {
                let neg = s.ew(Ew::Neg, &[y]);
                s.ew(Ew::Sub, &[x, neg])
            },
            "%0 = input 0 : f64[N, M]; %1 = input 1 : f64[N, M]; %2 = add %0, %1 : f64[N, M] -> %2",
        ),
        (
            "pow_one",
            |s, [x, ..]| {
                let one = full(s, 1.0);
                s.ew(Ew::Pow, &[x, one])
            },
            X,
        ),
        (
            "pow_two",
            |s, [x, ..]| {
                let two = full(s, 2.0);
                s.ew(Ew::Pow, &[x, two])
            },
            "%0 = input 0 : f64[N, M]; %1 = square %0 : f64[N, M] -> %1",
        ),
        (
            "pow_minus_one",
            |s, [x, ..]| {
                let minus_one = full(s, -1.0);
                s.ew(Ew::Pow, &[x, minus_one])
            },
            "%0 = input 0 : f64[N, M]; %1 = recip %0 : f64[N, M] -> %1",
        ),
        (
            "dmul_zero",
            |s, [x, ..]| {
                let zero = full(s, 0.0);
                s.ew(Ew::Dmul, &[x, zero])
            },
            "%0 = constant 0.0 : f64; %1 = broadcast %0, shape = [N, M], axes = [] : f64[N, M] -> %1",
        ),
        (
            "dmul_finite",
            |s, [x, _, mask]| {
                let (one, two) = (full(s, 0.5), full(s, 2.0));
                let d = s.ew(Ew::Select, &[mask, one, two]);
                s.ew(Ew::Dmul, &[d, x])
            },
            "%0 = input 0 : f64[N, M]; %1 = input 2 : bool[N, M]; %2 = constant 0.5 : f64; \
             %3 = broadcast %2, shape = [N, M], axes = [] : f64[N, M]; %4 = constant 2.0 : f64; \
             %5 = broadcast %4, shape = [N, M], axes = [] : f64[N, M]; \
             %6 = select %1, %3, %5 : f64[N, M]; %7 = mul %6, %0 : f64[N, M] -> %7",
        ),
        (
            "select_constant",
            |s, [x, y, _]| {
                let no = s.full(&Type::new(DType::Bool, [n(), m()]), 0.0);
                s.ew(Ew::Select, &[no, y, x])
            },
            X,
        ),
        ("select_same", |s, [x, _, mask]| s.ew(Ew::Select, &[mask, x, x]), X),
        (
            "select_not",
            |s, [x, y, mask]| {
                let not = s.ew(Ew::Not, &[mask]);
                s.ew(Ew::Select, &[not, x, y])
            },
            "%0 = input 0 : f64[N, M]; %1 = input 1 : f64[N, M]; %2 = input 2 : bool[N, M]; \
             %3 = select %2, %1, %0 : f64[N, M] -> %3",
        ),
        (
            "not_not",
            |s, [_, _, mask]| {
                let not = s.ew(Ew::Not, &[mask]);
                s.ew(Ew::Not, &[not])
            },
            "%0 = input 2 : bool[N, M] -> %0",
        ),
        (
            "and_true",
            |s, [_, _, mask]| {
                let yes = s.full(&Type::new(DType::Bool, [n(), m()]), 1.0);
                s.ew(Ew::And, &[yes, mask])
            },
            "%0 = input 2 : bool[N, M] -> %0",
        ),
        (
            "or_false",
            |s, [_, _, mask]| {
                let no = s.full(&Type::new(DType::Bool, [n(), m()]), 0.0);
                s.ew(Ew::Or, &[mask, no])
            },
            "%0 = input 2 : bool[N, M] -> %0",
        ),
        ("cast_same", |s, [x, ..]| s.ew(Ew::Cast(DType::F64), &[x]), X),
        (
            "cast_cast",
            |s, [_, _, mask]| {
                let int = s.ew(Ew::Cast(DType::I32), &[mask]);
                let float = s.ew(Ew::Cast(DType::F64), &[int]);
                s.ew(Ew::Cast(DType::F32), &[float])
            },
            "%0 = input 2 : bool[N, M]; %1 = cast_f32 %0 : f32[N, M] -> %1",
        ),
        (
            "move_constant",
            |s, _| {
                let three = full(s, 3.0);
                let turned = permute(s, three, &[1, 0]);
                let more = s.full(&floats(&[m(), n()]), 3.0);
                s.add(Op::Concat(Concat { axis: 1 }), &[turned, more])
            },
            "%0 = constant 3.0 : f64; %1 = broadcast %0, shape = [M, 2*N], axes = [] : f64[M, 2*N] -> %1",
        ),
        (
            "move_nothing",
            |s, [x, ..]| {
                let x = permute(s, x, &[0, 1]);
                let x = slice(s, x, vec![Range::full(&n()), Range::full(&m())]);
                let x = s.add(Op::Concat(Concat { axis: 1 }), &[x]);
                let x = s.add(Op::Reshape(Reshape { shape: vec![n(), m()] }), &[x]);
                s.add(Op::Broadcast(Broadcast { shape: vec![n(), m()], axes: vec![0, 1] }), &[x])
            },
            X,
        ),
        (
            "broadcast_broadcast",
            |s, [x, ..]| {
                let x = repeat(s, x);
                let shape = vec![dim(2), dim(3), n(), m()];
                s.add(Op::Broadcast(Broadcast { shape, axes: vec![0, 2, 3] }), &[x])
            },
            "%0 = input 0 : f64[N, M]; \
             %1 = broadcast %0, shape = [2, 3, N, M], axes = [2, 3] : f64[2, 3, N, M] -> %1",
        ),
        (
            "permute_permute",
            |s, [x, ..]| {
                let x = permute(s, x, &[1, 0]);
                permute(s, x, &[1, 0])
            },
            X,
        ),
        (
            "reshape_reshape",
            |s, [x, ..]| {
                let x = s.add(Op::Reshape(Reshape { shape: vec![&n() * &m()] }), &[x]);
                s.add(Op::Reshape(Reshape { shape: vec![m(), n()] }), &[x])
            },
            "%0 = input 0 : f64[N, M]; %1 = reshape %0, shape = [M, N] : f64[M, N] -> %1",
        ),
        (
            "slice_slice",
            |s, [x, ..]| {
                let rows = || Range { start: &n() - &dim(1), step: -1, len: n() };
                let x = slice(s, x, vec![rows(), Range::full(&m())]);
                slice(s, x, vec![rows(), Range { start: dim(0), step: 1, len: dim(0) }])
            },
            "%0 = input 0 : f64[N, M]; %1 = slice %0, [0 step 1 len N, 0 step 1 len 0] : f64[N, 0] -> %1",
        ),
        (
            "slice_pad",
            |s, [x, ..]| {
                let x = padded(s, x);
                slice(s, x, vec![Range { start: dim(1), step: 1, len: n() }, Range::full(&m())])
            },
            X,
        ),
        (
            "slice_concat",
            |s, [x, y, _]| {
                let both = s.add(Op::Concat(Concat { axis: 1 }), &[y, x]);
                slice(s, both, vec![Range::full(&n()), Range { start: m(), step: 1, len: m() }])
            },
            X,
        ),
        (
            "slice_broadcast",
            |s, [x, ..]| {
                let x = repeat(s, x);
                let one = Range { start: dim(1), step: 1, len: dim(1) };
                let flipped = Range { start: &m() - &dim(1), step: -1, len: m() };
                slice(s, x, vec![one, Range::full(&n()), flipped])
            },
            "%0 = input 0 : f64[N, M]; %1 = slice %0, [0 step 1 len N, M - 1 step -1 len M] : f64[N, M]; \
             %2 = broadcast %1, shape = [1, N, M], axes = [1, 2] : f64[1, N, M] -> %2",
        ),
        (
            "permute_broadcast",
            |s, [x, ..]| {
                let x = repeat(s, x);
                permute(s, x, &[1, 0, 2])
            },
            "%0 = input 0 : f64[N, M]; \
             %1 = broadcast %0, shape = [N, 2, M], axes = [0, 2] : f64[N, 2, M] -> %1",
        ),
        (
            "permute_contract",
            |s, [x, y, _]| {
                let product = s.add(Op::Contract(Contract { batch: vec![], sum: vec![(0, 0)] }), &[x, y]);
                permute(s, product, &[1, 0])
            },
            "%0 = input 0 : f64[N, M]; %1 = input 1 : f64[N, M]; \
             %2 = contract %1, %0, batch = [], sum = [(0, 0)] : f64[M, M] -> %2",
        ),
        (
            "permute_contract_batch",
            |s, [x, y, _]| {
                let x =
                    s.add(Op::Broadcast(Broadcast { shape: vec![n(), dim(2), m()], axes: vec![0, 2] }), &[x]);
                let y =
                    s.add(Op::Broadcast(Broadcast { shape: vec![dim(2), n(), m()], axes: vec![1, 2] }), &[y]);
                let product = s.add(Op::Contract(Contract { batch: vec![], sum: vec![(1, 0)] }), &[x, y]);
                permute(s, product, &[0, 2, 3, 1])
            },
            "%0 = input 0 : f64[N, M]; %1 = input 1 : f64[N, M]; \
             %2 = broadcast %0, shape = [N, 2, M], axes = [0, 2] : f64[N, 2, M]; \
             %3 = broadcast %1, shape = [N, 2, N, M], axes = [2, 3] : f64[N, 2, N, M]; \
             %4 = contract %3, %2, batch = [(0, 0)], sum = [(1, 1)] : f64[N, N, M, M] -> %4",
        ),
        (
            "contract_few_columns",
            |s, [x, y, _]| {
                let y = padded(s, y);
                let shape = vec![&n() + &dim(3), m(), dim(3)];
                let y = s.add(Op::Broadcast(Broadcast { shape, axes: vec![0, 1] }), &[y]);
                let extent = &n() + &dim(1);
                let taps = Window { axis: 0, taps: 2, stride: 1, dilation: 1, extent, inverse: false };
                let y = s.add(Op::Window(taps), &[y]);
                s.add(Op::Contract(Contract { batch: vec![], sum: vec![(1, 1)] }), &[x, y])
            },
            "%0 = input 0 : f64[N, M]; %1 = input 1 : f64[N, M]; %2 = constant 0.0 : f64; \
             %3 = pad %1, %2, [1 gap 0 extent N + 3, 0 gap 0 extent M] : f64[N + 3, M]; \
             %4 = broadcast %3, shape = [N + 3, M, 3], axes = [0, 1] : f64[N + 3, M, 3]; \
             %5 = window %4, axis = 0, taps = 2, stride = 1, dilation = 1, extent = N + 1 : f64[N + 1, M, 3]; \
             %6 = contract %5, %0, batch = [], sum = [(1, 1)] : f64[N + 1, 3, N]; \
             %7 = permute %6, axes = [2, 0, 1] : f64[N, N + 1, 3] -> %7",
        ),
        (
            "reduce_unit",
            |s, [x, _, mask]| {
                let x = s.add(Op::Reshape(Reshape { shape: vec![n(), dim(1), m()] }), &[x]);
                let x = s.add(Op::Reduce(Reduce { kind: ReduceKind::Max, axes: vec![1] }), &[x]);
                let mask = s.add(Op::Reshape(Reshape { shape: vec![dim(1), n(), dim(1), m()] }), &[mask]);
                let any = s.add(Op::Reduce(Reduce { kind: ReduceKind::Any, axes: vec![0, 1, 2] }), &[mask]);
                let any = s.add(Op::Broadcast(Broadcast { shape: vec![n(), m()], axes: vec![1] }), &[any]);
                let zero = full(s, 0.0);
                s.ew(Ew::Select, &[any, x, zero])
            },
            "%0 = input 0 : f64[N, M]; %1 = input 2 : bool[N, M]; \
             %2 = reduce %1, any, axes = [0] : bool[M]; \
             %3 = broadcast %2, shape = [N, M], axes = [1] : bool[N, M]; %4 = constant 0.0 : f64; \
             %5 = broadcast %4, shape = [N, M], axes = [] : f64[N, M]; %6 = select %3, %0, %5 : f64[N, M] -> %6",
        ),
        (
            "contract_permuted_left",
            |s, [x, y, _]| {
                let x = permute(s, x, &[1, 0]);
                contract(s, x, y)
            },
            "%0 = input 0 : f64[N, M]; %1 = input 1 : f64[N, M]; \
             %2 = contract %0, %1, batch = [], sum = [(0, 0)] : f64[M, M] -> %2",
        ),
        (
            "contract_permuted_right",
            |s, [x, y, _]| {
                let y = permute(s, y, &[1, 0]);
                contract(s, x, y)
            },
            "%0 = input 0 : f64[N, M]; %1 = input 1 : f64[N, M]; \
             %2 = contract %0, %1, batch = [], sum = [(1, 1)] : f64[N, N] -> %2",
        ),
    ]
}
