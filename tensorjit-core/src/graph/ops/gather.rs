//! Elements at computed indices along one axis.

use super::fold;
use super::scatter_add::ScatterAdd;
use super::site::Site;
use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::value::{Element, Env, Value};
use crate::graph::{NodeId, Op, Type};
use tensorjit_runtime::abi::DType;

/// Operands are the source and an `i64` tensor of indices, whose axes take the place of the axis.
/// Indices out of range are clamped; the axis is not empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gather {
    /// The axis of the source.
    pub axis: usize,
}

impl Gather {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [source, indices] = super::operands("gather", inputs)?;
        if self.axis >= source.rank() || indices.dtype != DType::I64 {
            return Err(Bug::new(
                "graph",
                format!("gather from {source:?} along axis {} at {indices:?}", self.axis),
            ));
        }
        let mut shape = source.shape.clone();
        shape.splice(self.axis..=self.axis, indices.shape.iter().cloned());
        Ok(source.with_shape(shape))
    }

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [source, indices] = super::operands("gather", operands)?;
        let rank = indices.shape.len();
        let mut from = vec![0; source.shape.len()];
        Value::build(source.dtype, shape, |index| {
            let place = indices.at(&index[self.axis..self.axis + rank]);
            from[..self.axis].copy_from_slice(&index[..self.axis]);
            from[self.axis] = clamp(place, source.shape[self.axis])?;
            from[self.axis + 1..].copy_from_slice(&index[self.axis + rank..]);
            let found = source.at(&from);
            Ok(Element { error: found.error.max(place.error), ..found })
        })
    }

    /// The tangent for the tangent of the source.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        let Some(tangent) = tangents.first().copied().flatten() else { return Ok(None) };
        let indices = site.input(1)?;
        site.add(Op::Gather(self.clone()), &[tangent, indices]).map(Some)
    }

    /// The cotangent of the source.
    pub fn transpose(
        &self,
        site: &mut Site,
        _linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let (source, indices) = (site.input(0)?, site.input(1)?);
        let extent = site.ty(source).shape[self.axis].clone();
        let index_rank = site.ty(indices).rank();
        let scatter = ScatterAdd { axis: self.axis, extent, index_rank };
        Ok(vec![Some(site.add(Op::ScatterAdd(scatter), &[indices, cotangent])?), None])
    }
}

/// The position that an index means on an axis that is not empty.
pub(super) fn clamp(index: Element, extent: usize) -> Result<usize, Bug> {
    let Some(last) = extent.checked_sub(1) else {
        return Err(Bug::new("interp", "an index into an empty axis"));
    };
    Ok(usize::try_from(fold::int(index)).map_or(0, |index| index.min(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The axis, the shape and the elements of the indices, the shape and the elements of the result.
    type Case = (usize, &'static [usize], &'static [i64], &'static [usize], &'static [f64]);

    fn eval(axis: usize, indices: &Value, shape: &[usize]) -> Result<Vec<f64>, Bug> {
        let source = Value::floats(DType::F64, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        Gather { axis }.eval(&Env { dims: &[] }, &[&source, indices], shape).map(|value| value.to_f64())
    }

    #[test]
    fn indices_take_the_place_of_the_axis_and_are_clamped() {
        let cases: [Case; 4] = [
            (0, &[3], &[1, 0, 1], &[3, 3], &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            (1, &[], &[2], &[2], &[3.0, 6.0]),
            (1, &[2, 1], &[0, 1], &[2, 2, 1], &[1.0, 2.0, 4.0, 5.0]),
            (1, &[3], &[-7, 9, i64::MAX], &[2, 3], &[1.0, 3.0, 3.0, 4.0, 6.0, 6.0]),
        ];
        for (axis, index_shape, indices, shape, expected) in cases {
            let indices = Value::ints(DType::I64, index_shape, indices);
            assert_eq!(eval(axis, &indices, shape), Ok(expected.to_vec()), "{axis} {indices:?}");
        }
    }

    #[test]
    fn an_unsure_index_makes_the_element_unsure() {
        let source = Value::floats(DType::F64, &[2], &[1.0, 2.0]);
        let mut indices = Value::ints(DType::I64, &[2], &[0, 1]);
        indices.elements[1].error = f64::INFINITY;
        let found = Gather { axis: 0 }.eval(&Env { dims: &[] }, &[&source, &indices], &[2]).unwrap();
        assert_eq!(found.elements.iter().map(|e| e.error).collect::<Vec<_>>(), [0.0, f64::INFINITY]);
    }
}
