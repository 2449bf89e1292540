//! Comparisons of sizes: decided while the code is made where the facts allow, else at the call.

use super::Emit;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::{Cmp, Lanes, Prim, Val};

/// When a comparison holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holds {
    /// At every call.
    Always,
    /// At none.
    Never,
    /// Where this is true.
    If(Val),
}

impl Emit<'_> {
    /// Whether `size` is at least `least`.
    pub(super) fn reaches(&mut self, size: &Dim, least: i64) -> Result<Holds, Bug> {
        let (low, high) = self.facts.range(size);
        if low.is_some_and(|low| low >= least) {
            return Ok(Holds::Always);
        }
        if high.is_some_and(|high| high < least) {
            return Ok(Holds::Never);
        }
        let (size, least) = (self.scalar_index(size)?, self.int(least));
        Ok(Holds::If(self.b.prim(Prim::Cmp(Cmp::Ge), &[size, least])))
    }

    /// Whether both hold.
    pub(super) fn both(&mut self, a: Holds, b: Holds) -> Holds {
        match (a, b) {
            (Holds::Never, _) | (_, Holds::Never) => Holds::Never,
            (Holds::Always, other) | (other, Holds::Always) => other,
            (Holds::If(a), Holds::If(b)) => Holds::If(self.b.prim(Prim::And, &[a, b])),
        }
    }

    /// Whether one of them holds.
    pub(super) fn either(&mut self, a: Holds, b: Holds) -> Holds {
        match (a, b) {
            (Holds::Always, _) | (_, Holds::Always) => Holds::Always,
            (Holds::Never, other) | (other, Holds::Never) => other,
            (Holds::If(a), Holds::If(b)) => Holds::If(self.b.prim(Prim::Or, &[a, b])),
        }
    }
}
