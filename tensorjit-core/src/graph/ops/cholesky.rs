//! The factor of Cholesky of symmetric positive definite matrices.

use super::matrix::{Matrix, is_square, minus_products, places, product, quotient};
use super::site::{Site, only};
use super::triangular_solve::TriangularSolve;
use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::table::Ew;
use crate::graph::value::{Env, Value, unit};
use crate::graph::{NodeId, Op, Type};
use tensorjit_runtime::abi::DType;

/// The lower triangular `L` with `L @ transpose(L)` the matrix, of which the lower triangle is read.
///
/// The triangle is NaN where the matrix is not positive definite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cholesky;

impl Cholesky {
    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [a] = super::operands("cholesky", inputs)?;
        if !is_square(facts, a) {
            return Err(Bug::new("graph", format!("cholesky of {a:?}")));
        }
        Ok((*a).clone())
    }

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [a] = super::operands("cholesky", operands)?;
        let factors: Vec<Matrix> = Matrix::all(a).iter().map(|matrix| factor(a.dtype, matrix)).collect();
        Ok(Matrix::join(a.dtype, shape, &factors))
    }

    /// The tangent: `L Φ(L⁻¹ dA L⁻ᵀ)`, where `Φ` is the lower triangle with half of the diagonal, and `dA` is symmetric
    /// (Murray 2016, equation 9).
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        let Some(tangent) = only(tangents)? else { return Ok(None) };
        let factor = site.node;
        let ty = site.ty(factor);
        let lower = places(site, &ty, Ew::Ge)?;
        let below = places(site, &ty, Ew::Gt)?;
        let kept = site.keep(lower, tangent)?;
        let mirrored = site.keep(below, tangent)?;
        let mirrored = site.transposed(mirrored)?;
        let symmetric = site.ew(Ew::Add, &[kept, mirrored])?;
        let solve = Op::TriangularSolve(TriangularSolve { lower: true, unit: false });
        let left = site.add(solve.clone(), &[factor, symmetric])?;
        let left = site.transposed(left)?;
        // It is symmetric, so that it may stay transposed.
        let both = site.add(solve, &[factor, left])?;
        let half = site.full(&ty, 0.5)?;
        let one = site.full(&ty, 1.0)?;
        let weights = site.ew(Ew::Select, &[below, one, half])?;
        let weighted = site.ew(Ew::Mul, &[both, weights])?;
        let halved = site.keep(lower, weighted)?;
        product(site, factor, halved).map(Some)
    }
}

fn factor(dtype: DType, a: &Matrix) -> Matrix {
    let n = a.rows;
    let mut found = Matrix::of(n, n, |_, _| 0.0);
    for j in 0..n {
        for i in j..n {
            let entry = |row: usize, k: usize| (found.at(row, k), found.error(row, k));
            let pairs = (0..j).map(|k| (entry(i, k), entry(j, k)));
            let rest = minus_products(dtype, (a.at(i, j), a.error(i, j)), pairs);
            let next = match i == j {
                true if rest.0 > rest.1 => {
                    let root = rest.0.sqrt();
                    (root, rest.1 / (root + (rest.0 - rest.1).sqrt()) + unit(dtype) * root)
                }
                // Not positive definite, or perhaps not.
                true => {
                    return lost(
                        n,
                        if rest.0 + rest.1 <= 0.0 || rest.0.is_nan() { 0.0 } else { f64::INFINITY },
                    );
                }
                false => quotient(dtype, rest, entry(j, j)),
            };
            found.set(i, j, next);
        }
    }
    found
}

/// The factor of what is not positive definite.
fn lost(n: usize, error: f64) -> Matrix {
    let mut found = Matrix::of(n, n, |row, column| if column <= row { f64::NAN } else { 0.0 });
    for row in 0..n {
        found.error[row * n..row * n + row + 1].fill(error);
    }
    found
}
