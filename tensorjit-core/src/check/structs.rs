//! Structs of tensors: their declarations and their types.

use std::rc::Rc;

use super::layout::{Layout, MAX_LEAVES, StructLayout};
use super::report::{Checked, Report, Stop, closest, counted, listed};
use super::scope::{Checker, Frame, Items};
use super::types::axes;
use super::value::Value;
use super::{CheckedField, CheckedStruct};
use crate::diag::{Bug, Diagnostic, Origin};
use crate::dim::facts::SymbolInfo;
use crate::dim::{Dim, Sym};
use crate::syntax::ast::{Extent, Field, Generic, Ident, Struct, TypeExpr, TypeKind, plain_name};

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
                match self.struct_named(&name.text) {
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
            TypeKind::Choice(_) => Ok(()),
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
            TypeKind::Tensor { elem, .. } if self.struct_named(&elem.text).is_some() => Some((elem, &[])),
            _ => None,
        }
    }

    /// Whether a value is of another struct than a type, one of the same name.
    pub(super) fn is_namesake(&self, ty: &TypeExpr, value: &Value) -> bool {
        let (Some((name, _)), Value::Struct(record)) = (self.struct_type(ty), value) else { return false };
        self.struct_named(&name.text).is_some_and(|declared| {
            let declared = &declared.name.text;
            *declared != record.name && plain_name(declared) == plain_name(&record.name)
        })
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

    /// The declaration of that name.
    pub(super) fn known_struct(&mut self, name: &Ident) -> Checked<&'a Struct> {
        if let Some(declared) = self.struct_named(&name.text) {
            return Ok(declared);
        }
        let help = closest(&name.text, self.names_of(&self.items.structs))
            .map(|close| format!("did you mean `{close}`?"));
        let diagnostic =
            Diagnostic::new("unknown-type", format!("there is no struct `{}`", name.text), name.at);
        Err(self.report(Diagnostic { help, ..diagnostic }))
    }

    /// The declaration of a struct that is given so many dimensions.
    fn declared(&mut self, name: &Ident, ty: &TypeExpr, given: usize) -> Checked<&'a Struct> {
        let declared = self.known_struct(name)?;
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
        if self.items.broken.contains(declared.name.text.as_str()) {
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
        self.frames.push(frame(self.items, declared, dims.iter().map(|dim| Some(dim.clone()))));
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
}

/// A frame with the dimensions of a struct.
pub(super) fn frame(items: &Items<'_>, declared: &Struct, dims: impl Iterator<Item = Option<Dim>>) -> Frame {
    let mut frame = Frame { scope: items.home(&declared.name.text), ..Frame::default() };
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
        TypeKind::Choice(_) => {}
    }
}
