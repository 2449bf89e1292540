//! The generic shells: they describe their arguments and call what is not generic.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use tensorjit_runtime::abi::{DType, Role};

use super::{Argument, Signature, docs, own, public, struct_name};
use tensorjit_core::check::Layout;

/// Writes the functions of one signature.
pub(super) struct Shells<'s> {
    face: &'s TokenStream,
    signature: &'s Signature,
}

/// Where the items stand that a shell names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Beside the structs of the block.
    Outside,
    /// In the module of the function.
    Inside,
}

impl<'s> Shells<'s> {
    pub(super) fn new(face: &'s TokenStream, signature: &'s Signature) -> Shells<'s> {
        Shells { face, signature }
    }

    /// `x: impl Arg<..>` for each parameter.
    fn params(&self, place: Place) -> Vec<TokenStream> {
        self.signature.arguments.iter().map(|argument| parameter(self.face, place, argument)).collect()
    }

    /// The descriptions of the parameters, and of outputs after them.
    fn views(&self, outputs: &[(Ident, &Layout)]) -> TokenStream {
        let face = self.face;
        let arguments =
            self.signature.arguments.iter().map(|argument| (&argument.name, &argument.layout, argument.role));
        let outputs = outputs.iter().map(|(name, layout)| (name, *layout, Role::Output));
        let all: Vec<(&Ident, &Layout, Role)> = arguments.chain(outputs).collect();
        if all.iter().all(|(_, layout, _)| matches!(layout, Layout::Tensor(_))) {
            let views = all.iter().map(|(name, layout, role)| describe(face, name, layout, *role));
            return quote!(&[#(#views),*]);
        }
        let count: usize = all.iter().map(|(_, layout, _)| layout.count()).sum();
        let (views, to) = (own("views"), own("to"));
        let each = all.iter().map(|(name, layout, role)| match (layout, role) {
            (Layout::Tensor(_), _) => {
                let view = describe(face, name, layout, *role);
                quote!(#to.push(#view);)
            }
            (_, Role::Input) => quote!(#face::Leaves::describe_leaves(#name, &mut #to);),
            (_, Role::State | Role::Output) => quote!(#face::Leaves::describe_leaves_mut(#name, &mut #to);),
        });
        quote!(&{
            let mut #views = [#face::__private::arg::ArgView::unfilled(); #count];
            let mut #to = #face::__private::leaves::Views::new(&mut #views);
            #(#each)*
            #views
        })
    }

    /// `fn f(..) -> Result<..>`, and what it calls.
    pub(super) fn plain(&self) -> TokenStream {
        let face = self.face;
        let (params, views) = (self.params(Place::Outside), self.views(&[]));
        let value = value(face, Place::Outside, self.signature);
        let Signature { attributes, visibility, name, .. } = self.signature;
        let docs = docs::of_function(self.signature);
        // Scalars alone do not use the lifetime.
        quote! {
            #(#attributes)*
            #[doc = #docs]
            #[allow(clippy::too_many_arguments, clippy::type_complexity, clippy::extra_unused_lifetimes)]
            #visibility fn #name<'a>(#(#params),*) -> #face::Result<#value> {
                #name::__new(#views, ::core::option::Option::None)
            }
        }
    }

    /// `fn into(..)` and `fn into_with(..)`, and what they call.
    pub(super) fn output_forms(&self) -> TokenStream {
        let face = self.face;
        let params = self.params(Place::Inside);
        let outputs = self.outputs();
        let views = self.views(&outputs);
        let outputs = outputs.iter().map(|(name, layout)| {
            let ty = mutable(face, Place::Inside, layout);
            quote!(#name: #ty)
        });
        let workspace = own("workspace");
        let signature = quote!(#(#params,)* #(#outputs),*);
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
        let face = self.face;
        let (params, views) = (self.params(Place::Inside), self.views(&[]));
        let value = value(face, Place::Inside, self.signature);
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
                __new(#views, ::core::option::Option::Some(#given))
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

    /// The outputs of `into`.
    fn outputs(&self) -> Vec<(Ident, &'s Layout)> {
        let each = self.signature.values.iter().enumerate().map(|(index, layout)| {
            let name =
                if self.signature.tuple { format_ident!("result_{index}") } else { format_ident!("result") };
            // A parameter of the user may have this name.
            (own(&name.to_string()), layout)
        });
        each.collect()
    }

    /// Empty results, and the expression that takes their values out of `outputs`.
    fn results(&self) -> (Vec<TokenStream>, TokenStream) {
        let (face, signature) = (self.face, self.signature);
        let empty =
            signature.results.iter().map(|_| quote!(#face::__private::outputs::Output::new())).collect();
        let outputs = own("outputs");
        if signature.values.iter().any(|layout| !matches!(layout, Layout::Tensor(_))) {
            let each = signature.values.iter().map(|_| quote!(#face::Leaves::take(&mut #outputs)));
            let value = tuple(signature, each.collect());
            return (
                empty,
                quote! {
                    let mut #outputs = ::core::iter::IntoIterator::into_iter(#outputs);
                    ::core::result::Result::Ok(#value)
                },
            );
        }
        let names: Vec<Ident> =
            (0..signature.results.len()).map(|index| own(&format!("output_{index}"))).collect();
        let values =
            signature.results.iter().zip(&names).map(|(output, name)| match output.tensor.shape.len() {
                0 => quote!(#name.scalar()),
                _ => quote!(#name.array()),
            });
        let value = tuple(signature, values.collect());
        (empty, quote! { let [#(#names),*] = #outputs; ::core::result::Result::Ok(#value) })
    }
}

/// The parts of a result, as a tuple where they are written as one.
fn tuple(signature: &Signature, parts: Vec<TokenStream>) -> TokenStream {
    match parts.as_slice() {
        [part] if !signature.tuple => part.clone(),
        parts => quote!((#(#parts,)*)),
    }
}

/// The type of the value of a function.
fn value(face: &TokenStream, place: Place, signature: &Signature) -> TokenStream {
    tuple(signature, signature.values.iter().map(|layout| owned(face, place, layout)).collect())
}

/// `x: impl Arg<'a, f32, Ix2>`, `x: f32`, or `x: &'a Layer`.
fn parameter(face: &TokenStream, place: Place, argument: &Argument) -> TokenStream {
    let name = &argument.name;
    let ty = match (argument.role, &argument.layout) {
        (Role::State | Role::Output, layout) => mutable(face, place, layout),
        (Role::Input, Layout::Tensor(ty)) if ty.shape.is_empty() => element(face, ty.dtype),
        (Role::Input, Layout::Tensor(ty)) => {
            let (element, dimension) = (element(face, ty.dtype), dimension(face, ty.rank()));
            quote!(impl #face::Arg<'a, #element, #dimension>)
        }
        (Role::Input, layout) => {
            let ty = owned(face, place, layout);
            quote!(&'a #ty)
        }
    };
    quote!(#name: #ty)
}

/// The description of a tensor or scalar.
fn describe(face: &TokenStream, name: &Ident, layout: &Layout, role: Role) -> TokenStream {
    let scalar = matches!(layout, Layout::Tensor(ty) if ty.shape.is_empty());
    match (role, scalar) {
        (Role::State | Role::Output, true) => quote!(#face::__private::arg::ArgView::scalar_mut(#name)),
        (Role::State | Role::Output, false) => quote!(#face::ArgMut::describe_mut(#name)),
        (Role::Input, true) => quote!(#face::__private::arg::ArgView::scalar(&#name)),
        (Role::Input, false) => quote!(#face::Arg::describe(#name)),
    }
}

/// The type of a parameter that is written.
fn mutable(face: &TokenStream, place: Place, layout: &Layout) -> TokenStream {
    match layout {
        Layout::Tensor(ty) if ty.shape.is_empty() => {
            let element = element(face, ty.dtype);
            quote!(&mut #element)
        }
        Layout::Tensor(ty) => {
            let (element, dimension) = (element(face, ty.dtype), dimension(face, ty.rank()));
            quote!(impl #face::ArgMut<'a, #element, #dimension>)
        }
        layout => {
            let ty = owned(face, place, layout);
            quote!(&'a mut #ty)
        }
    }
}

/// The type of a result.
fn owned(face: &TokenStream, place: Place, layout: &Layout) -> TokenStream {
    match layout {
        Layout::Tensor(ty) if ty.shape.is_empty() => element(face, ty.dtype),
        Layout::Tensor(ty) => {
            let (element, dimension) = (element(face, ty.dtype), dimension(face, ty.rank()));
            quote!(#face::ndarray::Array<#element, #dimension>)
        }
        Layout::Struct(layout) => {
            let name = struct_name(&layout.name);
            if place == Place::Inside { quote!(super::#name) } else { quote!(#name) }
        }
        Layout::Array(item, len) => {
            let item = owned(face, place, item);
            quote!([#item; #len])
        }
    }
}

/// The type of a field.
pub(super) fn field(face: &TokenStream, layout: &Layout) -> TokenStream {
    owned(face, Place::Outside, layout)
}

/// The Rust type of an element.
pub(super) fn element(face: &TokenStream, dtype: DType) -> TokenStream {
    let name = own(dtype.name());
    if dtype.is_half() { quote!(#face::__private::half::#name) } else { quote!(::core::primitive::#name) }
}

fn dimension(face: &TokenStream, rank: usize) -> TokenStream {
    let name = format_ident!("Ix{rank}");
    quote!(#face::ndarray::#name)
}
