//! Elements at computed places.

use super::indexing::Indexing;
use super::scatter::{Combine, Scatter};
use super::site::Site;
use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::value::{Element, Env, Value};
use crate::graph::{NodeId, Op, Type};

/// Operands are the source and the indices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gather {
    /// Which elements.
    pub indexing: Indexing,
}

impl Gather {
    /// Along one axis, whose place those of the indices take.
    pub fn one(axis: usize) -> Gather {
        Gather { indexing: Indexing::one(axis) }
    }

    /// Along one axis, for each element of the indices one.
    pub fn along(axis: usize, rank: usize) -> Gather {
        Gather { indexing: Indexing::along(axis, rank) }
    }

    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let Some((source, indices)) = inputs.split_first() else {
            return Err(Bug::new("graph", "gather from nothing"));
        };
        Ok(source.with_shape(self.indexing.infer(facts, source, indices)?))
    }

    /// The value for the values of the operands.
    pub fn eval(&self, env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let Some((source, indices)) = operands.split_first() else {
            return Err(Bug::new("interp", "gather from nothing"));
        };
        Value::build(source.dtype, shape, |index| {
            let (place, error) = self.indexing.place(env, indices, &source.shape, index)?;
            let found = source.at(&place);
            Ok(Element { error: found.error.max(error), ..found })
        })
    }

    /// The tangent for the tangent of the source.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        let Some(tangent) = tangents.first().copied().flatten() else { return Ok(None) };
        let inputs = [&[tangent], &site.inputs[1..]].concat();
        site.add(Op::Gather(self.clone()), &inputs).map(Some)
    }

    /// The cotangent of the source.
    pub fn transpose(
        &self,
        site: &mut Site,
        linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let source = site.ty(site.input(0)?);
        let zeros = site.zeros(&source)?;
        let scatter = Scatter { indexing: self.indexing.clone(), combine: Combine::Add };
        let inputs = [&[zeros], &site.inputs[1..], &[cotangent]].concat();
        let mut found = vec![None; linear.len()];
        found[0] = Some(site.add(Op::Scatter(scatter), &inputs)?);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensorjit_runtime::abi::DType;

    /// The axis, the shape and the elements of the indices, the shape and the elements of the result.
    type Case = (usize, &'static [usize], &'static [i64], &'static [usize], &'static [f64]);

    fn eval(axis: usize, indices: &Value, shape: &[usize]) -> Result<Vec<f64>, Bug> {
        let source = Value::floats(DType::F64, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        Gather::one(axis).eval(&Env { dims: &[] }, &[&source, indices], shape).map(|value| value.to_f64())
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
        let found = Gather::one(0).eval(&Env { dims: &[] }, &[&source, &indices], &[2]).unwrap();
        assert_eq!(found.elements.iter().map(|e| e.error).collect::<Vec<_>>(), [0.0, f64::INFINITY]);
    }
}
