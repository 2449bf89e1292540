//! Operators that move elements, or make tensors.

use tensorjit_runtime::abi::DType;

use super::{Node, integers, place};
use crate::text::{Tensor, Writer, axes, list, number};

/// The numbers by which ONNX names element types.
const TYPES: &[(i64, DType)] = &[
    (1, DType::F32),
    (2, DType::U8),
    (3, DType::I8),
    (4, DType::U16),
    (5, DType::I16),
    (6, DType::I32),
    (7, DType::I64),
    (9, DType::Bool),
    (11, DType::F64),
    (12, DType::U32),
    (13, DType::U64),
];

/// The shape of what is only reshaped, which files do not say of what stands between nodes.
pub(super) fn reshaped(node: &Node<'_>) -> Option<Vec<usize>> {
    let x = &node.operand(0)?.shape;
    let numbers = |attribute| node.integers(1, attribute);
    let places =
        |axes: &[i64], rank| axes.iter().map(|axis| place(*axis, rank)).collect::<Option<Vec<usize>>>();
    match node.op {
        "Unsqueeze" => {
            let axes = numbers("axes")?;
            let rank = x.len() + axes.len();
            let (new, mut kept) = (places(&axes, rank)?, x.iter());
            (0..rank).map(|axis| if new.contains(&axis) { Some(1) } else { kept.next().copied() }).collect()
        }
        "Squeeze" => {
            let gone = places(&numbers("axes")?, x.len())?;
            Some((0..x.len()).filter(|axis| !gone.contains(axis)).map(|axis| x[axis]).collect())
        }
        // 0 keeps the extent at its place, and -1 is what is left.
        "Reshape" => {
            let extents = numbers("shape")?;
            let kept = extents.iter().enumerate().map(|(axis, extent)| match *extent {
                0 => x.get(axis).copied(),
                extent => Some(usize::try_from(extent).unwrap_or(1)),
            });
            let kept: Vec<usize> = kept.collect::<Option<_>>()?;
            let rest = x.iter().product::<usize>() / kept.iter().product::<usize>().max(1);
            Some(
                kept.iter()
                    .zip(&extents)
                    .map(|(kept, extent)| if *extent < 0 { rest } else { *kept })
                    .collect(),
            )
        }
        _ => None,
    }
}

pub(super) fn translate(node: &Node<'_>, writer: &mut Writer) -> Option<Vec<String>> {
    let x = node.operand(0)?;
    let text = &x.text;
    Some(vec![match node.op {
        "Identity" => text.clone(),
        "Reshape" | "Flatten" | "Unsqueeze" | "Squeeze" => {
            format!("reshape({text}, {})", writer.shape(node.shape(0)?))
        }
        "Expand" => format!("broadcast_to({text}, {})", writer.shape(node.shape(0)?)),
        "Det" => format!("det({text})"),
        "Transpose" => match node.attributes["perm"].as_array() {
            None => format!("transpose({text})"),
            Some(order) => {
                let order: Option<Vec<usize>> = order.iter().map(|i| Some(i.as_u64()? as usize)).collect();
                format!("permute({text}, {})", axes(&order?))
            }
        },
        "Concat" => {
            let parts = (0..node.operands.len()).map(|i| node.text(i).map(str::to_owned));
            let parts: Vec<String> = parts.collect::<Option<_>>()?;
            format!("concat({}, axis = {})", list(parts), node.axis(0)?)
        }
        "Cast" => format!("{text} as {}", named(node.integer("to")?)?.name()),
        "CastLike" => format!("{text} as {}", node.operand(1)?.dtype.name()),
        "Size" => format!("size({text}) as i64"),
        "Shape" => {
            let rank = x.rank() as i64;
            let bound = |name, default| {
                let at = node.integer(name).unwrap_or(default);
                (if at < 0 { at + rank } else { at }).clamp(0, rank) as usize
            };
            let (start, end) = (bound("start", 0), bound("end", rank));
            if start >= end {
                return Some(vec!["zeros([0], dtype = i64)".to_owned()]);
            }
            let extents = x.shape[start..end].iter().map(|extent| writer.extent(*extent));
            list(extents.map(|extent| format!("({extent} + 0i64)")))
        }
        "Split" => return split(node, x, writer),
        "Slice" => slice(node, x)?,
        "Pad" => pad(node, x, writer)?,
        "Tile" => tile(node, x, writer)?,
        "EyeLike" => {
            let dtype = node.integer("dtype").map_or(Some(x.dtype), named)?;
            let (down, across) = (writer.extent(*x.shape.first()?), writer.extent(*x.shape.get(1)?));
            let k = node.integer("k").unwrap_or(0);
            let chosen = format!("expand_dims(iota({down}), axis = 1) + {k}i64 == iota({across})");
            format!("({chosen}) as {}", dtype.name())
        }
        "OneHot" => {
            let depth = node.integers(1, "depth")?.first().copied()?;
            let values = node.text(2)?;
            let axis = place(node.integer("axis").unwrap_or(-1), x.rank() + 1)?;
            let counted: Vec<String> =
                (0..=x.rank()).map(|i| if i == axis { depth.to_string() } else { "1".to_owned() }).collect();
            let counted = format!("reshape(iota({depth}), {})", list(counted));
            let wanted = writer.bind(&format!("expand_dims({text} as i64, axis = {axis})"));
            let inside = format!("({wanted} >= -{depth}) & ({wanted} < {depth})");
            let chosen = format!("(mod({wanted}, {depth}i64) == {counted}) & {inside}");
            format!("select({chosen}, {values}[1], {values}[0])")
        }
        "Range" => {
            let count = node.shape(0)?.first()?;
            format!("{text} + iota({count}) as {} * {}", x.dtype.name(), node.text(2)?)
        }
        "DepthToSpace" | "SpaceToDepth" => blocks(node, x, writer)?,
        "CenterCropPad" => center(node, x, writer)?,
        _ => return None,
    }])
}

fn named(number: i64) -> Option<DType> {
    TYPES.iter().find(|(known, _)| *known == number).map(|(_, dtype)| *dtype)
}

fn split(node: &Node<'_>, x: &Tensor, writer: &mut Writer) -> Option<Vec<String>> {
    let axis = node.axis(0)?;
    let count = node.results.len();
    let sizes: Vec<usize> = match node.integers(1, "split") {
        Some(sizes) => sizes.into_iter().map(|size| size as usize).collect(),
        None => {
            let each = x.shape[axis].div_ceil(count);
            (0..count).map(|i| each.min(x.shape[axis] - i * each)).collect()
        }
    };
    let (mut from, mut parts) = (0, Vec::new());
    for (i, size) in sizes.iter().enumerate() {
        let end = if i + 1 == sizes.len() { writer.extent(x.shape[axis]) } else { (from + size).to_string() };
        let ranges =
            (0..x.rank()).map(|i| if i == axis { format!("{from}..{end}") } else { "0..".to_owned() });
        parts.push(format!("{}{}", x.text, list(ranges)));
        from += size;
    }
    Some(parts)
}

fn slice(node: &Node<'_>, x: &Tensor) -> Option<String> {
    let (starts, ends) = (node.integers(1, "starts")?, node.integers(2, "ends")?);
    let over = node.integers(3, "axes").unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = node.integers(4, "steps").unwrap_or_else(|| vec![1; starts.len()]);
    let mut ranges = vec!["0..".to_owned(); x.rank()];
    let mut backwards = Vec::new();
    for (i, axis) in over.iter().enumerate() {
        let axis = place(*axis, x.rank())?;
        let extent = x.shape[axis] as i64;
        let at = |position: i64, low, high| {
            (if position < 0 { position + extent } else { position }).clamp(low, high)
        };
        ranges[axis] = match steps[i] {
            step @ 1.. => {
                let (from, to) = (at(starts[i], 0, extent), at(ends[i], 0, extent));
                format!("{from}..{};{step}", to.max(from))
            }
            step => {
                // The same positions from the lowest on, turned round afterwards.
                let (from, to) = (at(starts[i], -1, extent - 1), at(ends[i], -1, extent - 1));
                let count = (from - to).max(0).div_euclid(-step) + i64::from((from - to).max(0) % -step != 0);
                backwards.push(axis);
                let lowest = if count == 0 { 0 } else { from + step * (count - 1) };
                format!("{lowest}..{};{}", if count == 0 { 0 } else { from + 1 }, -step)
            }
        };
    }
    let taken = format!("{}{}", x.text, list(ranges));
    Some(if backwards.is_empty() { taken } else { format!("flip({taken}, axis = {})", axes(&backwards)) })
}

fn pad(node: &Node<'_>, x: &Tensor, writer: &mut Writer) -> Option<String> {
    let mode = node.attributes["mode"].as_str().unwrap_or("constant");
    let pads = node.integers(1, "pads")?;
    let over = node.integers(3, "axes").unwrap_or_else(|| (0..x.rank() as i64).collect());
    let value = node.text(2).map_or_else(|| number(x.dtype, 0.0), str::to_owned);
    let mut widths = vec![(0, 0); x.rank()];
    for (i, axis) in over.iter().enumerate() {
        widths[place(*axis, x.rank())?] = (pads[i], pads[i + over.len()]);
    }
    let borders = widths.iter().map(|(low, high)| format!("({}, {})", low.max(&0), high.max(&0)));
    let filling = match mode {
        "constant" => format!("value = {value}"),
        mode => format!("mode = {mode:?}"),
    };
    let padded = writer.bind(&format!("pad({}, {}, {filling})", x.text, list(borders)));
    let kept = widths.iter().map(|(low, high)| match (low.min(&0), high.min(&0)) {
        (low, 0) => format!("{}..", -low),
        (low, high) => format!("{}..{high}", -low),
    });
    Some(format!("{padded}{}", list(kept)))
}

/// Cut, or padded with zeros, by as much at either end.
fn center(node: &Node<'_>, x: &Tensor, writer: &mut Writer) -> Option<String> {
    let wanted = node.integers(1, "shape")?;
    let over = integers(&node.attributes["axes"]).unwrap_or_else(|| (0..x.rank() as i64).collect());
    let (mut cuts, mut widths) = (vec!["0..".to_owned(); x.rank()], vec!["(0, 0)".to_owned(); x.rank()]);
    for (axis, wanted) in over.iter().zip(wanted) {
        let axis = place(*axis, x.rank())?;
        let surplus = x.shape[axis] as i64 - wanted;
        if surplus > 0 {
            cuts[axis] = format!("{}..{}", surplus / 2, surplus / 2 + wanted);
        } else {
            widths[axis] = format!("({}, {})", -surplus / 2, -surplus - -surplus / 2);
        }
    }
    let cut = writer.bind(&format!("{}{}", x.text, list(cuts)));
    Some(format!("pad({cut}, {})", list(widths)))
}

/// An axis of copies before each axis, and both as one.
fn tile(node: &Node<'_>, x: &Tensor, writer: &Writer) -> Option<String> {
    let counts = node.integers(1, "repeats")?;
    let extents: Vec<String> = x.shape.iter().map(|extent| writer.extent(*extent)).collect();
    let apart = list(extents.iter().flat_map(|extent| ["1".to_owned(), extent.clone()]));
    let pairs = counts.iter().zip(&extents);
    let copies = list(pairs.clone().flat_map(|(count, extent)| [count.to_string(), extent.clone()]));
    let joined = list(pairs.map(|(count, extent)| format!("{count} * {extent}")));
    Some(format!("reshape(broadcast_to(reshape({}, {apart}), {copies}), {joined})", x.text))
}

/// Channels become blocks of places, or the other way round.
fn blocks(node: &Node<'_>, x: &Tensor, writer: &Writer) -> Option<String> {
    let [n, c, h, w] = x.shape[..] else { return None };
    let size = node.integer("blocksize")? as usize;
    let by_columns = node.attributes["mode"].as_str() == Some("CRD");
    let (apart, order): (Vec<usize>, &str) = match (node.op, by_columns) {
        ("DepthToSpace", false) => (vec![n, size, size, c / (size * size), h, w], "(0, 3, 4, 1, 5, 2)"),
        ("DepthToSpace", true) => (vec![n, c / (size * size), size, size, h, w], "(0, 1, 4, 2, 5, 3)"),
        (_, false) => (vec![n, c, h / size, size, w / size, size], "(0, 3, 5, 1, 2, 4)"),
        (_, true) => (vec![n, c, h / size, size, w / size, size], "(0, 1, 3, 5, 2, 4)"),
    };
    let (apart, shape) = (writer.shape(&apart), writer.shape(node.shape(0)?));
    Some(format!("reshape(permute(reshape({}, {apart}), {order}), {shape})", x.text))
}
