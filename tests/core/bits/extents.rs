//! A constant, a symbol and a bounded symbol: the same bits.

use super::{Compiled, assert_equal};

/// Functions of the symbols `M`, `N` and `K`.
pub(super) const FUNCTIONS: [&str; 21] = [
    "pub fn chain<M, N, K>(x: f32[M, N], y: f32[N]) -> f32[M, N] { tanh(exp(x) * y + sin(x)) / (square(y) + 1.5) }",
    "pub fn rows<M, N, K>(x: f32[M, N]) -> (f32[M], f32[M], f32[M]) { (sum(x, axis = 1), prod(x + 1, axis = 1), max(x, axis = 1)) }",
    "pub fn columns<M, N, K>(x: f32[M, N]) -> (f32[N], f32[N]) { (sum(exp(x), axis = 0), min(x, axis = 0)) }",
    "pub fn whole<M, N, K>(x: f32[M, N], y: f64[M, N]) -> (f32, f64) { (sum(x), sum(y)) }",
    "pub fn outer<M, N, K>(x: f32[M, N, K]) -> (f32[N], f32[K], f32[M]) { (sum(x, axis = (0, 2)), sum(x, axis = (0, 1)), sum(x, axis = (1, 2))) }",
    "pub fn statistics<M, N, K>(x: f64[M, N]) -> (f64[M], f64[N], f64) { (var(x, axis = 1), std(x, axis = 0), mean(x)) }",
    "pub fn soft<M, N, K>(x: f32[M, N]) -> (f32[M, N], f32[M, N], f32[M]) { (softmax(x), log_softmax(x, axis = 0), logsumexp(x, axis = 1)) }",
    "pub fn norm_rows<M, N, K>(x: f32[M, N], g: f32[N], b: f32[N]) -> f32[M, N] { layer_norm(x, g, b) }",
    "pub fn product<M, N, K>(a: f32[M, K], b: f32[K, N]) -> f32[M, N] { a @ b }",
    "pub fn doubles<M, N, K>(a: f64[M, K], b: f64[K, N]) -> f64[M, N] { a @ b }",
    "pub fn turned<M, N, K>(a: f32[K, M], b: f32[N, K]) -> f32[M, N] { transpose(a) @ transpose(b) }",
    "pub fn layer<M, N, K>(a: f32[M, K], b: f32[K, N], c: f32[N]) -> f32[M, N] { relu(a @ b + c) }",
    "pub fn vectors<M, N, K>(a: f32[M, N], x: f32[N], y: f32[M]) -> (f32[M], f32[N], f32) { (a @ x, y @ a, x @ x) }",
    "pub fn batches<M, N, K>(a: f32[3, M, K], b: f32[3, K, N]) -> f32[3, M, N] { a @ b }",
    "pub fn gradient<M, N, K>(x: f32[M, K], w: f32[K, N]) -> (f32[K, N], f32[M, K]) { grad(sum(square(tanh(x @ w))), (w, x)) }",
    "pub fn norm_gradient<M, N, K>(x: f32[M, N], g: f32[N], dy: f32[M, N]) -> (f32[M, N], f32[N]) { vjp(layer_norm(x, g), (x, g), dy) }",
    "pub fn positions<M, N, K>(x: f32[M, N]) -> (f32[M], i64[N]) { (sum(x * arange(N), axis = 1), sum((x > 0) as i64, axis = 0)) }",
    "pub fn moved<M, N, K>(x: f32[M, N]) -> (f32[N + 2], f32) { (sum(pad(x, 1), axis = 0), sum(transpose(concat([x, x]))[.., ..;2])) }",
    "pub fn scattered<M, N, K>(t: f64[8, N], i: i64[M], w: f64[M, N]) -> f64[8, N] { grad(sum(t[i] * w), t) }",
    "pub fn orders<M, N, K>(x: f32[M, N], y: f64[M, N]) -> (i64[M, N], f64[M, N], i64[M, N]) { (argsort(x), sort(y), argsort(trunc(4 * x), axis = 0)) }",
    "pub fn matrices<M, N, K>(a: f64[N, N], b: f64[N, M]) -> (f64[N, N], f64[N, M], f64, f64[N, N]) { let p = a @ transpose(a) + eye(N); let d = sum(square(solve(p, b))); (cholesky(p), triangular_solve(p, b), det(a), grad(d, a)) }",
];

/// The head with constants in the place of the symbols, or with other bounds.
fn with(text: &str, sizes: &[(&str, i64)], bounds: Option<&str>) -> String {
    if let Some(bounds) = bounds {
        return text.replacen("<M, N, K>", bounds, 1);
    }
    let mut out = String::new();
    let mut rest = text.replacen("<M, N, K>", "", 1);
    while let Some(start) = rest.find(|c: char| c.is_alphabetic()) {
        let end = rest[start..]
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .map_or(rest.len(), |len| start + len);
        let word = &rest[start..end];
        out.push_str(&rest[..start]);
        match sizes.iter().find(|(symbol, _)| *symbol == word) {
            Some((_, size)) => out.push_str(&size.to_string()),
            None => out.push_str(word),
        }
        rest = rest[end..].to_owned();
    }
    out + &rest
}

#[test]
fn constants_and_symbols() {
    for text in FUNCTIONS {
        let symbolic = Compiled::new(text);
        for (m, n, k) in [
            (1, 1, 1),
            (3, 17, 5),
            (14, 32, 64),
            (5, 300, 3),
            (2, 0, 4),
            (70, 130, 9),
            (53, 530, 600),
            (9, 33, 40),
            (7, 20, 100),
        ] {
            let sizes = [("M", m), ("N", n), ("K", k)];
            let dims = symbolic.dims(&sizes);
            let inputs = symbolic.inputs(&dims);
            let constant = Compiled::new(&with(text, &sizes, None));
            for level in symbolic.levels() {
                let what = format!("{}, M = {m}, N = {n}, K = {k}, {level:?}", symbolic.function.name);
                let expected = symbolic.run(level, &dims, &inputs);
                assert_equal(&what, &constant.run(level, &[], &inputs), &expected);
            }
        }
    }
}

#[test]
fn bounds() {
    for text in FUNCTIONS {
        let free = Compiled::new(text);
        for bounds in ["<M: 1..=64, N: 1..=512, K: 2..=300>", "<M: 14..=14, N: 16.., K: 5..=5>"] {
            let bounded = Compiled::new(&with(text, &[], Some(bounds)));
            let sizes = [("M", 14), ("N", 300), ("K", 5)];
            let dims = free.dims(&sizes);
            let inputs = free.inputs(&dims);
            for level in free.levels() {
                let what = format!("{}, {bounds}, {level:?}", free.function.name);
                assert_equal(&what, &bounded.run(level, &dims, &inputs), &free.run(level, &dims, &inputs));
            }
        }
    }
}

/// Folds of rows, of each kind, and what is made of rows that are folded more than once.
const ROWS: [&str; 3] = [
    "pub fn folds<M, N, K>(x: f32[M, N], y: f32[M, N]) -> (f32[M], f32[M], f32[M], f32[M], bool[M]) { (sum(x * y, axis = 1), sum(x, axis = 1), max(x, axis = 1), prod(x + 1, axis = 1), any(x > y, axis = 1)) }",
    "pub fn doubles<M, N, K>(x: f64[M, N], y: f64[N]) -> (f64[M], f64[M, N]) { (x @ y, vjp(softmax(x), x, x * y)) }",
    "pub fn norms<M, N, K>(x: f32[M, N], g: f32[N], dy: f32[M, N]) -> (f32[M, N], f32[M, N], f32[N]) { let y = layer_norm(x, g); let (dx, dg) = vjp(y, (x, g), dy); (y, dx, dg) }",
];

#[test]
fn rows_of_few_registers() {
    for text in ROWS {
        let symbolic = Compiled::new(text);
        for n in [1, 2, 3, 4, 5, 8, 9, 16, 17, 24, 32, 33, 40, 41, 48, 49, 63, 64, 65, 80, 81, 96] {
            let sizes = [("M", 3), ("N", n), ("K", 1)];
            let dims = symbolic.dims(&sizes);
            let inputs = symbolic.inputs(&dims);
            let constant = Compiled::new(&with(text, &sizes, None));
            for level in symbolic.levels() {
                let what = format!("{}, N = {n}, {level:?}", symbolic.function.name);
                let expected = symbolic.run(level, &dims, &inputs);
                assert_equal(&what, &constant.run(level, &[], &inputs), &expected);
            }
        }
    }
}

#[test]
fn words_are_replaced_whole() {
    let text = "fn f<M, N, K>(x: f32[M, N2], MN: K) { N + M }";
    let sizes = [("M", 3), ("N", 4), ("K", 5)];
    assert_eq!(with(text, &sizes, None), "fn f(x: f32[3, N2], MN: 5) { 4 + 3 }");
}
