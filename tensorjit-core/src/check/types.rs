//! Written types: resolved where every name is known, and matched where arguments determine them.

use tensorjit_runtime::abi::{DType, Relation};

use super::report::{Checked, Stop, closest, counted};
use super::scope::{Checker, dtype_by_name};
use super::value::{Operand, Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::facts::Verdict;
use crate::dim::{Dim, Sym};
use crate::graph::{NodeId, Type};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Extent, Ident, TypeExpr, TypeKind, UnaryOp};

impl Checker<'_> {
    /// The type that is written, every name of which is known.
    pub(super) fn resolve(&mut self, ty: &TypeExpr) -> Checked<Type> {
        if self.struct_type(ty).is_some() || matches!(ty.kind, TypeKind::Array { .. }) {
            let message = format!("the type of a tensor is needed here, this is `{}`", written_type(ty));
            return self.fail("struct-type", ty.at, message);
        }
        if let TypeKind::Choice(_) = ty.kind {
            let message =
                format!("the type of a tensor is needed here, not that of an option, `{}`", written_type(ty));
            let help = "options are parameters of helpers: write a public function for each value that calls a helper";
            return Err(self.report(Diagnostic::new("not-a-tensor", message, ty.at).help(help)));
        }
        let TypeKind::Tensor { elem, shape } = &ty.kind else {
            return self.fail("tuple-type", ty.at, "a tuple cannot stand here: write the type of one tensor");
        };
        let dtype = self.elem(elem);
        let mut extents = Vec::with_capacity(shape.len());
        let mut failed = None;
        for extent in shape {
            match extent {
                Extent::Dim(expr) => match self.dim(expr) {
                    Ok(dim) => extents.push(dim),
                    Err(stop) => failed = Some(stop),
                },
                Extent::Axes(name) => match self.axes_by_name(name) {
                    Ok(axes) => extents.extend(axes),
                    Err(stop) => failed = Some(stop),
                },
            }
        }
        match (dtype?, failed) {
            (_, Some(stop)) => Err(stop),
            (dtype, None) => Ok(Type::new(dtype, extents)),
        }
    }

    /// The extents of generic axes.
    pub(super) fn axes_by_name(&mut self, name: &Ident) -> Checked<Vec<Dim>> {
        match self.frames.last().and_then(|frame| frame.axes.get(&name.text)) {
            Some(Some(axes)) => Ok(axes.clone()),
            Some(None) => Err(self.axes_open(name)),
            None => Err(self.unknown_axes(name)),
        }
    }

    fn axes_open(&mut self, name: &Ident) -> Stop {
        self.report(Diagnostic::new(
            "symbol-open",
            format!("no argument of this call says what `..{}` is", name.text),
            name.at,
        ))
    }

    fn unknown_axes(&mut self, name: &Ident) -> Stop {
        let diagnostic =
            Diagnostic::new("unknown-dimension", format!("there are no axes `..{}`", name.text), name.at);
        self.report(diagnostic.help(format!("helpers declare them after their name: `<..{}>`", name.text)))
    }

    /// An element type, every name of which is known.
    pub(super) fn elem(&mut self, name: &Ident) -> Checked<DType> {
        match self.frames.last().and_then(|frame| frame.elems.get(&name.text)) {
            Some(generic) => match generic.dtype {
                Some(dtype) => Ok(dtype),
                None => {
                    let message = format!("no argument of this call says which type `{}` is", name.text);
                    self.fail("literal-open", name.at, message)
                }
            },
            None => self.known_elem(name),
        }
    }

    fn known_elem(&mut self, name: &Ident) -> Checked<DType> {
        match dtype_by_name(&name.text) {
            Some(dtype) => Ok(dtype),
            None => {
                let message = format!("there is no element type `{}`", name.text);
                let diagnostic = Diagnostic::new("unknown-type", message, name.at);
                let known = DType::ALL.iter().map(|dtype| dtype.name());
                let help = match closest(&name.text, known.chain(self.names_of(&self.items.structs))) {
                    Some(close) => format!("did you mean `{close}`?"),
                    None => "the types are `f32`, `f64`, `f16`, `bf16`, `bool`, and integers: `i8` to `i64`, `u8` to `u64`"
                        .to_owned(),
                };
                Err(self.report(diagnostic.help(help)))
            }
        }
    }

    /// Checks that a value has exactly a type; literals take it.  `what` names the place in errors.
    pub(super) fn coerce(&mut self, value: &Placed, ty: &Type, ty_at: Origin, what: &str) -> Checked<NodeId> {
        let operand = self.operand(&value.value, value.at)?;
        let fits = self.same_shape(&self.shape(&operand), &ty.shape);
        let typed = match &operand {
            Operand::Node(id) => self.graph.ty(*id).dtype == ty.dtype,
            Operand::Literal(_) => true,
        };
        if fits && typed {
            return match operand {
                Operand::Node(id) => Ok(id),
                Operand::Literal(literal) => self.settle(&literal, ty.dtype, value.at),
            };
        }
        let found = self.show_operand(&operand);
        let (code, help) = match typed {
            false => ("type-mismatch", Some(format!("convert it with `as {}`", ty.dtype.name()))),
            true => ("shape-mismatch", self.shape_help(&self.shape(&operand), &ty.shape)),
        };
        let mut diagnostic =
            Diagnostic::new(code, format!("{what} is {}, this is {found}", self.show_type(ty)), value.at);
        diagnostic.help = help;
        if ty_at != value.at {
            diagnostic = diagnostic.label(ty_at, "declared here");
        }
        Err(self.report(diagnostic))
    }

    /// Whether two shapes are equal for all values of the symbols.
    pub(super) fn same_shape(&self, a: &[Dim], b: &[Dim]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.graph.facts.same(a, b))
    }

    /// How a shape may become the expected one.
    fn shape_help(&self, found: &[Dim], expected: &[Dim]) -> Option<String> {
        if found.len() == expected.len() {
            let mut open = None;
            for (a, b) in found.iter().zip(expected) {
                match self.graph.facts.decide(a, Relation::Eq, b) {
                    Verdict::Proven => {}
                    Verdict::Open if open.is_none() => open = Some(self.where_clause(a, Relation::Eq, b)),
                    _ => open = Some(String::new()),
                }
            }
            return match open {
                Some(clause) if !clause.is_empty() => {
                    Some(format!("if they are always equal, say so: `{clause}`"))
                }
                _ => None,
            };
        }
        let joined = self.join_shapes(found, expected).ok()?;
        self.same_shape(&joined, expected)
            .then(|| format!("repeat it with `broadcast_to(.., {})`", self.show_shape(expected)))
    }

    /// Matches a value with a written type of a helper and binds what is not yet known in the innermost frame.
    ///
    /// `None` where it does not fit.
    pub(super) fn match_type(&mut self, ty: &TypeExpr, value: &Placed) -> Checked<Option<Value>> {
        if let Some((name, model)) = self.generic_type(ty) {
            return self.match_model(&name, model, value);
        }
        match (&ty.kind, &value.value) {
            (TypeKind::Tuple(types), Value::Tuple(items)) => {
                if types.len() != items.len() {
                    return Ok(None);
                }
                let mut matched = Vec::with_capacity(items.len());
                for (ty, item) in types.iter().zip(items) {
                    let Some(value) = self.match_type(ty, item)? else { return Ok(None) };
                    matched.push(Placed { value, at: item.at });
                }
                Ok(Some(Value::Tuple(matched)))
            }
            (_, Value::Error) => Err(Stop::Reported),
            (TypeKind::Array { element, len }, Value::Array(elements)) => {
                let found = Dim::constant(elements.len() as i64);
                if !self.match_shape(std::slice::from_ref(len), &[found], value.at)? {
                    return Ok(None);
                }
                for item in elements.iter() {
                    let item = Placed { value: item.clone(), at: value.at };
                    if self.match_type(element, &item)?.is_none() {
                        return Ok(None);
                    }
                }
                Ok(Some(value.value.clone()))
            }
            (_, Value::Struct(record)) => {
                let Some((name, dims)) = self.struct_type(ty) else { return Ok(None) };
                let same = self.struct_named(&name.text).is_some_and(|known| known.name.text == record.name);
                let fits = same && self.match_shape(dims, &record.dims, value.at)?;
                Ok(fits.then(|| value.value.clone()))
            }
            _ if self.struct_type(ty).is_some() => Ok(None),
            (
                TypeKind::Tuple(_) | TypeKind::Struct { .. } | TypeKind::Array { .. } | TypeKind::Choice(_),
                _,
            )
            | (_, Value::Tuple(_) | Value::Array(_)) => Ok(None),
            (TypeKind::Tensor { elem, shape }, Value::Dim(dim)) if shape.is_empty() => {
                // A dimension stays one where it fits, so that the helper may use it in shapes.
                let fits = self.match_elem(elem, DType::I64)?;
                Ok(fits.then(|| Value::Dim(dim.clone())))
            }
            (TypeKind::Tensor { elem, shape }, _) => {
                let operand = self.operand(&value.value, value.at)?;
                if let Operand::Node(id) = operand
                    && !self.match_elem(elem, self.graph.ty(id).dtype)?
                {
                    return Ok(None);
                }
                if !self.match_shape(shape, &self.shape(&operand), value.at)? {
                    return Ok(None);
                }
                match operand {
                    Operand::Literal(literal) => match self.bound_elem(elem)? {
                        Some(dtype) => Ok(Some(Value::Node(self.settle(&literal, dtype, value.at)?))),
                        None => Ok(Some(Value::Literal(literal))),
                    },
                    operand => Ok(Some(operand.value())),
                }
            }
        }
    }

    /// The generic type that is written, with the value that has determined it.
    fn generic_type(&self, ty: &TypeExpr) -> Option<(String, Option<Value>)> {
        let TypeKind::Tensor { elem, shape } = &ty.kind else { return None };
        let model = self.frames.last()?.models.get(&elem.text).filter(|_| shape.is_empty())?;
        Some((elem.text.clone(), model.clone()))
    }

    /// Matches a value with a generic type: the first one determines it, the others have its type.
    fn match_model(&mut self, name: &str, model: Option<Value>, value: &Placed) -> Checked<Option<Value>> {
        if let Value::Error = value.value {
            return Err(Stop::Reported);
        }
        match (model, &value.value) {
            (_, Value::Tuple(_)) => Ok(None),
            (Some(model @ (Value::Struct(_) | Value::Array(_))), found) => {
                Ok(self.same_type(&model, found).then(|| found.clone()))
            }
            (None, found @ (Value::Struct(_) | Value::Array(_))) => {
                self.frame().models.insert(name.to_owned(), Some(found.clone()));
                Ok(Some(found.clone()))
            }
            (Some(_), Value::Struct(_) | Value::Array(_)) => Ok(None),
            (None, found) => {
                let operand = self.operand(found, value.at)?;
                if let Operand::Node(_) = operand {
                    self.frame().models.insert(name.to_owned(), Some(operand.clone().value()));
                }
                Ok(Some(operand.value()))
            }
            (Some(model), found) => {
                let (model, operand) = (self.typed(&model, value.at)?, self.operand(found, value.at)?);
                let ty = self.graph.ty(model).clone();
                if !self.same_shape(&ty.shape, &self.shape(&operand)) {
                    return Ok(None);
                }
                match operand {
                    Operand::Node(id) => {
                        let fits = self.graph.ty(id).dtype == ty.dtype;
                        Ok(fits.then_some(Value::Node(id)))
                    }
                    Operand::Literal(literal) => {
                        Ok(Some(Value::Node(self.settle(&literal, ty.dtype, value.at)?)))
                    }
                }
            }
        }
    }

    /// The element type that is written, `None` where it is generic and open.
    fn bound_elem(&mut self, elem: &Ident) -> Checked<Option<DType>> {
        match self.frames.last().and_then(|frame| frame.elems.get(&elem.text)) {
            Some(generic) => Ok(generic.dtype),
            None => Ok(Some(self.known_elem(elem)?)),
        }
    }

    fn match_elem(&mut self, elem: &Ident, found: DType) -> Checked<bool> {
        let Some(generic) = self.frame().elems.get_mut(&elem.text) else {
            return Ok(self.known_elem(elem)? == found);
        };
        if let Some(dtype) = generic.dtype {
            return Ok(dtype == found);
        }
        let allowed = match generic.bound.as_str() {
            "float" => found.is_float(),
            "int" => found.is_int(),
            _ => found != DType::Bool,
        };
        if allowed {
            generic.dtype = Some(found);
        }
        Ok(allowed)
    }

    /// Matches written extents with a shape: symbols alone first, so that expressions over them are known after.
    fn match_shape(&mut self, written: &[Extent], found: &[Dim], at: Origin) -> Checked<bool> {
        let fixed = written.iter().filter(|extent| matches!(extent, Extent::Dim(_))).count();
        let Some(surplus) = found.len().checked_sub(fixed) else { return Ok(false) };
        if surplus > 0 && fixed == written.len() {
            return Ok(false);
        }
        let mut rest = found;
        let mut later: Vec<(&Expr, &Dim)> = Vec::new();
        for extent in written {
            match extent {
                Extent::Axes(name) => {
                    let (axes, after) = rest.split_at(surplus);
                    rest = after;
                    let known = match self.frame().axes.get_mut(&name.text) {
                        None => return Err(self.unknown_axes(name)),
                        Some(open @ None) => {
                            *open = Some(axes.to_vec());
                            continue;
                        }
                        Some(Some(known)) => known.clone(),
                    };
                    if !self.same_shape(&known, axes) {
                        return Ok(false);
                    }
                }
                Extent::Dim(expr) => {
                    let Some((dim, after)) = rest.split_first() else { return Ok(false) };
                    rest = after;
                    match &expr.kind {
                        ExprKind::Name(name) => match self.frame().dims.get_mut(name) {
                            Some(open @ None) => *open = Some(dim.clone()),
                            _ => later.push((expr, dim)),
                        },
                        _ => later.push((expr, dim)),
                    }
                }
            }
        }
        for (expr, dim) in later {
            // What depends on symbols of other arguments is checked when these are known.
            if self.open_symbols(expr).is_empty() && !self.extent_fits(expr, dim, at)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the extents that are written as more than a name are those of a matched value.
    pub(super) fn computed_extents_fit(&mut self, ty: &TypeExpr, value: &Value, at: Origin) -> Checked<bool> {
        if let (Some((_, dims)), Value::Struct(record)) = (self.struct_type(ty), value) {
            return self.extents_fit(dims, &record.dims, at);
        }
        match (&ty.kind, value) {
            (TypeKind::Array { element, len }, Value::Array(elements)) => {
                let found = Dim::constant(elements.len() as i64);
                if !self.extents_fit(std::slice::from_ref(len), &[found], at)? {
                    return Ok(false);
                }
                match elements.first() {
                    Some(first) => self.computed_extents_fit(element, first, at),
                    None => Ok(true),
                }
            }
            (TypeKind::Tensor { shape, .. }, _) if !shape.is_empty() => {
                let operand = self.operand(value, at)?;
                self.extents_fit(shape, &self.shape(&operand), at)
            }
            _ => Ok(true),
        }
    }

    fn extents_fit(&mut self, written: &[Extent], found: &[Dim], at: Origin) -> Checked<bool> {
        for (expr, extent) in computed_extents(written, found) {
            if !self.extent_fits(expr, extent, at)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a written extent is equal to a found one; its only open symbol is solved for.
    pub(super) fn extent_fits(&mut self, expr: &Expr, found: &Dim, at: Origin) -> Checked<bool> {
        if let [name] = self.open_symbols(expr).as_slice() {
            let unknown = Sym(u32::MAX);
            self.frame().dims.insert(name.clone(), Some(Dim::sym(unknown)));
            // Divisors are looked at when all is known.
            let (read, _) = self.deferring_divisors(|checker| checker.dim(expr));
            let Some((scale, offset)) = read?.linear_in(unknown) else {
                self.frame().dims.insert(name.clone(), None);
                return Ok(false);
            };
            let scaled = found - &offset;
            let solved = match scaled.exact_quotient(&scale) {
                Some(solved) => solved,
                None => match self.divided(&scaled, &scale, expr, at)? {
                    Some(quotient) => {
                        return Ok(self.frame().dims.insert(name.clone(), Some(quotient)).is_some());
                    }
                    None => {
                        self.frame().dims.insert(name.clone(), None);
                        return Ok(false);
                    }
                },
            };
            self.frame().dims.insert(name.clone(), Some(solved));
        }
        let expected = self.dim(expr)?;
        Ok(self.graph.facts.same(&expected, found))
    }

    /// The quotient of an extent that must be a multiple of a constant; that it is one is demanded where it may be.
    fn divided(&mut self, scaled: &Dim, scale: &Dim, expr: &Expr, at: Origin) -> Checked<Option<Dim>> {
        let zero = Dim::constant(0);
        if scale.as_const().is_none_or(|scale| scale <= 0) {
            return Ok(None);
        }
        let rest = scaled.modulo(scale);
        if self.graph.facts.decide(&rest, Relation::Eq, &zero) == Verdict::Refuted {
            return Ok(None);
        }
        let why = format!("an extent is `{}`", written_dim(expr));
        self.demand(&rest, Relation::Eq, &zero, at, &why)?;
        Ok(Some(scaled.floor_div(scale)))
    }

    /// The symbols in a written extent that are not determined yet.
    fn open_symbols(&self, expr: &Expr) -> Vec<String> {
        let mut open = Vec::new();
        if let Some(frame) = self.frames.last() {
            names(expr, &mut |name| {
                if matches!(frame.dims.get(name), Some(None)) && !open.iter().any(|known| known == name) {
                    open.push(name.to_owned());
                }
            });
        }
        open
    }
}

/// Calls `visit` with every name in a dimension expression.
pub(super) fn names(expr: &Expr, visit: &mut dyn FnMut(&str)) {
    match &expr.kind {
        ExprKind::Name(name) => visit(name),
        ExprKind::Unary(_, inner) => names(inner, visit),
        ExprKind::Binary(_, left, right) => {
            names(left, visit);
            names(right, visit);
        }
        ExprKind::Call { args, .. } => args.iter().for_each(|arg| names(arg, visit)),
        _ => {}
    }
}

/// The extents that are written as more than a name, each with the extent found at its place.
fn computed_extents<'t>(written: &'t [Extent], found: &'t [Dim]) -> Vec<(&'t Expr, &'t Dim)> {
    let surplus = (found.len() + 1).saturating_sub(written.len());
    let mut at = 0;
    let mut pairs = Vec::new();
    for extent in written {
        match extent {
            Extent::Axes(_) => at += surplus,
            Extent::Dim(expr) => {
                let computed = !matches!(expr.kind, ExprKind::Name(_) | ExprKind::Int(..));
                pairs.extend(found.get(at).filter(|_| computed).map(|dim| (expr, dim)));
                at += 1;
            }
        }
    }
    pairs
}

/// A written type as it stands in the text.
pub(super) fn written_type(ty: &TypeExpr) -> String {
    match &ty.kind {
        TypeKind::Tensor { elem, shape } if shape.is_empty() => elem.text.clone(),
        TypeKind::Tensor { elem, shape } => {
            format!("{}[{}]", elem.text, written_extents(shape))
        }
        TypeKind::Struct { name, dims } => format!("{}<{}>", name.text, written_extents(dims)),
        TypeKind::Array { element, len } => {
            format!("[{}; {}]", written_type(element), written_extents(std::slice::from_ref(len)))
        }
        TypeKind::Choice(texts) => {
            texts.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(" | ")
        }
        TypeKind::Tuple(types) => {
            let types: Vec<String> = types.iter().map(written_type).collect();
            format!("({})", types.join(", "))
        }
    }
}

fn written_extents(extents: &[Extent]) -> String {
    let each = extents.iter().map(|extent| match extent {
        Extent::Dim(expr) => written_dim(expr),
        Extent::Axes(name) => format!("..{}", name.text),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// A dimension expression, or the default of an option, as it stands in the text.
pub(super) fn written_dim(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Int(value, _) => value.to_string(),
        ExprKind::Float(text, _) => text.clone(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Str(text) => format!("{text:?}"),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Unary(UnaryOp::Neg, inner) => format!("-{}", written_dim(inner)),
        ExprKind::Binary(op, left, right) => {
            let op = match op {
                BinaryOp::Add => "+",
                BinaryOp::Sub => "-",
                BinaryOp::Mul => "*",
                BinaryOp::Div => "/",
                BinaryOp::Rem => "%",
                _ => "?",
            };
            format!("{} {op} {}", written_dim(left), written_dim(right))
        }
        ExprKind::Call { name, args, .. } => {
            let args: Vec<String> = args.iter().map(written_dim).collect();
            format!("{}({})", name.text, args.join(", "))
        }
        _ => "..".to_owned(),
    }
}

/// The rank in words.
pub(super) fn axes(rank: usize) -> String {
    counted(rank, "axis", "axes")
}
