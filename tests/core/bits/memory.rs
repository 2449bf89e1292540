//! What is fused with what does not change a bit, nor do movement and repeated use: a value that is handed on in
//! registers, one that is stored as well, and one that comes from memory give the same.

use super::{Compiled, assert_equal};

/// A value and what is made of it.
struct Step {
    generics: &'static str,
    params: &'static str,
    /// The value, of the parameters, and its type.
    value: (&'static str, &'static str),
    /// What is made of `y` and the parameters, and its type.
    made: (&'static str, &'static str),
}

const fn step(
    generics: &'static str,
    params: &'static str,
    value: (&'static str, &'static str),
    made: (&'static str, &'static str),
) -> Step {
    Step { generics, params, value, made }
}

const STEPS: [Step; 24] = [
    // Producers of folds.
    step("<M, N>", "x: f32[M, N]", ("exp(x)", "f32[M, N]"), ("sum(y, axis = 1)", "f32[M]")),
    step("<M, N>", "x: f32[M, N], w: f32[N]", ("x * w", "f32[M, N]"), ("sum(y, axis = 1)", "f32[M]")),
    step("<M, N>", "x: f32[M, N], w: f32[N]", ("x * w", "f32[M, N]"), ("sum(y, axis = 0)", "f32[N]")),
    step("<M, N>", "x: f64[M, N]", ("square(x)", "f64[M, N]"), ("sum(y)", "f64")),
    step("<M, N>", "x: f32[M, N]", ("tanh(x)", "f32[M, N]"), ("prod(y, axis = 1)", "f32[M]")),
    // Folds and what comes after them.
    step(
        "<M, N>",
        "x: f32[M, N]",
        ("sum(x, axis = 1, keepdims = true)", "f32[M, 1]"),
        ("x / y", "f32[M, N]"),
    ),
    step(
        "<M, N>",
        "x: f32[M, N]",
        ("mean(x, axis = 0)", "f32[N]"),
        ("sum(square(x - y), axis = 0)", "f32[N]"),
    ),
    step("<M, N>", "x: f32[M, N]", ("softmax(x)", "f32[M, N]"), ("sum(y * y, axis = 1)", "f32[M]")),
    step(
        "<M, N>",
        "x: f32[M, N]",
        ("max(x, axis = 1)", "f32[M]"),
        ("sum(exp(x - expand_dims(y, axis = 1)), axis = 1)", "f32[M]"),
    ),
    // Values used again elsewhere, computed anew or not.
    step(
        "<M, N>",
        "x: f32[M, N]",
        ("sin(x)", "f32[M, N]"),
        ("softmax(y) + transpose(transpose(y))", "f32[M, N]"),
    ),
    step(
        "<M, N>",
        "x: f32[M, N]",
        ("erf(x)", "f32[M, N]"),
        ("sum(y, axis = 1) + sum(square(y), axis = 1)", "f32[M]"),
    ),
    // Products.
    step("<M, N>", "x: f32[M, N], w: f32[N, M]", ("x @ w", "f32[M, M]"), ("relu(y + 1)", "f32[M, M]")),
    step("<M, N>", "x: f32[M, N], w: f32[N, M]", ("relu(x @ w)", "f32[M, M]"), ("y @ x", "f32[M, N]")),
    step("<M, N>", "x: f32[M, N], w: f32[N, M]", ("exp(x)", "f32[M, N]"), ("y @ w", "f32[M, M]")),
    step("<M, N>", "x: f32[M, N], w: f32[N]", ("exp(x)", "f32[M, N]"), ("y @ w", "f32[M]")),
    step("<M, N>", "x: f32[M, N], w: f32[N]", ("x @ w", "f32[M]"), ("y / sum(y)", "f32[M]")),
    // Movement.
    step("<M, N>", "x: f32[M, N]", ("transpose(x)", "f32[N, M]"), ("sum(y, axis = 1)", "f32[N]")),
    step("<M, N>", "x: f32[M, N]", ("transpose(x)", "f32[N, M]"), ("sum(y, axis = 0)", "f32[M]")),
    step("<M, N>", "x: f32[M, N]", ("reshape(x, [N, M])", "f32[N, M]"), ("sum(y, axis = 1)", "f32[N]")),
    step(
        "<M, N>",
        "x: f32[M, N]",
        ("concat([x, flip(x)], axis = 1)", "f32[M, 2 * N]"),
        ("sum(y, axis = 1)", "f32[M]"),
    ),
    step(
        "<M, N>",
        "x: f32[M, N]",
        ("pad(x, [(0, 0), (3, 5)])", "f32[M, N + 8]"),
        ("sum(y, axis = 1)", "f32[M]"),
    ),
    step("<M, N>", "v: f32[N]", ("broadcast_to(v, [5, N])", "f32[5, N]"), ("sum(y, axis = 0)", "f32[N]")),
    step("<M, N>", "x: f32[M, N], w: f32[M, N]", ("transpose(w)", "f32[N, M]"), ("x @ y", "f32[M, M]")),
    step("<M, N>", "x: f32[M, N]", ("transpose(x)", "f32[N, M]"), ("softmax(y)", "f32[N, M]")),
];

#[test]
fn fused_or_not() {
    for Step { generics, params, value, made } in &STEPS {
        let ((value, value_ty), (made, made_ty)) = (value, made);
        let alone = Compiled::new(&format!(
            "pub fn alone{generics}({params}) -> {made_ty} {{ let y = {value}; {made} }}"
        ));
        let both = Compiled::new(&format!(
            "pub fn both{generics}({params}) -> ({made_ty}, {value_ty}) {{ let y = {value}; ({made}, y) }}"
        ));
        let from_memory =
            Compiled::new(&format!("pub fn f{generics}({params}, y: {value_ty}) -> {made_ty} {{ {made} }}"));
        for (m, n) in [(1, 1), (3, 37), (17, 16), (2, 600), (130, 70)] {
            let dims = alone.dims(&[("M", m), ("N", n)]);
            let mut inputs = alone.inputs(&dims);
            for level in alone.levels() {
                let what = format!("y = {value}; {made}, M = {m}, N = {n}, {level:?}");
                let expected = alone.run(level, &dims, &inputs);
                let stored = both.run(level, &dims, &inputs);
                assert_equal(&format!("{what}: stored too"), &stored[..1], &expected);
                inputs.push(stored[1].clone());
                assert_equal(
                    &format!("{what}: from memory"),
                    &from_memory.run(level, &dims, &inputs),
                    &expected,
                );
                inputs.pop();
            }
        }
    }
}

/// Two results with equal expressions, and the same twice over.
#[test]
fn duplicates() {
    let text = "pub fn f<M, N>(x: f32[M, N], w: f32[N, M]) -> (f32[M], f32[M], f32[M, M], f32[M, M], f32) {
        let e = exp(x);
        let twice = exp(x);
        (sum(e, axis = 1), sum(twice, axis = 1), e @ w, exp(x) @ w, sum(sum(e, axis = 1) - sum(twice, axis = 1)))
    }";
    let function = Compiled::new(text);
    for (m, n) in [(1, 1), (5, 37), (17, 300)] {
        let dims = function.dims(&[("M", m), ("N", n)]);
        for level in function.levels() {
            let results = function.run(level, &dims, &function.inputs(&dims));
            assert_equal("sums", &results[..1], &results[1..2]);
            assert_equal("products", &results[2..3], &results[3..4]);
            assert_eq!(results[4].to_f64(), [0.0]);
        }
    }
}
