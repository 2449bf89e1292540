//! The numbers 0, 1, 2 and so on along the only axis.

use tensorjit_runtime::abi::DType;

use super::operands;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::Type;
use crate::graph::value::{Element, Env, Scalar, Value, round, rounding, wrap};

/// Counts up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Iota {
    /// The element type, a number.
    pub dtype: DType,
    /// How many.
    pub extent: Dim,
}

impl Iota {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [] = operands("iota", inputs)?;
        if self.dtype == DType::Bool {
            return Err(Bug::new("graph", "iota: truth values do not count"));
        }
        Ok(Type::new(self.dtype, [self.extent.clone()]))
    }

    /// The value of the result.
    pub fn eval(&self, _env: &Env, _operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        Value::build(self.dtype, shape, |at| {
            let count = at[0] as i128;
            if self.dtype.is_int() {
                return Ok(Element::exact(Scalar::Int(wrap(self.dtype, count))));
            }
            // Counts beyond the mantissa round as they convert.
            let exact = round(self.dtype, count as f64) == count as f64;
            let error = if exact { 0.0 } else { rounding(self.dtype, count as f64, 1.0) };
            Ok(Element { scalar: Scalar::Float(count as f64), error })
        })
    }
}
