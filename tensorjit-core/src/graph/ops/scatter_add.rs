//! Sums of elements that go to the same place along one axis: the transpose of a gather.

use super::fold;
use super::gather::{Gather, clamp};
use super::site::Site;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::value::{Element, Env, Index, Value, flat};
use crate::graph::{NodeId, Op, Type};
use tensorjit_runtime::abi::DType;

/// Operands are an `i64` tensor of indices, clamped as in a gather, and the updates, shaped as the result of that gather.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScatterAdd {
    /// The axis of the result.
    pub axis: usize,
    /// Its extent.
    pub extent: Dim,
    /// The number of axes of the index tensor, which stand at `axis` in the updates.
    pub index_rank: usize,
}

impl ScatterAdd {
    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [indices, updates] = super::operands("scatter_add", inputs)?;
        let range = self.axis..self.axis + self.index_rank;
        let fits = indices.rank() == self.index_rank
            && updates
                .shape
                .get(range.clone())
                .is_some_and(|shape| shape.iter().zip(&indices.shape).all(|(a, b)| facts.same(a, b)));
        if !fits || indices.dtype != DType::I64 || updates.dtype == DType::Bool {
            return Err(Bug::new("graph", format!("scatter_add of {updates:?} at {indices:?} by {self:?}")));
        }
        let mut shape = updates.shape.clone();
        shape.splice(range, [self.extent.clone()]);
        Ok(updates.with_shape(shape))
    }

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [indices, updates] = super::operands("scatter_add", operands)?;
        let range = self.axis..self.axis + self.index_rank;
        let mut terms = vec![Vec::new(); shape.iter().product()];
        let mut to = vec![0; shape.len()];
        let mut walk = Index::new(&updates.shape);
        while let Some(index) = walk.next() {
            to[..self.axis].copy_from_slice(&index[..self.axis]);
            to[self.axis] = clamp(indices.at(&index[range.clone()]), shape[self.axis])?;
            to[self.axis + 1..].copy_from_slice(&index[range.end..]);
            terms[flat(shape, &to)].push(updates.at(index));
        }
        // An index that a kernel may compute otherwise makes every sum unsure.
        let unsure = indices.elements.iter().fold(0.0, |error: f64, e| error.max(e.error));
        let sums = terms.iter().map(|terms| fold::sum(updates.dtype, terms));
        let elements = sums.map(|sum| Element { error: sum.error.max(unsure), ..sum }).collect();
        Ok(Value { dtype: updates.dtype, shape: shape.to_vec(), elements })
    }

    /// The tangent for the tangent of the updates.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        let Some(tangent) = tangents.get(1).copied().flatten() else { return Ok(None) };
        let indices = site.input(0)?;
        site.add(Op::ScatterAdd(self.clone()), &[indices, tangent]).map(Some)
    }

    /// The cotangent of the updates.
    pub fn transpose(
        &self,
        site: &mut Site,
        _linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let indices = site.input(0)?;
        let gather = Gather { axis: self.axis };
        Ok(vec![None, Some(site.add(Op::Gather(gather), &[cotangent, indices])?)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dim::Sym;

    /// The axis, the rank, the shape and the elements of the indices, the shape of the updates, the shape and the elements of the result.
    type Case =
        (usize, usize, &'static [usize], &'static [i64], &'static [usize], &'static [usize], &'static [f64]);

    #[test]
    fn updates_of_one_place_are_added_and_indices_clamped() {
        let cases: [Case; 3] = [
            (0, 1, &[5], &[0, 2, 2, 0, 3], &[5], &[4], &[5.0, 0.0, 5.0, 5.0]),
            (0, 1, &[3], &[-1, 9, 0], &[3], &[2], &[4.0, 2.0]),
            (1, 1, &[2], &[1, 1], &[2, 2], &[2, 3], &[0.0, 3.0, 0.0, 0.0, 7.0, 0.0]),
        ];
        for (axis, index_rank, index_shape, indices, update_shape, shape, expected) in cases {
            let indices = Value::ints(DType::I64, index_shape, indices);
            let numbers: Vec<f64> = (1..=update_shape.iter().product()).map(|i| i as f64).collect();
            let updates = Value::floats(DType::F64, update_shape, &numbers);
            let op = ScatterAdd { axis, extent: Dim::constant(shape[axis] as i64), index_rank };
            let found = op.eval(&Env { dims: &[] }, &[&indices, &updates], shape).unwrap();
            assert_eq!(found.to_f64(), expected, "{indices:?}");
        }
    }

    #[test]
    fn types() {
        let (n, m) = (Dim::sym(Sym(0)), Dim::sym(Sym(1)));
        let op = ScatterAdd { axis: 0, extent: m.clone(), index_rank: 1 };
        let indices = Type::new(DType::I64, [n.clone()]);
        let updates = Type::new(DType::F32, [n, 2.into()]);
        let infer = |indices: &Type, updates: &Type| op.infer(&Facts::default(), &[indices, updates]);
        assert_eq!(infer(&indices, &updates), Ok(Type::new(DType::F32, [m.clone(), 2.into()])));
        assert!(infer(&indices.with_dtype(DType::I32), &updates).is_err());
        assert!(infer(&indices.with_shape([m]), &updates).is_err());
        assert!(infer(&indices.with_shape([]), &updates).is_err());
    }
}
