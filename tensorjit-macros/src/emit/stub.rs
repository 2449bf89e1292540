//! Items that stand in for a function with errors, so that its callers give no errors of their own.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use tensorjit_core::syntax::ast::{Function, Generic, TypeExpr, TypeKind};
use tensorjit_runtime::abi::DType;

use super::{docs, own, public};

/// The items of a function as it is written, with bodies that never run: the build fails.
pub(crate) fn stub(face: &TokenStream, function: &Function) -> TokenStream {
    let name = public(&function.name.text);
    let visibility = &function.visibility;
    let conditions: Vec<&TokenStream> =
        function.attributes.iter().filter(|attribute| docs::is_condition(attribute)).collect();
    // A name that is declared twice is an error that has been told; Rust must not tell it again.
    let names: Vec<Ident> = function
        .params
        .iter()
        .enumerate()
        .map(|(index, param)| {
            let again = function.params[..index].iter().any(|other| other.name.text == param.name.text);
            if again { own(&format!("parameter_{index}")) } else { public(&param.name.text) }
        })
        .collect();
    let params: Vec<TokenStream> = function
        .params
        .iter()
        .zip(&names)
        .map(|(param, name)| {
            let ty = parameter(face, &param.ty, param.mutable);
            quote!(#name: #ty)
        })
        .collect();
    let value = function.result.as_ref().map_or_else(|| quote!(()), |ty| value(face, ty));
    let outputs: Vec<TokenStream> = leaves(function.result.as_ref())
        .into_iter()
        .enumerate()
        .map(|(index, ty)| {
            let (name, ty) = (own(&format!("result_{index}")), parameter(face, ty, true));
            quote!(#name: #ty)
        })
        .collect();
    let output_names = (0..outputs.len()).map(|index| own(&format!("result_{index}")));
    let symbols: BTreeMap<&str, Ident> = function
        .generics
        .iter()
        .filter_map(|generic| match generic {
            Generic::Dim { name, .. } => Some((name.text.as_str(), public(&name.text))),
            Generic::Elem { .. } | Generic::Axes { .. } => None,
        })
        .collect();
    let symbols = symbols.values();
    let (dims, workspace) = (own("dims"), own("workspace"));
    let body = quote! { let _ = (#(&#names,)*); ::core::unimplemented!() };
    let into = quote! { let _ = (#(&#names,)* #(&#output_names,)*); ::core::unimplemented!() };
    quote! {
        #(#conditions)*
        #[allow(missing_docs, clippy::all)]
        #visibility fn #name<'a>(#(#params),*) -> #face::Result<#value> { #body }
        #(#conditions)*
        #[allow(missing_docs, non_snake_case, clippy::all)]
        #visibility mod #name {
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct Dims { #(pub #symbols: usize),* }
            pub fn into<'a>(#(#params,)* #(#outputs),*) -> #face::Result<()> { #into }
            pub fn into_with<'a>(
                #workspace: &mut #face::Workspace, #(#params,)* #(#outputs),*
            ) -> #face::Result<()> {
                let _ = #workspace;
                #into
            }
            pub fn with_dims<'a>(#dims: Dims, #(#params),*) -> #face::Result<#value> {
                let _ = #dims;
                #body
            }
            pub fn workspace_bytes(#dims: Dims) -> #face::Result<usize> {
                let _ = #dims;
                ::core::unimplemented!()
            }
            pub const KERNELS: #face::__private::abi::KernelInfo =
                #face::__private::abi::KernelInfo { nests: 0, levels: 0, workspace: "", code: &[] };
        }
    }
}

/// The tensors of a type in order.
fn leaves(ty: Option<&TypeExpr>) -> Vec<&TypeExpr> {
    match ty.map(|ty| (&ty.kind, ty)) {
        None => Vec::new(),
        Some((TypeKind::Tensor { .. }, ty)) => vec![ty],
        Some((TypeKind::Tuple(items), _)) => items.iter().flat_map(|item| leaves(Some(item))).collect(),
    }
}

/// A parameter's type; what is no type of the language takes anything.
fn parameter(face: &TokenStream, ty: &TypeExpr, mutable: bool) -> TokenStream {
    match (tensor(ty), mutable) {
        (Some((element, 0)), false) => element,
        (Some((element, 0)), true) => quote!(&mut #element),
        (Some((element, rank)), false) => {
            let dimension = dimension(rank);
            quote!(impl #face::Arg<'a, #element, #face::ndarray::#dimension>)
        }
        (Some((element, rank)), true) => {
            let dimension = dimension(rank);
            quote!(impl #face::ArgMut<'a, #element, #face::ndarray::#dimension>)
        }
        (None, _) => quote!(impl ::core::marker::Sized),
    }
}

/// A value's type; what is no type of the language is a scalar.
fn value(face: &TokenStream, ty: &TypeExpr) -> TokenStream {
    if let TypeKind::Tuple(items) = &ty.kind {
        let items = items.iter().map(|item| value(face, item));
        return quote!((#(#items,)*));
    }
    match tensor(ty) {
        Some((element, 0)) => element,
        Some((element, rank)) => {
            let dimension = dimension(rank);
            quote!(#face::ndarray::Array<#element, #face::ndarray::#dimension>)
        }
        None => quote!(::core::primitive::f32),
    }
}

fn dimension(rank: usize) -> Ident {
    format_ident!("Ix{rank}")
}

/// Element type and rank, where they are legal.
fn tensor(ty: &TypeExpr) -> Option<(TokenStream, usize)> {
    let TypeKind::Tensor { elem, shape } = &ty.kind else { return None };
    let dtype = DType::ALL.into_iter().find(|dtype| dtype.name() == elem.text)?;
    let name = own(dtype.name());
    (shape.len() <= tensorjit_runtime::arg::MAX_RANK).then(|| (quote!(::core::primitive::#name), shape.len()))
}
