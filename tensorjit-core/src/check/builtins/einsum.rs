//! `einsum`: products and sums by the names of axes.
//!
//! Operands are taken together from the left: axes that no later operand and no result names are summed over at once.

use std::collections::{BTreeMap, VecDeque};

use tensorjit_runtime::abi::{DType, Relation};

use super::super::call::{Arg, Call};
use super::super::derive::lacking;
use super::super::report::{Checked, counted};
use super::super::scope::Checker;
use super::super::types::axes as counted_axes;
use super::super::value::{Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::dim::facts::Verdict;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::contract::Contract;
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::reshape::Reshape;
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op};

/// The name of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    /// One of those that `...` stands for, counted from the last.
    Rest(usize),
    /// A letter.
    Letter(char),
}

impl Label {
    fn show(self) -> String {
        match self {
            Label::Rest(_) => "...".to_owned(),
            Label::Letter(letter) => letter.to_string(),
        }
    }
}

/// The subscripts of an operand or of the result: letters, and where `...` stands among them.
struct Subscript {
    text: String,
    letters: Vec<char>,
    rest: Option<usize>,
}

impl Subscript {
    fn parse(text: &str) -> Result<Subscript, String> {
        let wrong = || format!("`{text}` is no list of axes: write letters, and `...` for all others");
        let (before, after) = match text.split_once("...") {
            Some((before, after)) => (before, Some(after)),
            None => (text, None),
        };
        let letters: Vec<char> = before.chars().chain(after.unwrap_or("").chars()).collect();
        if !letters.iter().all(char::is_ascii_alphabetic) {
            return Err(wrong());
        }
        Ok(Subscript { text: text.to_owned(), rest: after.map(|_| before.chars().count()), letters })
    }

    /// The labels, where `...` stands for `rest` axes.
    fn labels(&self, rest: usize) -> Vec<Label> {
        let mut labels: Vec<Label> = self.letters.iter().copied().map(Label::Letter).collect();
        if let Some(at) = self.rest {
            labels.splice(at..at, (0..rest).rev().map(Label::Rest));
        }
        labels
    }
}

/// An operand, or the product of some, with the names of its axes.
struct Factor {
    node: NodeId,
    labels: Vec<Label>,
    at: Origin,
}

impl Factor {
    fn axis(&self, label: Label) -> Option<usize> {
        self.labels.iter().position(|own| *own == label)
    }
}

/// `einsum(subscripts, a, b, ..)`, or with a list of operands.
pub(in super::super) fn einsum(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(subscripts), operands @ ..] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let given: Vec<Placed> = match operands.iter().flatten().collect::<Vec<_>>().as_slice() {
        [Arg { value: Value::List(items) | Value::Tuple(items), .. }] => items.clone(),
        operands => operands.iter().map(|arg| arg.placed()).collect(),
    };
    let at = subscripts.expr.span;
    let (inputs, output) = checker.subscripts(subscripts, given.len())?;
    let (mut factors, most) = checker.einsum_factors(call, &inputs, &given)?;
    let output = match output {
        Some(output) => output.labels(most),
        None => implied(&inputs, most),
    };
    for (position, label) in output.iter().enumerate() {
        let label_text = label.show();
        if output[..position].contains(label) {
            return checker.fail("option-value", at, format!("the result has `{label_text}` twice"));
        }
        if !factors.iter().any(|factor| factor.labels.contains(label)) {
            let message = format!("no operand has the axis `{label_text}` of the result");
            return checker.fail("option-value", at, message);
        }
    }
    checker.one_extent_each(&mut factors, call.at)?;
    let mut rest: VecDeque<Factor> = factors.into();
    let Some(mut product) = rest.pop_front() else { return Err(lacking(checker, call)) };
    loop {
        let needed =
            |label: &Label| output.contains(label) || rest.iter().any(|factor| factor.labels.contains(label));
        let summed: Vec<Label> = product.labels.iter().copied().filter(|label| !needed(label)).collect();
        product = checker.summed(product, &summed, call.at)?;
        let Some(next) = rest.pop_front() else { break };
        let needed =
            |label: &Label| output.contains(label) || rest.iter().any(|factor| factor.labels.contains(label));
        let alone = next.labels.iter().copied();
        let alone: Vec<Label> =
            alone.filter(|label| !needed(label) && product.axis(*label).is_none()).collect();
        let next = checker.summed(next, &alone, call.at)?;
        let kept: Vec<Label> = product.labels.iter().chain(&next.labels).copied().filter(needed).collect();
        product = checker.together(product, next, &kept, call.at)?;
    }
    let order: Vec<usize> = output.iter().filter_map(|label| product.axis(*label)).collect();
    Ok(Value::Node(checker.reordered(product.node, order, call.at)?))
}

/// The result that is meant where none is written: what `...` stands for, then the letters that occur once.
fn implied(inputs: &[Subscript], most: usize) -> Vec<Label> {
    let mut counts: BTreeMap<char, usize> = BTreeMap::new();
    for letter in inputs.iter().flat_map(|input| &input.letters) {
        *counts.entry(*letter).or_default() += 1;
    }
    let once = counts.into_iter().filter(|(_, count)| *count == 1).map(|(letter, _)| Label::Letter(letter));
    (0..most).rev().map(Label::Rest).chain(once).collect()
}

impl Checker<'_> {
    /// The subscripts of as many operands, and of the result where they are written.
    fn subscripts(&mut self, arg: &Arg<'_>, count: usize) -> Checked<(Vec<Subscript>, Option<Subscript>)> {
        let at = arg.expr.span;
        let Value::Text(text) = &arg.value else {
            let diagnostic = Diagnostic::new("option-value", "`einsum` takes its subscripts as a string", at);
            return Err(self.report(diagnostic.help("such as in `einsum(\"ij,jk->ik\", a, b)`")));
        };
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (inputs, output) = match text.split_once("->") {
            Some((inputs, output)) => (inputs, Some(output)),
            None => (text.as_str(), None),
        };
        let parsed: Result<Vec<Subscript>, String> = inputs.split(',').map(Subscript::parse).collect();
        let output = output.map(Subscript::parse).transpose();
        let (parsed, output) = match (parsed, output) {
            (Ok(parsed), Ok(output)) => (parsed, output),
            (Err(message), _) | (_, Err(message)) => return self.fail("option-value", at, message),
        };
        if parsed.len() != count {
            let named = counted(parsed.len(), "operand", "operands");
            let message = format!("the subscripts name {named}, the call has {count}");
            return self.fail("argument-count", at, message);
        }
        Ok((parsed, output))
    }

    /// The operands of one type, each axis of which has a name of its own, and the most axes of a `...`.
    fn einsum_factors(
        &mut self,
        call: &Call<'_>,
        inputs: &[Subscript],
        given: &[Placed],
    ) -> Checked<(Vec<Factor>, usize)> {
        let mut operands = Vec::with_capacity(given.len());
        for operand in given {
            operands.push((self.operand(&operand.value, operand.at)?, operand.at));
        }
        let found = self.unify(call.name, &operands, call.at)?;
        if found.is_some_and(|found| found.dtype == DType::Bool) {
            return self.fail("element-type", call.at, "`einsum` takes numbers, not `bool`");
        }
        let mut factors = Vec::with_capacity(given.len());
        let mut most = 0;
        for ((operand, at), input) in operands.into_iter().zip(inputs) {
            let settled = self.settled(operand, found)?.value();
            let node = self.typed(&settled, at)?;
            let rank = self.graph.ty(node).rank();
            let rest =
                rank.checked_sub(input.letters.len()).filter(|rest| *rest == 0 || input.rest.is_some());
            let Some(rest) = rest else {
                let shown = self.show_type(self.graph.ty(node));
                let named = counted_axes(input.letters.len());
                let message = format!("`{}` names {named}, this is {shown}", input.text);
                return self.fail("rank", at, message);
            };
            most = most.max(rest);
            let factor = Factor { node, labels: input.labels(rest), at };
            factors.push(self.without_repeats(factor, call.at)?);
        }
        Ok((factors, most))
    }

    /// Takes the diagonal of axes with one name.
    fn without_repeats(&mut self, mut factor: Factor, at: Origin) -> Checked<Factor> {
        let repeated = |labels: &[Label]| {
            (0..labels.len()).find_map(|first| {
                Some((first, (first + 1..labels.len()).find(|i| labels[*i] == labels[first])?))
            })
        };
        while let Some((first, second)) = repeated(&factor.labels) {
            let shape = self.graph.ty(factor.node).shape.clone();
            let label = factor.labels[first];
            self.same_extent(label, (&shape[first], factor.at), (&shape[second], factor.at), at)?;
            factor.node = self.diagonal(factor.node, (first, second), &Dim::constant(0), at)?;
            factor.labels.remove(second);
            factor.labels.remove(first);
            factor.labels.push(label);
        }
        Ok(factor)
    }

    fn same_extent(
        &mut self,
        label: Label,
        (a, a_at): (&Dim, Origin),
        (b, b_at): (&Dim, Origin),
        at: Origin,
    ) -> Checked<()> {
        let verdict = self.graph.facts.decide(a, Relation::Eq, b);
        if verdict == Verdict::Proven {
            return Ok(());
        }
        let (shown, other) = (self.show(a), self.show(b));
        let message = format!("the axis `{}` of `einsum` is both {shown} and {other}", label.show());
        let diagnostic = Diagnostic::new("shape-mismatch", message, at)
            .label(a_at, format!("here it is {shown}"))
            .label(b_at, format!("here it is {other}"));
        let clause = self.where_clause(a, Relation::Eq, b);
        Err(self.report(match verdict {
            Verdict::Open => diagnostic.help(format!("if they are always equal, say so: `{clause}`")),
            _ => diagnostic,
        }))
    }

    /// Checks that axes of one name have one extent.  One of extent 1 is dropped where another has more.
    fn one_extent_each(&mut self, factors: &mut [Factor], at: Origin) -> Checked<()> {
        let mut extents: BTreeMap<Label, (Dim, Origin)> = BTreeMap::new();
        for factor in &*factors {
            for (label, extent) in factor.labels.iter().zip(self.graph.ty(factor.node).shape.clone()) {
                match extents.get(label).cloned() {
                    Some((known, known_at)) if !self.is_one(&known) => {
                        if !self.is_one(&extent) {
                            self.same_extent(*label, (&known, known_at), (&extent, factor.at), at)?;
                        }
                    }
                    _ => {
                        extents.insert(*label, (extent, factor.at));
                    }
                }
            }
        }
        for factor in factors {
            let shape = self.graph.ty(factor.node).shape.clone();
            let stays = |(label, extent): &(&Label, &Dim)| {
                !self.is_one(extent) || extents.get(label).is_none_or(|(known, _)| self.is_one(known))
            };
            let (labels, kept): (Vec<Label>, Vec<Dim>) = factor
                .labels
                .iter()
                .zip(&shape)
                .filter(stays)
                .map(|(label, dim)| (*label, dim.clone()))
                .unzip();
            if kept.len() < shape.len() {
                factor.node = self.add(Op::Reshape(Reshape { shape: kept }), &[factor.node], at)?;
                factor.labels = labels;
            }
        }
        Ok(())
    }

    /// Sums over axes.
    fn summed(&mut self, factor: Factor, labels: &[Label], at: Origin) -> Checked<Factor> {
        let axes: Vec<usize> =
            (0..factor.labels.len()).filter(|axis| labels.contains(&factor.labels[*axis])).collect();
        if axes.is_empty() {
            return Ok(factor);
        }
        let node = self.add(Op::Reduce(Reduce { kind: ReduceKind::Sum, axes }), &[factor.node], at)?;
        let left = factor.labels.into_iter().filter(|label| !labels.contains(label));
        Ok(Factor { node, labels: left.collect(), at: factor.at })
    }

    /// The product of two factors, summed over the axes that both have and that are not kept.
    fn together(&mut self, a: Factor, b: Factor, kept: &[Label], at: Origin) -> Checked<Factor> {
        let shared: Vec<(Label, (usize, usize))> =
            a.labels.iter().filter_map(|label| Some((*label, (a.axis(*label)?, b.axis(*label)?)))).collect();
        let own = |factor: &Factor, other: &Factor| -> Vec<Label> {
            factor.labels.iter().copied().filter(|label| other.axis(*label).is_none()).collect()
        };
        let (left, right) = (own(&a, &b), own(&b, &a));
        let (batch, sum): (Vec<_>, Vec<_>) = shared.into_iter().partition(|(label, _)| kept.contains(label));
        let labels: Vec<Label> = batch.iter().map(|(label, _)| *label).chain(left).chain(right).collect();
        if sum.is_empty() {
            let node = self.elementwise_product(&a, &b, &labels, at)?;
            return Ok(Factor { node, labels, at });
        }
        let pairs = |list: Vec<(Label, (usize, usize))>| list.into_iter().map(|(_, pair)| pair).collect();
        let op = Op::Contract(Contract { batch: pairs(batch), sum: pairs(sum) });
        Ok(Factor { node: self.add(op, &[a.node, b.node], at)?, labels, at })
    }

    /// The product of two factors without a sum, which needs no loops of its own.
    fn elementwise_product(
        &mut self,
        a: &Factor,
        b: &Factor,
        labels: &[Label],
        at: Origin,
    ) -> Checked<NodeId> {
        let extent = |factor: &Factor, label: &Label| {
            factor.axis(*label).map(|axis| self.graph.ty(factor.node).shape[axis].clone())
        };
        let shape: Vec<Dim> =
            labels.iter().filter_map(|label| extent(a, label).or_else(|| extent(b, label))).collect();
        let mut expanded = Vec::with_capacity(2);
        for factor in [a, b] {
            let places: Vec<usize> =
                (0..labels.len()).filter(|place| factor.axis(labels[*place]).is_some()).collect();
            let order = places.iter().filter_map(|place| factor.axis(labels[*place])).collect();
            let node = self.reordered(factor.node, order, at)?;
            expanded.push(match places.len() == labels.len() {
                true => node,
                false => {
                    let op = Op::Broadcast(Broadcast { shape: shape.clone(), axes: places });
                    self.add(op, &[node], at)?
                }
            });
        }
        self.add(Op::Elementwise(Ew::Mul), &expanded, at)
    }

    fn reordered(&mut self, node: NodeId, order: Vec<usize>, at: Origin) -> Checked<NodeId> {
        match order.iter().copied().eq(0..order.len()) {
            true => Ok(node),
            false => self.add(Op::Permute(Permute { axes: order }), &[node], at),
        }
    }
}
