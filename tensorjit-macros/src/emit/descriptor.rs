//! The constant that the runtime executes: dimension programs, checks, shapes, entries.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use tensorjit_core::dim::Dim;
use tensorjit_core::dim::facts::Facts;
use tensorjit_core::dim::program::SolveRow;
use tensorjit_runtime::abi::{DimOp, Level, Role};

use super::{Signature, Tensor, own};
use crate::facts::{CodeFacts, Program};

/// What code generation adds to a signature.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    /// The library to link; none where no code is made.
    pub(crate) library: Option<String>,
    /// The entries, highest level first.
    pub(crate) entries: Vec<EntryPoint>,
    /// What is known of it.
    pub(crate) facts: CodeFacts,
}

/// The code for one level.
#[derive(Clone, Debug)]
pub(crate) struct EntryPoint {
    /// What the machine must have.
    pub(crate) level: Level,
    /// The symbol in the library.
    pub(crate) symbol: String,
}

/// `static FUNCTION`, `const KERNELS`, and the imports of the machine code.
pub(super) fn descriptor(face: &TokenStream, signature: &Signature, code: &Code) -> TokenStream {
    let writer = Writer { face, signature };
    let name = signature.name.unraw().to_string();
    let count = signature.facts.symbols.len();
    let symbols = signature.facts.symbols.iter().map(|symbol| {
        let (name, low, high) = (&symbol.name, symbol.low, symbol.high);
        quote!(#face::__private::abi::Symbol { name: #name, low: #low, high: #high })
    });
    let params = signature
        .params
        .iter()
        .map(|param| writer.param(&param.name, &param.tensor, param.role, param.index_bound.as_ref()));
    let results =
        signature.results.iter().map(|output| writer.param(&output.name, &output.tensor, Role::Output, None));
    let solve = signature.solve();
    let solve = solve.iter().map(|row| writer.solve(row));
    let checks = signature.conditions.iter().map(|condition| {
        let (left, right) = (writer.dim(&condition.left), writer.dim(&condition.right));
        let relation = variant(condition.relation);
        quote!(#face::__private::abi::Check { left: #left, relation: #face::__private::abi::Relation::#relation, right: #right })
    });
    let sizes = code.facts.sizes.iter().map(|(program, least)| {
        let value = writer.program(program);
        quote!(#face::__private::abi::Size { value: #value, least: #least })
    });
    let workspace = writer.program(&code.facts.workspace);
    let (nests, levels, bytes) = (code.facts.nests, code.entries.len(), &code.facts.workspace.text);
    let sizes_of_code = code.entries.iter().zip(&code.facts.code).map(|(entry, bytes)| {
        let level = variant(entry.level);
        quote!(#face::__private::abi::CodeSize { level: #face::__private::abi::Level::#level, bytes: #bytes })
    });
    let entries = code.entries.iter().map(|entry| {
        let (level, symbol) = (variant(entry.level), own(&entry.symbol));
        quote!(#face::__private::abi::LevelEntry { level: #face::__private::abi::Level::#level, entry: #symbol })
    });
    let imports = imports(face, code);
    quote! {
        /// What the function was compiled to; all zero where no code was made, as under `cargo check`.
        pub const KERNELS: #face::__private::abi::KernelInfo =
            #face::__private::abi::KernelInfo {
                nests: #nests,
                levels: #levels,
                workspace: #bytes,
                code: &[#(#sizes_of_code),*],
            };

        #[doc(hidden)]
        pub static FUNCTION: #face::__private::abi::Function = {
            use #face::__private::{abi, plan};
            const PARAMS: &[abi::Param] = &[#(#params,)* #(#results),*];
            const LISTS: &plan::Lists<{ plan::axes(PARAMS) }, { plan::composed(PARAMS) }> =
                &plan::Lists::of(PARAMS, #count);
            abi::Function {
                name: #name,
                symbols: &[#(#symbols),*],
                params: PARAMS,
                solve: &[#(#solve),*],
                checks: &[#(#checks),*],
                sizes: &[#(#sizes),*],
                workspace: #workspace,
                entries: &[#(#entries),*],
                kernels: KERNELS,
                plan: plan::Plan::new(PARAMS, LISTS),
            }
        };

        #imports
    }
}

fn imports(face: &TokenStream, code: &Code) -> Option<TokenStream> {
    let library = code.library.as_ref()?;
    let symbols: Vec<Ident> = code.entries.iter().map(|entry| own(&entry.symbol)).collect();
    Some(quote! {
        #[link(name = #library, kind = "static")]
        unsafe extern "C" {
            #(fn #symbols(
                args: *const *mut ::core::primitive::u8,
                dims: *const ::core::primitive::i64,
                arena: *mut ::core::primitive::u8,
                host: *const #face::__private::abi::Host,
            );)*
        }
    })
}

struct Writer<'s> {
    face: &'s TokenStream,
    signature: &'s Signature,
}

impl Writer<'_> {
    fn dim(&self, dim: &Dim) -> TokenStream {
        dim_expr(self.face, &self.signature.facts, dim)
    }

    fn program(&self, program: &Program) -> TokenStream {
        expression(self.face, program)
    }

    fn param(&self, name: &str, tensor: &Tensor, role: Role, index_bound: Option<&Dim>) -> TokenStream {
        let face = self.face;
        let (dtype, role) = (variant(tensor.dtype), variant(role));
        let shape = tensor.shape.iter().map(|dim| self.dim(dim));
        let bound = match index_bound.map(|dim| self.dim(dim)) {
            Some(dim) => quote!(::core::option::Option::Some(#dim)),
            None => quote!(::core::option::Option::None),
        };
        quote!(#face::__private::abi::Param {
            name: #name,
            dtype: #face::__private::abi::DType::#dtype,
            role: #face::__private::abi::Role::#role,
            shape: &[#(#shape),*],
            index_bound: #bound,
        })
    }

    fn solve(&self, row: &SolveRow) -> TokenStream {
        let face = self.face;
        let SolveRow { symbol, param, axis, scale, offset } = row;
        let (symbol, offset) = (symbol.0, self.dim(offset));
        quote!(#face::__private::abi::Solve { symbol: #symbol, param: #param, axis: #axis, scale: #scale, offset: #offset })
    }
}

/// A dimension over the symbols of `facts`.
pub(super) fn dim_expr(face: &TokenStream, facts: &Facts, dim: &Dim) -> TokenStream {
    // The front end has refused factors that do not fit; a program without a value fails at call time.
    expression(face, &Program::new(facts, dim).unwrap_or_default())
}

fn expression(face: &TokenStream, program: &Program) -> TokenStream {
    let text = &program.text;
    let ops = program.ops.iter().map(|op| match op {
        DimOp::Const(value) => quote!(#face::__private::abi::DimOp::Const(#value)),
        DimOp::Symbol(symbol) => quote!(#face::__private::abi::DimOp::Symbol(#symbol)),
        other => {
            let name = variant(other);
            quote!(#face::__private::abi::DimOp::#name)
        }
    });
    quote!(#face::__private::abi::DimExpr::new(&[#(#ops),*], #text))
}

/// The name of a variant without fields.
fn variant(value: impl std::fmt::Debug) -> Ident {
    own(&format!("{value:?}"))
}
