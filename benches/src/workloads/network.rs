//! A network of three layers: the loss and the gradients of all parameters, one compiled function for every batch.

use ndarray::{Array1, Array2, Ix1, Ix2};

use crate::Result;
use crate::call::{Call, into};
use crate::tensor::{Precision, Tensor, array, normal, one_hot, scaled};
use crate::workload::{Gate, Work, Workload};

macro_rules! stamp {
    ($module:ident, $t:ident) => {
        pub mod $module {
            use super::*;

            crate::functions! {
                /// The cross entropy of a network 784-512-256-10 and the gradients of its parameters.
                pub fn mlp_grad<B: 1..>(
                    w1: $t[784, 512], b1: $t[512], w2: $t[512, 256], b2: $t[256], w3: $t[256, 10], b3: $t[10],
                    x: $t[B, 784], y: $t[B, 10],
                ) -> ($t, $t[784, 512], $t[512], $t[512, 256], $t[256], $t[256, 10], $t[10]) {
                    let h = relu(x @ w1 + b1);
                    let h = relu(h @ w2 + b2);
                    let z = log_softmax(h @ w3 + b3);
                    let loss = -sum(z * y) / (B as $t);
                    let (dw1, db1, dw2, db2, dw3, db3) = grad(loss, (w1, b1, w2, b2, w3, b3));
                    (loss, dw1, db1, dw2, db2, dw3, db3)
                }
            }

            pub fn ours(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let matrix = |i: usize| array::<$t, Ix2>(&inputs[i]);
                let vector = |i: usize| array::<$t, Ix1>(&inputs[i]);
                let (w1, w2, w3) = (matrix(0)?, matrix(2)?, matrix(4)?);
                let (b1, b2, b3) = (vector(1)?, vector(3)?, vector(5)?);
                let (x, y) = (matrix(6)?, matrix(7)?);
                let outputs = (
                    0.0,
                    Array2::<$t>::zeros(w1.dim()),
                    Array1::<$t>::zeros(b1.dim()),
                    Array2::<$t>::zeros(w2.dim()),
                    Array1::<$t>::zeros(b2.dim()),
                    Array2::<$t>::zeros(w3.dim()),
                    Array1::<$t>::zeros(b3.dim()),
                );
                into(outputs, move |(loss, dw1, db1, dw2, db2, dw3, db3)| {
                    mlp_grad::into(&w1, &b1, &w2, &b2, &w3, &b3, &x, &y, loss, dw1, db1, dw2, db2, dw3, db3)
                })
            }
        }
    };
}
stamp!(single, f32);
stamp!(double, f64);

pub fn workloads() -> Vec<Workload> {
    let row = |batch: usize| Workload {
        name: format!("mlp_grad_b{batch}"),
        function: "mlp_grad",
        family: "networks",
        precision: Precision::F32,
        // Forward, and backward for weights and inputs of all layers, but not for the input of the first.
        work: Work::Flops((batch * (4 * 784 * 512 + 6 * (512 * 256 + 256 * 10))) as f64),
        inputs: vec![
            scaled(0.04, &[784, 512]),
            normal(&[512]),
            scaled(0.04, &[512, 256]),
            normal(&[256]),
            scaled(0.06, &[256, 10]),
            normal(&[10]),
            normal(&[batch, 784]),
            one_hot(batch, 10),
        ],
        ours: single::ours,
        exact: double::ours,
        peers: vec![],
        gates: vec![Gate::Best(1.1), Gate::Peak(0.76)],
    };
    [16, 17, 128, 129].map(row).into()
}
