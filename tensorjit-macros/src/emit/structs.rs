//! The Rust items of a struct of tensors: a plain struct, and what its leaves are for.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use tensorjit_core::check::{CheckedStruct, Layout};
use tensorjit_core::dim::{Dim, Sym};
use tensorjit_core::syntax::sources::Sources;

use super::descriptor::dim_expr;
use super::{docs, own, public, shells, struct_name};

/// All items of a struct.
pub(crate) fn structure(face: &TokenStream, declared: &CheckedStruct, sources: &Sources) -> TokenStream {
    let named = |name: &str, at| {
        let mut ident = public(name);
        ident.set_span(sources.spans(at).0);
        ident
    };
    let name = named(&declared.name, declared.name_at);
    let names: Vec<Ident> = declared.fields.iter().map(|field| named(&field.name, field.at)).collect();
    let fields = declared.fields.iter().zip(&names).map(|(field, name)| {
        let attributes = &field.attributes;
        let ty = shells::field(face, &field.layout);
        let docs = format!("\n\n`{}`", docs::layout_text(&declared.facts, &field.layout));
        quote!(#(#attributes)* #[doc = #docs] pub #name: #ty)
    });
    let (attributes, visibility) = (&declared.attributes, &declared.visibility);
    let conditions: Vec<&TokenStream> =
        attributes.iter().filter(|attribute| docs::is_condition(attribute)).collect();
    let (walk, helpers) = (walk(face, &name, &names), helpers(face, declared, &name, &names));
    let safetensors = file_format(face, &name, "safetensors", "the format of Hugging Face", &conditions);
    let npz = file_format(face, &name, "npz", "NumPy's format", &conditions);
    quote! {
        #(#attributes)*
        #[derive(::core::clone::Clone, ::core::fmt::Debug)]
        #visibility struct #name { #(#fields),* }

        #(#conditions)*
        #helpers

        #(#conditions)*
        #walk

        #safetensors
        #npz
    }
}

/// `save_..` and `load_..` of a format, where the face has its feature.
fn file_format(
    face: &TokenStream,
    name: &Ident,
    format: &str,
    about: &str,
    conditions: &[&TokenStream],
) -> TokenStream {
    let (module, only) = (format_ident!("{format}"), format_ident!("__with_{format}"));
    let (save, load) = (format_ident!("save_{format}"), format_ident!("load_{format}"));
    let about_save =
        format!("Saves every leaf under its name, in {about}.\n\n# Errors\n\nIf the file cannot be written.");
    let about_load = format!(
        "Loads every leaf by its name, from a file in {about}; what else is in it is not looked at.\n\n# Errors\n\n\
         If the file cannot be read, lacks a leaf, or has it with another element type or shape. No leaf has changed \
         then."
    );
    quote! {
        #face::#only! {
            #(#conditions)*
            impl #name {
                #[doc = #about_save]
                pub fn #save(
                    &self,
                    path: impl ::core::convert::AsRef<::std::path::Path>,
                ) -> ::core::result::Result<(), #face::FileError> {
                    #face::__private::files::#module::save(self, path.as_ref())
                }

                #[doc = #about_load]
                pub fn #load(
                    &mut self,
                    path: impl ::core::convert::AsRef<::std::path::Path>,
                ) -> ::core::result::Result<(), #face::FileError> {
                    #face::__private::files::#module::load(self, path.as_ref())
                }
            }
        }
    }
}

/// `impl Leaves`: every field in order.
fn walk(face: &TokenStream, name: &Ident, names: &[Ident]) -> TokenStream {
    let steps: Vec<String> = names.iter().map(|name| syn::ext::IdentExt::unraw(name).to_string()).collect();
    let (path, visit) = (own("path"), own("visit"));
    quote! {
        impl #face::Leaves for #name {
            fn walk<'a>(
                &'a self,
                #path: &mut #face::__private::leaves::Path,
                #visit: &mut dyn ::core::ops::FnMut(&::core::primitive::str, #face::Leaf<'a>),
            ) {
                #(#path.within(#steps, |#path| #face::Leaves::walk(&self.#names, #path, #visit));)*
            }

            fn walk_mut<'a>(
                &'a mut self,
                #path: &mut #face::__private::leaves::Path,
                #visit: &mut dyn ::core::ops::FnMut(&::core::primitive::str, #face::LeafMut<'a>),
            ) {
                #(#path.within(#steps, |#path| #face::Leaves::walk_mut(&mut self.#names, #path, #visit));)*
            }

            #[inline]
            fn describe_leaves<'a>(&'a self, views: &mut #face::__private::leaves::Views<'_, 'a>) {
                #(#face::Leaves::describe_leaves(&self.#names, views);)*
            }

            #[inline]
            fn describe_leaves_mut<'a>(&'a mut self, views: &mut #face::__private::leaves::Views<'_, 'a>) {
                #(#face::Leaves::describe_leaves_mut(&mut self.#names, views);)*
            }

            fn take(
                outputs: &mut dyn ::core::iter::Iterator<Item = #face::__private::outputs::Output>,
            ) -> Self {
                // The fields are evaluated in this order.
                #name { #(#names: #face::Leaves::take(outputs)),* }
            }
        }
    }
}

/// The functions that programs call.
fn helpers(face: &TokenStream, declared: &CheckedStruct, name: &Ident, names: &[Ident]) -> TokenStream {
    let symbols: Vec<Ident> = declared.facts.symbols.iter().map(|symbol| public(&symbol.name)).collect();
    let writer = Zeros { face, declared, symbols: &symbols };
    let values = declared.fields.iter().map(|field| writer.value(&field.layout));
    quote! {
        impl #name {
            /// All elements zero (`false`), for the dimensions in the order of their declaration.
            ///
            /// # Panics
            ///
            /// If a tensor would have a negative extent, or more elements than memory can hold.
            #[allow(non_snake_case, clippy::too_many_arguments)]
            pub fn zeros(#(#symbols: ::core::primitive::usize),*) -> Self {
                #name { #(#names: #values),* }
            }

            /// The tensors and scalars in order, each with its name; that of an element has its position in it, as
            /// `layers.3.w`.
            pub fn leaves(
                &self,
            ) -> ::std::vec::Vec<(::std::string::String, #face::Leaf<'_>)> {
                #face::Leaves::leaves(self)
            }

            /// As `leaves`, to be written.
            pub fn leaves_mut(
                &mut self,
            ) -> ::std::vec::Vec<(::std::string::String, #face::LeafMut<'_>)> {
                #face::Leaves::leaves_mut(self)
            }

            /// The value after `change` has seen every leaf with its name.
            pub fn map(
                self,
                change: impl ::core::ops::FnMut(&::core::primitive::str, #face::LeafMut<'_>),
            ) -> Self {
                #face::Leaves::map(self, change)
            }
        }
    }
}

/// Writes values of zeros.
struct Zeros<'z> {
    face: &'z TokenStream,
    declared: &'z CheckedStruct,
    symbols: &'z [Ident],
}

impl Zeros<'_> {
    fn value(&self, layout: &Layout) -> TokenStream {
        let face = self.face;
        match layout {
            Layout::Tensor(ty) if ty.shape.is_empty() => quote!(::core::default::Default::default()),
            Layout::Tensor(ty) => {
                let extents = ty.shape.iter().map(|dim| self.extent(dim));
                quote!(#face::ndarray::Array::from_elem([#(#extents),*], ::core::default::Default::default()))
            }
            Layout::Struct(layout) => {
                let (name, dims) =
                    (struct_name(&layout.name), layout.dims.iter().map(|dim| self.extent(dim)));
                quote!(#name::zeros(#(#dims),*))
            }
            Layout::Array(element, _) => {
                let element = self.value(element);
                quote!(::core::array::from_fn(|_| #element))
            }
        }
    }

    fn extent(&self, dim: &Dim) -> TokenStream {
        let (face, symbols) = (self.face, self.symbols);
        if let Some(value) = dim.as_const().and_then(|value| usize::try_from(value).ok()) {
            return quote!(#value);
        }
        if let Some(symbol) =
            (0..).zip(symbols).find_map(|(i, symbol)| (*dim == Dim::sym(Sym(i))).then_some(symbol))
        {
            return quote!(#symbol);
        }
        let expr = dim_expr(face, &self.declared.facts, dim);
        quote!(#face::__private::leaves::extent(&#expr, &[#(#symbols),*]))
    }
}
