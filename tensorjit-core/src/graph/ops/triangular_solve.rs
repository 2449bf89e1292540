//! Systems of equations with triangular matrices.

use super::matrix::{
    Matrix, eval_solution, infer_solution, linearize_solution, minus_products, places, quotient,
    transpose_solution,
};
use super::site::Site;
use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::table::Ew;
use crate::graph::value::{Env, Value};
use crate::graph::{NodeId, Op, Type};
use tensorjit_runtime::abi::DType;

/// The `x` with `a @ x = b`: operands are `a`, of which one triangle is read, and `b`, matrices of as many batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TriangularSolve {
    /// Whether `a` is lower triangular.
    pub lower: bool,
    /// Whether its diagonal is 1, and not read.
    pub unit: bool,
}

impl TriangularSolve {
    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        infer_solution("triangular_solve", facts, inputs)
    }

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        eval_solution("triangular_solve", operands, shape, |dtype, a, b| self.solve(dtype, a, b))
    }

    fn solve(&self, dtype: DType, a: &Matrix, mut x: Matrix) -> Matrix {
        let n = a.rows;
        for column in 0..x.columns {
            for step in 0..n {
                let place = |step: usize| if self.lower { step } else { n - 1 - step };
                let i = place(step);
                let entry = |k: usize| ((a.at(i, k), a.error(i, k)), (x.at(k, column), x.error(k, column)));
                let own = (x.at(i, column), x.error(i, column));
                let rest = minus_products(dtype, own, (0..step).map(|step| entry(place(step))));
                let next = match self.unit {
                    true => rest,
                    false => quotient(dtype, rest, (a.at(i, i), a.error(i, i))),
                };
                x.set(i, column, next);
            }
        }
        x
    }

    /// The tangent: the solution for `db - da @ x`, with the triangle of `da` that counts.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        let [mut of_a, of_b] = *super::operands("triangular_solve", tangents)?;
        if let Some(whole) = of_a {
            let compare = match (self.lower, self.unit) {
                (true, false) => Ew::Ge,
                (true, true) => Ew::Gt,
                (false, false) => Ew::Le,
                (false, true) => Ew::Lt,
            };
            let ty = site.ty(whole);
            let counts = places(site, &ty, compare)?;
            of_a = Some(site.keep(counts, whole)?);
        }
        linearize_solution(site, Op::TriangularSolve(*self), of_a, of_b)
    }

    /// The cotangent of the right-hand side: the solution with the transposed matrix.
    pub fn transpose(
        &self,
        site: &mut Site,
        linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let op = Op::TriangularSolve(TriangularSolve { lower: !self.lower, ..*self });
        let a = site.input(0)?;
        let a = site.transposed(a)?;
        transpose_solution(site, op, a, linear, cotangent)
    }
}
