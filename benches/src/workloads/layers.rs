//! A product with what follows it, in one call.

use ndarray::{Array2, Ix1, Ix2};

use crate::Result;
use crate::call::{Call, into, returning};
use crate::tensor::{Precision, Tensor, array, normal};
use crate::workload::{Contender, Gate, Work, Workload};

macro_rules! stamp {
    ($module:ident, $t:ident) => {
        pub mod $module {
            use super::*;

            crate::functions! {
                /// A linear layer with its activation.
                pub fn linear_relu<B, I, O>(x: $t[B, I], w: $t[I, O], b: $t[O]) -> $t[B, O] {
                    relu(x @ w + b)
                }
            }

            pub fn ours(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let (x, w) = (array::<$t, Ix2>(&inputs[0])?, array::<$t, Ix2>(&inputs[1])?);
                let b = array::<$t, Ix1>(&inputs[2])?;
                let y = Array2::<$t>::zeros((x.nrows(), w.ncols()));
                into(y, move |y| linear_relu::into(&x, &w, &b, y))
            }
        }
    };
}
stamp!(single, f32);
stamp!(double, f64);

fn by_ndarray(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
    let (x, w) = (array::<f32, Ix2>(&inputs[0])?, array::<f32, Ix2>(&inputs[1])?);
    let b = array::<f32, Ix1>(&inputs[2])?;
    returning(move || Ok((x.dot(&w) + &b).mapv_into(|v| v.max(0.0))))
}

pub fn workloads() -> Vec<Workload> {
    let (m, k, n) = (256, 768, 3072);
    vec![Workload {
        name: "linear_relu_256x768x3072".into(),
        function: "linear_relu",
        family: "matrix products",
        precision: Precision::F32,
        work: Work::Flops(2.0 * (m * k * n) as f64),
        inputs: vec![normal(&[m, k]), normal(&[k, n]), normal(&[n])],
        ours: single::ours,
        exact: double::ours,
        peers: vec![(Contender::Ndarray, by_ndarray)],
        gates: vec![Gate::Best(1.05)],
    }]
}
