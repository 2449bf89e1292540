//! How folds are cut; `emit/fold.rs` and `docs/numerics.md` state the whole order.

use crate::dim::Dim;

/// Steps of a block.
pub(super) const BLOCK: i64 = 256;

/// Steps of a run, where a step is one element or a fold of inner axes: a block is whole runs.
pub(super) const RUN: i64 = 16;

/// Terms of a product's sum that are added in one chain.  Blocks of terms and strips of rows are whole chains.
pub(super) const CHAIN: i64 = 128;

/// Terms of a sum that has few: it goes in two chains, which halve the error of its last and greatest partial sums.
pub(super) const FEW_TERMS: i64 = 64;

/// Terms of a chain of such a sum.
pub(super) const SHORT_CHAIN: i64 = FEW_TERMS / 2;

/// Bytes of the lanes into which a fold is dealt out: two registers of the widest level.
pub(super) const LANES_BYTES: i64 = 128;

/// Whether so many steps are one block at every call.
pub(super) fn is_one_block(steps: &Dim, step: i64) -> bool {
    steps.as_const().is_some_and(|steps| steps <= BLOCK * step)
}

/// Whether so many steps are one run at every call.
pub(super) fn is_one_run(steps: &Dim) -> bool {
    steps.as_const().is_some_and(|steps| steps <= RUN)
}
