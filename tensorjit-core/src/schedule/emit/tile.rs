//! One tile of a product: the accumulators in registers, and what becomes of them.

use std::mem;

use tensorjit_runtime::abi::DType;

use super::panels::Panels;
use super::product::Product;
use super::{Emit, Stored, Var};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::{Lanes, Prim, Val};
use crate::schedule::memory::Sums;
use crate::schedule::{reads, roots};

/// The columns of a tile.
pub(super) struct Columns {
    /// The first column.
    pub(super) first: Val,
    /// Variables of the vectors.
    pub(super) at: Vec<Dim>,
    /// The lanes of each vector that exist, where these are not all.
    pub(super) masks: Vec<Option<Val>>,
    /// Lanes of a vector.
    pub(super) lanes: u32,
}

impl Columns {
    /// How many there are, those that do not exist included.
    pub(super) fn width(&self) -> i64 {
        self.at.len() as i64 * i64::from(self.lanes)
    }

    /// The mask of vector `i` of a tile, counted row by row.
    fn mask(&self, i: usize) -> Option<Val> {
        self.masks[i % self.masks.len()]
    }
}

/// The terms of the sums that tiles add, counted over all folded axes, the last fastest.
pub(super) struct Depth {
    /// The first.
    pub(super) from: Dim,
    /// How many.
    pub(super) count: Dim,
    /// The extents of the folded axes.
    pub(super) extents: Vec<Dim>,
    /// Where these are not all terms.
    pub(super) part: Option<Part>,
}

/// A sum whose terms are added in several blocks.
pub(super) struct Part {
    /// Whether these are the first terms.
    pub(super) first: Val,
    /// Whether these are the last terms.
    pub(super) last: Val,
    /// Where sums stand between blocks, as the result would.
    pub(super) sums: Stored,
}

impl Depth {
    /// All terms.
    pub(super) fn whole(product: &Product<'_>) -> Depth {
        let extents = product.folded.clone();
        Depth { from: Dim::default(), count: reads::volume(&extents), extents, part: None }
    }
}

/// A tile.
pub(super) struct Tile<'t> {
    pub(super) columns: &'t Columns,
    /// The first row, and how many.
    pub(super) row: Val,
    pub(super) rows: u32,
    pub(super) depth: &'t Depth,
    /// The operands, where they are packed.
    pub(super) left: Option<&'t Panels>,
    pub(super) right: Option<&'t Panels>,
}

impl Emit<'_> {
    /// One tile, and its epilogue after the last terms.
    pub(super) fn tile(&mut self, product: &Product<'_>, tile: &Tile<'_>) -> Result<(), Bug> {
        let memo = mem::take(&mut self.memo);
        let indices = self.indices(product, tile);
        self.ask_ahead(product, tile, &indices)?;
        let sums = self.add_terms(
            product,
            tile,
            &mut |emit, term, position, sums| emit.add_term(product, tile, &indices, (term, position), sums),
            &mut |emit, sums| emit.resume(product, tile, &indices, sums),
        )?;
        match &tile.depth.part {
            None => self.finish_tile(product, tile, &indices, &sums)?,
            // The sums so far stand where the result will: the last are no other than those before.
            Some(_) if self.sums_are_result(product) => self.finish_tile(product, tile, &indices, &sums)?,
            Some(part) => {
                self.b.open_branch(part.last);
                self.finish_tile(product, tile, &indices, &sums)?;
                self.b.otherwise(Vec::new());
                for (i, (at, sum)) in indices.iter().zip(&sums).enumerate() {
                    self.tail = tile.columns.mask(i);
                    let offset = self.offset(&part.sums, &self.graph.ty(product.node).shape, at);
                    self.store_at(part.sums.buf, &offset, *sum)?;
                }
                self.b.close_branch(Vec::new());
            }
        }
        self.memo = memo;
        self.tail = None;
        Ok(())
    }

    /// Whether a product has no epilogue and its sums stand between blocks in the one place that its result has.
    fn sums_are_result(&self, product: &Product<'_>) -> bool {
        let home = &self.memory.homes[product.root];
        let places = home.arguments.len() + usize::from(home.arena.is_some());
        product.epilogue.is_empty() && places == 1 && home.sums == Some(Sums::Of(product.root))
    }

    /// The indices of the vectors of a tile, row by row.
    fn indices(&mut self, product: &Product<'_>, tile: &Tile<'_>) -> Vec<Vec<Dim>> {
        let row = Dim::sym(self.fresh(Var::Scalar(tile.row)));
        let mut indices = Vec::new();
        for i in 0..tile.rows {
            for column in &tile.columns.at {
                let mut at = product.at.clone();
                if let Some(axis) = product.rows {
                    at[axis] = &row + &Dim::constant(i.into());
                }
                if let Some(axis) = product.columns {
                    at[axis] = column.clone();
                }
                indices.push(at);
            }
        }
        indices
    }

    /// Adds what earlier parts of the terms have left, where there are such.
    fn resume(
        &mut self,
        product: &Product<'_>,
        tile: &Tile<'_>,
        indices: &[Vec<Dim>],
        sums: Vec<Val>,
    ) -> Result<Vec<Val>, Bug> {
        let Some(part) = &tile.depth.part else { return Ok(sums) };
        self.b.open_branch(part.first);
        self.b.otherwise(sums.clone());
        let mut added = Vec::with_capacity(sums.len());
        for (i, (at, sum)) in indices.iter().zip(sums).enumerate() {
            self.tail = tile.columns.mask(i);
            let offset = self.offset(&part.sums, &self.graph.ty(product.node).shape, at);
            let earlier = self.load_at(part.sums.buf, &offset)?;
            added.push(self.b.prim(Prim::Add, &[earlier, sum]));
        }
        self.tail = None;
        Ok(self.b.close_branch(added))
    }

    /// Adds one term to all sums.
    fn add_term(
        &mut self,
        product: &Product<'_>,
        tile: &Tile<'_>,
        indices: &[Vec<Dim>],
        (term, position): (&[Dim], &Dim),
        sums: &[Val],
    ) -> Result<Vec<Val>, Bug> {
        let dtype = self.graph.ty(product.node).dtype;
        let vectors = tile.columns.at.len();
        let element = |emit: &Self, index: &[Dim], side: usize| {
            roots::elements(emit.graph, product.node, &[index, term].concat()).swap_remove(side)
        };
        let mut right = Vec::with_capacity(vectors);
        for (j, index) in indices[..vectors].iter().enumerate() {
            right.push(match tile.right {
                Some(panel) => {
                    let offset = panel.offset(position, j * tile.columns.lanes as usize);
                    let offset = self.scalar_index(&offset)?;
                    self.b.load(panel.buf, offset, tile.columns.lanes, None)
                }
                None => {
                    self.tail = tile.columns.masks[j];
                    let (operand, at) = element(self, index, 1);
                    self.value(operand, &at)?
                }
            });
        }
        if tile.right.is_none() {
            self.ask_for_next_columns(product, tile, &indices[..vectors], term)?;
        }
        let mut next = Vec::with_capacity(sums.len());
        for (i, row) in indices.chunks(vectors).enumerate() {
            let left = match tile.left {
                Some(panel) => self.load_at(panel.buf, &panel.offset(position, i))?,
                None => {
                    let (operand, at) = element(self, &row[0], 0);
                    self.value(operand, &at)?
                }
            };
            for right in &right {
                next.push(self.multiply_add(dtype, left, *right, sums[next.len()]));
            }
        }
        Ok(next)
    }

    fn finish_tile(
        &mut self,
        product: &Product<'_>,
        tile: &Tile<'_>,
        indices: &[Vec<Dim>],
        sums: &[Val],
    ) -> Result<(), Bug> {
        for (i, (at, sum)) in indices.iter().zip(sums).enumerate() {
            self.tail = tile.columns.mask(i);
            self.memo.clear();
            self.finish(product.root, at, *sum);
            for root in product.epilogue {
                self.compute(*root, at)?;
            }
            self.flush()?;
        }
        self.memo.clear();
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
