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
    let abi = quote!(#face::__private::abi);
    let (nests, levels, bytes) = (code.facts.nests, code.entries.len(), &code.facts.workspace.text);
    let sizes_of_code = code.entries.iter().zip(&code.facts.code).map(|(entry, bytes)| {
        let level = variant(entry.level);
        quote!(#abi::CodeSize { level: #abi::Level::#level, bytes: #bytes })
    });
    let (function, imports) = (function(face, signature, code), imports(face, code));
    quote! {
        /// What the function was compiled to; all zero where no code was made, as under `cargo check`.
        pub const KERNELS: #abi::KernelInfo =
            #abi::KernelInfo {
                nests: #nests,
                levels: #levels,
                workspace: #bytes,
                code: &[#(#sizes_of_code),*],
            };

        #[doc(hidden)]
        pub static FUNCTION: #abi::Function = #function;

        #imports
    }
}

/// The value of `FUNCTION`.
fn function(face: &TokenStream, signature: &Signature, code: &Code) -> TokenStream {
    let mut writer = Writer { signature, shapes: Vec::new() };
    let name = signature.name.unraw().to_string();
    let count = signature.facts.symbols.len();
    let symbols = signature.facts.symbols.iter().map(|symbol| {
        let (name, low, high) = (&symbol.name, symbol.low, symbol.high);
        quote!(abi::Symbol { name: #name, low: #low, high: #high })
    });
    let mut params: Vec<TokenStream> = Vec::with_capacity(signature.params.len() + signature.results.len());
    for param in &signature.params {
        params.push(writer.param(&param.name, &param.tensor, param.role, param.index_bound.as_ref()));
    }
    for output in &signature.results {
        params.push(writer.param(&output.name, &output.tensor, Role::Output, None));
    }
    let solve = signature.solve();
    let solve = solve.iter().map(|row| writer.solve(row));
    let checks = signature.conditions.iter().map(|condition| {
        let (left, right) = (writer.dim(&condition.left), writer.dim(&condition.right));
        let relation = variant(condition.relation);
        quote!(abi::Check { left: #left, relation: abi::Relation::#relation, right: #right })
    });
    let sizes = code.facts.sizes.iter().map(|(program, least)| {
        let value = writer.program(program);
        quote!(abi::Size { value: #value, least: #least })
    });
    let workspace = writer.program(&code.facts.workspace);
    let entries = code.entries.iter().map(|entry| {
        let (level, symbol) = (variant(entry.level), own(&entry.symbol));
        quote!(abi::LevelEntry { level: abi::Level::#level, entry: #symbol })
    });
    let shapes = writer.shapes();
    quote! {{
        use #face::__private::{abi, plan};
        #shapes
        const PARAMS: &[abi::Param] = &[#(#params),*];
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
    }}
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

/// Writes what stands where `abi` is a name.
struct Writer<'s> {
    signature: &'s Signature,
    /// The shapes that have been met: rustc works each out once, however many parameters have it.
    shapes: Vec<&'s [Dim]>,
}

impl<'s> Writer<'s> {
    fn dim(&self, dim: &Dim) -> TokenStream {
        expression(&quote!(abi), &program(&self.signature.facts, dim))
    }

    fn program(&self, program: &Program) -> TokenStream {
        expression(&quote!(abi), program)
    }

    fn param(
        &mut self,
        name: &str,
        tensor: &'s Tensor,
        role: Role,
        index_bound: Option<&Dim>,
    ) -> TokenStream {
        let (dtype, role) = (variant(tensor.dtype), variant(role));
        let shape = self.shape(&tensor.shape);
        let bound = index_bound.map(|bound| self.dim(bound)).map(|bound| quote!(.below(#bound)));
        quote!(abi::Param::new(#name, abi::DType::#dtype, abi::Role::#role, #shape)#bound)
    }

    /// The name of a shape.
    fn shape(&mut self, shape: &'s [Dim]) -> Ident {
        let known = self.shapes.iter().position(|other| *other == shape);
        shape_name(known.unwrap_or_else(|| {
            self.shapes.push(shape);
            self.shapes.len() - 1
        }))
    }

    /// The constants that [`Writer::shape`] has named.
    fn shapes(&self) -> TokenStream {
        let constants = self.shapes.iter().enumerate().map(|(number, shape)| {
            let (name, dims) = (shape_name(number), shape.iter().map(|dim| self.dim(dim)));
            quote!(const #name: &[abi::DimExpr] = &[#(#dims),*];)
        });
        constants.collect()
    }

    fn solve(&self, row: &SolveRow) -> TokenStream {
        let SolveRow { symbol, param, axis, scale, offset } = row;
        let (symbol, offset) = (symbol.0, self.dim(offset));
        quote!(abi::Solve { symbol: #symbol, param: #param, axis: #axis, scale: #scale, offset: #offset })
    }
}

fn shape_name(number: usize) -> Ident {
    own(&format!("SHAPE_{number}"))
}

/// A dimension over the symbols of `facts`.
pub(super) fn dim_expr(face: &TokenStream, facts: &Facts, dim: &Dim) -> TokenStream {
    expression(&quote!(#face::__private::abi), &program(facts, dim))
}

fn program(facts: &Facts, dim: &Dim) -> Program {
    // The front end has refused factors that do not fit; a program without a value fails at call time.
    Program::new(facts, dim).unwrap_or_default()
}

/// A program, where the module of the contract is `abi`.
fn expression(abi: &TokenStream, program: &Program) -> TokenStream {
    let text = &program.text;
    let ops = program.ops.iter().map(|op| match op {
        DimOp::Const(value) => quote!(#abi::DimOp::Const(#value)),
        DimOp::Symbol(symbol) => quote!(#abi::DimOp::Symbol(#symbol)),
        other => {
            let name = variant(other);
            quote!(#abi::DimOp::#name)
        }
    });
    quote!(#abi::DimExpr::new(&[#(#ops),*], #text))
}

/// The name of a variant without fields.
fn variant(value: impl std::fmt::Debug) -> Ident {
    own(&format!("{value:?}"))
}
