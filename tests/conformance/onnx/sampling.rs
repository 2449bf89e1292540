//! Values between elements: of resized images, at the points of grids, in regions.

use super::{Node, place};
use crate::text::{Tensor, Writer, axes, list, number};

pub(super) fn translate(node: &Node<'_>, writer: &mut Writer) -> Option<Vec<String>> {
    let x = node.operand(0)?;
    match node.op {
        "Resize" => resize(node, x, writer),
        "GridSample" => {
            let attribute = |name: &str, default| node.attributes[name].as_str().unwrap_or(default);
            let (mode, padding) = (attribute("mode", "linear"), attribute("padding_mode", "zeros"));
            let function = if x.rank() == 5 { "grid_sample_3d" } else { "grid_sample" };
            writer.fix(x.rank() - 2);
            let aligned = node.flag("align_corners");
            let options = format!("mode = {mode:?}, padding = {padding:?}, align_corners = {aligned}");
            Some(vec![format!("{function}({}, {}, {options})", x.text, node.text(1)?)])
        }
        "AffineGrid" => {
            let function = if x.shape[1] == 3 { "affine_grid_3d" } else { "affine_grid" };
            writer.fix(x.shape[1]);
            writer.fix(x.shape[2]);
            let sizes: Vec<String> = node.integers(1, "size")?[2..].iter().map(i64::to_string).collect();
            let aligned = node.flag("align_corners");
            Some(vec![format!("{function}({}, {}, align_corners = {aligned})", x.text, sizes.join(", "))])
        }
        "RoiAlign" => roi_align(node, x),
        "DeformConv" => deform_conv(node, x),
        "HannWindow" | "HammingWindow" | "BlackmanWindow" => window(node),
        _ => None,
    }
}

/// Along one axis after another, each as the last one.
fn resize(node: &Node<'_>, x: &Tensor, writer: &mut Writer) -> Option<Vec<String>> {
    let over: Vec<usize> = match super::integers(&node.attributes["axes"]) {
        Some(over) => over.into_iter().map(|axis| place(axis, x.rank())).collect::<Option<_>>()?,
        None => (0..x.rank()).collect(),
    };
    let floats = |i: usize| -> Option<Vec<f64>> {
        let value = node.operands.get(i)?.as_ref()?.value.as_ref()?;
        Some(value.to_f64()).filter(|values| !values.is_empty())
    };
    let mut text = x.text.clone();
    let shape = node.shape(0)?;
    let keeps_aspect =
        node.attributes["keep_aspect_ratio_policy"].as_str().is_some_and(|policy| policy != "stretch");
    let mut outside = Vec::new();
    for (i, axis) in over.iter().enumerate() {
        let (from, to) = (x.shape[*axis] as f64, shape[*axis]);
        let given = floats(2).map(|scales| scales[i]);
        let wanted = floats(3).map(|sizes| sizes[i]);
        let scale = match (given, wanted) {
            (Some(scale), _) => scale,
            (None, _) if keeps_aspect => aspect(node, x, &over, &floats(3)?)?,
            (None, wanted) => wanted.unwrap_or(to as f64) / from,
        };
        let ends = floats(1).filter(|_| cropped(node)).map(|roi| (roi[i], roi[i + over.len()]));
        if scale == 1.0 && to as f64 == from && ends.is_none_or(|ends| ends == (0.0, 1.0)) {
            continue;
        }
        let at = writer.bind(&positions(node, from, scale, to, ends)?);
        if cropped(node) {
            let mut beside = vec!["1".to_owned(); x.rank()];
            beside[*axis] = to.to_string();
            outside.push(format!("reshape(({at} < 0) | ({at} > {}), {})", from - 1.0, list(beside)));
        }
        let mut order: Vec<usize> = (0..x.rank()).collect();
        order.swap(*axis, x.rank() - 1);
        let order = axes(&order);
        let last = writer.bind(&format!("permute({text}, {order})"));
        let sampled = writer.bind(&sampled(node, &last, &at, scale, x.rank())?);
        text = writer.bind(&format!("permute({sampled}, {order})"));
    }
    if outside.is_empty() {
        return Some(vec![text]);
    }
    Some(vec![format!(
        "select({}, {}, {text})",
        outside.join(" | "),
        node.number("extrapolation_value", 0.0)
    )])
}

fn cropped(node: &Node<'_>) -> bool {
    node.attributes["coordinate_transformation_mode"].as_str() == Some("tf_crop_and_resize")
}

/// One scale for all axes: the least, or the greatest.
fn aspect(node: &Node<'_>, x: &Tensor, over: &[usize], sizes: &[f64]) -> Option<f64> {
    let scales = over.iter().zip(sizes).map(|(axis, size)| size / x.shape[*axis] as f64);
    match node.attributes["keep_aspect_ratio_policy"].as_str()? {
        "not_larger" => scales.reduce(f64::min),
        _ => scales.reduce(f64::max),
    }
}

/// Where the elements of the result lie among those of the operand.
fn positions(node: &Node<'_>, from: f64, scale: f64, to: usize, ends: Option<(f64, f64)>) -> Option<String> {
    let dtype = node.operand(0)?.dtype;
    let n = |value: f64| number(dtype, value);
    let i = format!("(iota({to}) as {})", dtype.name());
    let length = scale * from;
    let linear = |slope: f64, offset: f64| format!("{i} * {} + {}", n(slope), n(offset));
    let half = 0.5 / scale - 0.5;
    Some(match node.attributes["coordinate_transformation_mode"].as_str().unwrap_or("half_pixel") {
        "align_corners" if length == 1.0 => linear(0.0, 0.0),
        "align_corners" => linear((from - 1.0) / (length - 1.0), 0.0),
        "asymmetric" => linear(1.0 / scale, 0.0),
        "tf_crop_and_resize" => {
            let (start, end) = ends?;
            let span = (end - start) * (from - 1.0);
            match to {
                1 => linear(0.0, span / 2.0 + start * (from - 1.0)),
                _ => linear(span / (length - 1.0), start * (from - 1.0)),
            }
        }
        "pytorch_half_pixel" if length == 1.0 => linear(0.0, -0.5),
        "half_pixel_symmetric" => linear(1.0 / scale, from / 2.0 * (1.0 - to as f64 / length) + half),
        _ => linear(1.0 / scale, half),
    })
}

fn sampled(node: &Node<'_>, x: &str, at: &str, scale: f64, rank: usize) -> Option<String> {
    let mode = node.attributes["mode"].as_str().unwrap_or("nearest");
    let sharpness = node.number("cubic_coeff_a", -0.75);
    if node.flag("antialias") && scale < 1.0 {
        // Copies of the outermost elements, as many as the weights reach.
        let reach = (2.0 / scale).ceil() as usize + 1;
        let mut widths = vec!["(0, 0)".to_owned(); rank - 1];
        widths.push(format!("({reach}, {reach})"));
        let wide = match node.flag("exclude_outside") {
            true => {
                return Some(format!(
                    "resample({x}, {at}, {}, mode = {mode:?}, sharpness = {sharpness})",
                    1.0 / scale
                ));
            }
            false => format!("pad({x}, {}, mode = \"edge\")", list(widths)),
        };
        return Some(format!(
            "resample({wide}, {at} + {reach}, {}, mode = {mode:?}, sharpness = {sharpness})",
            1.0 / scale
        ));
    }
    let outside = if node.flag("exclude_outside") { "nothing" } else { "edge" };
    Some(match mode {
        "nearest" => {
            let rounded = match node.attributes["nearest_mode"].as_str() {
                Some("floor") => format!("floor({at})"),
                Some("ceil") => format!("ceil({at})"),
                Some("round_prefer_ceil") => format!("floor({at} + 0.5)"),
                _ => at.to_owned(),
            };
            format!("interpolate({x}, {rounded}, mode = \"nearest\")")
        }
        mode => {
            format!("interpolate({x}, {at}, mode = {mode:?}, sharpness = {sharpness}, outside = {outside:?})")
        }
    })
}

fn roi_align(node: &Node<'_>, x: &Tensor) -> Option<Vec<String>> {
    let samples = node.integer("sampling_ratio").filter(|samples| *samples > 0)?;
    let aligned = node.attributes["coordinate_transformation_mode"].as_str() != Some("output_half_pixel");
    let fold = if node.attributes["mode"].as_str() == Some("max") { "max" } else { "mean" };
    let size = |name| node.integer(name).unwrap_or(1);
    Some(vec![format!(
        "roi_align({}, {}, {}, {}, {}, samples = {samples}, scale = {}, aligned = {aligned}, fold = {fold:?})",
        x.text,
        node.text(1)?,
        node.text(2)?,
        size("output_height"),
        size("output_width"),
        node.number("spatial_scale", 1.0)
    )])
}

fn deform_conv(node: &Node<'_>, x: &Tensor) -> Option<Vec<String>> {
    let w = node.operand(1)?;
    let list = |name: &str, default: i64, count: usize| {
        super::integers(&node.attributes[name]).unwrap_or_else(|| vec![default; count])
    };
    let (strides, dilations, pads) = (list("strides", 1, 2), list("dilations", 1, 2), list("pads", 0, 4));
    if node.integer("group").unwrap_or(1) != 1
        || strides != [1, 1]
        || dilations != [1, 1]
        || pads[..2] != pads[2..]
    {
        return None;
    }
    let groups = node.integer("offset_group").unwrap_or(1);
    let offset = node.text(2)?;
    let mut options = format!("groups = {groups}, padding = {}", pads[0]);
    if let Some(mask) = node.text(4) {
        options += &format!(", mask = {mask}");
    }
    let y = format!("deform_conv({}, {}, {offset}, {options})", x.text, w.text);
    Some(vec![match node.text(3) {
        Some(bias) => format!("{y} + reshape({bias}, [{}, 1, 1])", w.shape[0]),
        None => y,
    }])
}

/// As one period, or with both ends.
fn window(node: &Node<'_>) -> Option<Vec<String>> {
    let count = *node.integers(0, "size")?.first()?;
    let periodic = node.integer("periodic") != Some(0);
    let angle = format!("linspace(0, 6.283185307179586, {count}, endpoint = {})", !periodic);
    Some(vec![match node.op {
        "HannWindow" => format!("hann({count}, periodic = {periodic})"),
        "BlackmanWindow" => format!("blackman({count}, periodic = {periodic})"),
        // The factors of their Hamming window are 25 / 46 and 21 / 46.
        _ => format!("0.5434782608695652 - 0.45652173913043476 * cos({angle})"),
    }])
}
