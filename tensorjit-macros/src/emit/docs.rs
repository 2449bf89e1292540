//! The generated part of a function's documentation: shapes, dimensions, preconditions, errors.

use std::fmt::Write as _;

use proc_macro2::TokenStream;
use tensorjit_core::dim::facts::SymbolInfo;
use tensorjit_runtime::abi::Role;

use super::{Forms, Signature, Tensor};

/// Whether an attribute decides if the item exists, so that it belongs on every item.
pub(super) fn is_condition(attribute: &TokenStream) -> bool {
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
    for (index, tensor) in signature.results.iter().enumerate() {
        let _ = writeln!(text, "* `{}`: `{}`", signature.result_name(index), show(signature, tensor));
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
    if signature.params.is_empty() {
        text.push_str("None.\n");
    }
    for param in &signature.params {
        let state = if param.role == Role::State { "&mut " } else { "" };
        let _ = write!(text, "* `{}`: `{state}{}`", param.name, show(signature, &param.tensor));
        if let Some(bound) = &param.index_bound {
            let _ = write!(text, ", each value in `0..{}`", signature.facts.show(bound));
        }
        text.push('\n');
    }
    text
}

fn result(signature: &Signature) -> String {
    let types: Vec<String> = signature.results.iter().map(|tensor| show(signature, tensor)).collect();
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

/// `f32[B, 3]`, or `f32` for a scalar.
fn show(signature: &Signature, tensor: &Tensor) -> String {
    let shape =
        if tensor.shape.is_empty() { String::new() } else { signature.facts.show_shape(&tensor.shape) };
    format!("{}{shape}", tensor.dtype.name())
}
