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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dim::{Dim, Sym};

    /// A contraction, the shapes of its operands and of its result, and the elements of that.
    type Case = (Contract, &'static [usize], &'static [usize], &'static [usize], &'static [f64]);

    /// The type and the value of a contraction of numbers that count up from 1.
    fn count_up(contract: &Contract, a: &[usize], b: &[usize]) -> (Vec<usize>, Vec<f64>) {
        let value = |shape: &[usize]| {
            let numbers: Vec<f64> = (1..=shape.iter().product()).map(|i| i as f64).collect();
            Value::floats(DType::F64, shape, &numbers)
        };
        let ty = |shape: &[usize]| {
            Type::new(
                DType::F64,
                shape.iter().map(|extent| Dim::constant(*extent as i64)).collect::<Vec<_>>(),
            )
        };
        let result = contract.infer(&Facts::default(), &[&ty(a), &ty(b)]).unwrap();
        let env = Env { dims: &[] };
        let shape = env.shape(&result.shape).unwrap();
        let found = contract.eval(&env, &[&value(a), &value(b)], &shape).unwrap();
        (shape, found.to_f64())
    }

    #[test]
    fn values() {
        let contract = |batch: &[(usize, usize)], sum: &[(usize, usize)]| Contract {
            batch: batch.to_vec(),
            sum: sum.to_vec(),
        };
        let cases: [Case; 6] = [
            (contract(&[], &[(1, 0)]), &[2, 2], &[2, 2], &[2, 2], &[7.0, 10.0, 15.0, 22.0]),
            // Of the transposes.
            (contract(&[], &[(0, 1)]), &[2, 2], &[2, 2], &[2, 2], &[7.0, 15.0, 10.0, 22.0]),
            (contract(&[], &[(0, 0)]), &[3], &[3], &[], &[14.0]),
            (contract(&[], &[]), &[2], &[2], &[2, 2], &[1.0, 2.0, 2.0, 4.0]),
            (contract(&[(0, 0)], &[(1, 1)]), &[2, 2], &[2, 2], &[2], &[5.0, 25.0]),
            // Batch axes come first wherever they stand; an empty sum is 0.
            (contract(&[(1, 0)], &[(0, 1)]), &[0, 2], &[2, 0], &[2], &[0.0, 0.0]),
        ];
        for (contract, a, b, shape, expected) in cases {
            assert_eq!(count_up(&contract, a, b), (shape.to_vec(), expected.to_vec()), "{contract:?}");
        }
    }

    #[test]
    fn pairs_agree() {
        let (n, m) = (Dim::sym(Sym(0)), Dim::sym(Sym(1)));
        let (a, b) = (Type::new(DType::F32, [n.clone(), m.clone()]), Type::new(DType::F32, [m, n.clone()]));
        let infer = |sum: &[(usize, usize)], b: &Type| {
            Contract { batch: vec![], sum: sum.to_vec() }.infer(&Facts::default(), &[&a, b])
        };
        assert_eq!(infer(&[(1, 0)], &b), Ok(Type::new(DType::F32, [n.clone(), n])));
        for sum in [&[(0, 0)][..], &[(2, 0)], &[(1, 0), (1, 1)]] {
            assert!(infer(sum, &b).is_err(), "{sum:?}");
        }
        assert!(infer(&[(1, 0)], &b.with_dtype(DType::F64)).is_err());
    }
}
