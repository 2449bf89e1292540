//! Structs of tensors: their declarations, their types, their values, and the parts of values.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::layout::{Layout, MAX_LEAVES, StructLayout};
use super::report::{Checked, Report, Stop, closest, counted, listed};
use super::scope::{Checker, Frame, Items};
use super::types::axes;
use super::value::{Placed, Record, Value};
use super::{CheckedField, CheckedStruct};
use crate::diag::{Bug, Diagnostic, Origin};
use crate::dim::facts::SymbolInfo;
use crate::dim::{Dim, Sym};
use crate::graph::Type;
use crate::syntax::ast::{Expr, Extent, Field, Generic, Ident, IndexItem, Struct, TypeExpr, TypeKind};

/// How deep structs may lie in each other.
const MAX_DEPTH: usize = 64;

/// Checks a declaration; `None` for a struct that no Rust item is made of, or where it has errors.
pub(super) fn check(
    items: &Items<'_>,
    declared: &Struct,
) -> (Vec<Report>, Result<Option<CheckedStruct>, Bug>) {
    let mut checker = Checker::new(items);
    let checked = match checker.declaration(declared) {
        Ok(checked) => Ok(Some(checked)),
        Err(Stop::Reported) => Ok(None),
        Err(Stop::Bug(bug)) => Err(bug),
    };
    (checker.reports, checked)
}

impl<'a> Checker<'a> {
    fn declaration(&mut self, declared: &Struct) -> Checked<CheckedStruct> {
        self.frames.push(Frame::default());
        self.declared_dims(declared)?;
        let mut failed = None;
        self.structs.push(declared.name.text.clone());
        let mut names: Vec<&str> = Vec::new();
        let mut fields = Vec::new();
        for field in &declared.fields {
            let name = &field.name;
            if names.contains(&name.text.as_str()) {
                let message = format!("`{}` has two fields `{}`", declared.name.text, name.text);
                failed = Some(self.report(Diagnostic::new("duplicate-name", message, name.at)));
            }
            names.push(&name.text);
            match self.layout(&field.ty).and_then(|layout| self.require_field(declared, field, layout)) {
                Ok(layout) => fields.push(CheckedField {
                    name: name.text.clone(),
                    at: name.at,
                    attributes: field.attributes.clone(),
                    layout,
                }),
                Err(stop) => failed = Some(stop),
            }
        }
        self.structs.pop();
        if failed.is_none() {
            failed = self.require_used_dims(declared).err();
        }
        if fields.iter().fold(0_usize, |sum, field| sum.saturating_add(field.layout.count())) > MAX_LEAVES {
            let message = format!("`{}` is made of more than {MAX_LEAVES} tensors", declared.name.text);
            failed = Some(self.report(Diagnostic::new("too-long", message, declared.name.at)));
        }
        if declared.fields.is_empty() {
            let message = format!("struct `{}` has no fields", declared.name.text);
            failed = Some(self.report(Diagnostic::new("struct-form", message, declared.name.at)));
        }
        failed.map_or(Ok(()), Err)?;
        Ok(CheckedStruct {
            name: declared.name.text.clone(),
            name_at: declared.name.at,
            attributes: declared.attributes.clone(),
            visibility: declared.visibility.clone(),
            public: declared.public,
            fields,
            facts: std::mem::take(&mut self.graph.facts),
        })
    }

    /// Declares the dimensions of a struct as symbols of its own.
    fn declared_dims(&mut self, declared: &Struct) -> Checked<()> {
        let mut failed = None;
        for generic in &declared.generics {
            let name = match generic {
                Generic::Dim { name, low: None, high: None } => name,
                Generic::Dim { low, high, .. } => {
                    let at = low.as_ref().or(high.as_ref()).map_or(declared.name.at, |bound| bound.span);
                    let diagnostic =
                        Diagnostic::new("struct-form", "dimensions of structs have no bounds", at);
                    failed = Some(
                        self.report(diagnostic.help("write them at the functions that take the struct")),
                    );
                    continue;
                }
                Generic::Elem { name, .. } | Generic::Axes { name } => {
                    let message = format!("a struct has dimensions, and is not generic over `{}`", name.text);
                    let diagnostic = Diagnostic::new("struct-form", message, name.at);
                    failed = Some(self.report(diagnostic.help("write out the element types and axes")));
                    continue;
                }
            };
            let sym = Sym(self.graph.facts.symbols.len() as u32);
            let info = SymbolInfo { name: name.text.clone(), low: 0, high: i64::MAX };
            self.graph.facts.symbols.push(info);
            if self.frame().dims.insert(name.text.clone(), Some(Dim::sym(sym))).is_some() {
                let message = format!("`{}` is declared twice", name.text);
                failed = Some(self.report(Diagnostic::new("duplicate-name", message, name.at)));
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// What a field may be beside what any type may be.
    fn require_field(&mut self, declared: &Struct, field: &Field, layout: Layout) -> Checked<Layout> {
        let mut rank = 0;
        layout.leaves("", &mut |_, ty| rank = rank.max(ty.rank()));
        if declared.public && rank > super::function::MAX_RANK {
            let message = format!(
                "tensors of public structs have at most {}, this has {rank}",
                axes(super::function::MAX_RANK)
            );
            return self.fail("rank", field.ty.at, message);
        }
        if declared.public {
            self.require_public(&field.ty, &format!("field `{}` of the public struct", field.name.text))?;
        }
        Ok(layout)
    }

    /// Demands that all structs in a type of something public are public.
    pub(super) fn require_public(&mut self, ty: &TypeExpr, what: &str) -> Checked<()> {
        match &ty.kind {
            TypeKind::Tensor { elem: name, .. } | TypeKind::Struct { name, .. } => {
                match self.items.structs.get(name.text.as_str()) {
                    Some(found) if !found.public => {
                        let message = format!("{what} has the private type `{}`", name.text);
                        let diagnostic = Diagnostic::new("private-struct", message, name.at)
                            .label(found.name.at, "declared here")
                            .help(format!("write `pub struct {}`", name.text));
                        Err(self.report(diagnostic))
                    }
                    _ => Ok(()),
                }
            }
            TypeKind::Array { element, .. } => self.require_public(element, what),
            TypeKind::Tuple(types) => types.iter().try_for_each(|ty| self.require_public(ty, what)),
        }
    }

    /// A dimension that is in no field could not be found from a value.
    fn require_used_dims(&mut self, declared: &Struct) -> Checked<()> {
        let mut used = Vec::new();
        for field in &declared.fields {
            names_of_type(&field.ty, &mut |name| used.push(name.to_owned()));
        }
        for generic in &declared.generics {
            if let Generic::Dim { name, .. } = generic
                && !used.contains(&name.text)
            {
                let message =
                    format!("no field of `{}` has the dimension `{}`", declared.name.text, name.text);
                return self.fail("struct-form", name.at, message);
            }
        }
        Ok(())
    }

    /// The struct that a written type names, and its dimensions as written.
    pub(super) fn struct_type<'t>(&self, ty: &'t TypeExpr) -> Option<(&'t Ident, &'t [Extent])> {
        match &ty.kind {
            TypeKind::Struct { name, dims } => Some((name, dims)),
            TypeKind::Tensor { elem, .. } if self.items.structs.contains_key(elem.text.as_str()) => {
                Some((elem, &[]))
            }
            _ => None,
        }
    }

    /// The type that is written, every name of which is known.
    pub(super) fn layout(&mut self, ty: &TypeExpr) -> Checked<Layout> {
        if let Some((name, dims)) = self.struct_type(ty) {
            let declared = self.declared(name, ty, dims.len())?;
            let mut values = Vec::with_capacity(dims.len());
            for extent in dims {
                values.push(self.extent(extent)?);
            }
            return self.struct_layout(declared, name, values);
        }
        match &ty.kind {
            TypeKind::Array { element, len } => {
                self.require_structs(element)?;
                let layout = self.layout(element)?;
                let len = self.array_len(len, ty.at)?;
                let layout = Layout::Array(Rc::new(layout), len);
                self.require_few_leaves(&layout, ty.at)?;
                Ok(layout)
            }
            _ => Ok(Layout::Tensor(self.resolve(ty)?)),
        }
    }

    fn require_few_leaves(&mut self, layout: &Layout, at: Origin) -> Checked<()> {
        if layout.count() <= MAX_LEAVES {
            return Ok(());
        }
        let message = format!("this is made of more than {MAX_LEAVES} tensors");
        let diagnostic = Diagnostic::new("too-long", message, at);
        Err(self.report(
            diagnostic.help("each of them is an argument; put them into one tensor with a leading axis"),
        ))
    }

    fn extent(&mut self, extent: &Extent) -> Checked<Dim> {
        match extent {
            Extent::Dim(expr) => self.dim(expr),
            Extent::Axes(name) => {
                let message = format!("`..{}` is no dimension of a struct", name.text);
                self.fail("struct-form", name.at, message)
            }
        }
    }

    /// The elements of arrays are structs: numbers in a row are a tensor.
    fn require_structs(&mut self, element: &TypeExpr) -> Checked<()> {
        match (&element.kind, self.struct_type(element)) {
            (TypeKind::Array { .. } | TypeKind::Struct { .. }, _) | (_, Some(_)) => Ok(()),
            _ => {
                let written = super::types::written_type(element);
                let message = format!("the elements of an array are structs, not {written}");
                let diagnostic = Diagnostic::new("struct-type", message, element.at);
                Err(self.report(
                    diagnostic.help("a tensor is written with its element type first, as `f32[6, 3]`"),
                ))
            }
        }
    }

    fn array_len(&mut self, len: &Extent, at: Origin) -> Checked<usize> {
        let dim = self.extent(len)?;
        match dim.as_const().map(usize::try_from) {
            Some(Ok(len)) if len > 0 => Ok(len),
            Some(_) => self.fail("struct-type", at, "an array has at least one element"),
            None => {
                let message = format!("the length of an array is a constant, `{}` is none", self.show(&dim));
                self.fail("struct-type", at, message)
            }
        }
    }

    /// The declaration of a struct that is given so many dimensions.
    fn declared(&mut self, name: &Ident, ty: &TypeExpr, given: usize) -> Checked<&'a Struct> {
        let items = self.items;
        let Some(declared) = items.structs.get(name.text.as_str()).copied() else {
            let diagnostic =
                Diagnostic::new("unknown-type", format!("there is no struct `{}`", name.text), name.at);
            let close = closest(&name.text, items.structs.keys().copied());
            let help = close.map(|close| format!("did you mean `{close}`?"));
            return Err(self.report(Diagnostic { help, ..diagnostic }));
        };
        if let TypeKind::Tensor { shape, .. } = &ty.kind
            && !shape.is_empty()
        {
            let message = format!("`{}` is a struct: its dimensions stand in angle brackets", name.text);
            let diagnostic = Diagnostic::new("struct-type", message, ty.at);
            return Err(self.report(diagnostic.help(format!("write `{}`", written_struct(declared)))));
        }
        if declared.generics.len() != given {
            let dims = counted(declared.generics.len(), "dimension", "dimensions");
            let message = format!("`{}` has {dims}, {given} are written", name.text);
            let diagnostic = Diagnostic::new("struct-type", message, ty.at)
                .label(declared.name.at, format!("declared as `{}`", written_struct(declared)));
            return Err(self.report(diagnostic));
        }
        if items.broken.contains(name.text.as_str()) {
            return Err(Stop::Reported);
        }
        Ok(declared)
    }

    /// The types of the fields of a struct with these dimensions.
    fn struct_layout(&mut self, declared: &Struct, at: &Ident, dims: Vec<Dim>) -> Checked<Layout> {
        let name = &declared.name.text;
        if let Some(first) = self.structs.iter().position(|known| known == name) {
            let mut names: Vec<&str> = self.structs[first..].iter().map(String::as_str).collect();
            let least = (0..names.len()).min_by_key(|i| names[*i]).unwrap_or(0);
            names.rotate_left(least);
            let message = match names.as_slice() {
                [one] => format!("`{one}` contains itself"),
                _ => format!("{} contain each other in a circle", listed(names)),
            };
            let diagnostic = Diagnostic::new("recursion", message, at.at);
            return Err(self.report(diagnostic.help("a struct is made of tensors, of which there is an end")));
        }
        let key = (name.clone(), dims);
        if let Some(known) = self.layouts.get(&key) {
            return Ok(known.clone());
        }
        let dims = key.1.clone();
        if self.structs.len() > MAX_DEPTH {
            let message = format!("structs lie more than {MAX_DEPTH} deep in each other here");
            return self.fail("too-deep", at.at, message);
        }
        self.structs.push(name.clone());
        self.frames.push(frame(declared, dims.iter().map(|dim| Some(dim.clone()))));
        let fields: Checked<Vec<(String, Layout)>> = declared
            .fields
            .iter()
            .map(|field| Ok((field.name.text.clone(), self.layout(&field.ty)?)))
            .collect();
        self.frames.pop();
        self.structs.pop();
        let layout = Layout::Struct(Rc::new(StructLayout { name: name.clone(), dims, fields: fields? }));
        self.require_few_leaves(&layout, at.at)?;
        self.layouts.insert(key, layout.clone());
        Ok(layout)
    }

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
        let items = self.items;
        let Some(declared) = items.structs.get(name.text.as_str()).copied() else {
            let diagnostic =
                Diagnostic::new("unknown-type", format!("there is no struct `{}`", name.text), name.at);
            let close = closest(&name.text, items.structs.keys().copied());
            let help = close.map(|close| format!("did you mean `{close}`?"));
            return Err(self.report(Diagnostic { help, ..diagnostic }));
        };
        if items.broken.contains(name.text.as_str()) {
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
        self.frames.push(frame(declared, std::iter::repeat(None)));
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

    fn show_struct(&self, name: &str, dims: &[Dim]) -> String {
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

/// A frame with the dimensions of a struct.
fn frame(declared: &Struct, dims: impl Iterator<Item = Option<Dim>>) -> Frame {
    let mut frame = Frame::default();
    for (generic, dim) in declared.generics.iter().zip(dims) {
        if let Generic::Dim { name, .. } = generic {
            frame.dims.insert(name.text.clone(), dim);
        }
    }
    frame
}

/// `Layer<I, O>`
fn written_struct(declared: &Struct) -> String {
    let dims: Vec<&str> = declared
        .generics
        .iter()
        .map(|generic| match generic {
            Generic::Dim { name, .. } | Generic::Elem { name, .. } | Generic::Axes { name } => {
                name.text.as_str()
            }
        })
        .collect();
    match dims.as_slice() {
        [] => declared.name.text.clone(),
        dims => format!("{}<{}>", declared.name.text, dims.join(", ")),
    }
}

/// Calls `visit` with every name in the dimensions of a type.
fn names_of_type(ty: &TypeExpr, visit: &mut dyn FnMut(&str)) {
    let mut extent = |extent: &Extent| {
        if let Extent::Dim(expr) = extent {
            super::types::names(expr, visit);
        }
    };
    match &ty.kind {
        TypeKind::Tensor { shape, .. } => shape.iter().for_each(extent),
        TypeKind::Struct { dims, .. } => dims.iter().for_each(extent),
        TypeKind::Array { element, len } => {
            extent(len);
            names_of_type(element, visit);
        }
        TypeKind::Tuple(types) => types.iter().for_each(|ty| names_of_type(ty, visit)),
    }
}
