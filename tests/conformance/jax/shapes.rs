//! Primitives that move elements or make them.

use super::{Equation, integers};
use crate::text::{Tensor, Writer, axes, list};

pub(super) fn translate(equation: &Equation<'_>, x: &[Tensor], writer: &mut Writer) -> Option<Vec<String>> {
    if equation.prim == "iota" {
        return Some(vec![iota(equation, writer)?]);
    }
    let (a, rest) = x.split_first()?;
    let text = &a.text;
    let written = match (equation.prim, rest) {
        ("reshape", []) => {
            // The axes may be reordered first.
            let order = equation.list("dimensions").filter(|order| !order.is_empty());
            let moved = order.map_or(text.clone(), |order| format!("permute({text}, {})", axes(&order)));
            format!("reshape({moved}, {})", writer.shape(&equation.shape))
        }
        ("squeeze", []) => format!("squeeze({text}, axis = {})", axes(&equation.list("dimensions")?)),
        ("transpose", []) => format!("permute({text}, {})", tuple_of_all(&equation.list("permutation")?)?),
        ("rev", []) => match equation.list("dimensions")?.as_slice() {
            [] => text.clone(),
            dimensions => format!("flip({text}, axis = {})", axes(dimensions)),
        },
        ("broadcast_in_dim", []) => {
            let places = equation.list("broadcast_dimensions")?;
            let extents = (0..equation.shape.len())
                .map(|axis| places.iter().position(|place| *place == axis).map_or(1, |from| a.shape[from]));
            let extents: Vec<usize> = extents.collect();
            let aligned = writer.bind(&format!("reshape({text}, {})", writer.shape(&extents)));
            format!("broadcast_to({aligned}, {})", writer.shape(&equation.shape))
        }
        ("concatenate", _) => {
            let parts = list(x.iter().map(|part| part.text.clone()));
            format!("concat({parts}, axis = {})", equation.params["dimension"].as_u64()?)
        }
        ("slice", []) => {
            let (from, to) = (equation.list("start_indices")?, equation.list("limit_indices")?);
            let steps = equation.list("strides").unwrap_or_else(|| vec![1; from.len()]);
            let ranges = (0..from.len()).map(|i| range(writer, a.shape[i], from[i], to[i], steps[i]));
            format!("{text}{}", list(ranges))
        }
        ("pad", [value]) => pad(equation, a, value, writer)?,
        _ => return None,
    };
    Some(vec![written])
}

/// All axes in another order; there is nothing to reorder in a scalar.
fn tuple_of_all(order: &[usize]) -> Option<String> {
    (!order.is_empty()).then(|| axes(order))
}

/// A range of an axis, its end written as the axis itself where it is that.
fn range(writer: &Writer, extent: usize, from: usize, to: usize, step: usize) -> String {
    let to = if to == extent { writer.extent(extent) } else { to.to_string() };
    match step {
        1 => format!("{from}..{to}"),
        step => format!("{from}..{to};{step}"),
    }
}

/// 0, 1, 2 and so on along one axis of a shape.
fn iota(equation: &Equation<'_>, writer: &mut Writer) -> Option<String> {
    let axis = equation.params["dimension"].as_u64()? as usize;
    let extents: Vec<usize> =
        (0..equation.shape.len()).map(|i| if i == axis { equation.shape[i] } else { 1 }).collect();
    let counted = format!("iota({}) as {}", writer.extent(equation.shape[axis]), equation.dtype.name());
    let aligned = format!("reshape({counted}, {})", writer.shape(&extents));
    Some(format!("broadcast_to({aligned}, {})", writer.shape(&equation.shape)))
}

/// The borders of the primitive of that name.
fn pad(equation: &Equation<'_>, x: &Tensor, value: &Tensor, writer: &mut Writer) -> Option<String> {
    let config = equation.params["padding_config"].as_array()?;
    let config: Vec<Vec<i64>> = config.iter().map(integers).collect::<Option<_>>()?;
    padded(&x.text, &x.shape, &config, &value.text, writer)
}

/// Borders, some of which may take elements away, and others between the elements.
pub(super) fn padded(
    x: &str,
    shape: &[usize],
    config: &[Vec<i64>],
    value: &str,
    writer: &mut Writer,
) -> Option<String> {
    let (mut text, mut shape) = (x.to_owned(), shape.to_vec());
    for (axis, widths) in config.iter().enumerate() {
        let between = *widths.get(2)? as usize;
        if between > 0 && shape[axis] > 1 {
            // An axis of extent 1 behind each element is padded, and both become one.
            let mut apart = shape.clone();
            apart.insert(axis + 1, 1);
            let split = format!("reshape({text}, {})", writer.shape(&apart));
            let borders =
                (0..apart.len()).map(|i| format!("(0, {})", if i == axis + 1 { between } else { 0 }));
            let padded = writer.bind(&format!("pad({split}, {}, value = {})", list(borders), value));
            let merged = (0..shape.len()).map(|i| match i == axis {
                true => format!("{} * {}", between + 1, writer.extent(shape[i])),
                false => writer.extent(shape[i]),
            });
            let joined = writer.bind(&format!("reshape({padded}, {})", list(merged)));
            let kept = (0..shape.len()).map(|i| match i == axis {
                true => format!("..{} * {} - {between}", between + 1, writer.extent(shape[i])),
                false => "0..".to_owned(),
            });
            text = writer.bind(&format!("{joined}{}", list(kept)));
            shape[axis] += (shape[axis] - 1) * between;
        }
    }
    let borders = config.iter().map(|widths| format!("({}, {})", widths[0].max(0), widths[1].max(0)));
    let padded = writer.bind(&format!("pad({text}, {}, value = {})", list(borders), value));
    if config.iter().all(|widths| widths[0] >= 0 && widths[1] >= 0) {
        return Some(padded);
    }
    let kept = config.iter().map(|widths| match (widths[0].min(0), widths[1].min(0)) {
        (low, 0) => format!("{}..", -low),
        (low, high) => format!("{}..{high}", -low),
    });
    Some(format!("{padded}{}", list(kept)))
}
