//! Functions with a rule for their derivative: `#[vjp(rule)]` and `#[jvp(rule)]`.
//!
//! The rule is read at every call of the function, as a call of it would be, with placeholders for the results and for
//! what is to be transformed; what does not depend on these is computed outside.

use std::sync::Arc;

use super::call::{Arg, Call, is_known};
use super::leaves::leaves;
use super::report::{Checked, Stop, counted};
use super::scope::Checker;
use super::value::{Placed, Value};
use crate::diag::{Bug, Diagnostic, Origin};
use crate::graph::extract::Extract;
use crate::graph::ops::custom::Custom;
use crate::graph::ops::scan::Output;
use crate::graph::{NodeId, Op};
use crate::syntax::ast::{DerivativeRule, Expr, ExprKind, Function};

/// A function whose result has been computed, and its rule.
struct Ruled<'f> {
    function: &'f Function,
    rule: &'f DerivativeRule,
    /// The function that is the rule.
    by: &'f Function,
    /// The values of the parameters, and the positions of those by which there are derivatives.
    given: &'f [Value],
    moving: Vec<usize>,
    /// The result, or the parts of a tuple.
    results: Vec<Value>,
}

impl Ruled<'_> {
    /// The parameters by which there are derivatives.
    fn moved(&self) -> Vec<Value> {
        self.moving.iter().map(|position| self.given[*position].clone()).collect()
    }

    /// The names of the parameters that the rule has.
    fn written_params(&self) -> String {
        let params: Vec<String> = self.function.params.iter().map(|param| param.name.text.clone()).collect();
        let many = self.results.len() > 1;
        let name = |position| if many { format!("result_{position}") } else { "result".to_owned() };
        let results: Vec<String> = (0..self.results.len()).map(name).collect();
        let moving: Vec<String> = self.moving.iter().map(|position| params[*position].clone()).collect();
        let given = if self.rule.reverse { &results } else { &moving };
        let given: Vec<String> = given.iter().map(|name| format!("d_{name}")).collect();
        [params, results, given].concat().join(", ")
    }

    /// What the rule gives: what each is, and the value whose type it has.
    fn wanted(&self) -> Vec<(String, Value)> {
        if self.rule.reverse {
            let name = |position: &usize| &self.function.params[*position].name.text;
            let names = self.moving.iter().map(|position| format!("the cotangent of `{}`", name(position)));
            return names.zip(self.moved()).collect();
        }
        let what = |part| match self.results.len() {
            1 => "the tangent of the result".to_owned(),
            _ => format!("the tangent of `result.{part}`"),
        };
        (0..).map(what).zip(self.results.iter().cloned()).collect()
    }
}

impl Checker<'_> {
    /// The result of a function that is called at `at`, with the derivative that its rule says.
    pub(super) fn with_rule(
        &mut self,
        function: &Function,
        given: &[Value],
        result: Value,
        at: Origin,
    ) -> Checked<Value> {
        let Some(rule) = &function.rule else { return Ok(result) };
        let shared;
        let by = match self.library {
            Some(_) => {
                shared = self.items.prelude.function(&rule.name.text)?;
                shared.as_deref()
            }
            None => self.function_named(&rule.name.text),
        };
        let Some(by) = by else {
            if !is_known(&rule.name.text) {
                return Err(self.unknown_function(&rule.name));
            }
            let message = format!("`{}` is no function of this block", rule.name.text);
            let diagnostic = Diagnostic::new("derivative-rule", message, rule.name.at);
            return Err(self.report(diagnostic.help("the rule of a derivative is written for its function")));
        };
        let moving = self.moving(function, rule, given)?;
        let results = match &result {
            Value::Tuple(items) => items.iter().map(|item| item.value.clone()).collect(),
            other => vec![other.clone()],
        };
        if results.is_empty() || results.iter().any(|result| !self.is_of_floats(result)) {
            let name = &function.name.text;
            let message = format!("`{name}` has a rule for its derivative, so that its results are floats");
            return self.fail("derivative-rule", rule.at, message);
        }
        let ruled = Ruled { function, rule, by, given, moving, results };
        let (placeholders, args) = self.rule_arguments(&ruled)?;
        let outputs = self.rule_outputs(&ruled, args)?;
        let extract = Extract::depending(&self.graph, &placeholders, &outputs)?;
        let (results, arguments) =
            (leaves(&result), ruled.moved().iter().flat_map(leaves).collect::<Vec<_>>());
        if !rule.reverse {
            self.require_linear(&ruled, &outputs, &placeholders[results.len()..])?;
        }
        let custom = Custom {
            name: function.name.text.clone(),
            reverse: rule.reverse,
            results: results.len(),
            arguments: arguments.len(),
            rule: Arc::new(extract.body),
        };
        let lost = || Bug::new("check", "a capture of a rule stands for nothing");
        let mut operands = [&results[..], &arguments].concat();
        for part in &extract.captures {
            operands.push(part.outside().ok_or_else(lost)?);
        }
        let node = self.add(Op::Custom(custom), &operands, at)?;
        let outputs = (0..results.len()).map(|result| self.add(Op::Output(Output(result)), &[node], at));
        let outputs = outputs.collect::<Checked<Vec<NodeId>>>()?;
        self.rebuilt(&result, &outputs)
    }

    /// The positions of the parameters by which there are derivatives: those of floats.
    fn moving(&mut self, function: &Function, rule: &DerivativeRule, given: &[Value]) -> Checked<Vec<usize>> {
        let mut moving = Vec::new();
        for (position, (param, value)) in function.params.iter().zip(given).enumerate() {
            if self.is_of_floats(value) {
                moving.push(position);
            } else if leaves(value).iter().any(|leaf| self.graph.ty(*leaf).dtype.is_float()) {
                let name = &param.name.text;
                let message =
                    format!("`{name}` has floats and other elements, so that no rule gives its cotangent");
                let diagnostic = Diagnostic::new("derivative-rule", message, param.name.at);
                return Err(self.report(diagnostic.label(rule.at, "the rule")));
            }
        }
        if moving.is_empty() {
            let message = format!("`{}` takes no floats, so that it has no derivative", function.name.text);
            return self.fail("derivative-rule", rule.at, message);
        }
        Ok(moving)
    }

    /// Whether a value is made of tensors of floats.
    fn is_of_floats(&self, value: &Value) -> bool {
        let leaves = match value {
            Value::Node(_) | Value::Struct(_) | Value::Array(_) => leaves(value),
            _ => return false,
        };
        !leaves.is_empty() && leaves.iter().all(|leaf| self.graph.ty(*leaf).dtype.is_float())
    }

    /// The placeholders of the results and of what is transformed; and all arguments of the rule.
    fn rule_arguments(&mut self, ruled: &Ruled<'_>) -> Checked<(Vec<NodeId>, Vec<Value>)> {
        let given = if ruled.rule.reverse { ruled.results.clone() } else { ruled.moved() };
        let mut placeholders = Vec::new();
        let mut args = ruled.given.to_vec();
        for like in ruled.results.iter().chain(&given) {
            args.push(self.map_leaves(like, &mut |checker, leaf| {
                let ty = checker.graph.ty(leaf).clone();
                let placeholder = checker.placeholder("rule", ty, ruled.rule.at)?;
                placeholders.push(placeholder);
                Ok(placeholder)
            })?);
        }
        if args.len() == ruled.by.params.len() {
            return Ok((placeholders, args));
        }
        let by = &ruled.by.name;
        let message = format!(
            "`{}` has {}, and the rule of `{}` takes {}",
            by.text,
            counted(ruled.by.params.len(), "parameter", "parameters"),
            ruled.function.name.text,
            args.len(),
        );
        let diagnostic =
            Diagnostic::new("derivative-rule", message, by.at).label(ruled.rule.at, "named here");
        Err(self.report(diagnostic.help(format!("write `fn {}({})`", by.text, ruled.written_params()))))
    }

    /// The leaves of what the rule gives for its arguments.
    fn rule_outputs(&mut self, ruled: &Ruled<'_>, args: Vec<Value>) -> Checked<Vec<NodeId>> {
        let Ruled { rule, by, .. } = ruled;
        let expr = Expr { kind: ExprKind::Name(rule.name.text.clone()), at: rule.at, span: rule.at };
        let args = args.into_iter().map(|value| Some(Arg { expr: &expr, value })).collect();
        let call = Call { name: &rule.name.text, at: rule.at, args };
        let value = self.inline(by, &call, rule.at, self.library.is_some())?;
        let at = by.body.value.as_ref().map_or(by.body.at, |expr| expr.span);
        let wanted = ruled.wanted();
        let found = match value {
            Value::Tuple(items) if wanted.len() != 1 => items,
            other => vec![Placed { value: other, at }],
        };
        if found.len() != wanted.len() {
            let (wanted, found) = (counted(wanted.len(), "value", "values"), found.len());
            let message =
                format!("the rule of `{}` gives {wanted}, this is {found}", ruled.function.name.text);
            let help = match rule.reverse {
                true => "the cotangent of each argument of floats, in their order",
                false => "the tangent of each part of the result, in their order",
            };
            let diagnostic = Diagnostic::new("derivative-rule", message, at);
            return Err(self.report(diagnostic.label(rule.at, "named here").help(help)));
        }
        let mut nodes = Vec::new();
        for ((what, like), found) in wanted.iter().zip(&found) {
            match like {
                Value::Node(id) => {
                    let ty = self.graph.ty(*id).clone();
                    nodes.push(self.coerce(found, &ty, rule.at, what)?);
                }
                like if self.same_type(like, &found.value) => nodes.extend(leaves(&found.value)),
                like => return Err(self.another_struct(what, like, found, rule)),
            }
        }
        Ok(nodes)
    }

    fn another_struct(&mut self, what: &str, like: &Value, found: &Placed, rule: &DerivativeRule) -> Stop {
        if let Value::Error = found.value {
            return Stop::Reported;
        }
        let (expected, shown) = (self.show_value(like), self.show_value(&found.value));
        let message = format!("{what} is {expected}, this is {shown}");
        self.report(Diagnostic::new("struct-type", message, found.at).label(rule.at, "the rule"))
    }

    /// Demands that what a rule gives is linear in the tangents.
    fn require_linear(&mut self, ruled: &Ruled<'_>, outputs: &[NodeId], tangents: &[NodeId]) -> Checked<()> {
        let found = self.graph.first_nonlinear(outputs, &|id| tangents.contains(&id));
        let Some(node) = found else { return Ok(()) };
        let name = &ruled.by.name.text;
        let message = format!("`{name}` gives tangents that are not linear in those that it takes");
        let diagnostic = Diagnostic::new("derivative-rule", message, self.graph.origin(node));
        let help = "each term has one tangent as a factor, and loops carry nothing but tangents, zeros at first; \
                    `#[vjp(..)]` may do as it likes";
        Err(self.report(diagnostic.label(ruled.rule.at, "the rule").help(help)))
    }
}
