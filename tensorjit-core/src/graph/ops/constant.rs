//! Scalar constants.

use tensorjit_runtime::abi::DType;

use super::{broadcast::Broadcast, operands};
use crate::diag::{Bug, Origin};
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::value::{Element, Env, Scalar, Value, round, wrap};
use crate::graph::{Graph, NodeId, Op, Type};

/// A scalar; floats are kept by their bits, so that equal means the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Constant {
    /// A truth value.
    Bool(bool),
    /// An integer, within the range of its type.
    Int(DType, i128),
    /// A float of either width, as the bits of the f64 that has been rounded to it.
    Float(DType, u64),
}

impl Constant {
    /// The number `value` as an element of `dtype`: floats are rounded, integers truncated and wrapped, and a
    /// truth value is whether it is not zero.
    pub fn number(dtype: DType, value: f64) -> Constant {
        match dtype {
            DType::Bool => Constant::Bool(value != 0.0),
            dtype if dtype.is_int() => Constant::Int(dtype, wrap(dtype, (value as i64).into())),
            dtype => Constant::Float(dtype, round(dtype, value).to_bits()),
        }
    }

    /// An element of `dtype`, wrapped or rounded to it; `None` where it is of another kind.
    pub fn of(dtype: DType, scalar: Scalar) -> Option<Constant> {
        match scalar {
            Scalar::Bool(value) if dtype == DType::Bool => Some(Constant::Bool(value)),
            Scalar::Int(value) if dtype.is_int() => Some(Constant::Int(dtype, wrap(dtype, value))),
            Scalar::Float(value) if dtype.is_float() => {
                Some(Constant::Float(dtype, round(dtype, value).to_bits()))
            }
            _ => None,
        }
    }

    /// The least value of all: -inf, or the least integer.
    pub fn least(dtype: DType) -> Constant {
        match dtype {
            DType::Bool => Constant::Bool(false),
            dtype if dtype.is_int() => Constant::Int(dtype, dtype.bounds().0),
            dtype => Constant::number(dtype, f64::NEG_INFINITY),
        }
    }

    /// Zero, or false.
    pub fn zero(dtype: DType) -> Constant {
        Constant::number(dtype, 0.0)
    }

    /// One, or true.
    pub fn one(dtype: DType) -> Constant {
        Constant::number(dtype, 1.0)
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        match self {
            Constant::Bool(_) => DType::Bool,
            Constant::Int(dtype, _) | Constant::Float(dtype, _) => *dtype,
        }
    }

    /// The value.
    pub fn scalar(&self) -> Scalar {
        match self {
            Constant::Bool(value) => Scalar::Bool(*value),
            Constant::Int(_, value) => Scalar::Int(*value),
            Constant::Float(_, bits) => Scalar::Float(f64::from_bits(*bits)),
        }
    }

    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [] = operands("constant", inputs)?;
        let dtype = self.dtype();
        let fits = match self {
            Constant::Bool(_) => true,
            Constant::Int(_, value) => dtype.is_int() && wrap(dtype, *value) == *value,
            Constant::Float(_, bits) => {
                dtype.is_float() && round(dtype, f64::from_bits(*bits)).to_bits() == *bits
            }
        };
        if fits {
            Ok(Type::scalar(dtype))
        } else {
            Err(Bug::new("graph", format!("constant: {:?} is no {}", self.scalar(), dtype.name())))
        }
    }

    /// The value of the result.
    pub fn eval(&self, _env: &Env, _operands: &[&Value], _shape: &[usize]) -> Result<Value, Bug> {
        Ok(Value { dtype: self.dtype(), shape: Vec::new(), elements: vec![Element::exact(self.scalar())] })
    }

    /// Adds a tensor whose elements are all this constant.
    pub fn splat(self, graph: &mut Graph, shape: &[Dim], origin: Origin) -> Result<NodeId, Bug> {
        let scalar = graph.add(Op::Constant(self), &[], origin)?;
        if shape.is_empty() {
            return Ok(scalar);
        }
        graph.add(Op::Broadcast(Broadcast { shape: shape.to_vec(), axes: Vec::new() }), &[scalar], origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_rounded_and_wrapped_to_their_type() {
        let cases = [
            (DType::F32, 0.1, Scalar::Float(f64::from(0.1f32))),
            (DType::F64, 0.1, Scalar::Float(0.1)),
            (DType::I32, 4_294_967_297.0, Scalar::Int(1)),
            (DType::I64, -3.0, Scalar::Int(-3)),
            (DType::U8, 300.0, Scalar::Int(44)),
            (DType::U64, -1.0, Scalar::Int(u64::MAX.into())),
            (DType::Bool, 2.0, Scalar::Bool(true)),
        ];
        for (dtype, number, expected) in cases {
            let constant = Constant::number(dtype, number);
            assert_eq!(constant.scalar(), expected);
            assert_eq!(constant.infer(&Facts::default(), &[]), Ok(Type::scalar(dtype)));
        }
        let unrounded = Constant::Float(DType::F32, 0.1f64.to_bits());
        assert!(unrounded.infer(&Facts::default(), &[]).is_err());
    }
}
