//! Operators that take their operands element by element.

use tensorjit_runtime::abi::DType;

use super::Node;
use crate::text::Writer;

/// What ONNX and the language call a function of the same meaning.
const CALLS: &[(&str, &str)] = &[
    ("Abs", "abs"),
    ("Acos", "acos"),
    ("Acosh", "acosh"),
    ("Asin", "asin"),
    ("Asinh", "asinh"),
    ("Atan", "atan"),
    ("Atanh", "atanh"),
    ("Ceil", "ceil"),
    ("Cos", "cos"),
    ("Cosh", "cosh"),
    ("Erf", "erf"),
    ("Exp", "exp"),
    ("Floor", "floor"),
    ("HardSwish", "hard_swish"),
    ("IsNaN", "isnan"),
    ("Log", "log"),
    ("Mish", "mish"),
    ("Reciprocal", "recip"),
    ("Relu", "relu"),
    ("Round", "round"),
    ("Sigmoid", "sigmoid"),
    ("Sign", "sign"),
    ("Sin", "sin"),
    ("Sinh", "sinh"),
    ("Softplus", "softplus"),
    ("Softsign", "softsign"),
    ("Sqrt", "sqrt"),
    ("SwiGLU", "swiglu"),
    ("Tan", "tan"),
    ("Tanh", "tanh"),
];

/// An option: its name, that of the attribute, and the attribute's default.
type Number = (&'static str, &'static str, f64);

/// Functions with numbers among their attributes.
const OPTIONS: &[(&str, &str, &[Number])] = &[
    ("Celu", "celu", &[("alpha", "alpha", 1.0)]),
    ("Elu", "elu", &[("alpha", "alpha", 1.0)]),
    ("HardSigmoid", "hard_sigmoid", &[("slope", "alpha", 0.2), ("offset", "beta", 0.5)]),
    ("LeakyRelu", "leaky_relu", &[("negative_slope", "alpha", 0.01)]),
    (
        "Selu",
        "selu",
        &[("alpha", "alpha", 1.673_263_192_176_818_8), ("scale", "gamma", 1.050_701_022_148_132_3)],
    ),
    ("Shrink", "shrink", &[("threshold", "lambd", 0.5), ("bias", "bias", 0.0)]),
    ("ThresholdedRelu", "thresholded_relu", &[("threshold", "alpha", 1.0)]),
];

/// The operators.
const OPERATORS: &[(&str, &str)] = &[
    ("Add", "+"),
    ("Div", "/"),
    ("Equal", "=="),
    ("Greater", ">"),
    ("GreaterOrEqual", ">="),
    ("Less", "<"),
    ("LessOrEqual", "<="),
    ("Mul", "*"),
    ("Sub", "-"),
];

pub(super) fn translate(node: &Node<'_>, _: &mut Writer) -> Option<Vec<String>> {
    let named = |table: &[(&str, &'static str)]| {
        table.iter().find(|(name, _)| *name == node.op).map(|(_, written)| *written)
    };
    let texts = || (0..node.operands.len()).map(|i| node.text(i)).collect::<Option<Vec<&str>>>();
    if let Some(function) = named(CALLS) {
        return Some(vec![format!("{function}({})", texts()?.join(", "))]);
    }
    if let Some(operator) = named(OPERATORS) {
        return Some(vec![texts()?.join(&format!(" {operator} "))]);
    }
    if let Some((_, function, options)) = OPTIONS.iter().find(|(name, ..)| *name == node.op) {
        let options = options
            .iter()
            .map(|(name, attribute, default)| format!(", {name} = {}", node.number(attribute, *default)));
        return Some(vec![format!("{function}({}{})", node.text(0)?, options.collect::<String>())]);
    }
    let x = node.text(0)?;
    Some(vec![match node.op {
        "Neg" => format!("-{x}"),
        "Not" => format!("!{x}"),
        "Clip" => clip(node, x),
        "Gelu" => format!(
            "gelu({x}, approximate = {})",
            node.attributes.get("approximate").map_or("\"none\"".to_owned(), ToString::to_string)
        ),
        "IsInf" => match (node.integer("detect_negative"), node.integer("detect_positive")) {
            (Some(0), _) => format!("isinf({x}) & ({x} > 0)"),
            (_, Some(0)) => format!("isinf({x}) & ({x} < 0)"),
            _ => format!("isinf({x})"),
        },
        "Max" | "Min" => chain(node.op, &texts()?),
        "Mod" if node.flag("fmod") => format!("{x} % {}", node.text(1)?),
        "Mod" => format!("mod({x}, {})", node.text(1)?),
        "Pow" => power(node, x)?,
        "Swish" => format!("{x} * sigmoid({} * {x})", node.number("alpha", 1.0)),
        "Where" => format!("select({x}, {}, {})", node.text(1)?, node.text(2)?),
        _ => return None,
    }])
}

/// Either bound may be missing.
fn clip(node: &Node<'_>, x: &str) -> String {
    let low = node.text(1).map_or(x.to_owned(), |low| format!("maximum({x}, {low})"));
    node.text(2).map_or(low.clone(), |high| format!("minimum({low}, {high})"))
}

fn chain(op: &str, texts: &[&str]) -> String {
    let function = if op == "Max" { "maximum" } else { "minimum" };
    let (first, rest) = texts.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
    rest.iter().fold(first.to_owned(), |folded, x| format!("{function}({folded}, {x})"))
}

/// Both operands become floats, and the result has the type of the base.
fn power(node: &Node<'_>, x: &str) -> Option<String> {
    let (base, exponent) = (node.operand(0)?, node.operand(1)?);
    let y = &exponent.text;
    Some(match (base.dtype.is_float(), base.dtype == exponent.dtype) {
        (true, true) => format!("pow({x}, {y})"),
        (true, false) => format!("pow({x}, {y} as {})", base.dtype.name()),
        (false, _) => {
            let wide = DType::F64.name();
            format!("pow({x} as {wide}, {y} as {wide}) as {}", base.dtype.name())
        }
    })
}
