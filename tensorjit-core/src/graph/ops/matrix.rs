//! What the operators on square matrices share: their types, parts of their derivatives, the matrices of a batch, and error
//! bounds.
//!
//! The oracle solves in f64 by plain elimination, and bounds the error of a kernel by what is known of it: its result is that of
//! matrices that differ by a few roundings (Higham 2002, theorems 8.5, 9.3 and 10.3).

use tensorjit_runtime::abi::DType;

use super::contract::Contract;
use super::iota::Iota;
use super::site::Site;
use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::table::Ew;
use crate::graph::value::{Element, Scalar, Value, unit};
use crate::graph::{NodeId, Op, Type};

/// Whether the type is one of square matrices of floats, with any axes before the last two.
pub(super) fn is_square(facts: &Facts, ty: &Type) -> bool {
    let Some([rows, columns]) = ty.shape.last_chunk() else { return false };
    matches!(ty.dtype, DType::F32 | DType::F64) && facts.same(rows, columns)
}

/// The type of the solutions `x` of `a @ x = b`, for square matrices and as many right-hand sides of as many rows.
pub(super) fn infer_solution(name: &str, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
    let [a, b] = super::operands(name, inputs)?;
    let rows = b.rank().saturating_sub(1);
    let same = a.rank() == b.rank() && b.shape[..rows].iter().zip(&a.shape).all(|(b, a)| facts.same(a, b));
    if !is_square(facts, a) || a.dtype != b.dtype || !same {
        return Err(Bug::new("graph", format!("{name} of {a:?} and {b:?}")));
    }
    Ok((*b).clone())
}

/// The solutions, one matrix after another.
pub(super) fn eval_solution(
    name: &str,
    operands: &[&Value],
    shape: &[usize],
    solve: impl Fn(DType, &Matrix, Matrix) -> Matrix,
) -> Result<Value, Bug> {
    let [a, b] = super::operands(name, operands)?;
    let dtype = a.dtype;
    let pairs = Matrix::all(a).into_iter().zip(Matrix::all(b));
    let found: Vec<Matrix> = pairs.map(|(a, b)| solve(dtype, &a, b)).collect();
    Ok(Matrix::join(dtype, shape, &found))
}

/// The tangent of a solution: that of the same system for `db - da @ x`.
pub(super) fn linearize_solution(
    site: &mut Site,
    op: Op,
    of_a: Option<NodeId>,
    of_b: Option<NodeId>,
) -> Result<Option<NodeId>, Bug> {
    let mut right = of_b;
    if let Some(of_a) = of_a {
        let moved = product(site, of_a, site.node)?;
        let moved = site.ew(Ew::Neg, &[moved])?;
        right = site.plus(right, Some(moved))?;
    }
    let a = site.input(0)?;
    right.map(|right| site.add(op, &[a, right])).transpose()
}

/// The cotangent of the right-hand side, the one operand in which a solution is linear: the solution of the transposed
/// system, which is `op` of `a`.
pub(super) fn transpose_solution(
    site: &mut Site,
    op: Op,
    a: NodeId,
    linear: &[bool],
    cotangent: NodeId,
) -> Result<Vec<Option<NodeId>>, Bug> {
    if linear != [false, true] {
        return Err(Bug::new("autodiff", format!("{op:?} is not linear in {linear:?}")));
    }
    Ok(vec![None, Some(site.add(op, &[a, cotangent])?)])
}

/// The products of matrices of one batch.
pub(super) fn product(site: &mut Site, a: NodeId, b: NodeId) -> Result<NodeId, Bug> {
    let rank = site.ty(a).rank();
    let batch = (0..rank - 2).map(|axis| (axis, axis)).collect();
    site.add(Op::Contract(Contract { batch, sum: vec![(rank - 1, rank - 2)] }), &[a, b])
}

/// Where the row of an element compares so with its column, in square matrices: `Ew::Ge` is the lower triangle.
pub(super) fn places(site: &mut Site, ty: &Type, compare: Ew) -> Result<NodeId, Bug> {
    let rank = ty.rank();
    let count = Op::Iota(Iota { dtype: DType::I64, extent: ty.shape[rank - 1].clone() });
    let count = site.add(count, &[])?;
    let row = site.broadcast(count, &ty.shape, &[rank - 2])?;
    let column = site.broadcast(count, &ty.shape, &[rank - 1])?;
    site.ew(compare, &[row, column])
}

/// Identity matrices of a type.
pub fn identity(site: &mut Site, ty: &Type) -> Result<NodeId, Bug> {
    let diagonal = places(site, ty, Ew::Eq)?;
    site.ew(Ew::Cast(ty.dtype), &[diagonal])
}

/// One matrix: numbers, and how far those of a kernel may be off.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) x: Vec<f64>,
    pub(super) error: Vec<f64>,
}

impl Matrix {
    /// A matrix whose numbers are given by their places.
    pub(super) fn of(rows: usize, columns: usize, x: impl Fn(usize, usize) -> f64) -> Matrix {
        let x: Vec<f64> = (0..rows * columns).map(|at| x(at / columns, at % columns)).collect();
        Matrix { rows, columns, error: vec![0.0; x.len()], x }
    }

    /// The matrices of a tensor, in row-major order of the axes before.
    pub(super) fn all(value: &Value) -> Vec<Matrix> {
        let (before, last) = value.shape.split_at(value.shape.len().saturating_sub(2));
        let (rows, columns) = (last[0], last[1]);
        let count: usize = before.iter().product();
        let each = rows * columns;
        let one = |at: usize| {
            let elements = &value.elements[at * each..(at + 1) * each];
            let x = elements.iter().map(|element| element.float()).collect();
            let error = elements.iter().map(|element| element.error).collect();
            Matrix { rows, columns, x, error }
        };
        (0..count).map(one).collect()
    }

    /// The tensor of matrices.
    pub(super) fn join(dtype: DType, shape: &[usize], matrices: &[Matrix]) -> Value {
        let elements = matrices.iter().flat_map(|matrix| matrix.x.iter().zip(&matrix.error));
        let elements = elements.map(|(x, error)| element(*x, *error)).collect();
        Value { dtype, shape: shape.to_vec(), elements }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.x[row * self.columns + column]
    }

    pub(super) fn error(&self, row: usize, column: usize) -> f64 {
        self.error[row * self.columns + column]
    }

    pub(super) fn set(&mut self, row: usize, column: usize, (x, error): (f64, f64)) {
        (self.x[row * self.columns + column], self.error[row * self.columns + column]) = (x, error);
    }

    /// Everything may be anything.
    pub(super) fn lose(&mut self) {
        self.error.fill(f64::INFINITY);
    }

    pub(super) fn transposed(&self) -> Matrix {
        let mut found = Matrix::of(self.columns, self.rows, |row, column| self.at(column, row));
        for row in 0..self.columns {
            for column in 0..self.rows {
                found.error[row * self.rows + column] = self.error(column, row);
            }
        }
        found
    }
}

/// An element; a number that is not finite is one that nothing is known of.
pub(super) fn element(x: f64, error: f64) -> Element {
    let error = if error.is_nan() || !x.is_finite() && error > 0.0 { f64::INFINITY } else { error };
    Element { scalar: Scalar::Float(x), error }
}

/// `first - sum of a * b` with its error: each pair is `(value, error)`.
pub(super) fn minus_products(
    dtype: DType,
    first: (f64, f64),
    pairs: impl Iterator<Item = ((f64, f64), (f64, f64))>,
) -> (f64, f64) {
    let (mut value, mut error) = first;
    let (mut reach, mut count) = (value.abs(), 1.0);
    for ((a, of_a), (b, of_b)) in pairs {
        value -= a * b;
        error += a.abs() * of_b + b.abs() * of_a + of_a * of_b;
        reach += (a * b).abs();
        count += 1.0;
    }
    (value, error + count * unit(dtype) * reach)
}

/// A quotient with its error.
pub(super) fn quotient(dtype: DType, (a, of_a): (f64, f64), (b, of_b): (f64, f64)) -> (f64, f64) {
    let value = a / b;
    let error = match b.abs() > of_b {
        true => (of_a + value.abs() * of_b) / (b.abs() - of_b) + unit(dtype) * value.abs(),
        false => f64::INFINITY,
    };
    (value, error)
}

/// A matrix with its rows in another order as a product of triangular ones.
pub(super) struct Factors {
    /// Below the diagonal the lower factor, whose diagonal is 1; elsewhere the upper one.
    pub(super) packed: Matrix,
    /// Which row of the matrix each row is.
    pub(super) order: Vec<usize>,
    /// Whether each step exchanged two rows.
    pub(super) swapped: Vec<bool>,
    /// Whether a kernel that rounds otherwise may have chosen other rows.
    pub(super) unsure: bool,
}

impl Factors {
    /// Elimination by rows, from the greatest element of each column, the first of equal ones.
    pub(super) fn of(dtype: DType, a: &Matrix) -> Factors {
        let n = a.rows;
        let mut found =
            Factors { packed: a.clone(), order: (0..n).collect(), swapped: vec![false; n], unsure: false };
        for k in 0..n {
            found.pivot(k);
            let packed = &mut found.packed;
            let pivot = (packed.at(k, k), packed.error(k, k));
            for i in k + 1..n {
                let own = (packed.at(i, k), packed.error(i, k));
                let factor = if pivot.0 == 0.0 { own } else { quotient(dtype, own, pivot) };
                packed.set(i, k, factor);
                for j in k + 1..n {
                    let own = (packed.at(i, j), packed.error(i, j));
                    let upper = (packed.at(k, j), packed.error(k, j));
                    packed.set(i, j, minus_products(dtype, own, std::iter::once((factor, upper))));
                }
            }
        }
        found
    }

    /// Exchanges row `k` with the one that has the greatest element of column `k`.
    fn pivot(&mut self, k: usize) {
        let (n, packed) = (self.packed.rows, &mut self.packed);
        let size = |packed: &Matrix, i: usize| packed.at(i, k).abs();
        let mut best = k;
        for i in k + 1..n {
            if size(packed, i) > size(packed, best) {
                best = i;
            }
        }
        let margin = |i: usize| packed.error(i, k) + packed.error(best, k);
        self.unsure |=
            (k..n).any(|i| i != best && margin(i) > 0.0 && size(packed, best) - size(packed, i) <= margin(i));
        if best != k {
            for j in 0..n {
                packed.x.swap(k * n + j, best * n + j);
                packed.error.swap(k * n + j, best * n + j);
            }
            self.order.swap(k, best);
            self.swapped[k] = true;
        }
    }

    /// The elements of the upper factor's diagonal, and a sign for every exchange.
    pub(super) fn diagonal(&self) -> impl Iterator<Item = f64> {
        let sign = |k: usize| if self.swapped[k] { -1.0 } else { 1.0 };
        (0..self.packed.rows).map(move |k| sign(k) * self.packed.at(k, k))
    }

    /// The solution for one right-hand side.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.packed.rows;
        let mut x: Vec<f64> = self.order.iter().map(|row| b[*row]).collect();
        for i in 0..n {
            for k in 0..i {
                x[i] -= self.packed.at(i, k) * x[k];
            }
        }
        for i in (0..n).rev() {
            for k in (i + 1..n).rev() {
                x[i] -= self.packed.at(i, k) * x[k];
            }
            x[i] /= self.packed.at(i, i);
        }
        x
    }

    /// The inverse.
    pub(super) fn inverse(&self) -> Matrix {
        let n = self.packed.rows;
        let columns: Vec<Vec<f64>> = (0..n)
            .map(|column| self.solve(&(0..n).map(|i| f64::from(u8::from(i == column))).collect::<Vec<_>>()))
            .collect();
        Matrix::of(n, n, |row, column| columns[column][row])
    }

    /// How far the matrix that a kernel factors may be from `a`, element by element.
    pub(super) fn distance(&self, dtype: DType, a: &Matrix) -> Matrix {
        let n = self.packed.rows;
        let roundings = 4.0 * (n as f64 + 1.0) * unit(dtype);
        let mut found = Matrix::of(n, n, |_, _| 0.0);
        for (i, row) in self.order.iter().enumerate() {
            for j in 0..n {
                let lower = |k: usize| if k == i { 1.0 } else { self.packed.at(i, k).abs() };
                let sizes = (0..=i.min(j)).map(|k| lower(k) * self.packed.at(k, j).abs());
                found.x[row * n + j] = roundings * sizes.sum::<f64>() + a.error(*row, j);
            }
        }
        found
    }
}
