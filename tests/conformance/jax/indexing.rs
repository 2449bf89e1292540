//! Primitives that index by values, or put in order.

use serde_json::Value as Json;
use tensorjit_runtime::abi::DType;

use super::{Equation, integers};
use crate::text::{Tensor, Writer, axes, list, number, tuple};

pub(super) fn translate(equation: &Equation<'_>, x: &[Tensor], writer: &mut Writer) -> Option<Vec<String>> {
    let (a, rest) = x.split_first()?;
    let text = &a.text;
    let starts = |from: &[Tensor]| tuple(from.iter().map(|start| start.text.clone()));
    match (equation.prim, rest) {
        ("dynamic_slice" | "dynamic_update_slice", []) => Some(vec![text.clone()]),
        ("dynamic_slice", from) => {
            let sizes = list(equation.list("slice_sizes")?.iter().map(usize::to_string));
            Some(vec![format!("dynamic_slice({text}, {}, {sizes})", starts(from))])
        }
        ("dynamic_update_slice", [update]) => Some(vec![update.text.clone()]),
        ("dynamic_update_slice", [update, from @ ..]) => {
            Some(vec![format!("dynamic_update_slice({text}, {}, {})", update.text, starts(from))])
        }
        ("gather", [indices]) => Some(vec![gather(equation, a, indices, writer)?]),
        (_, [indices, updates]) if equation.prim.starts_with("scatter") => {
            Some(vec![scatter(equation, a, indices, updates, writer)?])
        }
        ("sort", _) => sort(equation, x, writer),
        ("top_k", []) => {
            let (k, axis) = (equation.params["k"].as_u64()?, equation.params["axis"].as_u64()?);
            let pair = writer.bind(&format!("top_k({text}, {k}, axis = {axis})"));
            Some(vec![format!("{pair}.0"), format!("{pair}.1 as i32")])
        }
        _ => None,
    }
}

/// Where the windows of a gather or a scatter stand: an index tensor for every axis of the operand, which together
/// have the axes of the starts and then those of the windows.
struct Windows {
    /// An index for each axis.
    indices: Vec<String>,
    /// The axes of the starts and the windows, as extents are written.
    extents: Vec<String>,
    /// How many axes the starts have.
    starts: usize,
    /// Whether a window lies inside, where the mode asks; it has the axes of the starts, and 1 for those of windows.
    inside: Option<String>,
}

/// The attributes of gather and scatter by the same names.
struct Numbers {
    /// The axes of the operand of which a window has none.
    dropped: Vec<usize>,
    /// The axes that the starts are for.
    starts: Vec<usize>,
    /// The axes of the operand that go along with axes of the starts.
    batch: Vec<usize>,
    batch_starts: Vec<usize>,
}

impl Numbers {
    fn of(json: &Json, names: [&str; 4]) -> Option<Numbers> {
        let read = |name: &str| -> Option<Vec<usize>> {
            integers(&json[name])?.into_iter().map(|number| usize::try_from(number).ok()).collect()
        };
        let [dropped, starts, batch, batch_starts] = names.map(read);
        Some(Numbers { dropped: dropped?, starts: starts?, batch: batch?, batch_starts: batch_starts? })
    }

    /// Whether windows have an axis of the operand.
    fn keeps(&self, axis: usize) -> bool {
        !self.dropped.contains(&axis) && !self.batch.contains(&axis)
    }
}

/// The windows of the given sizes; `checked` says whether those that lie outside count for nothing.
fn windows(
    numbers: &Numbers,
    x: &Tensor,
    indices: &Tensor,
    sizes: &[usize],
    checked: bool,
    writer: &mut Writer,
) -> Option<Windows> {
    let (_, start_shape) = indices.shape.split_last()?;
    let written = |axis: usize, writer: &Writer| match sizes[axis] == x.shape[axis] {
        true => writer.extent(sizes[axis]),
        false => sizes[axis].to_string(),
    };
    let kept: Vec<usize> = (0..x.rank()).filter(|axis| numbers.keeps(*axis)).collect();
    let mut extents: Vec<String> = start_shape.iter().map(|extent| writer.extent(*extent)).collect();
    extents.extend(kept.iter().map(|axis| written(*axis, writer)));
    // A value along one axis of the whole.
    let along = |value: &str, place: usize| {
        let shape = (0..extents.len()).map(|i| if i == place { extents[i].clone() } else { "1".to_owned() });
        format!("reshape({value}, {})", list(shape))
    };
    let aligned = start_shape.len()..extents.len();
    let mut inside: Option<String> = None;
    let mut parts = Vec::with_capacity(x.rank());
    for axis in 0..x.rank() {
        let mut terms = Vec::new();
        if let Some(k) = numbers.starts.iter().position(|start| *start == axis) {
            let items = (0..start_shape.len()).map(|_| "0..".to_owned()).chain([k.to_string()]);
            let start = writer.bind(&format!("{}{} as i64", indices.text, list(items)));
            let ones =
                extents[..start_shape.len()].iter().cloned().chain(aligned.clone().map(|_| "1".into()));
            let start = match aligned.is_empty() {
                true => start,
                false => writer.bind(&format!("reshape({start}, {})", list(ones))),
            };
            let last = format!("{} - {}", writer.extent(x.shape[axis]), written(axis, writer));
            if checked {
                let test = format!("({start} >= 0) & ({start} <= {last})");
                inside = Some(inside.map_or(test.clone(), |tests| format!("{tests} & {test}")));
                terms.push(start);
            } else {
                terms.push(format!("clip({start}, 0, {last})"));
            }
        }
        if let Some(i) = numbers.batch.iter().position(|batch| *batch == axis) {
            let place = *numbers.batch_starts.get(i)?;
            terms.push(along(&format!("iota({}, dtype = i64)", extents[place]), place));
        }
        if let Some(i) = kept.iter().position(|other| *other == axis) {
            let place = start_shape.len() + i;
            terms.push(along(&format!("iota({}, dtype = i64)", extents[place]), place));
        }
        parts.push(writer.bind(&match terms.is_empty() {
            true => "0i64".to_owned(),
            false => terms.join(" + "),
        }));
    }
    let inside = inside.map(|tests| writer.bind(&tests));
    Some(Windows { indices: parts, extents, starts: start_shape.len(), inside })
}

/// The order of axes that puts those of windows at the given places, among the axes before them.
fn order(rank: usize, starts: usize, windows: &[usize]) -> Vec<usize> {
    let mut others = 0..starts;
    (0..rank)
        .filter_map(|axis| match windows.iter().position(|window| *window == axis) {
            Some(i) => Some(starts + i),
            None => others.next(),
        })
        .collect()
}

fn permuted(text: String, order: &[usize]) -> String {
    match order.iter().copied().eq(0..order.len()) {
        true => text,
        false => format!("permute({text}, {})", axes(order)),
    }
}

fn gather(equation: &Equation<'_>, x: &Tensor, indices: &Tensor, writer: &mut Writer) -> Option<String> {
    let json = &equation.params["dimension_numbers"];
    let numbers = Numbers::of(
        json,
        ["collapsed_slice_dims", "start_index_map", "operand_batching_dims", "start_indices_batching_dims"],
    )?;
    let fills = equation.params["mode"].as_str()? == "FILL_OR_DROP";
    let found = windows(&numbers, x, indices, &equation.list("slice_sizes")?, fills, writer)?;
    let mut text = writer.bind(&format!("{}{}", x.text, list(found.indices)));
    if let Some(inside) = found.inside {
        let fill = match equation.dtype.is_float() {
            true => number(equation.dtype, f64::NAN),
            false => number(equation.dtype, equation.params["fill_value"].as_f64()?),
        };
        text = writer.bind(&format!("select({inside}, {text}, {fill})"));
    }
    let places = integers(&json["offset_dims"])?;
    let places: Vec<usize> =
        places.into_iter().map(|place| usize::try_from(place).ok()).collect::<Option<_>>()?;
    Some(permuted(text, &order(found.extents.len(), found.starts, &places)))
}

fn scatter(
    equation: &Equation<'_>,
    x: &Tensor,
    indices: &Tensor,
    updates: &Tensor,
    writer: &mut Writer,
) -> Option<String> {
    let json = &equation.params["dimension_numbers"];
    let numbers = Numbers::of(
        json,
        [
            "inserted_window_dims",
            "scatter_dims_to_operand_dims",
            "operand_batching_dims",
            "scatter_indices_batching_dims",
        ],
    )?;
    let function = match equation.prim {
        "scatter" => "scatter_set",
        "scatter-add" => "scatter_add",
        "scatter-mul" => "scatter_mul",
        "scatter-max" => "scatter_max",
        "scatter-min" => "scatter_min",
        _ => return None,
    };
    let places = integers(&json["update_window_dims"])?;
    let places: Vec<usize> =
        places.into_iter().map(|place| usize::try_from(place).ok()).collect::<Option<_>>()?;
    let mut window = places.iter().map(|place| updates.shape[*place]);
    let sizes: Vec<usize> = (0..x.rank())
        .map(|axis| if numbers.keeps(axis) { window.next() } else { Some(1) })
        .collect::<Option<_>>()?;
    let drops = equation.params["mode"].as_str()? == "FILL_OR_DROP";
    let mut found = windows(&numbers, x, indices, &sizes, drops, writer)?;
    // The axes of the starts first, then those of the windows.
    let first = (0..updates.rank()).filter(|axis| !places.contains(axis));
    let moved: Vec<usize> = first.chain(places.iter().copied()).collect();
    let mut updates = writer.bind(&permuted(updates.text.clone(), &moved));
    let (mut base, mut kept) = (x.text.clone(), None);
    if let Some(inside) = &found.inside {
        // What lies outside is put behind the last element of an axis, and left out afterwards.
        let axis = *numbers.starts.first()?;
        let last = writer.extent(x.shape[axis]);
        let along = |here: &str, other: &str| {
            list((0..x.rank()).map(|i| if i == axis { here.to_owned() } else { other.to_owned() }))
        };
        base = writer.bind(&format!(
            "pad({base}, {}, value = {})",
            along("(0, 1)", "(0, 0)"),
            number(x.dtype, 0.0)
        ));
        found.indices[axis] = writer.bind(&format!("select({inside}, {}, {last})", found.indices[axis]));
        kept = Some(along("..-1", "0.."));
    }
    // The greatest of truth values is that of 0 and 1.
    let counted = x.dtype == DType::Bool && function != "scatter_set";
    if counted {
        base = writer.bind(&format!("{base} as i32"));
        updates = writer.bind(&format!("{updates} as i32"));
    }
    let indices = tuple(found.indices.into_iter());
    let mut written = writer.bind(&format!("{function}({base}, {indices}, {updates})"));
    if counted {
        written = writer.bind(&format!("{written} != 0"));
    }
    Some(written + &kept.unwrap_or_default())
}

/// Sorts by several keys: by the last one first, as sorting keeps the order of what is equal.
fn sort(equation: &Equation<'_>, x: &[Tensor], writer: &mut Writer) -> Option<Vec<String>> {
    let axis = equation.params["dimension"].as_u64()?;
    let keys = equation.params["num_keys"].as_u64()? as usize;
    if let [only] = x {
        return Some(vec![format!("sort({}, axis = {axis})", only.text)]);
    }
    let mut order: Option<String> = None;
    for key in x[..keys].iter().rev() {
        order = Some(match order {
            None => writer.bind(&format!("argsort({}, axis = {axis})", key.text)),
            Some(before) => {
                let moved = writer.bind(&format!("take_along_axis({}, {before}, axis = {axis})", key.text));
                let again = writer.bind(&format!("argsort({moved}, axis = {axis})"));
                writer.bind(&format!("take_along_axis({before}, {again}, axis = {axis})"))
            }
        });
    }
    let order = order?;
    Some(x.iter().map(|part| format!("take_along_axis({}, {order}, axis = {axis})", part.text)).collect())
}
