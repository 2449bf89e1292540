//! Matrix products: their outer loops, and the choice among blocks, tiles without blocks, and few rows.
//!
//! The sum of an element is one chain of fused multiply-adds from 0 in the order of the folded axes, whatever the
//! blocks and tiles, so that these change no bit.

use std::mem;

use super::panels::Panels;
use super::tile::{Columns, Depth, Tile};
use super::{Emit, Var};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::NodeId;
use crate::lanes::{Lanes, Prim, Val};
use crate::schedule::roots::{Along, Root};

/// A product while its loops are made.
pub(super) struct Product<'e> {
    pub(super) root: usize,
    pub(super) node: NodeId,
    /// Maps of its result, which are computed from the accumulators of a tile.
    pub(super) epilogue: &'e [usize],
    /// Variables of the parallel axes, as far as their loops are open.
    pub(super) at: Vec<Dim>,
    /// Position of the axis of rows in the result, where the left operand has one of its own.
    pub(super) rows: Option<usize>,
    /// Position of the axis of vectors, where the right operand has one of its own.
    pub(super) columns: Option<usize>,
    /// Extents of the parallel axes.
    pub(super) extents: Vec<Dim>,
    /// Extents of the folded axes.
    pub(super) folded: Vec<Dim>,
}

impl Product<'_> {
    /// The extent of the axis of rows, or of columns; 1 where there is none.
    pub(super) fn extent(&self, axis: Option<usize>) -> Dim {
        axis.map_or_else(|| Dim::constant(1), |axis| self.extents[axis].clone())
    }
}

impl Emit<'_> {
    /// The product `roots[0]` and its epilogue, the other roots, at the indices `prefix` of the leading axes, whose
    /// loops are open.
    pub(super) fn product(&mut self, roots: &[usize], prefix: &[Dim]) -> Result<(), Bug> {
        let Some((root, epilogue)) = roots.split_first() else { return Ok(()) };
        let Root { node, left_axes, right_axes, parallel, folded, .. } = &self.roots[*root];
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
            folded: folded.clone(),
        };
        let is_tiled = |axis: &usize| Some(*axis) == product.rows || Some(*axis) == product.columns;
        let outer: Vec<usize> = (prefix.len()..rank).filter(|axis| !is_tiled(axis)).collect();
        self.outer_loops(&mut product, &outer)
    }

    fn outer_loops(&mut self, product: &mut Product<'_>, axes: &[usize]) -> Result<(), Bug> {
        let Some((axis, rest)) = axes.split_first() else {
            let product = &*product;
            return self.by_size(product, &Emit::product_in_blocks, &Emit::product_in_tiles);
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
    pub(super) fn tile_shape(&self) -> (u32, u32) {
        match self.b.target().vector_registers {
            32.. => (14, 2),
            _ => (6, 2),
        }
    }

    /// Tiles whose left operand is read where it stands: all columns of tiles in turn, in each all rows.
    fn product_in_tiles(&mut self, product: &Product<'_>) -> Result<(), Bug> {
        let depth = Depth::whole(product);
        let columns = self.all_columns(product)?;
        self.column_loops(product, columns, &mut |emit, columns| {
            let right = match emit.panels[product.root].right {
                Some(buf) if emit.roots[product.root].along[1] != Along::Own => {
                    let panel = Panels { buf, start: Dim::default() };
                    emit.pack_right(product, columns, &depth, &panel)?;
                    Some(panel)
                }
                _ => None,
            };
            emit.row_loops_of(product, &mut |emit, row, rows| {
                emit.tile(
                    product,
                    &Tile { columns, row, rows, depth: &depth, left: None, right: right.as_ref() },
                )
            })
        })
    }

    /// The range of all columns.
    pub(super) fn all_columns(&mut self, product: &Product<'_>) -> Result<(Val, Val), Bug> {
        let zero = self.int(0);
        Ok((zero, self.scalar_index(&product.extent(product.columns))?))
    }

    /// Loops over the columns of tiles in a range: as many vectors as a tile has, then one at a time under a mask.
    pub(super) fn column_loops(
        &mut self,
        product: &Product<'_>,
        (from, to): (Val, Val),
        body: &mut dyn FnMut(&mut Self, &Columns) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let lanes = self.register_lanes(self.roots[product.root].lane_bytes);
        let (_, vectors) = self.tile_shape();
        if product.columns.is_none() {
            return self.with_columns(from, (1, 1), None, body);
        }
        // A range that is not all columns begins and, but for the last, ends at whole tiles.
        let step = i64::from(vectors * lanes);
        let extent = product.extent(product.columns).as_const();
        let (span, size) = (self.b.prim(Prim::Sub, &[to, from]), self.int(step));
        let rest = self.b.prim(Prim::IRem, &[span, size]);
        let middle = self.b.prim(Prim::Sub, &[to, rest]);
        if extent.is_none_or(|extent| extent >= step) {
            let (column, _) = self.b.open_loop((from, middle, step), &[]);
            self.with_columns(column, (vectors, lanes), None, body)?;
            self.b.close_loop(Vec::new());
        }
        if extent.is_none_or(|extent| extent % step != 0) {
            // Without masked accesses to memory the columns that are left go one by one.
            let lanes = if self.has_masks() { lanes } else { 1 };
            let (column, _) = self.b.open_loop((middle, to, lanes.into()), &[]);
            let mask = (lanes > 1).then(|| self.mask_up_to(column, to, lanes));
            self.with_columns(column, (1, lanes), mask, body)?;
            self.b.close_loop(Vec::new());
        }
        Ok(())
    }

    /// The columns from `column` on, as many vectors of as many lanes.
    fn with_columns(
        &mut self,
        column: Val,
        (vectors, lanes): (u32, u32),
        mask: Option<Val>,
        body: &mut dyn FnMut(&mut Self, &Columns) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let mut at = Vec::new();
        for vector in 0..vectors {
            let distance = self.int((vector * lanes).into());
            let base = self.b.prim(Prim::Add, &[column, distance]);
            let var = if lanes == 1 { Var::Scalar(base) } else { Var::Lane(base) };
            at.push(Dim::sym(self.fresh(var)));
        }
        let outer = (mem::replace(&mut self.lanes, lanes), mem::replace(&mut self.tail, mask));
        let memo = mem::take(&mut self.memo);
        body(self, &Columns { first: column, at, lanes })?;
        self.memo = memo;
        (self.lanes, self.tail) = outer;
        Ok(())
    }

    /// Loops over the rows of tiles: even tiles where their number is known, else ever lower ones.
    pub(super) fn row_loops_of(
        &mut self,
        product: &Product<'_>,
        body: &mut dyn FnMut(&mut Self, Val, u32) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let Some(axis) = product.rows else {
            let zero = self.int(0);
            return body(self, zero, 1);
        };
        for (rows, from, to) in self.heights(&product.extents[axis]) {
            let (first, last) = (self.scalar_index(&from)?, self.scalar_index(&to)?);
            let (row, _) = self.b.open_loop((first, last, rows.into()), &[]);
            let memo = mem::take(&mut self.memo);
            body(self, row, rows)?;
            self.memo = memo;
            self.b.close_loop(Vec::new());
        }
        Ok(())
    }

    /// The heights of tiles, and the rows from and to which tiles have them.
    fn heights(&self, extent: &Dim) -> Vec<(u32, Dim, Dim)> {
        let (most, _) = self.tile_shape();
        if let Some(extent) = extent.as_const() {
            if extent <= 0 {
                return Vec::new();
            }
            let count = (extent + i64::from(most) - 1) / i64::from(most);
            let (low, higher) = (extent / count, extent % count);
            let middle = Dim::constant((low + 1) * higher);
            let ranges = [
                ((low + 1) as u32, Dim::default(), middle.clone()),
                (low as u32, middle, Dim::constant(extent)),
            ];
            return ranges.into_iter().filter(|(_, from, to)| from != to).collect();
        }
        let least = self.graph.facts.range(extent).1;
        let mut ranges = Vec::new();
        let mut from = Dim::default();
        let mut height = most;
        while height > 0 {
            if least.is_none_or(|most| most >= i64::from(height)) {
                let step = Dim::constant(height.into());
                let left = extent - &from;
                let to = &from + &(&left.floor_div(&step) * &step);
                if to != from {
                    ranges.push((height, from, to.clone()));
                }
                from = to;
            }
            height = if height == most { most.next_power_of_two() / 2 } else { height / 2 };
        }
        ranges
    }
}
