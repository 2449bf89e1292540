//! The order of elements along an axis.

use std::cmp::Ordering;

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;
use crate::graph::value::{Element, Env, Index, Scalar, Value, flat};
use tensorjit_runtime::abi::DType;

/// The `i64` indices that sort the elements along the axis, equal ones in their order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sort {
    /// The axis.
    pub axis: usize,
    /// The greatest first.
    pub descending: bool,
    /// NaN before all numbers, otherwise behind them, whichever way these are sorted.
    pub nan_first: bool,
}

impl Sort {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [x] = super::operands("sort", inputs)?;
        if self.axis >= x.rank() {
            return Err(Bug::new("graph", format!("sort of {x:?} along axis {}", self.axis)));
        }
        Ok(x.with_dtype(DType::I64))
    }

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [x] = super::operands("sort", operands)?;
        let mut outer = shape.to_vec();
        let extent = std::mem::replace(&mut outer[self.axis], 1);
        let mut elements = vec![Element::exact(Scalar::Int(0)); x.elements.len()];
        let mut walk = Index::new(&outer);
        while let Some(index) = walk.next() {
            let mut index = index.to_vec();
            let mut place = |at: usize| {
                index[self.axis] = at;
                flat(shape, &index)
            };
            let lane: Vec<Element> = (0..extent).map(|at| x.elements[place(at)]).collect();
            let mut order: Vec<usize> = (0..extent).collect();
            order.sort_by(|a, b| self.compare(lane[*a], lane[*b]));
            for (position, from) in order.into_iter().enumerate() {
                let error = if unsure(&lane, from) { f64::INFINITY } else { 0.0 };
                elements[place(position)] = Element { scalar: Scalar::Int(from as i128), error };
            }
        }
        Ok(Value { dtype: DType::I64, shape: shape.to_vec(), elements })
    }

    fn compare(&self, a: Element, b: Element) -> Ordering {
        let order = match (a.scalar, b.scalar) {
            (Scalar::Int(a), Scalar::Int(b)) => a.cmp(&b),
            _ => {
                let (a, b) = (a.float(), b.float());
                match a.partial_cmp(&b) {
                    Some(order) => order,
                    None if self.nan_first => return b.is_nan().cmp(&a.is_nan()),
                    None => return a.is_nan().cmp(&b.is_nan()),
                }
            }
        };
        if self.descending { order.reverse() } else { order }
    }
}

/// Whether another element may change places with it where kernels round otherwise.
fn unsure(lane: &[Element], position: usize) -> bool {
    let own = lane[position];
    lane.iter().enumerate().any(|(other, element)| {
        let (error, distance) = (element.error + own.error, (element.float() - own.float()).abs());
        other != position && error > 0.0 && (distance <= error || distance.is_nan())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(descending: bool, nan_first: bool, values: &[f64]) -> Vec<f64> {
        let x = Value::floats(DType::F64, &[values.len()], values);
        let sort = Sort { axis: 0, descending, nan_first };
        sort.eval(&Env { dims: &[] }, &[&x], &[values.len()]).unwrap().to_f64()
    }

    #[test]
    fn equal_elements_keep_their_order_and_nan_is_at_its_end() {
        let values = [2.0, f64::NAN, -0.0, 0.0, f64::INFINITY, 2.0, f64::NEG_INFINITY];
        assert_eq!(order(false, false, &values), [6.0, 2.0, 3.0, 0.0, 5.0, 4.0, 1.0]);
        assert_eq!(order(true, false, &values), [4.0, 0.0, 5.0, 2.0, 3.0, 6.0, 1.0]);
        assert_eq!(order(true, true, &values), [1.0, 4.0, 0.0, 5.0, 2.0, 3.0, 6.0]);
    }

    #[test]
    fn neighbours_within_their_errors_are_unsure() {
        let mut x = Value::floats(DType::F64, &[3], &[1.0, 1.0 + 1e-9, 5.0]);
        x.elements[0].error = 1e-8;
        let sort = Sort { axis: 0, descending: false, nan_first: false };
        let found = sort.eval(&Env { dims: &[] }, &[&x], &[3]).unwrap();
        let errors: Vec<f64> = found.elements.iter().map(|element| element.error).collect();
        assert_eq!(errors, [f64::INFINITY, f64::INFINITY, 0.0]);
    }
}
