//! Expressions and statements.

use super::report::{Checked, Stop, counted};
use super::scope::{Binding, Checker, dtype_by_name};
use super::targets::{copied_name, is_indexed};
use super::value::{Operand, Placed, Value};
use crate::diag::Diagnostic;
use crate::graph::NodeId;
use crate::syntax::ast::{Body, Expr, ExprKind, Ident, Pattern, Statement, TypeExpr, TypeKind, UnaryOp};

impl Checker<'_> {
    /// The value of an expression.
    pub(super) fn eval(&mut self, expr: &Expr) -> Checked<Value> {
        match &expr.kind {
            ExprKind::Int(value, suffix) => self.int_literal(*value, suffix.as_deref(), expr.at),
            ExprKind::Float(text, suffix) => self.float_literal(text, suffix.as_deref(), expr.at),
            ExprKind::Bool(value) => Ok(Value::Bool(*value)),
            ExprKind::Str(text) => Ok(Value::Text(text.clone())),
            ExprKind::Name(name) => self.lookup(name, expr.at),
            ExprKind::Unary(op, inner) => match (op, &inner.kind) {
                // The least number of a type has a magnitude that the type does not hold.
                (UnaryOp::Neg, ExprKind::Int(value, Some(suffix))) => {
                    self.int_literal(-value, Some(suffix), expr.at)
                }
                _ => {
                    let value = self.placed(inner)?;
                    self.unary(*op, value, expr.at)
                }
            },
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.placed(left), self.placed(right));
                self.binary(*op, left?, right?, expr.at)
            }
            ExprKind::Call { name, args, options, .. } => self.call(name, args, options, expr.span),
            ExprKind::Cast(inner, ty) => {
                let (value, dtype) = (self.placed(inner), self.elem(ty));
                self.cast(&value?, dtype?, expr.at)
            }
            ExprKind::Block(body) => self.scoped(body),
            ExprKind::Closure(..) => Ok(Value::Closure),
            ExprKind::If { condition, then, otherwise } => self.branch(condition, [then, otherwise], expr.at),
            ExprKind::Tuple(items) => Ok(Value::Tuple(self.all(items)?)),
            ExprKind::Axes(name) => Ok(Value::List(self.extents_of(name)?)),
            ExprKind::Array(items) => {
                let items = self.spliced(items)?;
                if items.iter().any(|item| item.value.is_compound()) {
                    return self.array_value(items);
                }
                Ok(Value::List(items))
            }
            ExprKind::Index(value, items) => {
                let value = self.placed(value)?;
                if let Value::Array(elements) = &value.value {
                    return self.array_index(elements, items, expr.at);
                }
                self.index(value, items, expr.at)
            }
            ExprKind::Struct { name, fields, base } => {
                self.struct_value(name, fields, base.as_deref(), expr.span)
            }
            ExprKind::Field(inner, field) => {
                let value = self.placed(inner)?;
                self.field(&value, field)
            }
        }
    }

    /// The value of an expression with its place.
    pub(super) fn placed(&mut self, expr: &Expr) -> Checked<Placed> {
        Ok(Placed { value: self.eval(expr)?, at: expr.span })
    }

    /// The values of all expressions, so that the errors of all are found.
    fn all(&mut self, exprs: &[Expr]) -> Checked<Vec<Placed>> {
        let values: Vec<Checked<Placed>> = exprs.iter().map(|expr| self.placed(expr)).collect();
        values.into_iter().collect()
    }

    /// The values of the elements of an array; `..S` among them is the extents of these axes.
    fn spliced(&mut self, exprs: &[Expr]) -> Checked<Vec<Placed>> {
        let mut items = Vec::with_capacity(exprs.len());
        for (expr, value) in exprs.iter().zip(self.all(exprs)?) {
            match (&expr.kind, value.value) {
                (ExprKind::Axes(_), Value::List(extents)) => items.extend(extents),
                (_, value) => items.push(Placed { value, at: expr.span }),
            }
        }
        Ok(items)
    }

    fn extents_of(&mut self, name: &Ident) -> Checked<Vec<Placed>> {
        let extents = self.axes_by_name(name)?;
        Ok(extents.into_iter().map(|dim| Placed { value: Value::Dim(dim), at: name.at }).collect())
    }

    fn field(&mut self, value: &Placed, field: &Ident) -> Checked<Value> {
        let items = match &value.value {
            Value::Tuple(items) => items,
            Value::Struct(record) => {
                let position = self.record_field(record, field)?;
                return Ok(record.values[position].clone());
            }
            Value::Error => return Err(Stop::Reported),
            other => {
                let found = self.show_value(other);
                let message =
                    format!("only structs and tuples have fields, {found} has no `.{}`", field.text);
                return self.fail("field", field.at, message);
            }
        };
        match field.text.parse::<usize>().ok().and_then(|position| items.get(position)) {
            Some(item) => Ok(item.value.clone()),
            None => {
                let message = format!("there is no `.{}` in a tuple of {}", field.text, items.len());
                self.fail("field", field.at, message)
            }
        }
    }

    /// A block: what it binds ends with it.
    pub(super) fn scoped(&mut self, body: &Body) -> Checked<Value> {
        let outer = self.frame().bindings.len();
        let value = self.body(body);
        self.frame().bindings.truncate(outer);
        value
    }

    /// All statements and the value; a statement that fails does not hide the errors of the others.
    pub(super) fn body(&mut self, body: &Body) -> Checked<Value> {
        for statement in &body.statements {
            self.statement(statement)?;
        }
        match &body.value {
            Some(value) => self.eval(value),
            None => Ok(Value::Unit),
        }
    }

    /// Checks a statement; its errors leave an error value behind, so that only bugs are returned.
    fn statement(&mut self, statement: &Statement) -> Checked<()> {
        let checked = match statement {
            Statement::Let { pattern, ty, value } => match self.let_value(pattern, ty.as_ref(), value) {
                Ok(value) => self.bind(pattern, value),
                Err(Stop::Reported) => self.bind(pattern, Placed { value: Value::Error, at: value.span }),
                Err(bug) => Err(bug),
            },
            Statement::Assign { target, value, at } => self.assign(target, value, *at),
            Statement::For { pattern, over, body, at } => self.for_loop(pattern, over, body, *at),
        };
        match checked {
            Err(Stop::Reported) => Ok(()),
            other => other,
        }
    }

    fn let_value(&mut self, pattern: &Pattern, ty: Option<&TypeExpr>, expr: &Expr) -> Checked<Placed> {
        let value = self.placed(expr);
        let mut value = match ty {
            None => value?,
            Some(ty) => self.ascribe(value, ty)?,
        };
        if let Value::Unit = value.value {
            return self.fail("no-value", expr.span, "this block has no value to bind");
        }
        if let Value::Closure = value.value {
            let diagnostic =
                Diagnostic::new("closure", "a closure is an argument of a loop and has no name", expr.span);
            return Err(self.report(diagnostic.help("write a helper `fn` in the block")));
        }
        if self.is_target(pattern) {
            value.value = self.own_variables(value.value, expr)?;
        }
        Ok(value)
    }

    /// Makes variables of the parts of a value that are no mere names: a copy of a name is the same variable.
    fn own_variables(&mut self, value: Value, expr: &Expr) -> Checked<Value> {
        match (value, &expr.kind) {
            // A constant of the block is no variable yet.
            (value @ Value::Constant(..), _) => {
                let id = self.typed(&value, expr.span)?;
                self.variable(Value::Node(id), expr.span)
            }
            // An element of an array is the variable that it was; one of a tensor is a new value.
            (value, _)
                if copied_name(expr).is_some() && (!is_indexed(expr) || self.all_variables(&value)) =>
            {
                Ok(value)
            }
            (Value::Tuple(mut items), ExprKind::Tuple(exprs)) => {
                for (item, expr) in items.iter_mut().zip(exprs) {
                    item.value = self.own_variables(item.value.clone(), expr)?;
                }
                Ok(Value::Tuple(items))
            }
            (value, _) => self.variable(value, expr.span),
        }
    }

    pub(super) fn is_target(&mut self, pattern: &Pattern) -> bool {
        match pattern {
            Pattern::Name(name) | Pattern::Mutable(name) => self.frame().targets.contains(&name.text),
            Pattern::Tuple(patterns, _) => patterns.iter().any(|pattern| self.is_target(pattern)),
        }
    }

    /// Checks an ascription.
    fn ascribe(&mut self, value: Checked<Placed>, ty: &TypeExpr) -> Checked<Placed> {
        match &ty.kind {
            _ if self.struct_type(ty).is_some() || matches!(ty.kind, TypeKind::Array { .. }) => {
                let layout = self.layout(ty);
                let (value, layout) = (value?, layout?);
                let at = value.at;
                Ok(Placed { value: self.coerce_to(&value, &layout, ty.at, "the declared type")?, at })
            }
            TypeKind::Tensor { .. }
            | TypeKind::Struct { .. }
            | TypeKind::Array { .. }
            | TypeKind::Choice(_) => {
                let resolved = self.resolve(ty);
                let (value, resolved) = (value?, resolved?);
                let id = self.coerce(&value, &resolved, ty.at, "the declared type")?;
                // A dimension stays one, so that it can be used in shapes.
                let value = match value.value {
                    Value::Dim(dim) => Placed { value: Value::Dim(dim), at: value.at },
                    _ => Placed { value: Value::Node(id), at: value.at },
                };
                Ok(value)
            }
            TypeKind::Tuple(types) => {
                let value = value?;
                let Value::Tuple(items) = value.value else {
                    return self.fail("tuple-length", value.at, "a tuple is needed here");
                };
                if items.len() != types.len() {
                    let message = format!("a tuple of {} is written, this has {}", types.len(), items.len());
                    return self.fail("tuple-length", value.at, message);
                }
                let ascribed: Vec<Checked<Placed>> =
                    items.into_iter().zip(types).map(|(item, ty)| self.ascribe(Ok(item), ty)).collect();
                let items: Checked<Vec<Placed>> = ascribed.into_iter().collect();
                Ok(Placed { value: Value::Tuple(items?), at: value.at })
            }
        }
    }

    /// Binds the names of a pattern.
    pub(super) fn bind(&mut self, pattern: &Pattern, value: Placed) -> Checked<()> {
        match pattern {
            Pattern::Name(name) | Pattern::Mutable(name) => {
                if dtype_by_name(&name.text).is_some() {
                    let message = format!("`{}` is a type and cannot be a name", name.text);
                    return self.fail("reserved-name", name.at, message);
                }
                if name.text != "_" {
                    let assignable = matches!(pattern, Pattern::Mutable(_));
                    let (name, value) = (name.text.clone(), value.value);
                    self.frame().bindings.push(Binding { name, value, state: false, assignable });
                }
                Ok(())
            }
            Pattern::Tuple(patterns, at) => {
                let items = match value.value {
                    Value::Tuple(items) if items.len() == patterns.len() => items,
                    Value::Error => Vec::new(),
                    other => {
                        let found = match &other {
                            Value::Tuple(items) => format!("a tuple of {}", items.len()),
                            _ => "not a tuple".to_owned(),
                        };
                        let names = counted(patterns.len(), "name", "names");
                        let diagnostic = Diagnostic::new(
                            "tuple-length",
                            format!("{names} for a value that is {found}"),
                            *at,
                        )
                        .label(value.at, format!("this is {found}"));
                        self.report(diagnostic);
                        Vec::new()
                    }
                };
                let mut items = items.into_iter();
                for pattern in patterns {
                    let item = items.next().unwrap_or(Placed { value: Value::Error, at: value.at });
                    self.bind(pattern, item)?;
                }
                Ok(())
            }
        }
    }

    /// The node of a value, where it has a type.
    pub(super) fn node_of(&self, operand: &Operand) -> Option<NodeId> {
        match operand {
            Operand::Node(id) => Some(*id),
            Operand::Literal(_) => None,
        }
    }
}
