//! The triangular factors of square matrices, with their rows in another order.

use super::matrix::{Factors, Matrix, is_square};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::Type;
use crate::graph::value::{Env, Value};

/// What elimination by rows leaves, which takes each column's greatest element to its diagonal, the first of equal ones.
///
/// The result has two more rows than the matrix.  Above them are the factors: below the diagonal the lower one, whose own
/// diagonal is 1, and elsewhere the upper one.  The first of the two says which row of the matrix each row is, and the
/// second has -1 for each step that exchanged two rows, and 1 for the others.  Only the simplifier makes it, after all
/// derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lu;

impl Lu {
    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [a] = super::operands("lu", inputs)?;
        if !is_square(facts, a) {
            return Err(Bug::new("graph", format!("lu of {a:?}")));
        }
        let mut shape = a.shape.to_vec();
        let rows = a.rank() - 2;
        shape[rows] = &shape[rows] + &Dim::constant(2);
        Ok(a.with_shape(shape))
    }

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [a] = super::operands("lu", operands)?;
        let found: Vec<Matrix> = Matrix::all(a)
            .iter()
            .map(|matrix| {
                let Factors { packed, order, swapped, unsure } = Factors::of(a.dtype, matrix);
                let n = matrix.rows;
                let mut found = Matrix::of(n + 2, n, |row, column| match row.checked_sub(n) {
                    None => packed.at(row, column),
                    Some(0) => order[column] as f64,
                    Some(_) => {
                        if swapped[column] {
                            -1.0
                        } else {
                            1.0
                        }
                    }
                });
                found.error[..n * n].copy_from_slice(&packed.error);
                if unsure {
                    found.lose();
                }
                found
            })
            .collect();
        Ok(Matrix::join(a.dtype, shape, &found))
    }
}
