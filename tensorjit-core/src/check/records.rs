//! Values made of tensors: structs and arrays of them, their parts, and whether they have a type.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::layout::Layout;
use super::report::{Checked, Stop, closest, counted, listed};
use super::scope::Checker;
use super::structs::frame;
use super::value::{Placed, Record, Value};
use crate::diag::{Bug, Diagnostic, Origin};
use crate::dim::Dim;
use crate::graph::Type;
use crate::syntax::ast::{Expr, Field, Generic, Ident, IndexItem, Struct};

impl<'a> Checker<'a> {
    /// `Layer { w: a, b, ..base }`
    pub(super) fn struct_value(
        &mut self,
        name: &Ident,
        fields: &[(Ident, Expr)],
        base: Option<&Expr>,
        at: Origin,
    ) -> Checked<Value> {
        let mut given: BTreeMap<&str, Checked<Placed>> = BTreeMap::new();
        let mut twice = None;
        for (field, value) in fields {
            let value = self.placed(value);
            if given.insert(&field.text, value).is_some() {
                let message = format!("`{}` is given twice", field.text);
                twice = Some(self.report(Diagnostic::new("duplicate-argument", message, field.at)));
            }
        }
        let base = base.map(|base| self.placed(base)).transpose();
        let declared = self.known_struct(name)?;
        if self.items.broken.contains(declared.name.text.as_str()) {
            return Err(Stop::Reported);
        }
        self.require_known_fields(declared, fields)?;
        let base = self.base_of(declared, base?)?;
        twice.map_or(Ok(()), Err)?;
        let mut values = Vec::with_capacity(declared.fields.len());
        let mut missing = Vec::new();
        for (position, field) in declared.fields.iter().enumerate() {
            let from_base =
                base.as_ref().map(|(record, at)| Placed { value: record.values[position].clone(), at: *at });
            match given.remove(field.name.text.as_str()) {
                Some(value) => values.push(value?),
                None => match from_base {
                    Some(value) => values.push(value),
                    None => missing.push(field.name.text.as_str()),
                },
            }
        }
        if !missing.is_empty() {
            let message = format!("this `{}` lacks {}", name.text, listed(missing));
            let diagnostic = Diagnostic::new("missing-field", message, name.at);
            return Err(self.report(diagnostic.label(declared.name.at, "declared here")));
        }
        self.record(declared, &values, at)
    }

    fn require_known_fields(&mut self, declared: &Struct, fields: &[(Ident, Expr)]) -> Checked<()> {
        let mut failed = None;
        for (field, _) in fields {
            if !declared.fields.iter().any(|known| known.name.text == field.text) {
                failed = Some(self.unknown_field(declared, field));
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn unknown_field(&mut self, declared: &Struct, field: &Ident) -> Stop {
        let message = format!("`{}` has no field `{}`", declared.name.text, field.text);
        let known = || declared.fields.iter().map(|field| field.name.text.as_str());
        let help = match closest(&field.text, known()) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("its fields are {}", listed(known())),
        };
        self.report(Diagnostic::new("field", message, field.at).help(help))
    }

    /// The value after `..`, which is a struct of the same name.
    fn base_of(&mut self, declared: &Struct, base: Option<Placed>) -> Checked<Option<(Rc<Record>, Origin)>> {
        match base {
            None => Ok(None),
            Some(Placed { value: Value::Struct(record), at }) if record.name == declared.name.text => {
                Ok(Some((record, at)))
            }
            Some(Placed { value: Value::Error, .. }) => Err(Stop::Reported),
            Some(Placed { value, at }) => {
                let message = format!(
                    "the base of a `{}` is another one, this is {}",
                    declared.name.text,
                    self.show_value(&value)
                );
                self.fail("struct-type", at, message)
            }
        }
    }

    /// A value of a struct; its dimensions follow from its fields.
    fn record(&mut self, declared: &Struct, values: &[Placed], at: Origin) -> Checked<Value> {
        self.frames.push(frame(self.items, declared, std::iter::repeat(None)));
        let record = self.matched_record(declared, values, at);
        self.frames.pop();
        record
    }

    fn matched_record(&mut self, declared: &Struct, values: &[Placed], at: Origin) -> Checked<Value> {
        let mut failed = None;
        let mut matched = vec![Value::Error; values.len()];
        // Literals take the shapes that the others have.
        for literals in [false, true] {
            for ((field, value), slot) in declared.fields.iter().zip(values).zip(&mut matched) {
                if matches!(value.value, Value::Literal(_) | Value::List(_)) != literals {
                    continue;
                }
                match self.match_type(&field.ty, value) {
                    Ok(Some(value)) => *slot = value,
                    Ok(None) => failed = Some(self.field_mismatch(declared, field, value)),
                    Err(stop) => failed = Some(stop),
                }
            }
        }
        failed.map_or(Ok(()), Err)?;
        // Extents over dimensions that only a later field determines.
        for ((field, value), placed) in declared.fields.iter().zip(&matched).zip(values) {
            if !self.computed_extents_fit(&field.ty, value, placed.at)? {
                return Err(self.field_mismatch(declared, field, placed));
            }
        }
        let mut dims = Vec::with_capacity(declared.generics.len());
        for generic in &declared.generics {
            let Generic::Dim { name, .. } = generic else { return Err(Stop::Reported) };
            match self.frame().dims.get(&name.text) {
                Some(Some(dim)) => dims.push(dim.clone()),
                _ => {
                    let message =
                        format!("the fields do not say what `{}` of `{}` is", name.text, declared.name.text);
                    return self.fail("symbol-open", at, message);
                }
            }
        }
        let mut leaves = Vec::with_capacity(matched.len());
        for (value, placed) in matched.into_iter().zip(values) {
            leaves.push(match value {
                value @ (Value::Struct(_) | Value::Array(_)) => value,
                value => Value::Node(self.typed(&value, placed.at)?),
            });
        }
        Ok(Value::Struct(Rc::new(Record { name: declared.name.text.clone(), dims, values: leaves })))
    }

    fn field_mismatch(&mut self, declared: &Struct, field: &Field, value: &Placed) -> Stop {
        if let Value::Error = value.value {
            return Stop::Reported;
        }
        let found = self.show_value(&value.value);
        let written = super::types::written_type(&field.ty);
        let message =
            format!("`{}` of `{}` is {written}, this is {found}", field.name.text, declared.name.text);
        let diagnostic = Diagnostic::new("struct-type", message, value.at);
        self.report(match self.known_names(&field.ty) {
            Some(known) => diagnostic.help(format!("by the other fields {known}")),
            None => diagnostic.label(field.ty.at, "declared here"),
        })
    }

    /// `value.field` of a struct.
    pub(super) fn record_field(&mut self, record: &Record, field: &Ident) -> Checked<usize> {
        let items = self.items;
        let Some(declared) = items.structs.get(record.name.as_str()).copied() else {
            return Err(Stop::Bug(Bug::new("check", format!("no struct {}", record.name))));
        };
        match declared.fields.iter().position(|known| known.name.text == field.text) {
            Some(position) => Ok(position),
            None => Err(self.unknown_field(declared, field)),
        }
    }

    /// `array[item]`: an element, or a part of an array.
    pub(super) fn array_index(
        &mut self,
        elements: &Rc<Vec<Value>>,
        items: &[IndexItem],
        at: Origin,
    ) -> Checked<Value> {
        let [item] = items else {
            let message = format!("{} for an array of structs", counted(items.len(), "index", "indices"));
            return self.fail("index-count", at, message);
        };
        let len = elements.len();
        match item {
            IndexItem::Rest(_) => Ok(Value::Array(elements.clone())),
            IndexItem::At(expr) => {
                let position = self.array_position(expr, len, "an index")?;
                match elements.get(position) {
                    Some(element) => Ok(element.clone()),
                    None => self.outside(position as i64, len, expr.span),
                }
            }
            IndexItem::Range { from, to, step, at } => {
                if let Some(step) = step {
                    return self.fail("index-step", step.span, "a part of an array has no step");
                }
                let start = from.as_ref().map_or(Ok(0), |from| self.array_position(from, len, "a bound"))?;
                let end = to.as_ref().map_or(Ok(len), |to| self.array_position(to, len, "a bound"))?;
                match elements.get(start..end) {
                    Some([]) => self.fail("struct-type", *at, "an array has at least one element"),
                    Some(part) => Ok(Value::Array(Rc::new(part.to_vec()))),
                    None => self.outside(start.max(end) as i64, len, *at),
                }
            }
        }
    }

    /// The position of an element: a constant, as a negative literal counted from the end.
    pub(super) fn array_position(&mut self, expr: &Expr, len: usize, what: &str) -> Checked<usize> {
        let value = self.eval(expr)?;
        let Some(index) = value.as_int() else {
            let message = format!("{what} of an array of structs is a constant");
            let diagnostic = Diagnostic::new("index-type", message, expr.span);
            return Err(
                self.report(diagnostic.help("go over all elements with `for`, or keep them in one tensor"))
            );
        };
        let counted = if value.counts_from_end() { index + len as i64 } else { index };
        match usize::try_from(counted) {
            Ok(position) => Ok(position),
            Err(_) => self.outside(index, len, expr.span),
        }
    }

    pub(super) fn outside<T>(&mut self, index: i64, len: usize, at: Origin) -> Checked<T> {
        let elements = counted(len, "element", "elements");
        self.fail("field", at, format!("there is no `[{index}]` in an array of {elements}"))
    }

    /// `[a, b]`, where the elements are structs.
    pub(super) fn array_value(&mut self, items: Vec<Placed>) -> Checked<Value> {
        let Some((first, others)) = items.split_first() else { return Ok(Value::List(items)) };
        for other in others {
            if !self.same_type(&first.value, &other.value) {
                let message = format!(
                    "the elements of an array have one type, these are {} and {}",
                    self.show_value(&first.value),
                    self.show_value(&other.value)
                );
                let diagnostic =
                    Diagnostic::new("struct-type", message, other.at).label(first.at, "the first");
                return Err(self.report(diagnostic));
            }
        }
        Ok(Value::Array(Rc::new(items.into_iter().map(|item| item.value).collect())))
    }

    /// Whether two values, at least one of them made of tensors, have one type.
    pub(super) fn same_type(&self, a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Struct(a), Value::Struct(b)) => a.name == b.name && self.same_shape(&a.dims, &b.dims),
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| self.same_type(a, b))
            }
            _ => false,
        }
    }

    /// Whether a value has the type of a layout.
    fn fits(&self, value: &Value, layout: &Layout) -> bool {
        match (value, layout) {
            (Value::Struct(record), Layout::Struct(layout)) => {
                record.name == layout.name && self.same_shape(&record.dims, &layout.dims)
            }
            (Value::Array(elements), Layout::Array(element, len)) => {
                elements.len() == *len && elements.iter().all(|value| self.fits(value, element))
            }
            _ => false,
        }
    }

    /// Checks that a value has exactly a type; literals take it.  `what` names the place in errors.
    pub(super) fn coerce_to(
        &mut self,
        value: &Placed,
        layout: &Layout,
        ty_at: Origin,
        what: &str,
    ) -> Checked<Value> {
        if let Layout::Tensor(ty) = layout {
            return self.coerce(value, ty, ty_at, what).map(Value::Node);
        }
        if let Value::Error = value.value {
            return Err(Stop::Reported);
        }
        if self.fits(&value.value, layout) {
            return Ok(value.value.clone());
        }
        let (expected, found) = (self.show_layout(layout), self.show_value(&value.value));
        let diagnostic =
            Diagnostic::new("struct-type", format!("{what} is {expected}, this is {found}"), value.at);
        Err(self.report(if ty_at == value.at {
            diagnostic
        } else {
            diagnostic.label(ty_at, "declared here")
        }))
    }

    /// A type in the user's names.
    pub(super) fn show_layout(&self, layout: &Layout) -> String {
        match layout {
            Layout::Tensor(ty) => self.show_type(ty),
            Layout::Struct(layout) => self.show_struct(&layout.name, &layout.dims),
            Layout::Array(element, len) => format!("[{}; {len}]", self.show_layout(element)),
        }
    }

    pub(super) fn show_struct(&self, name: &str, dims: &[Dim]) -> String {
        let dims: Vec<String> = dims.iter().map(|dim| self.show(dim)).collect();
        if dims.is_empty() { name.to_owned() } else { format!("{name}<{}>", dims.join(", ")) }
    }

    /// The type of a value in the user's names.
    pub(super) fn show_value(&mut self, value: &Value) -> String {
        match value {
            Value::Struct(record) => self.show_struct(&record.name, &record.dims),
            Value::Array(elements) => match elements.first() {
                Some(first) => format!("[{}; {}]", self.show_value(first), elements.len()),
                None => "an empty array".to_owned(),
            },
            Value::Node(id) => self.show_type(self.graph.ty(*id)),
            Value::Dim(_) => "i64".to_owned(),
            Value::Bool(_) => "bool".to_owned(),
            Value::Constant(_, dtype) => dtype.name().to_owned(),
            Value::Literal(literal) if literal.shape.is_empty() => "a number".to_owned(),
            Value::Literal(literal) => format!("numbers of shape {}", self.show_shape(&literal.shape)),
            Value::List(_) => "a tensor literal".to_owned(),
            Value::Tuple(_) => "a tuple".to_owned(),
            Value::Text(_) => "a string".to_owned(),
            Value::Elem(_) => "a type".to_owned(),
            Value::Closure => "a closure".to_owned(),
            Value::Unit | Value::Error => "a block without a value".to_owned(),
        }
    }

    /// The type of the leaf that a value is.
    pub(super) fn leaf_type(&self, value: &Value) -> Option<Type> {
        match value {
            Value::Node(id) => Some(self.graph.ty(*id).clone()),
            _ => None,
        }
    }
}
