//! Sums have the order that `docs/numerics.md` defines: the bits of the same sums taken one by one here.

use tensorjit_core::graph::value::Value;
use tensorjit_runtime::abi::Level;

use super::Compiled;

/// Terms of a chain of a product whose sums have so many.
fn chain(terms: usize) -> usize {
    if terms <= 64 { 32 } else { 128 }
}

fn float(value: &Value, index: usize) -> f32 {
    value.elements[index].float() as f32
}

/// Chains of fused multiply-adds, added in turn.
fn sum_of_products(terms: &[(f32, f32)]) -> f32 {
    let sum = |chain: &[(f32, f32)]| chain.iter().fold(0.0, |sum, (a, b)| a.mul_add(*b, sum));
    let chains = terms.chunks(chain(terms.len())).map(sum);
    chains.reduce(|total, chain| total + chain).unwrap_or(0.0)
}

/// Runs of 16 in blocks of 256, each from zero and added in turn.
fn sum_of_elements(elements: &[f32]) -> f32 {
    let add = |total: f32, x: f32| total + x;
    let run = |run: &[f32]| run.iter().copied().fold(0.0, add);
    let block = |block: &[f32]| block.chunks(16).map(run).fold(0.0, add);
    elements.chunks(256).map(block).fold(0.0, add)
}

/// Levels that fuse.
fn levels(compiled: &Compiled) -> impl Iterator<Item = Level> {
    compiled.levels().into_iter().filter(|level| *level != Level::X86V2)
}

fn assert_bits(what: &str, found: &Value, expected: &[f32]) {
    assert_eq!(found.elements.len(), expected.len(), "{what}");
    for (index, expected) in expected.iter().enumerate() {
        let found = float(found, index);
        assert_eq!(
            found.to_bits(),
            expected.to_bits(),
            "{what}, element {index}: {found:e}, not {expected:e}"
        );
    }
}

#[test]
fn products() {
    let product = Compiled::new("pub fn product<M, K, N>(a: f32[M, K], b: f32[K, N]) -> f32[M, N] { a @ b }");
    for (m, n) in [(1, 40), (5, 3), (15, 33), (60, 150)] {
        for k in [0, 1, 32, 33, 64, 65, 128, 129, 300, 512, 513, 700] {
            let dims = product.dims(&[("M", m), ("K", k), ("N", n)]);
            let inputs = product.inputs(&dims);
            let (n, k) = (n as usize, k as usize);
            let element = |i: usize| {
                let (row, column) = (i / n, i % n);
                let term = |t: usize| (float(&inputs[0], row * k + t), float(&inputs[1], t * n + column));
                sum_of_products(&(0..k).map(term).collect::<Vec<_>>())
            };
            let expected: Vec<f32> = (0..m as usize * n).map(element).collect();
            for level in levels(&product) {
                let what = format!("{m} x {k} x {n}, {level:?}");
                assert_bits(&what, &product.run(level, &dims, &inputs)[0], &expected);
            }
        }
    }
}

/// Chains go on from one summed axis to the next, also where no access takes both for one.
#[test]
fn products_over_two_axes() {
    let gradient = Compiled::new(
        "pub fn gradient<T, B, N>(x: f32[B, T, N], dy: f32[T, B, 9], w: f32[N, 9]) -> f32[N, 9] { \
         vjp(permute(x, (1, 0, 2)) @ w, w, dy) }",
    );
    for (t, b, n) in [(3, 5, 4), (7, 50, 20), (50, 7, 3), (2, 300, 20), (150, 1, 60), (128, 2, 9)] {
        let dims = gradient.dims(&[("T", t), ("B", b), ("N", n)]);
        let inputs = gradient.inputs(&dims);
        let (t, b, n) = (t as usize, b as usize, n as usize);
        let element = |i: usize| {
            let (row, column) = (i / 9, i % 9);
            let term = |k: usize| {
                let (at, batch) = (k / b, k % b);
                (float(&inputs[0], (batch * t + at) * n + row), float(&inputs[1], k * 9 + column))
            };
            sum_of_products(&(0..t * b).map(term).collect::<Vec<_>>())
        };
        let expected: Vec<f32> = (0..n * 9).map(element).collect();
        for level in levels(&gradient) {
            let what = format!("{t} and {b} terms, {n} x 9, {level:?}");
            assert_bits(&what, &gradient.run(level, &dims, &inputs)[0], &expected);
        }
    }
}

/// Sums over a leading axis: alone, and beside other work on the same rows.
#[test]
fn columns() {
    let functions = [
        "pub fn alone<M, N>(x: f32[M, N]) -> f32[N] { sum(x, axis = 0) }",
        "pub fn beside<M, N>(x: f32[M, N]) -> (f32[N], f32[M, N]) { (sum(x, axis = 0), softmax(x)) }",
    ];
    for text in functions {
        let function = Compiled::new(text);
        for (m, n) in [(0, 3), (15, 1), (16, 40), (17, 140), (256, 9), (257, 33), (800, 21)] {
            let dims = function.dims(&[("M", m), ("N", n)]);
            let inputs = function.inputs(&dims);
            let (m, n) = (m as usize, n as usize);
            let column = |column: usize| {
                sum_of_elements(&(0..m).map(|row| float(&inputs[0], row * n + column)).collect::<Vec<_>>())
            };
            let expected: Vec<f32> = (0..n).map(column).collect();
            for level in function.levels() {
                let what = format!("{}, {m} x {n}, {level:?}", function.function.name);
                assert_bits(&what, &function.run(level, &dims, &inputs)[0], &expected);
            }
        }
    }
}
