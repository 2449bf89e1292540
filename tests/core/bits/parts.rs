//! A function whose nests are parts that it calls has the bits of the whole.

use super::{Compiled, assert_equal};
use crate::support;

const FUNCTIONS: [&str; 6] = [
    // Three layers, of which two are equal.
    "pub fn layers<B, N>(x: f32[B, N], u: f32[N, N], v: f32[N, N], w: f32[N, 3], b: f32[N]) -> f32[B, 3] { relu(relu(x @ u + b) @ v + b) @ w }",
    "pub fn gradients<B, N>(x: f32[B, N], v: f32[N, N], w: f32[N, N]) -> (f32, f32[N, N], f32[N, N]) {
        let loss = mean(square(tanh(x @ v) @ w)) / ((B * N) as f32 + 1);
        let (dv, dw) = grad(loss, (v, w));
        (loss, dv, dw)
    }",
    "pub fn norms<B, N>(x: f32[B, N], g: f32[N], c: f32[N], ct: f32[B, N]) -> (f32[B, N], f32[N], f32[N]) { vjp(softmax(layer_norm(x, g, c)), (x, g, c), ct) }",
    // Scalars that cross nests.
    "pub fn totals<B, N>(x: f64[B, N], scale: f64) -> (f64, f64[N]) { let t = sum(x) * scale; (t, sum(x, axis = 0) / (t + 10)) }",
    // States, with values that are saved before they are overwritten.
    "pub fn states<B, N>(x: f32[B, N], m: &mut f32[N], v: &mut f32[N]) -> f32[N] { let old = m; m = v + sum(x, axis = 0); v = old; m * v }",
    "pub fn scattered<B, N>(x: f64[8, N], i: i64[B], w: f64[B, N]) -> f64[8, N] { grad(sum(x[i] * w * w), x) }",
];

#[test]
fn in_parts_or_whole() {
    for text in FUNCTIONS {
        let (whole, parts) = (Compiled::new(text), Compiled::by(text, support::compile_in_parts));
        for (b, n) in [(1, 1), (3, 37), (17, 16), (0, 5), (40, 130)] {
            let dims = whole.dims(&[("B", b), ("N", n)]);
            let inputs = whole.inputs(&dims);
            for level in whole.levels() {
                let what = format!("{}, B = {b}, N = {n}, {level:?}", whole.function.name);
                assert_equal(&what, &parts.run(level, &dims, &inputs), &whole.run(level, &dims, &inputs));
            }
        }
    }
}
