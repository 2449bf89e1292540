//! Convolution and pooling.

use super::Node;
use crate::text::{Tensor, Writer, list, tuple};

pub(super) fn translate(node: &Node<'_>, writer: &mut Writer) -> Option<Vec<String>> {
    let x = node.operand(0)?;
    match node.op {
        "Conv" => Some(vec![conv(node, x, writer)?]),
        "MaxPool" if node.results.len() == 1 => Some(vec![format!("max_pool({})", pooling(node, x)?)]),
        "AveragePool" => Some(vec![average(node, x)?]),
        "LpPool" => {
            let p = node.integer("p").unwrap_or(2);
            let text = writer.bind(&format!("pow(abs({}), {p})", x.text));
            let powers = Tensor { text, dtype: x.dtype, shape: x.shape.clone() };
            Some(vec![format!("pow(sum_pool({}), 1 / {p})", pooling(node, &powers)?)])
        }
        _ => None,
    }
}

/// One number for each axis of a window.
fn each(node: &Node<'_>, attribute: &str) -> Option<String> {
    let numbers = super::integers(&node.attributes[attribute])?;
    Some(tuple(numbers.iter().map(i64::to_string)))
}

/// The options that convolutions and poolings share.
fn options(node: &Node<'_>) -> Option<String> {
    let mut options = String::new();
    let strides = each(node, "strides").unwrap_or_else(|| "1".to_owned());
    options += &format!(", stride = {strides}");
    if let Some(dilations) = each(node, "dilations") {
        options += &format!(", dilation = {dilations}");
    }
    match node.attributes["auto_pad"].as_str() {
        Some("SAME_UPPER") => options += ", padding = \"same\"",
        Some("SAME_LOWER") => options += ", padding = \"same_lower\"",
        Some("NOTSET" | "VALID") | None => {
            if let Some(pads) = super::integers(&node.attributes["pads"]) {
                let half = pads.len() / 2;
                let pairs = (0..half).map(|i| format!("({}, {})", pads[i], pads[i + half]));
                options += &format!(", padding = {}", list(pairs));
            }
        }
        Some(_) => return None,
    }
    Some(options)
}

fn conv(node: &Node<'_>, x: &Tensor, writer: &Writer) -> Option<String> {
    let kernel = node.operand(1)?;
    let groups = node.integer("group").unwrap_or(1);
    let maps = format!("conv({}, {}{}, groups = {groups})", x.text, kernel.text, options(node)?);
    let Some(bias) = node.text(2) else { return Some(maps) };
    let mut beside = vec![1; x.rank() - 1];
    beside[0] = *kernel.shape.first()?;
    Some(format!("{maps} + reshape({bias}, {})", writer.shape(&beside)))
}

/// The operands of a pooling; windows that end behind the border are told by no option.
fn pooling(node: &Node<'_>, x: &Tensor) -> Option<String> {
    if node.flag("ceil_mode") {
        return None;
    }
    Some(format!("{}, {}{}", x.text, each(node, "kernel_shape")?, options(node)?))
}

/// Of the elements that are no border, or of all.
fn average(node: &Node<'_>, x: &Tensor) -> Option<String> {
    let operands = pooling(node, x)?;
    if !node.flag("count_include_pad") {
        return Some(format!("avg_pool({operands})"));
    }
    let size: i64 = super::integers(&node.attributes["kernel_shape"])?.iter().product();
    Some(format!("sum_pool({operands}) / {size}"))
}
