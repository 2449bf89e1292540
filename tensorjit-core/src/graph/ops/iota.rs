//! The numbers 0, 1, 2 and so on along the only axis.

use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::Type;
use tensorjit_runtime::abi::DType;

/// Counts up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Iota {
    /// The element type, a number.
    pub dtype: DType,
    /// How many.
    pub extent: Dim,
}

impl Iota {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "iota is not built yet"))
    }
}
