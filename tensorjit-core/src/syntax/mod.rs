//! The front of the front end: tokens to syntax tree.
//!
//! The language borrows Rust's tokens and not its grammar (`x @ w`, `x[.., 1..T;2]`, `sum(x, axis = 1)`), so the
//! parser is its own.  Only this module and the macro know spans; everything after it sees [`Origin`]s.

pub mod ast;
pub mod cases;
mod literal;
mod parser;
mod render;
pub mod share;
pub mod sources;
mod tokens;
mod uses;

use proc_macro2::TokenStream;

use crate::diag::{Diagnostic, Origin};
use ast::{Block, Function, Item, Use};
use parser::Parser;
use sources::Sources;
use uses::Uses;

/// A parsed block, as much of it as could be understood, and what could not.
#[derive(Debug)]
pub struct Parsed {
    /// The items without errors in their heads; statements with errors are left out.
    pub block: Block,
    /// The places that origins stand for.
    pub sources: Sources,
    /// All errors, in the order of the text.  The block must not be compiled where there is one.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether all imported items are those of blocks without errors; where one is not, the block cannot be checked,
    /// and nothing more is to be said of it.
    pub sound: bool,
}

/// Parses the tokens of a `tensor_fn!` block with the parcels of all that it imports, in the order of [`imports`].
pub fn parse(tokens: TokenStream, parcels: Vec<TokenStream>) -> Parsed {
    parse_into(tokens, parcels, Sources::default())
}

/// What a block imports, where all of it can be read: a block with other errors is not worth the fetching.
pub fn imports(tokens: &TokenStream) -> Option<(Vec<Use>, Sources)> {
    let mut sources = Sources::default();
    let uses = uses::take(tokens.clone(), &mut sources);
    uses.problems.is_empty().then_some((uses.names, sources))
}

/// Parses the text of a block, as it stands in a file.
pub fn parse_text(text: &str) -> Parsed {
    parse_text_into(text, Sources::default())
}

/// Parses one function whose text the user cannot see: every place in it is `at`.
pub fn parse_function_text(text: &str, at: Origin) -> Result<Function, Vec<Diagnostic>> {
    let Parsed { mut block, diagnostics, .. } = parse_text_into(text, Sources::pinned(at));
    match (block.items.pop(), block.items.is_empty(), diagnostics.is_empty()) {
        (Some(Item::Fn(function)), true, true) => Ok(function),
        (_, _, false) => Err(diagnostics),
        _ => Err(vec![Diagnostic::new("expected", "expected exactly one function", at)]),
    }
}

fn parse_text_into(text: &str, mut sources: Sources) -> Parsed {
    match text.parse::<TokenStream>() {
        Ok(tokens) => parse_into(tokens, Vec::new(), sources),
        Err(error) => {
            let at = sources.add(error.span(), error.span());
            let problem =
                Diagnostic::new("tokens", "this is not a token of Rust, or a bracket has no partner", at)
                    .help(
                        "close every bracket, quote and comment, and use Rust's names, numbers and operators",
                    );
            Parsed { block: Block::default(), sources, diagnostics: vec![problem], sound: true }
        }
    }
}

fn parse_into(tokens: TokenStream, parcels: Vec<TokenStream>, mut sources: Sources) -> Parsed {
    let Uses { names, rest, mut problems } = uses::take(tokens, &mut sources);
    if parcels.len() != names.len()
        && problems.is_empty()
        && let Some(first) = names.first()
    {
        let problem = Diagnostic::new("import", "there is nothing to import from here", first.item.at);
        problems.push(problem.help("blocks of `tensor_fn!` import from each other, texts do not"));
    }
    match tokens::flatten(rest) {
        Ok(row) => {
            let mut parser = Parser::new(row, sources);
            let mut block = Block { uses: names, ..parser.block() };
            let (mut sources, mut diagnostics) = parser.finish();
            let sound = share::take_in(&mut block, parcels, &mut sources, &mut problems);
            // In the order of the text.
            diagnostics.extend(problems);
            diagnostics.sort_by_key(|problem| problem.at);
            Parsed { block, sources, diagnostics, sound }
        }
        Err(span) => {
            let at = sources.add(span, span);
            let message = format!("brackets are nested more than {} deep here", tokens::MAX_NESTING);
            let problem = Diagnostic::new("too-deep", message, at).help("name inner parts with `let`");
            Parsed { block: Block::default(), sources, diagnostics: vec![problem], sound: true }
        }
    }
}

#[cfg(test)]
mod tests;
