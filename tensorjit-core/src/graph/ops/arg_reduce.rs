//! The index of the first extreme element.

use super::fold;
use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;
use crate::graph::value::{Element, Env, Scalar, Value};
use tensorjit_runtime::abi::DType;

/// The result is `i64` and lacks the axis; the first NaN wins, else the first extreme.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArgReduce {
    /// Of the least instead of the greatest element.
    pub least: bool,
    /// The axis, not empty.
    pub axis: usize,
}

impl ArgReduce {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [x] = super::operands("arg_reduce", inputs)?;
        if self.axis >= x.rank() || x.dtype == DType::Bool {
            return Err(Bug::new("graph", format!("arg_reduce of {x:?} along axis {}", self.axis)));
        }
        let mut shape = x.shape.clone();
        shape.remove(self.axis);
        Ok(Type::new(DType::I64, shape))
    }

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [x] = super::operands("arg_reduce", operands)?;
        let groups = fold::groups(x, &[self.axis]);
        let elements = groups.iter().map(|group| self.find(group)).collect::<Result<_, _>>()?;
        Ok(Value { dtype: DType::I64, shape: shape.to_vec(), elements })
    }

    /// The winner of elements that follow one another along the axis.
    pub(super) fn find(&self, elements: &[Element]) -> Result<Element, Bug> {
        let mut best = 0;
        for (position, element) in elements.iter().enumerate() {
            if self.beats(*element, elements[best]) {
                best = position;
            }
        }
        let Some(winner) = elements.get(best) else {
            return Err(Bug::new("interp", "arg_reduce along an empty axis"));
        };
        // Another element may win in a kernel where the two differ by no more than their errors.
        let unsure = elements.iter().enumerate().any(|(position, element)| {
            let (error, distance) = (element.error + winner.error, (element.float() - winner.float()).abs());
            position != best && error > 0.0 && (distance <= error || distance.is_nan())
        });
        let error = if unsure { f64::INFINITY } else { 0.0 };
        Ok(Element { scalar: Scalar::Int(best as i128), error })
    }

    /// Whether `a`, which comes later, takes the place of `b`.
    fn beats(&self, a: Element, b: Element) -> bool {
        match (a.scalar, b.scalar) {
            (Scalar::Int(a), Scalar::Int(b)) => {
                if self.least {
                    a < b
                } else {
                    a > b
                }
            }
            _ => {
                let (a, b) = (a.float(), b.float());
                !b.is_nan() && (a.is_nan() || if self.least { a < b } else { a > b })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(least: bool, elements: &[Element]) -> Element {
        ArgReduce { least, axis: 0 }.find(elements).unwrap()
    }

    fn floats(values: &[f64]) -> Vec<Element> {
        values.iter().map(|value| Element::exact(Scalar::Float(*value))).collect()
    }

    #[test]
    fn the_first_nan_wins_else_the_first_extreme() {
        let nan = f64::NAN;
        let cases: [(&[f64], i128, i128); 5] = [
            (&[1.0, 3.0, 3.0, 2.0], 1, 0),
            (&[2.0, 1.0, 1.0, 3.0], 3, 1),
            (&[1.0, nan, 5.0, nan], 1, 1),
            (&[-0.0, 0.0], 0, 0),
            (&[f64::NEG_INFINITY], 0, 0),
        ];
        for (values, greatest, least) in cases {
            assert_eq!(find(false, &floats(values)).scalar, Scalar::Int(greatest), "{values:?}");
            assert_eq!(find(true, &floats(values)).scalar, Scalar::Int(least), "{values:?}");
        }
    }

    #[test]
    fn a_close_race_is_unsure() {
        let mut close = floats(&[1.0, 1.0 + 1e-9, 0.0]);
        assert_eq!(find(false, &close).error, 0.0);
        close[0].error = 1e-8;
        assert_eq!(find(false, &close).error, f64::INFINITY);
        assert_eq!(find(true, &close).error, 0.0);
    }

    #[test]
    fn an_empty_axis_has_no_extreme() {
        assert!(ArgReduce { least: false, axis: 0 }.find(&[]).is_err());
    }
}
