//! Elementary and special functions against true values, as kernels at every level of this machine: special values
//! are exact, subnormal numbers are kept, and all others lie within the bounds of the table of functions.
//!
//! The README beside the values says where they come from.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use tensorjit_core::graph::table::Ew;
use tensorjit_core::graph::value::{Scalar, Value};
use tensorjit_core::pipeline::{Stage, prepare};
use tensorjit_core::testing::{Program, Side};
use tensorjit_runtime::abi::DType;

use crate::run::function;

const VALUES: &str = include_str!("../data/math/elementary.txt");

/// Bounds in ULP of f32 and f64, which are those of the last number where the value is less.
type Bounds = (f64, f64, f64);

/// What is written otherwise than as a call of the name, with the bounds of compositions.
const WRITTEN: &[(&str, &str, Option<Bounds>)] = &[
    ("acosh", "acosh(x)", Some((2.0, 2.0, 0.0))),
    ("add", "x + y", None),
    ("asinh", "asinh(x)", Some((2.0, 2.0, 0.0))),
    ("atanh", "atanh(x)", Some((2.0, 2.0, 0.0))),
    ("div", "x / y", None),
    ("floor_divide", "floor_divide(x, y)", Some((0.5, 0.5, 0.0))),
    ("gelu_erf", "gelu(x)", Some((2.0, 2.0, 1.0))),
    ("gelu_tanh", "gelu(x, approximate = \"tanh\")", Some((2.0, 2.0, 1.0))),
    ("logaddexp", "logaddexp(x, y)", Some((2.5, 2.5, 0.0))),
    ("mul", "x * y", None),
    ("neg", "-x", None),
    ("rem", "x % y", None),
    ("softplus", "softplus(x)", Some((2.0, 2.0, 0.0))),
    ("sub", "x - y", None),
];

/// A function on numbers of a type: whether a case is a special one, its operands and its results as text.
type Cases = BTreeMap<(&'static str, DType), Vec<(bool, Vec<&'static str>, Vec<&'static str>)>>;

fn cases() -> Cases {
    let mut cases = Cases::new();
    for line in VALUES.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let (dtype, rest) = (if words[1] == "f32" { DType::F32 } else { DType::F64 }, &words[3..]);
        let point = words[2] == "point";
        // A point of f32 has its result in both types.
        let results = if point && dtype == DType::F32 { 2 } else { 1 };
        let (operands, results) = rest.split_at(rest.len() - results);
        let case = (!point, operands.to_vec(), results.to_vec());
        cases.entry((words[0], dtype)).or_default().push(case);
    }
    cases
}

fn number(word: &str) -> f64 {
    match word.len() {
        8 => u32::from_str_radix(word, 16).map_or(f64::NAN, |bits| f64::from(f32::from_bits(bits))),
        16 => u64::from_str_radix(word, 16).map_or(f64::NAN, f64::from_bits),
        _ if word == "zero" => 0.0,
        _ => f64::NAN,
    }
}

/// How a function is written, its bounds, and the number beside whose units those of smaller values do not count.
fn written(name: &str, operands: usize) -> (String, (f64, f64, f64)) {
    let row = WRITTEN.iter().find(|(known, ..)| *known == name);
    let call = || format!("{name}({})", ["x", "y"][..operands].join(", "));
    let text = row.map_or_else(call, |(_, text, _)| (*text).to_owned());
    let of_row = || Ew::by_name(name).map(|ew| ew.row().accuracy).map(|own| (own.f32, own.f64, own.least));
    let bounds = row.and_then(|(.., bounds)| *bounds).or_else(of_row);
    (text, bounds.expect("a row or a composition"))
}

/// The distance of a value to the true one, in units of the type.
fn error(dtype: DType, found: f64, truth: f64, least: f64) -> f64 {
    if found == truth || (found.is_nan() && truth.is_nan()) {
        return 0.0;
    }
    if !found.is_finite() || !truth.is_finite() {
        // What rounds to infinity is near the greatest number.
        let rounded = if dtype == DType::F32 { f64::from(truth as f32) } else { truth };
        return if found == rounded { 0.0 } else { f64::INFINITY };
    }
    let (lowest, digits) = if dtype == DType::F32 { (-126, 23) } else { (-1022, 52) };
    let size = truth.abs().max(least);
    let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(lowest);
    let unit = 2.0_f64.powi(exponent - digits + 60) * 2.0_f64.powi(-60);
    (found - truth).abs() / unit
}

/// The worst of a function at a level, or what is wrong of its special values.
fn judge(
    dtype: DType,
    cases: &[(bool, Vec<&str>, Vec<&str>)],
    found: &Value,
    least: f64,
) -> Result<f64, String> {
    let mut worst = 0.0_f64;
    for ((special, operands, results), element) in cases.iter().zip(&found.elements) {
        let Scalar::Float(value) = element.scalar else { return Err("it is no float".to_owned()) };
        let truth = number(results.last().expect("a case has a result"));
        let ends = truth == 0.0 || !truth.is_finite();
        let signed = *special && ends && results[0] != "zero";
        let same = if signed {
            value.to_bits() == truth.to_bits() || (value.is_nan() && truth.is_nan())
        } else {
            true
        };
        let own = error(dtype, value, truth, least);
        if !same || own == f64::INFINITY {
            return Err(format!("at {operands:?} it is {value:e}, not {truth:e}"));
        }
        worst = worst.max(own);
    }
    Ok(worst)
}

#[test]
fn math() {
    let mut watch = |_: Stage, _: Duration, _: &dyn Fn() -> String| {};
    let (mut report, mut wrong, mut names) = (String::new(), Vec::new(), std::collections::BTreeSet::new());
    for ((name, dtype), cases) in &cases() {
        names.insert(*name);
        let operands = cases[0].1.len();
        let (text, (single, double, least)) = written(name, operands);
        let ty = format!("{}[{}]", dtype.name(), cases.len());
        let second = if operands == 2 { format!(", y: {ty}") } else { String::new() };
        let text = format!("pub fn case(x: {ty}{second}) -> {ty} {{ {text} }}");
        let function = function(&text).unwrap_or_else(|errors| panic!("{text}: {}", errors.join("; ")));
        let program = prepare(function.graph, &[], &mut watch)
            .and_then(|prepared| Program::of(prepared, &[], &mut watch))
            .unwrap_or_else(|failure| panic!("{text}: {failure}"));
        let columns: Vec<Value> = (0..operands)
            .map(|i| {
                let column: Vec<f64> = cases.iter().map(|case| number(case.1[i])).collect();
                Value::floats(*dtype, &[column.len()], &column)
            })
            .collect();
        for level in program.levels().collect::<Vec<_>>() {
            let found = program.run(level, &[], &columns, Side::Back).expect("a kernel runs");
            let bound = if *dtype == DType::F32 { single } else { double };
            // Without FMA some need half a unit more.
            let bound = if bound > 0.5 { bound + 0.5 } else { bound };
            match judge(*dtype, cases, &found[0], least) {
                Ok(worst) if worst <= bound => {
                    let _ = writeln!(report, "{name} {} {level:?}: {worst:.2} ULP", dtype.name());
                }
                Ok(worst) => {
                    wrong.push(format!("{name} {} {level:?}: {worst} ULP, not {bound}", dtype.name()));
                }
                Err(message) => wrong.push(format!("{name} {} {level:?}: {message}", dtype.name())),
            }
        }
    }
    println!("{report}");
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    // All of the data set, and five more.
    assert_eq!(names.len(), 58);
}
