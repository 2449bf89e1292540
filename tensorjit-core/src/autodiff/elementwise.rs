//! Elementwise functions: from the formulas of the table to nodes.

use tensorjit_runtime::abi::DType;

use super::flow::Flow;
use super::rules::is_masked;
use super::transpose::Cotangent;
use crate::diag::{Bug, Diagnostic, Failure};
use crate::graph::ops::constant::Constant;
use crate::graph::ops::site::Site;
use crate::graph::table::Ew;
use crate::graph::table::formula::Formula;
use crate::graph::table::row::Derivative;
use crate::graph::{Graph, NodeId, Op};

/// The tangent of an elementwise function.
pub(super) fn linearize(
    site: &mut Site,
    row: Ew,
    tangents: &[Option<NodeId>],
    flow: &mut Flow,
) -> Result<Option<NodeId>, Failure> {
    by_rule(site, row, row.row().derivative, tangents, flow)
}

fn by_rule(
    site: &mut Site,
    row: Ew,
    rule: Derivative,
    tangents: &[Option<NodeId>],
    flow: &mut Flow,
) -> Result<Option<NodeId>, Failure> {
    match rule {
        Derivative::Partials(rules) => Ok(by_partials(site, &rules(), tangents, flow)?),
        Derivative::Linear { operands, transpose } => {
            Ok(by_linearity(site, row, operands, &transpose(), tangents)?)
        }
        Derivative::StrongProduct => Ok(strong_product(site, tangents)?),
        Derivative::Zero(_) => Ok(None),
        Derivative::None(reason) => Err(Failure::User(vec![Diagnostic {
            code: "no-derivative",
            message: format!("`{}` cannot be differentiated: {reason}", row.row().name),
            at: site.origin,
            labels: Vec::new(),
            help: Some("`stop_gradient` makes its operands constants of the derivative".to_owned()),
        }])),
    }
}

/// The sum of the operands' tangents, each times the derivative by its operand.
fn by_partials(
    site: &mut Site,
    rules: &[Formula],
    tangents: &[Option<NodeId>],
    flow: &mut Flow,
) -> Result<Option<NodeId>, Bug> {
    let mut sum = None;
    for (rule, tangent) in rules.iter().zip(tangents) {
        if let Some(tangent) = tangent {
            let strong = is_masked(flow, site.graph, *tangent);
            let part = times(site, rule, *tangent, strong)?;
            sum = site.plus(sum, part)?;
        }
    }
    Ok(sum)
}

/// A derivative times a tangent; `None` is zero.
///
/// A derivative that is chosen by a mask chooses between tangents, so that what is not taken is not read.
fn times(site: &mut Site, rule: &Formula, tangent: NodeId, strong: bool) -> Result<Option<NodeId>, Bug> {
    match rule {
        Formula::Const(0.0) => Ok(None),
        Formula::Const(1.0) => Ok(Some(tangent)),
        Formula::Const(-1.0) => site.ew(Ew::Neg, &[tangent]).map(Some),
        Formula::Call(Ew::Neg, operands) => match operands.as_slice() {
            [operand] => match times(site, operand, tangent, strong)? {
                Some(product) => site.ew(Ew::Neg, &[product]).map(Some),
                None => Ok(None),
            },
            _ => Err(Bug::new("autodiff", "neg takes one operand")),
        },
        Formula::Call(Ew::Select, operands) => match operands.as_slice() {
            [mask, a, b] => {
                let (a, b) = (times(site, a, tangent, strong)?, times(site, b, tangent, strong)?);
                if a.is_none() && b.is_none() {
                    return Ok(None);
                }
                let zeros = site.zeros(&site.ty(tangent))?;
                let mask = build(site, mask, site.node)?;
                site.ew(Ew::Select, &[mask, a.unwrap_or(zeros), b.unwrap_or(zeros)]).map(Some)
            }
            _ => Err(Bug::new("autodiff", "select takes three operands")),
        },
        // One rounding instead of two.
        Formula::Call(Ew::Recip, operands) if !strong && operands.len() == 1 => {
            let divisor = build(site, &operands[0], site.node)?;
            site.ew(Ew::Div, &[tangent, divisor]).map(Some)
        }
        rule => {
            let derivative = build(site, rule, site.node)?;
            scale(site, derivative, tangent, strong).map(Some)
        }
    }
}

/// The tangent of a node that is `factor` times another.
pub(super) fn scaled(
    graph: &mut Graph,
    node: NodeId,
    factor: NodeId,
    tangent: NodeId,
    flow: &mut Flow,
) -> Result<NodeId, Bug> {
    let (strong, origin) = (is_masked(flow, graph, tangent), graph.origin(node));
    scale(&mut Site { graph, node, inputs: &[], origin }, factor, tangent, strong)
}

/// `derivative * tangent`, strong where the tangent has passed a mask.
fn scale(site: &mut Site, derivative: NodeId, tangent: NodeId, strong: bool) -> Result<NodeId, Bug> {
    if is_one(site.graph, tangent) {
        return Ok(derivative);
    }
    site.ew(if strong { Ew::Dmul } else { Ew::Mul }, &[derivative, tangent])
}

/// Whether all elements are the constant 1.
fn is_one(graph: &Graph, id: NodeId) -> bool {
    let node = graph.node(id);
    match &node.op {
        Op::Constant(Constant::Float(_, bits)) => *bits == 1.0f64.to_bits(),
        Op::Broadcast(_) => node.inputs.iter().all(|input| is_one(graph, *input)),
        _ => false,
    }
}

/// The function itself of the tangents, where all its linear operands have one; else, because an elementwise
/// linear map is its own transpose, the transposed rule of those that have.
fn by_linearity(
    site: &mut Site,
    row: Ew,
    operands: &[usize],
    rules: &[Formula],
    tangents: &[Option<NodeId>],
) -> Result<Option<NodeId>, Bug> {
    let tangent = |position: &usize| tangents.get(*position).copied().flatten();
    if operands.iter().all(|position| tangent(position).is_some()) {
        let inputs: Vec<NodeId> =
            site.inputs.iter().enumerate().map(|(i, input)| tangent(&i).unwrap_or(*input)).collect();
        return site.ew(row, &inputs).map(Some);
    }
    let mut sum = None;
    for (position, rule) in operands.iter().zip(rules) {
        if let Some(tangent) = tangent(position) {
            let part = build(site, rule, tangent)?;
            sum = site.plus(sum, Some(part))?;
        }
    }
    Ok(sum)
}

/// Of `dmul(d, t)`: `dmul(d', t) + dmul(d, t')`.
fn strong_product(site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
    let [first, second] = tangents else { return Err(Bug::new("autodiff", "dmul has two operands")) };
    let (d, t) = (site.input(0)?, site.input(1)?);
    let first = first.map(|tangent| site.ew(Ew::Dmul, &[tangent, t])).transpose()?;
    let second = second.map(|tangent| site.ew(Ew::Dmul, &[d, tangent])).transpose()?;
    site.plus(first, second)
}

/// The cotangents of an elementwise function that is linear in the marked operands.
pub(super) fn transpose(
    site: &mut Site,
    row: Ew,
    linear: &[bool],
    cotangent: Cotangent,
) -> Result<Vec<Option<NodeId>>, Bug> {
    let ct = cotangent.node;
    match (row, linear) {
        (Ew::Mul, [true, false]) => {
            let other = site.input(1)?;
            Ok(vec![Some(scale(site, other, ct, cotangent.masked)?), None])
        }
        (Ew::Mul | Ew::Dmul, [false, true]) => {
            let other = site.input(0)?;
            Ok(vec![None, Some(scale(site, other, ct, cotangent.masked)?)])
        }
        // The zeros of the constant factor are strong, as they are forward.
        (Ew::Dmul, [true, false]) => {
            let factor = site.input(1)?;
            Ok(vec![Some(site.ew(Ew::Dmul, &[ct, factor])?), None])
        }
        (Ew::Div, [true, false]) => {
            let divisor = site.input(1)?;
            let quotient = if cotangent.masked {
                let derivative = site.ew(Ew::Recip, &[divisor])?;
                scale(site, derivative, ct, true)?
            } else {
                site.ew(Ew::Div, &[ct, divisor])?
            };
            Ok(vec![Some(quotient), None])
        }
        _ => by_transposed_rule(site, row, linear, ct),
    }
}

fn by_transposed_rule(
    site: &mut Site,
    row: Ew,
    linear: &[bool],
    cotangent: NodeId,
) -> Result<Vec<Option<NodeId>>, Bug> {
    let not_linear = || Bug::new("autodiff", format!("{} is not linear in {linear:?}", row.row().name));
    let Derivative::Linear { operands, transpose } = row.row().derivative else { return Err(not_linear()) };
    let mut found = vec![None; linear.len()];
    for (position, rule) in operands.iter().zip(transpose()) {
        if linear.get(*position) == Some(&true) {
            let dtype = site.ty(site.input(*position)?).dtype;
            let part = build(site, &rule, cotangent)?;
            found[*position] = Some(cast(site, part, dtype)?);
        }
    }
    if found.iter().zip(linear).any(|(found, linear)| found.is_some() != *linear) {
        return Err(not_linear());
    }
    Ok(found)
}

fn cast(site: &mut Site, x: NodeId, dtype: DType) -> Result<NodeId, Bug> {
    if site.graph.ty(x).dtype == dtype { Ok(x) } else { site.ew(Ew::Cast(dtype), &[x]) }
}

/// The nodes of a formula over the operands of the site's node.
fn build(site: &mut Site, formula: &Formula, out: NodeId) -> Result<NodeId, Bug> {
    match formula {
        Formula::Arg(position) => site.input(*position),
        Formula::Out => Ok(out),
        Formula::Const(value) => {
            let ty = site.ty(out);
            site.full(&ty, *value)
        }
        Formula::Call(row, operands) => {
            let operands: Vec<NodeId> =
                operands.iter().map(|operand| build(site, operand, out)).collect::<Result<_, _>>()?;
            site.ew(*row, &operands)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Origin;
    use crate::graph::sketch::{Sketch, floats, n};

    #[test]
    fn a_missing_rule_is_an_error_of_the_user_at_the_operator() {
        let mut sketch = Sketch::new(&[floats(&[n()])]);
        let x = sketch.input(0);
        let node = sketch.ew(Ew::Sin, &[x]);
        let site = &mut Site { graph: &mut sketch.graph, node, inputs: &[x], origin: Origin(7) };
        let missing = Derivative::None("nobody knows it");
        let found = by_rule(site, Ew::Sin, missing, &[Some(x)], &mut Flow::new(Vec::new()));
        let Err(Failure::User(errors)) = found else { panic!("{found:?}") };
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].message, "`sin` cannot be differentiated: nobody knows it");
        assert_eq!((errors[0].code, errors[0].at), ("no-derivative", Origin(7)));
    }
}
