//! The same elements in row-major order under another shape.

use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::Type;

/// The number of elements is the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reshape {
    /// The shape of the result.
    pub shape: Vec<Dim>,
}

impl Reshape {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "reshape is not built yet"))
    }
}
