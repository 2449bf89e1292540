//! Movement operators: types, access maps and transposes.

use tensorjit_runtime::abi::DType;

use super::broadcast::Broadcast;
use super::concat::Concat;
use super::pad::{Pad, PadAxis};
use super::permute::Permute;
use super::reshape::Reshape;
use super::site::Site;
use super::slice::{Range, Slice};
use super::window::Window;
use super::{Guard, Source};
use crate::diag::{Bug, Origin};
use crate::dim::{Dim, Sym};
use crate::graph::sketch::{Sketch, dim, floats, m, n, sample};
use crate::graph::value::{Env, Index, Value};
use crate::graph::{NodeId, Op, Type};
use crate::interp;

fn broadcast(shape: &[Dim], axes: &[usize]) -> Op {
    Op::Broadcast(Broadcast { shape: shape.to_vec(), axes: axes.to_vec() })
}

fn permute(axes: &[usize]) -> Op {
    Op::Permute(Permute { axes: axes.to_vec() })
}

fn reshape(shape: &[Dim]) -> Op {
    Op::Reshape(Reshape { shape: shape.to_vec() })
}

fn slice(ranges: &[(Dim, i64, Dim)]) -> Op {
    let ranges =
        ranges.iter().map(|(start, step, len)| Range { start: start.clone(), step: *step, len: len.clone() });
    Op::Slice(Slice { ranges: ranges.collect() })
}

fn window(axis: usize, taps: usize, (stride, dilation): (i64, i64), extent: Dim) -> Op {
    Op::Window(Window { axis, taps, stride, dilation, extent, inverse: false })
}

fn overlay(axis: usize, taps: usize, (stride, dilation): (i64, i64), extent: Dim) -> Op {
    Op::Window(Window { axis, taps, stride, dilation, extent, inverse: true })
}

fn pad(axes: &[(Dim, i64, Dim)]) -> Op {
    let axes =
        axes.iter().map(|(low, gap, extent)| PadAxis { low: low.clone(), extent: extent.clone(), gap: *gap });
    Op::Pad(Pad { axes: axes.collect() })
}

fn plus(a: Dim, b: i64) -> Dim {
    &a + &dim(b)
}

fn times(a: Dim, b: Dim) -> Dim {
    &a * &b
}

/// An operator of movement and the shapes of its operands.
fn movements() -> Vec<(Op, Vec<Vec<Dim>>)> {
    vec![
        (broadcast(&[n(), m()], &[]), vec![vec![]]),
        (broadcast(&[m(), n()], &[1]), vec![vec![n()]]),
        (broadcast(&[n(), m()], &[0]), vec![vec![n()]]),
        // The gradient of (2, 1) broadcast to (2, 4) is (2, 1).
        (broadcast(&[dim(2), dim(4)], &[0, 1]), vec![vec![dim(2), dim(1)]]),
        (broadcast(&[dim(3), n(), m(), dim(2)], &[1, 2]), vec![vec![dim(1), m()]]),
        (broadcast(&[dim(3), dim(1)], &[1]), vec![vec![dim(1)]]),
        (permute(&[2, 0, 1]), vec![vec![n(), dim(2), m()]]),
        (permute(&[]), vec![vec![]]),
        (reshape(&[times(n(), m())]), vec![vec![n(), m()]]),
        (reshape(&[n(), m()]), vec![vec![times(n(), m())]]),
        (reshape(&[n(), dim(4), dim(3)]), vec![vec![n(), dim(2), dim(6)]]),
        (reshape(&[dim(3), times(dim(2), n())]), vec![vec![dim(2), times(dim(3), n())]]),
        (reshape(&[dim(1), n(), dim(1)]), vec![vec![n()]]),
        (reshape(&[dim(1)]), vec![vec![]]),
        (reshape(&[m(), n()]), vec![vec![n(), m()]]),
        (slice(&[(dim(1), 2, dim(3)), (dim(0), 1, n())]), vec![vec![dim(7), n()]]),
        (slice(&[(dim(5), -2, dim(3))]), vec![vec![dim(6)]]),
        (slice(&[(plus(n(), -1), -1, n())]), vec![vec![n()]]),
        (slice(&[(m(), 1, n())]), vec![vec![&n() + &m()]]),
        (slice(&[(dim(2), -1, dim(0))]), vec![vec![dim(3)]]),
        (pad(&[(dim(1), 0, plus(n(), 3))]), vec![vec![n()], vec![]]),
        (pad(&[(dim(0), 2, dim(8)), (dim(0), 0, m())]), vec![vec![dim(3), m()], vec![]]),
        (pad(&[(m(), 1, &times(dim(2), n()) + &m())]), vec![vec![n()], vec![]]),
        (pad(&[(dim(0), 0, n())]), vec![vec![n()], vec![]]),
        (pad(&[]), vec![vec![], vec![]]),
        (window(0, 1, (1, 1), plus(n(), 1)), vec![vec![plus(n(), 3), dim(3), m()]]),
        (window(1, 0, (2, 3), n()), vec![vec![dim(2), &times(dim(2), n()) + &dim(3)]]),
        (window(2, 0, (3, 1), dim(2)), vec![vec![dim(2), m(), dim(7)]]),
        (overlay(0, 1, (1, 1), plus(n(), 3)), vec![vec![plus(n(), 1), dim(3), m()], vec![]]),
        (overlay(1, 0, (2, 3), &times(dim(2), n()) + &dim(3)), vec![vec![dim(2), n()], vec![]]),
        (overlay(2, 0, (3, 1), dim(7)), vec![vec![dim(2), m(), dim(2)], vec![]]),
        (Op::Concat(Concat { axis: 0 }), vec![vec![n()], vec![dim(2)], vec![m()]]),
        (Op::Concat(Concat { axis: 1 }), vec![vec![dim(2), n()], vec![dim(2), n()]]),
        (Op::Concat(Concat { axis: 0 }), vec![vec![m()]]),
    ]
}

/// Sizes of N and M.
const SIZES: [[i64; 2]; 7] = [[0, 0], [0, 3], [1, 1], [1, 2], [2, 0], [3, 2], [5, 4]];

fn applied(op: &Op, shapes: &[Vec<Dim>]) -> (Sketch, NodeId) {
    let types: Vec<Type> = shapes.iter().map(|shape| floats(shape)).collect();
    let mut sketch = Sketch::new(&types);
    let operands: Vec<NodeId> = (0..shapes.len() as u32).map(|i| sketch.input(i)).collect();
    let node = sketch.add(op.clone(), &operands);
    (sketch, node)
}

fn samples(shapes: &[Vec<Dim>], env: &Env) -> Vec<Value> {
    let values =
        shapes.iter().zip(1..).map(|(shape, seed)| sample(DType::F64, &env.shape(shape).unwrap(), seed));
    values.collect()
}

fn evaluate(sketch: Sketch, outputs: &[NodeId], dims: &[i64], inputs: &[Value]) -> Vec<Value> {
    interp::run(&sketch.finish(outputs), dims, inputs).unwrap()
}

/// Whether a guard holds where the symbols have the values that `dims` gives.
fn holds(guard: &Guard, env: &Env) -> bool {
    match guard {
        Guard::Within { value, extent } => {
            (0..env.value(extent).unwrap()).contains(&env.value(value).unwrap())
        }
        Guard::Divides { value, by } => env.value(value).unwrap().rem_euclid(*by) == 0,
    }
}

#[test]
fn access_maps_find_what_evaluation_finds() {
    for (op, shapes) in movements() {
        for dims in SIZES {
            let (sketch, node) = applied(&op, &shapes);
            let result = sketch.graph.ty(node).clone();
            let types: Vec<Type> = shapes.iter().map(|shape| floats(shape)).collect();
            let types: Vec<&Type> = types.iter().collect();
            // Loop variables are symbols after N and M.
            let at: Vec<Dim> = (0..result.rank() as u32).map(|axis| Dim::sym(Sym(2 + axis))).collect();
            let sources = op.access(&sketch.graph.facts, &types, &result, &at).unwrap();
            let inputs = samples(&shapes, &Env { dims: &dims });
            let value = evaluate(sketch, &[node], &dims, &inputs).remove(0);
            let mut walk = Index::new(&value.shape);
            while let Some(index) = walk.next() {
                let mut symbols = dims.to_vec();
                symbols.extend(index.iter().map(|i| *i as i64));
                let env = Env { dims: &symbols };
                let Source { operand, index: from, .. } = sources
                    .iter()
                    .find(|source| source.guards.iter().all(|guard| holds(guard, &env)))
                    .unwrap();
                let from = env.shape(from).unwrap();
                assert_eq!(
                    inputs[*operand].at(&from),
                    value.at(index),
                    "{op:?} of {shapes:?} at {index:?}, {dims:?}"
                );
            }
        }
    }
}

#[test]
fn reshapes_split_and_merge_without_quotients_where_axes_divide() {
    let cases = [
        (vec![n(), m()], vec![dim(1), n(), dim(1), m()], ["t1", "t3"].as_slice()),
        (vec![times(n(), m())], vec![n(), m()], &["M*t0 + t1"]),
        (vec![n(), dim(12)], vec![n(), dim(3), dim(4)], &["t0", "4*t1 + t2"]),
        (vec![n(), dim(3), dim(4)], vec![n(), dim(12)], &["t0", "floor_div(t1, 4)", "(t1 % 4)"]),
        (vec![dim(2), dim(6)], vec![dim(4), dim(3)], &["floor_div(t0, 2)", "t1 + 3*(t0 % 2)"]),
    ];
    for (from, to, expected) in cases {
        let (sketch, node) = applied(&reshape(&to), std::slice::from_ref(&from));
        let at: Vec<Dim> = (0..to.len() as u32).map(|axis| Dim::sym(Sym(2 + axis))).collect();
        let result = sketch.graph.ty(node);
        let sources = reshape(&to).access(&sketch.graph.facts, &[&floats(&from)], result, &at).unwrap();
        let name = |Sym(i): Sym| match i {
            0 => "N".to_owned(),
            1 => "M".to_owned(),
            i => format!("t{}", i - 2),
        };
        let shown: Vec<String> = sources[0].index.iter().map(|index| index.show(&name).to_string()).collect();
        assert_eq!(shown, expected, "{from:?} to {to:?}");
    }
}

/// The sum of the products of all elements.
fn dot(a: &Value, b: &Value) -> f64 {
    assert_eq!(a.shape, b.shape);
    a.to_f64().iter().zip(b.to_f64()).map(|(a, b)| a * b).sum()
}

fn transpose(
    op: &Op,
    site: &mut Site,
    linear: &[bool],
    cotangent: NodeId,
) -> Result<Vec<Option<NodeId>>, Bug> {
    match op {
        Op::Broadcast(op) => op.transpose(site, linear, cotangent),
        Op::Permute(op) => op.transpose(site, linear, cotangent),
        Op::Reshape(op) => op.transpose(site, linear, cotangent),
        Op::Slice(op) => op.transpose(site, linear, cotangent),
        Op::Pad(op) => op.transpose(site, linear, cotangent),
        Op::Window(op) => op.transpose(site, linear, cotangent),
        Op::Concat(op) => op.transpose(site, linear, cotangent),
        _ => Err(Bug::new("test", "no movement")),
    }
}

#[test]
fn transposes_satisfy_the_dot_product_identity() {
    for (op, shapes) in movements() {
        for dims in SIZES {
            let env = Env { dims: &dims };
            let (forward, node) = applied(&op, &shapes);
            let result = forward.graph.ty(node).clone();
            let tangents = samples(&shapes, &env);
            let image = evaluate(forward, &[node], &dims, &tangents).remove(0);

            let mut types: Vec<Type> = shapes.iter().map(|shape| floats(shape)).collect();
            types.push(result.clone());
            let mut backward = Sketch::new(&types);
            let inputs: Vec<NodeId> = (0..shapes.len() as u32).map(|i| backward.input(i)).collect();
            let cotangent = backward.input(shapes.len() as u32);
            let node = backward.add(op.clone(), &inputs);
            let linear = vec![true; shapes.len()];
            let mut site =
                Site { graph: &mut backward.graph, node, inputs: &inputs, origin: Origin::default() };
            let cotangents: Vec<NodeId> =
                transpose(&op, &mut site, &linear, cotangent).unwrap().into_iter().flatten().collect();
            for (found, shape) in cotangents.iter().zip(&shapes) {
                assert_eq!(
                    &backward.graph.ty(*found).shape,
                    shape,
                    "the shape is the operand's exactly: {op:?}"
                );
            }
            let mut values = tangents.clone();
            values.push(sample(DType::F64, &env.shape(&result.shape).unwrap(), 99));
            let back = evaluate(backward, &cotangents, &dims, &values);
            let left = dot(&image, &values[shapes.len()]);
            let right: f64 = tangents.iter().zip(&back).map(|(t, c)| dot(t, c)).sum();
            // The samples are multiples of 1/8, so that both sums are exact.
            assert_eq!(left, right, "{op:?} of {shapes:?}, {dims:?}");
        }
    }
}

#[test]
fn ill_typed_operands_are_bugs_that_say_what_is_wrong() {
    let cases: Vec<(Op, Vec<Vec<Dim>>, &str)> = vec![
        (broadcast(&[m()], &[0]), vec![vec![n()]], "axis 0 of N is neither 1 nor M"),
        (broadcast(&[n(), m()], &[1, 0]), vec![vec![n(), m()]], "axes [1, 0] do not carry"),
        (broadcast(&[n()], &[1]), vec![vec![n()]], "axes [1] do not carry"),
        (permute(&[0, 0]), vec![vec![n(), m()]], "no permutation of 2 axes"),
        (reshape(&[n()]), vec![vec![m()]], "[M] and [N] have not as many elements"),
        (slice(&[(dim(0), 1, dim(4))]), vec![vec![dim(3)]], "leave an axis of extent 3"),
        (slice(&[(dim(0), -1, dim(2))]), vec![vec![dim(3)]], "leave an axis of extent 3"),
        (slice(&[]), vec![vec![n()]], "0 ranges for 1 axes"),
        (slice(&[(dim(0), 0, n())]), vec![vec![n()]], "by 0 leave an axis"),
        (pad(&[(dim(1), 0, dim(3))]), vec![vec![dim(3)], vec![]], "have no room in 3"),
        (pad(&[(dim(0), 1, dim(4))]), vec![vec![dim(3)], vec![]], "have no room in 4"),
        (pad(&[(dim(0), 0, n())]), vec![vec![n()], vec![n()]], "the fill is no scalar"),
        (Op::Concat(Concat { axis: 1 }), vec![vec![n()]], "no axis 1 in 1 axes"),
        (Op::Concat(Concat { axis: 0 }), vec![vec![n(), n()], vec![n(), m()]], "differ beside axis 0"),
        (Op::Concat(Concat { axis: 0 }), vec![], "no operands"),
        (permute(&[0]), vec![], "0 operands, not 1"),
        (window(0, 1, (1, 1), dim(3)), vec![vec![dim(4), dim(3)]], "window: 4 leaves an axis of extent 4"),
        (window(0, 0, (1, 1), dim(3)), vec![vec![dim(4), dim(3)]], "window: axes 0 and 0 of 2"),
        (window(0, 1, (0, 1), dim(3)), vec![vec![dim(4), dim(3)]], "stride and dilation are positive"),
        (overlay(0, 1, (1, 1), dim(4)), vec![vec![dim(2), dim(3)]], "a fill where it is inverse"),
    ];
    for (op, shapes, expected) in cases {
        let types: Vec<Type> = shapes.iter().map(|shape| floats(shape)).collect();
        let mut sketch = Sketch::new(&types);
        let operands: Vec<NodeId> = (0..shapes.len() as u32).map(|i| sketch.input(i)).collect();
        let found = sketch.graph.add(op.clone(), &operands, Origin::default()).unwrap_err();
        assert!(found.message.contains(expected), "{op:?}: {}", found.message);
    }
}
