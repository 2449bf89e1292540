//! Convolution and pooling.

use serde_json::Value as Json;

use super::Node;
use crate::text::{Tensor, Writer, axes, list, number, tuple};

pub(super) fn translate(node: &Node<'_>, writer: &mut Writer) -> Option<Vec<String>> {
    let x = node.operand(0)?;
    let border = match node.flag("count_include_pad") {
        true => ", count_include_pad = true",
        false => "",
    };
    Some(match node.op {
        "Conv" => vec![conv(node, x, writer)?],
        "ConvTranspose" => vec![conv_transpose(node, x, writer)?],
        "MaxPool" if node.results.len() > 1 => max_pool(node, x, writer)?,
        "MaxPool" => vec![format!("max_pool({})", pooling(node, x)?)],
        "AveragePool" => vec![format!("avg_pool({}{border})", pooling(node, x)?)],
        "LpPool" => vec![format!("lp_pool({}, p = {})", pooling(node, x)?, node.integer("p").unwrap_or(2))],
        "Col2Im" => vec![image(node, x, writer)?],
        _ => return None,
    })
}

/// The shape of a pooling's result, which files do not say of what stands between nodes.
pub(super) fn pooled(op: &str, attributes: &Json, x: &[usize]) -> Option<Vec<usize>> {
    let plain = attributes["auto_pad"].as_str().is_none_or(|rule| rule == "NOTSET" || rule == "VALID");
    if !matches!(op, "MaxPool" | "AveragePool" | "LpPool") || !plain {
        return None;
    }
    let sizes = super::integers(&attributes["kernel_shape"])?;
    let each = |name: &str, default: i64| {
        super::integers(&attributes[name]).unwrap_or_else(|| vec![default; 2 * sizes.len()])
    };
    let (strides, dilations, pads) = (each("strides", 1), each("dilations", 1), each("pads", 0));
    let ceil = attributes["ceil_mode"].as_i64() == Some(1);
    let mut shape = x.to_vec();
    for (i, size) in sizes.iter().enumerate() {
        let extent = &mut shape[x.len() - sizes.len() + i];
        let begun = *extent as i64 + pads[i];
        let room = begun + pads[i + sizes.len()] - (size - 1) * dilations[i] - 1;
        let up = |number: i64| (number + strides[i] - 1) / strides[i];
        let count = if ceil { (up(room) + 1).min(up(begun)) } else { room / strides[i] + 1 };
        *extent = usize::try_from(count).ok()?;
    }
    Some(shape)
}

/// The integers of an attribute.
fn numbers(node: &Node<'_>, attribute: &str) -> Option<Vec<i64>> {
    super::integers(&node.attributes[attribute])
}

fn written(numbers: &[i64]) -> String {
    tuple(numbers.iter().map(i64::to_string))
}

/// The borders of axes, of which the file lists those before and then those after.
fn pairs(pads: &[i64]) -> String {
    let half = pads.len() / 2;
    list((0..half).map(|i| format!("({}, {})", pads[i], pads[i + half])))
}

/// The options that convolutions and poolings share.
fn options(node: &Node<'_>) -> Option<String> {
    let strides = numbers(node, "strides").map_or_else(|| "1".to_owned(), |strides| written(&strides));
    let mut options = format!(", stride = {strides}");
    if let Some(dilations) = numbers(node, "dilations") {
        options += &format!(", dilation = {}", written(&dilations));
    }
    match node.attributes["auto_pad"].as_str() {
        Some("SAME_UPPER") => options += ", padding = \"same\"",
        Some("SAME_LOWER") => options += ", padding = \"same_lower\"",
        Some("NOTSET" | "VALID") | None => {
            if let Some(pads) = numbers(node, "pads") {
                options += &format!(", padding = {}", pairs(&pads));
            }
        }
        Some(_) => return None,
    }
    Some(options)
}

/// Adds one number for each feature.
fn biased(node: &Node<'_>, maps: String, features: usize, rank: usize, writer: &Writer) -> String {
    let Some(bias) = node.text(2) else { return maps };
    let mut beside = vec![1; rank - 1];
    beside[0] = features;
    format!("{maps} + reshape({bias}, {})", writer.shape(&beside))
}

fn conv(node: &Node<'_>, x: &Tensor, writer: &Writer) -> Option<String> {
    let kernel = node.operand(1)?;
    let groups = node.integer("group").unwrap_or(1);
    let maps = format!("conv({}, {}{}, groups = {groups})", x.text, kernel.text, options(node)?);
    Some(biased(node, maps, *kernel.shape.first()?, x.rank(), writer))
}

/// Borders follow from the shape of the result, where the file says that, or from the rule for automatic ones.
fn conv_transpose(node: &Node<'_>, x: &Tensor, writer: &Writer) -> Option<String> {
    let kernel = node.operand(1)?;
    let spatial = x.rank() - 2;
    let given =
        |attribute: &str, default: i64| numbers(node, attribute).unwrap_or_else(|| vec![default; spatial]);
    let (strides, dilations) = (given("strides", 1), given("dilations", 1));
    let mut further = given("output_padding", 0);
    let mut pads = numbers(node, "pads").unwrap_or_else(|| vec![0; 2 * spatial]);
    let same = node.attributes["auto_pad"].as_str().filter(|rule| rule.starts_with("SAME"));
    let extents = |i: usize| (x.shape[2 + i] as i64, kernel.shape[2 + i] as i64);
    let wanted = numbers(node, "output_shape")
        .or_else(|| same.map(|_| (0..spatial).map(|i| extents(i).0 * strides[i]).collect()));
    for (i, wanted) in wanted.iter().flatten().enumerate() {
        let (extent, taps) = extents(i);
        let all = strides[i] * (extent - 1) + (taps - 1) * dilations[i] + 1 + further[i];
        let less = (all - wanted).max(0);
        further[i] += (wanted - all).max(0);
        let before = if same == Some("SAME_UPPER") { less / 2 } else { less - less / 2 };
        (pads[i], pads[spatial + i]) = (before, less - before);
    }
    let groups = node.integer("group").unwrap_or(1);
    let maps = format!(
        "conv_transpose({}, {}, stride = {}, padding = {}, output_padding = {}, dilation = {}, groups = {groups})",
        x.text,
        kernel.text,
        written(&strides),
        pairs(&pads),
        written(&further),
        written(&dilations),
    );
    Some(biased(node, maps, kernel.shape.get(1)? * groups as usize, x.rank(), writer))
}

/// The operands of a pooling.
fn pooling(node: &Node<'_>, x: &Tensor) -> Option<String> {
    let ceil = if node.flag("ceil_mode") { ", ceil_mode = true" } else { "" };
    Some(format!("{}, {}{}{ceil}", x.text, written(&numbers(node, "kernel_shape")?), options(node)?))
}

/// The greatest elements of windows, and where in the tensor the first of each stand.
fn max_pool(node: &Node<'_>, x: &Tensor, writer: &mut Writer) -> Option<Vec<String>> {
    let (sizes, result) = (numbers(node, "kernel_shape")?, node.shape(0)?.to_vec());
    let (rank, count): (usize, usize) = (x.rank(), x.shape.iter().product());
    let spatial = sizes.len();
    // Counted along the axes of places in their order, or in the reverse one.
    let mut shape = x.shape.clone();
    let mut order: Vec<usize> = (0..rank).collect();
    if node.integer("storage_order") == Some(1) {
        shape[rank - spatial..].reverse();
        order[rank - spatial..].reverse();
    }
    let places = format!("permute(reshape(iota({count}), {}), {})", writer.shape(&shape), axes(&order));
    let places = writer.bind(&places);
    let given = |attribute: &str| numbers(node, attribute).unwrap_or_else(|| vec![1; spatial]);
    let (strides, dilations) = (given("strides"), given("dilations"));
    let mut pads = vec!["(0, 0)".to_owned(); rank - spatial];
    let border = numbers(node, "pads").unwrap_or_else(|| vec![0; 2 * spatial]);
    pads.extend((0..spatial).map(|i| format!("({}, {})", border[i], border[i + spatial])));
    let mut windows = |x: &str, fill: &str| {
        let mut text = writer.bind(&format!("pad({x}, {}, value = {fill})", list(pads.iter().cloned())));
        for i in 0..spatial {
            let (axis, size, stride, dilation) = (rank - spatial + i, sizes[i], strides[i], dilations[i]);
            text = writer
                .bind(&format!("windows({text}, {axis}, {size}, stride = {stride}, dilation = {dilation})"));
        }
        text
    };
    let (values, places) = (windows(&x.text, &number(x.dtype, f64::NEG_INFINITY)), windows(&places, "0i64"));
    let taps: i64 = sizes.iter().product();
    let flat = list(result.iter().map(|extent| writer.extent(*extent)).chain([taps.to_string()]));
    let [values, places] =
        [values, places].map(|windows| writer.bind(&format!("reshape({windows}, {flat})")));
    let first = writer.bind(&format!("argmax({values}, axis = {rank}, keepdims = true)"));
    Some(vec![
        format!("max({values}, axis = {rank})"),
        format!("sum(select(iota({taps}) == {first}, {places}, 0), axis = {rank})"),
    ])
}

/// The sums of what windows give to each place: the transpose of the windows of an image.
fn image(node: &Node<'_>, x: &Tensor, writer: &mut Writer) -> Option<String> {
    let (extents, sizes) = (node.integers(1, "")?, node.integers(2, "")?);
    let spatial = extents.len();
    let given = |attribute: &str| numbers(node, attribute).unwrap_or_else(|| vec![1; spatial]);
    let (strides, dilations) = (given("strides"), given("dilations"));
    let border = numbers(node, "pads").unwrap_or_else(|| vec![0; 2 * spatial]);
    let taps: i64 = sizes.iter().product();
    let channels = *x.shape.get(1)? as i64 / taps;
    let mut shape = vec![x.shape[0] as i64, channels];
    shape.extend(&extents);
    let image = writer.bind(&format!(
        "zeros({}, dtype = {})",
        list(shape.iter().map(i64::to_string)),
        x.dtype.name()
    ));
    let mut pads = vec!["(0, 0)".to_owned(); 2];
    pads.extend((0..spatial).map(|i| format!("({}, {})", border[i], border[i + spatial])));
    let mut text = writer.bind(&format!("pad({image}, {})", list(pads)));
    let mut counts = Vec::new();
    for i in 0..spatial {
        let (size, stride, dilation) = (sizes[i], strides[i], dilations[i]);
        let reach = (size - 1) * dilation + 1;
        counts.push((extents[i] + border[i] + border[i + spatial] - reach) / stride + 1);
        text = writer
            .bind(&format!("windows({text}, {}, {size}, stride = {stride}, dilation = {dilation})", 2 + i));
    }
    // The file has taps before windows.
    let apart = [&shape[..2], &sizes, &counts].concat();
    let mut order = vec![0, 1];
    order.extend(2 + spatial..2 + 2 * spatial);
    order.extend(2..2 + spatial);
    let apart = list(apart.iter().map(i64::to_string));
    let given = writer.bind(&format!("permute(reshape({}, {apart}), {})", x.text, axes(&order)));
    Some(format!("vjp({text}, {image}, {given})"))
}
