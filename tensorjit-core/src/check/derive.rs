//! `grad`, `vjp`, `jvp` and `hvp`: what they are of, and by what.

use tensorjit_runtime::abi::Relation;

use super::call::{Arg, Call, is_name_or_names};
use super::leaves::leaves;
use super::report::{Checked, Stop};
use super::scope::Checker;
use super::targets::is_indexed;
use super::value::{Operand, Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::dim::facts::Verdict;
use crate::graph::ops::derivative::Derivative;
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op, Type};
use crate::syntax::ast::{Expr, ExprKind};

/// `grad(y, x)`.
pub(super) fn grad(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(y), Some(x)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let (y, x) = (checker.scalar_of(y, call), checker.variables_of(x, call));
    let (y, x) = (y?, x?);
    checker
        .each_variable(&x, &mut |checker, x| checker.add(Op::Derivative(Derivative::Grad), &[y, x], call.at))
}

/// `vjp(y, x, ybar)`.
pub(super) fn vjp(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(y), Some(x), Some(seed)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let (y, x) = (checker.float_of(y, call), checker.variables_of(x, call));
    let (y, x) = (y?, x?);
    let like = checker.graph.ty(y).clone();
    let seed = checker.seed(&seed.placed(), &like, "the cotangent of `y`")?;
    checker.each_variable(&x, &mut |checker, x| {
        checker.add(Op::Derivative(Derivative::Vjp), &[y, x, seed], call.at)
    })
}

/// `jvp(y, x, xdot)`; with several variables the sum over all.
pub(super) fn jvp(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(y), Some(x), Some(seed)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let (y, x) = (checker.float_of(y, call), checker.variables_of(x, call));
    let (y, x) = (y?, x?);
    let seeds = checker.seeds(&x, &seed.placed(), "the tangent of `x`")?;
    Ok(Value::Node(checker.directional(y, &seeds, call.at)?))
}

/// `hvp(y, x, v)`; with several variables each result is the sum over all directions.
pub(super) fn hvp(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(y), Some(x), Some(seed)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let (y, x) = (checker.scalar_of(y, call), checker.variables_of(x, call));
    let (y, x) = (y?, x?);
    let seeds = checker.seeds(&x, &seed.placed(), "the vector")?;
    if let [(x, v)] = seeds.as_slice() {
        return Ok(Value::Node(checker.add(Op::Derivative(Derivative::Hvp), &[y, *x, *v], call.at)?));
    }
    checker.each_variable(&x, &mut |checker, x| {
        let slope = checker.add(Op::Derivative(Derivative::Grad), &[y, x], call.at)?;
        checker.directional(slope, &seeds, call.at)
    })
}

/// `stop_gradient(x, instead)`.
pub(super) fn stop_gradient(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x), instead] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let (operands, shape) = match instead {
        Some(instead) => {
            let (operands, shape) = checker.pair(call, x, instead)?;
            (operands.to_vec(), shape)
        }
        None => {
            let operand = checker.operand(&x.value, x.expr.span)?;
            let shape = checker.shape(&operand);
            (vec![operand], shape)
        }
    };
    Ok(checker.apply(Op::StopGradient, &operands, shape, call.at)?.value())
}

/// The error of an argument that [`Checker::arguments`] should have demanded.
pub(super) fn lacking(checker: &mut Checker<'_>, call: &Call<'_>) -> Stop {
    checker.report(Diagnostic::new(
        "argument-count",
        format!("this call of `{}` lacks an argument", call.name),
        call.at,
    ))
}

impl<'a> Checker<'a> {
    /// The sum of the directional derivatives of `y`.
    fn directional(&mut self, y: NodeId, seeds: &[(NodeId, NodeId)], at: Origin) -> Checked<NodeId> {
        let mut sum = None;
        for (x, v) in seeds {
            let term = self.add(Op::Derivative(Derivative::Jvp), &[y, *x, *v], at)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => self.add(Op::Elementwise(Ew::Add), &[sum, term], at)?,
            });
        }
        match sum {
            Some(sum) => Ok(sum),
            None => self.fail("gradient-target", at, "a derivative is by at least one variable"),
        }
    }

    /// Applies `derive` to one variable, or to each of a tuple or struct.
    pub(super) fn each_variable(
        &mut self,
        x: &Placed,
        derive: &mut dyn FnMut(&mut Checker<'a>, NodeId) -> Checked<NodeId>,
    ) -> Checked<Value> {
        self.map_leaves(&x.value, derive)
    }

    /// The scalar of which a gradient is taken.
    pub(super) fn scalar_of(&mut self, y: &Arg<'_>, call: &Call<'_>) -> Checked<NodeId> {
        let id = self.float_of(y, call)?;
        if self.graph.ty(id).rank() == 0 {
            return Ok(id);
        }
        let found = self.show_type(self.graph.ty(id));
        let message = format!("`{}` differentiates a scalar, this is {found}", call.name);
        let diagnostic = Diagnostic::new("gradient-value", message, y.expr.span);
        Err(self.report(
            diagnostic.help("sum it to a scalar, or use `vjp(y, x, ybar)` with a cotangent of its shape"),
        ))
    }

    pub(super) fn float_of(&mut self, y: &Arg<'_>, call: &Call<'_>) -> Checked<NodeId> {
        let id = self.typed(&y.value, y.expr.span)?;
        if self.graph.ty(id).dtype.is_float() {
            return Ok(id);
        }
        let found = self.show_type(self.graph.ty(id));
        let message = format!("`{}` differentiates a float, this is {found}", call.name);
        let diagnostic = Diagnostic::new("gradient-value", message, y.expr.span);
        Err(self.report(diagnostic.help("integers and bools carry no derivative")))
    }

    /// The variables by which a derivative is taken: a name, or a tuple of names, of floats.
    pub(super) fn variables_of(&mut self, x: &Arg<'_>, call: &Call<'_>) -> Checked<Placed> {
        if !is_name_or_names(x.expr) {
            let message = format!("`{}` is by a name or a tuple of names, this is an expression", call.name);
            let help = "bind it first, `let name = ..;`, and compute from that name";
            return Err(self.report(Diagnostic::new("gradient-target", message, x.expr.span).help(help)));
        }
        let placed = x.placed();
        self.require_variables(&placed)?;
        // An element of an array is a variable; an element of a tensor is computed.
        if has_index(x.expr) && !self.all_variables(&placed.value) {
            let message =
                format!("`{}` is by a name or a part of a struct, this is a part of a tensor", call.name);
            let help = "bind it first, `let name = ..;`, and compute from that name";
            return Err(self.report(Diagnostic::new("gradient-target", message, x.expr.span).help(help)));
        }
        Ok(placed)
    }

    fn require_variables(&mut self, x: &Placed) -> Checked<()> {
        match &x.value {
            Value::Node(id) if self.graph.ty(*id).dtype.is_float() => Ok(()),
            Value::Tuple(items) => items.iter().try_for_each(|item| self.require_variables(item)),
            Value::Struct(_) | Value::Array(_) => self.require_float_leaves(x),
            Value::Error => Err(Stop::Reported),
            Value::Literal(literal) => {
                let literal = literal.clone();
                Err(self.open_literal(&literal, x.at))
            }
            other => {
                let found = match self.operand(other, x.at)? {
                    Operand::Node(id) => self.show_type(self.graph.ty(id)),
                    Operand::Literal(_) => "a number".to_owned(),
                };
                let message = format!("a derivative is by floats, this is {found}");
                let diagnostic = Diagnostic::new("gradient-target", message, x.at);
                Err(self.report(diagnostic.help("integers, bools and dimensions carry no derivative")))
            }
        }
    }

    fn require_float_leaves(&mut self, x: &Placed) -> Checked<()> {
        let other = leaves(&x.value).into_iter().find(|id| !self.graph.ty(*id).dtype.is_float());
        match other {
            None => Ok(()),
            Some(id) => {
                let (whole, found) = (self.show_value(&x.value), self.show_type(self.graph.ty(id)));
                let message = format!("a derivative is by floats, and `{whole}` has a field that is {found}");
                let diagnostic = Diagnostic::new("gradient-target", message, x.at);
                Err(self
                    .report(diagnostic.help("name the fields that are floats, as `(params.w, params.b)`")))
            }
        }
    }

    /// Pairs variables with the tangents given for them.
    fn seeds(&mut self, x: &Placed, seed: &Placed, what: &str) -> Checked<Vec<(NodeId, NodeId)>> {
        match (&x.value, &seed.value) {
            (Value::Node(id), _) => {
                let like = self.graph.ty(*id).clone();
                Ok(vec![(*id, self.seed(seed, &like, what)?)])
            }
            (Value::Tuple(xs), Value::Tuple(seeds)) if xs.len() == seeds.len() => {
                let mut pairs = Vec::with_capacity(xs.len());
                for (x, seed) in xs.iter().zip(seeds) {
                    pairs.extend(self.seeds(x, seed, what)?);
                }
                Ok(pairs)
            }
            (Value::Struct(_) | Value::Array(_), _) if self.same_type(&x.value, &seed.value) => {
                Ok(leaves(&x.value).into_iter().zip(leaves(&seed.value)).collect())
            }
            (Value::Struct(_) | Value::Array(_), _) => {
                let (expected, found) = (self.show_value(&x.value), self.show_value(&seed.value));
                self.fail("struct-type", seed.at, format!("{what} is {expected}, this is {found}"))
            }
            (Value::Tuple(xs), _) => {
                let message = format!("{what} is a tuple of {}, as the variables are", xs.len());
                self.fail("tuple-length", seed.at, message)
            }
            _ => Err(Stop::Reported),
        }
    }

    /// A tangent or cotangent: exactly of the type, but for literals, which take it, scalars of them repeated.
    fn seed(&mut self, seed: &Placed, like: &Type, what: &str) -> Checked<NodeId> {
        let operand = self.operand(&seed.value, seed.at)?;
        match operand {
            Operand::Literal(literal) if literal.shape.is_empty() => {
                let id = self.settle(&literal, like.dtype, seed.at)?;
                let shape = like.shape.clone();
                match self.expand(Operand::Node(id), &shape, seed.at)? {
                    Operand::Node(id) => Ok(id),
                    Operand::Literal(_) => Err(Stop::Reported),
                }
            }
            Operand::Node(id) if self.graph.ty(id).dtype == like.dtype => {
                self.demand_shape(id, like, seed.at, what)?;
                self.coerce(seed, like, seed.at, what)
            }
            _ => self.coerce(seed, like, seed.at, what),
        }
    }

    /// Demands the shape of a type, where the extents of a tensor may be those.
    fn demand_shape(&mut self, node: NodeId, like: &Type, at: Origin, what: &str) -> Checked<()> {
        let shape = self.graph.ty(node).shape.clone();
        let decide = |checker: &Self, a: &Dim, b: &Dim| checker.graph.facts.decide(a, Relation::Eq, b);
        let pairs = || shape.iter().zip(&like.shape);
        if shape.len() != like.rank() || pairs().any(|(a, b)| decide(self, a, b) == Verdict::Refuted) {
            return Ok(());
        }
        let why = format!("{what} must have its shape, {}", self.show_shape(&like.shape));
        let mut failed = None;
        for (found, extent) in pairs() {
            failed = self.demand(found, Relation::Eq, extent, at, &why).err().or(failed);
        }
        failed.map_or(Ok(()), Err)
    }
}

/// Whether an index is on the way from a name to a variable.
fn has_index(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Tuple(items) => items.iter().any(has_index),
        _ => is_indexed(expr),
    }
}
