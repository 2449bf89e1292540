//! What a case says of numbers: `[[1, ~0.5], [nan, -0.0]]`.

use tensorjit_core::graph::value::{Element, Scalar, Value, round};
use tensorjit_runtime::abi::DType;

/// Numbers in brackets.
#[derive(Debug)]
pub(super) struct Numbers {
    /// As deep as the brackets.
    shape: Vec<usize>,
    items: Vec<Number>,
}

#[derive(Clone, Copy, Debug)]
struct Number {
    value: Scalar,
    tolerance: Tolerance,
}

#[derive(Clone, Copy, Debug)]
enum Tolerance {
    Exact,
    Near,
    Any,
}

/// Reads `name = numbers`.
pub(super) fn named(text: &str) -> Result<(&str, Numbers), String> {
    let (name, numbers) = text.split_once('=').ok_or_else(|| format!("`{text}` is not `name = numbers`"))?;
    Ok((name.trim(), numbers_of(numbers)?))
}

fn numbers_of(text: &str) -> Result<Numbers, String> {
    let mut rest = text.trim();
    let mut items = Vec::new();
    let shape = list(&mut rest, &mut items)?;
    if rest.is_empty() { Ok(Numbers { shape, items }) } else { Err(format!("`{rest}` is left over")) }
}

/// Reads one number, or a list of equal shapes.
fn list(rest: &mut &str, items: &mut Vec<Number>) -> Result<Vec<usize>, String> {
    let Some(inner) = rest.strip_prefix('[') else {
        let end = rest.find([',', ']']).unwrap_or(rest.len());
        items.push(number(rest[..end].trim())?);
        *rest = &rest[end..];
        return Ok(Vec::new());
    };
    *rest = inner.trim_start();
    let mut count = 0;
    let mut shape = None;
    while !rest.starts_with(']') {
        let found = list(rest, items)?;
        if shape.get_or_insert_with(|| found.clone()) != &found {
            return Err(format!("lists of different lengths before `{rest}`"));
        }
        count += 1;
        *rest = rest.trim_start();
        match rest.strip_prefix(',') {
            Some(after) => *rest = after.trim_start(),
            None if rest.starts_with(']') => {}
            None => return Err(format!("expected `,` or `]` before `{rest}`")),
        }
    }
    *rest = rest[1..].trim_start();
    let mut whole = vec![count];
    whole.extend(shape.unwrap_or_default());
    Ok(whole)
}

fn number(text: &str) -> Result<Number, String> {
    let (tolerance, digits) = match text.strip_prefix('~') {
        Some(digits) => (Tolerance::Near, digits),
        None if text == "_" => (Tolerance::Any, "0"),
        None => (Tolerance::Exact, text),
    };
    let value = match digits {
        "true" => Scalar::Bool(true),
        "false" => Scalar::Bool(false),
        _ => match (digits.parse::<i128>(), digits.parse::<f64>()) {
            // An integer would lose the sign of -0.
            (Ok(value), _) if !(value == 0 && digits.starts_with('-')) => Scalar::Int(value),
            (_, Ok(value)) => Scalar::Float(value),
            _ => return Err(format!("`{text}` is not a number")),
        },
    };
    Ok(Number { value, tolerance })
}

impl Numbers {
    /// The tensor of an input.
    pub(super) fn input(&self, dtype: DType, shape: &[usize]) -> Result<Value, String> {
        self.require_shape(shape)?;
        let elements: Result<Vec<Element>, String> = self.items.iter().map(|n| n.of(dtype)).collect();
        Ok(Value { dtype, shape: shape.to_vec(), elements: elements? })
    }

    /// Compares a result with what is expected; `bounded` allows for the bound that the oracle's elements carry.
    pub(super) fn check(&self, found: &Value, bounded: bool) -> Result<(), String> {
        self.require_shape(&found.shape)?;
        for (position, (number, element)) in self.items.iter().zip(&found.elements).enumerate() {
            let expected = number.of(found.dtype)?;
            let room = if bounded { 4.0 * element.error } else { 0.0 };
            if !number.is_met(expected.scalar, element.scalar, room, found.dtype) {
                let (expected, found) = (expected.scalar, element.scalar);
                return Err(format!("element {position} is {found:?}, expected {expected:?}"));
            }
        }
        Ok(())
    }

    /// Brackets end where an axis is empty.
    fn require_shape(&self, shape: &[usize]) -> Result<(), String> {
        let empty = self.items.is_empty() && shape.starts_with(&self.shape[..self.shape.len() - 1]);
        if self.shape == shape || (empty && shape.contains(&0)) {
            return Ok(());
        }
        Err(format!("the shape is {shape:?}, the file has {:?}", self.shape))
    }
}

impl Number {
    fn of(&self, dtype: DType) -> Result<Element, String> {
        let scalar = match self.value {
            Scalar::Int(value) if dtype.is_float() => Scalar::Float(round(dtype, value as f64)),
            Scalar::Float(value) if dtype.is_float() => Scalar::Float(round(dtype, value)),
            value => value,
        };
        if matches!(self.tolerance, Tolerance::Any) || scalar.fits(dtype) {
            Ok(Element::exact(scalar))
        } else {
            Err(format!("{:?} is no {}", self.value, dtype.name()))
        }
    }

    fn is_met(&self, expected: Scalar, found: Scalar, room: f64, dtype: DType) -> bool {
        let (Scalar::Float(e), Scalar::Float(f)) = (expected, found) else {
            return matches!(self.tolerance, Tolerance::Any) || room == f64::INFINITY || expected == found;
        };
        let same = e.to_bits() == f.to_bits() || (e.is_nan() && f.is_nan());
        // The oracle does not round to f32.
        let rounded = room > 0.0 && (e - f).abs() <= room;
        match self.tolerance {
            Tolerance::Any => true,
            Tolerance::Exact => same || rounded,
            Tolerance::Near => {
                let units = if dtype == DType::F64 { 1e-14 } else { 1e-6 };
                same || rounded || (e - f).abs() <= room + units * e.abs()
            }
        }
    }
}

#[test]
fn numbers_are_read() {
    let read = |text: &str| numbers_of(text).map(|n| (n.shape, n.items.len()));
    assert_eq!(read("[[1, 2], [~3.5, nan]]"), Ok((vec![2, 2], 4)));
    assert_eq!(read("-inf"), Ok((vec![], 1)));
    assert_eq!(read("[]"), Ok((vec![0], 0)));
    for bad in ["[1, [2]]", "[1 2]", "[x]", "[1", "1]"] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn exact_numbers_are_exact() {
    let value = |x: f64| Value::floats(DType::F32, &[1], &[x]);
    let meets = |text: &str, x: f64| numbers_of(text).unwrap().check(&value(x), false).is_ok();
    assert!(meets("[-0.0]", -0.0) && !meets("[0]", -0.0) && !meets("[-0]", 0.0));
    assert!(meets("[nan]", f64::NAN) && !meets("[nan]", 1.0) && !meets("[1]", f64::NAN));
    assert!(meets("[0.1]", 0.1) && !meets("[0.1]", 0.100_000_1));
    assert!(meets("[~0.1]", 0.100_000_001) && !meets("[~0.1]", 0.100_001));
    assert!(meets("[_]", f64::INFINITY) && !meets("[~1]", f64::INFINITY) && !meets("[~1]", f64::NAN));
}
