//! The values of the rows.

use std::collections::BTreeMap;

use super::*;

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

/// A line; none where the function is not a row but text of the prelude.
fn read_case(line: &str) -> Option<Case<'_>> {
    let words: Vec<&str> = line.split(' ').collect();
    let ew = Ew::by_name(words[0])?;
    let number = |word: &str| match word {
        "nan" => f64::NAN,
        "zero" => 0.0,
        _ if word.len() == 8 => f64::from(f32::from_bits(u32::from_str_radix(word, 16).expect("hex"))),
        _ => f64::from_bits(u64::from_str_radix(word, 16).expect("hex")),
    };
    let (args, results) = words[3..].split_at(ew.arity());
    let result = results[results.len() - 1];
    Some(Case {
        ew,
        args: args.iter().map(|word| number(word)).collect(),
        result: number(result),
        any_zero: result == "zero",
        f32: result.len() == 8 || (words[1] == "f32" && result.len() < 8),
        line,
    })
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
    for case in text.lines().filter_map(read_case) {
        *seen.entry(case.ew).or_default() += 1;
        let dtype = if case.f32 { DType::F32 } else { DType::F64 };
        let value = match case.ew.fold(dtype, &floats(&case.args)) {
            Ok(Scalar::Float(value)) => value,
            other => panic!("{}: {other:?}", case.line),
        };
        let least = case.ew.row().accuracy.least;
        // Two units of f64 for the sum of roundings in formulas such as the sigmoid's; f32 results are rounded
        // from them.
        let close = if case.any_zero {
            value == 0.0
        } else if case.result.is_nan() {
            value.is_nan()
        } else if case.f32 {
            value.to_bits() == case.result.to_bits()
        } else {
            ulps_between(value, case.result) <= 2 || (value - case.result).abs() <= 2.0 * f64::EPSILON * least
        };
        if !close {
            wrong.push(format!("{} gives {value:e}, not {:e}", case.line, case.result));
        }
    }
    assert!(wrong.is_empty(), "{} values are wrong:\n{}", wrong.len(), wrong.join("\n"));
    for ew in Ew::ALL.iter().filter(|ew| matches!(ew.row().types, TypeRule::Float | TypeRule::OwnFloat)) {
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
        (Ew::Shl, DType::I32, vec![3, 31], least),
        (Ew::Shl, DType::I64, vec![3, 31], 3 << 31),
        (Ew::Shl, DType::I32, vec![3, 32], 0),
        (Ew::Shl, DType::I32, vec![3, -1], 0),
        (Ew::Shr, DType::I32, vec![-5, 1], -3),
        (Ew::Shr, DType::I32, vec![-5, 32], -1),
        (Ew::Shr, DType::I64, vec![5, -1], 0),
        (Ew::ShrLogical, DType::I32, vec![-1, 28], 15),
        (Ew::ShrLogical, DType::I64, vec![-1, 60], 15),
        (Ew::ShrLogical, DType::I64, vec![-1, 64], 0),
        (Ew::Shr, DType::U8, vec![200, 1], 100),
        (Ew::Shr, DType::U8, vec![200, 8], 0),
        (Ew::Shl, DType::U8, vec![200, 1], 144),
        (Ew::Shl, DType::I8, vec![1, 7], -128),
        (Ew::Shr, DType::I8, vec![-128, 100], -1),
        (Ew::CountOnes, DType::I8, vec![-1], 8),
        (Ew::CountOnes, DType::U8, vec![255], 8),
        (Ew::LeadingZeros, DType::U16, vec![1], 15),
        (Ew::CountOnes, DType::I32, vec![-1], 32),
        (Ew::CountOnes, DType::I64, vec![-1], 64),
        (Ew::CountOnes, DType::I32, vec![0x0f0_0101], 6),
        (Ew::LeadingZeros, DType::I32, vec![0], 32),
        (Ew::LeadingZeros, DType::I32, vec![1], 31),
        (Ew::LeadingZeros, DType::I64, vec![-1], 0),
        (Ew::LeadingZeros, DType::I64, vec![0xffff], 48),
        (Ew::Cast(DType::I32), DType::I64, vec![most + 1], least),
        (Ew::Cast(DType::I64), DType::I32, vec![least], least),
        (Ew::Add, DType::U8, vec![200, 100], 44),
        (Ew::Sub, DType::U8, vec![1, 2], 255),
        (Ew::Neg, DType::U16, vec![1], 65_535),
        (Ew::Abs, DType::U8, vec![255], 255),
        (Ew::Sign, DType::U8, vec![255], 1),
        (Ew::Mul, DType::I8, vec![16, 16], 0),
        (Ew::Div, DType::I8, vec![-128, -1], -128),
        (Ew::Div, DType::U8, vec![7, 255], 0),
        (Ew::Rem, DType::U8, vec![200, 255], 200),
        (Ew::Mod, DType::U8, vec![200, 7], 4),
        (Ew::Not, DType::U8, vec![1], 254),
        (Ew::Maximum, DType::U8, vec![200, 100], 200),
        (Ew::Cast(DType::I8), DType::U8, vec![200], -56),
        (Ew::Cast(DType::U32), DType::I8, vec![-1], u32::MAX.into()),
    ] {
        let args: Vec<Scalar> = args.into_iter().map(|x: i64| Scalar::Int(x.into())).collect();
        assert_eq!(ew.eval(dtype, &args), Ok(Scalar::Int(expected.into())), "{ew:?} {dtype:?} {args:?}");
    }
}

#[test]
fn floats_and_their_bits() {
    for (dtype, x, bits) in [
        (DType::F32, 1.0, 0x3f80_0000),
        (DType::F32, -0.0, i64::from(i32::MIN)),
        (DType::F64, 1.0, 0x3ff0_0000_0000_0000),
        (DType::F64, f64::NEG_INFINITY, 0xfff0_0000_0000_0000_u64 as i64),
        (DType::F64, 5e-324, 1),
    ] {
        let int = if dtype == DType::F32 { DType::I32 } else { DType::I64 };
        let unsigned = if dtype == DType::F32 { DType::U32 } else { DType::U64 };
        let wrapped = Scalar::Int(wrap(unsigned, bits.into()));
        assert_eq!(Ew::ToBits.fold(dtype, &[Scalar::Float(x)]), Ok(wrapped), "{x}");
        assert_eq!(Ew::FromBits.fold(unsigned, &[wrapped]), Ok(Scalar::Float(x)), "{bits:x}");
        assert_eq!(Ew::FromBits.fold(int, &[Scalar::Int(bits.into())]), Ok(Scalar::Float(x)), "{bits:x}");
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
        (DType::I8, -128.9, -128),
        (DType::I8, 200.0, 127),
        (DType::U8, -0.5, 0),
        (DType::U8, -3.0, 0),
        (DType::U8, 255.9, 255),
        (DType::U16, 1e9, 65_535),
        (DType::U32, f64::INFINITY, u32::MAX.into()),
    ] {
        assert_eq!(
            Ew::Cast(to).eval(DType::F64, &[Scalar::Float(x)]),
            Ok(Scalar::Int(expected.into())),
            "{x} as {to:?}"
        );
    }
}

#[test]
fn folding_rounds_once() {
    // Through f64 the tie would be broken twice, to the even float below.
    let value = (1_i64 << 54) + (1 << 30) + 1;
    let folded = Ew::Cast(DType::F32).fold(DType::I64, &[Scalar::Int(value.into())]);
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
