//! The same text gives the same object, byte for byte.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::Command;

use tensorjit_core::codegen::{self, Visibility, targets};
use tensorjit_core::pipeline::prepare;
use tensorjit_core::testing::states;

use crate::support;

const FUNCTIONS: [&str; 4] = [
    "pub fn soft<B, N>(x: f32[B, N], dy: f32[B, N]) -> (f32[B, N], f32[B, N]) { let y = softmax(x); (y, vjp(y, x, dy)) }",
    "pub fn layers<B, I, H, O: 1..>(x: f32[B, I], l: i64[B], v: f32[I, H], w: f32[H, O]) -> (f32, f32[I, H], f32[H, O]) {
        let loss = cross_entropy(relu(x @ v) @ w, l);
        let (dv, dw) = grad(loss, (v, w));
        (loss, dv, dw)
    }",
    "pub fn adam<N>(p: &mut f64[N], m: &mut f64[N], v: &mut f64[N], g: f64[N]) {
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        p = p - 0.01 * m / (sqrt(v) + 1e-8);
    }",
    "pub fn many<N>(x: f64[N]) -> (f64[N], f64[N], f64) { (pow(x, x) + erf(x), atan2(sin(x), cos(x)), prod(flip(x))) }",
];

/// The objects of a text for every level, levels that this machine lacks too.
fn objects(text: &str) -> Vec<Vec<u8>> {
    let targets = targets("x86_64-unknown-linux-gnu", None).expect("the target exists");
    let function = support::function(text).unwrap_or_else(|message| panic!("{message}\n{text}"));
    let prepared =
        prepare(function.graph.clone(), &states(&function), &mut |_, _, _| {}).expect("it compiles");
    let lowered = prepared.lower(&targets, &mut |_, _, _| {}).expect("it has loops");
    let batches: Vec<_> = lowered.kernels.iter().flat_map(|parts| parts.batches("kernel")).collect();
    let objects = codegen::compile_all(&batches, Visibility::Hidden).expect("it has code");
    objects.into_iter().map(|object| object.bytes).collect()
}

#[test]
fn compiled_twice() {
    for text in FUNCTIONS {
        let first = objects(text);
        assert!(first.len() >= 3);
        assert!(first == objects(text), "{text}");
    }
}

/// In a process of its own, where threads would have stacks larger than any memory.
#[test]
#[cfg(unix)]
fn compiled_without_threads() {
    const CHILD: &str = "TENSORJIT_TEST_WITHOUT_THREADS";
    let mut hash = DefaultHasher::new();
    objects(FUNCTIONS[2]).hash(&mut hash);
    let expected = format!("the objects are {:x}", hash.finish());
    if std::env::var_os(CHILD).is_some() {
        assert!(std::thread::Builder::new().spawn(|| ()).is_err());
        println!("{expected}");
        return;
    }
    let output = Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", "bits::objects::compiled_without_threads", "--test-threads=1", "--nocapture"])
        .env(CHILD, "1")
        .env("RUST_MIN_STACK", (1_u64 << 62).to_string())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(said.contains(&expected) && said.contains("1 passed"), "{said}");
}

/// What stands before a function in the block, comments and the names of locals are no part of its object.
#[test]
fn compiled_elsewhere() {
    let text = "pub fn f<N>(x: f32[N]) -> f32 { let y = exp(x); sum(y * x) }";
    let other = "// A comment.
        fn helper(x: f32) -> f32 { x + 1 }
        pub fn f<N>(x: f32[N]) -> f32 { let z = exp(x); /* and another */ sum(z * x) }";
    assert!(objects(text) == objects(other));
}

/// The long side for large angles is there once, however many sines take it.
#[test]
fn rare_sides_are_made_once() {
    let bytes = |text: &str| -> usize { objects(text).iter().map(Vec::len).sum() };
    let one = bytes("pub fn f<N>(x: f32[N]) -> f32[N] { sin(x) }");
    let eight = bytes("pub fn f<N>(x: f32[N]) -> f32[N] { sin(sin(sin(sin(sin(sin(sin(sin(x)))))))) }");
    assert!(eight < 4 * one, "{one} and {eight} bytes");
}
