//! The macro on one page: tokens in, the compiler called, items and errors out.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use tensorjit_core::autodiff;
use tensorjit_core::check::{CheckedBlock, CheckedFunction, check_block};
use tensorjit_core::codegen;
use tensorjit_core::diag::{Failure, Origin};
use tensorjit_core::syntax::ast::{Block, Item, Struct, TypeKind};
use tensorjit_core::syntax::sources::Sources;
use tensorjit_core::syntax::{Parsed, parse, share};
use tensorjit_runtime::abi::Role;

use crate::constants;
use crate::emit::{self, Argument, Code, Output, Param, Signature, Tensor};
use crate::half;
use crate::header::Input;
use crate::imports::{self, Aliases, block_id, fetch};
use crate::native::{Backend, Head, Missing, reachable};
use crate::options::{Options, VARIABLES};
use crate::report;
use crate::session::Session;

/// The expansion of one block.
pub(crate) fn expand(input: Input, session: &Session) -> TokenStream {
    if input.parcels.is_none()
        && let Some((uses, sources)) = tensorjit_core::syntax::imports(&input.user)
        && !uses.is_empty()
    {
        return fetch(&input, &uses, &sources);
    }
    let id = block_id(&input.user, session);
    let Parsed { block, sources, diagnostics, sound } = parse(input.user, input.parcels.unwrap_or_default());
    let face = &input.face;
    let aliases = Aliases::new(&block, &id, &sources);
    let checked =
        if diagnostics.is_empty() && sound { check_block(&block) } else { Err(Failure::User(diagnostics)) };
    let items = checked.and_then(|mut checked| {
        aliases.rename(&mut checked);
        let CheckedBlock { structs, functions } = checked;
        let writer = Writer { face, sources: &sources };
        let structs = structs
            .iter()
            .filter(|declared| declared.public)
            .map(|declared| emit::structure(face, declared, &sources));
        let structs: TokenStream = structs.collect();
        let functions = if session.code {
            writer.with_code(functions, &input.triple, &input.features, session)?
        } else {
            writer.without_code(functions)?
        };
        let demand = half::demand(face, &block);
        Ok(quote!(#demand #structs #functions))
    });
    // A constant whose value is wrong is not given to Rust, which would say so again.
    let mut wrong = Vec::new();
    let offers = imports::offer(&share::offers(&block, &id, items.is_ok()), &id, &sources);
    let items = items.unwrap_or_else(|failure| {
        if let Failure::User(problems) = &failure {
            wrong.extend(problems.iter().map(|problem| problem.at));
        }
        let errors = report::failure(&failure, &sources);
        let mut seen = BTreeSet::new();
        let own: Vec<&Struct> = structs(&block).collect();
        let declared = emit::Structs { own: &own, imported: &aliases.stubs };
        let functions = public_functions(&block)
            .filter(|function| seen.insert(&function.name.text))
            .map(|function| emit::stub(face, function, &declared));
        let mut seen = BTreeSet::new();
        let structs = structs(&block)
            .filter(|item| seen.insert(&item.name.text))
            .map(|item| emit::stub_struct(face, item, &declared));
        quote!(#errors #(#structs)* #(#functions)*)
    });
    let consts = constants(&block, &wrong);
    let imported = &aliases.items;
    let variables = VARIABLES;
    // Cargo expands again when one of these changes.  A constant that only tensor functions use is used.
    quote! {
        #(const _: ::core::option::Option<&::core::primitive::str> = ::core::option_env!(#variables);)*
        #imported
        #(#[allow(dead_code)] #consts)*
        #items
        #offers
    }
}

fn public_functions(block: &Block) -> impl Iterator<Item = &tensorjit_core::syntax::ast::Function> {
    block.items.iter().filter_map(|item| match item {
        Item::Fn(function) if function.public => Some(function),
        Item::Fn(_) | Item::Struct(_) | Item::Const(_) => None,
    })
}

/// The structs of which Rust items are made, and those that a mistake may have left in a public place.
fn structs(block: &Block) -> impl Iterator<Item = &Struct> {
    block.items.iter().filter_map(|item| match item {
        Item::Struct(item) => Some(item),
        Item::Fn(_) | Item::Const(_) => None,
    })
}

/// The constants, but for those with an error at one of the places.
fn constants<'b>(block: &'b Block, wrong: &'b [Origin]) -> impl Iterator<Item = TokenStream> {
    block.items.iter().filter_map(|item| match item {
        Item::Const(constant)
            if wrong.contains(&constant.value.span) || wrong.contains(&constant.name.at) =>
        {
            None
        }
        // Rust has no such literals.
        Item::Const(constant)
            if matches!(&constant.ty.kind, TypeKind::Tensor { elem, .. } if half::names_half(&elem.text)) =>
        {
            None
        }
        Item::Const(constant) => Some(constants::item(constant)),
        Item::Fn(_) | Item::Struct(_) => None,
    })
}

/// Makes items of checked functions.
struct Writer<'s> {
    face: &'s TokenStream,
    sources: &'s Sources,
}

impl Writer<'_> {
    /// Items alone, after all that can be wrong with derivatives has been found.
    fn without_code(&self, functions: Vec<CheckedFunction>) -> Result<TokenStream, Failure> {
        let mut items = TokenStream::new();
        let mut problems = Vec::new();
        for mut function in functions {
            let graph = std::mem::take(&mut function.graph);
            let facts = graph.facts.clone();
            collect(autodiff::run(graph), &mut problems)?;
            function.graph.facts = facts;
            items.extend(emit::items(self.face, &self.signature(function), &Code::default()));
        }
        if problems.is_empty() { Ok(items) } else { Err(Failure::User(problems)) }
    }

    /// Items with the machine code that they call.
    fn with_code(
        &self,
        functions: Vec<CheckedFunction>,
        triple: &str,
        features: &[String],
        session: &Session,
    ) -> Result<TokenStream, Failure> {
        if functions.is_empty() {
            return Ok(TokenStream::new());
        }
        let options = match Options::current() {
            Ok(options) => options,
            Err(message) => return Ok(self.refused(&functions, &message)),
        };
        let targets = match codegen::targets(triple, session.cpu.as_deref()) {
            Ok(targets) => reachable(targets, features, &options),
            Err(unsupported) => return Ok(self.refused(&functions, &unsupported.to_string())),
        };
        if targets.is_empty() {
            let message = format!("TENSORJIT_LEVELS names no level of `{triple}`");
            return Ok(self.refused(&functions, &message));
        }
        let Some(folder) = session.folder() else {
            let message = "no folder for kernels is among the search paths of this compiler; cargo passes the one \
                           of tensorjit's build script as `-L native=..`";
            return Ok(self.refused(&functions, message));
        };
        let backend = Backend { targets, folder, options: &options };
        let mut items = TokenStream::new();
        let mut refusal = None;
        let mut problems = Vec::new();
        for mut function in functions {
            let states: Vec<u32> = (0..)
                .zip(&function.params)
                .filter_map(|(index, param)| (param.role == Role::State).then_some(index))
                .collect();
            let graph = std::mem::take(&mut function.graph);
            let facts = graph.facts.clone();
            let head = Head { name: &function.name, states: &states, versions: &function.versions };
            let code = match backend.code(&head, graph) {
                Ok(code) => Some(code),
                Err(Missing::Failed(failure)) => collect(Err(failure), &mut problems)?,
                Err(Missing::Folder(message)) => {
                    refusal.get_or_insert(message);
                    Some(Code::default())
                }
            };
            function.graph.facts = facts;
            if let Some(code) = code {
                items.extend(emit::items(self.face, &self.signature(function), &code));
            }
        }
        items.extend(refusal.map(|message| report::error(&message, Span::call_site(), Span::call_site())));
        if problems.is_empty() { Ok(items) } else { Err(Failure::User(problems)) }
    }

    /// An error that no line of the block causes, and items without code, so that it stays the only one.
    fn refused(&self, functions: &[CheckedFunction], message: &str) -> TokenStream {
        let error = report::error(message, Span::call_site(), Span::call_site());
        let items = functions
            .iter()
            .map(|function| emit::items(self.face, &self.signature(function.clone()), &Code::default()));
        quote!(#error #(#items)*)
    }

    fn signature(&self, function: CheckedFunction) -> Signature {
        let ident = |name: &str, at| named(name, self.sources.spans(at).0);
        let arguments = function.arguments.into_iter().map(|argument| Argument {
            name: ident(&argument.name, argument.at),
            layout: argument.layout,
            role: argument.role,
        });
        let params = function.params.into_iter().map(|param| Param {
            name: param.name,
            tensor: Tensor { dtype: param.dtype, shape: param.shape },
            role: param.role,
            index_bound: param.index_bound,
        });
        let results = function.results.into_iter().map(|(name, ty)| Output { name, tensor: Tensor::of(&ty) });
        Signature {
            attributes: function.attributes,
            visibility: function.visibility,
            name: ident(&function.name, function.name_at),
            facts: function.graph.facts,
            conditions: function.conditions,
            arguments: arguments.collect(),
            params: params.collect(),
            values: function.values,
            results: results.collect(),
            tuple: function.tuple,
        }
    }
}

/// Takes a user's errors aside, so that those of all functions are shown; a bug ends the expansion.
fn collect<T>(
    result: Result<T, Failure>,
    problems: &mut Vec<tensorjit_core::diag::Diagnostic>,
) -> Result<Option<T>, Failure> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Failure::User(found)) => {
            problems.extend(found);
            Ok(None)
        }
        Err(bug) => Err(bug),
    }
}

/// The user's name at its place.
fn named(name: &str, span: Span) -> Ident {
    let mut ident = emit::public(name);
    ident.set_span(span);
    ident
}
