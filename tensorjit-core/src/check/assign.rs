//! Assignments: a name, or a part of the value that it stands for, gets a new value of the same type.

use std::rc::Rc;

use super::report::{Checked, Stop};
use super::scope::Checker;
use super::targets::copied_name;
use super::value::{Operand, Placed, Record, Value};
use crate::diag::{Diagnostic, Origin};
use crate::graph::Type;
use crate::syntax::ast::{Expr, IndexItem, Step, Target};
use tensorjit_runtime::abi::DType;

impl Checker<'_> {
    /// `target = value;`
    pub(super) fn assign(&mut self, target: &Target, expr: &Expr, at: Origin) -> Checked<()> {
        let value = self.placed(expr);
        let name = &target.name;
        let frame = self.frame();
        let Some(position) = frame.bindings.iter().rposition(|binding| binding.name == name.text) else {
            return Err(self.lookup(&name.text, name.at).err().unwrap_or(Stop::Reported));
        };
        if !frame.bindings[position].assignable {
            let message = format!(
                "`{}` cannot be assigned: it is neither a `&mut` parameter nor bound by `let mut`",
                name.text
            );
            let help = format!(
                "bind the name anew with `let {0} = ..`, or declare it `let mut {0} = ..`",
                name.text
            );
            return Err(self.report(Diagnostic::new("not-assignable", message, at).help(help)));
        }
        if position < frame.outside {
            let message =
                format!("`{}` is bound outside and cannot be assigned in a closure or a branch", name.text);
            let help = format!(
                "let the closure or the branch give the new value, and assign `{}` to that",
                name.text
            );
            return Err(self.report(Diagnostic::new("not-assignable", message, at).help(help)));
        }
        let present = frame.bindings[position].value.clone();
        if let Value::Error = present {
            return Err(Stop::Reported);
        }
        let own = self.frame().targets.contains(&name.text) && copied_name(expr).is_none();
        let assigned = value.and_then(|value| {
            let assigned = self.replaced(&present, &target.steps, &name.text, &value)?;
            if own { self.variable_parts(assigned, at) } else { Ok(assigned) }
        });
        // After an error the name keeps its value: its type is right, and that is all that is read from here on.
        match assigned {
            Ok(value) => self.frame().bindings[position].value = value,
            // The type of a number without one is open, and nothing more is said of it.
            Err(Stop::Reported) if matches!(present, Value::Literal(_)) => {
                self.frame().bindings[position].value = Value::Error;
            }
            Err(Stop::Reported) => {}
            Err(bug) => return Err(bug),
        }
        Ok(())
    }

    /// Makes variables of the parts that are none yet.
    fn variable_parts(&mut self, value: Value, at: Origin) -> Checked<Value> {
        if self.all_variables(&value) { Ok(value) } else { self.variable(value, at) }
    }

    /// `present` with the part at the end of `steps` replaced; `path` is how it is written.
    fn replaced(&mut self, present: &Value, steps: &[Step], path: &str, new: &Placed) -> Checked<Value> {
        let Some((step, rest)) = steps.split_first() else { return self.renewed(present, path, new) };
        match (step, present) {
            (Step::Field(field), Value::Struct(record)) => {
                let position = self.record_field(record, field)?;
                let path = format!("{path}.{}", field.text);
                let mut values = record.values.clone();
                values[position] = self.replaced(&values[position], rest, &path, new)?;
                let (name, dims) = (record.name.clone(), record.dims.clone());
                Ok(Value::Struct(Rc::new(Record { name, dims, values })))
            }
            (Step::Index(items, at), Value::Array(elements)) => {
                let [IndexItem::At(index)] = items.as_slice() else {
                    return self.fail("statement-form", *at, "one element of an array is assigned at a time");
                };
                let position = self.array_position(index, elements.len(), "an index")?;
                if position >= elements.len() {
                    return self.outside(position as i64, elements.len(), index.span);
                }
                let path = format!("{path}[{position}]");
                let mut values = elements.to_vec();
                values[position] = self.replaced(&values[position], rest, &path, new)?;
                Ok(Value::Array(Rc::new(values)))
            }
            (Step::Index(_, at), _) => {
                let diagnostic =
                    Diagnostic::new("statement-form", "a part of a tensor cannot be assigned", *at);
                Err(self.report(diagnostic.help(
                    "assign the whole, as `m = concat([..], axis = 0);` or `m = select(mask, new, m);`",
                )))
            }
            (Step::Field(field), _) => {
                let found = self.show_value(present);
                let message =
                    format!("`{path}` is {found} and has no `.{}` that could be assigned", field.text);
                self.fail("field", field.at, message)
            }
        }
    }

    /// A new value for a name that stands for `present`: of the same type, which a literal takes.
    fn renewed(&mut self, present: &Value, path: &str, new: &Placed) -> Checked<Value> {
        let what = format!("`{path}`");
        match present {
            Value::Node(id) => {
                let ty = self.graph.ty(*id).clone();
                self.coerce(new, &ty, new.at, &what).map(Value::Node)
            }
            Value::Dim(_) if matches!(new.value, Value::Dim(_)) => Ok(new.value.clone()),
            Value::Bool(_) if matches!(new.value, Value::Bool(_)) => Ok(new.value.clone()),
            Value::Dim(_) => self.scalar(new, DType::I64, &what),
            Value::Bool(_) => self.scalar(new, DType::Bool, &what),
            Value::Constant(_, dtype) => self.scalar(new, *dtype, &what),
            Value::Struct(_) | Value::Array(_) => {
                if let Value::Error = new.value {
                    return Err(Stop::Reported);
                }
                if self.same_type(present, &new.value) {
                    return Ok(new.value.clone());
                }
                let (expected, found) = (self.show_value(present), self.show_value(&new.value));
                self.fail("struct-type", new.at, format!("{what} is {expected}, this is {found}"))
            }
            Value::Literal(_) | Value::List(_) => self.literal_renewed(present, &what, new),
            Value::Tuple(items) => {
                let Value::Tuple(parts) = &new.value else {
                    return self.fail(
                        "tuple-length",
                        new.at,
                        format!("{what} is a tuple of {}", items.len()),
                    );
                };
                if parts.len() != items.len() {
                    let message =
                        format!("{what} is a tuple of {}, this is one of {}", items.len(), parts.len());
                    return self.fail("tuple-length", new.at, message);
                }
                let mut renewed = Vec::with_capacity(items.len());
                for (position, (item, part)) in items.iter().zip(parts).enumerate() {
                    let value = self.renewed(&item.value, &format!("{path}.{position}"), part)?;
                    renewed.push(Placed { value, at: part.at });
                }
                Ok(Value::Tuple(renewed))
            }
            Value::Text(_) | Value::Elem(_) | Value::Closure | Value::Unit | Value::Error => {
                Err(Stop::Reported)
            }
        }
    }

    fn scalar(&mut self, new: &Placed, dtype: DType, what: &str) -> Checked<Value> {
        self.coerce(new, &Type::new(dtype, Vec::new()), new.at, what).map(Value::Node)
    }

    /// A name that stands for numbers without a type gets one by what is assigned; its shape stays.
    fn literal_renewed(&mut self, present: &Value, what: &str, new: &Placed) -> Checked<Value> {
        let (old, operand) = (self.operand(present, new.at)?, self.operand(&new.value, new.at)?);
        let (expected, found) = (self.shape(&old), self.shape(&operand));
        if self.same_shape(&expected, &found) {
            return Ok(match operand {
                Operand::Node(_) if matches!(new.value, Value::Dim(_)) => new.value.clone(),
                operand => operand.value(),
            });
        }
        let (expected, found) = (self.show_operand(&old), self.show_operand(&operand));
        let diagnostic =
            Diagnostic::new("shape-mismatch", format!("{what} is {expected}, this is {found}"), new.at);
        Err(self.report(diagnostic.help("begin with a value of the final shape, such as `zeros([N])`")))
    }
}
