//! Primitives that fold axes, or sum products over them.

use tensorjit_runtime::abi::DType;

use super::Equation;
use crate::text::{Tensor, Writer, axes};

/// Folds of axes.
const FOLDS: &[(&str, &str)] = &[
    ("reduce_and", "all"),
    ("reduce_max", "max"),
    ("reduce_min", "min"),
    ("reduce_or", "any"),
    ("reduce_prod", "prod"),
    ("reduce_sum", "sum"),
];

/// Folds that keep what they have so far.
const RUNNING: &[&str] = &["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"];

pub(super) fn translate(equation: &Equation<'_>, x: &[Tensor], writer: &mut Writer) -> Option<Vec<String>> {
    let (a, rest) = x.split_first()?;
    if let Some((_, fold)) = FOLDS.iter().find(|(name, _)| *name == equation.prim) {
        let fold = match (*fold, a.dtype) {
            ("max", DType::Bool) => "any",
            ("min", DType::Bool) => "all",
            (fold, _) => fold,
        };
        return Some(vec![folded(fold, a, &equation.list("axes")?)]);
    }
    if let Some(fold) = RUNNING.iter().find(|name| **name == equation.prim) {
        let (axis, reverse) = (equation.params["axis"].as_u64()?, equation.params["reverse"].as_bool()?);
        return Some(vec![format!("{fold}({}, axis = {axis}, reverse = {reverse})", a.text)]);
    }
    match (equation.prim, rest) {
        ("argmax" | "argmin", []) => {
            let axis = axes(&equation.list("axes")?);
            Some(vec![format!("{}({}, axis = {axis}) as {}", equation.prim, a.text, equation.dtype.name())])
        }
        ("reduce", _) => reduce(equation, x),
        ("dot_general", [b]) => Some(vec![product(equation, a, b, writer)?]),
        _ => None,
    }
}

fn folded(fold: &str, x: &Tensor, over: &[usize]) -> String {
    match over {
        [] => x.text.clone(),
        over => format!("{fold}({}, axis = {})", x.text, axes(over)),
    }
}

/// Folds by a program, of which the usual ones are known: an equation for each operand, of which the second half of
/// the operands are the starts.
fn reduce(equation: &Equation<'_>, x: &[Tensor]) -> Option<Vec<String>> {
    let equations = equation.params["jaxpr"]["eqns"].as_array()?;
    let over = equation.list("dimensions")?;
    let (values, starts) = x.split_at(x.len() / 2);
    if equations.len() != values.len() {
        return None;
    }
    let each = equations.iter().zip(values.iter().zip(starts));
    each.map(|(inner, (x, start))| folded_from(inner["prim"].as_str()?, x, start, &over)).collect()
}

/// A fold that begins with a value.
fn folded_from(prim: &str, x: &Tensor, start: &Tensor, over: &[usize]) -> Option<String> {
    let join = |fold: &str, operator: &str| format!("{} {operator} {}", folded(fold, x, over), start.text);
    let call = |fold: &str, function: &str| format!("{function}({}, {})", folded(fold, x, over), start.text);
    Some(match (prim, x.dtype) {
        ("and", _) | ("min", DType::Bool) => join("all", "&"),
        ("or", _) | ("max", DType::Bool) => join("any", "|"),
        ("add", _) => join("sum", "+"),
        ("mul", _) => join("prod", "*"),
        ("max", _) => call("max", "maximum"),
        ("min", _) => call("min", "minimum"),
        _ => return None,
    })
}

/// A product with any batch axes and any axes that are summed over: as one of matrices.
fn product(equation: &Equation<'_>, a: &Tensor, b: &Tensor, writer: &mut Writer) -> Option<String> {
    let numbers = equation.params["dimension_numbers"].as_array()?;
    let part = |i: usize, j: usize| -> Option<Vec<usize>> {
        let list = numbers.get(i)?.as_array()?.get(j)?.as_array()?;
        list.iter().map(|number| Some(number.as_u64()? as usize)).collect()
    };
    let (over, batch) = ([part(0, 0)?, part(0, 1)?], [part(1, 0)?, part(1, 1)?]);
    let free = |x: &Tensor, side: usize| -> Vec<usize> {
        (0..x.rank()).filter(|i| !over[side].contains(i) && !batch[side].contains(i)).collect()
    };
    let frees = [free(a, 0), free(b, 1)];
    let mut matrix = |x: &Tensor, parts: [&[usize]; 3]| {
        let order: Vec<usize> = parts.concat();
        let moved = match order.iter().copied().eq(0..x.rank()) {
            true => x.text.clone(),
            false => writer.bind(&format!("permute({}, {})", x.text, axes(&order))),
        };
        let count = |part: &[usize]| match part {
            [] => "1".to_owned(),
            part => part.iter().map(|i| writer.extent(x.shape[*i])).collect::<Vec<_>>().join(" * "),
        };
        let extents: Vec<String> = parts.iter().map(|part| count(part)).collect();
        writer.bind(&format!("reshape({moved}, [{}])", extents.join(", ")))
    };
    let mut left = matrix(a, [&batch[0], &frees[0], &over[0]]);
    let mut right = matrix(b, [&batch[1], &over[1], &frees[1]]);
    if a.dtype == DType::Bool {
        // Whether any term is true, from how many are.
        left = writer.bind(&format!("{left} as i64"));
        right = writer.bind(&format!("{right} as i64"));
        let counts = writer.bind(&format!("reshape({left} @ {right}, {})", writer.shape(&equation.shape)));
        return Some(format!("{counts} > 0"));
    }
    Some(match equation.shape.is_empty() {
        true => format!("sum({left} @ {right})"),
        false => format!("reshape({left} @ {right}, {})", writer.shape(&equation.shape)),
    })
}
