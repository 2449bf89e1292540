//! The generated part of a function's documentation: shapes, dimensions, preconditions, errors.

use std::fmt::Write as _;

use proc_macro2::TokenStream;
use tensorjit_core::check::Layout;
use tensorjit_core::dim::facts::{Facts, SymbolInfo};
use tensorjit_core::syntax::ast::plain_name;
use tensorjit_runtime::abi::Role;

use super::{Forms, Signature};

/// Whether an attribute decides if the item exists, so that it belongs on every item.
pub(crate) fn is_condition(attribute: &TokenStream) -> bool {
    let text = attribute.to_string().replace(' ', "");
    text.starts_with("#[cfg(")
}

/// `1..=64`, for one symbol.
pub(super) fn bounds(symbol: &SymbolInfo) -> String {
    match symbol.high {
        i64::MAX => format!("`{}..`", symbol.low),
        high => format!("`{}..={high}`", symbol.low),
    }
}

/// Of `fn f`.
pub(super) fn of_function(signature: &Signature) -> String {
    let mut text = arguments(signature);
    text.push_str(&result(signature));
    text.push_str(&preconditions(signature));
    text.push_str(&errors(signature));
    text
}

/// Of `fn into`.
pub(super) fn of_into(signature: &Signature) -> String {
    let mut text = format!(
        "As `{}`, with results written to tensors of the caller, from whose shapes dimensions follow too. It \
         allocates nothing once its thread has workspace.\n\n",
        signature.name
    );
    for (index, layout) in signature.values.iter().enumerate() {
        let name = if signature.tuple { format!("result.{index}") } else { "result".to_owned() };
        let _ = writeln!(text, "* `{name}`: `{}`", layout_text(&signature.facts, layout));
    }
    text.push_str(&errors(signature));
    text
}

/// Of `fn with_dims`.
pub(super) fn of_with_dims(signature: &Signature) -> String {
    let mut text =
        format!("As `{}`, with the values of all dimension symbols given by the caller.\n", signature.name);
    text.push_str(&arguments(signature));
    text.push_str(&result(signature));
    text.push_str(&preconditions(signature));
    text.push_str(&errors(signature));
    text
}

/// Of `mod f`.
pub(super) fn of_module(signature: &Signature, forms: Forms) -> String {
    let others = match forms {
        Forms { plain: true, .. } => "",
        Forms { into: true, .. } => " Its arguments do not determine all dimensions, its results do.",
        Forms { .. } => " Its arguments do not determine all dimensions: use `with_dims`.",
    };
    format!("Further forms of the tensor function `{}`, and its description.{others}", signature.name)
}

fn arguments(signature: &Signature) -> String {
    let mut text = String::from("\n# Arguments\n\n");
    if signature.arguments.is_empty() {
        text.push_str("None.\n");
    }
    let mut leaves = signature.params.iter();
    for argument in &signature.arguments {
        let state = if argument.role == Role::State { "&mut " } else { "" };
        let ty = layout_text(&signature.facts, &argument.layout);
        let _ = write!(text, "* `{}`: `{state}{ty}`", argument.name);
        for leaf in leaves.by_ref().take(argument.layout.count()) {
            if let Some(bound) = &leaf.index_bound {
                let which = match argument.layout {
                    Layout::Tensor(_) => String::new(),
                    _ => format!(" of `{}`", leaf.name),
                };
                let _ = write!(text, ", each value{which} in `0..{}`", signature.facts.show(bound));
            }
        }
        text.push('\n');
    }
    text
}

fn result(signature: &Signature) -> String {
    let types: Vec<String> =
        signature.values.iter().map(|layout| layout_text(&signature.facts, layout)).collect();
    match types.as_slice() {
        [] => String::new(),
        [ty] if !signature.tuple => format!("\n# Result\n\n`{ty}`\n"),
        types => format!("\n# Result\n\n`({})`\n", types.join(", ")),
    }
}

/// Bounds and conditions, where there are any.
fn preconditions(signature: &Signature) -> String {
    let facts = &signature.facts;
    if facts.symbols.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n# Dimensions\n\n");
    let rows = signature.solve();
    for (index, symbol) in facts.symbols.iter().enumerate() {
        let _ = write!(text, "* `{}` in {}", symbol.name, bounds(symbol));
        let row = rows.iter().find(|row| row.symbol.0 as usize == index);
        if let Some(param) = row.and_then(|row| signature.params.get(row.param as usize)) {
            let _ = write!(text, ", from `{}`", param.name);
        }
        text.push('\n');
    }
    if !signature.conditions.is_empty() {
        text.push_str("\nPreconditions:\n\n");
    }
    for condition in &signature.conditions {
        let (left, right) = (facts.show(&condition.left), facts.show(&condition.right));
        let _ = writeln!(text, "* `{left} {} {right}`", condition.relation.symbol());
    }
    text
}

fn errors(signature: &Signature) -> String {
    let mut causes = vec!["a shape that is not the declared one"];
    if !signature.facts.symbols.is_empty() {
        causes.push("a dimension out of its bounds");
    }
    if !signature.conditions.is_empty() {
        causes.push("a precondition that does not hold");
    }
    if signature.params.iter().any(|param| param.index_bound.is_some()) {
        causes.push("an index out of range");
    }
    let last = "sizes or memory beyond what the machine has";
    format!("\n# Errors\n\nFor {}, and {last}. No argument has been changed then.\n", causes.join(", "))
}

/// `f32[B, 3]`, `f32` for a scalar, `[Layer<D, 4>; 6]`.
pub(super) fn layout_text(facts: &Facts, layout: &Layout) -> String {
    match layout {
        Layout::Tensor(ty) if ty.shape.is_empty() => ty.dtype.name().to_owned(),
        Layout::Tensor(ty) => format!("{}{}", ty.dtype.name(), facts.show_shape(&ty.shape)),
        Layout::Struct(layout) if layout.dims.is_empty() => plain_name(&layout.name).to_owned(),
        Layout::Struct(layout) => {
            let dims: Vec<String> = layout.dims.iter().map(|dim| facts.show(dim)).collect();
            format!("{}<{}>", plain_name(&layout.name), dims.join(", "))
        }
        Layout::Array(element, len) => format!("[{}; {len}]", layout_text(facts, element)),
    }
}
