//! Strips that count as equal would have had equal loops, if they had been made for each.

use crate::codegen::targets::targets;
use crate::loops::split::Pool;
use crate::loops::{Buf, Buffer, Target};
use crate::pipeline::prepare;
use crate::schedule::tasks::Grain;
use crate::schedule::{alike, schedule};
use crate::testing::states;

use super::kernel;

const FUNCTIONS: &[&str] = &[
    // Layers, of which each reads what the one before has made, and their gradients.
    "pub fn layers<B, N>(x: f32[B, N, 4], w: f32[3, 4, 4]) -> (f32, f32[3, 4, 4]) {
        let mut h = x;
        for layer in 0..3 {
            let u = h @ w[layer];
            h = softmax(u @ permute(u, (0, 2, 1))) @ u + h;
        }
        let loss = mean(square(h)) / ((B * N) as f32 + 1);
        (loss, grad(loss, w))
    }",
    // One operand twice or two of them, zeros of both signs, results in one place or in two.
    "pub fn unlike<B, N>(x: f32[B, N, 4], y: f32[B, N, 4], w: f32[4, 4]) -> (f32[B, N, 4], f32[B, N, 4], f32[B, N, 4]) {
        let a = softmax(x @ permute(x, (0, 2, 1))) @ x @ w * 0.0;
        let b = softmax(x @ permute(y, (0, 2, 1))) @ y @ w * 0.0;
        let c = softmax(b @ permute(b, (0, 2, 1))) @ b @ w * -0.0;
        let d = softmax(c @ permute(c, (0, 2, 1))) @ c @ w * 0.0;
        let e = softmax(d @ permute(d, (0, 2, 1))) @ d @ w * 0.0;
        (a, e, e)
    }",
    // States: written where they were read, exchanged, and saved.
    "pub fn states<B, N>(x: &mut f32[B, N], y: &mut f32[B, N], w: f32[N, N]) -> f32[N] {
        for turn in 0..3 {
            let old = y;
            y = tanh(x @ w) + y;
            x = tanh(old @ w) + x;
        }
        sum(x + y, axis = 0)
    }",
    // Sums in blocks of terms, panels, accumulators and rows that are sorted.
    "pub fn memories<B, N>(x: f64[B, 600], y: f64[B, 600], w: f64[600, 600]) -> (f64[B, 600], f64[600], f64[600], f64[B, 600]) {
        let a = tanh(x @ w) + y;
        let b = tanh(a @ w) + a;
        let c = tanh(b @ w) + b;
        (c, sum(b, axis = 0), sum(c, axis = 0), sort(sort(sort(c, axis = 1) + y, axis = 1) + y, axis = 1))
    }",
];

/// How many strips are like another one before them; each has been compared with it.
fn compared(text: &str, grain: Grain, target: &Target) -> usize {
    let parsed = crate::syntax::parse_text(text);
    let functions = crate::check::check(&parsed.block).expect("it is well-typed");
    let states = states(&functions[0]);
    let prepared =
        prepare(functions[0].graph.clone(), &states, &mut |_, _, _| {}).expect("it has derivatives");
    let schedule = schedule(prepared.graph(), &states, grain).expect("it can be scheduled");
    let mut pool = Pool::default();
    let mut count = 0;
    for (own, found) in schedule.alike.iter().enumerate().filter(|(own, found)| found.first != *own) {
        let mut parts = |strip: usize| {
            let kernel = kernel(&schedule, &schedule.strips[strip], target).expect("it has loops");
            let place = |buf: &Buf| kernel.buffers[buf.0 as usize].clone();
            let parts = pool.add(&kernel);
            parts.iter().map(|(number, bufs)| (*number, bufs.iter().map(place).collect())).collect()
        };
        let [mut first, second]: [Vec<(u32, Vec<Buffer>)>; 2] = [parts(found.first), parts(own)];
        for Buffer { place, .. } in first.iter_mut().flat_map(|(_, buffers)| buffers) {
            *place = alike::translated(place, &schedule.alike[found.first], found).expect("it is known");
        }
        assert!(first == second, "strips {} and {own} of\n{text}", found.first);
        count += 1;
    }
    count
}

#[test]
fn strips_that_are_alike_have_equal_loops() {
    let target = &targets("x86_64-unknown-linux-gnu", None).expect("it is supported")[0];
    for text in FUNCTIONS {
        for grain in [Grain::default(), Grain { group: 0, task: 1, cache: 0 }] {
            assert!(compared(text, grain, target) > 0, "nothing is alike in\n{text}");
        }
    }
}
