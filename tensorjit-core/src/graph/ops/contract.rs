//! Sums of products over paired axes: matrix products of any rank.

use super::fold;
use super::site::Site;
use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::value::{Env, Index, Value};
use crate::graph::{NodeId, Op, Type};
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
        let [a, b] = super::operands("contract", inputs)?;
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

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [a, b] = super::operands("contract", operands)?;
        let (left, right) = (self.free_left(a.shape.len()), self.free_right(b.shape.len()));
        let summed: Vec<usize> = self.sum.iter().map(|(axis, _)| a.shape[*axis]).collect();
        let (mut at_a, mut at_b) = (vec![0; a.shape.len()], vec![0; b.shape.len()]);
        Value::build(a.dtype, shape, |index| {
            let mut coordinates = index.iter().copied();
            for (l, r) in &self.batch {
                let i = coordinates.next().unwrap_or(0);
                (at_a[*l], at_b[*r]) = (i, i);
            }
            for (axis, i) in left.iter().zip(&mut coordinates) {
                at_a[*axis] = i;
            }
            for (axis, i) in right.iter().zip(&mut coordinates) {
                at_b[*axis] = i;
            }
            let mut terms = Vec::new();
            let mut walk = Index::new(&summed);
            while let Some(inner) = walk.next() {
                for ((l, r), i) in self.sum.iter().zip(inner) {
                    (at_a[*l], at_b[*r]) = (*i, *i);
                }
                terms.push(fold::product(a.dtype, a.at(&at_a), b.at(&at_b)));
            }
            Ok(fold::sum(a.dtype, &terms))
        })
    }

    /// The tangent for the tangents of the operands: the product rule.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        let [left, right] = tangents else { return Err(Bug::new("autodiff", "contract has two tangents")) };
        let (a, b) = (site.input(0)?, site.input(1)?);
        let mut apply = |a, b| site.add(Op::Contract(self.clone()), &[a, b]);
        let left = left.map(|tangent| apply(tangent, b)).transpose()?;
        let right = right.map(|tangent| apply(a, tangent)).transpose()?;
        site.plus(left, right)
    }

    /// The cotangent of the operand in which it is linear: a contraction of the other with the result.
    ///
    /// The operands keep their sides, so that for matrices neither product needs a permutation behind it.
    pub fn transpose(
        &self,
        site: &mut Site,
        linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let (a, b) = (site.input(0)?, site.input(1)?);
        let (left, right) = (self.free_left(site.ty(a).rank()), self.free_right(site.ty(b).rank()));
        let batches = self.batch.len();
        match linear {
            [true, false] => {
                let batch = self.batch.iter().enumerate().map(|(i, (_, r))| (i, *r)).collect();
                let first = batches + left.len();
                let sum = right.iter().enumerate().map(|(i, axis)| (first + i, *axis)).collect();
                let product = site.add(Op::Contract(Contract { batch, sum }), &[cotangent, b])?;
                // The result's axes, as axes of `a`: what is left of `b` comes in the order of `b`.
                let mut pairs = self.sum.clone();
                pairs.sort_by_key(|(_, r)| *r);
                let axes =
                    self.batch.iter().map(|(l, _)| *l).chain(left).chain(pairs.iter().map(|(l, _)| *l));
                Ok(vec![Some(site.permute(product, &inverse(axes))?), None])
            }
            [false, true] => {
                let batch = self.batch.iter().enumerate().map(|(i, (l, _))| (*l, i)).collect();
                let sum = left.iter().enumerate().map(|(i, axis)| (*axis, batches + i)).collect();
                let product = site.add(Op::Contract(Contract { batch, sum }), &[a, cotangent])?;
                let mut pairs = self.sum.clone();
                pairs.sort_by_key(|(l, _)| *l);
                let axes =
                    self.batch.iter().map(|(_, r)| *r).chain(pairs.iter().map(|(_, r)| *r)).chain(right);
                Ok(vec![None, Some(site.permute(product, &inverse(axes))?)])
            }
            _ => Err(Bug::new("autodiff", format!("contract is not linear in {linear:?} together"))),
        }
    }
}

/// The order that puts axis `i` of a tensor in the place `axes[i]`.
fn inverse(axes: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut placed: Vec<(usize, usize)> = axes.enumerate().map(|(from, to)| (to, from)).collect();
    placed.sort_unstable();
    placed.into_iter().map(|(_, from)| from).collect()
}
