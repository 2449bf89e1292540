//! A block of a transformer: the gradients of its twelve parameters.

use ndarray::{Array1, Array2, Ix1, Ix2, Ix3};

use crate::Result;
use crate::call::{Call, into};
use crate::tensor::{Input, Precision, Tensor, array, normal, scaled};
use crate::workload::{Gate, Work, Workload};

macro_rules! stamp {
    ($module:ident, $t:ident) => {
        pub mod $module {
            use super::*;

            crate::functions! {
                /// The sum of a block's result times `d`, and the gradients of its parameters.
                pub fn block_grad<B, T: 1..>(
                    g1: $t[384], c1: $t[384], wq: $t[384, 384], wk: $t[384, 384], wv: $t[384, 384],
                    wo: $t[384, 384], g2: $t[384], c2: $t[384], w1: $t[384, 1536], b1: $t[1536],
                    w2: $t[1536, 384], b2: $t[384], x: $t[B, T, 384], d: $t[B, T, 384],
                ) -> (
                    $t, $t[384], $t[384], $t[384, 384], $t[384, 384], $t[384, 384], $t[384, 384], $t[384],
                    $t[384], $t[384, 1536], $t[1536], $t[1536, 384], $t[384],
                ) {
                    let h = layer_norm(x) * g1 + c1;
                    let (q, k, v) = (heads(h @ wq), heads(h @ wk), heads(h @ wv));
                    let scores = q @ transpose(k, (0, 1, 3, 2)) * 0.125;
                    let attended = permute(softmax(scores) @ v, (0, 2, 1, 3));
                    let x = x + reshape(attended, [B, T, 384]) @ wo;
                    let h = gelu((layer_norm(x) * g2 + c2) @ w1 + b1, approximate = "tanh");
                    let y = x + h @ w2 + b2;
                    let loss = sum(y * d);
                    let (dg1, dc1, dwq, dwk, dwv, dwo, dg2, dc2, dw1, db1, dw2, db2) =
                        grad(loss, (g1, c1, wq, wk, wv, wo, g2, c2, w1, b1, w2, b2));
                    (loss, dg1, dc1, dwq, dwk, dwv, dwo, dg2, dc2, dw1, db1, dw2, db2)
                }

                fn heads<B, T>(x: $t[B, T, 384]) -> $t[B, 6, T, 64] {
                    permute(reshape(x, [B, T, 6, 64]), (0, 2, 1, 3))
                }
            }

            pub fn ours(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let vector = |i: usize| array::<$t, Ix1>(&inputs[i]);
                let matrix = |i: usize| array::<$t, Ix2>(&inputs[i]);
                let batch = |i: usize| array::<$t, Ix3>(&inputs[i]);
                let (g1, c1, g2, c2) = (vector(0)?, vector(1)?, vector(6)?, vector(7)?);
                let (wq, wk, wv, wo) = (matrix(2)?, matrix(3)?, matrix(4)?, matrix(5)?);
                let (w1, b1, w2, b2) = (matrix(8)?, vector(9)?, matrix(10)?, vector(11)?);
                let (x, d) = (batch(12)?, batch(13)?);
                let narrow = || Array1::<$t>::zeros(384);
                let square = || Array2::<$t>::zeros((384, 384));
                let outputs = (
                    0.0,
                    narrow(),
                    narrow(),
                    square(),
                    square(),
                    square(),
                    square(),
                    narrow(),
                    narrow(),
                    Array2::<$t>::zeros(w1.dim()),
                    Array1::<$t>::zeros(1536),
                    Array2::<$t>::zeros(w2.dim()),
                    narrow(),
                );
                into(outputs, move |(loss, dg1, dc1, dwq, dwk, dwv, dwo, dg2, dc2, dw1, db1, dw2, db2)| {
                    block_grad::into(
                        &g1, &c1, &wq, &wk, &wv, &wo, &g2, &c2, &w1, &b1, &w2, &b2, &x, &d, loss, dg1, dc1,
                        dwq, dwk, dwv, dwo, dg2, dc2, dw1, db1, dw2, db2,
                    )
                })
            }
        }
    };
}
stamp!(single, f32);
stamp!(double, f64);

/// The parameters of a layer in the order of the function.
pub fn parameters() -> Vec<Input> {
    let width = 384;
    let square = || scaled(0.05, &[width, width]);
    vec![
        normal(&[width]),
        normal(&[width]),
        square(),
        square(),
        square(),
        square(),
        normal(&[width]),
        normal(&[width]),
        scaled(0.05, &[width, 4 * width]),
        normal(&[4 * width]),
        scaled(0.05, &[4 * width, width]),
        normal(&[width]),
    ]
}

/// What a layer takes, and the cotangent of its result.
pub fn data(batch: usize, time: usize) -> Vec<Input> {
    vec![normal(&[batch, time, 384]); 2]
}

pub fn workloads() -> Vec<Workload> {
    let (batch, time, width) = (4, 128, 384);
    // Each product three times: forward, and for both operands.
    let flops = 6 * batch * time * (12 * width * width + 2 * time * width);
    vec![Workload {
        name: "block_grad".into(),
        function: "block_grad",
        family: "attention",
        precision: Precision::F32,
        work: Work::Flops(flops as f64),
        inputs: [parameters(), data(batch, time)].concat(),
        ours: single::ours,
        exact: double::ours,
        peers: vec![],
        gates: vec![Gate::Best(1.25)],
    }]
}
