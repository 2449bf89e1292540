//! Large products block by block.
//!
//! A block of columns and terms of the right operand is packed into panels, one for each column of tiles, and stays
//! in the second cache while all rows pass by; the rows of a tile are packed too and stay in the first while all
//! panels pass by.  Between blocks of terms the sums stand in memory, in which they lose no bit.

use super::panels::Panels;
use super::product::Product;
use super::tile::{Depth, Part, Tile};
use super::{Emit, Packed, Stored, Var};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::schedule::fuse::Portion;
use crate::schedule::memory::Sums;
use crate::schedule::packing::{BLOCK_COLUMNS, Packing, panel_terms};
use crate::schedule::roots::Along;
use crate::schedule::tasks::{PACKING_BYTE, PIECE, PRODUCT_BYTE};

/// Panels that a row of the right operand fills at once.
const PACKED_PANELS: u32 = 4;

impl Emit<'_> {
    /// A product in blocks.
    pub(super) fn product_in_blocks(&mut self, product: &Product<'_>) -> Result<(), Bug> {
        let (zero, end) = self.all_columns(product)?;
        let size = self.int(BLOCK_COLUMNS);
        let (from, _) = self.b.open_loop((zero, end, BLOCK_COLUMNS), &[]);
        let next = self.b.prim(Prim::Add, &[from, size]);
        let to = self.least(next, end);
        self.depths(product, &mut |emit, depth| emit.block(product, (from, to), depth))?;
        self.b.close_loop(Vec::new());
        Ok(())
    }

    /// Loops over the blocks of terms: one where all terms fit, and one for a sum without terms.
    pub(super) fn depths(
        &mut self,
        product: &Product<'_>,
        body: &mut dyn FnMut(&mut Self, &Depth) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let packing = Packing::of(&self.facts, &self.roots[product.root]);
        let most = packing.block_terms.filter(|_| product.portion != Portion::Terms);
        let Some((most, sums)) = most.zip(self.sums_of(product.root)) else {
            let depth = self.depth(product)?;
            return body(self, &depth);
        };
        let (zero, one) = (self.int(0), self.int(1));
        let whole = Depth::whole(product);
        let terms = self.scalar_index(&whole.count)?;
        let at_least_one = self.b.prim(Prim::Cmp(Cmp::Gt), &[terms, zero]);
        let end = self.b.prim(Prim::Select, &[at_least_one, terms, one]);
        let (from, _) = self.b.open_loop((zero, end, most), &[]);
        self.b.pin(sums.buf);
        let size = self.int(most);
        let next = self.b.prim(Prim::Add, &[from, size]);
        let to = self.least(next, terms);
        let count = self.b.prim(Prim::Sub, &[to, from]);
        let part = Part {
            first: self.b.prim(Prim::Cmp(Cmp::Eq), &[from, zero]),
            last: self.b.prim(Prim::Cmp(Cmp::Ge), &[next, terms]),
            sums: sums.clone(),
        };
        let [from, count] = [from, count].map(|value| Dim::sym(self.fresh(Var::Scalar(value))));
        body(self, &Depth { from, count, part: Some(part), ..whole })?;
        self.b.pin(sums.buf);
        self.b.close_loop(Vec::new());
        Ok(())
    }

    /// The terms that the strip at hand adds, or all.
    pub(super) fn depth(&mut self, product: &Product<'_>) -> Result<Depth, Bug> {
        let (Portion::Terms, Some(rows)) = (product.portion, self.strip.clone()) else {
            return Ok(Depth::whole(product));
        };
        let Some(sums) = self.sums_of(product.root) else {
            return Err(Bug::new("schedule", format!("{:?} has no place for its sums", product.node)));
        };
        self.b.pin(sums.buf);
        let (zero, end) = (self.int(0), self.scalar_index(&product.folded[0])?);
        let first = self.b.prim(Prim::Cmp(Cmp::Eq), &[rows.from, zero]);
        let last = self.b.prim(Prim::Cmp(Cmp::Ge), &[rows.to, end]);
        let part = Part { first, last, sums };
        Ok(Depth { from: rows.first, count: rows.count, part: Some(part), ..Depth::whole(product) })
    }

    fn block(&mut self, product: &Product<'_>, columns: (Val, Val), depth: &Depth) -> Result<(), Bug> {
        let Packed { left, right: Some(right), .. } = self.panels[product.root].clone() else {
            return Err(Bug::new("schedule", format!("{:?} has no panels", product.node)));
        };
        let vectors = self.tile_shape().1;
        let volume = self.scalar_index(&depth.count)?;
        let apart = self.scalar_index(&panel_terms(&depth.count))?;
        // Panels lie one behind the other, each as wide as its columns.  What a task packs alone is its own.
        let (buf, begin) = match self.task {
            Some(_) => (right.buf, self.offset(&right, &[], &[])),
            None => (right.buf, Dim::default()),
        };
        let panel = |emit: &mut Self, first: Val, width: i64| {
            let before = emit.b.prim(Prim::Sub, &[first, columns.0]);
            let start = emit.b.prim(Prim::Mul, &[before, apart]);
            let start = Dim::sym(emit.fresh(Var::Scalar(start)));
            Panels { buf, start: &begin + &start, steps: [width, 1] }
        };
        // Of columns that are neighbours in memory a row fills several panels while its page is at hand.
        let is_own = self.roots[product.root].along[1] == Along::Own;
        let packed = if is_own { PACKED_PANELS * vectors } else { vectors };
        let span = self.b.prim(Prim::Sub, &[columns.1, columns.0]);
        let elements = self.b.prim(Prim::Mul, &[span, volume]);
        self.b.pin(buf);
        let piece = self.int(PIECE);
        let pieces = self.quotient_up(span, piece);
        self.part_of_product(product, pieces, (elements, PACKING_BYTE), &mut |emit, range| {
            let columns = match range {
                Some(range) => {
                    let (from, to) = emit.elements_of(range, PIECE, span);
                    let [from, to] = [from, to].map(|x| emit.b.prim(Prim::Add, &[columns.0, x]));
                    (from, to)
                }
                None => columns,
            };
            emit.column_loops(product, columns, packed, &mut |emit, columns| {
                let (all, width) = (columns.width(), i64::from(vectors * columns.lanes));
                let mut panels = Vec::new();
                for before in (0..all).step_by(width as usize) {
                    let distance = emit.int(before);
                    let first = emit.b.prim(Prim::Add, &[columns.first, distance]);
                    panels.push(panel(emit, first, width.min(all - before)));
                }
                emit.pack_right(product, columns, depth, &panels)
            })
        })?;
        self.b.pin(buf);
        let units = self.row_units(product)?;
        let rows = self.scalar_index(&product.extent(product.rows))?;
        let sums = self.b.prim(Prim::Mul, &[rows, elements]);
        let heights = self.heights(product)?;
        self.part_of_product(product, units, (sums, PRODUCT_BYTE), &mut |emit, range| {
            let range = emit.rows_of_units(product, range)?;
            emit.beside(product, &mut |emit, product| {
                heights.iter().try_for_each(|height| {
                    emit.rows_of_height(*height, range, &mut |emit, row, rows| {
                        let left = left.as_ref().map(|left| emit.left_panel(product, left, rows));
                        if let Some(left) = &left {
                            emit.pack_left(product, (row, rows), depth, left)?;
                        }
                        emit.column_loops(product, columns, vectors, &mut |emit, columns| {
                            let (left, right) = (left.as_ref(), panel(emit, columns.first, columns.width()));
                            emit.tile(product, &Tile { columns, row, rows, depth, left, right: Some(&right) })
                        })
                    })
                })
            })
        })
    }

    fn sums_of(&self, root: usize) -> Option<Stored> {
        match self.memory.homes[root].sums.as_ref()? {
            Sums::Of(home) => self.stored.get(&self.roots[*home].node).cloned(),
            Sums::Apart(_) => self.panels[root].sums.clone(),
        }
    }
}
