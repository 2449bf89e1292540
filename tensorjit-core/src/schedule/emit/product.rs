//! Matrix products: register tiles of rows by vectors, summed over the folded axes in order.
//!
//! The sum of an element is one chain of fused multiply-adds from 0 in the order of the folded axes, whatever the
//! tile, so that the tile changes no bit.

use super::Emit;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::{NodeId, Op};
use crate::lanes::{Lanes, Prim, Val};
use crate::schedule::fuse::Group;
use crate::schedule::roots;

/// A product while its loops are made.
struct Product<'g> {
    group: &'g Group,
    root: usize,
    node: NodeId,
    /// Variables of the parallel axes, as far as their loops are open.
    at: Vec<Dim>,
    /// Position of the axis of rows in the result, where the left operand has one of its own.
    rows: Option<usize>,
    /// Position of the axis of vectors, where the right operand has one of its own.
    columns: Option<usize>,
    extents: Vec<Dim>,
}

/// The extent of a tile.
#[derive(Clone, Copy)]
struct Tile {
    rows: u32,
    vectors: u32,
    lanes: u32,
    /// The first column, and the first row.
    column: Val,
    row: Val,
    /// Lanes of the only vector that exist.
    mask: Option<Val>,
}

impl Emit<'_> {
    /// A product and its epilogue.
    pub(super) fn product(&mut self, group: &Group) -> Result<(), Bug> {
        let root = group.stages[0][0];
        let node = self.roots[root].node;
        let Op::Contract(op) = &self.graph.node(node).op else {
            return Err(Bug::new("schedule", format!("{node:?} is not a contraction")));
        };
        let inputs = &self.graph.node(node).inputs;
        let rank = self.graph.ty(node).rank();
        let fixed = op.batch.len() + op.sum.len();
        let left = self.graph.ty(inputs[0]).rank() - fixed;
        let right = self.graph.ty(inputs[1]).rank() - fixed;
        let product = Product {
            group,
            root,
            node,
            at: vec![Dim::default(); rank],
            rows: (left > 0).then(|| op.batch.len() + left - 1),
            columns: (right > 0).then(|| rank - 1),
            extents: self.graph.ty(node).shape.clone(),
        };
        let outer: Vec<usize> =
            (0..rank).filter(|axis| Some(*axis) != product.rows && Some(*axis) != product.columns).collect();
        self.outer_loops(product, &outer)
    }

    fn outer_loops(&mut self, mut product: Product<'_>, axes: &[usize]) -> Result<(), Bug> {
        let Some((axis, rest)) = axes.split_first() else { return self.column_tiles(&product) };
        let extent = product.extents[*axis].clone();
        let mut product = Some({
            product.at[*axis] = Dim::default();
            product
        });
        self.scalar_loop(&extent, &[], &mut |emit, sym, _| {
            let Some(mut inner) = product.take() else { return Ok(Vec::new()) };
            inner.at[*axis] = Dim::sym(sym);
            emit.outer_loops(inner, rest)?;
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

    fn column_tiles(&mut self, product: &Product<'_>) -> Result<(), Bug> {
        let lanes = self.register_lanes(self.roots[product.root].lane_bytes);
        let (_, vectors) = self.tile_shape();
        let zero = self.int(0);
        let Some(axis) = product.columns else {
            return self.row_tiles(product, 1, 1, zero, None);
        };
        let extent = product.extents[axis].clone();
        let step = i64::from(vectors * lanes);
        let main = &extent.floor_div(&Dim::constant(step)) * &Dim::constant(step);
        let end = self.scalar_index(&extent)?;
        let middle = self.scalar_index(&main)?;
        if !main.is(0) {
            let (column, _) = self.b.open_loop((zero, middle, step), &[]);
            self.row_tiles(product, vectors, lanes, column, None)?;
            self.b.close_loop(Vec::new());
        }
        if extent != main {
            let (column, _) = self.b.open_loop((middle, end, lanes.into()), &[]);
            let mask = self.mask_up_to(column, end, lanes);
            self.row_tiles(product, 1, lanes, column, Some(mask))?;
            self.b.close_loop(Vec::new());
        }
        Ok(())
    }

    fn row_tiles(
        &mut self,
        product: &Product<'_>,
        vectors: u32,
        lanes: u32,
        column: Val,
        mask: Option<Val>,
    ) -> Result<(), Bug> {
        let zero = self.int(0);
        let tile = |rows, row| Tile { rows, vectors, lanes, column, row, mask };
        let Some(axis) = product.rows else { return self.tile(product, tile(1, zero)) };
        let extent = product.extents[axis].clone();
        let (most, _) = self.tile_shape();
        if let Some(extent) = extent.as_const()
            && extent <= i64::from(most)
        {
            return if extent > 0 { self.tile(product, tile(extent as u32, zero)) } else { Ok(()) };
        }
        let mut from = Dim::default();
        for rows in [most, most / 2, 2, 1] {
            let left = &extent - &from;
            if left.is(0) {
                break;
            }
            let step = Dim::constant(rows.into());
            let to = &from + &(&left.floor_div(&step) * &step);
            let (first, last) = (self.scalar_index(&from)?, self.scalar_index(&to)?);
            let (row, _) = self.b.open_loop((first, last, rows.into()), &[]);
            self.tile(product, tile(rows, row))?;
            self.b.close_loop(Vec::new());
            from = to;
        }
        Ok(())
    }

    /// One tile: the accumulators in registers, then its epilogue.
    fn tile(&mut self, product: &Product<'_>, tile: Tile) -> Result<(), Bug> {
        let memo = std::mem::take(&mut self.memo);
        let row = self.fresh(super::Var::Scalar(tile.row));
        let mut columns = Vec::new();
        for vector in 0..tile.vectors {
            let distance = self.int((vector * tile.lanes).into());
            let base = self.b.prim(Prim::Add, &[tile.column, distance]);
            let var = if tile.lanes == 1 { super::Var::Scalar(base) } else { super::Var::Lane(base) };
            columns.push(Dim::sym(self.fresh(var)));
        }
        let index = |i: u32, column: &Dim| {
            let mut at = product.at.clone();
            if let Some(axis) = product.rows {
                at[axis] = &Dim::sym(row) + &Dim::constant(i.into());
            }
            if let Some(axis) = product.columns {
                at[axis] = column.clone();
            }
            at
        };
        let dtype = self.graph.ty(product.node).dtype;
        let zero = if dtype.is_float() { self.b.float(dtype, 0.0) } else { self.b.int(dtype, 0) };
        let zero = self.b.splat(zero, tile.lanes);
        let count = (tile.rows * tile.vectors) as usize;
        let outer = (self.lanes, self.tail);
        (self.lanes, self.tail) = (tile.lanes, tile.mask);
        let folded = self.roots[product.root].folded.clone();
        let sums = self.sums(product, &folded, &mut Vec::new(), &vec![zero; count], &|emit, k, sums| {
            let mut next = Vec::with_capacity(sums.len());
            for i in 0..tile.rows {
                for (j, column) in columns.iter().enumerate() {
                    let at = [&index(i, column)[..], k].concat();
                    let sum = sums[i as usize * columns.len() + j];
                    next.push(emit.multiply_add(product.node, &at, sum)?);
                }
            }
            Ok(next)
        })?;
        for i in 0..tile.rows {
            for (j, column) in columns.iter().enumerate() {
                let at = index(i, column);
                self.memo.clear();
                self.finish(product.root, &at, sums[i as usize * columns.len() + j])?;
                for root in &product.group.stages[0][1..] {
                    self.compute(*root, &at)?;
                }
            }
        }
        (self.lanes, self.tail) = outer;
        self.memo = memo;
        Ok(())
    }

    /// The loops over the folded axes.
    fn sums(
        &mut self,
        product: &Product<'_>,
        axes: &[Dim],
        k: &mut Vec<Dim>,
        sums: &[Val],
        step: &dyn Fn(&mut Self, &[Dim], &[Val]) -> Result<Vec<Val>, Bug>,
    ) -> Result<Vec<Val>, Bug> {
        let Some((axis, rest)) = axes.split_first() else { return step(self, k, sums) };
        self.scalar_loop(axis, sums, &mut |emit, sym, sums| {
            k.push(Dim::sym(sym));
            let next = emit.sums(product, rest, k, sums, step);
            k.pop();
            next
        })
    }

    fn multiply_add(&mut self, node: NodeId, at: &[Dim], sum: Val) -> Result<Val, Bug> {
        let elements = roots::elements(self.graph, node, at);
        let left = self.value(elements[0].0, &elements[0].1)?;
        let right = self.value(elements[1].0, &elements[1].1)?;
        if self.graph.ty(node).dtype.is_float() {
            return Ok(self.b.prim(Prim::Fma, &[left, right, sum]));
        }
        let product = self.b.prim(Prim::Mul, &[left, right]);
        Ok(self.b.prim(Prim::Add, &[sum, product]))
    }
}
