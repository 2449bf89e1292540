//! Blocks and statements.

use proc_macro2::Delimiter;

use super::super::ast::{BinaryOp, Body, Expr, ExprKind, Ident, Pattern, Statement, Step, Target};
use super::super::tokens::Kind;
use super::{Failed, Parse, Parser};
use crate::diag::Diagnostic;

/// Assignments with an operator.
fn compound(op: &str) -> Option<BinaryOp> {
    Some(match op {
        "+=" => BinaryOp::Add,
        "-=" => BinaryOp::Sub,
        "*=" => BinaryOp::Mul,
        "/=" => BinaryOp::Div,
        "%=" => BinaryOp::Rem,
        "@=" => BinaryOp::MatMul,
        "&=" => BinaryOp::And,
        "|=" => BinaryOp::Or,
        "^=" => BinaryOp::Xor,
        "<<=" => BinaryOp::Shl,
        ">>=" => BinaryOp::Shr,
        _ => return None,
    })
}

/// What one statement turned out to be.
enum Parsed {
    Statement(Box<Statement>),
    Value(Expr),
    Nothing,
}

fn parsed(statement: Statement) -> Parsed {
    Parsed::Statement(Box::new(statement))
}

impl Parser {
    /// A block in braces.  Statements with errors are left out.
    pub(super) fn body(&mut self) -> Parse<Body> {
        let start = self.position;
        let close = self.closing();
        if !self.at_open(Delimiter::Brace) {
            return self.fail_foreign("`{`");
        }
        self.position += 1;
        let (mut statements, mut value, mut height) = (Vec::new(), None, 0);
        while self.position < close {
            match self.statement() {
                Ok(Parsed::Statement(statement)) => statements.push(*statement),
                Ok(Parsed::Value(expr)) => value = Some(Box::new(expr)),
                Ok(Parsed::Nothing) => {}
                Err(Failed) => self.recover(start, close),
            }
            height = height.max(self.height);
        }
        self.position = close + 1;
        self.height = height;
        let at = self.since(start);
        Ok(Body { statements, value, at })
    }

    /// Goes on after the next `;` of the block that opened at token `start`, or at a `let`.
    fn recover(&mut self, start: usize, close: usize) {
        // The error may stand inside brackets of the statement: walk the block's own tokens up to it.
        let mut index = start + 1;
        while index < self.position {
            index = self.after(index);
        }
        while index < close {
            match &self.row.tokens[index].kind {
                Kind::Op(";") => {
                    index += 1;
                    break;
                }
                Kind::Ident(word) if (word == "let" || word == "for") && index > self.position => break,
                _ => index = self.after(index),
            }
        }
        // A failed statement is passed even where nothing of it was.
        self.position = index.max(self.position.min(close)).min(close);
    }

    /// The index after the token tree at `index`.
    fn after(&self, index: usize) -> usize {
        match self.row.tokens[index].kind {
            Kind::Open(_, partner) => partner + 1,
            _ => index + 1,
        }
    }

    fn statement(&mut self) -> Parse<Parsed> {
        if self.eat_op(";") {
            return Ok(Parsed::Nothing);
        }
        if self.at_word("let") {
            return self.binding().map(parsed);
        }
        if self.at_word("for") {
            return self.for_loop().map(parsed);
        }
        if ["fn", "const", "pub", "struct"].iter().any(|word| self.at_word(word)) {
            let at = self.here();
            let problem = Diagnostic::new("statement-form", "items do not stand inside functions", at);
            return self.fail(problem.help("write it beside the function, in the same block"));
        }
        let start = self.position;
        let target = self.expr()?;
        let Some(op) = self.op() else { return self.finish_value(target, start) };
        let compound = compound(op);
        if op != "=" && compound.is_none() {
            return self.finish_value(target, start);
        }
        let old = compound.is_some().then(|| target.clone());
        let target = self.assigned(target)?;
        let at = self.here();
        self.position += 1;
        let mut value = self.expr()?;
        if let (Some(op), Some(old)) = (compound, old) {
            let span = self.since(start);
            value = Expr { kind: ExprKind::Binary(op, Box::new(old), Box::new(value)), at, span };
        }
        self.semicolon("this assignment")?;
        let at = self.since(start);
        Ok(parsed(Statement::Assign { target, value, at }))
    }

    /// What stands on the left of `=`: a name, or fields and elements of one.
    fn assigned(&mut self, target: Expr) -> Parse<Target> {
        let (message, help) = match target.kind {
            ExprKind::Name(text) => {
                return Ok(Target { name: Ident { text, at: target.at }, steps: Vec::new() });
            }
            ExprKind::Index(inner, items) => {
                let mut whole = self.assigned(*inner)?;
                whole.steps.push(Step::Index(items, target.at));
                return Ok(whole);
            }
            ExprKind::Field(inner, field) => {
                let mut whole = self.assigned(*inner)?;
                whole.steps.push(Step::Field(field));
                return Ok(whole);
            }
            ExprKind::Tuple(_) => ("several names cannot be assigned at once", "write one assignment each"),
            _ => (
                "only a `&mut` parameter or a name bound by `let mut` can be assigned",
                "bind a new name with `let`",
            ),
        };
        self.fail(Diagnostic::new("statement-form", message, target.span).help(help))
    }

    /// An expression at the end of the block is its value; elsewhere it is computed for nothing.
    fn finish_value(&mut self, value: Expr, start: usize) -> Parse<Parsed> {
        if self.at_end() {
            return Ok(Parsed::Value(value));
        }
        if self.eat_op(";") {
            let at = self.since(start);
            let problem = Diagnostic::new("unused-value", "the value of this statement is not used", at);
            let help = match self.at_end() {
                true => "leave out the `;` to make it the value of the block",
                false => "bind it with `let`, or remove it; tensor functions have no side effects",
            };
            self.report(problem.help(help));
            return Ok(Parsed::Nothing);
        }
        if self.starts_statement() {
            return self.semicolon("this expression").map(|()| Parsed::Value(value));
        }
        self.fail_foreign("an operator, `;` or `}`")
    }

    /// `let pattern: type = value;`
    fn binding(&mut self) -> Parse<Statement> {
        self.position += 1;
        let pattern = self.pattern()?;
        let ty = if self.eat_op(":") { Some(self.type_expr()?) } else { None };
        if !self.at_op("=") {
            if self.at_op(";") {
                let at = self.here();
                let problem = Diagnostic::new("statement-form", "`let` needs a value", at);
                return self.fail(problem.help("write `let name = value;`"));
            }
            let problem = self.expected("`=`");
            return self.fail(problem.help("a `let` is written `let name = value;`"));
        }
        self.position += 1;
        let value = self.expr()?;
        if self.at_word("else") {
            return self.fail_expected("`;`");
        }
        self.semicolon("this `let`")?;
        Ok(Statement::Let { pattern, ty, value })
    }

    pub(super) fn pattern(&mut self) -> Parse<Pattern> {
        self.deeper(|parser| match &parser.token().kind {
            Kind::Open(Delimiter::Parenthesis, _) => {
                let start = parser.position;
                let close = parser.closing();
                let mut parts = parser.group(Delimiter::Parenthesis, |p| p.list(Parser::pattern))?;
                let at = parser.since(start);
                let comma = matches!(parser.row.tokens[close - 1].kind, Kind::Op(","));
                match parts.pop() {
                    Some(only) if parts.is_empty() && !comma => Ok(only),
                    last => {
                        parts.extend(last);
                        Ok(Pattern::Tuple(parts, at))
                    }
                }
            }
            Kind::Ident(word) if word == "_" => {
                let at = parser.here();
                parser.position += 1;
                Ok(Pattern::Name(Ident { text: "_".to_owned(), at }))
            }
            _ => parser.bound_name(),
        })
    }

    fn bound_name(&mut self) -> Parse<Pattern> {
        let mutable = self.eat_word("mut");
        if self.foreign().is_some() {
            return self.fail_foreign("a name");
        }
        let name = self.name("a name or a tuple of names")?;
        if matches!(self.token().kind, Kind::Open(..) | Kind::Op("@" | "::" | "..")) {
            let at = self.here();
            let problem = Diagnostic::new("rust-construct", "`let` binds a name or a tuple of names", at);
            return self.fail(problem.help("take values apart by `.0`, `.1` or by an index"));
        }
        Ok(if mutable { Pattern::Mutable(name) } else { Pattern::Name(name) })
    }

    /// The `;` at the end of a statement; where it is plainly forgotten, parsing goes on as if it stood there.
    fn semicolon(&mut self, after: &str) -> Parse<()> {
        if self.eat_op(";") {
            return Ok(());
        }
        if !self.at_end() && !self.starts_statement() {
            return self.fail_foreign("an operator or `;`");
        }
        let at = self.before();
        let problem = Diagnostic::new("expected", format!("expected `;` after {after}"), at);
        self.report(problem.help("add `;` here"));
        Ok(())
    }

    /// Whether the next token is a name or bracket that begins something new.
    fn starts_statement(&self) -> bool {
        matches!(self.token().kind, Kind::Ident(_) | Kind::Literal(_) | Kind::Open(..))
    }
}
