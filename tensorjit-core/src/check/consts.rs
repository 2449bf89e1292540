//! Constants of a block.

use super::report::{Checked, Report, Stop};
use super::scope::{Checker, Items};
use super::value::{Form, Kind, Literal, Value};
use crate::diag::{Bug, Diagnostic};
use crate::dim::Dim;
use crate::syntax::ast::{Const, TypeKind};
use tensorjit_runtime::abi::DType;

/// The value of a constant, which may use the constants before it and those that its block imports.
pub(super) fn value(items: &Items<'_>, constant: &Const, scope: usize) -> Result<(Vec<Report>, Value), Bug> {
    let mut checker = Checker::new(items);
    checker.frame().scope = scope;
    checker.in_constant = true;
    let value = match checker.constant(constant) {
        Ok(value) => value,
        Err(Stop::Reported) => Value::Error,
        Err(Stop::Bug(bug)) => return Err(bug),
    };
    Ok((checker.reports, value))
}

impl Checker<'_> {
    fn constant(&mut self, constant: &Const) -> Checked<Value> {
        let elem = match &constant.ty.kind {
            TypeKind::Tensor { elem, shape } if shape.is_empty() => elem,
            _ => {
                let diagnostic = Diagnostic::new("const-value", "a constant is a scalar", constant.ty.at);
                return Err(self.report(diagnostic.help("write the tensor where it is used: `[1.0, 2.0]`")));
            }
        };
        // Rust's own constants of dimensions are mostly written so.
        let dtype = if elem.text == "usize" { DType::I64 } else { self.elem(elem)? };
        let value = self.placed(&constant.value)?;
        match (&value.value, dtype) {
            (Value::Bool(value), DType::Bool) => Ok(Value::Bool(*value)),
            (Value::Dim(dim), DType::I64) => Ok(Value::Dim(dim.clone())),
            (Value::Literal(literal), DType::I64) => match literal.form {
                Form::Int(value) => match i64::try_from(value) {
                    Ok(value) => Ok(Value::Dim(Dim::constant(value))),
                    Err(_) => self.fail(
                        "literal-range",
                        constant.value.span,
                        format!("{value} does not fit into `i64`"),
                    ),
                },
                _ => self.no_constant(constant),
            },
            (Value::Literal(literal), dtype) => self.scalar_constant(literal, dtype, constant),
            _ => self.no_constant(constant),
        }
    }

    fn scalar_constant(
        &mut self,
        literal: &std::rc::Rc<Literal>,
        dtype: DType,
        constant: &Const,
    ) -> Checked<Value> {
        let legal = match literal.kind {
            Kind::Int => dtype != DType::Bool,
            Kind::Float => dtype.is_float(),
        };
        if legal && literal.shape.is_empty() && self.graph.ids().next().is_none() {
            return Ok(Value::Constant(literal.clone(), dtype));
        }
        self.no_constant(constant)
    }

    fn no_constant<T>(&mut self, constant: &Const) -> Checked<T> {
        let name = constant.name.text.clone();
        let written = super::types::written_type(&constant.ty);
        let message = format!("the value of `{name}` is no constant of type {written}");
        let diagnostic = Diagnostic::new("const-value", message, constant.value.span);
        Err(self
            .report(diagnostic.help("a constant is made of numbers, constants before it, and arithmetic")))
    }
}
