//! Determinants of square matrices.

use super::fold;
use super::matrix::{Factors, Matrix, element, identity, is_square};
use super::site::{Site, only};
use super::solve::Solve;
use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::table::Ew;
use crate::graph::value::{Element, Env, Scalar, Value, unit};
use crate::graph::{NodeId, Op, Type};
use tensorjit_runtime::abi::DType;

/// Of a determinant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// It itself.
    Whole,
    /// -1, 0 or 1.
    Sign,
    /// The logarithm of its absolute value.
    LogSize,
}

/// The determinants of matrices, or a part of each.
///
/// The simplifier makes products of it, along the diagonals of factors that solving uses too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Determinant {
    /// What of them.
    pub part: Part,
}

impl Determinant {
    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [a] = super::operands("determinant", inputs)?;
        if !is_square(facts, a) {
            return Err(Bug::new("graph", format!("determinant of {a:?}")));
        }
        Ok(a.with_shape(a.shape[..a.rank() - 2].to_vec()))
    }

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [a] = super::operands("determinant", operands)?;
        let elements = Matrix::all(a).iter().map(|matrix| self.of(a.dtype, matrix)).collect();
        Ok(Value { dtype: a.dtype, shape: shape.to_vec(), elements })
    }

    fn of(&self, dtype: DType, a: &Matrix) -> Element {
        let (n, factors) = (a.rows, Factors::of(dtype, a));
        let (inverse, distance) = (factors.inverse(), factors.distance(dtype, a));
        let diagonal: Vec<Element> = factors.diagonal().map(|x| Element::exact(Scalar::Float(x))).collect();
        let count = 2.0 * (n as f64 + 1.0) * unit(dtype);
        // By how much it may differ, relative to it.
        let pairs = (0..n * n).map(|at| inverse.at(at % n, at / n).abs() * distance.x[at]);
        let relative: f64 = pairs.sum();
        let known = relative < 0.5;
        match self.part {
            Part::Whole if known => {
                let det = fold::prod(dtype, &diagonal);
                element(det.float(), 2.0 * relative * det.float().abs() + det.error)
            }
            // As far as the volume of the rows and of what they may be off goes.
            Part::Whole => {
                let length = |row: usize, of: &Matrix| (0..n).map(|k| of.at(row, k).abs()).sum::<f64>();
                let all: f64 = (0..n).map(|row| length(row, a) + length(row, &distance)).product();
                let exact = distance.x.iter().all(|x| *x == 0.0);
                let exact = exact || factors.diagonal().all(|x| x == 0.0);
                element(factors.diagonal().product(), if exact { 0.0 } else { all })
            }
            Part::Sign => {
                // The determinant itself may be too small or too large for a number.
                let signs = factors.diagonal().map(|x| if x == 0.0 { x } else { x.signum() });
                element(signs.product(), if known { 0.0 } else { f64::INFINITY })
            }
            Part::LogSize => {
                let logs = || factors.diagonal().map(|x| x.abs().ln());
                let reach: f64 = logs().map(f64::abs).sum();
                let error = 2.0 * relative + count * (reach + n as f64);
                element(logs().sum(), if known { error } else { f64::INFINITY })
            }
        }
    }

    /// The tangent: `tr(a⁻¹ da)`, times the determinant itself (Giles 2008, section 2.2.4).
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        let Some(tangent) = only(tangents)? else { return Ok(None) };
        if self.part == Part::Sign {
            return Ok(None);
        }
        let a = site.input(0)?;
        let ty = site.ty(a);
        let rank = ty.rank();
        let identity = identity(site, &ty)?;
        let inverse = site.add(Op::Solve(Solve { transposed: true }), &[a, identity])?;
        let terms = site.ew(Ew::Mul, &[inverse, tangent])?;
        let relative = site.sum(terms, &[rank - 2, rank - 1])?;
        match self.part {
            Part::Whole => site.ew(Ew::Mul, &[site.node, relative]).map(Some),
            _ => Ok(Some(relative)),
        }
    }
}
