//! When the operands of a product are copied into panels, and how large blocks and panels are.
//!
//! A panel of the right operand has its elements in the order in which a tile reads them, and so has one of the left,
//! unless the terms of its rows are neighbours: then it has the rows, as far apart as they can be read side by side.  A
//! large product reads each element many times: it goes block by block, and packs the right operand's block, and of the
//! left operand the rows of one tile, unless these can as well be read where they stand.  A right operand whose columns
//! are apart in memory is packed in any case.

use super::joint;
use super::roots::{Along, Kind, Root};
use crate::dim::Dim;
use crate::dim::facts::{Condition, Facts};
use tensorjit_runtime::abi::Relation;

/// Whether an operand is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Never,
    /// Where the product has at least [`LARGE_ROWS`] rows and [`LARGE_COLUMNS`] columns, and copies are repaid.
    Large,
    Always,
}

/// From how many rows on a product is large: even tiles of so many have at least 12 of 14 rows, or 5 of 6.
pub(super) const LARGE_ROWS: i64 = 72;

/// From how many columns on a product is large.
pub(super) const LARGE_COLUMNS: i64 = 128;

/// From how many rows, or terms, on the panels of a large product repay their copies where tiles of [`MOST_ROWS`] could
/// as well read both operands in place.
pub(super) const MANY_ROWS: i64 = 512;
pub(super) const MANY_TERMS: i64 = 1000;

/// Columns of a block: a multiple of the columns of a tile at any level.
pub(super) const BLOCK_COLUMNS: i64 = 1024;

/// Bytes of the terms of an element's sum that one block adds: the rows of a tile stay in the first cache, and the
/// terms of any type are whole chains.
const BLOCK_TERMS_BYTES: i64 = 2048;

/// The most rows of a tile at any level.
pub(super) const MOST_ROWS: u32 = 14;

/// Bytes of the columns of a tile: two registers of the widest level.
const TILE_COLUMN_BYTES: i64 = 128;

/// What packing may write behind the elements of a panel, in bytes: the rest of square blocks of registers.
const SLACK: i64 = 2048;

/// Panels of a block begin at multiples of so many terms, which are the lanes of the widest register: what packing
/// writes behind one does not reach the next, which another task may have packed.
const PANEL_TERMS: i64 = 16;

/// Addresses so many bytes apart compete for the same few lines of the first cache.
const WAY_BYTES: i64 = 4096;

/// How the operands of a product are packed.
#[derive(Clone, Debug)]
pub(super) struct Packing {
    /// Whether the product may be large.
    pub(super) large: bool,
    pub(super) left: When,
    pub(super) right: When,
    /// The extent of the axis of columns, where there is one.
    columns: Option<Dim>,
    /// The number of terms of a sum.
    terms: Dim,
    /// The most terms that a block adds, where that may not be all: of a large product, and where the right operand is
    /// packed.
    pub(super) block_terms: Option<i64>,
    /// The terms from one row of the left operand's panel to the next, where rows are copied as they are: those of the
    /// rows of a tile do not compete for the same lines of the cache.
    pub(super) row_terms: Option<i64>,
}

impl Packing {
    /// The packing of a product; bounds of symbols rule versions out that no call can use.
    pub(super) fn of(facts: &Facts, root: &Root) -> Packing {
        let rank = root.parallel.len();
        let domain = [&root.parallel[..], &root.folded[..]].concat();
        let extents = joint::extents(&domain, root.joints.iter().copied());
        let [rows, columns] =
            [root.row_axis(), root.column_axis()].map(|axis| axis.map(|axis| extents[axis].clone()));
        let reaches = |extent: &Option<Dim>, least| {
            extent.as_ref().is_some_and(|extent| facts.range(extent).1.is_none_or(|most| most >= least))
        };
        let large = reaches(&rows, LARGE_ROWS) && reaches(&columns, LARGE_COLUMNS);
        let when = if large { When::Large } else { When::Never };
        let left = if rows_stand_apart(root) { When::Never } else { when };
        let right = if root.along[1] != Along::Own { When::Always } else { when };
        let terms = root.folded.iter().fold(Dim::constant(1), |product, extent| &product * extent);
        let most = BLOCK_TERMS_BYTES / root.lane_bytes as i64;
        let cut = root.kind == Kind::Product
            && extents[rank..].iter().any(|extent| !extent.is(1))
            && facts.range(&terms).1.is_none_or(|terms| terms > most);
        let block_terms = ((large || right == When::Always) && cut).then_some(most);
        let bound = block_terms.or(facts.range(&terms).1).filter(|_| root.along[0] == Along::Terms);
        let row_terms = bound
            .map(|terms| (terms.max(0) as u64).next_multiple_of(PANEL_TERMS as u64) as i64 + PANEL_TERMS);
        Packing { large, left, right, columns, terms, block_terms, row_terms }
    }

    /// 1 where a call's product may be large, else 0: the panels of one that is not take no memory.
    pub(super) fn is_large(facts: &Facts, root: &Root) -> Dim {
        let (questions, one) = (facts.questions(), Dim::constant(1));
        let reaches =
            |extent: &Dim, least: i64| questions.is_plainly_nonneg(&(extent - &Dim::constant(least)));
        // Which axes are joined is up to the epilogue too; one without elements makes those beside it no shorter.
        let longest = |extent: &Dim| if reaches(extent, 1) { extent.clone() } else { extent.maximum(&one) };
        let parallel: Vec<Dim> = root.parallel.iter().map(longest).collect();
        let joined = root.joints.iter().copied().filter(|axis| axis + 1 < parallel.len());
        let extents = joint::extents(&parallel, joined);
        let mut large = one.clone();
        for (axis, least) in [(root.row_axis(), LARGE_ROWS), (root.column_axis(), LARGE_COLUMNS)] {
            let Some(axis) = axis else { return Dim::default() };
            if !reaches(&extents[axis], least) {
                let (left, right) = (extents[axis].clone(), Dim::constant(least));
                large = &large * &Condition { left, relation: Relation::Ge, right }.indicator();
            }
        }
        large
    }

    /// Bytes of the panels: none where there never are such.
    pub(super) fn bytes(&self, root: &Root) -> Bytes {
        if root.kind != Kind::Product {
            return Bytes::default();
        }
        let slack = Dim::constant(SLACK);
        let large = self.large;
        let bytes = Dim::constant(root.lane_bytes as i64);
        let terms = match self.block_terms {
            Some(most) => self.terms.minimum(&Dim::constant(most)),
            None => self.terms.clone(),
        };
        let row = self.row_terms.map_or_else(|| terms.clone(), Dim::constant);
        let left = (self.left != When::Never)
            .then(|| &(&(&row * &Dim::constant(MOST_ROWS.into())) * &bytes) + &slack);
        // Of a tile the most that there can be: the formula is one of many factors already.
        let tile_terms = self.block_terms.map_or_else(|| self.terms.clone(), Dim::constant);
        let tile = (self.right == When::Always).then(|| &tile_terms * &Dim::constant(TILE_COLUMN_BYTES));
        let block = self.columns.as_ref().filter(|_| large).map(|columns| {
            let rounded = columns + &Dim::constant(TILE_COLUMN_BYTES / root.lane_bytes as i64 - 1);
            &(&panel_terms(&terms) * &rounded.minimum(&Dim::constant(BLOCK_COLUMNS))) * &bytes
        });
        Bytes { left, tile: tile.map(|bytes| &bytes + &slack), block: block.map(|bytes| &bytes + &slack) }
    }
}

/// Whether tiles read the rows of the left operand where they stand: the terms of each are neighbours, and what all rows
/// of a tile have of a term finds room in the first cache.
fn rows_stand_apart(root: &Root) -> bool {
    root.along[0] == Along::Terms && root.row_bytes.is_some_and(|bytes| bytes % WAY_BYTES != 0)
}

/// The terms from one panel of a block to the next, if panels have `terms` terms.
pub(super) fn panel_terms(terms: &Dim) -> Dim {
    let step = Dim::constant(PANEL_TERMS);
    &terms.ceil_div(&step) * &step
}

/// Bytes of panels.
#[derive(Clone, Debug, Default)]
pub(super) struct Bytes {
    /// Of the left operand.
    pub(super) left: Option<Dim>,
    /// Of the right operand, of one column of tiles.
    pub(super) tile: Option<Dim>,
    /// Of the right operand, of a block.
    pub(super) block: Option<Dim>,
}
