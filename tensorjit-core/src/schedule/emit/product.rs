//! Matrix products: register tiles of rows by vectors, summed over the folded axes in order.
//!
//! The sum of an element is one chain of fused multiply-adds from 0 in the order of the folded axes, whatever the
//! tile, so that the tile changes no bit.

use std::mem;

use tensorjit_runtime::abi::DType;

use super::panels::Panels;
use super::{Emit, Var};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::NodeId;
use crate::lanes::{Lanes, Prim, Val};
use crate::schedule::roots::{self, Root};

/// A product while its loops are made.
pub(super) struct Product<'e> {
    pub(super) root: usize,
    pub(super) node: NodeId,
    /// Maps of its result, which are computed from the accumulators of a tile.
    epilogue: &'e [usize],
    /// Variables of the parallel axes, as far as their loops are open.
    pub(super) at: Vec<Dim>,
    /// Position of the axis of rows in the result, where the left operand has one of its own.
    pub(super) rows: Option<usize>,
    /// Position of the axis of vectors, where the right operand has one of its own.
    pub(super) columns: Option<usize>,
    pub(super) extents: Vec<Dim>,
}

/// The columns of tiles.
#[derive(Clone, Copy)]
struct Columns<'c> {
    /// Variables of the vectors.
    at: &'c [Dim],
    lanes: u32,
    panels: Panels,
}

impl Emit<'_> {
    /// The product `roots[0]` and its epilogue, the other roots, at the indices `prefix` of the leading axes, whose
    /// loops are open.
    pub(super) fn product(&mut self, roots: &[usize], prefix: &[Dim]) -> Result<(), Bug> {
        let Some((root, epilogue)) = roots.split_first() else { return Ok(()) };
        let Root { node, left_axes, right_axes, parallel, .. } = &self.roots[*root];
        let rank = parallel.len();
        let mut at = vec![Dim::default(); rank];
        at[..prefix.len()].clone_from_slice(prefix);
        let is_open = |axis: &usize| *axis < prefix.len();
        let mut product = Product {
            root: *root,
            node: *node,
            epilogue,
            at,
            rows: (*left_axes > 0).then(|| rank - right_axes - 1).filter(|axis| !is_open(axis)),
            columns: (*right_axes > 0).then(|| rank - 1).filter(|axis| !is_open(axis)),
            extents: parallel.clone(),
        };
        let is_tiled = |axis: &usize| Some(*axis) == product.rows || Some(*axis) == product.columns;
        let outer: Vec<usize> = (prefix.len()..rank).filter(|axis| !is_tiled(axis)).collect();
        self.outer_loops(&mut product, &outer)
    }

    fn outer_loops(&mut self, product: &mut Product<'_>, axes: &[usize]) -> Result<(), Bug> {
        let Some((axis, rest)) = axes.split_first() else {
            let product = &*product;
            return self.packed(product, &|emit, panels| emit.column_tiles(product, panels));
        };
        let extent = product.extents[*axis].clone();
        self.scalar_loop(&extent, &[], &mut |emit, sym, _| {
            product.at[*axis] = Dim::sym(sym);
            emit.outer_loops(product, rest)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// Registers for accumulators: rows of the tile, and vectors of each row.
    fn tile_shape(&self) -> (u32, u32) {
        match self.b.target().vector_registers {
            32.. => (14, 2),
            _ => (6, 2),
        }
    }

    fn column_tiles(&mut self, product: &Product<'_>, panels: Panels) -> Result<(), Bug> {
        let lanes = self.register_lanes(self.roots[product.root].lane_bytes);
        let (rows, vectors) = self.tile_shape();
        if let Some(left) = panels.left {
            self.pack_left(product, left, rows)?;
        }
        let zero = self.int(0);
        let Some(axis) = product.columns else {
            return self.tiles_of_columns(product, panels, zero, (1, 1), None);
        };
        let extent = product.extents[axis].clone();
        let step = i64::from(vectors * lanes);
        let main = &extent.floor_div(&Dim::constant(step)) * &Dim::constant(step);
        let end = self.scalar_index(&extent)?;
        let middle = self.scalar_index(&main)?;
        if !main.is(0) {
            let (column, _) = self.b.open_loop((zero, middle, step), &[]);
            self.tiles_of_columns(product, panels, column, (vectors, lanes), None)?;
            self.b.close_loop(Vec::new());
        }
        if extent != main {
            // Without masked accesses to memory the columns that are left go one by one.
            let lanes = if self.has_masks() { lanes } else { 1 };
            let (column, _) = self.b.open_loop((middle, end, lanes.into()), &[]);
            let mask = (lanes > 1).then(|| self.mask_up_to(column, end, lanes));
            self.tiles_of_columns(product, panels, column, (1, lanes), mask)?;
            self.b.close_loop(Vec::new());
        }
        Ok(())
    }

    /// All tiles that begin at a column, with as many vectors of as many lanes.
    fn tiles_of_columns(
        &mut self,
        product: &Product<'_>,
        panels: Panels,
        column: Val,
        (vectors, lanes): (u32, u32),
        mask: Option<Val>,
    ) -> Result<(), Bug> {
        let at = self.column_variables(column, vectors, lanes);
        let outer = (mem::replace(&mut self.lanes, lanes), mem::replace(&mut self.tail, mask));
        let memo = mem::take(&mut self.memo);
        if let Some(right) = panels.right {
            self.pack_right(product, right, &at)?;
        }
        self.row_tiles(product, Columns { at: &at, lanes, panels })?;
        self.memo = memo;
        (self.lanes, self.tail) = outer;
        Ok(())
    }

    fn row_tiles(&mut self, product: &Product<'_>, columns: Columns<'_>) -> Result<(), Bug> {
        let zero = self.int(0);
        let Some(axis) = product.rows else { return self.tile(product, columns, zero, 1) };
        let extent = product.extents[axis].clone();
        let (most, _) = self.tile_shape();
        if let Some(extent) = extent.as_const()
            && extent <= i64::from(most)
        {
            return if extent > 0 { self.tile(product, columns, zero, extent as u32) } else { Ok(()) };
        }
        let mut from = Dim::default();
        for rows in [most, most / 3, 1] {
            let left = &extent - &from;
            if left.is(0) {
                break;
            }
            let step = Dim::constant(rows.into());
            let to = &from + &(&left.floor_div(&step) * &step);
            let (first, last) = (self.scalar_index(&from)?, self.scalar_index(&to)?);
            let (row, _) = self.b.open_loop((first, last, rows.into()), &[]);
            self.tile(product, columns, row, rows)?;
            self.b.close_loop(Vec::new());
            from = to;
        }
        Ok(())
    }

    /// One tile: the accumulators in registers, then its epilogue.
    fn tile(&mut self, product: &Product<'_>, columns: Columns<'_>, row: Val, rows: u32) -> Result<(), Bug> {
        let memo = mem::take(&mut self.memo);
        let row = Dim::sym(self.fresh(Var::Scalar(row)));
        let index = |i: u32, column: &Dim| {
            let mut at = product.at.clone();
            if let Some(axis) = product.rows {
                at[axis] = &row + &Dim::constant(i.into());
            }
            if let Some(axis) = product.columns {
                at[axis] = column.clone();
            }
            at
        };
        let dtype = self.graph.ty(product.node).dtype;
        let zero = if dtype.is_float() { self.b.float(dtype, 0.0) } else { self.b.int(dtype, 0) };
        let zero = self.b.splat(zero, columns.lanes);
        let count = rows as usize * columns.at.len();
        let folded = self.roots[product.root].folded.clone();
        let sums = self.nest(&folded, &vec![zero; count], &mut |emit, k, sums| {
            let mut next = Vec::with_capacity(sums.len());
            for i in 0..rows {
                for (j, column) in columns.at.iter().enumerate() {
                    let elements =
                        roots::elements(emit.graph, product.node, &[&index(i, column)[..], k].concat());
                    let left = match columns.panels.left {
                        Some(buf) => {
                            let (panel_rows, _) = emit.tile_shape();
                            let offset = emit.left_offset(product, panel_rows, &row, k);
                            emit.load_at(buf, &(&offset + &Dim::constant(i.into())))?
                        }
                        None => emit.value(elements[0].0, &elements[0].1)?,
                    };
                    let right = match columns.panels.right {
                        Some(buf) => {
                            let offset = emit.right_offset(product, columns.at.len(), j, k);
                            let offset = emit.scalar_index(&offset)?;
                            emit.b.load(buf, offset, columns.lanes, None)
                        }
                        None => emit.value(elements[1].0, &elements[1].1)?,
                    };
                    next.push(emit.multiply_add(dtype, left, right, sums[next.len()]));
                }
            }
            Ok(next)
        })?;
        let mut sums = sums.into_iter();
        for i in 0..rows {
            for column in columns.at {
                let at = index(i, column);
                self.memo.clear();
                if let Some(sum) = sums.next() {
                    self.finish(product.root, &at, sum);
                }
                for root in product.epilogue {
                    self.compute(*root, &at)?;
                }
                self.flush()?;
            }
        }
        self.memo = memo;
        Ok(())
    }

    fn multiply_add(&mut self, dtype: DType, left: Val, right: Val, sum: Val) -> Val {
        if dtype.is_float() {
            return self.b.prim(Prim::Fma, &[left, right, sum]);
        }
        let product = self.b.prim(Prim::Mul, &[left, right]);
        self.b.prim(Prim::Add, &[sum, product])
    }
}
