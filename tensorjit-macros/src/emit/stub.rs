//! Items that stand in for a function with errors, so that its callers give no errors of their own.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use tensorjit_core::syntax::ast::{ExprKind, Extent, Function, Generic, Struct, TypeExpr, TypeKind};
use tensorjit_runtime::abi::DType;

use super::shells::element;
use super::{docs, own, public};

/// The structs that a block with errors names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Structs<'s> {
    /// Its own.
    pub(crate) own: &'s [&'s Struct],
    /// Those of other blocks.
    pub(crate) imported: &'s BTreeMap<String, Ident>,
}

impl Structs<'_> {
    /// The Rust type of the struct of that name.
    fn name(&self, name: &str) -> Option<Ident> {
        let own = self.own.iter().any(|item| item.name.text == name).then(|| public(name));
        own.or_else(|| self.imported.get(name).cloned())
    }
}

/// The items of a function as it is written, with bodies that never run: the build fails.
pub(crate) fn stub(face: &TokenStream, function: &Function, structs: &Structs<'_>) -> TokenStream {
    let (outside, inside) =
        (Names { face, structs, prefix: quote!() }, Names { face, structs, prefix: quote!(super::) });
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
    let params = |types: &Names<'_>| -> Vec<TokenStream> {
        let each = function.params.iter().zip(&names).map(|(param, name)| {
            let ty = types.parameter(&param.ty, param.mutable);
            quote!(#name: #ty)
        });
        each.collect()
    };
    let value = |types: &Names<'_>| function.result.as_ref().map_or_else(|| quote!(()), |ty| types.value(ty));
    let (outer_params, params) = (params(&outside), params(&inside));
    let (outer_value, value) = (value(&outside), value(&inside));
    let outputs: Vec<TokenStream> = leaves(function.result.as_ref())
        .into_iter()
        .enumerate()
        .map(|(index, ty)| {
            let (name, ty) = (own(&format!("result_{index}")), inside.parameter(ty, true));
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
        #visibility fn #name<'a>(#(#outer_params),*) -> #face::Result<#outer_value> { #body }
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

/// A struct as it is written, with bodies that never run: the build fails.
pub(crate) fn stub_struct(face: &TokenStream, item: &Struct, structs: &Structs<'_>) -> TokenStream {
    let types = Names { face, structs, prefix: quote!() };
    let (name, visibility) = (public(&item.name.text), &item.visibility);
    let conditions = item.attributes.iter().filter(|attribute| docs::is_condition(attribute));
    let mut seen = BTreeSet::new();
    let fields = item.fields.iter().filter(|field| seen.insert(&field.name.text)).map(|field| {
        let (name, ty) = (public(&field.name.text), types.value(&field.ty));
        // A struct that contains itself has been refused, and must not be refused again in other words.
        match contains(&field.ty, &item.name.text, structs.own, &mut BTreeSet::new()) {
            true => quote!(pub #name: ::std::boxed::Box<#ty>),
            false => quote!(pub #name: #ty),
        }
    });
    let dims = (0..item.generics.len()).map(|index| own(&format!("dim_{index}")));
    let files = ["safetensors", "npz"].map(|format| file_format(face, &name, format));
    quote! {
        #(#conditions)*
        #[allow(missing_docs, dead_code, unreachable_pub, private_interfaces, clippy::all)]
        #[derive(::core::clone::Clone, ::core::fmt::Debug)]
        #visibility struct #name { #(#fields),* }

        #[allow(missing_docs, dead_code, clippy::all)]
        impl #name {
            pub fn zeros(#(#dims: usize),*) -> Self { ::core::unimplemented!() }
            pub fn leaves(&self) -> ::std::vec::Vec<(::std::string::String, #face::Leaf<'_>)> {
                ::core::unimplemented!()
            }
            pub fn leaves_mut(&mut self) -> ::std::vec::Vec<(::std::string::String, #face::LeafMut<'_>)> {
                ::core::unimplemented!()
            }
            pub fn map(self, _: impl ::core::ops::FnMut(&str, #face::LeafMut<'_>)) -> Self {
                ::core::unimplemented!()
            }
        }

        #(#files)*
    }
}

/// `save_..` and `load_..` of a format, where the face has its feature.
fn file_format(face: &TokenStream, name: &Ident, format: &str) -> TokenStream {
    let only = format_ident!("__with_{format}");
    let (save, load) = (format_ident!("save_{format}"), format_ident!("load_{format}"));
    quote! {
        #face::#only! {
            #[allow(missing_docs, dead_code, clippy::all)]
            impl #name {
                pub fn #save(
                    &self,
                    _: impl ::core::convert::AsRef<::std::path::Path>,
                ) -> ::core::result::Result<(), #face::FileError> {
                    ::core::unimplemented!()
                }
                pub fn #load(
                    &mut self,
                    _: impl ::core::convert::AsRef<::std::path::Path>,
                ) -> ::core::result::Result<(), #face::FileError> {
                    ::core::unimplemented!()
                }
            }
        }
    }
}

/// Whether a value of the type has one of the struct `name` within it.
fn contains<'t>(ty: &'t TypeExpr, name: &str, structs: &[&'t Struct], seen: &mut BTreeSet<&'t str>) -> bool {
    match &ty.kind {
        TypeKind::Tensor { elem: part, .. } | TypeKind::Struct { name: part, .. } => {
            let Some(part) = structs.iter().find(|item| item.name.text == part.text) else { return false };
            part.name.text == name
                || seen.insert(&part.name.text)
                    && part.fields.iter().any(|field| contains(&field.ty, name, structs, seen))
        }
        TypeKind::Array { element, .. } => contains(element, name, structs, seen),
        TypeKind::Tuple(parts) => parts.iter().any(|part| contains(part, name, structs, seen)),
        TypeKind::Choice(_) => false,
    }
}

/// The parts of a type in order.
fn leaves(ty: Option<&TypeExpr>) -> Vec<&TypeExpr> {
    match ty.map(|ty| (&ty.kind, ty)) {
        None => Vec::new(),
        Some((TypeKind::Tuple(items), _)) => items.iter().flat_map(|item| leaves(Some(item))).collect(),
        Some((_, ty)) => vec![ty],
    }
}

/// How types are written at one place.
struct Names<'n> {
    face: &'n TokenStream,
    structs: &'n Structs<'n>,
    /// What stands before the name of a struct.
    prefix: TokenStream,
}

impl Names<'_> {
    /// A parameter's type; what is no type of the language takes anything.
    fn parameter(&self, ty: &TypeExpr, mutable: bool) -> TokenStream {
        let face = self.face;
        match (tensor(face, ty), mutable) {
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
            (None, _) => match (self.made_of_structs(ty), mutable) {
                (Some(ty), false) => quote!(&'a #ty),
                (Some(ty), true) => quote!(&'a mut #ty),
                (None, _) => quote!(impl ::core::marker::Sized),
            },
        }
    }

    /// A value's type; what is no type of the language is a scalar.
    fn value(&self, ty: &TypeExpr) -> TokenStream {
        let face = self.face;
        if let TypeKind::Tuple(items) = &ty.kind {
            let items = items.iter().map(|item| self.value(item));
            return quote!((#(#items,)*));
        }
        match tensor(face, ty) {
            Some((element, 0)) => element,
            Some((element, rank)) => {
                let dimension = dimension(rank);
                quote!(#face::ndarray::Array<#element, #face::ndarray::#dimension>)
            }
            None => self.made_of_structs(ty).unwrap_or_else(|| quote!(::core::primitive::f32)),
        }
    }

    /// A struct of the block, or an array of them as long as its length is written out.
    fn made_of_structs(&self, ty: &TypeExpr) -> Option<TokenStream> {
        match &ty.kind {
            TypeKind::Tensor { elem: name, .. } | TypeKind::Struct { name, .. } => {
                let name = self.structs.name(&name.text)?;
                let prefix = &self.prefix;
                Some(quote!(#prefix #name))
            }
            TypeKind::Array { element, len: Extent::Dim(len) } => {
                let element = self.made_of_structs(element)?;
                let ExprKind::Int(len, _) = &len.kind else { return None };
                let len = usize::try_from(*len).ok()?;
                Some(quote!([#element; #len]))
            }
            _ => None,
        }
    }
}

fn dimension(rank: usize) -> Ident {
    format_ident!("Ix{rank}")
}

/// Element type and rank, where they are legal.
fn tensor(face: &TokenStream, ty: &TypeExpr) -> Option<(TokenStream, usize)> {
    let TypeKind::Tensor { elem, shape } = &ty.kind else { return None };
    let dtype = DType::ALL.into_iter().find(|dtype| dtype.name() == elem.text)?;
    (shape.len() <= tensorjit_runtime::arg::MAX_RANK).then(|| (element(face, dtype), shape.len()))
}
