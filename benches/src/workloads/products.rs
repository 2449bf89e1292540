//! Matrix products of many shapes.

use std::num::NonZero;

use ndarray::{Array2, Ix2, LinalgScalar};

use crate::Result;
use crate::call::{Call, Make, Outputs, into, returning};
use crate::tensor::{Precision, Real, Tensor, array, normal};
use crate::threads::threads;
use crate::workload::{Contender, Gate, Work, Workload};

macro_rules! stamp {
    ($module:ident, $t:ident) => {
        pub mod $module {
            use super::*;

            crate::functions! {
                /// A matrix product.
                pub fn product<M, N, K>(a: $t[M, K], b: $t[K, N]) -> $t[M, N] {
                    a @ b
                }
            }

            pub fn ours(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let (a, b) = (array::<$t, Ix2>(&inputs[0])?, array::<$t, Ix2>(&inputs[1])?);
                let c = Array2::<$t>::zeros((a.nrows(), b.ncols()));
                into(c, move |c| product::into(&a, &b, c))
            }
        }
    };
}
stamp!(single, f32);
stamp!(double, f64);

fn by_ndarray<T: Real + LinalgScalar>(inputs: &[Tensor]) -> Result<Box<dyn Call>>
where
    Array2<T>: Outputs,
{
    let (a, b) = (array::<T, Ix2>(&inputs[0])?, array::<T, Ix2>(&inputs[1])?);
    returning(move || Ok(a.dot(&b)))
}

/// Each element by a sum of twice the precision of its terms, so that errors in double precision can be told: Ogita,
/// Rump and Oishi 2005, algorithm 5.3.
fn twofold(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
    let (a, b) = (array::<f64, Ix2>(&inputs[0])?, array::<f64, Ix2>(&inputs[1])?);
    let columns = b.reversed_axes().as_standard_layout().into_owned();
    returning(move || {
        let element = |(i, j)| {
            let (mut sum, mut rest) = (0.0_f64, 0.0);
            for (x, y) in a.row(i).iter().zip(columns.row(j)) {
                let product = x * y;
                let next = sum + product;
                let added = next - sum;
                rest += (sum - (next - added)) + (product - added) + x.mul_add(*y, -product);
                sum = next;
            }
            sum + rest
        };
        Ok(Array2::from_shape_fn((a.nrows(), columns.nrows()), element))
    })
}

/// `gemm` writes to memory of its caller's.
struct ByGemm<T> {
    a: Array2<T>,
    b: Array2<T>,
    c: Array2<T>,
    parallelism: gemm::Parallelism,
}

impl<T: Real + LinalgScalar> Call for ByGemm<T> {
    fn run(&mut self) -> Result<()> {
        let ByGemm { a, b, c, parallelism } = self;
        let ((m, k), n) = (a.dim(), b.ncols());
        let (row_a, row_b, row_c) = (k as isize, n as isize, n as isize);
        // SAFETY: the addresses are those of live dense matrices m x k, k x n and m x n, whose rows are so far
        // apart; nothing else refers to the result.
        unsafe {
            gemm::gemm(
                m,
                n,
                k,
                c.as_mut_ptr(),
                1,
                row_c,
                false,
                a.as_ptr(),
                1,
                row_a,
                b.as_ptr(),
                1,
                row_b,
                T::zero(),
                T::one(),
                false,
                false,
                false,
                *parallelism,
            );
        }
        std::hint::black_box(c);
        Ok(())
    }

    fn outputs(&mut self) -> Result<Vec<Tensor>> {
        Ok(vec![self.c.mapv(Real::value).into_dyn()])
    }
}

fn by_gemm<T: Real + LinalgScalar>(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
    let (a, b) = (array::<T, Ix2>(&inputs[0])?, array::<T, Ix2>(&inputs[1])?);
    let c = Array2::zeros((a.nrows(), b.ncols()));
    let parallelism = match NonZero::new(threads()) {
        Some(count) if count.get() > 1 => gemm::Parallelism::Rayon(count.get()),
        _ => gemm::Parallelism::None,
    };
    Ok(Box::new(ByGemm { a, b, c, parallelism }))
}

/// The shapes of the products, as m, k, n.
const SHAPES: [[usize; 3]; 11] = [
    [64, 64, 64],
    [128, 128, 128],
    [256, 256, 256],
    [512, 512, 512],
    [1024, 1024, 1024],
    [2048, 2048, 2048],
    [37, 100, 53],
    [1, 512, 512],
    [8, 512, 512],
    [1000, 64, 10],
    [32, 32, 32],
];

/// Those whose geometric mean is gated too: all that the table has but the last.
pub fn gated(name: &str) -> bool {
    name.starts_with("product_") && name != "product_32"
}

fn row([m, k, n]: [usize; 3], precision: Precision) -> Workload {
    let libraries: &[Contender] = &[Contender::Gemm, Contender::NumPy];
    let mut name = if m == k && k == n { format!("product_{m}") } else { format!("product_{m}x{k}x{n}") };
    let gates = if gated(&name) { vec![Gate::BestOf(libraries, 0.95)] } else { vec![] };
    let (ours, exact, peers): (Make, Make, [Make; 2]) = match precision {
        Precision::F32 => (single::ours, double::ours, [by_ndarray::<f32>, by_gemm::<f32>]),
        Precision::F64 => (double::ours, twofold, [by_ndarray::<f64>, by_gemm::<f64>]),
    };
    if precision == Precision::F64 {
        name += "_f64";
    }
    Workload {
        name,
        function: "product",
        family: "matrix products",
        precision,
        work: Work::Flops(2.0 * (m * k * n) as f64),
        inputs: vec![normal(&[m, k]), normal(&[k, n])],
        ours,
        exact,
        peers: vec![(Contender::Ndarray, peers[0]), (Contender::Gemm, peers[1])],
        gates,
    }
}

pub fn workloads() -> Vec<Workload> {
    let single = SHAPES.into_iter().map(|shape| row(shape, Precision::F32));
    let double = [[512; 3], [1024; 3]].into_iter().map(|shape| row(shape, Precision::F64));
    single.chain(double).collect()
}
