//! Whether the Rust items of a block have elements of `f16` or `bf16`, whose types are those of a feature.

use proc_macro2::TokenStream;
use quote::quote;
use tensorjit_core::syntax::ast::{Block, Item, TypeExpr, TypeKind};
use tensorjit_runtime::abi::DType;

/// The error of the face where the block needs the feature and it is off; nothing otherwise.
pub(crate) fn demand(face: &TokenStream, block: &Block) -> TokenStream {
    let needed = block.items.iter().any(|item| match item {
        Item::Fn(function) if function.public => {
            function.params.iter().map(|param| &param.ty).chain(&function.result).any(is_half)
        }
        Item::Struct(item) if item.public => item.fields.iter().any(|field| is_half(&field.ty)),
        Item::Fn(_) | Item::Struct(_) | Item::Const(_) => false,
    });
    if needed { quote!(#face::__needs_half! {}) } else { TokenStream::new() }
}

fn is_half(ty: &TypeExpr) -> bool {
    match &ty.kind {
        TypeKind::Tensor { elem, .. } => names_half(&elem.text),
        TypeKind::Array { element, .. } => is_half(element),
        TypeKind::Tuple(items) => items.iter().any(is_half),
        TypeKind::Struct { .. } | TypeKind::Choice(_) => false,
    }
}

/// Whether it is the name of such a type.
pub(crate) fn names_half(name: &str) -> bool {
    DType::ALL.iter().any(|dtype| dtype.is_half() && dtype.name() == name)
}
