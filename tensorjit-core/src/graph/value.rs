//! Concrete tensors: what the oracle computes with, each element beside a bound on the error of a kernel.

use tensorjit_runtime::abi::DType;

use crate::diag::Bug;
use crate::dim::{Dim, Sym};

/// One number or truth value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer, wrapped to the range of its type.
    Int(i128),
    /// A float.  Results of operators are not rounded to f32, for which the bound allows, but to `f16` and `bf16`.
    Float(f64),
}

impl Scalar {
    /// The float, or the integer or truth value as a float.
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::Bool(value) => f64::from(u8::from(value)),
            Scalar::Int(value) => value as f64,
            Scalar::Float(value) => value,
        }
    }

    /// Whether the bits are those of an element of `dtype`.
    pub fn fits(self, dtype: DType) -> bool {
        match self {
            Scalar::Bool(_) => dtype == DType::Bool,
            Scalar::Int(value) => dtype.is_int() && wrap(dtype, value) == value,
            Scalar::Float(_) => dtype.is_float(),
        }
    }
}

/// A scalar and by how much a kernel's may differ from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// What the oracle found.
    pub scalar: Scalar,
    /// The greatest absolute error of a kernel that rounds to the element type; infinite where a rounding
    /// error may have taken another branch, so that nothing can be said (of integers and truth values too).
    pub error: f64,
}

impl Element {
    /// An element without error.
    pub fn exact(scalar: Scalar) -> Element {
        Element { scalar, error: 0.0 }
    }

    /// The float; 0 or 1 for truth values.
    pub fn float(self) -> f64 {
        self.scalar.to_f64()
    }
}

/// A tensor with concrete extents, its elements in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The element type.
    pub dtype: DType,
    /// The extents.
    pub shape: Vec<usize>,
    /// As many as the product of the extents.
    pub elements: Vec<Element>,
}

impl Value {
    /// A tensor whose element at each index is given by `element`.
    pub fn build(
        dtype: DType,
        shape: &[usize],
        mut element: impl FnMut(&[usize]) -> Result<Element, Bug>,
    ) -> Result<Value, Bug> {
        let mut elements = Vec::with_capacity(shape.iter().product());
        let mut at = Index::new(shape);
        while let Some(index) = at.next() {
            elements.push(element(index)?);
        }
        Ok(Value { dtype, shape: shape.to_vec(), elements })
    }

    /// A tensor of floats without error, each rounded to `dtype`.
    pub fn floats(dtype: DType, shape: &[usize], values: &[f64]) -> Value {
        let elements =
            values.iter().map(|value| Element::exact(Scalar::Float(round(dtype, *value)))).collect();
        Value { dtype, shape: shape.to_vec(), elements }
    }

    /// A tensor of integers, each wrapped to `dtype`.
    pub fn ints(dtype: DType, shape: &[usize], values: &[i64]) -> Value {
        let wrapped = |value: &i64| Element::exact(Scalar::Int(wrap(dtype, i128::from(*value))));
        let elements = values.iter().map(wrapped).collect();
        Value { dtype, shape: shape.to_vec(), elements }
    }

    /// A tensor of truth values.
    pub fn bools(shape: &[usize], values: &[bool]) -> Value {
        let elements = values.iter().map(|value| Element::exact(Scalar::Bool(*value))).collect();
        Value { dtype: DType::Bool, shape: shape.to_vec(), elements }
    }

    /// The element at an index that is in bounds.
    pub fn at(&self, index: &[usize]) -> Element {
        self.elements[flat(&self.shape, index)]
    }

    /// All elements as floats; truth values as 0 and 1.
    pub fn to_f64(&self) -> Vec<f64> {
        self.elements.iter().map(|element| element.float()).collect()
    }

    /// Whether there are as many elements as the extents say, each of the element type.
    pub fn is_valid(&self) -> bool {
        self.elements.len() == self.shape.iter().product::<usize>()
            && self.elements.iter().all(|element| element.scalar.fits(self.dtype))
    }
}

/// The position of an index in row-major order.
pub fn flat(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |position, (extent, i)| position * extent + i)
}

/// Walks all indices of a shape in row-major order, without allocating for each.
pub struct Index<'a> {
    shape: &'a [usize],
    at: Vec<usize>,
    started: bool,
}

impl<'a> Index<'a> {
    /// Before the first index of `shape`.
    pub fn new(shape: &'a [usize]) -> Index<'a> {
        Index { shape, at: vec![0; shape.len()], started: false }
    }

    /// The next index; `None` after the last.
    #[allow(clippy::should_implement_trait, reason = "it lends the index, which an Iterator cannot")]
    pub fn next(&mut self) -> Option<&[usize]> {
        if !self.started {
            self.started = true;
            return if self.shape.contains(&0) { None } else { Some(&self.at) };
        }
        for axis in (0..self.shape.len()).rev() {
            self.at[axis] += 1;
            if self.at[axis] < self.shape[axis] {
                return Some(&self.at);
            }
            self.at[axis] = 0;
        }
        None
    }
}

/// Wraps an integer to the range of the integer type `dtype`.
pub fn wrap(dtype: DType, value: i128) -> i128 {
    dtype.wrap(value)
}

/// Rounds a float to `dtype`.
pub fn round(dtype: DType, value: f64) -> f64 {
    match dtype {
        DType::F32 => f64::from(value as f32),
        dtype if dtype.is_half() => round_to(Format::of(dtype), value),
        _ => value,
    }
}

/// Rounds an integer to a type of floats, once.
pub fn round_int(dtype: DType, value: i128) -> f64 {
    match dtype {
        DType::F32 => f64::from(value as f32),
        DType::F64 => value as f64,
        _ => {
            // Far below the last bit of any such type a bit stands for all that are lower.
            let low = value & 0xffff;
            let sticky = (value - low) | i128::from(low != 0) << 15;
            round_to(Format::of(dtype), if value.abs() < 1 << 52 { value as f64 } else { sticky as f64 })
        }
    }
}

/// What the numbers of a type of floats are.
struct Format {
    /// Digits of the fraction, the one before the point among them.
    digits: i32,
    /// The exponent of the least normal number.
    least: i32,
    /// The greatest finite number.
    largest: f64,
}

impl Format {
    fn of(dtype: DType) -> Format {
        match dtype {
            DType::F16 => Format { digits: 11, least: -14, largest: 65_504.0 },
            DType::BF16 => Format { digits: 8, least: -126, largest: f64::from(f32::from_bits(0x7f7f_0000)) },
            DType::F32 => Format { digits: 24, least: -126, largest: f64::from(f32::MAX) },
            _ => Format { digits: 53, least: -1022, largest: f64::MAX },
        }
    }

    /// The least number above zero.
    fn smallest(&self) -> f64 {
        f64::from_bits(1).max(2.0_f64.powi(self.least + 1 - self.digits))
    }
}

/// The nearest number of a format much narrower than f64, of two the even one.
fn round_to(format: Format, value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = ((value.abs().to_bits() >> 52) as i32 - 1023).max(format.least);
    let last = 2.0_f64.powi(exponent + 1 - format.digits);
    let rounded = (value / last).round_ties_even() * last;
    if rounded.abs() > format.largest { f64::INFINITY.copysign(value) } else { rounded }
}

/// The unit in the last place of 1: what one operation may add, with the oracle's own rounding allowed for.
pub fn unit(dtype: DType) -> f64 {
    2.0_f64.powi(1 - Format::of(dtype).digits)
}

/// A bound on what rounding to `dtype` adds to `result`, with `ulps` the accuracy of the operation.
///
/// A result that is infinite or NaN is exact; one that the type cannot hold may be anything.
pub fn rounding(dtype: DType, result: f64, ulps: f64) -> f64 {
    let format = Format::of(dtype);
    if !result.is_finite() {
        0.0
    } else if result.abs() * (1.0 + ulps * unit(dtype)) > format.largest {
        f64::INFINITY
    } else {
        ulps * (unit(dtype) * result.abs() + format.smallest())
    }
}

/// What evaluation needs beside the operands: the values of the symbols.
#[derive(Clone, Copy, Debug)]
pub struct Env<'a> {
    /// One for each symbol of the facts, in order.
    pub dims: &'a [i64],
}

impl Env<'_> {
    /// The value of a dimension expression.
    pub fn value(&self, dim: &Dim) -> Result<i64, Bug> {
        dim.eval(&|Sym(i)| self.dims.get(i as usize).copied())
            .ok_or_else(|| Bug::new("interp", format!("the dimension {dim:?} has no value")))
    }

    /// The value of an extent.
    pub fn extent(&self, dim: &Dim) -> Result<usize, Bug> {
        let value = self.value(dim)?;
        usize::try_from(value).map_err(|_| Bug::new("interp", format!("the extent {value} is negative")))
    }

    /// The values of the extents of a shape.
    pub fn shape(&self, shape: &[Dim]) -> Result<Vec<usize>, Bug> {
        shape.iter().map(|dim| self.extent(dim)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_walk_in_row_major_order() {
        for (shape, count) in
            [(vec![], 1), (vec![0], 0), (vec![2, 0], 0), (vec![2, 3], 6), (vec![1, 4, 2], 8)]
        {
            let mut at = Index::new(&shape);
            let mut seen = 0;
            while let Some(index) = at.next() {
                assert_eq!(flat(&shape, index), seen);
                seen += 1;
            }
            assert_eq!(seen, count, "{shape:?}");
        }
    }

    /// Values that NumPy and the definitions of the formats give.
    #[test]
    fn halves_are_rounded_to_the_nearest_and_even() {
        let tiny = 2.0_f64.powi(-24);
        let cases = [
            (DType::F16, 65_519.99, 65_504.0),
            (DType::F16, 65_520.0, f64::INFINITY),
            (DType::F16, -1e30, f64::NEG_INFINITY),
            (DType::F16, 2049.0, 2048.0),
            (DType::F16, 2051.0, 2052.0),
            (DType::F16, 0.1, 0.0999755859375),
            (DType::F16, tiny / 2.0, 0.0),
            (DType::F16, tiny * 0.500001, tiny),
            (DType::F16, tiny * 1.5, tiny * 2.0),
            (DType::F16, tiny * 2.5, tiny * 2.0),
            (DType::BF16, 257.0, 256.0),
            (DType::BF16, 259.0, 260.0),
            (DType::BF16, 0.1, 0.10009765625),
            (DType::BF16, 3.0e38, 226.0 * 2.0_f64.powi(120)),
            (DType::BF16, 3.4e38, f64::INFINITY),
            (DType::BF16, 1e-40, 9.183_549_615_799_121e-41),
        ];
        for (dtype, value, expected) in cases {
            assert_eq!(round(dtype, value), expected, "{value} as {dtype:?}");
        }
        assert!(round(DType::F16, f64::NAN).is_nan());
        assert!(round(DType::F16, -1e-30).is_sign_negative());
        // Through f64 the bit that breaks the tie would be lost.
        let above_tie = (1 << 62) + (1 << 54) + 1;
        assert_eq!(round_int(DType::BF16, above_tie), ((1_i64 << 62) + (1 << 55)) as f64);
        assert_eq!(round_int(DType::BF16, above_tie - 1), (1_i64 << 62) as f64);
    }

    #[test]
    fn rounding_bounds_what_the_type_loses() {
        for value in [0.1, 1.0 / 3.0, 1e-42, 16_777_217.0] {
            assert!((round(DType::F32, value) - value).abs() <= rounding(DType::F32, value, 1.0), "{value}");
        }
        assert_eq!(unit(DType::F32), f64::from(f32::EPSILON));
        assert_eq!(unit(DType::F64), f64::EPSILON);
        assert_eq!(rounding(DType::F32, 1e39, 1.0), f64::INFINITY);
        assert_eq!(rounding(DType::F64, f64::INFINITY, 1.0), 0.0);
    }
}
