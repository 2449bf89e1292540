//! Convolutions, and folds of windows.

use serde_json::Value as Json;
use tensorjit_runtime::abi::DType;

use super::{Equation, integers};
use crate::text::{Tensor, Writer, axes, list, number, tuple};

pub(super) fn translate(equation: &Equation<'_>, x: &[Tensor], writer: &mut Writer) -> Option<Vec<String>> {
    let (a, rest) = x.split_first()?;
    let written = match (equation.prim, rest) {
        ("reduce_window_sum", []) => fold(equation, a, "sum", writer)?,
        ("reduce_window_max", []) => fold(equation, a, "max", writer)?,
        ("reduce_window_min", []) => fold(equation, a, "min", writer)?,
        ("reduce_window", [start]) => {
            let equations = equation.params["jaxpr"]["eqns"].as_array()?;
            let [inner] = equations.as_slice() else { return None };
            let (name, join) = match inner["prim"].as_str()? {
                "add" => ("sum", "folded + start"),
                "mul" => ("prod", "folded * start"),
                "max" => ("max", "maximum(folded, start)"),
                "min" => ("min", "minimum(folded, start)"),
                _ => return None,
            };
            let folded = fold(equation, a, name, writer)?;
            let folded = writer.bind(&folded);
            join.replace("folded", &folded).replace("start", &start.text)
        }
        ("conv_general_dilated", [kernel]) => conv(equation, a, kernel, writer)?,
        ("select_and_gather_add", [operand]) => gathered(equation, a, operand, writer)?,
        ("select_and_scatter_add", [operand]) => scattered(equation, a, operand, writer)?,
        _ => return None,
    };
    Some(vec![written])
}

/// Borders of each axis, and gaps between its elements.
fn bordered(
    text: &str,
    shape: &[usize],
    padding: &[Vec<i64>],
    gaps: &[usize],
    fill: &str,
    writer: &mut Writer,
) -> Option<String> {
    let plain = padding.iter().all(|pair| pair.iter().all(|width| *width == 0));
    if plain && gaps.iter().all(|gap| *gap == 1) {
        return Some(text.to_owned());
    }
    let config: Vec<Vec<i64>> =
        padding.iter().zip(gaps).map(|(pair, gap)| vec![pair[0], pair[1], *gap as i64 - 1]).collect();
    super::shapes::padded(text, shape, &config, fill, writer)
}

fn pairs(json: &Json) -> Option<Vec<Vec<i64>>> {
    json.as_array()?.iter().map(integers).collect()
}

/// The windows of all axes, and the extents of their axes of taps.
fn windows(
    equation: &Equation<'_>,
    x: &Tensor,
    fill: &str,
    writer: &mut Writer,
) -> Option<(String, Vec<usize>)> {
    let sizes = equation.list("window_dimensions")?;
    let ones = || vec![1; sizes.len()];
    let strides = equation.list("window_strides").unwrap_or_else(ones);
    let dilations = equation.list("window_dilation").unwrap_or_else(ones);
    let gaps = equation.list("base_dilation").unwrap_or_else(ones);
    let mut text = bordered(&x.text, &x.shape, &pairs(&equation.params["padding"])?, &gaps, fill, writer)?;
    let mut taps = Vec::new();
    for (axis, size) in sizes.iter().enumerate().filter(|(axis, size)| **size > 1 || strides[*axis] > 1) {
        let (stride, dilation) = (strides[axis], dilations[axis]);
        let windows = format!("windows({text}, {axis}, {size}, stride = {stride}, dilation = {dilation})");
        text = writer.bind(&windows);
        taps.push(*size);
    }
    Some((text, taps))
}

/// What borders are filled with, so that a fold does not see them.
fn unseen(name: &str, dtype: DType) -> Option<String> {
    Some(match (name, dtype) {
        ("sum", _) => number(dtype, 0.0),
        ("prod", _) => number(dtype, 1.0),
        ("max", DType::Bool) => number(dtype, 0.0),
        ("min", DType::Bool) => number(dtype, 1.0),
        ("max", _) if dtype.is_float() => number(dtype, f64::NEG_INFINITY),
        ("min", _) if dtype.is_float() => number(dtype, f64::INFINITY),
        ("max", DType::I32) => format!("({} - 1)", number(dtype, -2_147_483_647.0)),
        ("min", DType::I32) => number(dtype, 2_147_483_647.0),
        _ => return None,
    })
}

/// A fold of the windows of all axes.
fn fold(equation: &Equation<'_>, x: &Tensor, name: &str, writer: &mut Writer) -> Option<String> {
    let (text, taps) = windows(equation, x, &unseen(name, x.dtype)?, writer)?;
    let over: Vec<usize> = (x.rank()..x.rank() + taps.len()).collect();
    let name = match (name, x.dtype) {
        ("max", DType::Bool) => "any",
        ("min", DType::Bool) => "all",
        _ => name,
    };
    Some(if over.is_empty() { text } else { format!("{name}({text}, axis = {})", axes(&over)) })
}

/// The windows of an operand, and which of their elements is chosen: the first of the greatest or least.
fn chosen(
    equation: &Equation<'_>,
    operand: &Tensor,
    count: &[usize],
    writer: &mut Writer,
) -> Option<(String, String, Vec<usize>)> {
    let (fold, choose) = match equation.params["select_prim"].as_str()? {
        "ge" => ("max", "argmax"),
        "le" => ("min", "argmin"),
        _ => return None,
    };
    let (text, taps) = windows(equation, operand, &unseen(fold, operand.dtype)?, writer)?;
    let (rank, all): (usize, usize) = (count.len(), taps.iter().product());
    let extents = |last: &[usize]| {
        list(count.iter().map(|extent| writer.extent(*extent)).chain(last.iter().map(usize::to_string)))
    };
    let (flat, apart) = (extents(&[all]), extents(&taps));
    let place = writer.bind(&format!("{choose}(reshape({text}, {flat}), axis = {rank})"));
    let is_chosen = format!("expand_dims({place}, axis = {rank}) == iota({all})");
    let mask = writer.bind(&format!("reshape({is_chosen}, {apart})"));
    Some((text, mask, taps))
}

/// The elements of `x` in the places that are chosen in windows of the operand.
fn gathered(equation: &Equation<'_>, x: &Tensor, operand: &Tensor, writer: &mut Writer) -> Option<String> {
    let (_, mask, _) = chosen(equation, operand, &equation.shape, writer)?;
    let (values, taps) = windows(equation, x, &number(x.dtype, 0.0), writer)?;
    let over: Vec<usize> = (x.rank()..x.rank() + taps.len()).collect();
    Some(format!("sum(select({mask}, {values}, 0), axis = {})", axes(&over)))
}

/// The elements of `x`, each added to the place that is chosen in its window of the operand.
fn scattered(equation: &Equation<'_>, x: &Tensor, operand: &Tensor, writer: &mut Writer) -> Option<String> {
    let float = operand.dtype.is_float();
    let (mut operand, mut values) = (operand.clone(), x.text.clone());
    if !float {
        // Whole numbers and truth values have no derivatives; those of f64 are exact.
        operand.text = writer.bind(&format!("{} as f64", operand.text));
        values = writer.bind(&format!("{values} as f64"));
        operand.dtype = DType::F64;
    }
    let (text, mask, taps) = chosen(equation, &operand, &x.shape, writer)?;
    let extents = x.shape.iter().map(|extent| writer.extent(*extent));
    let beside = list(extents.chain(taps.iter().map(|_| "1".to_owned())));
    let spread = writer.bind(&format!("select({mask}, reshape({values}, {beside}), 0)"));
    let sum = writer.bind(&format!("vjp({text}, {}, {spread})", operand.text));
    Some(if float { sum } else { format!("{sum} as {}", equation.dtype.name()) })
}

/// With axes in the order that the language has, and back.
fn conv(equation: &Equation<'_>, x: &Tensor, kernel: &Tensor, writer: &mut Writer) -> Option<String> {
    let params = equation.params;
    if params["batch_group_count"].as_u64()? != 1 {
        return None;
    }
    let spec = |name: &str| -> Option<Vec<usize>> {
        let list = integers(&params["dimension_numbers"][name])?;
        Some(list.into_iter().map(|axis| axis as usize).collect())
    };
    let (left, right, out) = (spec("lhs_spec")?, spec("rhs_spec")?, spec("out_spec")?);
    let spatial = left.len() - 2;
    let mut ordered =
        |x: &Tensor, order: &[usize]| writer.bind(&format!("permute({}, {})", x.text, axes(order)));
    let (image, taps) = (ordered(x, &left), ordered(kernel, &right));
    let mut gaps = vec![1, 1];
    gaps.extend(equation.list("lhs_dilation").unwrap_or_else(|| vec![1; spatial]));
    let mut padding = vec![vec![0, 0]; 2];
    padding.extend(pairs(&params["padding"])?);
    let shape: Vec<usize> = left.iter().map(|axis| x.shape[*axis]).collect();
    let image = bordered(&image, &shape, &padding, &gaps, &number(x.dtype, 0.0), writer)?;
    let image = writer.bind(&image);
    let numbers =
        |name: &str| -> Option<String> { Some(tuple(equation.list(name)?.iter().map(usize::to_string))) };
    let mut options = format!(", stride = {}", numbers("window_strides")?);
    options += &format!(", dilation = {}", numbers("rhs_dilation")?);
    options += &format!(", groups = {}", params["feature_group_count"].as_u64()?);
    let maps = writer.bind(&format!("conv({image}, {taps}{options})"));
    let back = (0..out.len()).map(|axis| out.iter().position(|from| *from == axis));
    Some(format!("permute({maps}, {})", axes(&back.collect::<Option<Vec<usize>>>()?)))
}
