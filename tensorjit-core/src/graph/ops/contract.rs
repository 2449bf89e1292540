//! Sums of products over paired axes: matrix products of any rank.

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;
use tensorjit_runtime::abi::DType;

/// The result has the batch axes, then the other axes of the left operand, then those of the right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contract {
    /// Pairs of axes that both operands and the result share.
    pub batch: Vec<(usize, usize)>,
    /// Pairs of axes that are summed over; may be empty.
    pub sum: Vec<(usize, usize)>,
}

impl Contract {
    /// The axes of the left operand, of the given rank, that are neither batched nor summed.
    pub fn free_left(&self, rank: usize) -> Vec<usize> {
        let paired = || self.batch.iter().chain(&self.sum);
        (0..rank).filter(|axis| paired().all(|(left, _)| left != axis)).collect()
    }

    /// The axes of the right operand, of the given rank, that are neither batched nor summed.
    pub fn free_right(&self, rank: usize) -> Vec<usize> {
        let paired = || self.batch.iter().chain(&self.sum);
        (0..rank).filter(|axis| paired().all(|(_, right)| right != axis)).collect()
    }

    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [a, b] = inputs else {
            return Err(Bug::new("graph", format!("contract takes two operands, not {}", inputs.len())));
        };
        if a.dtype != b.dtype || a.dtype == DType::Bool {
            return Err(Bug::new("graph", format!("contract of {} and {}", a.dtype.name(), b.dtype.name())));
        }
        let pairs: Vec<(usize, usize)> = self.batch.iter().chain(&self.sum).copied().collect();
        for (position, (left, right)) in pairs.iter().enumerate() {
            let repeated = pairs[..position].iter().any(|(l, r)| l == left || r == right);
            let (Some(m), Some(n)) = (a.shape.get(*left), b.shape.get(*right)) else {
                return Err(Bug::new("graph", format!("contract has no axes {left} and {right}")));
            };
            if repeated || !facts.same(m, n) {
                return Err(Bug::new(
                    "graph",
                    format!("contract pairs axis {left} of {a:?} with axis {right} of {b:?}"),
                ));
            }
        }
        let batch = self.batch.iter().map(|(left, _)| a.shape[*left].clone());
        let left = self.free_left(a.rank()).into_iter().map(|axis| a.shape[axis].clone());
        let right = self.free_right(b.rank()).into_iter().map(|axis| b.shape[axis].clone());
        Ok(Type::new(a.dtype, batch.chain(left).chain(right).collect::<Vec<_>>()))
    }
}
