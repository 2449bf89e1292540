//! The parser: recursive descent over a row of tokens.
//!
//! A part that cannot be understood is reported where it stands, once, and [`Failed`] unwinds to the nearest
//! statement or item, where parsing goes on, so that several errors are found in one run.

mod attributes;
mod expr;
mod foreign;
mod index;
mod items;
mod loops;
mod statements;
mod structs;
mod types;

pub(super) use foreign::is_keyword;

use proc_macro2::{Delimiter, TokenStream};

use super::ast::Ident;
use super::sources::Sources;
use super::tokens::{self, Kind, Row, Token};
use crate::diag::{Diagnostic, Origin};

/// Operators and calls nested deeper than this are refused: later stages walk the tree recursively.
const MAX_DEPTH: usize = 128;

/// The part has been reported.
struct Failed;

type Parse<T> = Result<T, Failed>;

/// The state of a parse.
pub(super) struct Parser {
    row: Row,
    /// The next token.
    position: usize,
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
    /// How many expressions and types are being parsed inside one another.
    depth: usize,
    /// The height of the expression that was parsed last.
    height: usize,
    /// Inside a `where` clause or the head of a `for`, where an opening brace begins a body.
    before_body: bool,
    /// Whether `&&` joins conditions here.
    joins: bool,
}

impl Parser {
    pub(super) fn new(row: Row, sources: Sources) -> Parser {
        Parser {
            row,
            position: 0,
            sources,
            diagnostics: Vec::new(),
            depth: 0,
            height: 0,
            before_body: false,
            joins: false,
        }
    }

    pub(super) fn finish(self) -> (Sources, Vec<Diagnostic>) {
        (self.sources, self.diagnostics)
    }

    /// The next token; at the end, and at the end of a group, a closing bracket.
    fn token(&self) -> &Token {
        &self.row.tokens[self.position]
    }

    /// The token `ahead` places further, or the last one.
    fn ahead(&self, ahead: usize) -> &Kind {
        &self.row.tokens[(self.position + ahead).min(self.row.tokens.len() - 1)].kind
    }

    /// Goes on by one token tree, but not out of the group.
    fn skip(&mut self) {
        match self.token().kind {
            Kind::Open(_, partner) => self.position = partner + 1,
            Kind::Close(_) => {}
            _ => self.position += 1,
        }
    }

    fn at_end(&self) -> bool {
        matches!(self.token().kind, Kind::Close(_))
    }

    fn at_op(&self, op: &str) -> bool {
        matches!(self.token().kind, Kind::Op(found) if found == op)
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(&self.token().kind, Kind::Ident(found) if found == word)
    }

    fn at_open(&self, delimiter: Delimiter) -> bool {
        matches!(self.token().kind, Kind::Open(found, _) if found == delimiter)
    }

    /// The operator that stands next.
    fn op(&self) -> Option<&'static str> {
        match self.token().kind {
            Kind::Op(op) => Some(op),
            _ => None,
        }
    }

    fn eat_op(&mut self, op: &str) -> bool {
        let found = self.at_op(op);
        if found {
            self.position += 1;
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.position += 1;
        }
        found
    }

    /// The place of the next token.
    fn here(&mut self) -> Origin {
        let Token { first, last, .. } = self.row.tokens[self.position];
        self.sources.add(first, last)
    }

    /// The place from token `start` to the token before the next one.
    fn since(&mut self, start: usize) -> Origin {
        let last = self.row.tokens[self.position.saturating_sub(1).max(start)].last;
        self.sources.add(self.row.tokens[start].first, last)
    }

    /// The place of the token before the next one: where something is missing.
    fn before(&mut self) -> Origin {
        let Token { first, last, .. } = self.row.tokens[self.position.saturating_sub(1)];
        self.sources.add(first, last)
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        self.diagnostics.push(diagnostic);
        Failed
    }

    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parse<T> {
        Err(self.report(diagnostic))
    }

    /// "expected .., found .." at the next token.
    #[cold]
    fn expected(&mut self, what: &str) -> Diagnostic {
        let found = self.token().describe("the end");
        let at = self.here();
        Diagnostic::new("expected", format!("expected {what}, found {found}"), at)
    }

    #[cold]
    fn fail_expected<T>(&mut self, what: &str) -> Parse<T> {
        let diagnostic = self.expected(what);
        self.fail(diagnostic)
    }

    fn expect_op(&mut self, op: &str, purpose: &str) -> Parse<()> {
        if self.eat_op(op) {
            return Ok(());
        }
        self.fail_expected(&format!("`{op}`{purpose}"))
    }

    /// A name that is not a keyword; `what` says of what.
    fn name(&mut self, what: &str) -> Parse<Ident> {
        match &self.token().kind {
            Kind::Ident(text) if !foreign::is_keyword(text) => {
                let text = text.clone();
                let at = self.here();
                self.position += 1;
                Ok(Ident { text, at })
            }
            Kind::Ident(text) => {
                let message = format!("`{text}` is a keyword and cannot be {what}");
                let at = self.here();
                self.fail(Diagnostic::new("expected", message, at))
            }
            _ => self.fail_expected(what),
        }
    }

    /// Parses the inside of a group; what is left over at its end is reported as unexpected.
    fn group<T>(&mut self, delimiter: Delimiter, inside: impl FnOnce(&mut Parser) -> Parse<T>) -> Parse<T> {
        let Kind::Open(found, partner) = self.token().kind else {
            return self.fail_expected(opening(delimiter));
        };
        if found != delimiter {
            return self.fail_expected(opening(delimiter));
        }
        self.position += 1;
        // In brackets a brace is never the body of what stands around them.
        let before_body = std::mem::take(&mut self.before_body);
        let result = inside(self);
        self.before_body = before_body;
        let result = result?;
        if self.position != partner {
            let close = self.row.tokens[partner].describe("the end");
            return self.fail_expected(&close);
        }
        self.position = partner + 1;
        Ok(result)
    }

    /// Elements separated by commas up to the end of the group; a trailing comma is allowed.
    fn list<T>(&mut self, mut element: impl FnMut(&mut Parser) -> Parse<T>) -> Parse<Vec<T>> {
        let mut elements = Vec::new();
        while !self.at_end() {
            elements.push(element(self)?);
            if !self.eat_op(",") && !self.at_end() {
                let close = self.row.tokens[self.end_of_group()].describe("the end");
                return self.fail_expected(&format!("`,` or {close}"));
            }
        }
        Ok(elements)
    }

    /// The index of the closing bracket of the group that the parser is in.
    fn end_of_group(&self) -> usize {
        let mut index = self.position;
        loop {
            match self.row.tokens[index].kind {
                Kind::Open(_, partner) => index = partner + 1,
                Kind::Close(_) => return index,
                _ => index += 1,
            }
        }
    }

    /// Runs `inside` one level deeper, or reports that the limit is reached.
    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Parser) -> Parse<T>) -> Parse<T> {
        if self.depth == MAX_DEPTH {
            return self.too_deep();
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    #[cold]
    fn too_deep<T>(&mut self) -> Parse<T> {
        let message = format!("this expression is nested more than {MAX_DEPTH} deep");
        let at = self.here();
        self.fail(Diagnostic::new("too-deep", message, at).help("name inner parts with `let`"))
    }

    /// The tokens from `start` to the next one as they were written.
    fn written(&self, start: usize) -> TokenStream {
        tokens::stream(&self.row.tokens, start..self.position)
    }
}

fn opening(delimiter: Delimiter) -> &'static str {
    match delimiter {
        Delimiter::Parenthesis => "`(`",
        Delimiter::Bracket => "`[`",
        Delimiter::Brace => "`{`",
        Delimiter::None => "an expression",
    }
}
