//! Primitives that take their operands element by element.

use tensorjit_runtime::abi::DType;

use super::{Equation, dtype_of};
use crate::text::{Tensor, Writer, number};

/// What JAX and the language call a function of the same meaning.
const CALLS: &[(&str, &str)] = &[
    ("abs", "abs"),
    ("acos", "acos"),
    ("acosh", "acosh"),
    ("asin", "asin"),
    ("asinh", "asinh"),
    ("atan", "atan"),
    ("atan2", "atan2"),
    ("atanh", "atanh"),
    ("bessel_i0e", "bessel_i0e"),
    ("bessel_i1e", "bessel_i1e"),
    ("cbrt", "cbrt"),
    ("ceil", "ceil"),
    ("cos", "cos"),
    ("cosh", "cosh"),
    ("digamma", "digamma"),
    ("erf", "erf"),
    ("erf_inv", "erf_inv"),
    ("erfc", "erfc"),
    ("exp", "exp"),
    ("expm1", "expm1"),
    ("floor", "floor"),
    ("is_finite", "isfinite"),
    ("lgamma", "lgamma"),
    ("log", "log"),
    ("log1p", "log1p"),
    ("logistic", "sigmoid"),
    ("max", "maximum"),
    ("min", "minimum"),
    ("nextafter", "nextafter"),
    ("population_count", "count_ones"),
    ("rsqrt", "rsqrt"),
    ("shift_right_logical", "shift_right_logical"),
    ("sign", "sign"),
    ("sin", "sin"),
    ("sinh", "sinh"),
    ("sqrt", "sqrt"),
    ("stop_gradient", "stop_gradient"),
    ("tan", "tan"),
    ("tanh", "tanh"),
];

/// The operators.
const OPERATORS: &[(&str, &str)] = &[
    ("add", "+"),
    ("add_any", "+"),
    ("and", "&"),
    ("div", "/"),
    ("eq", "=="),
    ("ge", ">="),
    ("gt", ">"),
    ("le", "<="),
    ("lt", "<"),
    ("mul", "*"),
    ("ne", "!="),
    ("or", "|"),
    ("rem", "%"),
    ("shift_left", "<<"),
    ("shift_right_arithmetic", ">>"),
    ("sub", "-"),
    ("xor", "^"),
];

pub(super) fn translate(equation: &Equation<'_>, x: &[Tensor], writer: &mut Writer) -> Option<Vec<String>> {
    let named = |table: &[(&str, &'static str)]| {
        table.iter().find(|(name, _)| *name == equation.prim).map(|(_, written)| *written)
    };
    if let Some(function) = named(CALLS).filter(|_| x.iter().all(|operand| operand.dtype != DType::Bool)) {
        let operands: Vec<&str> = x.iter().map(|operand| operand.text.as_str()).collect();
        return Some(vec![format!("{function}({})", operands.join(", "))]);
    }
    let (a, rest) = x.split_first()?;
    let text = &a.text;
    if let (DType::Bool, [b]) = (a.dtype, rest)
        && let Some(written) = of_truth_values(equation.prim, text, &b.text)
    {
        return Some(vec![written]);
    }
    if let (Some(operator), [b]) = (named(OPERATORS), rest) {
        return Some(vec![format!("{text} {operator} {}", b.text)]);
    }
    let written = match (equation.prim, rest) {
        ("bitcast_convert_type", []) if a.dtype == equation.dtype && a.dtype.is_float() => {
            format!("from_bits(to_bits({text}))")
        }
        ("bitcast_convert_type", []) if a.dtype == equation.dtype => text.clone(),
        ("bitcast_convert_type", []) if a.dtype.is_float() => {
            format!("to_bits({text}) as {}", equation.dtype.name())
        }
        ("bitcast_convert_type", []) => format!("from_bits({text})"),
        ("neg", []) => format!("-{text}"),
        ("not", []) => format!("!{text}"),
        ("pow", [b]) if b.dtype != a.dtype => format!("pow({text}, {} as {})", b.text, a.dtype.name()),
        ("pow", [b]) => format!("pow({text}, {})", b.text),
        ("clamp", [middle, high]) => format!("clip({}, {text}, {})", middle.text, high.text),
        ("convert_element_type", []) => {
            format!("{text} as {}", dtype_of(&equation.params["new_dtype"]).ok()?.name())
        }
        ("integer_pow", []) => integer_power(a, equation.params["y"].as_i64()?),
        ("select_n", cases) => select(a, cases)?,
        ("round", []) => match equation.params["rounding_method"].as_i64()? {
            // Away from zero where two integers are equally near.
            0 => {
                let whole = writer.bind(&format!("trunc({text})"));
                format!("{whole} + select(abs({text} - {whole}) >= 0.5, sign({text}), 0)")
            }
            _ => format!("round({text})"),
        },
        ("reduce_precision", []) => {
            let of = |name: &str| equation.params[name].as_i64();
            match (a.dtype, of("exponent_bits")?, of("mantissa_bits")?) {
                (DType::F32, 8.., 23..) | (DType::F64, 11.., 52..) => text.clone(),
                (DType::F64, 8, 23) => format!("{text} as f32 as f64"),
                (dtype, 8, 7) => format!("{text} as bf16 as {}", dtype.name()),
                (dtype, 5, 10) => format!("{text} as f16 as {}", dtype.name()),
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(vec![written])
}

/// What is said of numbers, and has another name for truth values.
fn of_truth_values(prim: &str, a: &str, b: &str) -> Option<String> {
    Some(match prim {
        "max" => format!("{a} | {b}"),
        "min" => format!("{a} & {b}"),
        "gt" => format!("{a} & !{b}"),
        "ge" => format!("{a} | !{b}"),
        "lt" => format!("!{a} & {b}"),
        "le" => format!("!{a} | {b}"),
        _ => return None,
    })
}

/// A power as products.
fn integer_power(x: &Tensor, power: i64) -> String {
    let factors = vec![x.text.as_str(); power.unsigned_abs() as usize];
    match power {
        0 => format!("0 * {} + 1", x.text),
        1.. => factors.join(" * "),
        _ => format!("1 / ({})", factors.join(" * ")),
    }
}

/// The case that a number or a truth value names.
fn select(which: &Tensor, cases: &[Tensor]) -> Option<String> {
    let (last, others) = cases.split_last()?;
    if which.dtype == DType::Bool {
        return Some(format!("select({}, {}, {})", which.text, last.text, others.first()?.text));
    }
    let one = |(i, case): (usize, &Tensor)| {
        format!("select({} == {}, {}, ", which.text, number(which.dtype, i as f64), case.text)
    };
    let chain: String = others.iter().enumerate().map(one).collect();
    Some(format!("{chain}{}{}", last.text, ")".repeat(others.len())))
}
