//! `if` on a scalar: a real branch, of which one side is computed.
//!
//! A side is a loop of at most one step, so that derivatives, memory and code are those of loops.  The first side
//! begins with zeros, the other with what the first has left.

use tensorjit_runtime::abi::DType;

use super::leaves::leaves;
use super::report::{Checked, Stop};
use super::scope::Checker;
use super::value::{Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::graph::extract::Extract;
use crate::graph::ops::scan::Output;
use crate::graph::ops::site::Site;
use crate::graph::step::{Outputs, Part, Step};
use crate::graph::table::Ew;
use crate::graph::{Input, NodeId, Op, Type};
use crate::syntax::ast::{Body, Expr};

impl Checker<'_> {
    /// The value of the side that is taken; where that is known now, the other one is not even read.
    pub(super) fn branch(&mut self, condition: &Expr, sides: [&Body; 2], at: Origin) -> Checked<Value> {
        let holds = self.placed(condition)?;
        if let Value::Bool(holds) = holds.value {
            return self.scoped(sides[usize::from(!holds)]);
        }
        let holds = self.condition_of_branch(&holds);
        let len = self.graph.len();
        let values = sides.map(|side| self.side(side));
        let [then, otherwise] = values;
        let (then, otherwise) = (then?, otherwise?);
        let (then, otherwise) = self.paired(&then, &otherwise, at)?;
        let holds = holds?;
        let fails = self.add(Op::Elementwise(Ew::Not), &[holds], at)?;
        let mut values = Vec::new();
        for leaf in leaves(&then.value) {
            let ty = self.graph.ty(leaf).clone();
            values.push(Site { graph: &mut self.graph, node: leaf, inputs: &[], origin: at }.zeros(&ty)?);
        }
        for (taken, side) in [(holds, &then), (fails, &otherwise)] {
            let steps = self.add(Op::Elementwise(Ew::Cast(DType::I64)), &[taken], at)?;
            values = self.at_most_once(steps, &values, &leaves(&side.value), len, at)?;
        }
        self.rebuilt(&then.value, &values)
    }

    fn condition_of_branch(&mut self, value: &Placed) -> Checked<NodeId> {
        let id = self.typed(&value.value, value.at)?;
        let ty = self.graph.ty(id);
        if *ty == Type::scalar(DType::Bool) {
            return Ok(id);
        }
        let message = format!("the condition of `if` is one truth value, this is {}", self.show_type(ty));
        let diagnostic = Diagnostic::new("branch", message, value.at);
        Err(self.report(diagnostic.help("`select(condition, a, b)` chooses element by element")))
    }

    /// The value of a side, in which nothing from outside is assigned.
    fn side(&mut self, body: &Body) -> Checked<Placed> {
        let outer = self.frame().bindings.len();
        let outside = std::mem::replace(&mut self.frame().outside, outer);
        let value = self.scoped(body);
        self.frame().outside = outside;
        let at = body.value.as_ref().map_or(body.at, |value| value.span);
        match value? {
            Value::Unit => self.fail("no-value", at, "this side of an `if` has no value"),
            value => Ok(Placed { value, at }),
        }
    }

    /// Both values with all types known and equal.
    fn paired(&mut self, then: &Placed, otherwise: &Placed, at: Origin) -> Checked<(Placed, Placed)> {
        let sides =
            |a: Value, b: Value| (Placed { value: a, at: then.at }, Placed { value: b, at: otherwise.at });
        match (&then.value, &otherwise.value) {
            (Value::Error, _) | (_, Value::Error) => Err(Stop::Reported),
            (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() => {
                let pairs: Vec<Checked<(Placed, Placed)>> =
                    a.iter().zip(b).map(|(a, b)| self.paired(a, b, at)).collect();
                let (a, b) = pairs.into_iter().collect::<Checked<Vec<_>>>()?.into_iter().unzip();
                Ok(sides(Value::Tuple(a), Value::Tuple(b)))
            }
            (a, b) if self.same_type(a, b) => Ok(sides(a.clone(), b.clone())),
            (Value::Tuple(_) | Value::Struct(_) | Value::Array(_), _)
            | (_, Value::Tuple(_) | Value::Struct(_) | Value::Array(_)) => {
                let (a, b) = (self.show_value(&then.value), self.show_value(&otherwise.value));
                let message = format!("the sides of an `if` have one type, these are {a} and {b}");
                let diagnostic = Diagnostic::new("branch", message, at);
                Err(self.report(
                    diagnostic
                        .label(then.at, format!("this is {a}"))
                        .label(otherwise.at, format!("this is {b}")),
                ))
            }
            (a, b) => {
                let operands =
                    [(self.operand(a, then.at)?, then.at), (self.operand(b, otherwise.at)?, otherwise.at)];
                let found = self.unify("if", &operands, at)?;
                let [(a, _), (b, _)] = operands;
                let a = self.settled(a, found)?.value();
                let a = self.typed(&a, then.at)?;
                let ty = self.graph.ty(a).clone();
                let b = Placed { value: self.settled(b, found)?.value(), at: otherwise.at };
                let b = self.coerce(&b, &ty, then.at, "the other side of this `if`")?;
                Ok(sides(Value::Node(a), Value::Node(b)))
            }
        }
    }

    /// `results`, made since the graph had `len` nodes, where `steps` is 1, and `first` where it is 0.
    fn at_most_once(
        &mut self,
        steps: NodeId,
        first: &[NodeId],
        results: &[NodeId],
        len: usize,
        at: Origin,
    ) -> Checked<Vec<NodeId>> {
        let Extract { mut body, captures } = Extract::made_since(&self.graph, len, results)?;
        let mut parts = captures;
        for (first, next) in first.iter().zip(&body.outputs) {
            parts.push(Part::Carry { first: *first, next: *next });
        }
        parts.push(Part::Number);
        let carries = first.iter().map(|first| self.graph.ty(*first).clone());
        for ty in carries.chain([Type::scalar(DType::I64)]) {
            body.inputs.push(Input { name: "side".to_owned(), ty });
        }
        let step = Step { count: &Dim::constant(1), reverse: false, body: &body, parts: &parts, taped: &[] };
        let (op, operands) = step.assemble(&Outputs { steps: Some(steps), ..Outputs::default() })?;
        let scan = self.add(op, &operands, at)?;
        let count = 0..first.len();
        count.map(|position| self.add(Op::Output(Output(position)), &[scan], at)).collect()
    }
}
