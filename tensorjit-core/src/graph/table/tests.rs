//! Walks the table: values, derivatives, types and names of every row.

use std::collections::{BTreeMap, BTreeSet};

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
                    DType::I32 | DType::I64 => Scalar::Int(3),
                    DType::F32 | DType::F64 => Scalar::Float(0.75),
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

/// One line of the file of values.
struct Case<'a> {
    ew: Ew,
    args: Vec<f64>,
    /// In f64, where the file has it so.
    result: f64,
    any_zero: bool,
    f32: bool,
    line: &'a str,
}

fn read_case(line: &str) -> Case<'_> {
    let words: Vec<&str> = line.split(' ').collect();
    let ew = Ew::by_name(words[0]).expect("the file names rows");
    let number = |word: &str| match word {
        "nan" => f64::NAN,
        "zero" => 0.0,
        _ if word.len() == 8 => f64::from(f32::from_bits(u32::from_str_radix(word, 16).expect("hex"))),
        _ => f64::from_bits(u64::from_str_radix(word, 16).expect("hex")),
    };
    let (args, results) = words[3..].split_at(ew.arity());
    let result = results[results.len() - 1];
    Case {
        ew,
        args: args.iter().map(|word| number(word)).collect(),
        result: number(result),
        any_zero: result == "zero",
        f32: result.len() == 8 || (words[1] == "f32" && result.len() < 8),
        line,
    }
}

/// How many floats lie between two of the same sign.
fn ulps_between(a: f64, b: f64) -> u64 {
    let ordered =
        |x: f64| if x.is_sign_negative() { -(x.abs().to_bits() as i64) } else { x.to_bits() as i64 };
    ordered(a).abs_diff(ordered(b))
}

#[test]
fn values_are_those_of_sixty_digits() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/math/elementary.txt");
    let text = std::fs::read_to_string(path).expect("the file of values");
    let mut seen: BTreeMap<Ew, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in text.lines().map(read_case) {
        *seen.entry(case.ew).or_default() += 1;
        let dtype = if case.f32 { DType::F32 } else { DType::F64 };
        let value = match case.ew.fold(dtype, &floats(&case.args)) {
            Ok(Scalar::Float(value)) => value,
            other => panic!("{}: {other:?}", case.line),
        };
        // Two units of f64 for the sum of roundings in formulas such as the sigmoid's; f32 results are rounded
        // from them.
        let close = if case.any_zero {
            value == 0.0
        } else if case.result.is_nan() {
            value.is_nan()
        } else if case.f32 {
            value.to_bits() == case.result.to_bits()
        } else {
            ulps_between(value, case.result) <= 2
        };
        if !close {
            wrong.push(format!("{} gives {value:e}, not {:e}", case.line, case.result));
        }
    }
    assert!(wrong.is_empty(), "{} values are wrong:\n{}", wrong.len(), wrong.join("\n"));
    for ew in Ew::ALL.iter().filter(|ew| ew.row().types == TypeRule::Float) {
        assert!(seen.get(ew).is_some_and(|count| *count > 100), "{ew:?} has no values");
    }
}

#[test]
fn integers_wrap_and_divide_by_zero() {
    let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
    for (ew, dtype, args, expected) in [
        (Ew::Add, DType::I32, vec![most, 1], least),
        (Ew::Add, DType::I64, vec![most, 1], most + 1),
        (Ew::Add, DType::I64, vec![i64::MAX, 1], i64::MIN),
        (Ew::Sub, DType::I64, vec![i64::MIN, 1], i64::MAX),
        (Ew::Mul, DType::I32, vec![65_536, 65_536], 0),
        (Ew::Mul, DType::I64, vec![i64::MIN, -1], i64::MIN),
        (Ew::Fma, DType::I64, vec![i64::MAX, i64::MAX, 1], 2),
        (Ew::Square, DType::I32, vec![46_341], -2_147_479_015),
        (Ew::Neg, DType::I32, vec![least], least),
        (Ew::Abs, DType::I32, vec![least], least),
        (Ew::Abs, DType::I64, vec![i64::MIN], i64::MIN),
        (Ew::Abs, DType::I64, vec![-5], 5),
        (Ew::Sign, DType::I64, vec![i64::MIN], -1),
        (Ew::Sign, DType::I32, vec![0], 0),
        (Ew::Div, DType::I32, vec![-7, 2], -3),
        (Ew::Div, DType::I32, vec![7, 0], 0),
        (Ew::Div, DType::I32, vec![least, -1], least),
        (Ew::Div, DType::I64, vec![i64::MIN, -1], i64::MIN),
        (Ew::Rem, DType::I32, vec![-7, 2], -1),
        (Ew::Rem, DType::I32, vec![7, -2], 1),
        (Ew::Rem, DType::I32, vec![7, 0], 0),
        (Ew::Rem, DType::I64, vec![i64::MIN, -1], 0),
        (Ew::Mod, DType::I32, vec![-7, 2], 1),
        (Ew::Mod, DType::I32, vec![7, -2], -1),
        (Ew::Mod, DType::I32, vec![-6, 2], 0),
        (Ew::Mod, DType::I32, vec![7, 0], 0),
        (Ew::Mod, DType::I64, vec![i64::MIN, -1], 0),
        (Ew::Maximum, DType::I32, vec![-3, 2], 2),
        (Ew::Minimum, DType::I32, vec![-3, 2], -3),
        (Ew::Clip, DType::I32, vec![5, 7, 6], 6),
        (Ew::Clip, DType::I32, vec![5, 0, 3], 3),
        (Ew::Dmul, DType::I32, vec![5, 0], 0),
        (Ew::Not, DType::I32, vec![0], -1),
        (Ew::And, DType::I64, vec![12, 10], 8),
        (Ew::Or, DType::I64, vec![12, 10], 14),
        (Ew::Xor, DType::I64, vec![12, 10], 6),
        (Ew::Cast(DType::I32), DType::I64, vec![most + 1], least),
        (Ew::Cast(DType::I64), DType::I32, vec![least], least),
    ] {
        let args: Vec<Scalar> = args.into_iter().map(Scalar::Int).collect();
        assert_eq!(ew.eval(dtype, &args), Ok(Scalar::Int(expected)), "{ew:?} {dtype:?} {args:?}");
    }
}

#[test]
fn floats_convert_to_integers_with_saturation() {
    for (to, x, expected) in [
        (DType::I32, 2.9, 2),
        (DType::I32, -2.9, -2),
        (DType::I32, 1e10, i64::from(i32::MAX)),
        (DType::I32, f64::NEG_INFINITY, i64::from(i32::MIN)),
        (DType::I32, f64::NAN, 0),
        (DType::I64, 9.3e18, i64::MAX),
        (DType::I64, -1e300, i64::MIN),
        (DType::I64, f64::NAN, 0),
    ] {
        assert_eq!(
            Ew::Cast(to).eval(DType::F64, &[Scalar::Float(x)]),
            Ok(Scalar::Int(expected)),
            "{x} as {to:?}"
        );
    }
}

#[test]
fn folding_rounds_once() {
    // Through f64 the tie would be broken twice, to the even float below.
    let value = (1_i64 << 54) + (1 << 30) + 1;
    let folded = Ew::Cast(DType::F32).fold(DType::I64, &[Scalar::Int(value)]);
    assert_eq!(folded, Ok(Scalar::Float(f64::from(value as f32))));
    let third = Ew::Recip.fold(DType::F32, &[Scalar::Float(3.0)]);
    assert_eq!(third, Ok(Scalar::Float(f64::from(1.0_f32 / 3.0))));
}

#[test]
fn truth_values_obey_their_tables() {
    for (ew, on) in [
        (Ew::And, [false, false, false, true]),
        (Ew::Or, [false, true, true, true]),
        (Ew::Xor, [false, true, true, false]),
        (Ew::Eq, [true, false, false, true]),
        (Ew::Ne, [false, true, true, false]),
    ] {
        for (i, expected) in on.into_iter().enumerate() {
            let args = [Scalar::Bool(i & 2 != 0), Scalar::Bool(i & 1 != 0)];
            assert_eq!(ew.eval(DType::Bool, &args), Ok(Scalar::Bool(expected)), "{ew:?} {args:?}");
        }
    }
    assert_eq!(Ew::Not.eval(DType::Bool, &[Scalar::Bool(true)]), Ok(Scalar::Bool(false)));
}

#[test]
fn nan_compares_and_is_tested_as_in_ieee() {
    let nan = f64::NAN;
    for (ew, args, expected) in [
        (Ew::Lt, vec![1.0, nan], false),
        (Ew::Le, vec![nan, nan], false),
        (Ew::Gt, vec![nan, 1.0], false),
        (Ew::Ge, vec![nan, nan], false),
        (Ew::Eq, vec![nan, nan], false),
        (Ew::Ne, vec![nan, nan], true),
        (Ew::Eq, vec![0.0, -0.0], true),
        (Ew::Lt, vec![-0.0, 0.0], false),
        (Ew::IsNan, vec![nan], true),
        (Ew::IsNan, vec![f64::INFINITY], false),
        (Ew::IsInf, vec![f64::NEG_INFINITY], true),
        (Ew::IsInf, vec![nan], false),
        (Ew::IsFinite, vec![nan], false),
        (Ew::IsFinite, vec![f64::INFINITY], false),
        (Ew::IsFinite, vec![f64::MAX], true),
        (Ew::Cast(DType::Bool), vec![nan], true),
        (Ew::Cast(DType::Bool), vec![-0.0], false),
    ] {
        assert_eq!(ew.eval(DType::F64, &floats(&args)), Ok(Scalar::Bool(expected)), "{ew:?} {args:?}");
    }
    for args in [[nan, 0.0, 1.0], [0.0, nan, 1.0], [0.0, 0.0, nan]] {
        let clipped = Ew::Clip.eval(DType::F64, &floats(&args));
        assert!(matches!(clipped, Ok(Scalar::Float(value)) if value.is_nan()), "{args:?}");
    }
    assert_eq!(Ew::Dmul.eval(DType::F64, &floats(&[nan, 0.0])), Ok(Scalar::Float(0.0)));
}

/// The value of a row as a float.
fn value(ew: Ew, args: &[f64]) -> f64 {
    ew.eval(DType::F64, &operands(ew, args)).expect("a row takes its own operands").to_f64()
}

/// The derivatives of a row.
fn partials(ew: Ew, args: &[f64]) -> Vec<f64> {
    let scalars = operands(ew, args);
    let out = ew.eval(DType::F64, &scalars).expect("a row takes its own operands");
    ew.partials(&scalars, out).expect("a formula fits its row").expect("every row has a derivative")
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

#[test]
fn derivatives_are_those_of_central_differences() {
    let mut random = Random(7);
    let step = 1e-4;
    let with_floats = |ew: &&Ew| ew.row().types.accepts().contains(&DType::F64);
    for ew in Ew::ALL.iter().copied().filter(|ew| with_floats(&ew)) {
        for _ in 0..200 {
            let args = sample(ew, &mut random);
            for (position, partial) in partials(ew, &args).into_iter().enumerate() {
                if ew.row().types.operand(position, DType::F64) == DType::Bool {
                    continue;
                }
                let at = |shift: f64| {
                    let mut moved = args.clone();
                    moved[position] += shift * step;
                    value(ew, &moved)
                };
                // Of fourth order, so that rounding and truncation both stay below the tolerance.
                let difference = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
                let error = (partial - difference).abs();
                assert!(
                    error <= 1e-9 * (1.0 + partial.abs()),
                    "{ew:?} at {args:?}, operand {position}: {partial} is not {difference}"
                );
            }
        }
    }
}

#[test]
fn derivatives_at_kinks_are_the_conventions() {
    for ew in Ew::ALL {
        for kink in ew.row().kinks.values {
            assert_eq!(partials(*ew, kink.at), kink.partials, "{ew:?} at {:?}", kink.at);
        }
    }
}

#[test]
fn small_derivatives_keep_their_digits() {
    for (ew, x, expected) in [
        (Ew::Tanh, 20.0, 1.699_341_702_116_635_6e-17),
        (Ew::Sigmoid, 40.0, 4.248_354_255_291_589e-18),
        (Ew::Sigmoid, -800.0, 0.0),
        (Ew::Expm1, -40.0, 4.248_354_255_291_589e-18),
        (Ew::Erf, 6.0, 2.617_301_239_249_265e-16),
    ] {
        let found = partials(ew, &[x])[0];
        assert!((found - expected).abs() <= 1e-14 * expected, "{ew:?} at {x}: {found:e} is not {expected:e}");
    }
}

#[test]
fn derivatives_neither_overflow_nor_underflow_on_the_way() {
    for (ew, args, expected) in [
        (Ew::Atan2, vec![1e-200, 1e-200], vec![5e199, -5e199]),
        (Ew::Atan2, vec![1e200, 1e200], vec![5e-201, -5e-201]),
        (Ew::Hypot, vec![3e200, 4e200], vec![0.6, 0.8]),
        (Ew::Div, vec![1e-200, 1e-180], vec![1e180, -1e160]),
        (Ew::Rsqrt, vec![1e-200], vec![-5e299]),
    ] {
        for (found, expected) in partials(ew, &args).into_iter().zip(expected) {
            let error = (found - expected).abs() / expected.abs();
            assert!(error < 1e-15, "{ew:?} at {args:?}: {found:e} is not {expected:e}");
        }
    }
}

#[test]
fn linear_rows_are_linear_in_what_they_name() {
    let mut random = Random(11);
    for ew in Ew::ALL {
        let Derivative::Linear { operands: named, transpose } = ew.row().derivative else { continue };
        assert_eq!(named.len(), transpose().len(), "{ew:?}");
        for _ in 0..50 {
            let (a, b) = (sample(*ew, &mut random), sample(*ew, &mut random));
            let mut sum = a.clone();
            let mut second = a.clone();
            for position in named {
                sum[*position] += b[*position];
                second[*position] = b[*position];
            }
            let error = value(*ew, &sum) - value(*ew, &a) - value(*ew, &second);
            assert!(error.abs() < 1e-14, "{ew:?} of {a:?} and {b:?}");
        }
    }
}
