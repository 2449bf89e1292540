//! Work that memory bounds: one pass over the rows of a matrix, or few.

use ndarray::{Array1, Array2, Axis, Ix1, Ix2, Zip};

use crate::Result;
use crate::call::{Call, Make, into, returning};
use crate::tensor::{Precision, Tensor, array, normal};
use crate::workload::{Contender, Gate, Work, Workload};

macro_rules! stamp {
    ($module:ident, $t:ident) => {
        pub mod $module {
            use super::*;

            crate::functions! {
                /// A bias and an activation.
                pub fn bias_gelu<M, N>(x: $t[M, N], b: $t[N]) -> $t[M, N] {
                    gelu(x + b, approximate = "tanh")
                }

                /// Softmax of every row.
                pub fn softmax_rows<M, N>(x: $t[M, N]) -> $t[M, N] {
                    softmax(x)
                }

                /// The sum of every row.
                pub fn row_sums<M, N>(x: $t[M, N]) -> $t[M] {
                    sum(x, axis = 1)
                }

                /// The sum of every column.
                pub fn column_sums<M, N>(x: $t[M, N]) -> $t[N] {
                    sum(x, axis = 0)
                }

                /// The gradients of a layer norm for the cotangent `d` of its result.
                pub fn layer_norm_grad<M, N: 1..>(
                    x: $t[M, N], gain: $t[N], bias: $t[N], d: $t[M, N],
                ) -> ($t[M, N], $t[N], $t[N]) {
                    vjp(layer_norm(x) * gain + bias, (x, gain, bias), d)
                }
            }

            pub fn ours_bias_gelu(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let (x, b) = (array::<$t, Ix2>(&inputs[0])?, array::<$t, Ix1>(&inputs[1])?);
                into(Array2::<$t>::zeros(x.dim()), move |y| bias_gelu::into(&x, &b, y))
            }

            pub fn ours_softmax(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let x = array::<$t, Ix2>(&inputs[0])?;
                into(Array2::<$t>::zeros(x.dim()), move |y| softmax_rows::into(&x, y))
            }

            pub fn ours_row_sums(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let x = array::<$t, Ix2>(&inputs[0])?;
                into(Array1::<$t>::zeros(x.nrows()), move |y| row_sums::into(&x, y))
            }

            pub fn ours_column_sums(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let x = array::<$t, Ix2>(&inputs[0])?;
                into(Array1::<$t>::zeros(x.ncols()), move |y| column_sums::into(&x, y))
            }

            pub fn ours_layer_norm_grad(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let (x, d) = (array::<$t, Ix2>(&inputs[0])?, array::<$t, Ix2>(&inputs[3])?);
                let (gain, bias) = (array::<$t, Ix1>(&inputs[1])?, array::<$t, Ix1>(&inputs[2])?);
                let vector = Array1::<$t>::zeros(gain.len());
                let outputs = (Array2::<$t>::zeros(x.dim()), vector.clone(), vector);
                into(outputs, move |(dx, dgain, dbias)| {
                    layer_norm_grad::into(&x, &gain, &bias, &d, dx, dgain, dbias)
                })
            }
        }
    };
}
stamp!(single, f32);
stamp!(double, f64);

fn bias_gelu_by_ndarray(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
    let (x, b) = (array::<f32, Ix2>(&inputs[0])?, array::<f32, Ix1>(&inputs[1])?);
    let scale = (2.0 / std::f32::consts::PI).sqrt();
    returning(move || {
        Ok((&x + &b).mapv_into(|v| 0.5 * v * (1.0 + (scale * (v + 0.044715 * v * v * v)).tanh())))
    })
}

fn softmax_by_ndarray(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
    let x = array::<f32, Ix2>(&inputs[0])?;
    returning(move || {
        let mut y = x.clone();
        Zip::from(y.rows_mut()).for_each(|mut row| {
            let most = row.fold(f32::NEG_INFINITY, |a, b| a.max(*b));
            row.mapv_inplace(|v| (v - most).exp());
            let total = row.sum();
            row.mapv_inplace(|v| v / total);
        });
        Ok(y)
    })
}

fn row_sums_by_ndarray(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
    let x = array::<f32, Ix2>(&inputs[0])?;
    returning(move || Ok(x.sum_axis(Axis(1))))
}

fn column_sums_by_ndarray(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
    let x = array::<f32, Ix2>(&inputs[0])?;
    returning(move || Ok(x.sum_axis(Axis(0))))
}

/// The matrix of all these workloads.
const SHAPE: [usize; 2] = [4096, 1024];

pub fn workloads() -> Vec<Workload> {
    let [m, n] = SHAPE;
    let matrices = |count: usize| Work::Bytes((count * m * n * 4) as f64);
    let row = |name: &str, function, work, ours: Make, exact: Make, least: f64| Workload {
        name: name.into(),
        function,
        family: "rows",
        precision: Precision::F32,
        work,
        inputs: vec![normal(&SHAPE)],
        ours,
        exact,
        peers: vec![],
        gates: vec![Gate::Best(least)],
    };
    let by_ndarray = |make: Make| vec![(Contender::Ndarray, make)];
    vec![
        Workload {
            inputs: vec![normal(&SHAPE), normal(&[n])],
            peers: by_ndarray(bias_gelu_by_ndarray),
            ..row("bias_gelu", "bias_gelu", matrices(2), single::ours_bias_gelu, double::ours_bias_gelu, 2.0)
        },
        Workload {
            peers: by_ndarray(softmax_by_ndarray),
            ..row("softmax", "softmax", matrices(2), single::ours_softmax, double::ours_softmax, 2.0)
        },
        Workload {
            inputs: vec![normal(&SHAPE), normal(&[n]), normal(&[n]), normal(&SHAPE)],
            ..row(
                "layer_norm_grad",
                "layer_norm_grad",
                matrices(3),
                single::ours_layer_norm_grad,
                double::ours_layer_norm_grad,
                2.0,
            )
        },
        Workload {
            peers: by_ndarray(row_sums_by_ndarray),
            ..row("row_sums", "row_sums", matrices(1), single::ours_row_sums, double::ours_row_sums, 1.0)
        },
        Workload {
            peers: by_ndarray(column_sums_by_ndarray),
            ..row(
                "column_sums",
                "column_sums",
                matrices(1),
                single::ours_column_sums,
                double::ours_column_sums,
                1.0,
            )
        },
    ]
}
