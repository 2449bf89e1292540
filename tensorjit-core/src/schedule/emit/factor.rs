//! Triangular factors of matrices, in place.

use super::Emit;
use super::matrix::{InPlace, REGISTERS};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::NodeId;
use crate::lanes::{Cmp, Lanes, Prim, Val};

impl Emit<'_> {
    /// The factor of Cholesky: first its transpose in the upper triangle, row by row, whose neighbours in memory are
    /// the lanes; then it is turned.
    pub(super) fn cholesky(&mut self, a: NodeId, l: &InPlace) -> Result<(), Bug> {
        let n = &l.columns;
        self.scalar_loop(n, &[], &mut |emit, row, _| {
            let row = Dim::sym(row);
            emit.factor_row(a, l, &row)?;
            emit.divide_row(l, &row)?;
            Ok(Vec::new())
        })?;
        self.turn_factor(l)
    }

    /// Row `row` of the transposed factor, from the diagonal on, times its diagonal element.
    fn factor_row(&mut self, a: NodeId, l: &InPlace, row: &Dim) -> Result<(), Bug> {
        self.lane_loop(&(&l.columns - row), l.bytes, REGISTERS, &mut |emit, after| {
            emit.b.pin(l.buf);
            let lanes = emit.lanes;
            let column = row + &Dim::sym(after);
            let own = emit.value(a, &l.index(&column, row))?;
            let own = emit.b.splat(own, lanes);
            let rest = emit.scalar_loop(row, &[own], &mut |emit, known, rest| {
                let known = Dim::sym(known);
                let factor = emit.load_at_scalar(l, &known, row)?;
                let other = emit.load_at(l.buf, &l.at(&known, &column))?;
                Ok(vec![emit.less_product(factor, other, rest[0], lanes)])
            })?;
            emit.store_at(l.buf, &l.at(row, &column), rest[0])
        })
    }

    /// Divides the row by the root of its diagonal element, which becomes NaN where that is not positive.
    fn divide_row(&mut self, l: &InPlace, row: &Dim) -> Result<(), Bug> {
        self.b.pin(l.buf);
        let pivot = self.load_at_scalar(l, row, row)?;
        let dtype = self.b.dtype(pivot);
        let (zero, nan) = (self.b.float(dtype, 0.0), self.b.float(dtype, f64::NAN));
        let positive = self.b.prim(Prim::Cmp(Cmp::Gt), &[pivot, zero]);
        let root = self.b.prim(Prim::Sqrt, &[pivot]);
        let root = self.b.prim(Prim::Select, &[positive, root, nan]);
        let after = row + &Dim::constant(1);
        self.lane_loop(&(&l.columns - &after), l.bytes, REGISTERS, &mut |emit, column| {
            emit.b.pin(l.buf);
            let at = l.at(row, &(&after + &Dim::sym(column)));
            let value = emit.load_at(l.buf, &at)?;
            let quotient = emit.b.prim(Prim::FDiv, &[value, root]);
            emit.store_at(l.buf, &at, quotient)
        })?;
        self.store_at(l.buf, &l.at(row, row), root)
    }

    /// Makes the lower triangle of the upper one, and clears that.  Where the last diagonal element is NaN the matrix
    /// was not positive definite.
    fn turn_factor(&mut self, l: &InPlace) -> Result<(), Bug> {
        let (n, one) = (&l.columns, Dim::constant(1));
        let last = n - &one;
        self.scalar_loop(n, &[], &mut |emit, row, _| {
            emit.b.pin(l.buf);
            let row = Dim::sym(row);
            let end = emit.load_at_scalar(l, &last, &last)?;
            let lost = emit.b.prim(Prim::Cmp(Cmp::Ne), &[end, end]);
            emit.scalar_loop(&row, &[], &mut |emit, column, _| {
                emit.b.pin(l.buf);
                let column = Dim::sym(column);
                let value = emit.load_at(l.buf, &l.at(&column, &row))?;
                let value = emit.b.prim(Prim::Select, &[lost, end, value]);
                emit.store_at(l.buf, &l.at(&row, &column), value)?;
                Ok(Vec::new())
            })?;
            emit.b.pin(l.buf);
            let value = emit.load_at(l.buf, &l.at(&row, &row))?;
            let value = emit.b.prim(Prim::Select, &[lost, end, value]);
            emit.store_at(l.buf, &l.at(&row, &row), value)?;
            Ok(Vec::new())
        })?;
        self.b.pin(l.buf);
        self.scalar_loop(n, &[], &mut |emit, row, _| {
            let after = &Dim::sym(row) + &one;
            let dtype = emit.b.buffer_dtype(l.buf);
            let zero = emit.b.float(dtype, 0.0);
            emit.lane_loop(&(n - &after), l.bytes, REGISTERS, &mut |emit, column| {
                emit.store_at(l.buf, &l.at(&Dim::sym(row), &(&after + &Dim::sym(column))), zero)
            })?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// The triangular factors: elimination of one column after another, from its greatest element.
    pub(super) fn lu(&mut self, a: NodeId, packed: &InPlace) -> Result<(), Bug> {
        let (n, one) = (&packed.columns, Dim::constant(1));
        self.fill_packed(a, packed)?;
        self.b.pin(packed.buf);
        self.scalar_loop(n, &[], &mut |emit, k, _| {
            emit.b.pin(packed.buf);
            let k = Dim::sym(k);
            let pivot = emit.greatest_of_column(packed, &k)?;
            emit.exchange(packed, &k, pivot)?;
            let after = &k + &one;
            let (from, to) = (emit.scalar_index(&after)?, emit.scalar_index(n)?);
            emit.range_loop((from, to, 1), &[], &mut |emit, row, _| {
                emit.eliminate(packed, &k, &Dim::sym(row))?;
                Ok(Vec::new())
            })?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// Stores the matrix, and the rows below it for an order without exchanges.
    fn fill_packed(&mut self, a: NodeId, packed: &InPlace) -> Result<(), Bug> {
        let n = &packed.columns;
        self.scalar_loop(n, &[], &mut |emit, row, _| {
            let row = Dim::sym(row);
            emit.lane_loop(n, packed.bytes, REGISTERS, &mut |emit, column| {
                let column = Dim::sym(column);
                let value = emit.value(a, &packed.index(&row, &column))?;
                emit.store_at(packed.buf, &packed.at(&row, &column), value)
            })?;
            Ok(Vec::new())
        })?;
        let dtype = self.b.buffer_dtype(packed.buf);
        self.lane_loop(n, packed.bytes, REGISTERS, &mut |emit, column| {
            let column = Dim::sym(column);
            let number = emit.lane_index(&column)?;
            let number = emit.b.prim(Prim::Convert(dtype), &[number]);
            emit.store_at(packed.buf, &packed.at(n, &column), number)?;
            let plus = emit.b.float(dtype, 1.0);
            emit.store_at(packed.buf, &packed.at(&(n + &Dim::constant(1)), &column), plus)
        })
    }

    /// The row, from the diagonal on, of the greatest element of a column, the first of equal ones.
    fn greatest_of_column(&mut self, packed: &InPlace, k: &Dim) -> Result<Val, Bug> {
        let own = self.load_at_scalar(packed, k, k)?;
        let own = self.b.prim(Prim::FAbs, &[own]);
        let (first, to) = (self.scalar_index(k)?, self.scalar_index(&packed.columns)?);
        let after = self.scalar_index(&(k + &Dim::constant(1)))?;
        let found = self.range_loop((after, to, 1), &[own, first], &mut |emit, row, best| {
            let number = emit.scalar_index(&Dim::sym(row))?;
            let size = emit.load_at_scalar(packed, &Dim::sym(row), k)?;
            let size = emit.b.prim(Prim::FAbs, &[size]);
            let more = emit.b.prim(Prim::Cmp(Cmp::Gt), &[size, best[0]]);
            let size = emit.b.prim(Prim::Select, &[more, size, best[0]]);
            Ok(vec![size, emit.b.prim(Prim::Select, &[more, number, best[1]])])
        })?;
        Ok(found[1])
    }

    /// Exchanges two rows, and says so below the matrix.
    fn exchange(&mut self, packed: &InPlace, k: &Dim, pivot: Val) -> Result<(), Bug> {
        let (n, one) = (&packed.columns, Dim::constant(1));
        let own = self.scalar_index(k)?;
        let same = self.b.prim(Prim::Cmp(Cmp::Eq), &[own, pivot]);
        let dtype = self.b.buffer_dtype(packed.buf);
        let (plus, minus) = (self.b.float(dtype, 1.0), self.b.float(dtype, -1.0));
        let sign = self.b.prim(Prim::Select, &[same, plus, minus]);
        let pivot = self.computed(pivot);
        self.lane_loop(n, packed.bytes, REGISTERS, &mut |emit, column| {
            emit.b.pin(packed.buf);
            let column = Dim::sym(column);
            emit.swap(packed, (k, &column), (&pivot, &column))
        })?;
        self.b.pin(packed.buf);
        self.swap(packed, (n, k), (n, &pivot))?;
        self.store_at(packed.buf, &packed.at(&(n + &one), k), sign)?;
        self.b.pin(packed.buf);
        Ok(())
    }

    fn swap(&mut self, packed: &InPlace, a: (&Dim, &Dim), b: (&Dim, &Dim)) -> Result<(), Bug> {
        let (a, b) = (packed.at(a.0, a.1), packed.at(b.0, b.1));
        let (first, second) = (self.load_at(packed.buf, &a)?, self.load_at(packed.buf, &b)?);
        self.store_at(packed.buf, &a, second)?;
        self.store_at(packed.buf, &b, first)
    }

    /// Takes a multiple of row `k` from a row below it, so that its element of column `k` vanishes; the factor stands
    /// there.  Where that of row `k` is 0 all are, and stay.
    fn eliminate(&mut self, packed: &InPlace, k: &Dim, row: &Dim) -> Result<(), Bug> {
        self.b.pin(packed.buf);
        let pivot = self.load_at_scalar(packed, k, k)?;
        let own = self.load_at_scalar(packed, row, k)?;
        let zero = self.b.float(self.b.dtype(pivot), 0.0);
        let none = self.b.prim(Prim::Cmp(Cmp::Eq), &[pivot, zero]);
        let factor = self.b.prim(Prim::FDiv, &[own, pivot]);
        let factor = self.b.prim(Prim::Select, &[none, own, factor]);
        self.store_at(packed.buf, &packed.at(row, k), factor)?;
        let after = k + &Dim::constant(1);
        self.lane_loop(&(&packed.columns - &after), packed.bytes, REGISTERS, &mut |emit, column| {
            emit.b.pin(packed.buf);
            let column = &after + &Dim::sym(column);
            let upper = emit.load_at(packed.buf, &packed.at(k, &column))?;
            let own = emit.load_at(packed.buf, &packed.at(row, &column))?;
            let lanes = emit.lanes;
            let rest = emit.less_product(factor, upper, own, lanes);
            emit.store_at(packed.buf, &packed.at(row, &column), rest)
        })
    }

    /// One element, the same in all lanes.
    fn load_at_scalar(&mut self, matrix: &InPlace, row: &Dim, column: &Dim) -> Result<Val, Bug> {
        let offset = self.scalar_index(&matrix.at(row, column))?;
        Ok(self.b.load(matrix.buf, offset, 1, None))
    }
}
