//! A sub-graph applied to explicit captures.

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::{Graph, Type};
use std::rc::Rc;

/// Result `output` of the body; its inputs are bound to the operands in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Region {
    /// The body; its symbols are those of the outer graph.
    pub body: Rc<Graph>,
    /// Which of its outputs.
    pub output: usize,
}

impl Region {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "region is not built yet"))
    }
}
