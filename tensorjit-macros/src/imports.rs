//! Items of other blocks: how they are fetched, how others fetch those of this block, and what Rust sees of it.
//!
//! Beside each item stands a macro of its name that carries its parcel and gives it to whoever asks. A block with
//! imports asks one after another, each macro passing on to the next what has been asked for and what was given, and
//! the last to the second entry of the procedural macro.

use std::collections::BTreeMap;
use std::rc::Rc;

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream};
use quote::{format_ident, quote};
use tensorjit_core::check::{CheckedBlock, Layout};
use tensorjit_core::syntax::ast::{Block, Item, Use, plain_name};
use tensorjit_core::syntax::share::Offer;
use tensorjit_core::syntax::sources::Sources;

use crate::emit;
use crate::header::Input;
use crate::key::key;
use crate::session::Session;

/// What names a block among all that a program is made of.
pub(crate) fn block_id(user: &TokenStream, session: &Session) -> String {
    // Where the block stands, and in which expansion, for a macro may make several of one text.
    let first = user.clone().into_iter().next().map_or_else(Span::call_site, |tree| tree.span());
    let place = format!("{first:?} {:?}", Span::call_site());
    key(&[&session.package, &place])
}

/// Asks for all that a block imports; `__link!` is called with the answers.
pub(crate) fn fetch(input: &Input, uses: &[Use], sources: &Sources) -> TokenStream {
    let Input { face, header, user, .. } = input;
    let macros = uses.iter().map(|used| {
        let (path, name) = (&used.path, carrier(&used.item.text, sources.spans(used.item.at).0));
        quote!(#path #name !)
    });
    let mut calls = macros.chain([quote!(#face::__link !)]);
    let first = calls.next();
    quote!(#first { [ #({ #calls })* ] (#header) { #user } })
}

/// The macro beside an item.
fn carrier(name: &str, span: Span) -> Ident {
    format_ident!("__tensor_fn_{}", name, span = span)
}

/// The macros beside the items of a block.
pub(crate) fn offer(offers: &[Offer], id: &str, sources: &Sources) -> TokenStream {
    let (private, others): (Vec<&Offer>, Vec<&Offer>) =
        offers.iter().partition(|offer| offer.visibility.is_empty());
    let [private, others] =
        [private, others].map(|offers| offers.into_iter().map(|offer| one_offer(offer, id, sources)));
    // Blocks of one module may have private items of one name: all of them at once are imported by a star, which is
    // an error only where such a name is asked for.
    let apart = format_ident!("__tensor_fn_private_{id}");
    let private = (private.len() > 0).then(|| {
        quote! {
            #[doc(hidden)]
            mod #apart { #(#private)* }
            #[doc(hidden)]
            #[allow(unused_imports)]
            pub(crate) use #apart::*;
        }
    });
    quote!(#(#others)* #private)
}

fn one_offer(offer: &Offer, id: &str, sources: &Sources) -> TokenStream {
    let Offer { name, visibility, attributes, parcel } = offer;
    let conditions: Vec<&TokenStream> =
        attributes.iter().filter(|attribute| emit::is_condition(attribute)).collect();
    let alias = carrier(&name.text, sources.spans(name.at).0);
    // Exported macros of a crate have one namespace.
    let unique = format_ident!("__tensor_fn_{}_{}", name.text, id);
    let (export, visibility) = match visibility.to_string().as_str() {
        "pub" => (quote!(#[macro_export]), quote!(pub)),
        // That it is private to its block is said where it is imported.
        "" => (quote!(), quote!(pub(crate))),
        _ => (quote!(), quote!(#visibility)),
    };
    let var = Punct::new('$', Spacing::Alone);
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #[allow(unused_macros, non_local_definitions)]
        #export
        macro_rules! #unique {
            ([ { #var(#var next:tt)* } #var(#var others:tt)* ] #var(#var state:tt)*) => {
                #var(#var next)* { [ #var(#var others)* ] #var(#var state)* { #parcel } }
            };
        }
        #(#conditions)*
        #[doc(hidden)]
        #[allow(unused_imports, unreachable_pub)]
        #visibility use #unique as #alias;
    }
}

/// Imported structs as Rust items of the block name them.
#[derive(Debug, Default)]
pub(crate) struct Aliases {
    /// For the structs by the names that the checker has for them, those that [`emit`] knows.
    names: BTreeMap<String, String>,
    /// The aliases by the names of the imports.
    pub(crate) stubs: BTreeMap<String, Ident>,
    /// The items that make the aliases, and those of imports that are exported again.
    pub(crate) items: TokenStream,
}

impl Aliases {
    /// Of the imports of a block that `id` names.
    pub(crate) fn new(block: &Block, id: &str, sources: &Sources) -> Aliases {
        let mut aliases = Aliases::default();
        for (index, used) in block.uses.iter().enumerate() {
            let ident = |name: &str, at| {
                let mut ident = emit::public(name);
                ident.set_span(sources.spans(at).0);
                ident
            };
            let (path, item) = (&used.path, ident(&used.item.text, used.item.at));
            if let Some(key) = is_struct(block, used) {
                let name = format!("{id}{index}/{}", plain_name(&used.item.text));
                let alias = emit::struct_name(&name);
                aliases.items.extend(quote! {
                    #[doc(hidden)]
                    #[allow(unused_imports)]
                    use #path #item as #alias;
                });
                aliases.stubs.insert(used.name.text.clone(), alias);
                aliases.names.extend(key.map(|key| (key.to_owned(), name)));
            }
            if !used.visibility.is_empty() {
                let (visibility, name) = (&used.visibility, ident(&used.name.text, used.name.at));
                let (from, to) = (
                    carrier(&used.item.text, sources.spans(used.item.at).0),
                    carrier(&used.name.text, sources.spans(used.name.at).0),
                );
                aliases.items.extend(quote! {
                    #visibility use #path #item as #name;
                    #[doc(hidden)]
                    #[allow(unused_imports)]
                    #visibility use #path #from as #to;
                });
            }
        }
        aliases
    }

    /// Has parameters, results and fields name structs as Rust items do.
    pub(crate) fn rename(&self, block: &mut CheckedBlock) {
        if self.names.is_empty() {
            return;
        }
        let fields = block.structs.iter_mut().flat_map(|declared| &mut declared.fields);
        fields.for_each(|field| self.rename_layout(&mut field.layout));
        for function in &mut block.functions {
            function.arguments.iter_mut().for_each(|argument| self.rename_layout(&mut argument.layout));
            function.values.iter_mut().for_each(|layout| self.rename_layout(layout));
        }
    }

    /// Of a struct within a struct Rust items name nothing.
    fn rename_layout(&self, layout: &mut Layout) {
        match layout {
            Layout::Struct(layout) => {
                if let Some(name) = self.names.get(&layout.name) {
                    Rc::make_mut(layout).name.clone_from(name);
                }
            }
            Layout::Array(element, _) => self.rename_layout(Rc::make_mut(element)),
            Layout::Tensor(_) => {}
        }
    }
}

/// Whether an import may be a struct, with the checker's name for it where that is known: it is not where the
/// block that it comes from has errors.
fn is_struct<'b>(block: &'b Block, used: &'b Use) -> Option<Option<&'b str>> {
    let Some(home) = &used.home else { return Some(None) };
    let items = &block.modules.get(home.module)?.items;
    let is_meant = |item: &&Item| matches!(item, Item::Struct(_)) && item.name().text == home.item;
    items.iter().find(is_meant).map(|_| Some(home.item.as_str()))
}
