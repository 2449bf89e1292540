//! Elementwise functions and operators: types unified, shapes broadcast, both made explicit.

use tensorjit_runtime::abi::{DType, Relation};

use super::report::Checked;
use super::scope::Checker;
use super::value::{Form, Kind, Literal, Operand, Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::dim::facts::Verdict;
use crate::graph::Op;
use crate::graph::table::Ew;
use crate::graph::table::row::TypeRule;
use crate::syntax::ast::{BinaryOp, UnaryOp};

/// Whether two values are the same text; nothing else is equal to the text that says that an option is not given.
fn same_text(a: &Value, b: &Value) -> Option<bool> {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => Some(a == b),
        (Value::Text(text), _) | (_, Value::Text(text)) if text == "none" => Some(false),
        _ => None,
    }
}

impl Checker<'_> {
    /// A unary operator.
    pub(super) fn unary(&mut self, op: UnaryOp, value: Placed, at: Origin) -> Checked<Value> {
        match (op, &value.value) {
            (UnaryOp::Neg, Value::Dim(dim)) => Ok(Value::Dim(-dim)),
            (UnaryOp::Not, Value::Bool(known)) => Ok(Value::Bool(!known)),
            (UnaryOp::Neg, Value::Literal(literal)) if let Some(negated) = literal.negated(at) => {
                Ok(Value::Literal(negated.into()))
            }
            (UnaryOp::Neg, _) => self.operator(Ew::Neg, "-", vec![value], at),
            (UnaryOp::Not, _) => self.operator(Ew::Not, "!", vec![value], at),
        }
    }

    /// An operator, on structs leaf by leaf.
    fn operator(&mut self, row: Ew, text: &str, args: Vec<Placed>, at: Origin) -> Checked<Value> {
        if !args.iter().any(|arg| arg.value.is_compound()) {
            return self.elementwise(row, text, args, at);
        }
        self.require_scalars(text, &args)?;
        self.leafwise(text, &args, at, &mut |checker, leaves| checker.elementwise(row, text, leaves, at))
    }

    /// A binary operator other than `@`.
    pub(super) fn binary(&mut self, op: BinaryOp, left: Placed, right: Placed, at: Origin) -> Checked<Value> {
        if let Some(known) = self.known(op, &left.value, &right.value) {
            return Ok(Value::Bool(known));
        }
        if let Some(dim) = self.dim_arithmetic(op, &left.value, &right.value) {
            return Ok(dim);
        }
        let (row, text) = match op {
            BinaryOp::Add => (Ew::Add, "+"),
            BinaryOp::Sub => (Ew::Sub, "-"),
            BinaryOp::Mul => (Ew::Mul, "*"),
            BinaryOp::Div => (Ew::Div, "/"),
            BinaryOp::Rem => (Ew::Rem, "%"),
            BinaryOp::Compare(Relation::Eq) => (Ew::Eq, "=="),
            BinaryOp::Compare(Relation::Ne) => (Ew::Ne, "!="),
            BinaryOp::Compare(Relation::Lt) => (Ew::Lt, "<"),
            BinaryOp::Compare(Relation::Le) => (Ew::Le, "<="),
            BinaryOp::Compare(Relation::Gt) => (Ew::Gt, ">"),
            BinaryOp::Compare(Relation::Ge) => (Ew::Ge, ">="),
            BinaryOp::And => (Ew::And, "&"),
            BinaryOp::Or => (Ew::Or, "|"),
            BinaryOp::Xor => (Ew::Xor, "^"),
            BinaryOp::Shl => (Ew::Shl, "<<"),
            BinaryOp::Shr => (Ew::Shr, ">>"),
            BinaryOp::MatMul => return self.matmul(left, right, at),
        };
        self.operator(row, text, vec![left, right], at)
    }

    /// Whether a parameter was given whose default is `"none"`, and other comparisons that are decided while the function
    /// is compiled, as those of options are.
    fn known(&self, op: BinaryOp, left: &Value, right: &Value) -> Option<bool> {
        match (op, left, right) {
            (BinaryOp::And, Value::Bool(a), Value::Bool(b)) => Some(*a & *b),
            (BinaryOp::Or, Value::Bool(a), Value::Bool(b)) => Some(*a | *b),
            (BinaryOp::Xor, Value::Bool(a), Value::Bool(b)) => Some(*a ^ *b),
            (BinaryOp::Compare(Relation::Eq), Value::Bool(a), Value::Bool(b)) => Some(a == b),
            (BinaryOp::Compare(Relation::Ne), Value::Bool(a), Value::Bool(b)) => Some(a != b),
            (BinaryOp::Compare(relation @ (Relation::Eq | Relation::Ne)), a, b)
                if let Some(equal) = same_text(a, b) =>
            {
                Some(equal == (relation == Relation::Eq))
            }
            // Integers are options in helpers alone.
            (BinaryOp::Compare(_), Value::Literal(_), Value::Literal(_)) if self.frames.len() < 2 => None,
            (BinaryOp::Compare(relation), a, b) => {
                match self.graph.facts.decide(&a.as_dim()?, relation, &b.as_dim()?) {
                    Verdict::Proven => Some(true),
                    Verdict::Refuted => Some(false),
                    Verdict::Open => None,
                }
            }
            _ => None,
        }
    }

    /// Arithmetic on dimensions stays a dimension, so that its result can be an extent or a bound.
    fn dim_arithmetic(&self, op: BinaryOp, left: &Value, right: &Value) -> Option<Value> {
        let (a, b) = (left.as_dim()?, right.as_dim()?);
        if let (Value::Literal(a), Value::Literal(b)) = (left, right) {
            return number_arithmetic(op, a, b);
        }
        let facts = &self.graph.facts;
        let zero = Dim::constant(0);
        // Division truncates, which is the floor where both sides are known to be positive.
        let floors = || {
            facts.decide(&a, Relation::Ge, &zero) == Verdict::Proven
                && facts.decide(&b, Relation::Gt, &zero) == Verdict::Proven
        };
        let dim = match op {
            BinaryOp::Add => &a + &b,
            BinaryOp::Sub => &a - &b,
            BinaryOp::Mul => &a * &b,
            BinaryOp::Div if floors() => a.floor_div(&b),
            BinaryOp::Rem if floors() => a.modulo(&b),
            _ => return None,
        };
        Some(Value::Dim(dim))
    }

    /// Applies a row of the table; `text` is its name in errors.
    pub(super) fn elementwise(
        &mut self,
        row: Ew,
        text: &str,
        args: Vec<Placed>,
        at: Origin,
    ) -> Checked<Value> {
        let mut operands = Vec::with_capacity(args.len());
        let mut failed = None;
        for arg in &args {
            match self.operand(&arg.value, arg.at) {
                Ok(operand) => operands.push((operand, arg.at)),
                Err(stop) => failed = Some(stop),
            }
        }
        if let Some(stop) = failed {
            return Err(stop);
        }
        // The mask of a select has a type of its own.
        let own = usize::from(row == Ew::Select);
        if own == 1 {
            self.require_mask(text, &operands[0])?;
        }
        let found = self.unify(text, &operands[own..], at)?;
        if let Some(found) = found {
            self.require_element(row, text, found.dtype, &operands[own..], at)?;
        } else if needs_type(row) {
            let Some((Operand::Literal(literal), place)) = operands.last() else {
                return self.fail("argument-count", at, format!("`{text}` takes operands"));
            };
            let (literal, place) = (literal.clone(), *place);
            return Err(self.open_literal(&literal, place));
        } else if matches!(row.row().types, TypeRule::Float | TypeRule::OwnFloat) {
            return self.float_of_literals(row, operands, at);
        }
        let shape = self.broadcast_shape(text, &operands, at)?;
        let mut aligned = Vec::with_capacity(operands.len());
        for (position, (operand, place)) in operands.into_iter().enumerate() {
            let operand = if position < own { operand } else { self.settled(operand, found)? };
            aligned.push(self.expand(operand, &shape, place)?);
        }
        Ok(self.apply(Op::Elementwise(row), &aligned, shape, at)?.value())
    }

    /// A function of floats on literals alone: the result may only become a float.
    fn float_of_literals(&mut self, row: Ew, operands: Vec<(Operand, Origin)>, at: Origin) -> Checked<Value> {
        let shape = self.broadcast_shape("this function", &operands, at)?;
        let mut aligned = Vec::with_capacity(operands.len());
        for (operand, place) in operands {
            aligned.push(self.expand(operand, &shape, place)?);
        }
        match self.apply(Op::Elementwise(row), &aligned, shape, at)? {
            Operand::Literal(literal) => Ok(Value::Literal(float_only(&literal).into())),
            operand => Ok(operand.value()),
        }
    }

    fn require_mask(&mut self, text: &str, mask: &(Operand, Origin)) -> Checked<()> {
        match &mask.0 {
            Operand::Node(id) if self.graph.ty(*id).dtype == DType::Bool => Ok(()),
            operand => {
                let message =
                    format!("`{text}` chooses by a mask of bools, this is {}", self.show_operand(operand));
                let diagnostic = Diagnostic::new("element-type", message, mask.1);
                Err(self.report(diagnostic.help("compare it, such as `x != 0`")))
            }
        }
    }

    fn require_element(
        &mut self,
        row: Ew,
        text: &str,
        dtype: DType,
        operands: &[(Operand, Origin)],
        at: Origin,
    ) -> Checked<()> {
        let types = row.row().types;
        if types.takes(dtype) {
            return Ok(());
        }
        let typed = operands.iter().find(|(operand, _)| matches!(operand, Operand::Node(_)));
        let takes = types.accepts();
        let (words, help) = match (takes.contains(&DType::F32), takes.contains(&DType::I32)) {
            (true, false) => ("floats", "convert it first, such as with `as f32`"),
            (true, true) => ("numbers", "convert the bools first, such as with `as f32` or `as i32`"),
            _ => ("bools and integers", "compare the floats first, such as `x > 0`"),
        };
        let mut diagnostic =
            Diagnostic::new("element-type", format!("`{text}` takes {words}, not `{}`", dtype.name()), at);
        if let Some((operand, place)) = typed {
            diagnostic = diagnostic.label(*place, format!("this is {}", self.show_operand(operand)));
        }
        Err(self.report(diagnostic.help(help)))
    }

    /// The shape that all operands broadcast to.
    pub(super) fn broadcast_shape(
        &mut self,
        text: &str,
        operands: &[(Operand, Origin)],
        at: Origin,
    ) -> Checked<Vec<Dim>> {
        let mut shape: Vec<Dim> = Vec::new();
        for (position, (operand, _)) in operands.iter().enumerate() {
            let other = self.shape(operand);
            match self.join_shapes(&shape, &other) {
                Ok(joined) => shape = joined,
                Err(axis_from_end) => {
                    let against = self.conflicting(&operands[..position], &other).unwrap_or(0);
                    let diagnostic = self.broadcast_error(
                        text,
                        &operands[against],
                        &operands[position],
                        axis_from_end,
                        at,
                    );
                    return Err(self.report(diagnostic));
                }
            }
        }
        Ok(shape)
    }

    /// The first of the operands that does not broadcast with `shape`.
    fn conflicting(&self, operands: &[(Operand, Origin)], shape: &[Dim]) -> Option<usize> {
        operands.iter().position(|(operand, _)| self.join_shapes(&self.shape(operand), shape).is_err())
    }

    /// The shape that both broadcast to, or the axis, counted from the last, at which they conflict.
    ///
    /// An extent gives way only where its normal form is 1: a symbol never does.
    pub(super) fn join_shapes(&self, a: &[Dim], b: &[Dim]) -> Result<Vec<Dim>, usize> {
        let rank = a.len().max(b.len());
        let mut joined = Vec::with_capacity(rank);
        for from_end in (1..=rank).rev() {
            let (Some(left), Some(right)) = (from_last(a, from_end), from_last(b, from_end)) else {
                joined.extend(from_last(a, from_end).or(from_last(b, from_end)).cloned());
                continue;
            };
            if left == right || self.is_one(right) {
                joined.push(left.clone());
            } else if self.is_one(left) || self.graph.facts.same(left, right) {
                joined.push(right.clone());
            } else {
                return Err(from_end);
            }
        }
        Ok(joined)
    }

    /// Whether an extent is 1 for all values of the symbols by its normal form.
    pub(super) fn is_one(&self, dim: &Dim) -> bool {
        dim.is(1) || (dim.as_const().is_none() && self.graph.facts.normalize(dim).is(1))
    }

    fn broadcast_error(
        &self,
        text: &str,
        left: &(Operand, Origin),
        right: &(Operand, Origin),
        from_end: usize,
        at: Origin,
    ) -> Diagnostic {
        let (a, b) = (self.shape(&left.0), self.shape(&right.0));
        let shapes = format!("{} and {}", self.show_shape(&a), self.show_shape(&b));
        let diagnostic =
            Diagnostic::new("shape-mismatch", format!("the shapes of `{text}` do not fit: {shapes}"), at)
                .label(left.1, format!("this is {}", self.show_operand(&left.0)))
                .label(right.1, format!("this is {}", self.show_operand(&right.0)));
        let (Some(x), Some(y)) = (from_last(&a, from_end), from_last(&b, from_end)) else {
            return diagnostic;
        };
        if let Some(help) = self.leading_axes_help(&a, &b) {
            return diagnostic.help(help);
        }
        match self.graph.facts.decide(x, Relation::Eq, y) {
            Verdict::Open => {
                let clause = self.where_clause(x, Relation::Eq, y);
                diagnostic.help(format!("if they are always equal, say so: `{clause}`"))
            }
            _ => diagnostic.help(format!(
                "{} and {} differ; only an axis that is missing on the left or has the extent 1 is repeated",
                self.show(x),
                self.show(y)
            )),
        }
    }

    /// The way out where the shorter shape belongs to the leading axes of the longer one.
    fn leading_axes_help(&self, a: &[Dim], b: &[Dim]) -> Option<String> {
        let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
        let missing = long.len() - short.len();
        let leads = missing > 0 && long[..short.len()].iter().zip(short).all(|(x, y)| x == y);
        let axes: Vec<String> = (1..=missing).rev().map(|axis| format!("-{axis}")).collect();
        match axes.as_slice() {
            [one] if leads => {
                Some(format!("shapes align at the last axis; add one with `expand_dims(.., axis = {one})`"))
            }
            [..] if leads => Some(format!(
                "shapes align at the last axis; add axes with `expand_dims(.., axis = ({}))`",
                axes.join(", ")
            )),
            _ => None,
        }
    }

    /// `value as dtype`.
    pub(super) fn cast(&mut self, value: &Placed, dtype: DType, at: Origin) -> Checked<Value> {
        if self.in_constant
            && let Some(number) = value.value.as_int()
            && dtype != DType::Bool
        {
            return Ok(Value::Literal(Literal::int(number.into(), at).into()));
        }
        match self.operand(&value.value, value.at)? {
            // What floats were computed in before they became integers is for the user to say.
            Operand::Literal(literal)
                if literal.kind == Kind::Float && !literal.is_number() && !dtype.is_float() =>
            {
                Err(self.open_literal(&literal, value.at))
            }
            Operand::Literal(literal) => self.cast_literal(&literal, dtype, at),
            Operand::Node(id) if self.graph.ty(id).dtype == dtype => Ok(value.value.clone()),
            Operand::Node(id) => Ok(Value::Node(self.add(Op::Elementwise(Ew::Cast(dtype)), &[id], at)?)),
        }
    }

    fn cast_literal(&mut self, literal: &Literal, dtype: DType, at: Origin) -> Checked<Value> {
        // A float literal that is cast to an integer is truncated as a value of `f64`.
        let written = match (literal.kind, dtype) {
            (Kind::Float, dtype) if dtype.is_float() => dtype,
            (Kind::Float, _) => DType::F64,
            (Kind::Int, DType::Bool) => DType::I64,
            (Kind::Int, dtype) => dtype,
        };
        let id = self.settle(literal, written, at)?;
        if written == dtype {
            return Ok(Value::Node(id));
        }
        Ok(Value::Node(self.add(Op::Elementwise(Ew::Cast(dtype)), &[id], at)?))
    }
}

/// The literal as one that only floats may become.
fn float_only(literal: &Literal) -> Literal {
    Literal {
        kind: Kind::Float,
        shape: literal.shape.clone(),
        form: literal.form.clone(),
        at: literal.at,
        depth: literal.depth,
    }
}

/// The extent `from_end` axes from the end, 1 being the last.
fn from_last(shape: &[Dim], from_end: usize) -> Option<&Dim> {
    shape.len().checked_sub(from_end).map(|axis| &shape[axis])
}

/// Exact arithmetic on integer literals, as long as every number type holds the result exactly.
fn number_arithmetic(op: BinaryOp, a: &Literal, b: &Literal) -> Option<Value> {
    let (Form::Int(x), Form::Int(y)) = (&a.form, &b.form) else { return None };
    let result = match op {
        BinaryOp::Add => x.checked_add(*y)?,
        BinaryOp::Sub => x.checked_sub(*y)?,
        BinaryOp::Mul => x.checked_mul(*y)?,
        _ => return None,
    };
    let exact = 1 << 24;
    (-exact..=exact).contains(&result).then(|| Value::Literal(Literal::int(result, a.at).into()))
}

/// Whether the type of the operands cannot be told from the type of the result, or must not be any number.
fn needs_type(row: Ew) -> bool {
    matches!(
        row.row().types,
        TypeRule::Bits | TypeRule::FloatTest | TypeRule::Order | TypeRule::Equality | TypeRule::Cast(_)
    )
}
