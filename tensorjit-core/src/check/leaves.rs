//! Functions of structs and arrays of structs, leaf by leaf.

use std::rc::Rc;

use super::report::{Checked, Stop};
use super::scope::Checker;
use super::value::{Placed, Record, Value};
use crate::diag::{Diagnostic, Origin};
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op};

/// What is applied to the leaves at one place of all operands.
type Leafwise<'f, 'a> = dyn FnMut(&mut Checker<'a>, Vec<Placed>) -> Checked<Value> + 'f;

impl<'a> Checker<'a> {
    /// Applies a function to the leaves of its operands that are made of tensors; the others stay as they are.
    ///
    /// The operands made of tensors have one type, and so has the result: `text` names the function in errors.
    pub(super) fn leafwise(
        &mut self,
        text: &str,
        args: &[Placed],
        at: Origin,
        apply: &mut Leafwise<'_, 'a>,
    ) -> Checked<Value> {
        let mut compounds = args.iter().enumerate().filter(|(_, arg)| arg.value.is_compound());
        let Some((model, first)) = compounds.next() else { return apply(self, args.to_vec()) };
        for (_, other) in compounds {
            if !self.same_type(&first.value, &other.value) {
                let (a, b) = (self.show_value(&first.value), self.show_value(&other.value));
                let message =
                    format!("`{text}` goes leaf by leaf over values of one type, these are {a} and {b}");
                let diagnostic = Diagnostic::new("struct-type", message, at)
                    .label(first.at, format!("this is {a}"))
                    .label(other.at, format!("this is {b}"));
                return Err(self.report(diagnostic));
            }
        }
        self.each_leaf(text, args, model, at, apply)
    }

    /// Demands that what meets a struct leaf by leaf is a scalar.
    pub(super) fn require_scalars(&mut self, text: &str, args: &[Placed]) -> Checked<()> {
        for arg in args.iter().filter(|arg| !arg.value.is_compound()) {
            let operand = self.operand(&arg.value, arg.at)?;
            if !self.shape(&operand).is_empty() {
                let found = self.show_operand(&operand);
                let message =
                    format!("`{text}` of a struct is with another one or with a scalar, this is {found}");
                return self.fail("struct-type", arg.at, message);
            }
        }
        Ok(())
    }

    fn each_leaf(
        &mut self,
        text: &str,
        args: &[Placed],
        model: usize,
        at: Origin,
        apply: &mut Leafwise<'_, 'a>,
    ) -> Checked<Value> {
        match &args[model].value {
            Value::Struct(record) => {
                let mut values = Vec::with_capacity(record.values.len());
                for position in 0..record.values.len() {
                    let part = parts(args, position);
                    values.push(self.each_leaf(text, &part, model, at, apply)?);
                }
                Ok(Value::Struct(Rc::new(Record {
                    name: record.name.clone(),
                    dims: record.dims.clone(),
                    values,
                })))
            }
            Value::Array(elements) => {
                let mut values = Vec::with_capacity(elements.len());
                for position in 0..elements.len() {
                    let part = parts(args, position);
                    values.push(self.each_leaf(text, &part, model, at, apply)?);
                }
                Ok(Value::Array(Rc::new(values)))
            }
            leaf => {
                let expected = self.leaf_type(leaf);
                let value = apply(self, args.to_vec())?;
                let id = self.typed(&value, at)?;
                let found = self.graph.ty(id).clone();
                match expected {
                    Some(expected)
                        if expected.dtype != found.dtype
                            || !self.same_shape(&expected.shape, &found.shape) =>
                    {
                        let (expected, found) = (self.show_type(&expected), self.show_type(&found));
                        let message = format!(
                            "`{text}` makes {found} of a leaf that is {expected}, so that there is no such struct"
                        );
                        let diagnostic = Diagnostic::new("struct-type", message, at);
                        Err(self
                            .report(diagnostic.help("apply it to the fields, and build the struct you want")))
                    }
                    _ => Ok(Value::Node(id)),
                }
            }
        }
    }

    /// `sum(params)` and the like: the fold of all leaves, where it has a meaning.
    pub(super) fn fold_leaves(
        &mut self,
        text: &str,
        value: &Value,
        at: Origin,
        fold: &mut dyn FnMut(&mut Checker<'a>, Placed) -> Checked<Value>,
    ) -> Checked<Option<Value>> {
        let Some((_, join)) = FOLDS.iter().find(|(name, _)| *name == text) else { return Ok(None) };
        let mut total: Option<Placed> = None;
        for leaf in leaves(value) {
            let next = Placed { value: fold(self, Placed { value: Value::Node(leaf), at })?, at };
            total = Some(match total {
                None => next,
                Some(total) => Placed { value: self.elementwise(*join, text, vec![total, next], at)?, at },
            });
        }
        Ok(total.map(|total| total.value))
    }

    /// Whether every leaf is a variable or an input, by which derivatives can be taken.
    pub(super) fn all_variables(&self, value: &Value) -> bool {
        match value {
            Value::Node(id) => matches!(self.graph.node(*id).op, Op::Input(_) | Op::Variable(_)),
            Value::Tuple(items) => items.iter().all(|item| self.all_variables(&item.value)),
            Value::Struct(record) => record.values.iter().all(|value| self.all_variables(value)),
            Value::Array(elements) => elements.iter().all(|value| self.all_variables(value)),
            _ => false,
        }
    }

    /// A value with every leaf replaced.
    pub(super) fn map_leaves(
        &mut self,
        value: &Value,
        map: &mut dyn FnMut(&mut Checker<'a>, NodeId) -> Checked<NodeId>,
    ) -> Checked<Value> {
        match value {
            Value::Node(id) => Ok(Value::Node(map(self, *id)?)),
            Value::Struct(record) => {
                let values: Checked<Vec<Value>> =
                    record.values.iter().map(|value| self.map_leaves(value, map)).collect();
                let (name, dims) = (record.name.clone(), record.dims.clone());
                Ok(Value::Struct(Rc::new(Record { name, dims, values: values? })))
            }
            Value::Array(elements) => {
                let values: Checked<Vec<Value>> =
                    elements.iter().map(|value| self.map_leaves(value, map)).collect();
                Ok(Value::Array(Rc::new(values?)))
            }
            Value::Tuple(items) => {
                let mut mapped = Vec::with_capacity(items.len());
                for item in items {
                    mapped.push(Placed { value: self.map_leaves(&item.value, map)?, at: item.at });
                }
                Ok(Value::Tuple(mapped))
            }
            _ => Err(Stop::Reported),
        }
    }
}

/// Reductions of all elements that are taken of all leaves, and how those of two leaves are joined.
const FOLDS: &[(&str, Ew)] =
    &[("sum", Ew::Add), ("max", Ew::Maximum), ("min", Ew::Minimum), ("all", Ew::And), ("any", Ew::Or)];

/// The leaves of a value in order.
pub(super) fn leaves(value: &Value) -> Vec<NodeId> {
    fn collect(value: &Value, into: &mut Vec<NodeId>) {
        match value {
            Value::Node(id) => into.push(*id),
            Value::Struct(record) => record.values.iter().for_each(|value| collect(value, into)),
            Value::Array(elements) => elements.iter().for_each(|value| collect(value, into)),
            Value::Tuple(items) => items.iter().for_each(|item| collect(&item.value, into)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(value, &mut found);
    found
}

/// The first struct or array of structs among what a value is made of.
pub(super) fn compound_in(value: &Placed) -> Option<&Placed> {
    match &value.value {
        Value::Tuple(items) => items.iter().find_map(compound_in),
        other => other.is_compound().then_some(value),
    }
}

/// The field or element at `position` of every operand made of tensors.
fn parts(args: &[Placed], position: usize) -> Vec<Placed> {
    let part = |value: &Value| match value {
        Value::Struct(record) => record.values[position].clone(),
        Value::Array(elements) => elements[position].clone(),
        other => other.clone(),
    };
    args.iter().map(|arg| Placed { value: part(&arg.value), at: arg.at }).collect()
}
