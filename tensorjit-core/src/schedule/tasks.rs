//! How the loops of a group are cut into tasks: by sizes alone, never by the number of threads, so that no bit
//! depends on it.
//!
//! Work is estimated in picoseconds of one thread.  The estimate is rough, the same at every level, and rather low:
//! what is shared in error costs more than what is not.

use super::fuse::Group;
use super::reads::volume;
use super::roots::Root;
use crate::dim::Dim;
use crate::dim::facts::Facts;

/// From which work on a group is shared, and how finely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grain {
    /// The least estimated picoseconds of a group that is cut.
    pub group: i64,
    /// The least estimated picoseconds of a task.
    pub task: i64,
}

impl Default for Grain {
    /// To wake a thread takes 5 to 10 microseconds, and to wait for it as long.
    fn default() -> Grain {
        Grain { group: 60_000_000, task: 20_000_000 }
    }
}

/// The most tasks of a group: enough for the threads of a large machine, and few enough for each to have memory of
/// its own.
pub(super) const MOST_TASKS: i64 = 64;

/// Elements of the last axis of the rows that no task divides: eight registers of the widest level, so that all
/// vectors of a task but those at the end of the axis are whole.
pub(super) const PIECE: i64 = 128;

/// Picoseconds of an operation on one element, and of a byte read or written.
const OPERATION: i64 = 12;
const BYTE: i64 = 8;

/// Estimated picoseconds of all rows of a group together.
pub(super) fn work(roots: &[Root], group: &Group) -> Dim {
    group.roots().fold(Dim::default(), |sum, root| {
        let root = &roots[root];
        let elements = &volume(&root.parallel) * &volume(&root.folded);
        let accesses = root.reads.len() as i64 + i64::from(root.folded.is_empty());
        let each = i64::from(root.cost + 1) * OPERATION + accesses * root.lane_bytes as i64 * BYTE;
        &sum + &(&elements * &Dim::constant(each))
    })
}

/// Whether a call can exist whose work is shared.
pub(super) fn may_be_shared(facts: &Facts, grain: Grain, work: &Dim) -> bool {
    facts.range(work).1.is_none_or(|most| most >= grain.group)
}

/// How many pieces of memory the tasks over `units` have, one each.
pub(super) fn slices(units: &Dim) -> Dim {
    units.minimum(&Dim::constant(MOST_TASKS))
}
