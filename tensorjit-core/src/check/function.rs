//! One function by itself: its symbols, parameters, body and results.

use std::collections::BTreeSet;

use tensorjit_runtime::abi::Role;

use super::layout::Layout;
use super::leaves::leaves;
use super::report::{Checked, Report, Stop};
use super::scope::{Binding, Checker, Frame, Items};
use super::targets::targets;
use super::value::{Placed, Record, Value};
use super::{CheckedArgument, CheckedFunction, CheckedParam};
use crate::diag::{Bug, Diagnostic, Origin};
use crate::dim::facts::{Condition, SymbolInfo};
use crate::dim::{Dim, Sym};
use crate::graph::{Input, NodeId, Op, Type};
use crate::syntax::ast::{Expr, Extent, Function, Generic, Ident, TypeExpr, TypeKind};

/// The greatest rank of a parameter or result of a public function, that of `ndarray`'s fixed dimensions.
pub(super) const MAX_RANK: usize = 6;

/// Checks a function whose dimensions are its own symbols.
pub(super) fn check(
    items: &Items<'_>,
    function: &Function,
) -> (Vec<Report>, Result<Option<CheckedFunction>, Bug>) {
    let mut checker = Checker::new(items);
    checker.active.push(function.name.text.clone());
    let checked = match checker.function(function) {
        Ok(checked) => Ok(Some(checked)),
        Err(Stop::Reported) => Ok(None),
        Err(Stop::Bug(bug)) => Err(bug),
    };
    (checker.reports, checked)
}

impl Checker<'_> {
    fn function(&mut self, function: &Function) -> Checked<CheckedFunction> {
        self.frames.push(Frame { targets: targets(&function.body), ..Frame::default() });
        self.symbols(function)?;
        let conditions = self.conditions(function);
        let versions = self.versions(function);
        let params = self.params(function);
        let types = self.result_types(function);
        // The body is checked where its parameters are known, whatever else is wrong.
        let (arguments, params) = params?;
        let value = self.body(&function.body);
        let outputs = match (&types, value) {
            (Ok(types), Ok(value)) => self.results(function, types, value),
            (_, Err(stop)) => Err(stop),
            (Err(_), Ok(_)) => Err(Stop::Reported),
        };
        let (conditions, versions, types, mut outputs) = (conditions?, versions?, types?, outputs?);
        self.own_rule(function, &types, &outputs)?;
        outputs.extend(self.final_states());
        if !self.reports.is_empty() {
            return Err(Stop::Reported);
        }
        self.graph.outputs = outputs;
        let params = self.with_index_bounds(params);
        Ok(CheckedFunction { versions, arguments, ..self.finished(function, params, types, conditions) })
    }

    /// Checks the rule of the function's derivative, which only those who call the function use.
    fn own_rule(
        &mut self,
        function: &Function,
        types: &[(Layout, Origin)],
        results: &[NodeId],
    ) -> Checked<()> {
        let Some(rule) = &function.rule else { return Ok(()) };
        if function.params.iter().any(|param| param.mutable) {
            let message = format!(
                "`{}` has state and is not called in tensor functions, so that nobody uses its rule",
                function.name.text
            );
            return self.fail("derivative-rule", rule.at, message);
        }
        let given: Vec<Value> = self.frame().bindings[..function.params.len()]
            .iter()
            .map(|binding| binding.value.clone())
            .collect();
        let mut nodes = results.iter().copied();
        let values = types.iter().map(|(layout, at)| Placed { value: value_of(layout, &mut nodes), at: *at });
        let mut values: Vec<Placed> = values.collect();
        let result = match values.len() {
            1 => values.remove(0).value,
            _ => Value::Tuple(values),
        };
        self.with_rule(function, &given, result, function.name.at).map(|_| ())
    }

    fn finished(
        &mut self,
        function: &Function,
        params: Vec<CheckedParam>,
        types: Vec<(Layout, Origin)>,
        conditions: Vec<Condition>,
    ) -> CheckedFunction {
        let tuple = function.result.as_ref().is_some_and(|ty| matches!(ty.kind, TypeKind::Tuple(_)));
        let name = |position: usize| if tuple { format!("result.{position}") } else { "result".to_owned() };
        let mut results = Vec::new();
        for (position, (layout, _)) in types.iter().enumerate() {
            layout.leaves(&name(position), &mut |name, ty| results.push((name, ty.clone())));
        }
        CheckedFunction {
            name: function.name.text.clone(),
            name_at: function.name.at,
            attributes: function.attributes.clone(),
            visibility: function.visibility.clone(),
            public: function.public,
            arguments: Vec::new(),
            params,
            values: types.into_iter().map(|(layout, _)| layout).collect(),
            results,
            tuple,
            graph: std::mem::take(&mut self.graph),
            conditions,
            versions: Vec::new(),
            at: function.at,
        }
    }

    /// Declares the symbols with their bounds.
    fn symbols(&mut self, function: &Function) -> Checked<()> {
        let mut failed = None;
        let mut seen = BTreeSet::new();
        for generic in &function.generics {
            let declared = match generic {
                Generic::Dim { name, low, high } => {
                    let info = self.symbol(name, low.as_ref(), high.as_ref());
                    info.map(|info| {
                        let sym = Sym(self.graph.facts.symbols.len() as u32);
                        self.graph.facts.symbols.push(info);
                        self.frame().dims.insert(name.text.clone(), Some(Dim::sym(sym)));
                        name
                    })
                }
                Generic::Elem { name, .. } | Generic::Axes { name } => {
                    let message = format!(
                        "`{}` cannot be public: it is generic over `{}`",
                        function.name.text, name.text
                    );
                    let diagnostic = Diagnostic::new("public-generic", message, name.at);
                    Err(self.report(diagnostic.help("write the type out, and call a generic helper from it")))
                }
            };
            match declared {
                Ok(name) if !seen.insert(name.text.clone()) => {
                    failed = Some(self.duplicate(name));
                }
                Ok(_) => {}
                Err(stop) => failed = Some(stop),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn duplicate(&mut self, name: &Ident) -> Stop {
        self.report(Diagnostic::new("duplicate-name", format!("`{}` is declared twice", name.text), name.at))
    }

    fn symbol(&mut self, name: &Ident, low: Option<&Expr>, high: Option<&Expr>) -> Checked<SymbolInfo> {
        let low_value = self.symbol_bound(low, 0)?;
        let high_value = self.symbol_bound(high, i64::MAX)?;
        let at = low.or(high).map_or(name.at, |expr| expr.span);
        if low_value < 0 {
            let message = format!("`{}` is an extent, and extents are not negative", name.text);
            return self.fail("symbol-bounds", at, message);
        }
        if low_value > high_value {
            let message = format!("no value of `{}` lies in {low_value}..={high_value}", name.text);
            return self.fail("symbol-bounds", at, message);
        }
        Ok(SymbolInfo { name: name.text.clone(), low: low_value, high: high_value })
    }

    fn symbol_bound(&mut self, bound: Option<&Expr>, default: i64) -> Checked<i64> {
        let Some(expr) = bound else { return Ok(default) };
        match self.dim(expr)?.as_const() {
            Some(value) => Ok(value),
            None => {
                let diagnostic = Diagnostic::new("symbol-bounds", "a bound is a constant", expr.span);
                Err(self.report(diagnostic.help("relations between symbols stand in a `where` clause")))
            }
        }
    }

    /// Reads the `where` clauses, which are facts from here on.
    fn conditions(&mut self, function: &Function) -> Checked<Vec<Condition>> {
        let mut stated = Vec::with_capacity(function.conditions.len());
        let mut failed = None;
        let mut divisors = Vec::new();
        for condition in &function.conditions {
            // A clause may state what another one needs, and is evaluated itself before anything rests on it.
            let (read, found) = self.deferring_divisors(|checker| checker.condition(condition));
            divisors.extend(found);
            match read {
                Ok(known) => {
                    if known.left.as_const().is_some() && known.right.as_const().is_some() {
                        self.constant_condition(&known, condition.at, &mut failed);
                    }
                    stated.push(known);
                }
                Err(stop) => failed = Some(stop),
            }
        }
        self.graph.facts.conditions.clone_from(&stated);
        failed = self.demand_divisors(&divisors).err().or(failed);
        failed.map_or(Ok(stated), Err)
    }

    fn constant_condition(&mut self, condition: &Condition, at: Origin, failed: &mut Option<Stop>) {
        use crate::dim::facts::Verdict;
        let verdict = self.graph.facts.decide(&condition.left, condition.relation, &condition.right);
        if verdict == Verdict::Refuted {
            let shown = self.graph.facts.show_condition(condition);
            *failed =
                Some(self.report(Diagnostic::new("condition-false", format!("{shown} never holds"), at)));
        }
    }

    /// Declares the parameters as inputs of the graph.
    fn params(&mut self, function: &Function) -> Checked<(Vec<CheckedArgument>, Vec<CheckedParam>)> {
        let mut arguments = Vec::with_capacity(function.params.len());
        let mut params = Vec::with_capacity(function.params.len());
        let mut seen = BTreeSet::new();
        let mut failed = None;
        for param in &function.params {
            let taken = self.frame().dims.contains_key(&param.name.text);
            if !seen.insert(param.name.text.as_str()) || taken {
                failed = Some(self.duplicate(&param.name));
            }
            match self.param(function, param, &mut params) {
                Ok(argument) => arguments.push(argument),
                Err(stop) => {
                    failed = Some(stop);
                    self.frame().bind(param.name.text.clone(), Value::Error);
                }
            }
        }
        failed.map_or(Ok((arguments, params)), Err)
    }

    /// Declares one parameter, an input for each leaf.
    fn param(
        &mut self,
        function: &Function,
        param: &crate::syntax::ast::Param,
        params: &mut Vec<CheckedParam>,
    ) -> Checked<CheckedArgument> {
        if let (Some(default), true) = (&param.default, function.public) {
            let message =
                format!("`{}` has a default, which only parameters of helpers have", param.name.text);
            return self.fail("public-option", default.span, message);
        }
        if param.mutable && !function.public {
            let message =
                format!("`{}` is `&mut`, which only parameters of public functions are", param.name.text);
            let diagnostic = Diagnostic::new("state-in-helper", message, param.name.at);
            return Err(
                self.report(diagnostic.help("return the new value and assign it in the public function"))
            );
        }
        let layout = self.layout(&param.ty)?;
        if function.public {
            self.require_public(&param.ty, &format!("`{}` of a public function", param.name.text))?;
        }
        let role = if param.mutable { Role::State } else { Role::Input };
        let argument = CheckedArgument { name: param.name.text.clone(), layout, role, at: param.name.at };
        let mut leaves = Vec::new();
        argument.layout.leaves(&argument.name, &mut |name, ty| leaves.push((name, ty.clone())));
        let mut nodes = Vec::with_capacity(leaves.len());
        for (name, ty) in leaves {
            self.require_rank(function, &ty, param.ty.at)?;
            self.learn_extents(&ty);
            let input = Op::Input(self.graph.inputs.len() as u32);
            self.graph.inputs.push(Input { name: name.clone(), ty: ty.clone() });
            nodes.push(self.add(input, &[], argument.at)?);
            let Type { dtype, shape } = ty;
            params.push(CheckedParam { name, dtype, shape, role, index_bound: None, at: argument.at });
        }
        let value = value_of(&argument.layout, &mut nodes.into_iter());
        let name = argument.name.clone();
        let (state, assignable) = (param.mutable, param.mutable);
        self.frame().bindings.push(Binding { name, value, state, assignable });
        Ok(argument)
    }

    fn require_rank(&mut self, function: &Function, ty: &Type, at: Origin) -> Checked<()> {
        if function.public && ty.rank() > MAX_RANK {
            let message =
                format!("public functions take and give at most {MAX_RANK} axes, these are {}", ty.rank());
            return self.fail("rank", at, message);
        }
        Ok(())
    }

    /// An argument has the extents that its type says, so that none of them is negative.
    fn learn_extents(&mut self, ty: &Type) {
        for extent in &ty.shape {
            if extent.as_const().is_none() && !self.graph.facts.nonneg(extent) {
                let zero = Dim::constant(0);
                let relation = tensorjit_runtime::abi::Relation::Ge;
                self.graph.facts.conditions.push(Condition { left: extent.clone(), relation, right: zero });
            }
        }
    }

    fn result_types(&mut self, function: &Function) -> Checked<Vec<(Layout, Origin)>> {
        let parts: Vec<&TypeExpr> = match &function.result {
            None => Vec::new(),
            Some(ty) => match &ty.kind {
                TypeKind::Tuple(parts) => parts.iter().collect(),
                _ => vec![ty],
            },
        };
        let mut types = Vec::with_capacity(parts.len());
        let mut failed = None;
        for part in parts {
            let resolved = self.layout(part).and_then(|layout| {
                let mut types = Vec::new();
                layout.leaves("", &mut |_, ty| types.push(ty.clone()));
                types.iter().try_for_each(|ty| self.require_rank(function, ty, part.at))?;
                if function.public {
                    self.require_public(part, "the result of a public function")?;
                }
                Ok(layout)
            });
            match resolved {
                Ok(ty) => types.push((ty, part.at)),
                Err(stop) => failed = Some(stop),
            }
        }
        failed.map_or(Ok(types), Err)
    }

    /// Checks the value of the body against the declared results.
    fn results(
        &mut self,
        function: &Function,
        types: &[(Layout, Origin)],
        value: Value,
    ) -> Checked<Vec<NodeId>> {
        let at = function.body.value.as_ref().map_or(function.body.at, |expr| expr.span);
        let tuple = function.result.as_ref().is_some_and(|ty| matches!(ty.kind, TypeKind::Tuple(_)));
        let values = match (value, &function.result) {
            (Value::Error, _) => return Err(Stop::Reported),
            (Value::Unit, None) => return Ok(Vec::new()),
            (Value::Unit, Some(ty)) => {
                let message = format!("the body of `{}` has no value", function.name.text);
                let diagnostic =
                    Diagnostic::new("no-value", message, at).label(ty.at, "but a type is declared here");
                return Err(self.report(diagnostic.help("end the body with an expression, without `;`")));
            }
            (_, None) => {
                let message = format!("`{}` declares no result", function.name.text);
                let diagnostic = Diagnostic::new("no-value", message, at);
                return Err(self.report(diagnostic.help("declare its type: `-> ..`")));
            }
            (Value::Tuple(items), Some(_)) if tuple && items.len() == types.len() => items,
            (Value::Tuple(items), Some(ty)) => {
                let declared =
                    if tuple { format!("a tuple of {}", types.len()) } else { "no tuple".to_owned() };
                let message = format!("the result is {declared}, this is a tuple of {}", items.len());
                let diagnostic = Diagnostic::new("tuple-length", message, at).label(ty.at, "declared here");
                return Err(self.report(diagnostic));
            }
            (_, Some(ty)) if tuple => {
                let message = format!("the result is a tuple of {}, this is none", types.len());
                let diagnostic = Diagnostic::new("tuple-length", message, at).label(ty.at, "declared here");
                return Err(self.report(diagnostic));
            }
            (value, Some(_)) => vec![Placed { value, at }],
        };
        let mut outputs = Vec::with_capacity(values.len());
        let mut failed = None;
        for (position, (value, (ty, ty_at))) in values.iter().zip(types).enumerate() {
            let what = if tuple { format!("result {position}") } else { "the result".to_owned() };
            match self.coerce_to(value, ty, *ty_at, &what) {
                Ok(value) => outputs.extend(leaves(&value)),
                Err(stop) => failed = Some(stop),
            }
        }
        failed.map_or(Ok(outputs), Err)
    }

    /// The last values of the state parameters in order.
    fn final_states(&mut self) -> Vec<NodeId> {
        let states = self.frame().bindings.iter().filter(|binding| binding.state);
        states.flat_map(|binding| leaves(&binding.value)).collect()
    }

    fn with_index_bounds(&mut self, mut params: Vec<CheckedParam>) -> Vec<CheckedParam> {
        for (input, bound) in std::mem::take(&mut self.index_bounds) {
            if let Some(param) = params.get_mut(input as usize) {
                debug_assert!(param.dtype.is_int());
                param.index_bound = Some(bound);
            }
        }
        params
    }
}

/// The value of a parameter, whose leaves are the next nodes.
fn value_of(layout: &Layout, nodes: &mut impl Iterator<Item = NodeId>) -> Value {
    match layout {
        Layout::Tensor(_) => nodes.next().map_or(Value::Error, Value::Node),
        Layout::Struct(layout) => {
            let values = layout.fields.iter().map(|(_, field)| value_of(field, nodes)).collect();
            Value::Struct(Record { name: layout.name.clone(), dims: layout.dims.clone(), values }.into())
        }
        Layout::Array(element, len) => {
            let values: Vec<Value> = (0..*len).map(|_| value_of(element, nodes)).collect();
            Value::Array(values.into())
        }
    }
}

/// Checks what can be said of a generic helper without a call: the names in its signature.
pub(super) fn check_signature(items: &Items<'_>, function: &Function) -> Vec<Report> {
    let mut checker = Checker::new(items);
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for generic in &function.generics {
        let name = match generic {
            Generic::Dim { name, .. } | Generic::Axes { name } | Generic::Elem { name, .. } => name,
        };
        if !known.insert(&name.text) {
            checker.duplicate(name);
        }
    }
    for param in &function.params {
        if param.mutable {
            let message =
                format!("`{}` is `&mut`, which only parameters of public functions are", param.name.text);
            checker.report(Diagnostic::new("state-in-helper", message, param.name.at));
        }
        if let TypeKind::Tensor { elem, shape } = &param.ty.kind {
            let option = shape.is_empty() && matches!(elem.text.as_str(), "int" | "axes");
            if !option
                && !known.contains(elem.text.as_str())
                && super::scope::dtype_by_name(&elem.text).is_none()
                && checker.struct_named(&elem.text).is_none()
            {
                let message = format!("there is no element type `{}`", elem.text);
                checker.report(Diagnostic::new("unknown-type", message, elem.at));
            }
            for extent in shape {
                if let Extent::Axes(name) = extent
                    && !known.contains(name.text.as_str())
                {
                    let message = format!("there are no axes `..{}`", name.text);
                    checker.report(Diagnostic::new("unknown-dimension", message, name.at));
                }
            }
        }
    }
    checker.reports
}
