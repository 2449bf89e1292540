//! Constants of a block as items of Rust.

use proc_macro2::{Group, Literal, TokenStream, TokenTree};
use syn::LitInt;
use tensorjit_core::syntax::ast::{Const, TypeKind};

/// The constant as written, but that literals of a float are floats to Rust too: `3.0 * 2` is one here.
pub(crate) fn item(constant: &Const) -> TokenStream {
    let suffix = match &constant.ty.kind {
        TypeKind::Tensor { elem, .. } if matches!(elem.text.as_str(), "f32" | "f64") => elem.text.as_str(),
        _ => return constant.tokens.clone(),
    };
    let mut value = false;
    let tokens = constant.tokens.clone().into_iter().map(|token| {
        let token = if value { floats(token, suffix) } else { token };
        value |= matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '=');
        token
    });
    tokens.collect()
}

/// A token in which literals without a type have one.
fn floats(token: TokenTree, suffix: &str) -> TokenTree {
    match token {
        TokenTree::Group(group) => {
            let inside = group.stream().into_iter().map(|token| floats(token, suffix)).collect();
            let mut typed = Group::new(group.delimiter(), inside);
            typed.set_span(group.span());
            TokenTree::Group(typed)
        }
        TokenTree::Literal(literal) => TokenTree::Literal(float(&literal, suffix).unwrap_or(literal)),
        token => token,
    }
}

/// A float for an integer without a suffix.
fn float(literal: &Literal, suffix: &str) -> Option<Literal> {
    let integer: LitInt = syn::parse_str(&literal.to_string()).ok()?;
    let untyped = integer.suffix().is_empty();
    let text = untyped.then(|| format!("{}{suffix}", integer.base10_digits()))?;
    let mut float: Literal = text.parse().ok()?;
    float.set_span(literal.span());
    Some(float)
}

#[cfg(test)]
mod tests {
    use tensorjit_core::syntax::ast::Item;
    use tensorjit_core::syntax::parse_text;

    #[test]
    fn literals_of_floats_are_floats() {
        let text =
            "/// 1 = 1\npub const A: f64 = 3.0 * (2 - 0x10) / 1e3; const B: i64 = 2 * 3; const C: f32 = -1;";
        let items = parse_text(text).block.items;
        let shown: Vec<String> = items
            .iter()
            .map(|item| match item {
                Item::Const(constant) => super::item(constant).to_string(),
                Item::Fn(_) | Item::Struct(_) => String::new(),
            })
            .collect();
        assert_eq!(
            shown,
            [
                "# [doc = \" 1 = 1\"] pub const A : f64 = 3.0 * (2f64 - 16f64) / 1e3 ;",
                "const B : i64 = 2 * 3 ;",
                "const C : f32 = - 1f32 ;"
            ]
        );
    }
}
