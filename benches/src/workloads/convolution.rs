//! A convolution with its activation, forward and backward.

use ndarray::{Array4, Ix4};

use crate::Result;
use crate::call::{Call, into};
use crate::tensor::{Precision, Tensor, array, normal, scaled};
use crate::workload::{Gate, Work, Workload};

macro_rules! stamp {
    ($module:ident, $t:ident) => {
        pub mod $module {
            use super::*;

            crate::functions! {
                /// The gradients of weights and input of a convolution of 3 x 3 with its activation, for the
                /// cotangent `d`.
                pub fn convolution_grad<B>(
                    w: $t[32, 32, 3, 3], x: $t[B, 32, 32, 32], d: $t[B, 32, 32, 32],
                ) -> ($t, $t[32, 32, 3, 3], $t[B, 32, 32, 32]) {
                    let y = relu(conv(x, w, padding = 1));
                    let loss = sum(y * d);
                    let (dw, dx) = grad(loss, (w, x));
                    (loss, dw, dx)
                }
            }

            pub fn ours(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let tensor = |i: usize| array::<$t, Ix4>(&inputs[i]);
                let (w, x, d) = (tensor(0)?, tensor(1)?, tensor(2)?);
                let outputs = (0.0, Array4::<$t>::zeros(w.dim()), Array4::<$t>::zeros(x.dim()));
                into(outputs, move |(loss, dw, dx)| convolution_grad::into(&w, &x, &d, loss, dw, dx))
            }
        }
    };
}
stamp!(single, f32);
stamp!(double, f64);

pub fn workloads() -> Vec<Workload> {
    let (batch, channels, side) = (32, 32, 32);
    let data = [batch, channels, side, side];
    vec![Workload {
        name: "convolution_grad".into(),
        function: "convolution_grad",
        family: "convolution",
        precision: Precision::F32,
        work: Work::Flops((3 * 2 * batch * channels * channels * side * side * 9) as f64),
        inputs: vec![scaled(0.1, &[channels, channels, 3, 3]), normal(&data), normal(&data)],
        ours: single::ours,
        exact: double::ours,
        peers: vec![],
        gates: vec![Gate::Best(1.2)],
    }]
}
