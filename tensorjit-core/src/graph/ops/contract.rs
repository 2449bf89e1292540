//! Sums of products over paired axes: matrix products of any rank.

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;

/// The result has the batch axes, then the other axes of the left operand, then those of the right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contract {
    /// Pairs of axes that both operands and the result share.
    pub batch: Vec<(usize, usize)>,
    /// Pairs of axes that are summed over; may be empty.
    pub sum: Vec<(usize, usize)>,
}

impl Contract {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "contract is not built yet"))
    }
}
