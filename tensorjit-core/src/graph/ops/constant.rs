//! Scalar constants.

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;
use tensorjit_runtime::abi::DType;

/// A scalar; floats are kept by their bits, so that equal means the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Constant {
    /// A truth value.
    Bool(bool),
    /// An integer of either width.
    Int(DType, i64),
    /// A float of either width, as the bits of the f64 that has been rounded to it.
    Float(DType, u64),
}

impl Constant {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "constant is not built yet"))
    }
}
