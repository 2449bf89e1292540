//! Indices: `x[.., 1..T;2, -1]`.

use proc_macro2::Delimiter;

use super::super::ast::{Expr, IndexItem};
use super::{Parse, Parser};
use crate::diag::Diagnostic;

impl Parser {
    /// The brackets of an index with all items.
    pub(super) fn index(&mut self) -> Parse<Vec<IndexItem>> {
        let start = self.position;
        let items = self.group(Delimiter::Bracket, |parser| parser.list(Parser::index_item))?;
        if items.is_empty() {
            let at = self.since(start);
            let problem = Diagnostic::new("expected", "an index has at least one item", at);
            return self
                .fail(problem.help("`x[..]` is all of `x`, `x[0]` its first element along the first axis"));
        }
        Ok(items)
    }

    fn index_item(&mut self) -> Parse<IndexItem> {
        let start = self.position;
        let from = if self.at_op("..") || self.at_op("..=") || self.at_op(":") {
            None
        } else {
            Some(Box::new(self.expr()?))
        };
        if self.at_op("..=") || self.at_op("...") {
            let at = self.here();
            let problem = Diagnostic::new("rust-construct", "ranges of an index leave out their end", at);
            return self.fail(problem.help("write `from..to` with one past the last index"));
        }
        if self.at_op(":") {
            let at = self.here();
            let problem = Diagnostic::new("rust-construct", "a range is not written with `:`", at);
            return self.fail(problem.help("write `from..to`, and a step as `from..to;step`"));
        }
        if !self.eat_op("..") {
            return match from {
                Some(index) => Ok(IndexItem::At(*index)),
                None => self.fail_expected("an index"),
            };
        }
        let to = self.bound()?;
        let step = match self.eat_op(";") {
            true => Some(Box::new(self.expr()?)),
            false => None,
        };
        let at = self.since(start);
        if from.is_none() && to.is_none() && step.is_none() {
            return Ok(IndexItem::Rest(at));
        }
        Ok(IndexItem::Range { from, to, step, at })
    }

    fn bound(&mut self) -> Parse<Option<Box<Expr>>> {
        if self.at_end() || self.at_op(",") || self.at_op(";") {
            return Ok(None);
        }
        Ok(Some(Box::new(self.expr()?)))
    }
}
