//! Operators of networks that are made of several functions of the language.

use super::Node;
use crate::text::{Tensor, Writer, axes};

pub(super) fn translate(node: &Node<'_>, writer: &mut Writer) -> Option<Vec<String>> {
    let x = node.operand(0)?;
    let text = &x.text;
    Some(match node.op {
        "PRelu" => {
            // One slope a channel, whose axis is the second.
            let slope = node.operand(1)?;
            let aligned = slope.rank() != 1 || slope.shape[0] == 1 || x.rank() < 2;
            let slope = if aligned { slope.text.clone() } else { channels(node, 1, x, writer)? };
            vec![format!("prelu({text}, {slope})")]
        }
        "Softmax" => vec![format!("softmax({text}, axis = {})", node.axis(-1)?)],
        "LogSoftmax" => vec![format!("log_softmax({text}, axis = {})", node.axis(-1)?)],
        "Hardmax" => {
            let axis = node.axis(-1)?;
            let ones = (0..x.rank()).map(|i| if i == axis { x.shape[i] } else { 1 }).collect::<Vec<_>>();
            let places = format!("reshape(iota({}), {})", writer.extent(x.shape[axis]), writer.shape(&ones));
            let chosen = format!("argmax({text}, axis = {axis}, keepdims = true) == {places}");
            vec![format!("({chosen}) as {}", x.dtype.name())]
        }
        "LayerNormalization" => layer_norm(node, x, writer)?,
        "RMSNormalization" => {
            let over: Vec<usize> = (node.axis(-1)?..x.rank()).collect();
            let epsilon = node.number("epsilon", 1e-5);
            vec![format!("rms_norm({text}, {}, epsilon = {epsilon}, axis = {})", node.text(1)?, axes(&over))]
        }
        "LpNormalization" => {
            let order = node.integer("p").unwrap_or(2);
            vec![format!("normalize({text}, axis = {}, order = {order})", node.axis(-1)?)]
        }
        "LRN" => {
            let options = [("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)]
                .map(|(name, default)| format!(", {name} = {}", node.number(name, default)));
            vec![format!("local_response_norm({text}, {}{})", node.integer("size")?, options.concat())]
        }
        "BatchNormalization" => batch_norm(node, x, writer)?,
        "InstanceNormalization" => {
            let epsilon = node.number("epsilon", 1e-5);
            vec![format!("instance_norm({text}, {}, {}, epsilon = {epsilon})", node.text(1)?, node.text(2)?)]
        }
        "GroupNormalization" => {
            let (groups, epsilon) = (node.integer("num_groups")?, node.number("epsilon", 1e-5));
            let (gain, bias) = (node.text(1)?, node.text(2)?);
            vec![format!("group_norm({text}, {groups}, {gain}, {bias}, epsilon = {epsilon})")]
        }
        "GlobalAveragePool" | "GlobalMaxPool" => {
            let over: Vec<usize> = (2..x.rank()).collect();
            let fold = if node.op == "GlobalMaxPool" { "max" } else { "mean" };
            vec![format!("{fold}({text}, axis = {}, keepdims = true)", axes(&over))]
        }
        "NegativeLogLikelihoodLoss" => vec![likelihood(node, text, x, writer)?],
        "SoftmaxCrossEntropyLoss" => {
            let logs = writer.bind(&format!("log_softmax({text}, axis = 1)"));
            vec![likelihood(node, &logs, x, writer)?, logs]
        }
        _ => return super::windows::translate(node, writer),
    })
}

/// A vector of channels beside a tensor whose second axis they are.
fn channels(node: &Node<'_>, i: usize, x: &Tensor, writer: &Writer) -> Option<String> {
    let mut shape = vec![1; x.rank() - 1];
    shape[0] = *node.operand(i)?.shape.first()?;
    Some(format!("reshape({}, {})", node.text(i)?, writer.shape(&shape)))
}

/// With the mean and the reciprocal deviation as further results.
fn layer_norm(node: &Node<'_>, x: &Tensor, writer: &mut Writer) -> Option<Vec<String>> {
    let over = axes(&(node.axis(-1)?..x.rank()).collect::<Vec<_>>());
    let epsilon = node.number("epsilon", 1e-5);
    let bias = node.text(2).map_or(String::new(), |bias| format!(", {bias}"));
    let text = &x.text;
    let mean = writer.bind(&format!("mean({text}, axis = {over}, keepdims = true)"));
    Some(vec![
        format!("layer_norm({text}, {}{bias}, epsilon = {epsilon}, axis = {over})", node.text(1)?),
        mean,
        format!("rsqrt(var({text}, axis = {over}, keepdims = true) + {epsilon})"),
    ])
}

/// With given statistics, or with those of the batch, and then the running ones as further results.
fn batch_norm(node: &Node<'_>, x: &Tensor, writer: &mut Writer) -> Option<Vec<String>> {
    let epsilon = node.number("epsilon", 1e-5);
    let vectors: Option<Vec<String>> = (1..5).map(|i| channels(node, i, x, writer)).collect();
    let [gain, bias, mean, variance] = vectors?.try_into().ok()?;
    let text = &x.text;
    if !node.flag("training_mode") {
        return Some(vec![format!(
            "batch_norm({text}, {mean}, {variance}, {gain}, {bias}, epsilon = {epsilon})"
        )]);
    }
    let over = axes(&(0..x.rank()).filter(|i| *i != 1).collect::<Vec<_>>());
    let keep = node.number("momentum", 0.9);
    let running =
        |old: &str, new: &str| format!("{old} * {keep} + {new}({text}, axis = {over}) * (1 - {keep})");
    Some(vec![
        format!("layer_norm({text}, {gain}, {bias}, epsilon = {epsilon}, axis = {over})"),
        running(node.text(3)?, "mean"),
        running(node.text(4)?, "var"),
    ])
}

/// The log probability of the labels, their classes weighted, one of them perhaps left out.
fn likelihood(node: &Node<'_>, logs: &str, x: &Tensor, writer: &mut Writer) -> Option<String> {
    let labels = writer.bind(&format!("{} as i64", node.text(1)?));
    let classes = writer.extent(x.shape[1]);
    let mut beside = vec![1; x.rank() - 1];
    beside[0] = x.shape[1];
    let places = format!("reshape(iota({classes}), {})", writer.shape(&beside));
    let chosen = writer.bind(&format!("expand_dims({labels}, axis = 1) == {places}"));
    let kept = node.integer("ignore_index").map(|ignored| format!("{labels} != {ignored}"));
    let weighted = match node.operand(2) {
        Some(weights) => format!("reshape({}, {})", weights.text, writer.shape(&beside)),
        None => "1".to_owned(),
    };
    let dtype = x.dtype.name();
    let weight = match node.operand(2) {
        Some(_) => format!("sum(select({chosen}, {weighted}, 0), axis = 1)"),
        None => format!("({labels} == {labels}) as {dtype}"),
    };
    let weight = writer.bind(&weight);
    let weight = match kept {
        Some(kept) => writer.bind(&format!("select({kept}, {weight}, 0)")),
        None => weight,
    };
    let terms = writer.bind(&format!("-sum(select({chosen}, {logs}, 0), axis = 1) * {weight}"));
    Some(match node.attributes["reduction"].as_str() {
        Some("none") => terms,
        Some("sum") => format!("sum({terms})"),
        _ => format!("sum({terms}) / sum({weight})"),
    })
}
