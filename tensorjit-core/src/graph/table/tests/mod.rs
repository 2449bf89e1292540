//! Walks the table: names and types, values, derivatives and lowering of every row.

mod derivatives;
mod lowering;
mod values;

use std::collections::BTreeSet;

use tensorjit_runtime::abi::DType;

use super::row::{Derivative, Form, TypeRule};
use super::*;

/// A sequence of numbers in `0..1` that is the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn floats(values: &[f64]) -> Vec<Scalar> {
    values.iter().map(|value| Scalar::Float(*value)).collect()
}

/// The operands of a row in f64, with the mask of a select between 0 and 1 made a truth value.
fn operands(ew: Ew, values: &[f64]) -> Vec<Scalar> {
    let types = ew.row().types;
    let scalar = |(position, value): (usize, &f64)| match types.operand(position, DType::F64) {
        DType::Bool => Scalar::Bool(*value < 0.5),
        _ => Scalar::Float(*value),
    };
    values.iter().enumerate().map(scalar).collect()
}

#[test]
fn names_are_unique_and_found() {
    let names: BTreeSet<&str> = Ew::ALL.iter().map(|ew| ew.row().name).collect();
    assert_eq!(names.len(), Ew::ALL.len());
    for ew in Ew::ALL {
        assert_eq!(Ew::by_name(ew.row().name), Some(*ew));
        let arity = match ew.row().form {
            Form::Infix(..) => 2,
            Form::Prefix(_) | Form::As => 1,
            Form::Call | Form::Internal => ew.arity(),
        };
        assert_eq!(ew.arity(), arity, "{ew:?}");
        assert!(ew.row().doc.ends_with('.'), "{ew:?}");
    }
    assert_eq!(Ew::by_name("no_such_function"), None);
}

#[test]
fn types_are_inferred_and_values_have_them() {
    let facts = Facts::default();
    for ew in Ew::ALL {
        let types = ew.row().types;
        for dtype in DType::ALL {
            let inputs: Vec<Type> =
                (0..ew.arity()).map(|position| Type::scalar(types.operand(position, dtype))).collect();
            let inputs: Vec<&Type> = inputs.iter().collect();
            let inferred = ew.infer(&facts, &inputs);
            if !types.accepts().contains(&dtype) {
                assert!(inferred.is_err(), "{ew:?} {dtype:?}");
                continue;
            }
            assert_eq!(inferred, Ok(Type::scalar(types.result(dtype))), "{ew:?} {dtype:?}");
            assert!(ew.infer(&facts, &inputs[1..]).is_err(), "{ew:?} lacks an operand");
            let args: Vec<Scalar> = inputs
                .iter()
                .map(|input| match input.dtype {
                    DType::Bool => Scalar::Bool(true),
                    dtype if dtype.is_int() => Scalar::Int(3),
                    _ => Scalar::Float(0.75),
                })
                .collect();
            let value = ew.fold(dtype, &args).expect("the operands are of the types that the row takes");
            assert!(value.fits(types.result(dtype)), "{ew:?} {dtype:?} gives {value:?}");
        }
    }
}

#[test]
fn operands_of_different_types_or_shapes_are_refused() {
    let facts = Facts::default();
    let scalar = Type::scalar(DType::F32);
    let vector = Type::new(DType::F32, [crate::dim::Dim::constant(3)]);
    for other in [&vector, &Type::scalar(DType::F64), &Type::scalar(DType::Bool)] {
        assert!(Ew::Add.infer(&facts, &[&scalar, other]).is_err());
        assert!(Ew::Add.infer(&facts, &[other, &scalar]).is_err());
    }
    assert_eq!(Ew::Add.infer(&facts, &[&vector, &vector]), Ok(vector.clone()));
    assert!(Ew::Select.infer(&facts, &[&scalar, &scalar, &scalar]).is_err());
}

/// Operands in the sampling domain, away from kinks.
fn sample(ew: Ew, random: &mut Random) -> Vec<f64> {
    let row = ew.row();
    loop {
        let args: Vec<f64> =
            row.operands.iter().map(|place| place.low + (place.high - place.low) * random.next()).collect();
        if (row.kinks.distance)(&args) > 1e-2 {
            return args;
        }
    }
}
