//! Expressions, by precedence climbing.  Precedence is Rust's; `@` stands with `*`.

use proc_macro2::Delimiter;
use tensorjit_runtime::abi::Relation;

use super::super::ast::{BinaryOp, Body, Expr, ExprKind, Ident, UnaryOp};
use super::super::literal;
use super::super::tokens::Kind;
use super::{MAX_DEPTH, Parse, Parser, foreign};
use crate::diag::{Diagnostic, Origin};

/// How tightly operators bind, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Compare,
    Or,
    Xor,
    And,
    Shift,
    Sum,
    Product,
}

/// Binary operators.
fn binary(op: &str) -> Option<(Level, BinaryOp)> {
    Some(match op {
        "==" => (Level::Compare, BinaryOp::Compare(Relation::Eq)),
        "!=" => (Level::Compare, BinaryOp::Compare(Relation::Ne)),
        "<" => (Level::Compare, BinaryOp::Compare(Relation::Lt)),
        "<=" => (Level::Compare, BinaryOp::Compare(Relation::Le)),
        ">" => (Level::Compare, BinaryOp::Compare(Relation::Gt)),
        ">=" => (Level::Compare, BinaryOp::Compare(Relation::Ge)),
        "|" => (Level::Or, BinaryOp::Or),
        "^" => (Level::Xor, BinaryOp::Xor),
        "&" => (Level::And, BinaryOp::And),
        "<<" => (Level::Shift, BinaryOp::Shl),
        ">>" => (Level::Shift, BinaryOp::Shr),
        "+" => (Level::Sum, BinaryOp::Add),
        "-" => (Level::Sum, BinaryOp::Sub),
        "*" => (Level::Product, BinaryOp::Mul),
        "/" => (Level::Product, BinaryOp::Div),
        "%" => (Level::Product, BinaryOp::Rem),
        "@" => (Level::Product, BinaryOp::MatMul),
        _ => return None,
    })
}

impl Level {
    fn tighter(self) -> Option<Level> {
        Some(match self {
            Level::Compare => Level::Or,
            Level::Or => Level::Xor,
            Level::Xor => Level::And,
            Level::And => Level::Shift,
            Level::Shift => Level::Sum,
            Level::Sum => Level::Product,
            Level::Product => return None,
        })
    }
}

impl Parser {
    /// An expression.
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        self.expr_above(Level::Compare)
    }

    /// An expression whose operators bind at least as tightly as `level`.
    pub(super) fn expr_above(&mut self, level: Level) -> Parse<Expr> {
        self.deeper(|parser| parser.operators(level))
    }

    fn operators(&mut self, least: Level) -> Parse<Expr> {
        let mut left = self.cast()?;
        let mut height = self.height;
        let mut compared: Option<Origin> = None;
        while let Some(op) = self.op() {
            let Some((level, op)) = binary(op) else {
                self.reject_operator(op)?;
                break;
            };
            if level < least {
                break;
            }
            let at = self.here();
            if level == Level::Compare {
                if let Some(first) = compared {
                    return self.fail(chained(at, first));
                }
                compared = Some(at);
            }
            self.position += 1;
            let right = match level.tighter() {
                Some(tighter) => self.expr_above(tighter)?,
                None => self.cast()?,
            };
            height = self.raise(height.max(self.height))?;
            let span = self.sources.join(left.span, right.span);
            left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), at, span };
        }
        self.height = height;
        Ok(left)
    }

    /// Operators of Rust that the language writes otherwise.
    fn reject_operator(&mut self, op: &str) -> Parse<()> {
        let (message, help) = match op {
            "&&" if self.joins => return Ok(()),
            "||" if self.joins => ("a version is for one case", "write two versions, with `,` between them"),
            "&&" => (
                "`&&` is not part of the language",
                "`&` is elementwise and binds tighter than comparisons: write `(a < b) & (c < d)`",
            ),
            "||" => (
                "`||` is not part of the language",
                "`|` is elementwise and binds tighter than comparisons: write `(a < b) | (c < d)`",
            ),
            _ => return Ok(()),
        };
        let at = self.here();
        self.fail(Diagnostic::new("rust-construct", message, at).help(help))
    }

    /// One level above `height`, where that is allowed.
    pub(super) fn raise(&mut self, height: usize) -> Parse<usize> {
        // A chain `a + b + c` is as deep as it is long; brackets are counted where they open.
        if height >= 2 * MAX_DEPTH {
            return self.too_deep();
        }
        Ok(height + 1)
    }

    fn cast(&mut self) -> Parse<Expr> {
        let mut value = self.unary()?;
        while self.at_word("as") {
            let at = self.here();
            self.position += 1;
            let ty = self.name("the name of an element type")?;
            if self.at_open(Delimiter::Bracket) {
                let at = self.here();
                let problem = Diagnostic::new("expected", "a cast changes the element type and no shape", at);
                return self.fail(
                    problem
                        .help(format!("write `as {}`; to index the result put it in parentheses", ty.text)),
                );
            }
            self.height = self.raise(self.height)?;
            let span = self.sources.join(value.span, ty.at);
            value = Expr { kind: ExprKind::Cast(Box::new(value), ty), at, span };
        }
        Ok(value)
    }

    fn unary(&mut self) -> Parse<Expr> {
        let op = match self.op() {
            Some("-") => UnaryOp::Neg,
            Some("!") => UnaryOp::Not,
            _ => return self.postfix(),
        };
        let at = self.here();
        self.position += 1;
        let operand = self.deeper(Parser::unary)?;
        self.height = self.raise(self.height)?;
        let span = self.sources.join(at, operand.span);
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(operand)), at, span })
    }

    /// An operand with its calls, fields and indices.
    fn postfix(&mut self) -> Parse<Expr> {
        let start = self.position;
        let mut value = self.primary()?;
        loop {
            if self.at_op(".") {
                value = self.dot(value, start)?;
            } else if self.at_open(Delimiter::Bracket) {
                let (height, bracket) = (self.height, self.position);
                let items = self.index()?;
                let at = self.since(bracket);
                self.height = self.raise(height.max(self.height))?;
                let span = self.since(start);
                value = Expr { kind: ExprKind::Index(Box::new(value), items), at, span };
            } else if self.at_open(Delimiter::Parenthesis) {
                let at = self.here();
                let problem = Diagnostic::new("expected", "only a function's name can be called", at);
                return self.fail(problem.help("functions are not values; write `*` between factors"));
            } else {
                self.reject_suffix()?;
                return Ok(value);
            }
        }
    }

    /// `.name(..)`, `.name`, `.0`.
    fn dot(&mut self, receiver: Expr, start: usize) -> Parse<Expr> {
        self.position += 1;
        if let Kind::Literal(literal) = &self.token().kind {
            let text = literal.to_string();
            return self.tuple_fields(receiver, &text, start);
        }
        if self.at_word("await") {
            return self.fail_foreign("a name");
        }
        let name = match self.called_keyword() {
            Some(name) => name,
            None => self.name("the name of a function or field")?,
        };
        if self.at_op("::") {
            return self.reject_suffix().and(Ok(receiver));
        }
        if self.at_open(Delimiter::Parenthesis) {
            return self.call(name, Some(receiver), start);
        }
        self.field(receiver, name, start)
    }

    /// `.0`, and `.0.1`, which Rust lexes as a float.
    fn tuple_fields(&mut self, mut value: Expr, text: &str, start: usize) -> Parse<Expr> {
        let at = self.here();
        if !text.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())) {
            return self.fail_expected("a position such as `.0`, or a name");
        }
        self.position += 1;
        for part in text.split('.') {
            value = self.field(value, Ident { text: part.to_owned(), at }, start)?;
        }
        Ok(value)
    }

    fn field(&mut self, value: Expr, name: Ident, start: usize) -> Parse<Expr> {
        self.height = self.raise(self.height)?;
        let (at, span) = (name.at, self.since(start));
        Ok(Expr { kind: ExprKind::Field(Box::new(value), name), at, span })
    }

    fn primary(&mut self) -> Parse<Expr> {
        self.height = 1;
        let start = self.position;
        if let Some(name) = self.called_keyword() {
            return self.call(name, None, start);
        }
        match &self.token().kind {
            Kind::Literal(_) => self.literal(),
            Kind::Ident(word) if word == "true" || word == "false" => {
                let kind = ExprKind::Bool(word == "true");
                Ok(self.leaf(kind))
            }
            Kind::Ident(word) if !foreign::is_keyword(word) => self.name_or_call(start),
            Kind::Open(Delimiter::Parenthesis, _) => self.parenthesised(),
            Kind::Open(Delimiter::None, _) => self.group(Delimiter::None, Parser::expr),
            Kind::Open(Delimiter::Bracket, _) => self.array(),
            Kind::Op("|" | "||") => self.closure(start),
            Kind::Ident(word) if word == "if" => self.deeper(|parser| parser.branch(start)),
            Kind::Open(Delimiter::Brace, _) => {
                let body = self.deeper(Parser::body)?;
                self.height = self.raise(self.height)?;
                let at = body.at;
                Ok(Expr { kind: ExprKind::Block(body), at, span: at })
            }
            _ => self.fail_foreign("an expression"),
        }
    }

    /// `if condition { .. } else { .. }`, the keyword of which stands next.
    fn branch(&mut self, start: usize) -> Parse<Expr> {
        let at = self.here();
        self.position += 1;
        // The brace that follows is the first side.
        let outer = std::mem::replace(&mut self.before_body, true);
        let condition = self.expr();
        self.before_body = outer;
        let condition = condition?;
        let mut height = self.height;
        let then = self.deeper(Parser::body)?;
        height = height.max(self.height);
        if !self.eat_word("else") {
            let problem = self.expected("`else`");
            return self.fail(problem.help("an `if` has a value on both sides: `if c { a } else { b }`"));
        }
        let otherwise = if self.at_word("if") {
            let start = self.position;
            let inner = self.deeper(|parser| parser.branch(start))?;
            let at = inner.span;
            Body { statements: Vec::new(), value: Some(Box::new(inner)), at }
        } else {
            self.deeper(Parser::body)?
        };
        self.height = self.raise(height.max(self.height))?;
        let span = self.since(start);
        Ok(Expr { kind: ExprKind::If { condition: Box::new(condition), then, otherwise }, at, span })
    }

    /// `|a, b| value`, as far to the right as it goes.
    fn closure(&mut self, start: usize) -> Parse<Expr> {
        let mut params = Vec::new();
        let empty = self.at_op("||");
        self.position += 1;
        while !empty && !self.at_op("|") {
            params.push(self.pattern()?);
            if !self.at_op(",") {
                break;
            }
            self.position += 1;
        }
        if !empty {
            self.expect_op("|", "to end the parameters of a closure")?;
        }
        let body = self.deeper(Parser::expr)?;
        self.height = self.raise(self.height)?;
        let span = self.since(start);
        Ok(Expr { kind: ExprKind::Closure(params, Box::new(body)), at: span, span })
    }

    /// The name of a function that is a keyword of Rust, where it is called.
    fn called_keyword(&mut self) -> Option<Ident> {
        let called = self.at_word("mod") && matches!(self.ahead(1), Kind::Open(Delimiter::Parenthesis, _));
        called.then(|| {
            let at = self.here();
            self.position += 1;
            Ident { text: "mod".to_owned(), at }
        })
    }

    /// The next token as an expression.
    fn leaf(&mut self, kind: ExprKind) -> Expr {
        let at = self.here();
        self.position += 1;
        Expr { kind, at, span: at }
    }

    pub(super) fn literal(&mut self) -> Parse<Expr> {
        let Kind::Literal(literal) = &self.token().kind else { return self.fail_expected("a literal") };
        match literal::read(literal) {
            Ok(kind) => Ok(self.leaf(kind)),
            Err(bad) => {
                let at = self.here();
                let problem = Diagnostic::new("literal", bad.message, at);
                self.fail(Diagnostic { help: bad.help, ..problem })
            }
        }
    }

    fn name_or_call(&mut self, start: usize) -> Parse<Expr> {
        let mut name = self.name("a name")?;
        if name.text == "rand" && self.at_op("::") {
            // The one module that the language has.
            self.position += 1;
            let item = self.name("the name of a function")?;
            name = Ident { text: format!("rand::{}", item.text), at: self.since(start) };
        }
        if self.at_open(Delimiter::Parenthesis) {
            return self.call(name, None, start);
        }
        if self.at_open(Delimiter::Brace) && !self.before_body {
            return self.deeper(|parser| parser.struct_value(name, start));
        }
        let at = name.at;
        Ok(Expr { kind: ExprKind::Name(name.text), at, span: at })
    }

    fn call(&mut self, name: Ident, receiver: Option<Expr>, start: usize) -> Parse<Expr> {
        let method = receiver.is_some();
        let mut height = if method { self.height } else { 1 };
        let mut args: Vec<Expr> = receiver.into_iter().collect();
        let mut options: Vec<(Ident, Expr)> = Vec::new();
        self.group(Delimiter::Parenthesis, |parser| {
            parser.list(|parser| {
                match parser.option_name()? {
                    Some(option) => {
                        let value = parser.expr()?;
                        options.push((option, value));
                    }
                    None => {
                        let value = parser.expr()?;
                        parser.reject_late_argument(&value, options.is_empty())?;
                        args.push(value);
                    }
                }
                height = height.max(parser.height);
                Ok(())
            })
        })?;
        self.height = self.raise(height)?;
        let (at, span) = (name.at, self.since(start));
        Ok(Expr { kind: ExprKind::Call { name, args, options, method }, at, span })
    }

    /// `name =`, where that stands next.
    fn option_name(&mut self) -> Parse<Option<Ident>> {
        match (&self.token().kind, self.ahead(1)) {
            (Kind::Ident(_), Kind::Op("=")) => {
                let name = self.name("the name of an option")?;
                self.position += 1;
                Ok(Some(name))
            }
            (Kind::Ident(_), Kind::Op(":")) => {
                self.position += 1;
                let at = self.here();
                let problem = Diagnostic::new("option-form", "a named option is not written with `:`", at);
                self.fail(problem.help("write `name = value`"))
            }
            _ => Ok(None),
        }
    }

    /// An argument without a name after one with a name.
    fn reject_late_argument(&mut self, value: &Expr, first: bool) -> Parse<()> {
        if first {
            return Ok(());
        }
        let message = "an argument without a name cannot follow named options";
        let problem = Diagnostic::new("option-form", message, value.span);
        let help = match &value.kind {
            ExprKind::Binary(BinaryOp::Compare(Relation::Eq), left, _) => match &left.kind {
                ExprKind::Name(name) => format!("an option is written `{name} = ..`, with one `=`"),
                _ => "write it before the options".to_owned(),
            },
            _ => "write it before the options".to_owned(),
        };
        self.fail(problem.help(help))
    }

    /// `(a)`, `(a, b)`, `(a,)`, `()`.
    fn parenthesised(&mut self) -> Parse<Expr> {
        let start = self.position;
        let close = self.closing();
        let mut parts = self.elements(Delimiter::Parenthesis)?;
        let span = self.since(start);
        let comma = matches!(self.row.tokens[close - 1].kind, Kind::Op(","));
        match parts.pop() {
            Some(only) if parts.is_empty() && !comma => Ok(Expr { span, ..only }),
            last => {
                parts.extend(last);
                self.height = self.raise(self.height)?;
                Ok(Expr { kind: ExprKind::Tuple(parts), at: span, span })
            }
        }
    }

    fn array(&mut self) -> Parse<Expr> {
        let start = self.position;
        let parts = self.elements(Delimiter::Bracket)?;
        let span = self.since(start);
        if parts.is_empty() {
            let problem =
                Diagnostic::new("literal", "a tensor literal without elements has no element type", span);
            return self.fail(problem.help("write `zeros([0])` with an ascription"));
        }
        self.height = self.raise(self.height)?;
        Ok(Expr { kind: ExprKind::Array(parts), at: span, span })
    }

    /// `..S`
    fn axes(&mut self) -> Parse<Expr> {
        let start = self.position;
        self.position += 1;
        let name = self.name("the name of a list of axes")?;
        let span = self.since(start);
        Ok(Expr { kind: ExprKind::Axes(name), at: span, span })
    }

    /// Expressions in brackets; leaves the height of the tallest.
    fn elements(&mut self, delimiter: Delimiter) -> Parse<Vec<Expr>> {
        let mut height = 0;
        let parts = self.group(delimiter, |parser| {
            parser.list(|parser| {
                if let (true, Kind::Ident(_)) =
                    (delimiter == Delimiter::Bracket && parser.at_op(".."), parser.ahead(1))
                {
                    return parser.axes();
                }
                let part = parser.expr()?;
                height = height.max(parser.height);
                if parser.at_op(";") && delimiter == Delimiter::Bracket {
                    let at = parser.here();
                    let problem = Diagnostic::new("rust-construct", "there are no repeat literals", at);
                    return parser
                        .fail(problem.help("write `full([n], value)`, `zeros([n])` or `ones([n])`"));
                }
                Ok(part)
            })
        })?;
        self.height = height;
        Ok(parts)
    }
}

fn chained(at: Origin, first: Origin) -> Diagnostic {
    Diagnostic::new("chained-comparison", "comparisons cannot be chained", at)
        .label(first, "the first comparison")
        .help("write `(a < b) & (b < c)`, or put one comparison in parentheses")
}
