//! The operands of a product in panels.

use super::holds::Holds;
use super::product::Product;
use super::tile::{Columns, Depth};
use super::walk::Run;
use super::{Emit, Stored, Var};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::NodeId;
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::loops::Buf;
use crate::schedule::packing::{LARGE_COLUMNS, LARGE_ROWS, MANY_ROWS, MANY_TERMS, MOST_ROWS, Packing};
use crate::schedule::roots::{self, Along};

/// A panel: the elements of all rows or columns of a tile, of every term.
pub(super) struct Panels {
    pub(super) buf: Buf,
    /// Where it begins.
    pub(super) start: Dim,
    /// From one term to the next, and from one row or column to the next.
    pub(super) steps: [i64; 2],
}

impl Panels {
    /// Where the element of a term and of a row or column stands.
    pub(super) fn offset(&self, term: &Dim, element: usize) -> Dim {
        let [terms, elements] = self.steps;
        &(&self.start + &(term * &Dim::constant(terms))) + &Dim::constant(element as i64 * elements)
    }
}

/// The node and index of an operand's element of a row or column and of a term.
type Element<'f, 'a> = &'f dyn Fn(&Emit<'a>, &Dim, &[Dim]) -> (NodeId, Vec<Dim>);

/// Makes the loops of a product.
type Form<'f, 'a> = &'f dyn Fn(&mut Emit<'a>, &Product<'_>) -> Result<(), Bug>;

impl<'a> Emit<'a> {
    /// The product in one of two forms, or both with a branch on its size.
    pub(super) fn by_size(
        &mut self,
        product: &Product<'_>,
        large: Form<'_, 'a>,
        small: Form<'_, 'a>,
    ) -> Result<(), Bug> {
        let packing = Packing::of(&self.facts, &self.roots[product.root]);
        if !packing.large {
            return small(self, product);
        }
        let mut pays = Holds::Always;
        for (axis, least) in [(product.rows, LARGE_ROWS), (product.columns, LARGE_COLUMNS)] {
            let reaches = self.reaches(&product.extent(axis), least)?;
            pays = self.both(pays, reaches);
        }
        let repays = self.repays_packing(product)?;
        let condition = match self.both(pays, repays) {
            Holds::Always => return large(self, product),
            Holds::Never => return small(self, product),
            Holds::If(condition) => condition,
        };
        let memo = std::mem::take(&mut self.memo);
        self.b.open_branch(condition);
        let rows = product.extent(product.rows);
        self.at_least(&rows, LARGE_ROWS, &mut |emit| large(emit, product))?;
        self.b.otherwise(Vec::new());
        self.memo.clear();
        small(self, product)?;
        self.b.close_branch(Vec::new());
        self.memo = memo;
        Ok(())
    }

    /// Whether a product of many rows and columns has so many rows, or terms, that panels repay their copies.
    ///
    /// Tiles of many rows read each element of the right operand seldom, and ask for the next ones ahead.
    fn repays_packing(&mut self, product: &Product<'_>) -> Result<Holds, Bug> {
        let is_in_place = self.roots[product.root].along == [Along::Terms, Along::Own];
        if !is_in_place || self.tile_shape().0 < MOST_ROWS {
            return Ok(Holds::Always);
        }
        let rows = self.reaches(&product.extent(product.rows), MANY_ROWS)?;
        let terms = self.reaches(&Depth::whole(product).count, MANY_TERMS)?;
        Ok(self.either(rows, terms))
    }

    /// The panel of some rows of the left operand.
    pub(super) fn left_panel(&self, product: &Product<'_>, stored: &Stored, rows: u32) -> Panels {
        let row_terms = Packing::of(&self.facts, &self.roots[product.root]).row_terms;
        self.panel(stored, row_terms.map_or([rows.into(), 1], |terms| [1, terms]))
    }

    /// Copies rows of the left operand into a panel.
    pub(super) fn pack_left(
        &mut self,
        product: &Product<'_>,
        (row, rows): (Val, u32),
        depth: &Depth,
        panel: &Panels,
    ) -> Result<(), Bug> {
        self.b.pin(panel.buf);
        let row = Dim::sym(self.fresh(Var::Scalar(row)));
        let element = |emit: &Self, row: &Dim, term: &[Dim]| {
            let mut at = product.at.clone();
            if let Some(axis) = product.rows {
                at[axis] = row.clone();
            }
            at.extend_from_slice(term);
            roots::elements(emit.graph, product.node, &at).swap_remove(0)
        };
        match self.roots[product.root].along[0] {
            Along::Terms => self.pack_rows(product, (&row, rows), depth, panel, &element)?,
            Along::Own if self.has_masks() => {
                let lanes = self.register_lanes(self.roots[product.root].lane_bytes);
                let starts: Vec<u32> = (0..rows).step_by(lanes as usize).collect();
                let mut vectors = Vec::new();
                let base = self.scalar_index(&row)?;
                for start in starts {
                    let (distance, left) = (self.int(start.into()), self.int((rows - start).into()));
                    let base = self.b.prim(Prim::Add, &[base, distance]);
                    let mask = (rows - start < lanes).then(|| self.mask_below(left, lanes));
                    vectors.push((start, Dim::sym(self.fresh(Var::Lane(base))), mask));
                }
                self.with_lanes(lanes, None, &mut |emit| {
                    emit.all_terms(depth, &mut |emit, term, position| {
                        for (start, at, mask) in &vectors {
                            let (operand, at) = element(emit, at, term);
                            emit.memo.clear();
                            emit.tail = *mask;
                            let value = emit.value(operand, &at)?;
                            let value = emit.b.splat(value, lanes);
                            // What is stored too much is overwritten by the next term.
                            let offset = emit.scalar_index(&panel.offset(position, *start as usize))?;
                            emit.b.store(panel.buf, offset, value, None);
                        }
                        emit.tail = None;
                        Ok(())
                    })
                })?;
            }
            _ => {
                self.with_lanes(1, None, &mut |emit| {
                    emit.all_terms(depth, &mut |emit, term, position| {
                        for i in 0..rows {
                            let row = &row + &Dim::constant(i.into());
                            let (operand, at) = element(emit, &row, term);
                            let value = emit.value(operand, &at)?;
                            emit.store_at(panel.buf, &panel.offset(position, i as usize), value)?;
                        }
                        Ok(())
                    })
                })?;
            }
        }
        self.b.pin(panel.buf);
        Ok(())
    }

    /// Copies rows whose neighbours in memory are terms, one after another and as they are.
    ///
    /// The last vector of a row reaches beyond its terms, no farther than the next row begins.
    fn pack_rows(
        &mut self,
        product: &Product<'_>,
        (first, rows): (&Dim, u32),
        depth: &Depth,
        panel: &Panels,
        element: Element<'_, 'a>,
    ) -> Result<(), Bug> {
        let lanes = self.register_lanes(self.roots[product.root].lane_bytes);
        self.scalar_loop(&Dim::constant(rows.into()), &[], &mut |emit, number, _| {
            let number = Dim::sym(number);
            let (row, start) = (first + &number, &panel.start + &(&number * &Dim::constant(panel.steps[1])));
            emit.term_runs(depth, &mut |emit, run| {
                emit.masked_loop(run, lanes, &mut |emit, index, lanes| {
                    let var = if lanes == 1 { Var::Scalar(index) } else { Var::Lane(index) };
                    let term = [&run.outer[..], &[Dim::sym(emit.fresh(var))]].concat();
                    let (operand, at) = element(emit, &row, &term);
                    let value = emit.value(operand, &at)?;
                    let value = emit.b.splat(value, lanes);
                    let position = &run.before + &Dim::sym(emit.fresh(Var::Scalar(index)));
                    let offset = emit.scalar_index(&(&start + &position))?;
                    emit.b.store(panel.buf, offset, value, None);
                    Ok(())
                })
            })?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// Copies columns of the right operand into panels, of which the last may be narrower.
    pub(super) fn pack_right(
        &mut self,
        product: &Product<'_>,
        columns: &Columns,
        depth: &Depth,
        panels: &[Panels],
    ) -> Result<(), Bug> {
        panels.iter().for_each(|panel| self.b.pin(panel.buf));
        let element = |emit: &Self, column: &Dim, term: &[Dim]| {
            let mut at = product.at.clone();
            if let Some(axis) = product.columns {
                at[axis] = column.clone();
            }
            at.extend_from_slice(term);
            roots::elements(emit.graph, product.node, &at).swap_remove(1)
        };
        let width = panels[0].steps[0] as usize;
        let vectors = width / columns.lanes as usize;
        if self.roots[product.root].along[1] == Along::Terms && self.has_masks() && columns.lanes > 1 {
            // Columns beyond the last are read as the last.
            let last = &product.extent(product.columns) - &Dim::constant(1);
            let mut lanes = Vec::new();
            let (first, last) = (columns.first, self.scalar_index(&last)?);
            for i in 0..columns.width() {
                let distance = self.int(i);
                let mut column = self.b.prim(Prim::Add, &[first, distance]);
                if columns.masks.iter().any(Option::is_some) {
                    let beyond = self.b.prim(Prim::Cmp(Cmp::Gt), &[column, last]);
                    column = self.b.prim(Prim::Select, &[beyond, last, column]);
                }
                lanes.push(Dim::sym(self.fresh(Var::Scalar(column))));
            }
            for (panel, lanes) in panels.iter().zip(lanes.chunks(width)) {
                self.pack_transposed(product, lanes, depth, panel, &element)?;
            }
        } else {
            self.all_terms(depth, &mut |emit, term, position| {
                for (j, column) in columns.at.iter().enumerate() {
                    emit.tail = columns.masks[j];
                    let (operand, at) = element(emit, column, term);
                    let value = emit.value(operand, &at)?;
                    let value = emit.b.splat(value, columns.lanes);
                    let (panel, before) = (&panels[j / vectors], j % vectors * columns.lanes as usize);
                    let offset = emit.scalar_index(&panel.offset(position, before))?;
                    emit.b.store(panel.buf, offset, value, None);
                }
                emit.tail = None;
                Ok(())
            })?;
        }
        panels.iter().for_each(|panel| self.b.pin(panel.buf));
        Ok(())
    }

    /// Packs an operand whose neighbours in memory are terms: vectors of terms are transposed in registers.
    ///
    /// `lanes` are the rows or columns of the panel.  As many as a register has go at a time, so that memory sees no
    /// more streams than that, the last first: its square blocks reach beyond the last row or column, where the next
    /// term overwrites them, and beyond the last term, behind the panel.
    fn pack_transposed(
        &mut self,
        product: &Product<'_>,
        lanes: &[Dim],
        depth: &Depth,
        panel: &Panels,
        element: Element<'_, 'a>,
    ) -> Result<(), Bug> {
        let size = self.register_lanes(self.roots[product.root].lane_bytes);
        for (g, group) in lanes.chunks(size as usize).enumerate().rev() {
            self.term_runs(depth, &mut |emit, run| {
                emit.masked_loop(run, size, &mut |emit, index, _| {
                    emit.turned_square(product, (group, g * size as usize), (run, index), panel, element)
                })
            })?;
        }
        Ok(())
    }

    /// Loops over the terms of a run, `lanes` at a time, then over the rest: at once under a mask, or one by one where
    /// memory takes none.
    fn masked_loop(
        &mut self,
        run: &Run,
        lanes: u32,
        body: &mut dyn FnMut(&mut Self, Val, u32) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let (from, to) = run.range;
        let step = self.int(lanes.into());
        let span = self.b.prim(Prim::Sub, &[to, from]);
        let rest = self.b.prim(Prim::IRem, &[span, step]);
        let middle = self.b.prim(Prim::Sub, &[to, rest]);
        let (index, _) = self.b.open_loop((from, middle, lanes.into()), &[]);
        self.with_lanes(lanes, None, &mut |emit| body(emit, index, lanes))?;
        self.b.close_loop(Vec::new());
        if run.count.as_ref().is_some_and(|count| count % i64::from(lanes) == 0) {
            return Ok(());
        }
        let lanes = if self.has_masks() { lanes } else { 1 };
        let (index, _) = self.b.open_loop((middle, to, lanes.into()), &[]);
        let mask = (lanes > 1).then(|| self.mask_up_to(index, to, lanes));
        self.with_lanes(lanes, mask, &mut |emit| body(emit, index, lanes))?;
        self.b.close_loop(Vec::new());
        Ok(())
    }

    /// Packs as many terms as a register has lanes, of no more columns than that, from one index of a run on: those of
    /// the panel from `at` on.
    fn turned_square(
        &mut self,
        product: &Product<'_>,
        (group, at): (&[Dim], usize),
        (run, index): (&Run, Val),
        panel: &Panels,
        element: Element<'_, 'a>,
    ) -> Result<(), Bug> {
        let size = self.lanes;
        let dtype = self.graph.ty(product.node).dtype;
        let term = Dim::sym(self.fresh(Var::Lane(index)));
        let term = [&run.outer[..], std::slice::from_ref(&term)].concat();
        let start = &run.before + &Dim::sym(self.fresh(Var::Scalar(index)));
        let mut rows = Vec::with_capacity(size as usize);
        for lane in group {
            let (operand, at) = element(self, lane, &term);
            let value = self.value(operand, &at)?;
            rows.push(self.b.splat(value, size));
        }
        let zero = if dtype.is_float() { self.b.float(dtype, 0.0) } else { self.b.int(dtype, 0) };
        rows.resize(size as usize, self.b.splat(zero, size));
        for (t, term) in self.b.transposed(rows).into_iter().enumerate() {
            let offset = panel.offset(&(&start + &Dim::constant(t as i64)), at);
            let offset = self.scalar_index(&offset)?;
            self.b.store(panel.buf, offset, term, None);
        }
        Ok(())
    }

    /// Makes `body` with vectors of `lanes` lanes, of which those in `tail` exist.
    pub(super) fn with_lanes(
        &mut self,
        lanes: u32,
        tail: Option<Val>,
        body: &mut dyn FnMut(&mut Self) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let outer = (std::mem::replace(&mut self.lanes, lanes), std::mem::replace(&mut self.tail, tail));
        let memo = std::mem::take(&mut self.memo);
        body(self)?;
        self.memo = memo;
        (self.lanes, self.tail) = outer;
        Ok(())
    }
}
