//! Attention with several heads: the gradients of queries, keys and values.

use ndarray::{Array4, Ix4};

use crate::Result;
use crate::call::{Call, into};
use crate::tensor::{Precision, Tensor, array, normal};
use crate::workload::{Gate, Work, Workload};

macro_rules! stamp {
    ($module:ident, $t:ident) => {
        pub mod $module {
            use super::*;

            crate::functions! {
                /// The sum of attention's result times `d`, and its gradients.
                pub fn attention_grad<B, H, T: 1..>(
                    q: $t[B, H, T, 64], k: $t[B, H, T, 64], v: $t[B, H, T, 64], d: $t[B, H, T, 64],
                ) -> ($t, $t[B, H, T, 64], $t[B, H, T, 64], $t[B, H, T, 64]) {
                    let scores = q @ transpose(k, (0, 1, 3, 2)) * 0.125;
                    let loss = sum(softmax(scores) @ v * d);
                    let (dq, dk, dv) = grad(loss, (q, k, v));
                    (loss, dq, dk, dv)
                }
            }

            pub fn ours(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let tensor = |i: usize| array::<$t, Ix4>(&inputs[i]);
                let (q, k, v, d) = (tensor(0)?, tensor(1)?, tensor(2)?, tensor(3)?);
                let zeros = || Array4::<$t>::zeros(q.dim());
                let outputs = (0.0, zeros(), zeros(), zeros());
                into(outputs, move |(loss, dq, dk, dv)| {
                    attention_grad::into(&q, &k, &v, &d, loss, dq, dk, dv)
                })
            }
        }
    };
}
stamp!(single, f32);
stamp!(double, f64);

pub fn workloads() -> Vec<Workload> {
    let shape = [4, 8, 256, 64];
    vec![Workload {
        name: "attention_grad".into(),
        function: "attention_grad",
        family: "attention",
        precision: Precision::F32,
        // Two products forward, four backward.
        work: Work::Flops((6 * 2 * 4 * 8 * 256 * 256 * 64) as f64),
        inputs: vec![normal(&shape); 4],
        ours: single::ours,
        exact: double::ours,
        peers: vec![],
        gates: vec![Gate::Best(2.0)],
    }]
}
