//! Attributes of items: those that the compiler takes, and the others as they are written.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream};

use super::super::ast::{Condition, DerivativeRule, Version};
use super::super::tokens::Kind;
use super::{Parse, Parser};
use crate::diag::Diagnostic;

/// The attribute that lists cases with versions of their own.
const SPECIALIZE: &str = "specialize";

/// The attributes that name the rule of a derivative: of the cotangents, and of the tangents.
const RULES: [&str; 2] = ["vjp", "jvp"];

/// What stands before an item.
#[derive(Default)]
pub(super) struct Attributes {
    /// As written, but for those that the compiler takes.
    pub(super) written: Vec<TokenStream>,
    /// The cases of `specialize`.
    pub(super) versions: Vec<Version>,
    /// The rule of the derivative, and its tokens.
    pub(super) rule: Option<(DerivativeRule, Range<usize>)>,
}

impl Parser {
    /// The attributes of what is no function.
    pub(super) fn plain(&mut self, attributes: Attributes, what: &str) -> Parse<Vec<TokenStream>> {
        if let Some(version) = attributes.versions.first() {
            let problem = Diagnostic::new("specialize", format!("{what} has no versions"), version.at);
            return self.fail(problem.help("`#[specialize(..)]` stands before a public function"));
        }
        if let Some((rule, _)) = &attributes.rule {
            let problem = Diagnostic::new("derivative-rule", format!("{what} has no derivative"), rule.at);
            return self.fail(problem.help("the rule of a derivative stands before a function"));
        }
        Ok(attributes.written)
    }

    /// What stands before an item or a field.
    pub(super) fn attributes(&mut self) -> Parse<Attributes> {
        let mut attributes = Attributes::default();
        while self.at_op("#") {
            let start = self.position;
            self.position += 1;
            if self.at_op("!") {
                let at = self.here();
                let problem = Diagnostic::new(
                    "rust-construct",
                    "attributes of the enclosing item do not stand here",
                    at,
                );
                return self.fail(problem.help("write `#[..]` before an item"));
            }
            if !self.at_open(Delimiter::Bracket) {
                return self.fail_expected("`[`");
            }
            match self.ahead(1) {
                Kind::Ident(name) if name == SPECIALIZE => {
                    attributes.versions.extend(self.group(Delimiter::Bracket, Parser::specialize)?);
                }
                Kind::Ident(name) if RULES.contains(&name.as_str()) => {
                    let rule = self.group(Delimiter::Bracket, Parser::derivative_rule)?;
                    if let Some((first, _)) = &attributes.rule {
                        let problem = Diagnostic::new("derivative-rule", "a function has one rule", rule.at);
                        return self.fail(
                            problem
                                .label(first.at, "this is another one")
                                .help("`#[jvp(..)]` alone is enough: reverse derivatives follow from it"),
                        );
                    }
                    attributes.rule = Some((rule, start..self.position));
                }
                _ => {
                    self.skip();
                    attributes.written.push(self.written(start));
                }
            }
        }
        Ok(attributes)
    }

    /// `vjp(name)`
    fn derivative_rule(&mut self) -> Parse<DerivativeRule> {
        let start = self.position;
        let reverse = self.at_word(RULES[0]);
        self.position += 1;
        if !self.at_open(Delimiter::Parenthesis) {
            let problem = self.expected("the function that is the rule, in parentheses");
            return self.fail(problem.help("write `#[vjp(rule)]` or `#[jvp(rule)]`"));
        }
        let name = self.group(Delimiter::Parenthesis, |parser| parser.name("the name of a function"))?;
        Ok(DerivativeRule { reverse, name, at: self.since(start) })
    }

    /// `specialize(B = 1, B % 16 == 0 && N == 3)`: a version for each element of the list.
    fn specialize(&mut self) -> Parse<Vec<Version>> {
        let start = self.position;
        self.position += 1;
        let versions = self.group(Delimiter::Parenthesis, |parser| parser.list(Parser::version))?;
        if versions.is_empty() {
            let at = self.since(start);
            let problem = Diagnostic::new("specialize", "no version is asked for", at);
            return self.fail(problem.help("write `#[specialize(B = 1, B % 16 == 0)]`"));
        }
        Ok(versions)
    }

    fn version(&mut self) -> Parse<Version> {
        let start = self.position;
        self.joins = true;
        let conditions = self.joined();
        self.joins = false;
        Ok(Version { conditions: conditions?, at: self.since(start) })
    }

    /// Conditions with `&&` between them.
    fn joined(&mut self) -> Parse<Vec<Condition>> {
        let mut conditions = vec![self.condition()?];
        while self.eat_op("&&") {
            conditions.push(self.condition()?);
        }
        Ok(conditions)
    }
}
