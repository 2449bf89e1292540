//! Helpers and functions of the prelude, inlined at each call.

use std::collections::BTreeSet;

use tensorjit_runtime::abi::{DType, Relation};

use super::call::Call;
use super::leaves::leaves;
use super::report::{Checked, listed};
use super::scope::{Checker, Frame, GenericElem};
use super::targets::targets;
use super::types::{names, written_dim, written_type};
use super::value::{Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::graph::Op;
use crate::graph::table::Ew;
use crate::syntax::ast::{Expr, ExprKind, Extent, Function, Generic, Ident, Param, TypeExpr, TypeKind};

/// How many calls may lie one inside the other.
const MAX_DEPTH: usize = 64;

/// How many calls one function may inline: helpers that call others twice would double without end.
const MAX_CALLS: u32 = 10_000;

/// The kinds of parameters that are constants of the call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionKind<'p> {
    /// An integer or a dimension.
    Int,
    /// A truth value.
    Bool,
    /// One axis or several, or `"all"`.
    Axes,
    /// One of these strings.
    Choice(&'p [String]),
}

impl OptionKind<'_> {
    /// What a parameter is, where it is no tensor.
    fn of(param: &Param) -> Option<OptionKind<'_>> {
        let (elem, shape) = match &param.ty.kind {
            TypeKind::Tensor { elem, shape } => (elem, shape),
            TypeKind::Choice(texts) => return Some(OptionKind::Choice(texts)),
            _ => return None,
        };
        match (elem.text.as_str(), shape.is_empty()) {
            ("int", true) => Some(OptionKind::Int),
            ("axes", true) => Some(OptionKind::Axes),
            ("bool", true) if param.default.is_some() => Some(OptionKind::Bool),
            _ => None,
        }
    }
}

impl Checker<'_> {
    /// The value of a call of a function that is written in the language.
    pub(super) fn inline(
        &mut self,
        function: &Function,
        call: &Call<'_>,
        name_at: Origin,
        library: bool,
    ) -> Checked<Value> {
        let name = &function.name.text;
        if !library && let Some(first) = self.active.iter().position(|active| active == name) {
            return Err(self.circle(first, name_at));
        }
        self.require_room(function, name_at)?;
        let outermost = library && self.library.is_none();
        if outermost && let Some((half, call)) = self.widened(function, call)? {
            let result = self.inline(function, &call, name_at, library)?;
            return self.recast(&result, DType::F32, half, call.at);
        }
        let scope = Frame::home(self.items, function, library);
        let frame = Frame { targets: targets(&function.body), scope, ..generics(function) };
        // The library calls none of the block's functions, one of which may have its functions' names.
        self.active.push(if library { String::new() } else { name.clone() });
        self.frames.push(frame);
        let result = self.inline_in_frame(function, call, library, outermost);
        self.frames.pop();
        self.active.pop();
        result
    }

    /// The call with `f32` for floats of 16 bits, and their type, where a function of the library that is generic over
    /// floats is given such: it computes in `f32`, and its results are rounded once.
    fn widened<'c>(&mut self, function: &Function, call: &Call<'c>) -> Checked<Option<(DType, Call<'c>)>> {
        let floats = |generic: &Generic| match generic {
            Generic::Elem { bound, .. } => matches!(bound.text.as_str(), "float" | "any"),
            _ => false,
        };
        if !function.generics.iter().any(floats) {
            return Ok(None);
        }
        let given = call.args.iter().flatten().flat_map(|arg| leaves(&arg.value));
        let types: BTreeSet<DType> =
            given.map(|id| self.graph.ty(id).dtype).filter(|dtype| dtype.is_float()).collect();
        // Another float is a mistake, to be told in the types that were given.
        let only = types.first().copied().filter(|dtype| dtype.is_half() && types.len() == 1);
        let Some(half) = only else { return Ok(None) };
        let mut args = call.args.clone();
        for arg in args.iter_mut().flatten() {
            arg.value = self.recast(&arg.value, half, DType::F32, call.at)?;
        }
        Ok(Some((half, Call { name: call.name, at: call.at, args })))
    }

    /// The value with what has elements of type `from` converted to type `to`.
    fn recast(&mut self, value: &Value, from: DType, to: DType, at: Origin) -> Checked<Value> {
        match value {
            Value::Node(_) | Value::Struct(_) | Value::Array(_) => {
                self.map_leaves(value, &mut |checker, leaf| match checker.graph.ty(leaf).dtype == from {
                    true => checker.add(Op::Elementwise(Ew::Cast(to)), &[leaf], at),
                    false => Ok(leaf),
                })
            }
            Value::Tuple(items) => {
                let mut converted = Vec::with_capacity(items.len());
                for Placed { value, at } in items {
                    converted.push(Placed { value: self.recast(value, from, to, *at)?, at: *at });
                }
                Ok(Value::Tuple(converted))
            }
            other => Ok(other.clone()),
        }
    }

    /// Refuses calls that cannot be inlined: of functions with state, too deep, or too many.
    fn require_room(&mut self, function: &Function, at: Origin) -> Checked<()> {
        let name = &function.name.text;
        if let Some(state) = function.params.iter().find(|param| param.mutable) {
            let message = format!(
                "`{name}` has the state `{}` and cannot be called in a tensor function",
                state.name.text
            );
            let diagnostic = Diagnostic::new("state-in-helper", message, at);
            return Err(
                self.report(diagnostic.help("return the new value from a helper, and assign it here"))
            );
        }
        self.inlinings += 1;
        if self.active.len() > MAX_DEPTH || self.inlinings > MAX_CALLS {
            let message = format!("the call of `{name}` makes the function too large: calls are inlined");
            return self.fail("too-deep", at, message);
        }
        Ok(())
    }

    /// The error of functions that call each other; from wherever it is found, it is told in the same words.
    fn circle(&mut self, first: usize, at: Origin) -> super::report::Stop {
        let mut names: Vec<&str> = self.active[first..].iter().map(String::as_str).collect();
        let least = (0..names.len()).min_by_key(|i| names[*i]).unwrap_or(0);
        names.rotate_left(least);
        let message = match names.as_slice() {
            [one] => format!("`{one}` calls itself"),
            _ => format!("{} call each other in a circle", listed(names)),
        };
        let diagnostic = Diagnostic::new("recursion", message, at);
        self.report(diagnostic.help("calls are inlined, so that they must end"))
    }

    fn inline_in_frame(
        &mut self,
        function: &Function,
        call: &Call<'_>,
        library: bool,
        outermost: bool,
    ) -> Checked<Value> {
        // Errors about the arguments belong to the caller; those of the body to the callee.
        let given = self.bind_params(function, call)?;
        self.check_bounds(function, call)?;
        let abroad = self.abroad;
        if outermost {
            self.library = Some((call.at, call.name.to_owned()));
        } else if !library {
            self.inlined.push(function.name.text.clone());
            self.abroad = abroad.or_else(|| self.items.is_imported(&function.name.text).then_some(call.at));
        }
        let result = self.body(&function.body).and_then(|value| self.result(function, value));
        let result = result.and_then(|result| self.with_rule(function, &given, result, call.at));
        if outermost {
            self.library = None;
        } else if !library {
            self.inlined.pop();
        }
        self.abroad = abroad;
        result
    }

    /// Binds parameters: constants first, for shapes may use them; then tensors, for literals take their type.
    /// Gives their values.
    fn bind_params(&mut self, function: &Function, call: &Call<'_>) -> Checked<Vec<Value>> {
        let mut args = Vec::with_capacity(function.params.len());
        for (position, param) in function.params.iter().enumerate() {
            args.push(match call.args.get(position) {
                Some(Some(arg)) => arg.placed(),
                _ => self.default(param, call)?,
            });
        }
        let mut values: Vec<Option<Value>> = vec![None; args.len()];
        for pass in [Pass::Constants, Pass::Typed, Pass::Literals] {
            for ((param, arg), value) in function.params.iter().zip(&args).zip(&mut values) {
                if Pass::of(param, &arg.value) == pass {
                    *value = Some(self.bind_param(function, param, arg.clone(), call)?);
                }
            }
        }
        self.check_extents(function, &args, &values, call)?;
        let mut given = Vec::with_capacity(values.len());
        for (param, value) in function.params.iter().zip(values) {
            let mut value = value.unwrap_or(Value::Error);
            // The argument of a parameter that is differentiated by is a variable of the helper's own.
            if self.frame().targets.contains(&param.name.text) {
                value = self.variable(value, call.at)?;
            }
            self.frame().bind(param.name.text.clone(), value.clone());
            given.push(value);
        }
        Ok(given)
    }

    /// Checks the extents over symbols that only a later argument determined; what none determines is solved for
    /// where the extent is linear in it.
    fn check_extents(
        &mut self,
        function: &Function,
        args: &[Placed],
        values: &[Option<Value>],
        call: &Call<'_>,
    ) -> Checked<()> {
        for ((param, arg), value) in function.params.iter().zip(args).zip(values) {
            let Some(value) = value else { continue };
            let given = OptionKind::of(param).is_none() && !matches!(value, Value::Text(_));
            if given && !self.computed_extents_fit(&param.ty, value, arg.at)? {
                return Err(self.argument_mismatch(function, param, arg, call));
            }
        }
        Ok(())
    }

    fn default(&mut self, param: &Param, call: &Call<'_>) -> Checked<Placed> {
        match &param.default {
            Some(expr) => {
                let value = self.eval(expr)?;
                Ok(Placed { value, at: call.at })
            }
            None => self.fail("argument-count", call.at, format!("this call lacks `{}`", param.name.text)),
        }
    }

    fn bind_param(
        &mut self,
        function: &Function,
        param: &Param,
        value: Placed,
        call: &Call<'_>,
    ) -> Checked<Value> {
        let Some(kind) = OptionKind::of(param) else {
            if matches!(&value.value, Value::Text(text) if is_default(param, text)) {
                return Ok(value.value);
            }
            return match self.match_type(&param.ty, &value)? {
                Some(value) => Ok(value),
                None => Err(self.argument_mismatch(function, param, &value, call)),
            };
        };
        let name = &param.name.text;
        let value = match (kind, value.value) {
            // A truth value chooses where the strings `"true"` and `"false"` are among the choices.
            (OptionKind::Choice(_), Value::Bool(chosen)) => {
                Placed { value: Value::Text(chosen.to_string()), at: value.at }
            }
            (_, given) => Placed { value: given, at: value.at },
        };
        let legal = match (kind, &value.value) {
            (OptionKind::Int, Value::Text(text)) => is_default(param, text),
            (OptionKind::Int, found) => found.as_dim().is_some(),
            (OptionKind::Bool, Value::Bool(_)) => true,
            (OptionKind::Axes, Value::Text(text)) => text == "all",
            (OptionKind::Axes, Value::Tuple(items) | Value::List(items)) => {
                items.iter().all(|item| item.value.as_int().is_some())
            }
            (OptionKind::Axes, found) => found.as_int().is_some(),
            (OptionKind::Choice(texts), Value::Text(text)) => texts.contains(text),
            _ => false,
        };
        if !legal {
            let what = match kind {
                OptionKind::Int => "an integer known at compile time".to_owned(),
                OptionKind::Bool => "`true` or `false`".to_owned(),
                OptionKind::Axes => "an axis or a tuple of axes, such as `0` or `(0, -1)`".to_owned(),
                OptionKind::Choice(texts) => {
                    let texts = texts.iter().filter(|text| !matches!(text.as_str(), "true" | "false"));
                    let quoted: Vec<String> = texts.map(|text| format!("\"{text}\"")).collect();
                    format!("one of {}", listed(quoted.iter().map(String::as_str)))
                }
            };
            let message = format!("`{name}` of `{}` is {what}", call.name);
            return self.fail("option-value", value.at, message);
        }
        if kind == OptionKind::Int
            && let Some(dim) = value.value.as_dim()
        {
            self.frame().dims.insert(name.clone(), Some(dim));
        }
        Ok(value.value)
    }

    fn argument_mismatch(
        &mut self,
        function: &Function,
        param: &Param,
        value: &Placed,
        call: &Call<'_>,
    ) -> super::report::Stop {
        let found = match self.shown_or_error(value) {
            Ok(found) => found,
            Err(stop) => return stop,
        };
        let name = &param.name.text;
        let message = format!("`{name}` of `{}` is {}, this is {found}", call.name, written_type(&param.ty));
        let mut diagnostic = Diagnostic::new("argument-type", message, value.at);
        if self.is_namesake(&param.ty, &value.value) {
            diagnostic = diagnostic.help("two blocks have a struct of this name each, which are two types");
        } else if let Some(known) = self.known_names(&param.ty) {
            diagnostic = diagnostic.help(format!("in this call {known}"));
        } else if self.library.is_none() && !super::call::is_known(&function.name.text) {
            diagnostic = diagnostic.label(param.ty.at, "declared here".to_owned());
        }
        self.report(diagnostic)
    }

    /// The type of a value in words; tensors as operators see them.
    fn shown_or_error(&mut self, value: &Placed) -> Result<String, super::report::Stop> {
        match &value.value {
            Value::Tuple(_) | Value::Struct(_) | Value::Array(_) => Ok(self.show_value(&value.value)),
            other => {
                let operand = self.operand(other, value.at)?;
                Ok(self.show_operand(&operand))
            }
        }
    }

    /// What the names of a written type stand for in this call, as far as arguments have determined them.
    pub(super) fn known_names(&self, ty: &TypeExpr) -> Option<String> {
        let (elem, shape): (&Ident, &[Extent]) = match &ty.kind {
            TypeKind::Tensor { elem, shape } => (elem, shape),
            TypeKind::Struct { name, dims } => (name, dims),
            TypeKind::Array { element, .. } => return self.known_names(element),
            TypeKind::Tuple(_) | TypeKind::Choice(_) => return None,
        };
        let frame = self.frames.last()?;
        let mut known = Vec::new();
        if let Some(GenericElem { dtype: Some(dtype), .. }) = frame.elems.get(&elem.text) {
            known.push(format!("`{}` is {}", elem.text, dtype.name()));
        }
        if let Some(Some(model)) = frame.models.get(&elem.text) {
            let shown = match model {
                Value::Node(id) => Some(self.show_type(self.graph.ty(*id))),
                Value::Struct(record) => Some(self.show_struct(&record.name, &record.dims)),
                _ => None,
            };
            known.extend(shown.map(|shown| format!("`{}` is {shown}", elem.text)));
        }
        for extent in shape {
            match extent {
                Extent::Axes(name) => {
                    if let Some(Some(axes)) = frame.axes.get(&name.text) {
                        known.push(format!("`..{}` is {}", name.text, self.show_shape(axes)));
                    }
                }
                Extent::Dim(expr) => {
                    let written = written_dim(expr);
                    if let Some(Some(dim)) = frame.dims.get(&written) {
                        let fact = format!("`{written}` is {}", self.show(dim));
                        // That a name stands for a symbol of the same name says nothing.
                        if fact != format!("`{written}` is {written}") && !known.contains(&fact) {
                            known.push(fact);
                        }
                    }
                }
            }
        }
        (!known.is_empty()).then(|| known.join(", "))
    }

    /// Demands the bounds and the `where` clauses of the callee.
    fn check_bounds(&mut self, function: &Function, call: &Call<'_>) -> Checked<()> {
        for generic in &function.generics {
            let Generic::Dim { name, low, high } = generic else { continue };
            let Some(Some(dim)) = self.frame().dims.get(&name.text).cloned() else { continue };
            let why = format!("`{}` of `{}` must keep its bounds", name.text, call.name);
            let bounds: [(&Option<Expr>, Relation); 2] = [(low, Relation::Ge), (high, Relation::Le)];
            for (bound, relation) in bounds {
                if let Some(expr) = bound {
                    let bound = self.dim(expr)?;
                    self.demand(&dim, relation, &bound, call.at, &why)?;
                }
            }
        }
        for condition in &function.conditions {
            let stated = self.condition(condition)?;
            let why = format!("`{}` must keep its `where` clause", call.name);
            self.demand(&stated.left, stated.relation, &stated.right, call.at, &why)?;
        }
        Ok(())
    }

    /// Checks the value of the body against the declared type.
    fn result(&mut self, function: &Function, value: Value) -> Checked<Value> {
        let at = function.body.value.as_ref().map_or(function.body.at, |expr| expr.span);
        match &function.result {
            None => Ok(value),
            Some(ty) => self.result_part(function, ty, Placed { value, at }),
        }
    }

    fn result_part(&mut self, function: &Function, ty: &TypeExpr, value: Placed) -> Checked<Value> {
        if let TypeKind::Tensor { elem, shape } = &ty.kind
            && elem.text == "int"
            && shape.is_empty()
        {
            return Ok(value.value);
        }
        if let Value::Unit = value.value {
            let message = format!("the body of `{}` has no value", function.name.text);
            let diagnostic = Diagnostic::new("no-value", message, value.at);
            return Err(self.report(diagnostic.label(ty.at, "but a type is declared here")));
        }
        if let Some(value) = self.match_type(ty, &value)? {
            return Ok(value);
        }
        let found = self.shown_or_error(&value)?;
        let message =
            format!("the result of `{}` is {}, this is {found}", function.name.text, written_type(ty));
        let diagnostic = Diagnostic::new("shape-mismatch", message, value.at).label(ty.at, "declared here");
        Err(self.report(match self.known_names(ty) {
            Some(known) => diagnostic.help(format!("in this call {known}")),
            None => diagnostic,
        }))
    }
}

/// Whether a text is what an option has where it is not given, as in `ignore: int = "none"`.
fn is_default(param: &Param, text: &str) -> bool {
    let default = param.default.as_ref().map(|default| &default.kind);
    matches!(default, Some(ExprKind::Str(known)) if known == text)
}

/// In which pass a parameter is bound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Constants,
    Typed,
    Literals,
}

impl Pass {
    fn of(param: &Param, value: &Value) -> Pass {
        match value {
            _ if OptionKind::of(param).is_some() => Pass::Constants,
            Value::Literal(_) | Value::List(_) => Pass::Literals,
            _ => Pass::Typed,
        }
    }
}

/// A frame with the generics of a function, none of them determined.
fn generics(function: &Function) -> Frame {
    let mut frame = Frame::default();
    for generic in &function.generics {
        match generic {
            Generic::Dim { name, .. } => {
                frame.dims.insert(name.text.clone(), None);
            }
            Generic::Elem { name, bound } if bound.text == "any" => {
                frame.models.insert(name.text.clone(), None);
            }
            Generic::Elem { name, bound } => {
                let elem = GenericElem { bound: bound.text.clone(), dtype: None };
                frame.elems.insert(name.text.clone(), elem);
            }
            Generic::Axes { name } => {
                frame.axes.insert(name.text.clone(), None);
            }
        }
    }
    frame
}

/// Whether a function can be checked by itself, without a call that determines its generics and constants.
pub(super) fn stands_alone(function: &Function) -> bool {
    function.generics.iter().all(|generic| matches!(generic, Generic::Dim { .. }))
        && function
            .params
            .iter()
            .all(|param| OptionKind::of(param).is_none() && !has_open_length(&param.ty, function))
}

/// Whether a type has an array whose length is a symbol of a function: a call of the helper says which.
fn has_open_length(ty: &TypeExpr, function: &Function) -> bool {
    match &ty.kind {
        TypeKind::Array { element, len } => {
            let mut open = has_open_length(element, function);
            if let (Extent::Dim(len), false) = (len, function.public) {
                names(len, &mut |name| {
                    open |= function
                        .generics
                        .iter()
                        .any(|generic| matches!(generic, Generic::Dim { name: dim, .. } if dim.text == name));
                });
            }
            open
        }
        TypeKind::Tuple(types) => types.iter().any(|ty| has_open_length(ty, function)),
        TypeKind::Tensor { .. } | TypeKind::Struct { .. } | TypeKind::Choice(_) => false,
    }
}

/// `name(x: f32[N], axis = -1)`.
pub(super) fn written_signature(function: &Function) -> String {
    let params: Vec<String> = function
        .params
        .iter()
        .map(|param| match &param.default {
            Some(default) => format!("{} = {}", param.name.text, written_dim(default)),
            None => param.name.text.clone(),
        })
        .collect();
    format!("{}({})", function.name.text, params.join(", "))
}
