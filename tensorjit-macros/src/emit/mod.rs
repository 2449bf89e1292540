//! The Rust items of a compiled function.
//!
//! A function `f` becomes `fn f` and `mod f` beside it. The generic shells only describe their arguments; what
//! follows them is not generic.

mod descriptor;
mod docs;
mod shells;
mod structs;
mod stub;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use tensorjit_core::check::Layout;
use tensorjit_core::dim::Dim;
use tensorjit_core::dim::facts::{Condition, Facts};
use tensorjit_core::dim::program::{Axis, SolveRow, solve};
use tensorjit_core::graph::Type;
use tensorjit_runtime::abi::{DType, Role};

pub(crate) use descriptor::{Code, EntryPoint};
pub(crate) use docs::is_condition;
pub(crate) use structs::structure;
pub(crate) use stub::{Structs, stub, stub_struct};

/// A function as the macro's user sees it.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// Attributes as written, documentation among them.
    pub(crate) attributes: Vec<TokenStream>,
    /// Visibility as written.
    pub(crate) visibility: TokenStream,
    /// The name.
    pub(crate) name: Ident,
    /// Symbols and what is known of them.
    pub(crate) facts: Facts,
    /// The `where` clauses as written.
    pub(crate) conditions: Vec<Condition>,
    /// Parameters in order, as written.
    pub(crate) arguments: Vec<Argument>,
    /// The leaves of all parameters in order.
    pub(crate) params: Vec<Param>,
    /// The result, or the parts of a tuple in order, as written.
    pub(crate) values: Vec<Layout>,
    /// The leaves of all results in order.
    pub(crate) results: Vec<Output>,
    /// Whether the results are written as a tuple.
    pub(crate) tuple: bool,
}

/// A parameter as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    /// The name.
    pub(crate) name: Ident,
    /// The type.
    pub(crate) layout: Layout,
    /// Input or state.
    pub(crate) role: Role,
}

/// A leaf of a result.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// `result`, `result.0.w`.
    pub(crate) name: String,
    /// Element type and extents.
    pub(crate) tensor: Tensor,
}

/// A leaf of a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    /// Its path: `x`, `params.layers[3].w`.
    pub(crate) name: String,
    /// Element type and extents.
    pub(crate) tensor: Tensor,
    /// Input or state.
    pub(crate) role: Role,
    /// The bound of its values, where it is an index.
    pub(crate) index_bound: Option<Dim>,
}

/// Element type and extents.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    /// The element type.
    pub(crate) dtype: DType,
    /// The extents.
    pub(crate) shape: Vec<Dim>,
}

impl Tensor {
    /// Of a type of the graph.
    pub(crate) fn of(ty: &Type) -> Tensor {
        Tensor { dtype: ty.dtype, shape: ty.shape.to_vec() }
    }
}

/// Which forms a function has: those whose symbols all follow from what the form is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forms {
    /// `f(..)`.
    pub(crate) plain: bool,
    /// `f::into(..)`.
    pub(crate) into: bool,
}

impl Signature {
    /// How symbols follow from the parameters and results.
    pub(crate) fn solve(&self) -> Vec<SolveRow> {
        let params = self.params.iter().map(|param| &param.tensor);
        let axes: Vec<Axis<'_>> = params
            .chain(self.results.iter().map(|output| &output.tensor))
            .zip(0..)
            .flat_map(|(tensor, param)| {
                tensor.shape.iter().zip(0..).map(move |(extent, axis)| Axis { param, axis, extent })
            })
            .collect();
        // What arguments determine comes from arguments: they are looked through before the results.
        let inputs = axes.iter().take_while(|axis| (axis.param as usize) < self.params.len()).count();
        let rows = solve(self.facts.symbols.len(), &axes[..inputs]);
        if rows.len() == self.facts.symbols.len() { rows } else { solve(self.facts.symbols.len(), &axes) }
    }

    /// The forms that its symbols allow.
    pub(crate) fn forms(&self) -> Forms {
        let rows = self.solve();
        let into = rows.len() == self.facts.symbols.len();
        Forms { plain: into && rows.iter().all(|row| (row.param as usize) < self.params.len()), into }
    }
}

/// All items of a function.
pub(crate) fn items(face: &TokenStream, signature: &Signature, code: &Code) -> TokenStream {
    let forms = signature.forms();
    let shells = shells::Shells::new(face, signature);
    let function = forms.plain.then(|| shells.plain());
    let into = forms.into.then(|| shells.output_forms());
    let Signature { visibility, name, attributes, .. } = signature;
    let conditions = attributes.iter().filter(|attribute| docs::is_condition(attribute));
    let docs = docs::of_module(signature, forms);
    let descriptor = descriptor::descriptor(face, signature, code);
    let with_dims = shells.with_dims();
    quote! {
        #function
        #(#conditions)*
        #[doc = #docs]
        #visibility mod #name {
            #into
            #with_dims
            #descriptor
        }
    }
}

/// A name of the expansion's own, which cannot meet one of the user's.
fn own(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// A name that the user may use.
pub(crate) fn public(name: &str) -> Ident {
    // A name that Rust reserves, in any edition of the user's crate, is legal in the language; it becomes a raw
    // identifier.  `gen` is reserved from the edition of 2024 on.
    match syn::parse_str::<Ident>(name) {
        Ok(ident) if name != "gen" => ident,
        _ => format_ident!("r#{name}"),
    }
}

/// The Rust type of a struct, or its alias where that is one of another block, whose name has two parts here.
pub(crate) fn struct_name(name: &str) -> Ident {
    match name.split_once('/') {
        None => public(name),
        Some((block, item)) => own(&format!("__tensor_fn_{item}_{block}")),
    }
}

#[cfg(test)]
mod tests;
