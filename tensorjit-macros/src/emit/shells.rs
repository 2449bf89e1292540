//! The generic shells: they describe their arguments and call what is not generic.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use tensorjit_runtime::abi::{DType, Role};

use super::{Param, Signature, Tensor, docs, own, public};

/// Writes the functions of one signature.
pub(super) struct Shells<'s> {
    face: &'s TokenStream,
    signature: &'s Signature,
    /// `x: impl Arg<..>` for each parameter.
    params: Vec<TokenStream>,
    /// The description of each parameter.
    describe: Vec<TokenStream>,
    /// The type of the value.
    value: TokenStream,
}

impl<'s> Shells<'s> {
    pub(super) fn new(face: &'s TokenStream, signature: &'s Signature) -> Shells<'s> {
        let params = signature.params.iter().map(|param| parameter(face, param)).collect();
        let describe = signature.params.iter().map(|param| describe(face, param)).collect();
        Shells { face, signature, params, describe, value: value(face, signature) }
    }

    /// `fn f(..) -> Result<..>`, and what it calls.
    pub(super) fn plain(&self) -> TokenStream {
        let Shells { face, params, describe, value, .. } = self;
        let Signature { attributes, visibility, name, .. } = self.signature;
        let docs = docs::of_function(self.signature);
        quote! {
            #(#attributes)*
            #[doc = #docs]
            #[allow(clippy::too_many_arguments, clippy::type_complexity)]
            #visibility fn #name<'a>(#(#params),*) -> #face::Result<#value> {
                #name::__new(&[#(#describe),*], ::core::option::Option::None)
            }
        }
    }

    /// `fn into(..)` and `fn into_with(..)`, and what they call.
    pub(super) fn output_forms(&self) -> TokenStream {
        let Shells { face, params, describe, .. } = self;
        let (outputs, describe_outputs) = self.outputs();
        let workspace = own("workspace");
        let signature = quote!(#(#params,)* #(#outputs),*);
        let views = quote!(&[#(#describe,)* #(#describe_outputs),*]);
        let docs = docs::of_into(self.signature);
        quote! {
            #[doc = #docs]
            #[allow(clippy::too_many_arguments)]
            pub fn into<'a>(#signature) -> #face::Result<()> {
                __call(#views, ::core::option::Option::None)
            }

            /// As `into`, with memory for intermediate values that the caller keeps.
            ///
            /// # Errors
            ///
            /// Those of `into`.
            #[allow(clippy::too_many_arguments)]
            pub fn into_with<'a>(#workspace: &mut #face::Workspace, #signature) -> #face::Result<()> {
                __call(#views, ::core::option::Option::Some(#workspace))
            }

            fn __call(
                views: &[#face::__private::arg::ArgView<'_>],
                workspace: ::core::option::Option<&mut #face::Workspace>,
            ) -> #face::Result<()> {
                // SAFETY: the entries were compiled from what the description says; the shells make one view for
                // each parameter, with its element type and rank, from exclusive references where it is written.
                unsafe { #face::__private::call::call(&FUNCTION, views, ::core::option::Option::None, workspace) }
            }
        }
    }

    /// `struct Dims`, `fn with_dims(..)` and `fn workspace_bytes(..)`, and what all forms that return values call.
    pub(super) fn with_dims(&self) -> TokenStream {
        let Shells { face, params, describe, value, .. } = self;
        let symbols: Vec<Ident> =
            self.signature.facts.symbols.iter().map(|symbol| public(&symbol.name)).collect();
        let dims = own("dims");
        let fields = self.signature.facts.symbols.iter().zip(&symbols).map(|(info, field)| {
            let docs = docs::bounds(info);
            quote!(#[doc = #docs] pub #field: usize)
        });
        let docs = docs::of_with_dims(self.signature);
        let (results, take) = self.results();
        let given = quote!(&[#(#dims.#symbols),*]);
        let (bound, unused) = (own("given"), own("outputs"));
        quote! {
            /// The values of all dimension symbols.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            #[allow(non_snake_case)]
            pub struct Dims { #(#fields),* }

            #[doc = #docs]
            #[allow(clippy::too_many_arguments, clippy::type_complexity)]
            pub fn with_dims<'a>(#dims: Dims, #(#params),*) -> #face::Result<#value> {
                let _ = #dims;
                __new(&[#(#describe),*], ::core::option::Option::Some(#given))
            }

            /// The bytes of workspace that a call with these dimensions takes, where all tensors lie in memory
            /// row by row without gaps.
            ///
            /// # Errors
            ///
            /// As a call with them: bounds, preconditions, overflow.
            pub fn workspace_bytes(#dims: Dims) -> #face::Result<usize> {
                let _ = #dims;
                #face::__private::call::workspace_bytes(&FUNCTION, #given)
            }

            #[allow(clippy::type_complexity)]
            pub(super) fn __new(
                views: &[#face::__private::arg::ArgView<'_>],
                #bound: ::core::option::Option<&[usize]>,
            ) -> #face::Result<#value> {
                let mut #unused = [#(#results),*];
                // SAFETY: as in the other forms; the results are the last parameters of the description.
                unsafe { #face::__private::call::call_new(&FUNCTION, views, #bound, &mut #unused)? };
                #take
            }
        }
    }

    /// The outputs of `into`: parameters and their descriptions.
    fn outputs(&self) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let face = self.face;
        let each = self.signature.results.iter().enumerate().map(|(index, tensor)| {
            let name =
                if self.signature.tuple { format_ident!("result_{index}") } else { format_ident!("result") };
            // A parameter of the user may have this name.
            let name = own(&name.to_string());
            let ty = mutable(face, tensor);
            (quote!(#name: #ty), describe_mutable(face, &name, tensor))
        });
        each.unzip()
    }

    /// Empty results, and the expression that takes their values out of `outputs`.
    fn results(&self) -> (Vec<TokenStream>, TokenStream) {
        let (face, results) = (self.face, &self.signature.results);
        let empty = results.iter().map(|_| quote!(#face::__private::outputs::Output::new())).collect();
        let names: Vec<Ident> = (0..results.len()).map(|index| own(&format!("output_{index}"))).collect();
        let values: Vec<TokenStream> = results
            .iter()
            .zip(&names)
            .map(|(tensor, name)| match tensor.shape.len() {
                0 => quote!(#name.scalar()),
                _ => quote!(#name.array()),
            })
            .collect();
        let value = match values.as_slice() {
            [value] if !self.signature.tuple => value.clone(),
            values => quote!((#(#values,)*)),
        };
        let outputs = own("outputs");
        (empty, quote! { let [#(#names),*] = #outputs; ::core::result::Result::Ok(#value) })
    }
}

/// The type of the value of a function.
pub(super) fn value(face: &TokenStream, signature: &Signature) -> TokenStream {
    let types: Vec<TokenStream> = signature.results.iter().map(|tensor| owned(face, tensor)).collect();
    match types.as_slice() {
        [ty] if !signature.tuple => ty.clone(),
        types => quote!((#(#types,)*)),
    }
}

/// `x: impl Arg<'a, f32, Ix2>`, or `x: f32`.
pub(super) fn parameter(face: &TokenStream, param: &Param) -> TokenStream {
    let (name, tensor) = (&param.name, &param.tensor);
    let element = element(tensor.dtype);
    let ty = match (param.role, tensor.shape.len()) {
        (Role::State | Role::Output, _) => mutable(face, tensor),
        (Role::Input, 0) => element,
        (Role::Input, _) => {
            let dimension = dimension(face, tensor);
            quote!(impl #face::Arg<'a, #element, #dimension>)
        }
    };
    quote!(#name: #ty)
}

fn describe(face: &TokenStream, param: &Param) -> TokenStream {
    let (name, tensor) = (&param.name, &param.tensor);
    match (param.role, tensor.shape.len()) {
        (Role::State | Role::Output, _) => describe_mutable(face, name, tensor),
        (Role::Input, 0) => quote!(#face::__private::arg::ArgView::scalar(&#name)),
        (Role::Input, _) => quote!(#face::Arg::describe(#name)),
    }
}

/// The type of a parameter that is written.
pub(super) fn mutable(face: &TokenStream, tensor: &Tensor) -> TokenStream {
    let element = element(tensor.dtype);
    if tensor.shape.is_empty() {
        return quote!(&mut #element);
    }
    let dimension = dimension(face, tensor);
    quote!(impl #face::ArgMut<'a, #element, #dimension>)
}

fn describe_mutable(face: &TokenStream, name: &Ident, tensor: &Tensor) -> TokenStream {
    if tensor.shape.is_empty() {
        quote!(#face::__private::arg::ArgView::scalar_mut(#name))
    } else {
        quote!(#face::ArgMut::describe_mut(#name))
    }
}

/// The type of a result.
fn owned(face: &TokenStream, tensor: &Tensor) -> TokenStream {
    let element = element(tensor.dtype);
    if tensor.shape.is_empty() {
        return element;
    }
    let dimension = dimension(face, tensor);
    quote!(#face::ndarray::Array<#element, #dimension>)
}

fn element(dtype: DType) -> TokenStream {
    let name = own(dtype.name());
    quote!(::core::primitive::#name)
}

fn dimension(face: &TokenStream, tensor: &Tensor) -> TokenStream {
    let name = format_ident!("Ix{}", tensor.shape.len());
    quote!(#face::ndarray::#name)
}
