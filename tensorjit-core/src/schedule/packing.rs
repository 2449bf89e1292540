//! When the operands of a product are copied into panels, and how large panels are.
//!
//! A panel has its elements in the order in which a tile reads them.  Large products read each element many times
//! and pack both operands; a right operand whose columns are apart in memory is packed in any case.

use super::roots::{Kind, Root};
use crate::dim::Dim;
use crate::dim::facts::Facts;

/// Whether an operand is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Never,
    /// Where the product has at least [`LARGE_ROWS`] rows and [`LARGE_COLUMNS`] columns.
    Large,
    Always,
}

/// From how many rows on a product is large.
pub(super) const LARGE_ROWS: i64 = 64;

/// From how many columns on a product is large.
pub(super) const LARGE_COLUMNS: i64 = 128;

/// The most rows of a tile at any level.
const MOST_ROWS: i64 = 14;

/// Bytes of a row of a right panel: two registers of the widest level.
const PANEL_BYTES: i64 = 128;

/// How the operands of a product are packed.
#[derive(Clone, Debug)]
pub(super) struct Packing {
    pub(super) left: When,
    pub(super) right: When,
    /// Extents of the axes of rows and of columns, where there are such axes.
    pub(super) rows: Option<Dim>,
    pub(super) columns: Option<Dim>,
    /// The number of terms of a sum.
    pub(super) terms: Dim,
}

impl Packing {
    /// The packing of a product; bounds of symbols rule versions out that no call can use.
    pub(super) fn of(facts: &Facts, root: &Root) -> Packing {
        let columns = root.parallel.last().filter(|_| root.right_axes > 0).cloned();
        let rows = match root.left_axes {
            0 => None,
            _ => root.parallel.get(root.parallel.len() - root.right_axes - 1).cloned(),
        };
        let reaches = |extent: &Option<Dim>, least| {
            extent.as_ref().is_some_and(|extent| facts.range(extent).1.is_none_or(|most| most >= least))
        };
        let large = reaches(&rows, LARGE_ROWS) && reaches(&columns, LARGE_COLUMNS);
        let left = if large { When::Large } else { When::Never };
        let right = if root.strided { When::Always } else { left };
        let terms = root.folded.iter().fold(Dim::constant(1), |product, extent| &product * extent);
        Packing { left, right, rows, columns, terms }
    }

    /// Bytes of the left operand in panels, of one panel of the right operand: none where it is never packed.
    pub(super) fn bytes(&self, root: &Root) -> [Option<Dim>; 2] {
        if root.kind != Kind::Product {
            return [None, None];
        }
        let rows = self.rows.as_ref().filter(|_| self.left != When::Never);
        let left = rows.map(|rows| {
            &(&(rows + &Dim::constant(MOST_ROWS - 1)) * &self.terms) * &Dim::constant(root.lane_bytes as i64)
        });
        let right = (self.right != When::Never).then(|| &self.terms * &Dim::constant(PANEL_BYTES));
        [left, right]
    }
}
