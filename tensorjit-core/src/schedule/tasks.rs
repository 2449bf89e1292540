//! How the loops of a group are cut into tasks: by sizes alone, never by the number of threads, so that no bit
//! depends on it.
//!
//! Work is estimated in picoseconds of one thread.  The estimate is rough, the same at every level, and rather low:
//! what is shared in error costs more than what is not.

use super::fuse::Group;
use super::joint;
use super::order::{BLOCK, is_one_block};
use super::reads::volume;
use super::roots::{Kind, Root};
use crate::dim::Dim;
use crate::dim::facts::Facts;

/// From which work on a group is shared, and how finely; and what is too much for the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grain {
    /// The least estimated picoseconds of a group that is cut.
    pub group: i64,
    /// The least estimated picoseconds of a task.
    pub task: i64,
    /// Bytes beyond which a nest finds nothing of what it reads in a cache, and leaves nothing there.
    pub cache: i64,
}

impl Default for Grain {
    /// To ask helpers that look out costs half a microsecond, and to wake one that sleeps three.  Some cores of a
    /// server, or all of a desktop, share 32 MiB of cache.  Of what is little larger than that, most is still there at
    /// the next call.
    fn default() -> Grain {
        Grain { group: 30_000_000, task: 10_000_000, cache: 40 << 20 }
    }
}

/// The most tasks of a group: enough for the threads of a large machine, and few enough for each to have memory of
/// its own.
pub(super) const MOST_TASKS: i64 = 64;

/// Elements of the last axis of the rows that no task divides: eight registers of the widest level, so that all
/// vectors of a task but those at the end of the axis are whole.
pub(super) const PIECE: i64 = 128;

/// Bytes of a cache line: the memories of two tasks share none.
const LINE: i64 = crate::loops::LINE as i64;

/// Picoseconds of an operation on one element, and of a byte read or written.
const OPERATION: i64 = 12;
const BYTE: i64 = 8;

/// The least rows of a tile, where tiles are as high as they can be, at any level.
const TILE_ROWS: i64 = 6;

/// Picoseconds of a multiply-add of a product, and of packing an element, by the bytes of the element.
pub(super) const PRODUCT_BYTE: i64 = 4;
pub(super) const PACKING_BYTE: i64 = 40;

/// Estimated picoseconds of the multiply-adds of a product.
fn product_work(root: &Root) -> Dim {
    let terms = &volume(&root.parallel) * &volume(&root.folded);
    &terms * &Dim::constant(PRODUCT_BYTE * root.lane_bytes as i64)
}

/// Estimated picoseconds of all rows of a group together, products aside.
fn work(roots: &[Root], group: &Group) -> Dim {
    group.roots().filter(|root| roots[*root].kind != Kind::Product).fold(Dim::default(), |sum, root| {
        let root = &roots[root];
        let elements = &volume(&root.parallel) * &volume(&root.folded);
        let accesses = root.reads.len() as i64 + i64::from(root.folded.is_empty());
        let each = i64::from(root.cost + 1) * OPERATION + accesses * root.lane_bytes as i64 * BYTE;
        &sum + &(&elements * &Dim::constant(each))
    })
}

/// How a group of rows is cut.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cut {
    /// Where rows are folded across: the axis whose blocks are the units of work.
    pub(super) axis: Option<usize>,
    /// The number of units, which tasks do not divide.
    pub(super) units: Dim,
    /// Estimated picoseconds of all units.
    pub(super) work: Dim,
}

impl Cut {
    /// The cut of a group, each of whose roots has its rows; none where no call shares them.
    pub(super) fn of(facts: &Facts, grain: Grain, roots: &[Root], group: &Group) -> Option<Cut> {
        let mut work = work(roots, group);
        let extents = &roots[*group.stages.first()?.first()?].parallel[..group.rows];
        let across = group.roots().any(|root| roots[root].kind == Kind::Across);
        let mut cut = (None, volume(extents));
        if across {
            // Around it is one block an axis, whose steps follow one another.
            let axis = extents.iter().position(|extent| !is_one_block(extent, 1))?;
            cut = (Some(axis), extents[axis].ceil_div(&Dim::constant(BLOCK)));
            work = work.exact_quotient(&volume(&extents[..axis])).unwrap_or(work);
        }
        let (axis, units) = cut;
        let shared = !units.is(1) && facts.range(&work).1.is_none_or(|most| most >= grain.group);
        shared.then_some(Cut { axis, units, work })
    }

    /// The cut of a strip into indices of its first `batch` axes, `groups` being what it runs; none where no call
    /// shares it.
    pub(super) fn of_strip(
        facts: &Facts,
        grain: Grain,
        roots: &[Root],
        groups: &[Group],
        batch: usize,
    ) -> Option<Cut> {
        let units = volume(&roots[*groups.first()?.stages.first()?.first()?].parallel[..batch]);
        let work = groups.iter().fold(Dim::default(), |sum, group| {
            let products = group.roots().filter(|root| roots[*root].kind == Kind::Product);
            products.fold(&sum + &work(roots, group), |sum, root| &sum + &product_work(&roots[root]))
        });
        let shared = !units.is(1) && facts.range(&work).1.is_none_or(|most| most >= grain.group);
        shared.then_some(Cut { axis: None, units, work })
    }

    /// The cut of a product with its epilogue; none where no call shares it.  Over batches the units are products;
    /// otherwise they are the tiles of one product, of which there are as many at most.
    pub(super) fn of_product(facts: &Facts, grain: Grain, root: &Root) -> Option<Cut> {
        let work = product_work(root);
        let units = match batches(root) {
            Some(batches) => batches,
            None => {
                // Axes of rows or of columns may be joined.
                let (outer, columns) = root.parallel.split_at(root.parallel.len() - root.right_axes);
                let rows = &outer[outer.len() - root.left_axes..];
                let pieces = |extents: &[Dim], size: i64| volume(extents).ceil_div(&Dim::constant(size));
                &pieces(rows, TILE_ROWS) * &pieces(columns, PIECE)
            }
        };
        let shared = !units.is(1) && facts.range(&work).1.is_none_or(|most| most >= grain.group);
        shared.then_some(Cut { axis: None, units, work })
    }

    /// How many tasks there are at most, each with memory of its own.
    pub(super) fn most_tasks(&self) -> Dim {
        self.units.minimum(&Dim::constant(MOST_TASKS))
    }
}

/// How many products a product is at most, where it is several: over batches, or over axes that the right operand has
/// beside that of the columns.
pub(super) fn batches(root: &Root) -> Option<Dim> {
    let around = |extents: &[Dim]| {
        let own = extents.len() - root.right_axes;
        let batches = volume(&extents[..own - root.left_axes]);
        let columns = root.column_axis().unwrap_or(extents.len());
        &batches * &volume(&extents[own..columns.max(own)])
    };
    let rank = root.parallel.len();
    let joined = joint::extents(&root.parallel, root.joints.iter().copied().filter(|axis| axis + 1 < rank));
    (!around(&joined).is(1)).then(|| around(&root.parallel))
}

/// Memory of which every task, or every unit, has a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slices {
    /// The elements from one slice to the next.
    pub(super) stride: Dim,
    /// Bytes of all.
    pub(super) bytes: Dim,
}

impl Slices {
    /// So many slices of `bytes` bytes, for elements of `size` bytes.
    pub(super) fn new(count: &Dim, bytes: &Dim, size: usize) -> Slices {
        let lines = bytes.ceil_div(&Dim::constant(LINE));
        Slices {
            stride: &lines * &Dim::constant(LINE / size as i64),
            bytes: &(&lines * &Dim::constant(LINE)) * count,
        }
    }
}
