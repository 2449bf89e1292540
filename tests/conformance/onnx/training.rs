//! Steps of optimisers.

use super::Node;
use crate::text::Writer;

/// Writes the step of one tensor: what is read of it, to its results.
type Step = fn(&Node<'_>, &[&str], &mut Writer) -> Option<Vec<String>>;

pub(super) fn translate(node: &Node<'_>, writer: &mut Writer) -> Option<Vec<String>> {
    let (kinds, one): (usize, Step) = match node.op {
        "Adagrad" => (3, adagrad),
        "Adam" => (4, adam),
        "Momentum" => (3, momentum),
        _ => return None,
    };
    // All tensors, then all their gradients, then all that is remembered of each.
    let count = (node.operands.len() - 2) / kinds;
    let mut results = vec![Vec::new(); kinds - 1];
    for i in 0..count {
        let tensors: Option<Vec<&str>> = (0..kinds).map(|kind| node.text(2 + kind * count + i)).collect();
        for (results, text) in results.iter_mut().zip(one(node, &tensors?, writer)?) {
            results.push(text);
        }
    }
    Some(results.concat())
}

fn adagrad(node: &Node<'_>, tensors: &[&str], writer: &mut Writer) -> Option<Vec<String>> {
    let [x, g, h] = tensors else { return None };
    let (rate, step) = (node.text(0)?, node.text(1)?);
    let slowed = format!("{rate} / (1 + ({step} as f32) * {})", node.number("decay_factor", 0.0));
    let slowed = writer.bind(&slowed);
    let (decay, epsilon) = (node.number("norm_coefficient", 0.0), node.number("epsilon", 1e-6));
    let name =
        writer.bind(&format!("adagrad({x}, {g}, {h}, {slowed}, decay = {decay}, epsilon = {epsilon})"));
    Some(vec![format!("{name}.0"), format!("{name}.1")])
}

/// The epsilon stands beside the root that is not yet corrected for the first steps.
fn adam(node: &Node<'_>, tensors: &[&str], writer: &mut Writer) -> Option<Vec<String>> {
    let [x, g, m, v] = tensors else { return None };
    let (rate, step) = (node.text(0)?, node.text(1)?);
    let (alpha, beta) = (node.number("alpha", 0.9), node.number("beta", 0.999));
    let slope = writer.bind(&format!("{g} + {} * {x}", node.number("norm_coefficient", 0.0)));
    let m = writer.bind(&format!("moving_average({m}, {slope}, {alpha})"));
    let v = writer.bind(&format!("moving_average({v}, {slope} * {slope}, {beta})"));
    let power = |base: &str| format!("(1 - pow({base}, {step} as f32))");
    let corrected = format!("{rate} * sqrt({}) / {}", power(&beta), power(&alpha));
    let rate = writer.bind(&format!("select({step} > 0, {corrected}, {rate})"));
    let x = format!("{x} - {rate} * {m} / (sqrt({v}) + {})", node.number("epsilon", 1e-6));
    let after = 1.0 - node.attributes["norm_coefficient_post"].as_f64().unwrap_or(0.0);
    Some(vec![format!("({x}) * {after}"), m, v])
}

/// The first step takes the whole gradient, whatever share the later ones take.
fn momentum(node: &Node<'_>, tensors: &[&str], writer: &mut Writer) -> Option<Vec<String>> {
    let [x, g, v] = tensors else { return None };
    let (rate, step) = (node.text(0)?, node.text(1)?);
    let (alpha, beta) = (node.number("alpha", 0.9), node.number("beta", 1.0));
    let slope = writer.bind(&format!("{g} + {} * {x}", node.number("norm_coefficient", 0.0)));
    let share = writer.bind(&format!("select({step} > 0, {beta}, 1)"));
    let v = writer.bind(&format!("{alpha} * {v} + {share} * {slope}"));
    let step = match node.attributes["mode"].as_str() {
        Some("nesterov") => format!("({slope} + {alpha} * {v})"),
        _ => v.clone(),
    };
    Some(vec![format!("{x} - {rate} * {step}"), v])
}
