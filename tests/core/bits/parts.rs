//! A function whose nests are parts that it calls has the bits of the whole.

use super::{Compiled, assert_equal};
use crate::support;

const FUNCTIONS: [&str; 12] = [
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
    // Layers whose strips are equal, with attention in them, and their gradients.
    "pub fn attention<B, N>(x: f32[B, N, 4], w: f32[3, 4, 12]) -> (f32, f32[3, 4, 12]) {
        let mut h = x;
        for layer in 0..3 {
            let u = h @ w[layer];
            let scores = u[.., 0..4] @ transpose(u[.., 4..8], (0, 2, 1));
            h = h + softmax(scores) @ u[.., 8..12];
        }
        let loss = mean(square(h)) / ((B * N) as f32 + 1);
        (loss, grad(loss, w))
    }",
    // Layers of one weight, whose operands are the same array twice.
    "pub fn recurrent<B, N>(x: f32[B, 3, N], w: f32[N, N]) -> f32[B, 3, N] {
        let mut h = x;
        for layer in 0..4 {
            h = tanh(softmax(h @ permute(h, (0, 2, 1))) @ h + h @ w);
        }
        h
    }",
    // Layers that read states and write them: alike, and with the states exchanged.
    "pub fn caches<B, N>(x: f32[B, 3, N], k: &mut f32[B, 3, N], v: &mut f32[B, 3, N]) -> f32[B, 3, N] {
        let first = x + softmax(x @ permute(k, (0, 2, 1))) @ k;
        let old = k;
        k = first * 0.5;
        let second = first + softmax(first @ permute(v, (0, 2, 1))) @ v;
        v = second * 0.5;
        let third = second + softmax(second @ permute(k, (0, 2, 1))) @ old;
        k = third * 0.5;
        third + softmax(third @ permute(v, (0, 2, 1))) @ k
    }",
    // Equal layers but for one constant, one extent, or the place that a result has.
    "pub fn unlike<B, N>(x: f32[B, N, 4], w: f32[4, 4], v: f32[5, 4]) -> (f32[B, N, 4], f32[B, N, 4], f32[B, N, 4]) {
        let a = softmax(x @ permute(x, (0, 2, 1))) @ x * 0.5;
        let b = softmax(a @ permute(a, (0, 2, 1))) @ a * 0.25;
        let c = softmax(b @ permute(b, (0, 2, 1))) @ a * 0.5;
        let d = softmax(c @ permute(c, (0, 2, 1))) @ c * 0.5;
        (a, d + d @ transpose(v)[.., 0..4], softmax(b @ permute(x, (0, 2, 1))) @ (d @ w) * 0.5)
    }",
    // Sums in several blocks of terms, between which they stand in a state, in a result, or apart.
    "pub fn blocks<B, N>(x: &mut f32[B, 600], y: &mut f32[B, 600], w: f32[600, 600], v: f32[600, 600], g: f32[N]) -> (f32[B, 600], f32[N]) {
        let a = x @ transpose(w) + y;
        x = tanh(a);
        let b = a @ transpose(v) + x;
        y = b;
        (b @ transpose(w) + y, g * sum(b))
    }",
    // Equal nests on one memory, read and written in turn.
    "pub fn turns<B, N>(x: &mut f32[B, N], y: &mut f32[B, N], w: f32[N, N]) -> f32[N] {
        for turn in 0..3 {
            x = y @ w;
            y = tanh(x @ w) + x;
        }
        sum(x + y, axis = 0)
    }",
    // States, with values that are saved before they are overwritten.
    "pub fn states<B, N>(x: f32[B, N], m: &mut f32[N], v: &mut f32[N]) -> f32[N] { let old = m; m = v + sum(x, axis = 0); v = old; m * v }",
    "pub fn scattered<B, N>(x: f64[8, N], i: i64[B], w: f64[B, N]) -> f64[8, N] { grad(sum(x[i] * w * w), x) }",
];

#[test]
fn in_parts_or_whole() {
    for text in FUNCTIONS {
        let [whole, parts] =
            [support::compile_whole, support::compile_in_parts].map(|how| Compiled::by(text, how));
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
