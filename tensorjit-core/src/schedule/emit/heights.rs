//! How the rows of a product are cut into tiles above one another.
//!
//! A tile of few rows adds no faster than one of more, so no tile is lower than it must be.  Where the number of rows is
//! known, tiles are even.  Where it is not, each height that may be needed is code of its own: there are tiles of the
//! greatest height, and what is left is even tiles of about half that height, unless even tiles need fewer heights.

use std::collections::BTreeSet;
use std::mem;

use super::Emit;
use super::product::Product;
use super::tasks::Range;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::schedule::fuse::Portion;

/// Fewer rows than these are one tile with more than two vectors, and no tile below higher ones.
pub(super) const FEW_ROWS: i64 = 4;

/// Tiles of one height: their rows, and the rows from and to which there are such.
#[derive(Clone, Copy)]
pub(super) struct Height {
    pub(super) rows: u32,
    from: Val,
    to: Val,
}

/// How rows are cut: into tiles of the greatest height, then even ones.
#[derive(Clone, Copy, Debug)]
struct Cutting {
    /// The greatest height.
    most: i64,
    /// The most rows of an even tile.
    most_even: i64,
}

/// The tiles of some rows: `full` of the greatest height, then `even` of `low` rows, of which the first `higher` have one
/// row more.
#[derive(Clone, Copy, Debug)]
struct Tiles<T> {
    full: T,
    even: T,
    low: T,
    higher: T,
}

impl Cutting {
    /// Even tiles alone.
    fn even(most: i64) -> Cutting {
        Cutting { most, most_even: most }
    }

    /// What is left below full tiles is at least [`FEW_ROWS`] rows, where there are as many.
    fn mixed(most: i64) -> Cutting {
        Cutting { most, most_even: (most + FEW_ROWS) / 2 }
    }

    fn has_full(self) -> bool {
        self.most_even < self.most
    }

    /// The tiles of a number of rows.
    fn tiles(self, rows: i64) -> Tiles<i64> {
        let mut full = if self.has_full() { rows / self.most } else { 0 };
        let left = rows - full * self.most;
        full -= i64::from(full > 0 && left > 0 && left < FEW_ROWS);
        let left = rows - full * self.most;
        let even = (left + self.most_even - 1) / self.most_even;
        let (low, higher) = (left / even.max(1), left % even.max(1));
        Tiles { full, even, low, higher }
    }

    /// The heights of tiles that so many rows, at least and at most, can have.
    fn heights(self, (least, most): (Option<i64>, Option<i64>)) -> BTreeSet<u32> {
        // From here on there are no heights but those of as many rows and two tiles more.
        let enough = self.most * self.most;
        let least = least.unwrap_or(0).max(1);
        let last = most.unwrap_or(i64::MAX).min(least.max(enough).saturating_add(2 * self.most));
        let mut heights = BTreeSet::new();
        for rows in least.min(enough)..=last {
            let Tiles { full, even, low, higher } = self.tiles(rows);
            let rows = [(full, self.most), (even - higher, low), (higher, low + 1)];
            heights.extend(rows.into_iter().filter(|(count, _)| *count > 0).map(|(_, rows)| rows as u32));
        }
        heights
    }
}

impl<'a> Emit<'a> {
    /// The number of tiles above one another; none where an axis beside the rows has no elements, since no task has
    /// memory for panels then.
    pub(super) fn row_units(&mut self, product: &Product<'_>) -> Result<Val, Bug> {
        let tiles = self.tiles(&product.extent(product.rows))?;
        let mut units = self.b.prim(Prim::Add, &[tiles.full, tiles.even]);
        for axis in &product.beside {
            let any = product.extents[*axis].minimum(&Dim::constant(1));
            let any = self.scalar_index(&self.graph.facts.normalize(&any))?;
            units = self.b.prim(Prim::Mul, &[units, any]);
        }
        Ok(units)
    }

    /// The rows of a range of tiles above one another.
    pub(super) fn rows_of_units(&mut self, product: &Product<'_>, range: Range) -> Result<Range, Bug> {
        let Some((from, to)) = range else { return Ok(None) };
        let tiles = self.tiles(&product.extent(product.rows))?;
        let most = self.int(self.tile_shape().0.into());
        let mut row = |unit: Val| {
            let full = self.least(unit, tiles.full);
            let even = self.b.prim(Prim::Sub, &[unit, full]);
            let above = self.b.prim(Prim::Mul, &[full, most]);
            let rows = self.b.prim(Prim::Mul, &[even, tiles.low]);
            let more = self.least(even, tiles.higher);
            let rows = self.b.prim(Prim::Add, &[rows, more]);
            self.b.prim(Prim::Add, &[above, rows])
        };
        Ok(Some((row(from), row(to))))
    }

    /// Loops over the rows of tiles of one height, or those of them in a range.
    pub(super) fn rows_of_height(
        &mut self,
        height: Height,
        range: Range,
        body: &mut dyn FnMut(&mut Self, Val, u32) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let Height { rows, mut from, mut to } = height;
        if let Some((first, last)) = range {
            (from, to) = (self.greatest(from, first), self.least(to, last));
        }
        let (row, _) = self.b.open_loop((from, to, rows.into()), &[]);
        let memo = mem::take(&mut self.memo);
        body(self, row, rows)?;
        self.memo = memo;
        self.b.close_loop(Vec::new());
        Ok(())
    }

    /// The heights of the tiles of a product, or of the strip of its rows at hand.
    pub(super) fn heights(&mut self, product: &Product<'_>) -> Result<Vec<Height>, Bug> {
        let extent = product.extent(product.rows);
        let strip = self.strip.as_ref().filter(|_| product.portion == Portion::Rows);
        let first = strip.map_or_else(Dim::default, |rows| rows.first.clone());
        let (first, end) = (self.scalar_index(&first)?, self.scalar_index(&(&first + &extent))?);
        let (tiles, cutting) = (self.tiles(&extent)?, self.cutting(&extent));
        let (one, most) = (self.int(1), self.int(cutting.most));
        let high = self.b.prim(Prim::Add, &[tiles.low, one]);
        let rows = [(tiles.full, most), (tiles.higher, high)];
        let [full, higher] = rows.map(|(count, rows)| self.b.prim(Prim::Mul, &[count, rows]));
        let begin = self.b.prim(Prim::Add, &[first, full]);
        let middle = self.b.prim(Prim::Add, &[begin, higher]);
        let mut heights = Vec::new();
        for height in cutting.heights(self.range_of(&extent)).into_iter().rev() {
            if cutting.has_full() && i64::from(height) == cutting.most {
                heights.push(Height { rows: height, from: first, to: begin });
                continue;
            }
            let rows = self.int(height.into());
            let [is_low, is_high] =
                [tiles.low, high].map(|height| self.b.prim(Prim::Cmp(Cmp::Eq), &[height, rows]));
            let from = self.b.prim(Prim::Select, &[is_low, middle, begin]);
            let to = self.b.prim(Prim::Select, &[is_high, middle, begin]);
            let to = self.b.prim(Prim::Select, &[is_low, end, to]);
            heights.push(Height { rows: height, from, to });
        }
        Ok(heights)
    }

    /// How so many rows are cut: in the way of fewer heights.
    fn cutting(&self, extent: &Dim) -> Cutting {
        let most = self.tile_shape().0.into();
        let range = self.range_of(extent);
        let ways = [Cutting::even(most), Cutting::mixed(most)];
        let [even, mixed] = ways.map(|cutting| cutting.heights(range).len());
        ways[usize::from(mixed < even)]
    }

    fn tiles(&mut self, extent: &Dim) -> Result<Tiles<Val>, Bug> {
        let cutting = self.cutting(extent);
        if let Some(extent) = extent.as_const() {
            let Tiles { full, even, low, higher } = cutting.tiles(extent);
            let [full, even, low, higher] = [full, even, low, higher].map(|count| self.int(count));
            return Ok(Tiles { full, even, low, higher });
        }
        let rows = self.scalar_index(extent)?;
        let (zero, one) = (self.int(0), self.int(1));
        let (mut full, mut left) = (zero, rows);
        if cutting.has_full() {
            let most = self.int(cutting.most);
            full = self.b.prim(Prim::IDiv, &[rows, most]);
            left = self.b.prim(Prim::IRem, &[rows, most]);
            let (few, any) = (self.int(FEW_ROWS), self.least(full, one));
            let [is_any, is_few] = [(zero, left), (left, few)]
                .map(|(less, more)| self.b.prim(Prim::Cmp(Cmp::Lt), &[less, more]));
            let is_few = self.b.prim(Prim::And, &[is_any, is_few]);
            let fewer = self.b.prim(Prim::Select, &[is_few, any, zero]);
            full = self.b.prim(Prim::Sub, &[full, fewer]);
            let more = self.b.prim(Prim::Mul, &[fewer, most]);
            left = self.b.prim(Prim::Add, &[left, more]);
        }
        let most_even = self.int(cutting.most_even);
        let even = self.quotient_up(left, most_even);
        let count = self.greatest(even, one);
        let [low, higher] = [Prim::IDiv, Prim::IRem].map(|prim| self.b.prim(prim, &[left, count]));
        Ok(Tiles { full, even, low, higher })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::packing::LARGE_ROWS;

    #[test]
    fn tiles_have_all_rows_and_none_is_lower_than_it_must_be() {
        for most in [6, 14] {
            for cutting in [Cutting::even(most), Cutting::mixed(most)] {
                for rows in 0..1000 {
                    let Tiles { full, even, low, higher } = cutting.tiles(rows);
                    assert_eq!(full * most + even * low + higher, rows, "{cutting:?}");
                    assert!(low + i64::from(higher > 0) <= cutting.most_even, "{rows} by {cutting:?}");
                    assert!(even == 0 || low >= FEW_ROWS.min(rows).min(most / 2), "{rows} by {cutting:?}");
                    // Tasks have memory for so many tiles.
                    assert!(full + even <= (rows + 5) / 6, "{rows} by {cutting:?}");
                }
            }
        }
    }

    #[test]
    fn heights_are_few() {
        let heights = |cutting: Cutting, least, most| Vec::from_iter(cutting.heights((Some(least), most)));
        assert_eq!(heights(Cutting::even(14), 17, Some(17)), [8, 9]);
        assert_eq!(heights(Cutting::even(14), 0, Some(3)), [1, 2, 3]);
        assert_eq!(heights(Cutting::mixed(14), FEW_ROWS, None), [4, 5, 6, 7, 8, 9, 14]);
        assert_eq!(heights(Cutting::even(6), FEW_ROWS, None), [3, 4, 5, 6]);
        assert_eq!(heights(Cutting::even(14), LARGE_ROWS, None), [12, 13, 14]);
        assert_eq!(heights(Cutting::even(6), LARGE_ROWS, None), [5, 6]);
    }
}
