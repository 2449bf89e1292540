//! Systems of equations with triangular matrices.

use super::cholesky::{product, transposed, triangle};
use super::matrix::{Matrix, fits_right, minus_products, quotient};
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
        let [a, b] = super::operands("triangular_solve", inputs)?;
        if !fits_right(facts, a, b) {
            return Err(Bug::new("graph", format!("triangular_solve of {a:?} and {b:?}")));
        }
        Ok((*b).clone())
    }

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [a, b] = super::operands("triangular_solve", operands)?;
        let pairs = Matrix::all(a).into_iter().zip(Matrix::all(b));
        let found: Vec<Matrix> = pairs.map(|(matrix, b)| self.solve(a.dtype, &matrix, b)).collect();
        Ok(Matrix::join(a.dtype, shape, &found))
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
        let [of_a, of_b] = tangents else {
            return Err(Bug::new("autodiff", "triangular_solve has two tangents"));
        };
        let a = site.input(0)?;
        let mut right = *of_b;
        if let Some(of_a) = of_a {
            let ty = site.ty(a);
            let kept = self.triangle_of(site, &ty, *of_a)?;
            let moved = product(site, kept, site.node)?;
            let moved = site.ew(Ew::Neg, &[moved])?;
            right = site.plus(right, Some(moved))?;
        }
        right.map(|right| site.add(Op::TriangularSolve(*self), &[a, right])).transpose()
    }

    /// What of a tangent of the matrix counts.
    fn triangle_of(&self, site: &mut Site, ty: &Type, tangent: NodeId) -> Result<NodeId, Bug> {
        // The upper triangle is what is not below the diagonal.
        let lower = triangle(site, ty, self.lower != self.unit)?;
        match self.lower {
            true => site.keep(lower, tangent),
            false => {
                let zeros = site.zeros(ty)?;
                site.ew(Ew::Select, &[lower, zeros, tangent])
            }
        }
    }

    /// The cotangent of the right-hand side: the solution with the transposed matrix.
    pub fn transpose(
        &self,
        site: &mut Site,
        linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        if linear != [false, true] {
            return Err(Bug::new("autodiff", format!("triangular_solve is not linear in {linear:?}")));
        }
        let a = site.input(0)?;
        let a = transposed(site, a)?;
        let op = TriangularSolve { lower: !self.lower, ..*self };
        Ok(vec![None, Some(site.add(Op::TriangularSolve(op), &[a, cotangent])?)])
    }
}
