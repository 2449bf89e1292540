//! Loops: `scan`, `fold`, `while_loop` and `vmap`.

use tensorjit_runtime::abi::{DType, Relation};

use crate::check::call::{Arg, Call};
use crate::check::derive::lacking;
use crate::check::leaves::{compound_in, leaves};
use crate::check::report::{Checked, Stop, counted};
use crate::check::scope::Checker;
use crate::check::value::{Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::graph::extract::Extract;
use crate::graph::ops::permute::Permute;
use crate::graph::ops::scan::Output;
use crate::graph::step::{Outputs, Part, Step};
use crate::graph::{NodeId, Op, Placeholder, Type};
use crate::syntax::ast::{Expr, ExprKind, Pattern};

/// `scan(init, over, |carry, item| (carry, out))`: the last carry and all outs, stacked.
pub(in crate::check) fn scan(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    Loop::counted(checker, call)?.run(checker, true)
}

/// `fold(init, over, |carry, item| carry)`: the last carry.
pub(in crate::check) fn fold(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    Loop::counted(checker, call)?.run(checker, false)
}

/// `while_loop(init, |carry| condition, |carry| carry, max = N)`: the first carry for which the condition does not
/// hold, or the one after `N` steps.
pub(in crate::check) fn while_loop(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(init), Some(condition), Some(step), Some(max)] = call.args.as_slice() else {
        return Err(lacking(checker, call));
    };
    let Some(count) = max.value.as_dim() else {
        let message = "`max` is the greatest number of steps, an integer known at compile time";
        return checker.fail("option-value", max.expr.span, message);
    };
    checker.demand(
        &count,
        Relation::Ge,
        &Dim::constant(0),
        max.expr.span,
        "a number of steps is not negative",
    )?;
    let init = checker.of_tensors(&init.placed())?;
    let condition = Closure::of(checker, condition, call, &["carry"])?;
    let step = Closure::of(checker, step, call, &["carry"])?;
    let carries = leaves(&init.value);
    let counted = Loop { at: call.at, init, carries, items: None, count, axis: 0, reverse: false, step };
    counted.run_while(checker, &condition)
}

/// `vmap(over, |item| value)`: what each item gives, stacked.
pub(in crate::check) fn vmap(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(over), Some(step), axis] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let step = Closure::of(checker, step, call, &["item"])?;
    let init = Placed { value: Value::Tuple(Vec::new()), at: call.at };
    let (items, count, axis) = items(checker, call, over, axis.as_ref())?;
    let carries = Vec::new();
    let all = Loop { at: call.at, init, carries, items, count, axis, reverse: false, step };
    let (placeholders, _, item) = all.placeholders(checker)?;
    let value = all.step.value(checker, vec![item])?;
    if let Value::Error = value.value {
        return Err(Stop::Reported);
    }
    all.stack(checker, &placeholders, Vec::new(), &value).map(|(_, stacked)| stacked)
}

/// A closure of a call.
struct Closure<'c> {
    params: &'c [Pattern],
    body: &'c Expr,
}

impl<'c> Closure<'c> {
    fn of(checker: &mut Checker<'_>, arg: &Arg<'c>, call: &Call<'_>, names: &[&str]) -> Checked<Closure<'c>> {
        let written = format!("|{}| ..", names.join(", "));
        let ExprKind::Closure(params, body) = &arg.expr.kind else {
            let message = format!("this argument of `{}` is a closure, `{written}`", call.name);
            return checker.fail("closure", arg.expr.span, message);
        };
        if params.len() != names.len() {
            let found = counted(params.len(), "parameter", "parameters");
            let message = format!("this closure of `{}` has {found}, not {}", call.name, names.len());
            let diagnostic = Diagnostic::new("closure", message, arg.expr.span);
            return Err(checker.report(diagnostic.help(format!("write `{written}`"))));
        }
        Ok(Closure { params, body })
    }

    /// The value of the body for those of the parameters.
    fn value(&self, checker: &mut Checker<'_>, args: Vec<Value>) -> Checked<Placed> {
        let outer = checker.frame().bindings.len();
        let outside = std::mem::replace(&mut checker.frame().outside, outer);
        let mut result = Ok(());
        for (pattern, value) in self.params.iter().zip(args) {
            result = result.and(checker.bind(pattern, Placed { value, at: self.body.span }));
        }
        let value = result.and_then(|()| checker.placed(self.body));
        checker.frame().bindings.truncate(outer);
        checker.frame().outside = outside;
        value
    }
}

/// What is sliced, the axis of the slices first; how many slices there are; and which axis that was.
type Items = (Option<(Placed, Vec<NodeId>)>, Dim, usize);

/// What a loop goes over: an axis of tensors, or numbers.
fn items(
    checker: &mut Checker<'_>,
    call: &Call<'_>,
    over: &Arg<'_>,
    axis: Option<&Arg<'_>>,
) -> Checked<Items> {
    if let Some(count) = over.value.as_dim() {
        let why = "a number of steps is not negative";
        checker.demand(&count, Relation::Ge, &Dim::constant(0), over.expr.span, why)?;
        return Ok((None, count, 0));
    }
    let over = checker.of_tensors(&over.placed())?;
    if let Some(compound) = compound_in(&over) {
        let found = checker.show_value(&compound.value);
        let message = format!("`{}` goes over an axis of tensors, this is `{found}`", call.name);
        let diagnostic = Diagnostic::new("struct-type", message, compound.at);
        let help = "go over its fields, as a tuple; `for` goes over the elements of an array";
        return Err(checker.report(diagnostic.help(help)));
    }
    let mut slices = Vec::new();
    let (mut count, mut first): (Option<Dim>, usize) = (None, 0);
    for leaf in leaves(&over.value) {
        let ty = checker.graph.ty(leaf).clone();
        let position = match axis {
            Some(axis) => checker.axis(&axis.value, ty.rank(), axis.expr.span)?,
            None if ty.rank() > 0 => 0,
            None => {
                let message = format!("`{}` goes over an axis, and a scalar has none", call.name);
                let diagnostic = Diagnostic::new("closure", message, over.at);
                return Err(checker.report(diagnostic.help("give a tensor, or the number of steps")));
            }
        };
        let extent = ty.shape[position].clone();
        if let Some(count) = &count {
            let why = "all that a loop goes over has the same number of steps";
            checker.demand(count, Relation::Eq, &extent, over.at, why)?;
        }
        (count, first) = (count.or(Some(extent)), position);
        slices.push(checker.moved(leaf, position, 0, call.at)?);
    }
    match count {
        Some(count) => Ok((Some((over, slices)), count, first)),
        None => checker.fail("closure", over.at, format!("`{}` needs something to go over", call.name)),
    }
}

/// A loop that is being read.
struct Loop<'c> {
    at: Origin,
    init: Placed,
    /// The first values of the carries.
    carries: Vec<NodeId>,
    /// What is sliced, where it is no mere count; the axis of the slices stands first.
    items: Option<(Placed, Vec<NodeId>)>,
    count: Dim,
    axis: usize,
    reverse: bool,
    step: Closure<'c>,
}

impl<'c> Loop<'c> {
    /// The loop of a call of `scan` or `fold`.
    fn counted(checker: &mut Checker<'_>, call: &Call<'c>) -> Checked<Loop<'c>> {
        let [Some(init), Some(over), Some(step), axis, reverse] = call.args.as_slice() else {
            return Err(lacking(checker, call));
        };
        let reverse = checker.flag(reverse.as_ref(), "reverse")?;
        let init = checker.of_tensors(&init.placed());
        let step = Closure::of(checker, step, call, &["carry", "item"])?;
        let init = init?;
        let carries = leaves(&init.value);
        let (items, count, axis) = items(checker, call, over, axis.as_ref())?;
        Ok(Loop { at: call.at, init, carries, items, count, axis, reverse, step })
    }

    fn run(&self, checker: &mut Checker<'_>, stacks: bool) -> Checked<Value> {
        let (placeholders, carry, item) = self.placeholders(checker)?;
        let value = self.step.value(checker, vec![carry, item])?;
        let (next, out) = match (stacks, value) {
            (false, next) => (next, None),
            (true, Placed { value: Value::Tuple(mut items), at }) if items.len() == 2 => {
                let out = items.pop().unwrap_or(Placed { value: Value::Unit, at });
                (items.pop().unwrap_or(Placed { value: Value::Unit, at }), Some(out))
            }
            (true, Placed { value: Value::Error, .. }) => return Err(Stop::Reported),
            (true, Placed { at, .. }) => {
                let diagnostic = Diagnostic::new(
                    "closure",
                    "a step of `scan` gives a pair: the next carry, and what is stacked",
                    at,
                );
                return Err(checker.report(
                    diagnostic.help("write `(carry, out)`, or use `fold` where nothing is stacked"),
                ));
            }
        };
        let results = self.next(checker, &next)?;
        match out {
            None => {
                let scan = self.assemble(checker, &placeholders, &results, false)?;
                self.carry(checker, scan)
            }
            Some(out) => {
                let (scan, out) = self.stack(checker, &placeholders, results, &out)?;
                let carry = self.carry(checker, scan)?;
                let placed = |value: Value| Placed { value, at: self.at };
                Ok(Value::Tuple(vec![placed(carry), placed(out)]))
            }
        }
    }

    /// The scan that goes on with `nexts` and stacks `out`, and the stacks.
    fn stack(
        &self,
        checker: &mut Checker<'_>,
        placeholders: &[NodeId],
        nexts: Vec<NodeId>,
        out: &Placed,
    ) -> Checked<(NodeId, Value)> {
        let mut results = nexts;
        let out = checker.of_tensors(out)?;
        if let Some(compound) = compound_in(&out) {
            let found = checker.show_value(&compound.value);
            let message = format!("tensors are stacked, this is `{found}`");
            let diagnostic = Diagnostic::new("struct-type", message, compound.at);
            return Err(checker.report(diagnostic.help("give its fields, as a tuple")));
        }
        let outs = leaves(&out.value);
        results.extend(&outs);
        let scan = self.assemble(checker, placeholders, &results, false)?;
        let mut stacked = Vec::with_capacity(outs.len());
        for position in 0..outs.len() {
            let stack = checker.add(Op::Output(Output(self.carries.len() + position)), &[scan], self.at)?;
            let rank = checker.graph.ty(stack).rank();
            stacked.push(checker.moved(stack, 0, self.axis.min(rank - 1), self.at)?);
        }
        Ok((scan, checker.rebuilt(&out.value, &stacked)?))
    }

    fn run_while(&self, checker: &mut Checker<'_>, condition: &Closure<'_>) -> Checked<Value> {
        let (placeholders, carry, _) = self.placeholders(checker)?;
        let holds = condition.value(checker, vec![carry.clone()])?;
        let ty = Type::scalar(DType::Bool);
        let holds = checker.coerce(&holds, &ty, condition.body.span, "the condition of `while_loop`");
        let next = self.step.value(checker, vec![carry])?;
        let mut results = self.next(checker, &next)?;
        results.push(holds?);
        let scan = self.assemble(checker, &placeholders, &results, true)?;
        self.carry(checker, scan)
    }

    /// Placeholders for the carries, the slices and the number of the step, and the values of the parameters.
    fn placeholders(&self, checker: &mut Checker<'_>) -> Checked<(Vec<NodeId>, Value, Value)> {
        let mut placeholders = Vec::new();
        for carry in &self.carries {
            let ty = checker.graph.ty(*carry).clone();
            placeholders.push(checker.placeholder("carry", ty, self.at)?);
        }
        let slices = self.items.as_ref().map_or(&[][..], |(_, slices)| slices);
        for slice in slices {
            let ty = checker.graph.ty(*slice);
            let ty = ty.with_shape(ty.shape[1..].to_vec());
            placeholders.push(checker.placeholder("slice", ty, self.at)?);
        }
        placeholders.push(checker.placeholder("step", Type::scalar(DType::I64), self.at)?);
        let (carries, rest) = placeholders.split_at(self.carries.len());
        let (carries, rest) = (carries.to_vec(), rest.to_vec());
        let carry = checker.rebuilt(&self.init.value, &carries)?;
        let item = match &self.items {
            Some((over, _)) => checker.rebuilt(&over.value, &rest)?,
            None => Value::Node(rest[0]),
        };
        Ok((placeholders, carry, item))
    }

    /// The next values of the carries, which have the types of the first.
    fn next(&self, checker: &mut Checker<'_>, next: &Placed) -> Checked<Vec<NodeId>> {
        let mut nodes = Vec::with_capacity(self.carries.len());
        checker.next_carry(&self.init, next, &mut nodes)?;
        Ok(nodes)
    }

    /// The last carry of a scan.
    fn carry(&self, checker: &mut Checker<'_>, scan: NodeId) -> Checked<Value> {
        let mut last = Vec::with_capacity(self.carries.len());
        for carry in 0..self.carries.len() {
            last.push(checker.add(Op::Output(Output(carry)), &[scan], self.at)?);
        }
        checker.rebuilt(&self.init.value, &last)
    }

    /// The scan between the placeholders and the results: the next carries, what is stacked, the condition.
    fn assemble(
        &self,
        checker: &mut Checker<'_>,
        placeholders: &[NodeId],
        results: &[NodeId],
        conditional: bool,
    ) -> Checked<NodeId> {
        let Extract { body, captures } = Extract::depending(&checker.graph, placeholders, results)?;
        let (nexts, rest) = body.outputs.split_at(self.carries.len());
        let (stacks, condition) = rest.split_at(rest.len() - usize::from(conditional));
        let carries =
            self.carries.iter().zip(nexts).map(|(first, next)| Part::Carry { first: *first, next: *next });
        let slices = self.items.iter().flat_map(|(_, slices)| slices).map(|slice| Part::Slice(*slice));
        let parts: Vec<Part> = carries.chain(slices).chain([Part::Number]).chain(captures).collect();
        let step = Step { count: &self.count, reverse: self.reverse, body: &body, parts: &parts, taped: &[] };
        let outputs = Outputs { stacks, condition: condition.first().copied(), steps: None };
        let (op, operands) = step.assemble(&outputs)?;
        checker.add(op, &operands, self.at)
    }
}

impl Checker<'_> {
    /// A value made of tensors with types alone.
    pub(in crate::check) fn of_tensors(&mut self, value: &Placed) -> Checked<Placed> {
        let at = value.at;
        let value = match &value.value {
            Value::Tuple(items) => {
                let items: Vec<Checked<Placed>> = items.iter().map(|item| self.of_tensors(item)).collect();
                Value::Tuple(items.into_iter().collect::<Checked<_>>()?)
            }
            compound @ (Value::Struct(_) | Value::Array(_)) => compound.clone(),
            other => Value::Node(self.typed(other, at)?),
        };
        Ok(Placed { value, at })
    }

    pub(in crate::check) fn placeholder(&mut self, name: &str, ty: Type, at: Origin) -> Checked<NodeId> {
        self.placeholders += 1;
        self.add(
            Op::Placeholder(Placeholder { number: self.placeholders, name: name.to_owned(), ty }),
            &[],
            at,
        )
    }

    /// The tensor with axis `from` at the place of axis `to`.
    fn moved(&mut self, id: NodeId, from: usize, to: usize, at: Origin) -> Checked<NodeId> {
        if from == to {
            return Ok(id);
        }
        let rank = self.graph.ty(id).rank();
        self.add(Op::Permute(Permute::moving(rank, from, to)), &[id], at)
    }

    /// Adds the nodes of the next carry, part by part of the first.
    fn next_carry(&mut self, first: &Placed, next: &Placed, nodes: &mut Vec<NodeId>) -> Checked<()> {
        let found = match (&first.value, &next.value) {
            (_, Value::Error) => return Err(Stop::Reported),
            (Value::Node(carry), _) => {
                let ty = self.graph.ty(*carry).clone();
                nodes.push(self.coerce(next, &ty, first.at, "the carry")?);
                return Ok(());
            }
            (Value::Tuple(firsts), Value::Tuple(nexts)) if firsts.len() == nexts.len() => {
                return firsts
                    .iter()
                    .zip(nexts)
                    .try_for_each(|(first, next)| self.next_carry(first, next, nodes));
            }
            (value, next) if self.same_type(value, next) => {
                nodes.extend(leaves(next));
                return Ok(());
            }
            (_, Value::Tuple(nexts)) => format!("a tuple of {}", nexts.len()),
            (_, next) => self.show_value(next),
        };
        let carry = match &first.value {
            Value::Tuple(firsts) => format!("a tuple of {}", firsts.len()),
            value => self.show_value(value),
        };
        let message = format!("the carry is {carry}, this is {found}");
        Err(self.report(Diagnostic::new("closure", message, next.at).label(first.at, "it begins with this")))
    }

    /// A value of the same structure, made of other tensors.
    pub(in crate::check) fn rebuilt(&mut self, like: &Value, nodes: &[NodeId]) -> Checked<Value> {
        let mut nodes = nodes.iter();
        self.map_leaves(like, &mut |_, _| nodes.next().copied().ok_or(Stop::Reported))
    }
}
