//! Systems of equations with square matrices.

use super::cholesky::product;
use super::matrix::{Factors, Matrix, fits_right};
use super::site::Site;
use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::table::Ew;
use crate::graph::value::{Env, Value, unit};
use crate::graph::{NodeId, Op, Type};
use tensorjit_runtime::abi::DType;

/// The `x` with `a @ x = b`, or with the transposed `a`: operands are `a` and `b`, matrices of as many batches.
///
/// The simplifier makes triangular systems of it, and one factorisation for all that solve with one matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Solve {
    /// Whether `a` is transposed.
    pub transposed: bool,
}

impl Solve {
    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [a, b] = super::operands("solve", inputs)?;
        if !fits_right(facts, a, b) {
            return Err(Bug::new("graph", format!("solve of {a:?} and {b:?}")));
        }
        Ok((*b).clone())
    }

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [a, b] = super::operands("solve", operands)?;
        let pairs = Matrix::all(a).into_iter().zip(Matrix::all(b));
        let found: Vec<Matrix> = pairs.map(|(matrix, b)| self.solve(a.dtype, &matrix, &b)).collect();
        Ok(Matrix::join(a.dtype, shape, &found))
    }

    fn solve(&self, dtype: DType, a: &Matrix, b: &Matrix) -> Matrix {
        let mut distance = Factors::of(dtype, a).distance(dtype, a);
        let mut matrix = a.clone();
        if self.transposed {
            // Kernels solve with the factors of `a`, the oracle with those of its transpose.
            (matrix, distance) = (a.transposed(), distance.transposed());
        }
        let factors = Factors::of(dtype, &matrix);
        let own = factors.distance(dtype, &matrix);
        distance.x.iter_mut().zip(&own.x).for_each(|(distance, own)| *distance = distance.max(*own));
        let (n, inverse) = (a.rows, factors.inverse());
        let size = |matrix: &Matrix, v: &[f64]| -> Vec<f64> {
            (0..n).map(|i| (0..n).map(|k| matrix.at(i, k).abs() * v[k]).sum()).collect()
        };
        // Where the distance may make the matrix singular, nothing is known.
        let ones = vec![1.0; n];
        let known = size(&inverse, &size(&distance, &ones)).iter().all(|growth| *growth < 0.5);
        let mut found = b.clone();
        for column in 0..b.columns {
            let right: Vec<f64> = (0..n).map(|i| b.at(i, column)).collect();
            let x = factors.solve(&right);
            let sizes: Vec<f64> = x.iter().map(|x| x.abs()).collect();
            let moved = size(&distance, &sizes);
            let moved: Vec<f64> = (0..n).map(|i| moved[i] + b.error(i, column)).collect();
            let errors = size(&inverse, &moved);
            for i in 0..n {
                let error = 2.0 * errors[i] + 2.0 * unit(dtype) * sizes[i];
                found.set(i, column, (x[i], if known { error } else { f64::INFINITY }));
            }
        }
        found
    }

    /// The tangent: the solution for `db - da @ x`.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        let [of_a, of_b] = tangents else { return Err(Bug::new("autodiff", "solve has two tangents")) };
        let a = site.input(0)?;
        let mut right = *of_b;
        if let Some(of_a) = of_a {
            let of_a = match self.transposed {
                true => super::cholesky::transposed(site, *of_a)?,
                false => *of_a,
            };
            let moved = product(site, of_a, site.node)?;
            let moved = site.ew(Ew::Neg, &[moved])?;
            right = site.plus(right, Some(moved))?;
        }
        right.map(|right| site.add(Op::Solve(*self), &[a, right])).transpose()
    }

    /// The cotangent of the right-hand side: the solution with the transposed matrix.
    pub fn transpose(
        &self,
        site: &mut Site,
        linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        if linear != [false, true] {
            return Err(Bug::new("autodiff", format!("solve is not linear in {linear:?}")));
        }
        let a = site.input(0)?;
        let op = Op::Solve(Solve { transposed: !self.transposed });
        Ok(vec![None, Some(site.add(op, &[a, cotangent])?)])
    }
}
