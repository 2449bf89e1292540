//! Operators that fold axes, or sum products over them.

use super::{Node, place};
use crate::text::{Tensor, Writer, axes};

/// Folds, as functions of `x` and of the options that follow it.
const FOLDS: &[(&str, &str)] = &[
    ("ReduceL1", "sum(abs(x)"),
    ("ReduceL2", "norm(x"),
    ("ReduceLogSum", "log(sum(x"),
    ("ReduceLogSumExp", "logsumexp(x"),
    ("ReduceMax", "max(x"),
    ("ReduceMean", "mean(x"),
    ("ReduceMin", "min(x"),
    ("ReduceProd", "prod(x"),
    ("ReduceSum", "sum(x"),
    ("ReduceSumSquare", "sum(square(x)"),
];

pub(super) fn translate(node: &Node<'_>, writer: &mut Writer) -> Option<Vec<String>> {
    let x = node.operand(0)?;
    let text = &x.text;
    if let Some((_, fold)) = FOLDS.iter().find(|(name, _)| *name == node.op) {
        return Some(vec![reduce(node, x, fold)?]);
    }
    Some(vec![match node.op {
        "ArgMax" | "ArgMin" => arg_reduce(node, x, writer)?,
        "MatMul" => format!("{text} @ {}", node.text(1)?),
        "Gemm" => gemm(node)?,
        "Einsum" => {
            let subscripts = node.attributes["equation"].as_str()?.replace(' ', "");
            let texts: Option<Vec<&str>> = (0..node.operands.len()).map(|i| node.text(i)).collect();
            format!("einsum({subscripts:?}, {})", texts?.join(", "))
        }
        "CumSum" | "CumProd" => {
            let function = node.op.to_lowercase();
            let axis = place(*node.integers(1, "axis")?.first()?, x.rank())?;
            let (reverse, exclusive) = (node.flag("reverse"), node.flag("exclusive"));
            format!("{function}({text}, axis = {axis}, reverse = {reverse}, exclusive = {exclusive})")
        }
        "Gather" => {
            let axis = node.axis(0)?;
            let places = writer.bind(&format!("{} as i64", node.text(1)?));
            let extent = writer.extent(x.shape[axis]);
            let places = writer.bind(&format!("select({places} < 0, {places} + {extent}, {places})"));
            format!("take({text}, {places}, axis = {axis})")
        }
        _ => return None,
    }])
}

fn reduce(node: &Node<'_>, x: &Tensor, fold: &str) -> Option<String> {
    let over = node.integers(1, "axes").unwrap_or_default();
    if over.is_empty() && node.flag("noop_with_empty_axes") {
        return Some(x.text.clone());
    }
    let over: Vec<usize> = match over.is_empty() {
        true => (0..x.rank()).collect(),
        false => over.iter().map(|axis| place(*axis, x.rank())).collect::<Option<_>>()?,
    };
    let keep = node.integer("keepdims") != Some(0);
    let call = fold.replace("(x", &format!("({}", x.text));
    let close = ")".repeat(call.matches('(').count() - call.matches(')').count());
    Some(format!("{call}, axis = {}, keepdims = {keep}{close}", axes(&over)))
}

/// The last of several extremes is the first from the other end.
fn arg_reduce(node: &Node<'_>, x: &Tensor, writer: &mut Writer) -> Option<String> {
    let axis = node.axis(0)?;
    let keep = node.integer("keepdims") != Some(0);
    let function = node.op.to_lowercase();
    let call = |x: &str| format!("{function}({x}, axis = {axis}, keepdims = {keep})");
    Some(match node.flag("select_last_index") {
        false => call(&x.text),
        true => {
            let turned = call(&format!("flip({}, axis = {axis})", x.text));
            format!("{} - 1 - {turned}", writer.extent(x.shape[axis]))
        }
    })
}

fn gemm(node: &Node<'_>) -> Option<String> {
    let side = |i: usize, flag: &str| {
        node.text(i).map(|x| if node.flag(flag) { format!("transpose({x})") } else { x.to_owned() })
    };
    let product = format!("{} @ {}", side(0, "transA")?, side(1, "transB")?);
    let scaled = format!("{} * ({product})", node.number("alpha", 1.0));
    Some(match node.text(2) {
        None => scaled,
        Some(c) => format!("{scaled} + {} * {c}", node.number("beta", 1.0)),
    })
}
