//! Operators that take or put elements at computed places.

use super::{Node, place};
use crate::text::{Tensor, Writer, axes, list};

pub(super) fn translate(node: &Node<'_>, writer: &mut Writer) -> Option<Vec<String>> {
    let x = node.operand(0)?;
    match node.op {
        "TopK" => top_k(node, x, writer),
        "Scatter" | "ScatterElements" => {
            let axis = node.axis(0)?;
            let places = from_end(node.text(1)?, &writer.extent(x.shape[axis]), writer);
            let mode = mode(node);
            let updates = node.text(2)?;
            Some(vec![format!(
                "put_along_axis({}, {places}, {updates}, axis = {axis}, mode = \"{mode}\")",
                x.text
            )])
        }
        "GatherElements" => {
            let axis = node.axis(0)?;
            let places = from_end(node.text(1)?, &writer.extent(x.shape[axis]), writer);
            Some(vec![format!("take_along_axis({}, {places}, axis = {axis})", x.text)])
        }
        "ScatterND" => {
            let places = columns(node, x, writer)?;
            Some(vec![format!(
                "scatter_{}({}, ({},), {})",
                mode(node),
                x.text,
                places.join(", "),
                node.text(2)?
            )])
        }
        "GatherND" if node.integer("batch_dims").unwrap_or(0) == 0 => {
            Some(vec![format!("{}[{}]", x.text, columns(node, x, writer)?.join(", "))])
        }
        "TensorScatter" => Some(vec![tensor_scatter(node, x, writer)?]),
        "ReverseSequence" => Some(vec![reverse_sequence(node, x, writer)?]),
        "MaxUnpool" => {
            let shape = node.shape(0)?;
            let count = shape.iter().product::<usize>();
            let zeros = format!("zeros([{count}], dtype = {})", x.dtype.name());
            let (places, updates) = (node.text(1)?, &x.text);
            let flat = format!("scatter_set({zeros}, reshape({places}, [-1]), reshape({updates}, [-1]))");
            Some(vec![format!("reshape({flat}, {})", writer.shape(shape))])
        }
        _ => None,
    }
}

fn mode<'j>(node: &Node<'j>) -> &'j str {
    node.attributes["reduction"].as_str().filter(|mode| *mode != "none").unwrap_or("set")
}

/// Places that may be counted from the end.
fn from_end(places: &str, extent: &str, writer: &mut Writer) -> String {
    let places = writer.bind(&format!("{places} as i64"));
    writer.bind(&format!("select({places} < 0, {places} + {extent}, {places})"))
}

/// The positions along each of the first axes, of which the last axis of the operand has one a row.
fn columns(node: &Node<'_>, x: &Tensor, writer: &mut Writer) -> Option<Vec<String>> {
    let places = node.operand(1)?;
    let count = *places.shape.last()?;
    let one = |i: usize| {
        let column = writer.bind(&format!("{}[.., {i}]", places.text));
        from_end(&column, &writer.extent(x.shape[i]), writer)
    };
    Some((0..count).map(one).collect())
}

fn top_k(node: &Node<'_>, x: &Tensor, writer: &mut Writer) -> Option<Vec<String>> {
    let count = *node.integers(1, "k")?.first()?;
    let (axis, largest) = (node.axis(-1)?, node.integer("largest") != Some(0));
    let pair = writer.bind(&format!("top_k({}, {count}, axis = {axis}, largest = {largest})", x.text));
    Some(vec![format!("{pair}.0"), format!("{pair}.1")])
}

/// Rows of a cache from a position of its own for each of the batch.
fn tensor_scatter(node: &Node<'_>, x: &Tensor, writer: &mut Writer) -> Option<String> {
    let updates = node.operand(1)?;
    let axis = place(node.integer("axis").unwrap_or(-2), x.rank())?;
    let (batch, rows) = (writer.extent(x.shape[0]), writer.extent(updates.shape[axis]));
    let starts = match node.text(2) {
        Some(starts) => format!("expand_dims({starts}, axis = 1)"),
        None => "0i64".to_owned(),
    };
    let mut places = writer.bind(&format!("{starts} + iota({rows})"));
    if node.attributes["mode"].as_str() == Some("circular") {
        places = writer.bind(&format!("mod({places}, {})", writer.extent(x.shape[axis])));
    }
    let mut order: Vec<usize> = vec![0, axis];
    order.extend((1..x.rank()).filter(|i| *i != axis));
    let updates = format!("permute({}, {})", updates.text, axes(&order));
    let of_batch = format!("expand_dims(iota({batch}) as i64, axis = 1)");
    Some(format!("scatter_set({}, ({of_batch}, {places}), {updates}, axis = (0, {axis}))", x.text))
}

/// The first elements of each row the other way round, as many as its length says.
fn reverse_sequence(node: &Node<'_>, x: &Tensor, writer: &mut Writer) -> Option<String> {
    let (time, batch) =
        (node.integer("time_axis").unwrap_or(0) as usize, node.integer("batch_axis").unwrap_or(1) as usize);
    let beside = |axis: usize, writer: &Writer| {
        list((0..x.rank()).map(|i| if i == axis { writer.extent(x.shape[i]) } else { "1".to_owned() }))
    };
    let steps = format!("reshape(iota({}) as i64, {})", writer.extent(x.shape[time]), beside(time, writer));
    let steps = writer.bind(&steps);
    let lengths = writer.bind(&format!("reshape({}, {})", node.text(1)?, beside(batch, writer)));
    let places = format!("select({steps} < {lengths}, {lengths} - 1 - {steps}, {steps})");
    Some(format!("take_along_axis({}, {places}, axis = {time})", x.text))
}
