//! Work that is cut into tasks has the bits of work that is not, whoever runs the tasks and in whatever order.

use tensorjit_core::schedule::tasks::Grain;
use tensorjit_core::testing::{Side, crew};

use super::{Compiled, assert_equal};

/// Functions with every form of nest.
const FUNCTIONS: [&str; 25] = [
    "pub fn flat<M, N>(x: f32[M, N], y: f32[M, N]) -> f32[M, N] { tanh(x) * y + 1 }",
    "pub fn spread<M, N>(x: f32[M, N], b: f32[N], c: f32[M, 1]) -> f32[M, N] { x * b + c }",
    "pub fn turned<M, N>(x: f32[M, N]) -> f32[N, M] { permute(x, (1, 0)) * 2 }",
    "pub fn truths<M, N>(x: f32[M, N], y: f32[M, N]) -> (bool[M, N], i64[M, N]) { (x < y, (x > y) as i64) }",
    "pub fn batched<M, N>(x: f64[3, M, N], b: f64[M, 1]) -> (f64[3, M, N], f64[3, M]) { let y = sin(x) * b; (y, sum(y, axis = 2)) }",
    "pub fn soft<M, N>(x: f32[M, N]) -> (f32[M, N], f32[M]) { (softmax(x), logsumexp(x, axis = 1)) }",
    "pub fn norm<M, N>(x: f32[M, N], g: f32[N], b: f32[N], dy: f32[M, N]) -> (f32[M, N], f32[N], f32[N]) { vjp(layer_norm(x, g, b), (x, g, b), dy) }",
    "pub fn deep<M, N>(x: f32[2, M, N], g: f32[N], b: f32[N], dy: f32[2, M, N]) -> (f32[2, M, N], f32[N], f32[N]) { vjp(layer_norm(x, g, b), (x, g, b), dy) }",
    "pub fn columns<M, N>(x: f32[M, N]) -> (f32[N], f32[N]) { (sum(x, axis = 0), max(x, axis = 0)) }",
    "pub fn total<M, N>(x: f32[M, N], y: f32[M, N]) -> (f32, f32, f32) { (sum(x * y), max(x), sum(tanh(x))) }",
    "pub fn most<M: 1.., N: 1..>(x: f32[M, N]) -> (i64[M], i64[N]) { (argmax(x, axis = 1), argmin(x, axis = 0)) }",
    "pub fn step<M, N>(x: f32[M, N], v: f32[N, 140], b: f32[140]) -> f32[M, 140] { relu(x @ v + b) }",
    "pub fn turned_step<M, N>(x: f32[N, M], v: f32[160, N]) -> f32[M, 160] { permute(x, (1, 0)) @ permute(v, (1, 0)) + 1 }",
    "pub fn batches<M, N>(a: f32[5, M, N], b: f32[5, 150, N]) -> f32[5, M, 150] { a @ permute(b, (0, 2, 1)) }",
    "pub fn fixed<M, N>(x: f32[M, N], a: f32[130, 140], b: f32[140, 170]) -> (f32[130, 170], f32[M, N]) { (a @ b, x + 1) }",
    "pub fn learn<M, N>(x: f32[M, N], w: f32[N, 150], b: f32[150]) -> (f32, f32[N, 150], f32[150]) { let e = tanh(x @ w + b); let l = sum(e * e); (l, grad(l, w), grad(l, b)) }",
    "pub fn attend<M, N>(q: f32[3, M, 9], k: f32[3, N, 9], v: f32[3, N, 5], d: f32[3, M, 5]) -> (f32[3, M, 5], f32[3, M, 9], f32[3, N, 9], f32[3, N, 5]) where N >= 1 { let y = softmax(q @ permute(k, (0, 2, 1))) @ v; let (a, b, c) = vjp(y, (q, k, v), d); (y, a, b, c) }",
    "pub fn heads<M, N>(q: f32[2, 3, M, 24], k: f32[2, 3, N, 24], v: f32[2, 3, N, 24], d: f32[2, 3, M, 24]) -> (f32, f32[2, 3, M, 24], f32[2, 3, N, 24], f32[2, 3, N, 24]) where N >= 1 { let y = softmax(q @ permute(k, (0, 1, 3, 2))) @ v; let l = sum(y * d); let (a, b, c) = grad(l, (q, k, v)); (l, a, b, c) }",
    "pub fn chain<M, N>(a: f32[4, M, N], b: f32[4, N, 7], c: f32[4, M, 7]) -> f32[4, 7, 7] { permute(tanh(a @ b), (0, 2, 1)) @ c }",
    "pub fn steps<M, N>(x: f32[3, M, N], w: f32[N, 130], u: f32[130, 130], h: f32[M, 130]) -> (f32[M, 130], f32[3, M, 130]) { scan(h, x, |h, x| { let n = tanh(h @ u + x @ w); (n, n) }) }",
    "pub fn steps_back<M, N>(x: f32[3, M, N], w: f32[N, 130], u: f32[130, 130], h: f32[M, 130]) -> (f32[3, M, N], f32[N, 130], f32[130, 130], f32[M, 130]) { let y = fold(h, x, |h, x| softmax(h @ u + x @ w)); grad(sum(y * y), (x, w, u, h)) }",
    "pub fn while_small<M, N>(x: f32[M, N], r: f32[M, N]) -> (f32[M, N], f32[M, N]) { let y = while_loop(x, |x| sum(abs(x)) < 1000000, |x| 2 * x + r, max = 5); (y, grad(sum(y), r)) }",
    "pub fn sides<M, N>(x: f32[M, N], y: f32[M, N], c: bool) -> (f32[M, N], f32[M, N]) { let z = if c { tanh(x) * y } else { x + y }; (z, grad(sum(z), x)) }",
    "pub fn state<M, N>(x: &mut f32[M, N], y: f32[M, N]) -> f32 { x = 0.9 * x + y; sum(x) }",
    "pub fn matrices<M, N>(a: f32[M, 3, 3], b: f32[M, 3, N]) -> (f32[M, 3, 3], f32[M, 3, N], f32[M, 3, N], f32[M], f32[M, 3, 3]) { let p = a @ permute(a, (0, 2, 1)) + eye(3); let d = det(a); (cholesky(p), solve(p, b), triangular_solve(p, b, lower = false), d, grad(sum(d), a)) }",
];

/// Tasks of single units, and tasks as real ones, of work that is small; results past the caches, all or the larger.
const GRAINS: [Grain; 2] =
    [Grain { group: 0, task: 1, cache: 0 }, Grain { group: 20_000, task: 50_000, cache: 20_000 }];

/// Around the ends of pieces, rows, blocks and tiles, and of the most tasks.
const SIZES: [(i64, i64); 8] =
    [(1, 1), (2, 129), (63, 40), (65, 128), (130, 257), (600, 35), (70, 1040), (128, 130)];

#[test]
fn tasks_change_no_bit() {
    for text in FUNCTIONS {
        let whole = Compiled::new(text);
        let cut = GRAINS.map(|grain| Compiled::with_grain(text, grain));
        for (m, n) in SIZES {
            let dims = whole.dims(&[("M", m), ("N", n)]);
            let inputs = whole.inputs(&dims);
            for level in whole.levels() {
                let expected = whole.run(level, &dims, &inputs);
                for (number, (name, host)) in crew::ALL.iter().enumerate() {
                    let (cut, side) = (&cut[number % 2], [Side::Front, Side::Back][number / 2 % 2]);
                    let found = cut.program.run_on(host, level, &dims, &inputs, side).expect("it runs");
                    let what = format!("{}, M = {m}, N = {n}, {level:?}, {name}", whole.function.name);
                    assert_equal(&what, &found, &expected);
                }
            }
        }
    }
}

/// The test above is one of tasks: functions ask their hosts.
#[test]
fn every_nest_is_cut() {
    unsafe extern "C" fn refuse(
        _: *const tensorjit_runtime::abi::Host,
        _: i64,
        _: *mut u8,
        _: unsafe extern "C" fn(*mut u8, i64),
    ) {
    }
    let lazy = tensorjit_runtime::abi::Host { parallel_for: refuse };
    for text in FUNCTIONS {
        let cut = Compiled::with_grain(text, GRAINS[0]);
        let dims = cut.dims(&[("M", 600), ("N", 300)]);
        let inputs = cut.inputs(&dims);
        let level = cut.levels()[0];
        let done = cut.run(level, &dims, &inputs);
        // What no task has written may be no value at all.
        let undone = cut.program.run_on(&lazy, level, &dims, &inputs, Side::Front).unwrap_or_default();
        let same = done.len() == undone.len()
            && done.iter().zip(&undone).all(|(a, b)| super::bits(a) == super::bits(b));
        // Only a fold of everything by itself is one task.
        assert!(!same || cut.function.name == "total", "{}: nothing is left to the host", cut.function.name);
    }
}
