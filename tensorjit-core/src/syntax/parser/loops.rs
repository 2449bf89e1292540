//! `for` loops.

use super::super::ast::{Iterable, Statement};
use super::expr::Level;
use super::{Parse, Parser};
use crate::diag::Diagnostic;

impl Parser {
    /// `for pattern in iterable { .. }`, the keyword of which stands next.
    pub(super) fn for_loop(&mut self) -> Parse<Statement> {
        let at = self.here();
        self.position += 1;
        let pattern = self.pattern()?;
        if !self.eat_word("in") {
            let problem = self.expected("`in`");
            return self.fail(problem.help("write `for i in 0..6 { .. }` or `for layer in layers { .. }`"));
        }
        // The brace that follows is the body.
        self.before_body = true;
        let over = self.iterable();
        self.before_body = false;
        let over = over?;
        let body = self.deeper(Parser::body)?;
        if let Some(value) = &body.value {
            let problem = Diagnostic::new("unused-value", "a step of a loop has no value", value.span);
            self.report(problem.help(
                "assign it to a name from outside, `h = ..;`, which is bound there by `let mut h = ..;`",
            ));
        }
        Ok(Statement::For { pattern, over, body, at })
    }

    fn iterable(&mut self) -> Parse<Iterable> {
        let start = self.position;
        if self.at_op("..") || self.at_op("..=") {
            let at = self.here();
            let problem = Diagnostic::new("loop", "a loop over a range has a start", at);
            return self.fail(problem.help("write `0..n`"));
        }
        let from = self.expr_above(Level::Or)?;
        let inclusive = self.at_op("..=");
        if !inclusive && !self.at_op("..") {
            return Ok(Iterable::Each(from));
        }
        self.position += 1;
        if self.at_open(proc_macro2::Delimiter::Brace) {
            let at = self.since(start);
            let problem = Diagnostic::new("loop", "a loop over a range has an end", at);
            return self.fail(problem.help("write `0..n`, with a constant for `n`"));
        }
        let to = self.expr_above(Level::Or)?;
        let at = self.since(start);
        Ok(Iterable::Range { from, to, inclusive, at })
    }
}
