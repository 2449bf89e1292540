//! Calls: which function is meant, and which argument is which.

use super::builtins::{self, Builtin};
use super::prelude;
use super::report::{Checked, Stop, closest, listed};
use super::scope::Checker;
use super::value::{Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::graph::table::Ew;
use crate::graph::table::row::Form;
use crate::syntax::ast::{Expr, ExprKind, Extent, Ident, TypeKind};

/// A call whose arguments have been evaluated and put into the order of the parameters.
pub(super) struct Call<'c> {
    /// The name as called.
    pub(super) name: &'c str,
    /// The whole call.
    pub(super) at: Origin,
    /// One for each parameter; `None` where its default is meant.
    pub(super) args: Vec<Option<Arg<'c>>>,
}

/// An argument.
#[derive(Clone, Debug)]
pub(super) struct Arg<'c> {
    /// What was written.
    pub(super) expr: &'c Expr,
    /// Its value.
    pub(super) value: Value,
}

impl Arg<'_> {
    /// The value with its place.
    pub(super) fn placed(&self) -> Placed {
        Placed { value: self.value.clone(), at: self.expr.span }
    }
}

/// The parameters of a function as a call sees them.
pub(super) struct Signature<'s> {
    /// As errors show it.
    pub(super) text: &'s str,
    /// The names; those that stand first must be given.
    pub(super) names: &'s [&'s str],
    /// How many must be given.
    pub(super) required: usize,
}

impl Checker<'_> {
    /// `name(args, options)`.
    ///
    /// Functions of the block come first, so that they shadow the prelude; the prelude itself sees only itself.
    pub(super) fn call(
        &mut self,
        name: &Ident,
        args: &[Expr],
        options: &[(Ident, Expr)],
        at: Origin,
    ) -> Checked<Value> {
        let items = self.items;
        if let Some(function) = self.function_named(&name.text) {
            return self.call_function(function, name, args, options, at, false);
        }
        if let Some(builtin) = builtins::find(&name.text) {
            return self.call_builtin(builtin, name, args, options, at);
        }
        if let Some(row) = Ew::by_name(&name.text).filter(|row| row.row().form == Form::Call) {
            return self.call_row(row, name, args, options, at);
        }
        let inside = self.library.is_some();
        let found = match inside || prelude::has_public(&name.text) {
            true => items.prelude.function(&name.text)?,
            false => None,
        };
        match found {
            Some(function) => self.call_function(&function, name, args, options, at, true),
            None => {
                // The errors inside the arguments are found all the same.
                args.iter().chain(options.iter().map(|(_, value)| value)).for_each(|arg| {
                    let _ = self.eval(arg);
                });
                Err(self.unknown_function(name))
            }
        }
    }

    fn call_builtin(
        &mut self,
        builtin: &Builtin,
        name: &Ident,
        args: &[Expr],
        options: &[(Ident, Expr)],
        at: Origin,
    ) -> Checked<Value> {
        let signature =
            Signature { text: builtin.signature, names: builtin.params, required: builtin.required };
        let args = self.arguments(&signature, name, args, options)?;
        if let Some(total) = self.folded(builtin, &name.text, &args, at)? {
            return Ok(total);
        }
        (builtin.handler)(self, &Call { name: &name.text, at, args })
    }

    /// The fold of all leaves, where the only argument is made of tensors and the function has one.
    fn folded(
        &mut self,
        builtin: &Builtin,
        name: &str,
        args: &[Option<Arg<'_>>],
        at: Origin,
    ) -> Checked<Option<Value>> {
        let Some((Some(first), others)) = args.split_first() else { return Ok(None) };
        if !first.value.is_compound() || others.iter().any(Option::is_some) {
            return Ok(None);
        }
        self.fold_leaves(name, &first.value, at, &mut |checker, leaf| {
            let leaf = Some(Arg { expr: first.expr, value: leaf.value });
            let args = std::iter::once(leaf).chain(others.iter().cloned()).collect();
            (builtin.handler)(checker, &Call { name, at, args })
        })
    }

    fn call_row(
        &mut self,
        row: Ew,
        name: &Ident,
        args: &[Expr],
        options: &[(Ident, Expr)],
        at: Origin,
    ) -> Checked<Value> {
        let names: Vec<&str> = row.row().operands.iter().map(|operand| operand.name).collect();
        let text = format!("{}({})", name.text, names.join(", "));
        let signature = Signature { text: &text, names: &names, required: names.len() };
        let args = self.arguments(&signature, name, args, options)?;
        let operands: Vec<Placed> = args.iter().flatten().map(Arg::placed).collect();
        if operands.iter().any(|operand| operand.value.is_compound()) {
            self.require_scalars(&name.text, &operands)?;
            return self.leafwise(&name.text, &operands, at, &mut |checker, leaves| {
                checker.elementwise(row, &name.text, leaves, at)
            });
        }
        self.elementwise(row, &name.text, operands, at)
    }

    /// Evaluates arguments and puts them into the order of the parameters.
    pub(super) fn arguments<'c>(
        &mut self,
        signature: &Signature<'_>,
        name: &Ident,
        args: &'c [Expr],
        options: &'c [(Ident, Expr)],
    ) -> Checked<Vec<Option<Arg<'c>>>> {
        let mut slots: Vec<Option<Arg<'c>>> = vec![None; signature.names.len()];
        let mut failed = None;
        for (position, expr) in args.iter().enumerate() {
            match self.eval(expr) {
                Ok(value) => {
                    if let Some(slot) = slots.get_mut(position) {
                        *slot = Some(Arg { expr, value });
                    }
                }
                Err(stop) => failed = Some(stop),
            }
        }
        if args.len() > signature.names.len() {
            let message = format!(
                "`{}` takes {}, this call has {}",
                name.text,
                super::report::counted(signature.names.len(), "argument", "arguments"),
                args.len()
            );
            failed =
                Some(self.report(Diagnostic::new("argument-count", message, name.at).help(usage(signature))));
        }
        for (option, expr) in options {
            if let Err(stop) = self.option(signature, name, option, expr, args.len(), &mut slots) {
                failed = Some(stop);
            }
        }
        if let Some(stop) = failed {
            return Err(stop);
        }
        let missing: Vec<&str> = signature.names[..signature.required]
            .iter()
            .zip(&slots)
            .filter(|(_, slot)| slot.is_none())
            .map(|(name, _)| *name)
            .collect();
        if missing.is_empty() {
            return Ok(slots);
        }
        let message = format!("this call of `{}` lacks {}", name.text, listed(missing));
        Err(self.report(Diagnostic::new("argument-count", message, name.at).help(usage(signature))))
    }

    fn option<'c>(
        &mut self,
        signature: &Signature<'_>,
        name: &Ident,
        option: &Ident,
        expr: &'c Expr,
        positional: usize,
        slots: &mut [Option<Arg<'c>>],
    ) -> Checked<()> {
        let value = self.eval(expr);
        let Some(position) = signature.names.iter().position(|known| *known == option.text) else {
            return Err(self.unknown_option(signature, name, option));
        };
        if position < positional || slots[position].is_some() {
            let message = format!("`{}` is given twice", option.text);
            return self.fail("duplicate-argument", option.at, message);
        }
        slots[position] = Some(Arg { expr, value: value? });
        Ok(())
    }

    fn unknown_option(&mut self, signature: &Signature<'_>, name: &Ident, option: &Ident) -> Stop {
        let message = format!("`{}` has no option `{}`", name.text, option.text);
        let diagnostic = Diagnostic::new("unknown-option", message, option.at);
        let legal = &signature.names[signature.required..];
        let help = match closest(&option.text, signature.names.iter().copied()) {
            Some(close) => format!("did you mean `{close}`?"),
            None if legal.is_empty() => format!("it has no options: `{}`", signature.text),
            None => format!("its options are {}: `{}`", listed(legal.iter().copied()), signature.text),
        };
        self.report(diagnostic.help(help))
    }

    /// A call of a function that is written in the language: of the block, or of the prelude.
    pub(super) fn call_function(
        &mut self,
        function: &crate::syntax::ast::Function,
        name: &Ident,
        args: &[Expr],
        options: &[(Ident, Expr)],
        at: Origin,
        library: bool,
    ) -> Checked<Value> {
        let names: Vec<&str> = function.params.iter().map(|param| param.name.text.as_str()).collect();
        let required = function.params.iter().take_while(|param| param.default.is_none()).count();
        let text = super::inline::written_signature(function);
        let signature = Signature { text: &text, names: &names, required };
        let args = self.arguments(&signature, name, args, options)?;
        let call = Call { name: &name.text, at, args };
        if takes_leaves(function, &call.args) {
            return self.inline_leafwise(function, &call, name.at, library);
        }
        self.inline(function, &call, name.at, library)
    }

    /// A call of a function of tensors of any shape with structs: it is called with each of their leaves.
    fn inline_leafwise(
        &mut self,
        function: &crate::syntax::ast::Function,
        call: &Call<'_>,
        name_at: Origin,
        library: bool,
    ) -> Checked<Value> {
        let given: Vec<Placed> = call.args.iter().flatten().map(Arg::placed).collect();
        self.leafwise(call.name, &given, call.at, &mut |checker, leaves| {
            let mut leaves = leaves.into_iter();
            let args = call
                .args
                .iter()
                .map(|arg| {
                    let arg = arg.as_ref()?;
                    Some(Arg { expr: arg.expr, value: leaves.next()?.value })
                })
                .collect();
            checker.inline(function, &Call { name: call.name, at: call.at, args }, name_at, library)
        })
    }
}

/// Whether structs are given, and only for parameters that take tensors of any shape, `x: T[..S]`.
fn takes_leaves(function: &crate::syntax::ast::Function, args: &[Option<Arg<'_>>]) -> bool {
    let mut compounds = function
        .params
        .iter()
        .zip(args)
        .filter(|(_, arg)| arg.as_ref().is_some_and(|arg| arg.value.is_compound()))
        .peekable();
    compounds.peek().is_some()
        && compounds.all(|(param, _)| match &param.ty.kind {
            TypeKind::Tensor { shape, .. } => matches!(shape.as_slice(), [Extent::Axes(_)]),
            _ => false,
        })
}

fn usage(signature: &Signature<'_>) -> String {
    format!("it is called so: `{}`", signature.text)
}

/// Whether an expression consists of names and parts of them: one, or several in a tuple.
pub(super) fn is_name_or_names(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) => true,
        ExprKind::Tuple(items) => items.iter().all(is_name_or_names),
        ExprKind::Field(inner, _) | ExprKind::Index(inner, _) => is_name_or_names(inner),
        _ => false,
    }
}

/// Whether the prelude has a function of that name.
pub(super) fn is_known(name: &str) -> bool {
    builtins::find(name).is_some()
        || Ew::by_name(name).is_some_and(|row| row.row().form == Form::Call)
        || prelude::has(name)
}
