//! Attention, what it is told of positions, and its linear relatives.

use super::Node;
use crate::text::{Tensor, Writer};

pub(super) fn translate(node: &Node<'_>, writer: &mut Writer) -> Option<Vec<String>> {
    match node.op {
        "Attention" | "FlexAttention" => attention(node, writer),
        "LinearAttention" => linear(node, writer),
        "RotaryEmbedding" => Some(vec![rotary(node, writer)?]),
        "CausalConvWithState" => convolution(node, writer),
        _ => None,
    }
}

/// Heads by themselves: `[B, N, H * D]` as `[B, H, N, D]`.
fn heads(x: &Tensor, count: usize, writer: &mut Writer) -> (String, Vec<usize>) {
    let [batch, length, features] = x.shape[..] else { return (x.text.clone(), x.shape.clone()) };
    let shape = [batch, length, count, features / count];
    let apart = format!("permute(reshape({}, {}), (0, 2, 1, 3))", x.text, writer.shape(&shape));
    (writer.bind(&apart), vec![batch, count, length, features / count])
}

/// Keys or values with those of earlier calls before them.
fn with_past(
    node: &Node<'_>,
    i: usize,
    (now, mut shape): (String, Vec<usize>),
    writer: &mut Writer,
) -> (String, Vec<usize>) {
    let Some(past) = node.operand(i) else { return (now, shape) };
    shape[2] += past.shape[2];
    (writer.bind(&format!("concat([{}, {now}], axis = 2)", past.text)), shape)
}

fn attention(node: &Node<'_>, writer: &mut Writer) -> Option<Vec<String>> {
    if ["score_mod", "prob_mod", "mask_mod"].iter().any(|graph| !node.attributes[*graph].is_null()) {
        return None;
    }
    let count = |attribute| node.integer(attribute).unwrap_or(1) as usize;
    let (given, groups) = (node.operand(0)?, count("kv_num_heads"));
    let (q, q_shape) = heads(given, count("q_num_heads"), writer);
    let k = heads(node.operand(1)?, groups, writer);
    let v = heads(node.operand(2)?, groups, writer);
    let (k, k_shape) = with_past(node, 4, k, writer);
    let (v, _) = with_past(node, 5, v, writer);
    let (queries, keys) = (q_shape[2], k_shape[2]);
    let before = node.operand(4).map_or(0, |past| past.shape[2]);

    let option = |name: &str| {
        let value = node.attributes[name].as_f64().filter(|value| *value != 0.0);
        value.map_or(String::new(), |_| format!(", {name} = {}", node.number(name, 0.0)))
    };
    let (mut masks, mut bias) = (visible(node, [&q_shape, &k_shape], before, writer), None);
    if let Some(mask) = node.operand(3) {
        let missing = keys - mask.shape.last()?;
        let widths = vec!["(0, 0)".to_owned(); mask.rank() - 1].join(", ");
        let padded = match (missing, mask.dtype.is_float()) {
            (0, _) => mask.text.clone(),
            (_, true) => format!("pad({}, [{widths}, (0, {missing})], value = -1.0 / 0.0)", mask.text),
            (_, false) => format!("pad({}, [{widths}, (0, {missing})], value = false)", mask.text),
        };
        match mask.dtype.is_float() {
            true => bias = Some(writer.bind(&padded)),
            false => masks.push(padded),
        }
    }
    let mask = (!masks.is_empty()).then(|| writer.bind(&masks.join(" & ")));
    let mut options = ["scale", "softcap"].map(option).concat();
    let products = format!("attention_scores({q}, {k}{})", option("scale"));
    let capped = format!("attention_scores({q}, {k}{options})");
    if node.flag("is_causal") && node.operand(6).is_none() {
        options += &format!(", causal = true, offset = {before}");
    }
    options += &mask.as_ref().map_or(String::new(), |mask| format!(", mask = {mask}"));
    options += &bias.as_ref().map_or(String::new(), |bias| format!(", bias = {bias}"));

    let y = writer.bind(&format!("attention({q}, {k}, {v}{options})"));
    let y = match given.rank() {
        3 => {
            let joined = [q_shape[0], queries, node.shape(0)?[2]];
            format!("reshape(permute({y}, (0, 2, 1, 3)), {})", writer.shape(&joined))
        }
        _ => y,
    };
    if node.results.len() < 4 {
        return Some(vec![y, k, v]);
    }
    let biased = |scores: String| bias.as_ref().map_or(scores.clone(), |bias| format!("{scores} + {bias}"));
    let products = match node.integer("qk_matmul_output_mode") {
        None | Some(0) => products,
        Some(1) => capped,
        Some(2) => match &mask {
            Some(mask) => format!("select({mask}, {}, -1.0 / 0.0)", biased(capped)),
            None => biased(capped),
        },
        _ => match &mask {
            Some(mask) => format!("masked_softmax({}, {mask})", biased(capped)),
            None => format!("softmax({})", biased(capped)),
        },
    };
    Some(vec![y, k, v, products])
}

/// Which keys a query sees by their places, beside the flag `causal`: within windows, and as far as there are any.
fn visible(node: &Node<'_>, [q, k]: [&[usize]; 2], before: usize, writer: &mut Writer) -> Vec<String> {
    let mut masks = Vec::new();
    let (queries, keys) = (writer.extent(q[2]), writer.extent(k[2]));
    let rows = format!("expand_dims(iota({queries}) as i64 + {before}, axis = 1)");
    if let Some(width) = node.integer("left_window_size").filter(|width| *width >= 0) {
        masks.push(format!("(iota({keys}) + {width} >= {rows})"));
    }
    if let Some(width) = node.integer("right_window_size").filter(|width| *width >= 0) {
        masks.push(format!("(iota({keys}) <= {rows} + {width})"));
    }
    if let Some(lengths) = node.operand(6) {
        let lengths = format!("reshape({}, [{}, 1, 1, 1])", lengths.text, writer.extent(q[0]));
        masks.push(format!("(iota({keys}) < {lengths})"));
        if node.flag("is_causal") {
            masks.push(format!("(iota({keys}) <= {rows} + {lengths} - {queries})"));
        }
    }
    masks
}

/// Keys and values as a state that decays, and may be corrected before it is written to.
fn linear(node: &Node<'_>, writer: &mut Writer) -> Option<Vec<String>> {
    let count = |attribute| node.integer(attribute).unwrap_or(1) as usize;
    let (groups, q_heads) = (count("kv_num_heads"), count("q_num_heads"));
    let (query, key, value) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let (batch, steps) = (query.shape[0], query.shape[1]);
    let (width, depth) = (query.shape[2] / q_heads, value.shape[2] / groups);
    let mut first = |x: &Tensor, shape: Vec<usize>, order: &str| {
        let apart = format!("permute(reshape({}, {}), {order})", x.text, writer.shape(&shape));
        writer.bind(&apart)
    };
    // Steps first, so that the scan goes over them.
    let per_head = "(1, 0, 2, 3)";
    let q = first(query, vec![batch, steps, groups, q_heads / groups, width], "(1, 0, 2, 3, 4)");
    let k = first(key, vec![batch, steps, groups, width], per_head);
    let v = first(value, vec![batch, steps, groups, depth], per_head);
    let decay = match node.operand(4) {
        None => None,
        Some(decay) => {
            let each = decay.shape[2] / groups;
            Some(first(decay, vec![batch, steps, groups, each], per_head))
        }
    };
    let beta = node.operand(5).map(|beta| first(beta, vec![batch, steps, beta.shape[2], 1], per_head));
    let state = [batch, groups, width, depth];
    let start = match node.text(3) {
        Some(past) => past.to_owned(),
        None => {
            let zeros = format!("zeros({}, dtype = {})", writer.shape(&state), query.dtype.name());
            writer.bind(&zeros)
        }
    };
    let mut over = vec![q, k, v];
    let mut names = vec!["q", "k", "v"];
    over.extend(decay.clone());
    names.extend(decay.as_ref().map(|_| "decay"));
    over.extend(beta.clone());
    names.extend(beta.as_ref().map(|_| "beta"));
    let mut step = String::new();
    if decay.is_some() {
        step += "let state = state * expand_dims(exp(decay), axis = -1); ";
    }
    if beta.is_some() {
        step += "let v = beta * (v - einsum(\"bhdm,bhd->bhm\", state, k)); ";
    }
    step += "let state = state + expand_dims(k, axis = -1) * expand_dims(v, axis = -2); ";
    step += "(state, einsum(\"bhgd,bhdm->bhgm\", q, state))";
    writer.line(format!(
        "let (last, outs) = scan({start}, ({}), |state, ({})| {{ {step} }});",
        over.join(", "),
        names.join(", ")
    ));
    let scale = match node.attributes["scale"].as_f64().filter(|scale| *scale != 0.0) {
        Some(_) => node.number("scale", 1.0),
        None => format!("rsqrt({width} as {})", query.dtype.name()),
    };
    let shape = writer.shape(&[batch, steps, q_heads * depth]);
    Some(vec![format!("reshape(permute(outs, (1, 0, 2, 3, 4)), {shape}) * {scale}"), "last".to_owned()])
}

fn rotary(node: &Node<'_>, writer: &mut Writer) -> Option<String> {
    let x = node.operand(0)?;
    let (x, shape) = heads(x, node.integer("num_heads").unwrap_or(1) as usize, writer);
    let features = shape[3];
    let turned = node.integer("rotary_embedding_dim").filter(|n| *n > 0).map_or(features, |n| n as usize);
    let mut angles = |i: usize| {
        let cache = node.text(i)?;
        let rows = match node.text(3) {
            Some(places) => writer.bind(&format!("take({cache}, {places}, axis = 0)")),
            None => cache.to_owned(),
        };
        Some(writer.bind(&format!("expand_dims({rows}, axis = 1)")))
    };
    let (cosine, sine) = (angles(1)?, angles(2)?);
    let interleaved = node.flag("interleaved");
    let call = |x: &str| format!("rotary({x}, {cosine}, {sine}, interleaved = {interleaved})");
    Some(match turned == features {
        true => call(&x),
        false => {
            let part = writer.bind(&call(&format!("{x}[.., ..{turned}]")));
            format!("concat([{part}, {x}[.., {turned}..]], axis = -1)")
        }
    })
}

/// A depthwise convolution that sees no later element, and hands on the last ones.
fn convolution(node: &Node<'_>, writer: &mut Writer) -> Option<Vec<String>> {
    let (x, w) = (node.operand(0)?, node.operand(1)?);
    let (channels, taps) = (x.shape[1], w.shape[2]);
    let past = match node.text(3) {
        Some(past) => past.to_owned(),
        None => {
            let shape = writer.shape(&[x.shape[0], channels, taps - 1]);
            writer.bind(&format!("zeros({shape}, dtype = {})", x.dtype.name()))
        }
    };
    let longer = writer.bind(&format!("concat([{past}, {}], axis = 2)", x.text));
    let mut y = format!("conv({longer}, {}, groups = {})", w.text, writer.extent(channels));
    if let Some(bias) = node.text(2) {
        y = format!("{y} + expand_dims({bias}, axis = 1)");
    }
    if matches!(node.attributes["activation"].as_str(), Some("silu" | "swish")) {
        y = format!("silu({y})");
    }
    Some(vec![y, format!("{longer}[.., {}..]", writer.extent(x.shape[2]))])
}
