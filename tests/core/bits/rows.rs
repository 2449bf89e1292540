//! Rows that are computed alone have the bits of rows that are computed together, and so have columns.

use tensorjit_core::dim::{Dim, Sym};
use tensorjit_core::graph::value::Value;

use super::{Compiled, assert_equal, axis_of, take};

/// Functions of which each index along the axes of extent `B` is on its own.
const FUNCTIONS: [&str; 15] = [
    "pub fn chain<B, N>(x: f32[B, N], y: f32[N]) -> f32[B, N] { tanh(x) * y + sin(x) }",
    "pub fn sums<B, N>(x: f32[B, N]) -> (f32[B], f32[B], i64[B]) { (sum(x, axis = 1), prod(x + 1, axis = 1), sum((x > 0) as i64, axis = 1)) }",
    "pub fn soft<B, N>(x: f32[B, N]) -> (f32[B, N], f32[B]) { (softmax(x), logsumexp(x, axis = 1)) }",
    "pub fn norms<B, N>(x: f32[B, N], g: f32[N], b: f32[N]) -> f32[B, N] { layer_norm(x, g, b) }",
    "pub fn layers<B, N>(x: f32[B, N], v: f32[N, 20], w: f32[20, 7]) -> f32[B, 7] { relu(x @ v) @ w }",
    "pub fn wide<B, N>(x: f64[B, N], v: f64[N, 33]) -> f64[B, 33] { x @ v }",
    "pub fn wider<B, N>(x: f32[B, N], v: f32[N, 140]) -> f32[B, 140] { x @ v + 1 }",
    "pub fn vectors<B, N>(x: f32[B, N], v: f32[N]) -> f32[B] { x @ v }",
    "pub fn inner<B, N>(x: f32[B, N], y: f32[B, N]) -> f32[B] { sum(x * y, axis = 1) }",
    "pub fn gradient<B, N>(x: f32[B, N], w: f32[N, 9], dy: f32[B, 9]) -> f32[B, N] { vjp(tanh(x @ w), x, dy) }",
    "pub fn norm_gradient<B, N>(x: f32[B, N], dy: f32[B, N]) -> f32[B, N] { vjp(layer_norm(x), x, dy) }",
    "pub fn batches<B, N>(a: f32[B, 3, N], b: f32[B, N, 5]) -> f32[B, 3, 5] { a @ b }",
    // Columns.
    "pub fn columns<B, N>(x: f32[N, B], y: f32[B]) -> (f32[B], f32[B], f32[N, B]) { (sum(x, axis = 0), max(x, axis = 0) * y, cos(x) - y) }",
    "pub fn right<B, N>(a: f32[70, N], b: f32[N, B]) -> f32[70, B] { a @ b }",
    "pub fn middle<B, N>(x: f64[3, B, N]) -> (f64[3, B], f64[B, N], f64[B]) { (sum(x, axis = 2), sum(x, axis = 0), sum(x, axis = (0, 2))) }",
];

#[test]
fn alone_or_together() {
    for text in FUNCTIONS {
        let function = Compiled::new(text);
        for (b, n) in [(5, 1), (33, 17), (3, 300), (130, 9)] {
            hold(&function, (b, n), 0..b);
        }
    }
}

#[test]
fn near_or_far() {
    let text = "pub fn sums<B, N>(x: f32[B, N], y: f64[B, N]) -> (f32[B], f64[B]) { (sum(x, axis = 1), sum(y, axis = 1)) }";
    hold(&Compiled::new(text), (2113, 1021), [0, 1057, 2112]);
}

/// Holds rows computed alone against the same of all rows.
fn hold(function: &Compiled, (b, n): (i64, i64), indices: impl IntoIterator<Item = i64> + Clone) {
    let symbol = Dim::sym(Sym(0));
    assert_eq!(function.function.graph.facts.symbols[0].name, "B");
    let dims = function.dims(&[("B", b), ("N", n)]);
    let alone = function.dims(&[("B", 1), ("N", n)]);
    let inputs = function.inputs(&dims);
    for level in function.levels() {
        let together = function.run(level, &dims, &inputs);
        for index in indices.clone() {
            let pick = |shape: &[Dim], value: &Value| match axis_of(shape, &symbol) {
                Some(axis) => take(value, axis, index as usize),
                None => value.clone(),
            };
            let params = function.function.params.iter().zip(&inputs);
            let own: Vec<Value> = params.map(|(param, value)| pick(&param.shape, value)).collect();
            let results = function.function.results.iter().zip(&together);
            let expected: Vec<Value> = results.map(|((_, ty), value)| pick(&ty.shape, value)).collect();
            let what = format!("{}, {index} of {b}, N = {n}, {level:?}", function.function.name);
            assert_equal(&what, &function.run(level, &alone, &own), &expected);
        }
    }
}
