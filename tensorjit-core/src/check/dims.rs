//! Dimension expressions, and the side conditions that are proven, refuted or demanded.

use tensorjit_runtime::abi::Relation;

use super::report::{Checked, Stop, closest};
use super::scope::Checker;
use super::value::Value;
use crate::diag::{Diagnostic, Origin};
use crate::dim::facts::{Condition, Verdict};
use crate::dim::{Atom, Dim};
use crate::syntax::ast::{self, BinaryOp, Expr, ExprKind, UnaryOp};

impl Checker<'_> {
    /// The dimension that an expression stands for: over symbols, constants and `let` names of dimensions.
    pub(super) fn dim(&mut self, expr: &Expr) -> Checked<Dim> {
        match &expr.kind {
            ExprKind::Int(value, suffix) if suffix.as_deref().is_none_or(|s| s == "i64" || s == "usize") => {
                match i64::try_from(*value) {
                    Ok(value) => Ok(Dim::constant(value)),
                    Err(_) => self.fail("literal-range", expr.at, format!("{value} does not fit into `i64`")),
                }
            }
            ExprKind::Name(name) => self.named_dim(name, expr.at),
            ExprKind::Unary(UnaryOp::Neg, inner) => Ok(-&self.dim(inner)?),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.dim(left), self.dim(right));
                self.dim_operator(*op, &left?, &right?, expr.at)
            }
            ExprKind::Call { name, args, options, .. } if options.is_empty() => match args.as_slice() {
                [a, b] => {
                    let (a, b) = (self.dim(a), self.dim(b));
                    self.dim_function(&name.text, &a?, &b?, name.at)
                }
                _ => self.not_a_dim(expr.span),
            },
            _ => self.not_a_dim(expr.span),
        }
    }

    fn not_a_dim<T>(&mut self, at: Origin) -> Checked<T> {
        let diagnostic = Diagnostic::new("not-a-dimension", "this is not a dimension", at);
        Err(self.report(
            diagnostic
                .help("dimensions are made of symbols, integers, `+ - * / %`, `ceil_div`, `min` and `max`"),
        ))
    }

    fn named_dim(&mut self, name: &str, at: Origin) -> Checked<Dim> {
        let known = match self.frames.last() {
            Some(frame) => {
                frame.bindings.iter().any(|binding| binding.name == name)
                    || matches!(frame.dims.get(name), Some(Some(_)))
            }
            None => false,
        };
        if known || self.const_named(name).is_some() {
            return match self.lookup(name, at)?.as_dim() {
                Some(dim) => Ok(dim),
                None => {
                    let message = format!("`{name}` is not a dimension");
                    let help = "only symbols, integer constants and values computed from them are dimensions";
                    Err(self.report(Diagnostic::new("not-a-dimension", message, at).help(help)))
                }
            };
        }
        if self.frames.last().is_some_and(|frame| frame.dims.contains_key(name)) {
            return Err(self.open_symbol(name, at));
        }
        let mut diagnostic =
            Diagnostic::new("unknown-dimension", format!("there is no dimension `{name}`"), at);
        let visible = self.frames.last().into_iter().flat_map(|frame| frame.dims.keys().map(String::as_str));
        diagnostic = match closest(name, visible) {
            Some(close) => diagnostic.help(format!("did you mean `{close}`?")),
            None => {
                let item = if self.structs.is_empty() { "function" } else { "struct" };
                diagnostic.help(format!("declare it after the name of the {item}: `<{name}>`"))
            }
        };
        Err(self.report(diagnostic))
    }

    fn dim_operator(&mut self, op: BinaryOp, left: &Dim, right: &Dim, at: Origin) -> Checked<Dim> {
        match op {
            BinaryOp::Add => Ok(left + right),
            BinaryOp::Sub => Ok(left - right),
            BinaryOp::Mul => Ok(left * right),
            BinaryOp::Div => self.dim_function("floor_div", left, right, at),
            BinaryOp::Rem => self.dim_function("%", left, right, at),
            _ => self.not_a_dim(at),
        }
    }

    /// `ceil_div`, `floor_div`, `%`, `min` or `max` of two dimensions.
    pub(super) fn dim_function(&mut self, name: &str, a: &Dim, b: &Dim, at: Origin) -> Checked<Dim> {
        if matches!(name, "ceil_div" | "floor_div" | "%") {
            self.divisor(b, at)?;
        }
        match name {
            "ceil_div" => Ok(a.ceil_div(b)),
            "floor_div" => Ok(a.floor_div(b)),
            "%" => Ok(a.modulo(b)),
            "min" => Ok(self.dim_extremum(a, b, false)),
            "max" => Ok(self.dim_extremum(a, b, true)),
            _ => self.not_a_dim(at),
        }
    }

    /// Demands that a divisor is positive, on which all proofs about quotients rest.
    fn divisor(&mut self, divisor: &Dim, at: Origin) -> Checked<()> {
        match divisor.as_const() {
            Some(value) if value > 0 => return Ok(()),
            Some(value) => {
                let message = format!("dimensions are divided by a positive number, this is {value}");
                return self.fail("dimension-division", at, message);
            }
            None => {}
        }
        if let Some(deferred) = &mut self.divisors {
            deferred.push((divisor.clone(), at));
            return Ok(());
        }
        self.demand(divisor, Relation::Ge, &Dim::constant(1), at, "a divisor must be positive")
    }

    /// Reads dimensions while not all facts about them are known; the divisors in them are given back.
    pub(super) fn deferring_divisors<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> T,
    ) -> (T, Vec<(Dim, Origin)>) {
        let before = self.divisors.replace(Vec::new());
        let value = read(self);
        (value, std::mem::replace(&mut self.divisors, before).unwrap_or_default())
    }

    /// Demands that divisors that were [deferred](Checker::deferring_divisors) are positive.
    pub(super) fn demand_divisors(&mut self, divisors: &[(Dim, Origin)]) -> Checked<()> {
        let mut failed = None;
        for (divisor, at) in divisors {
            failed = self.divisor(divisor, *at).err().or(failed);
        }
        failed.map_or(Ok(()), Err)
    }

    /// The larger or the smaller of two dimensions: one of them, where it is known which.
    pub(super) fn dim_extremum(&self, a: &Dim, b: &Dim, larger: bool) -> Dim {
        let facts = &self.graph.facts;
        let (above, below) = if larger { (a, b) } else { (b, a) };
        if facts.decide(above, Relation::Ge, below) == Verdict::Proven {
            a.clone()
        } else if facts.decide(below, Relation::Ge, above) == Verdict::Proven {
            b.clone()
        } else if larger {
            a.maximum(b)
        } else {
            a.minimum(b)
        }
    }

    /// The dimension that a value stands for; `what` says in errors what it is for.
    pub(super) fn value_dim(&mut self, value: &Value, what: &str, at: Origin) -> Checked<Dim> {
        if let Value::Error = value {
            return Err(Stop::Reported);
        }
        match value.as_dim() {
            Some(dim) => Ok(dim),
            None => {
                let diagnostic =
                    Diagnostic::new("not-a-dimension", format!("{what} must be a dimension"), at);
                Err(self.report(diagnostic.help(
                    "use an integer, a symbol, or arithmetic on these; the elements of a tensor are not known here",
                )))
            }
        }
    }

    /// The shape that a list or tuple of dimensions stands for; one dimension is a shape of one axis.
    pub(super) fn value_shape(&mut self, value: &Value, at: Origin) -> Checked<Vec<Dim>> {
        let Some(items) = value.elements() else {
            return Ok(vec![self.value_dim(value, "a shape", at)?]);
        };
        items.iter().map(|item| self.value_dim(&item.value, "an extent", item.at)).collect()
    }

    /// A condition of a `where` clause.
    pub(super) fn condition(&mut self, condition: &ast::Condition) -> Checked<Condition> {
        let (left, right) = (self.dim(&condition.left), self.dim(&condition.right));
        Ok(Condition { left: left?, relation: condition.relation, right: right? })
    }

    /// Demands `left relation right`: silent where it is proven, an error otherwise.
    ///
    /// `why` says what needs it, as in "a range must end inside the axis".
    pub(super) fn demand(
        &mut self,
        left: &Dim,
        relation: Relation,
        right: &Dim,
        at: Origin,
        why: &str,
    ) -> Checked<()> {
        match self.graph.facts.decide(left, relation, right) {
            Verdict::Proven => Ok(()),
            Verdict::Refuted => {
                let condition = Condition { left: left.clone(), relation, right: right.clone() };
                let shown = self.graph.facts.show_condition(&condition);
                let message = format!("{why}, but {shown} never holds");
                self.fail("condition-false", at, message)
            }
            Verdict::Open => {
                let clause = self.where_clause(left, relation, right);
                let shown = clause.trim_start_matches("where ").to_owned();
                let diagnostic =
                    Diagnostic::new("condition-open", format!("{why}, but {shown} is not known"), at);
                Err(self
                    .report(diagnostic.help(format!("state it and it is checked at the call: `{clause}`"))))
            }
        }
    }

    /// Demands that an extent must not be negative.
    pub(super) fn demand_extent(&mut self, dim: &Dim, at: Origin) -> Checked<()> {
        match dim.as_const() {
            Some(value) if value >= 0 => Ok(()),
            _ => self.demand(dim, Relation::Ge, &Dim::constant(0), at, "an extent must not be negative"),
        }
    }

    /// The `where` clause that states `left relation right`.
    pub(super) fn where_clause(&self, left: &Dim, relation: Relation, right: &Dim) -> String {
        let facts = &self.graph.facts;
        match divisibility(&(left - right)) {
            // `T == 4 * (T / 4)` says that 4 divides T, and people write it so.
            Some((value, divisor)) if relation == Relation::Eq => {
                let (left, right) = (value.modulo(&divisor), Dim::constant(0));
                facts.require(&Condition { left, relation, right })
            }
            _ => facts.require(&Condition { left: left.clone(), relation, right: right.clone() }),
        }
    }
}

/// `(a, q)` where a difference is `a - q * (a / q)` or its negative.
fn divisibility(difference: &Dim) -> Option<(Dim, Dim)> {
    difference.terms().iter().flat_map(|(monomial, _)| monomial.0.iter()).find_map(|(atom, power)| {
        let Atom::FloorDiv(value, divisor) = atom else { return None };
        let rest = value - &(divisor * &Dim::atom(atom.clone()));
        let found = *power == 1 && (*difference == rest || *difference == -&rest);
        found.then(|| (value.clone(), divisor.clone()))
    })
}
