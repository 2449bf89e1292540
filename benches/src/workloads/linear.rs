//! A small call: the loss of a linear model and its gradients, for batches of a few rows.

use ndarray::{Axis, Ix1, Ix2};

use crate::Result;
use crate::call::{Call, into, returning};
use crate::tensor::{Precision, Tensor, array, constant, normal, scalar};
use crate::workload::{Contender, Gate, Work, Workload};

macro_rules! stamp {
    ($module:ident, $t:ident) => {
        pub mod $module {
            use super::*;
            use ndarray::{Array1, Array2};

            crate::functions! {
                /// Mean squared error of a linear model and its gradients.
                pub fn linear_step<B: 1..=64>(
                    x: $t[B, 3], y: $t[B, 2], w: $t[3, 2], bias: $t[2], scale: $t,
                ) -> ($t, $t[3, 2], $t[2]) {
                    let error = x @ w + bias - y;
                    let loss = sum(error * error) * scale;
                    (loss, grad(loss, w), grad(loss, bias))
                }
            }

            pub fn ours(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let (x, y) = (array::<$t, Ix2>(&inputs[0])?, array::<$t, Ix2>(&inputs[1])?);
                let (w, bias) = (array::<$t, Ix2>(&inputs[2])?, array::<$t, Ix1>(&inputs[3])?);
                let scale = scalar::<$t>(&inputs[4])?;
                let outputs = (0.0, Array2::<$t>::zeros((3, 2)), Array1::<$t>::zeros(2));
                into(outputs, move |(loss, dw, dbias)| {
                    linear_step::into(&x, &y, &w, &bias, scale, loss, dw, dbias)
                })
            }
        }
    };
}
stamp!(single, f32);
stamp!(double, f64);

/// The derivatives by hand.
fn by_ndarray(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
    let (x, y) = (array::<f32, Ix2>(&inputs[0])?, array::<f32, Ix2>(&inputs[1])?);
    let (w, bias) = (array::<f32, Ix2>(&inputs[2])?, array::<f32, Ix1>(&inputs[3])?);
    let scale = scalar::<f32>(&inputs[4])?;
    returning(move || {
        let error = x.dot(&w) + &bias - &y;
        let d = &error * (2.0 * scale);
        Ok(((&error * &error).sum() * scale, x.t().dot(&d), d.sum_axis(Axis(0))))
    })
}

pub fn workloads() -> Vec<Workload> {
    let row = |batch: usize| Workload {
        name: format!("linear_step_b{batch}"),
        function: "linear_step",
        family: "small calls",
        precision: Precision::F32,
        work: Work::Call,
        inputs: vec![
            normal(&[batch, 3]),
            normal(&[batch, 2]),
            normal(&[3, 2]),
            normal(&[2]),
            constant(1.0 / (2 * batch) as f64),
        ],
        ours: single::ours,
        exact: double::ours,
        peers: vec![(Contender::Ndarray, by_ndarray)],
        gates: vec![Gate::BestOf(&[Contender::NumPy], 15.0), Gate::BestOf(&[Contender::Jax], 20.0)],
    };
    vec![row(8), row(32)]
}
