//! Systems of equations with square matrices.

use super::matrix::{Factors, Matrix, eval_solution, infer_solution, linearize_solution, transpose_solution};
use super::site::Site;
use crate::diag::Bug;
use crate::dim::facts::Facts;
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
        infer_solution("solve", facts, inputs)
    }

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        eval_solution("solve", operands, shape, |dtype, a, b| self.solve(dtype, a, b))
    }

    fn solve(&self, dtype: DType, a: &Matrix, b: Matrix) -> Matrix {
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
        let mut found = b;
        for column in 0..found.columns {
            let right: Vec<f64> = (0..n).map(|i| found.at(i, column)).collect();
            let x = factors.solve(&right);
            let sizes: Vec<f64> = x.iter().map(|x| x.abs()).collect();
            let moved = size(&distance, &sizes);
            let moved: Vec<f64> = (0..n).map(|i| moved[i] + found.error(i, column)).collect();
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
        let [of_a, of_b] = *super::operands("solve", tangents)?;
        let of_a = match of_a {
            Some(of_a) if self.transposed => Some(site.transposed(of_a)?),
            of_a => of_a,
        };
        linearize_solution(site, Op::Solve(*self), of_a, of_b)
    }

    /// The cotangent of the right-hand side: the solution with the transposed matrix.
    pub fn transpose(
        &self,
        site: &mut Site,
        linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let op = Op::Solve(Solve { transposed: !self.transposed });
        let a = site.input(0)?;
        transpose_solution(site, op, a, linear, cotangent)
    }
}
