//! Elements at computed places, running sums, extremes and orders.

use ndarray::{Array1, Array2, Axis, Ix1, Ix2};

use crate::Result;
use crate::call::{Call, Make, into, returning};
use crate::tensor::{Precision, Tensor, array, index, normal};
use crate::workload::{Contender, Gate, Work, Workload};

macro_rules! stamp {
    ($module:ident, $t:ident) => {
        pub mod $module {
            use super::*;

            crate::functions! {
                /// Rows of a table.
                pub fn gather_rows<V: 1.., D, N>(table: $t[V, D], i: i64[N]) -> $t[N, D] {
                    take(table, i, axis = 0)
                }

                /// Rows added to those of a table.
                pub fn scatter_rows<V: 1.., D, N>(table: $t[V, D], i: i64[N], x: $t[N, D]) -> $t[V, D] {
                    scatter_add(table, i, x, axis = 0)
                }

                /// The running sums of every row.
                pub fn running_sums<M, N>(x: $t[M, N]) -> $t[M, N] {
                    cumsum(x, axis = 1)
                }

                /// Where the greatest element of every row stands.
                pub fn greatest<M, N: 1..>(x: $t[M, N]) -> i64[M] {
                    argmax(x, axis = 1)
                }

                /// The elements of every row in order.
                pub fn sorted<M, N>(x: $t[M, N]) -> $t[M, N] {
                    sort(x, axis = 1)
                }
            }

            pub fn ours_gather(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let (table, i) = (array::<$t, Ix2>(&inputs[0])?, array::<i64, Ix1>(&inputs[1])?);
                let rows = Array2::<$t>::zeros((i.len(), table.ncols()));
                into(rows, move |y| gather_rows::into(&table, &i, y))
            }

            pub fn ours_scatter(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let (table, i) = (array::<$t, Ix2>(&inputs[0])?, array::<i64, Ix1>(&inputs[1])?);
                let x = array::<$t, Ix2>(&inputs[2])?;
                into(Array2::<$t>::zeros(table.dim()), move |y| scatter_rows::into(&table, &i, &x, y))
            }

            pub fn ours_running_sums(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let x = array::<$t, Ix2>(&inputs[0])?;
                into(Array2::<$t>::zeros(x.dim()), move |y| running_sums::into(&x, y))
            }

            pub fn ours_greatest(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let x = array::<$t, Ix2>(&inputs[0])?;
                into(Array1::<i64>::zeros(x.nrows()), move |y| greatest::into(&x, y))
            }

            pub fn ours_sorted(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let x = array::<$t, Ix2>(&inputs[0])?;
                into(Array2::<$t>::zeros(x.dim()), move |y| sorted::into(&x, y))
            }
        }
    };
}
stamp!(single, f32);
stamp!(double, f64);

fn gather_by_ndarray(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
    let table = array::<f32, Ix2>(&inputs[0])?;
    let i: Vec<usize> = inputs[1].iter().map(|i| *i as usize).collect();
    returning(move || Ok(table.select(Axis(0), &i)))
}

fn scatter_by_ndarray(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
    let (table, x) = (array::<f32, Ix2>(&inputs[0])?, array::<f32, Ix2>(&inputs[2])?);
    let i: Vec<usize> = inputs[1].iter().map(|i| *i as usize).collect();
    returning(move || {
        let mut y = table.clone();
        for (i, row) in i.iter().zip(x.rows()) {
            let mut sum = y.row_mut(*i);
            sum += &row;
        }
        Ok(y)
    })
}

fn sorted_by_ndarray(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
    let x = array::<f32, Ix2>(&inputs[0])?;
    returning(move || {
        let mut y = x.clone();
        for mut row in y.rows_mut() {
            row.as_slice_mut().ok_or("a row is not contiguous")?.sort_unstable_by(f32::total_cmp);
        }
        Ok(y)
    })
}

pub fn workloads() -> Vec<Workload> {
    let (table, width) = (8192, 256);
    let (m, n) = (4096, 256);
    let bytes = |elements: usize| Work::Bytes((elements * 4) as f64);
    let row = |name: &str, function, work, inputs, ours: Make, exact: Make, gate| Workload {
        name: name.into(),
        function,
        family: "places",
        precision: Precision::F32,
        work,
        inputs,
        ours,
        exact,
        peers: vec![],
        gates: vec![gate],
    };
    let ahead_of_jax = Gate::BestOf(&[Contender::Jax], 5.0);
    let places = || vec![normal(&[table, width]), index(table, &[table])];
    let matrix = || vec![normal(&[m, n])];
    vec![
        Workload {
            peers: vec![(Contender::Ndarray, gather_by_ndarray)],
            ..row(
                "gather_rows",
                "gather_rows",
                bytes(2 * table * width),
                places(),
                single::ours_gather,
                double::ours_gather,
                Gate::Best(1.0),
            )
        },
        Workload {
            peers: vec![(Contender::Ndarray, scatter_by_ndarray)],
            ..row(
                "scatter_rows",
                "scatter_rows",
                bytes(4 * table * width),
                [places(), vec![normal(&[table, width])]].concat(),
                single::ours_scatter,
                double::ours_scatter,
                Gate::Best(1.0),
            )
        },
        row(
            "running_sums",
            "running_sums",
            bytes(2 * m * n),
            matrix(),
            single::ours_running_sums,
            double::ours_running_sums,
            ahead_of_jax,
        ),
        row(
            "greatest",
            "greatest",
            bytes(m * n),
            matrix(),
            single::ours_greatest,
            double::ours_greatest,
            ahead_of_jax,
        ),
        Workload {
            peers: vec![(Contender::Ndarray, sorted_by_ndarray)],
            ..row(
                "sorted",
                "sorted",
                bytes(2 * m * n),
                matrix(),
                single::ours_sorted,
                double::ours_sorted,
                ahead_of_jax,
            )
        },
    ]
}
