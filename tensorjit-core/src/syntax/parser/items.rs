//! Items: functions with their generics, parameters and conditions, and constants; structs have a file of their own.

use std::ops::Range;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use tensorjit_runtime::abi::Relation;

use super::super::ast::{
    BinaryOp, Block, Condition, Const, Expr, ExprKind, Function, Generic, Item, Param, Text, TypeExpr,
};
use super::super::tokens::Kind;
use super::attributes::Attributes;
use super::expr::Level;
use super::{Failed, Parse, Parser};
use crate::diag::{Diagnostic, Origin};

/// Bounds of generic element types.
const ELEMENT_BOUNDS: &[&str] = &["float", "int", "number", "any"];

/// The tokens of an item that others import.
struct Carried {
    /// The rule of its derivative.
    rule: Option<Range<usize>>,
    /// From its keyword on.
    item: Range<usize>,
}

impl Parser {
    /// All items of the text.
    pub(in super::super) fn block(&mut self) -> Block {
        let mut block = Block::default();
        while !self.at_end() {
            let start = self.position;
            if self.eat_op(";") {
                continue;
            }
            match self.item() {
                Ok((item, carried)) => {
                    block.texts.push(self.text(&item, &carried));
                    block.items.push(item);
                }
                Err(Failed) => self.recover_item(start),
            }
        }
        block
    }

    /// An item as others import it.
    fn text(&self, item: &Item, carried: &Carried) -> Text {
        let ranges = || carried.rule.iter().chain([&carried.item]);
        let words = ranges().flat_map(|range| &self.row.tokens[range.clone()]);
        let words = words.filter_map(|token| match &token.kind {
            Kind::Ident(word) => Some(word.clone()),
            _ => None,
        });
        let trees = |range: &Range<usize>| self.row.trees(range.clone()).to_vec();
        let visibility = item.public().then(|| TokenTree::Ident(Ident::new("pub", Span::call_site())));
        let rule = carried.rule.iter().flat_map(trees);
        let tokens = rule.chain(visibility).chain(trees(&carried.item)).collect();
        Text { tokens, words: words.collect() }
    }

    /// Goes on after the item that began at token `start`: behind its braces or its `;`.
    fn recover_item(&mut self, start: usize) {
        let stopped = self.position;
        self.position = start;
        while !self.at_end() {
            let ends = self.at_op(";") || self.at_open(Delimiter::Brace);
            self.skip();
            let passed = self.position > stopped;
            if passed && (ends || self.at_word("fn") || self.at_word("pub") || self.at_word("struct")) {
                return;
            }
        }
    }

    /// An item, and the tokens that others import.
    fn item(&mut self) -> Parse<(Item, Carried)> {
        let start = self.position;
        let attributes = self.attributes()?;
        let visibility_start = self.position;
        let public = self.visibility()?;
        let visibility = self.written(visibility_start);
        let keyword = self.position;
        let keyword_is_fn = |kind: &Kind| matches!(kind, Kind::Ident(word) if word == "fn");
        if self.at_word("const") && !keyword_is_fn(self.ahead(1)) {
            let attributes = self.plain(attributes, "a constant")?;
            let constant = self.constant(start, attributes, visibility, public)?;
            return Ok((Item::Const(constant), Carried { rule: None, item: keyword..self.position }));
        }
        if self.eat_word("struct") {
            let attributes = self.plain(attributes, "a struct")?;
            let declared = self.structure(attributes, visibility, public)?;
            return Ok((Item::Struct(declared), Carried { rule: None, item: keyword..self.position }));
        }
        if (self.at_word("const") || self.at_word("unsafe") || self.at_word("async"))
            && keyword_is_fn(self.ahead(1))
        {
            let at = self.here();
            let problem = Diagnostic::new("rust-construct", "tensor functions have no qualifiers", at);
            return self.fail(problem.help("write `fn` alone"));
        }
        if !self.eat_word("fn") {
            return self.fail_foreign("`fn`, `struct` or `const`");
        }
        let Attributes { written, versions, rule } = attributes;
        let function = self.function(start, written, visibility, public)?;
        let (rule, tokens) = rule.unzip();
        let carried = Carried { rule: tokens, item: keyword..self.position };
        Ok((Item::Fn(Function { versions, rule, ..function }), carried))
    }

    pub(super) fn visibility(&mut self) -> Parse<bool> {
        let public = self.eat_word("pub");
        // `pub (crate)` is a visibility; an item never begins with a parenthesis.
        if public && self.at_open(Delimiter::Parenthesis) {
            self.skip();
        }
        Ok(public)
    }

    fn constant(
        &mut self,
        start: usize,
        attributes: Vec<TokenStream>,
        visibility: TokenStream,
        public: bool,
    ) -> Parse<Const> {
        self.position += 1;
        let name = self.name("the name of a constant")?;
        if !self.eat_op(":") {
            let problem = self.expected("`:` and the type of the constant");
            return self.fail(problem.help("write `const NAME: f32 = ..;`"));
        }
        let ty = self.type_expr()?;
        self.expect_op("=", "")?;
        let value = self.expr()?;
        self.expect_op(";", " after the constant")?;
        let tokens = self.written(start);
        Ok(Const { attributes, visibility, public, name, ty, value, tokens })
    }

    fn function(
        &mut self,
        start: usize,
        attributes: Vec<TokenStream>,
        visibility: TokenStream,
        public: bool,
    ) -> Parse<Function> {
        let name = self.name("the name of a function")?;
        let generics = if self.eat_op("<") { self.generics()? } else { Vec::new() };
        let params = self.group(Delimiter::Parenthesis, |parser| parser.list(Parser::param))?;
        let result = self.result()?;
        let conditions = if self.eat_word("where") { self.conditions()? } else { Vec::new() };
        if self.at_op(";") {
            let at = self.here();
            let problem =
                Diagnostic::new("function-form", format!("function `{}` has no body", name.text), at);
            return self.fail(problem.help("write its value in braces, `{ .. }`"));
        }
        let head = self.position;
        let body = self.body()?;
        let last = self.row.tokens[head.saturating_sub(1)].last;
        // The place of a function is its head: a caret under its whole body says nothing.
        let at = self.sources.add(self.row.tokens[start].first, last);
        Ok(Function {
            attributes,
            visibility,
            public,
            name,
            generics,
            params,
            result,
            conditions,
            versions: Vec::new(),
            rule: None,
            body,
            at,
        })
    }

    fn result(&mut self) -> Parse<Option<TypeExpr>> {
        if self.eat_op("->") { self.type_expr().map(Some) } else { Ok(None) }
    }

    /// Generic parameters after the `<`.
    pub(super) fn generics(&mut self) -> Parse<Vec<Generic>> {
        let mut generics = Vec::new();
        while !self.eat_op(">") {
            generics.push(self.generic()?);
            if !self.eat_op(",") && !self.at_op(">") {
                return self.fail_expected("`,` or `>`");
            }
        }
        Ok(generics)
    }

    fn generic(&mut self) -> Parse<Generic> {
        if self.eat_op("..") {
            return Ok(Generic::Axes { name: self.name("the name of a list of axes")? });
        }
        if self.at_op("'") {
            return self.fail_foreign("the name of a dimension");
        }
        if self.at_word("const") {
            let at = self.here();
            let problem = Diagnostic::new("rust-construct", "dimensions are not written as constants", at);
            return self.fail(problem.help("write the name alone, as `<N>`, with bounds as `<N: 1..=64>`"));
        }
        let name = self.name("the name of a dimension")?;
        if !self.eat_op(":") {
            return Ok(Generic::Dim { name, low: None, high: None });
        }
        if let (Kind::Ident(word), Kind::Op("," | ">")) = (&self.token().kind, self.ahead(1)) {
            if ELEMENT_BOUNDS.contains(&word.as_str()) {
                return Ok(Generic::Elem { name, bound: self.name("a bound")? });
            }
            let lower = word.to_lowercase();
            let help = match ELEMENT_BOUNDS.contains(&lower.as_str()) {
                true => format!("write `{}: {lower}`", name.text),
                false => "element types are bounded by `float`, `int` or `number`, dimensions by ranges as `1..=64`".to_owned(),
            };
            let message = format!("`{word}` is not a bound");
            let at = self.here();
            return self.fail(Diagnostic::new("function-form", message, at).help(help));
        }
        self.bounds(name)
    }

    /// `1..=64`, `8..`, `..=64`, `1..65`.
    fn bounds(&mut self, name: super::Ident) -> Parse<Generic> {
        let start = self.position;
        let ranges = |parser: &Parser| parser.at_op("..") || parser.at_op("..=");
        let low = if ranges(self) { None } else { Some(self.expr_above(Level::Or)?) };
        if !ranges(self) {
            let at = self.since(start);
            let problem = Diagnostic::new("function-form", "the bounds of a dimension are a range", at);
            let help =
                format!("write `{}: 1..=64`, `{}: 8..` or `{}: ..=64`", name.text, name.text, name.text);
            return self.fail(problem.help(help));
        }
        let inclusive = self.at_op("..=");
        let at = self.here();
        self.position += 1;
        if self.at_op(",") || self.at_op(">") {
            if inclusive {
                return self.fail_expected("the greatest value");
            }
            return Ok(Generic::Dim { name, low, high: None });
        }
        let high = self.expr_above(Level::Or)?;
        let high = if inclusive { high } else { one_less(high, at) };
        Ok(Generic::Dim { name, low, high: Some(high) })
    }

    fn param(&mut self) -> Parse<Param> {
        if self.at_word("mut") {
            let at = self.here();
            let problem = Diagnostic::new("function-form", "parameters are not declared `mut`", at);
            return self.fail(problem.help("state that is assigned is written `name: &mut f32[N]`"));
        }
        if matches!(self.token().kind, Kind::Op("&")) || self.at_word("self") {
            let at = self.here();
            let problem = Diagnostic::new("function-form", "a tensor function has no receiver", at);
            return self.fail(problem.help("name every parameter, as `x: f32[N]`"));
        }
        let name = self.name("the name of a parameter")?;
        if !self.eat_op(":") {
            let problem = self.expected("`:` and the type of the parameter");
            return self.fail(
                problem.help(format!("write `{}: f32[N]`, or `{}: f32` for a scalar", name.text, name.text)),
            );
        }
        let mutable = self.state()?;
        let ty = self.type_expr()?;
        let default = if self.eat_op("=") { Some(self.expr()?) } else { None };
        Ok(Param { name, ty, mutable, default })
    }

    /// `&mut`, where it stands next; a plain `&` is reported and passed.
    fn state(&mut self) -> Parse<bool> {
        if !self.at_op("&") {
            return Ok(false);
        }
        let at = self.here();
        self.position += 1;
        if self.eat_word("mut") {
            return Ok(true);
        }
        let problem = Diagnostic::new("function-form", "parameters are not written as references", at);
        self.report(problem.help("write the type alone, as `x: f32[N]`; callers pass `&x`"));
        Ok(false)
    }

    fn conditions(&mut self) -> Parse<Vec<Condition>> {
        let mut conditions = Vec::new();
        while !self.at_open(Delimiter::Brace) && !self.at_op(";") {
            conditions.push(self.condition()?);
            if !self.eat_op(",") && !self.at_open(Delimiter::Brace) {
                return self.fail_expected("`,` or the body of the function");
            }
        }
        Ok(conditions)
    }

    /// One relation; `=` is another way to write `==` where it chooses a version.
    pub(super) fn condition(&mut self) -> Parse<Condition> {
        let start = self.position;
        if let (Kind::Ident(_), Kind::Op(":")) = (&self.token().kind, self.ahead(1)) {
            self.position += 1;
            let at = self.here();
            let problem = Diagnostic::new("function-form", "`where` states relations of dimensions", at);
            return self.fail(problem.help("bounds stand in the angle brackets, as `<N: 1..>`"));
        }
        let left = self.condition_side()?;
        let found =
            self.op().and_then(|op| if self.joins && op == "=" { Some(Relation::Eq) } else { relation(op) });
        let Some(found) = found else {
            let problem = self.expected("`==`, `!=`, `<`, `<=`, `>` or `>=`");
            let help = match self.at_op("=") {
                true => "equality is written `==`",
                false => "a condition is a relation of dimensions, as `N == 2 * M` or `T % 4 == 0`",
            };
            return self.fail(problem.help(help));
        };
        self.position += 1;
        let right = self.condition_side()?;
        if self.op().and_then(relation).is_some() {
            let at = self.here();
            let problem = Diagnostic::new("chained-comparison", "comparisons cannot be chained", at);
            return self.fail(problem.help("write two conditions separated by `,`"));
        }
        let at = self.since(start);
        Ok(Condition { left, relation: found, right, at })
    }

    /// A side of a condition: the brace that follows is the body of the function.
    fn condition_side(&mut self) -> Parse<Expr> {
        self.before_body = true;
        let side = self.expr_above(Level::Or);
        self.before_body = false;
        side
    }
}

/// `high - 1`, since bounds in the tree are inclusive.
fn one_less(high: Expr, at: Origin) -> Expr {
    let one = Expr { kind: ExprKind::Int(1, None), at, span: high.span };
    let span = high.span;
    Expr { kind: ExprKind::Binary(BinaryOp::Sub, Box::new(high), Box::new(one)), at, span }
}

fn relation(op: &str) -> Option<Relation> {
    Some(match op {
        "==" => Relation::Eq,
        "!=" => Relation::Ne,
        "<" => Relation::Lt,
        "<=" => Relation::Le,
        ">" => Relation::Gt,
        ">=" => Relation::Ge,
        _ => return None,
    })
}
