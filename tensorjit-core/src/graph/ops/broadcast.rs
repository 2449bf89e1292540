//! Repetition along new axes and along axes of extent one.

use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::Type;

/// Operand axis `i` becomes result axis `axes[i]`; it has that axis' extent, or extent one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Broadcast {
    /// The shape of the result.
    pub shape: Vec<Dim>,
    /// Strictly rising, one for each axis of the operand.
    pub axes: Vec<usize>,
}

impl Broadcast {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "broadcast is not built yet"))
    }
}
