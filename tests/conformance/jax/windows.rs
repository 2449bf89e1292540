//! Convolutions, and folds of windows.

use serde_json::Value as Json;
use tensorjit_runtime::abi::DType;

use super::{Equation, integers};
use crate::text::{Tensor, Writer, axes, number, tuple};

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

/// The windows of all axes, and a fold of them.
fn fold(equation: &Equation<'_>, x: &Tensor, name: &str, writer: &mut Writer) -> Option<String> {
    let sizes = equation.list("window_dimensions")?;
    let ones = || vec![1; sizes.len()];
    let strides = equation.list("window_strides").unwrap_or_else(ones);
    let dilations = equation.list("window_dilation").unwrap_or_else(ones);
    let gaps = equation.list("base_dilation").unwrap_or_else(ones);
    let fill = match (name, x.dtype.is_float()) {
        ("sum", _) => number(x.dtype, 0.0),
        ("prod", _) => number(x.dtype, 1.0),
        ("max", true) => number(x.dtype, f64::NEG_INFINITY),
        ("min", true) => number(x.dtype, f64::INFINITY),
        ("max", false) if x.dtype == DType::I32 => format!("({} - 1)", number(x.dtype, -2_147_483_647.0)),
        ("min", false) if x.dtype == DType::I32 => number(x.dtype, 2_147_483_647.0),
        _ => return None,
    };
    let mut text = bordered(&x.text, &x.shape, &pairs(&equation.params["padding"])?, &gaps, &fill, writer)?;
    let mut over = Vec::new();
    for (axis, size) in sizes.iter().enumerate().filter(|(axis, size)| **size > 1 || strides[*axis] > 1) {
        let (stride, dilation) = (strides[axis], dilations[axis]);
        let windows = format!("windows({text}, {axis}, {size}, stride = {stride}, dilation = {dilation})");
        text = writer.bind(&windows);
        over.push(sizes.len() + over.len());
    }
    Some(if over.is_empty() { text } else { format!("{name}({text}, axis = {})", axes(&over)) })
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
