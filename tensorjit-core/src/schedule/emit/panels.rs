//! The operands of a product in panels.

use super::product::Product;
use super::{Emit, Var};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::loops::Buf;
use crate::schedule::packing::{LARGE_COLUMNS, LARGE_ROWS, Packing, When};
use crate::schedule::{reads, roots};

/// Which operands are in panels.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Panels {
    /// All of the left operand: panels of as many rows as a tile has, the rows of a panel side by side.
    pub(super) left: Option<Buf>,
    /// The columns of the tile at hand.
    pub(super) right: Option<Buf>,
}

impl Emit<'_> {
    /// Makes `body` for a product with panels, or without, or for both with a branch on its size.
    pub(super) fn packed(
        &mut self,
        product: &Product<'_>,
        body: &dyn Fn(&mut Self, Panels) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let packing = Packing::of(&self.graph.facts, &self.roots[product.root]);
        let [left, right] = self.panels[product.root];
        let small = Panels { left: None, right: right.filter(|_| packing.right == When::Always) };
        let large = Panels { left, right };
        if packing.left == When::Never {
            return body(self, small);
        }
        let mut condition = None;
        for (extent, least) in [(&packing.rows, LARGE_ROWS), (&packing.columns, LARGE_COLUMNS)] {
            let Some(extent) = extent.as_ref().filter(|extent| extent.as_const().is_none()) else { continue };
            let (extent, least) = (self.scalar_index(extent)?, self.int(least));
            let reaches = self.b.prim(Prim::Cmp(Cmp::Ge), &[extent, least]);
            condition = Some(match condition {
                Some(other) => self.b.prim(Prim::And, &[other, reaches]),
                None => reaches,
            });
        }
        let Some(condition) = condition else { return body(self, large) };
        let memo = std::mem::take(&mut self.memo);
        self.b.open_branch(condition);
        body(self, large)?;
        self.b.otherwise(Vec::new());
        self.memo.clear();
        body(self, small)?;
        self.b.close_branch(Vec::new());
        self.memo = memo;
        Ok(())
    }

    /// Copies the left operand into panels of `rows` rows.
    pub(super) fn pack_left(&mut self, product: &Product<'_>, buf: Buf, rows: u32) -> Result<(), Bug> {
        let Some(axis) = product.rows else { return Ok(()) };
        self.b.pin(buf);
        let extent = product.extents[axis].clone();
        let extents = [&[extent], &self.roots[product.root].folded[..]].concat();
        self.nest(&extents, &[], &mut |emit, index, _| {
            let (row, k) = (&index[0], &index[1..]);
            let mut at = product.at.clone();
            at[axis] = row.clone();
            at.extend_from_slice(k);
            let elements = roots::elements(emit.graph, product.node, &at);
            let value = emit.value(elements[0].0, &elements[0].1)?;
            let offset = emit.left_offset(product, rows, row, k);
            emit.store_at(buf, &offset, value)?;
            Ok(Vec::new())
        })?;
        self.b.pin(buf);
        Ok(())
    }

    /// Where the left operand's element of a row and of folded indices stands.
    pub(super) fn left_offset(&self, product: &Product<'_>, rows: u32, row: &Dim, k: &[Dim]) -> Dim {
        let folded = &self.roots[product.root].folded;
        let rows = Dim::constant(rows.into());
        let panel = &(&row.floor_div(&rows) * &rows) * &reads::volume(folded);
        &(&panel + &(&reads::flat(folded, k) * &rows)) + &row.modulo(&rows)
    }

    /// Copies the columns of a tile into a panel; `columns` are variables of its vectors.
    pub(super) fn pack_right(&mut self, product: &Product<'_>, buf: Buf, columns: &[Dim]) -> Result<(), Bug> {
        self.b.pin(buf);
        let folded = self.roots[product.root].folded.clone();
        self.nest(&folded, &[], &mut |emit, k, _| {
            for (j, column) in columns.iter().enumerate() {
                let mut at = product.at.clone();
                if let Some(axis) = product.columns {
                    at[axis] = column.clone();
                }
                at.extend_from_slice(k);
                let elements = roots::elements(emit.graph, product.node, &at);
                let value = emit.value(elements[1].0, &elements[1].1)?;
                let value = emit.b.splat(value, emit.lanes);
                let offset = emit.right_offset(product, columns.len(), j, k);
                let offset = emit.scalar_index(&offset)?;
                emit.b.store(buf, offset, value, None);
            }
            Ok(Vec::new())
        })?;
        self.b.pin(buf);
        Ok(())
    }

    /// Where vector `vector` of a panel of `vectors` vectors stands.
    pub(super) fn right_offset(
        &self,
        product: &Product<'_>,
        vectors: usize,
        vector: usize,
        k: &[Dim],
    ) -> Dim {
        let lanes = i64::from(self.lanes);
        let width = Dim::constant(vectors as i64 * lanes);
        let folded = &self.roots[product.root].folded;
        &(&reads::flat(folded, k) * &width) + &Dim::constant(vector as i64 * lanes)
    }

    /// Variables of the vectors of a tile that begins at `column`.
    pub(super) fn column_variables(&mut self, column: Val, vectors: u32, lanes: u32) -> Vec<Dim> {
        let mut columns = Vec::new();
        for vector in 0..vectors {
            let distance = self.int((vector * lanes).into());
            let base = self.b.prim(Prim::Add, &[column, distance]);
            let var = if lanes == 1 { Var::Scalar(base) } else { Var::Lane(base) };
            columns.push(Dim::sym(self.fresh(var)));
        }
        columns
    }
}
