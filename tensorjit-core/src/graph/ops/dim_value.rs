//! A dimension as an `i64` scalar.

use tensorjit_runtime::abi::DType;

use super::operands;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::Type;
use crate::graph::value::{Env, Value};

/// The dimension.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DimValue(pub Dim);

impl DimValue {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [] = operands("dim_value", inputs)?;
        Ok(Type::scalar(DType::I64))
    }

    /// The value of the result.
    pub fn eval(&self, env: &Env, _operands: &[&Value], _shape: &[usize]) -> Result<Value, Bug> {
        Ok(Value::ints(DType::I64, &[], &[env.value(&self.0)?]))
    }
}
