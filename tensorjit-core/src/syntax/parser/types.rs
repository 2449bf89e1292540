//! Types: `f32`, `f32[B, 3]`, `T[..S, N]`, `Layer<I, O>`, `[Layer<I, O>; 6]`, `"mean" | "sum"`, tuples.

use proc_macro2::Delimiter;

use super::super::ast::{ExprKind, Extent, TypeExpr, TypeKind};
use super::super::tokens::Kind;
use super::expr::Level;
use super::{Parse, Parser};
use crate::diag::Diagnostic;

impl Parser {
    /// A type.
    pub(super) fn type_expr(&mut self) -> Parse<TypeExpr> {
        self.deeper(|parser| match parser.token().kind {
            Kind::Ident(_) => parser.tensor_type(),
            Kind::Open(Delimiter::Parenthesis, _) => parser.tuple_type(),
            Kind::Literal(_) => parser.choice_type(),
            Kind::Open(Delimiter::None, _) => parser.group(Delimiter::None, Parser::type_expr),
            Kind::Open(Delimiter::Bracket, _) => parser.array_type(),
            Kind::Op("&" | "&&") => {
                let at = parser.here();
                parser.fail(
                    Diagnostic::new("rust-construct", "types have no references", at)
                        .help("write the type alone; only a parameter may be state, as `m: &mut f32[N]`"),
                )
            }
            _ => parser.fail_foreign("a type"),
        })
    }

    fn tensor_type(&mut self) -> Parse<TypeExpr> {
        let start = self.position;
        if self.foreign().is_some() {
            return self.fail_foreign("a type");
        }
        let elem = self.name("a type")?;
        if self.eat_op("<") {
            let dims = self.dimension_arguments()?;
            let at = self.since(start);
            return Ok(TypeExpr { kind: TypeKind::Struct { name: elem, dims }, at });
        }
        self.reject_path()?;
        let mut shape = Vec::new();
        if self.at_open(Delimiter::Bracket) {
            shape = self.group(Delimiter::Bracket, |parser| parser.list(Parser::extent))?;
            if shape.is_empty() {
                let at = self.since(start);
                let problem = Diagnostic::new("expected", "a shape in brackets has at least one axis", at);
                return self.fail(problem.help(format!("a scalar is written `{}`", elem.text)));
            }
        }
        let at = self.since(start);
        Ok(TypeExpr { kind: TypeKind::Tensor { elem, shape }, at })
    }

    /// `"mean" | "sum"`
    fn choice_type(&mut self) -> Parse<TypeExpr> {
        let start = self.position;
        let mut choices = Vec::new();
        loop {
            let at = self.here();
            match self.literal()?.kind {
                ExprKind::Str(text) => choices.push(text),
                _ => return self.fail(Diagnostic::new("expected", "expected a type, found a literal", at)),
            }
            if !self.eat_op("|") {
                break;
            }
        }
        Ok(TypeExpr { kind: TypeKind::Choice(choices), at: self.since(start) })
    }

    /// The dimensions of a struct after the `<`.
    fn dimension_arguments(&mut self) -> Parse<Vec<Extent>> {
        let mut dims = Vec::new();
        while !self.eat_op(">") {
            // A comparison would take the `>`.
            dims.push(Extent::Dim(self.expr_above(Level::Or)?));
            if !self.eat_op(",") && !self.at_op(">") {
                return self.fail_expected("`,` or `>`");
            }
        }
        Ok(dims)
    }

    /// `[Layer<D, D>; 6]`
    fn array_type(&mut self) -> Parse<TypeExpr> {
        let start = self.position;
        let (element, len) = self.group(Delimiter::Bracket, |parser| {
            let element = parser.type_expr()?;
            if !parser.eat_op(";") {
                let problem = parser.expected("`;` and the number of elements");
                return parser
                    .fail(problem.help("a tensor is written with its element type first, as `f32[B, 3]`"));
            }
            Ok((Box::new(element), Extent::Dim(parser.expr()?)))
        })?;
        let at = self.since(start);
        Ok(TypeExpr { kind: TypeKind::Array { element, len }, at })
    }

    fn reject_path(&mut self) -> Parse<()> {
        if !self.at_op("::") {
            return Ok(());
        }
        let at = self.here();
        self.fail(
            Diagnostic::new("rust-construct", "names have no paths", at)
                .help("types are `f32`, `f64`, `i32`, `i64`, `bool` and the structs of the block"),
        )
    }

    fn tuple_type(&mut self) -> Parse<TypeExpr> {
        let start = self.position;
        let close = self.closing();
        let mut types = self.group(Delimiter::Parenthesis, |parser| parser.list(Parser::type_expr))?;
        let at = self.since(start);
        // `(A)` is the type itself, `(A,)` a tuple of one.
        let comma = matches!(self.row.tokens[close - 1].kind, Kind::Op(","));
        match types.pop() {
            Some(only) if types.is_empty() && !comma => Ok(only),
            last => {
                types.extend(last);
                Ok(TypeExpr { kind: TypeKind::Tuple(types), at })
            }
        }
    }

    /// The partner of the bracket that stands next.
    pub(super) fn closing(&self) -> usize {
        match self.token().kind {
            Kind::Open(_, partner) => partner,
            _ => self.position,
        }
    }

    fn extent(&mut self) -> Parse<Extent> {
        if self.eat_op("..") {
            return Ok(Extent::Axes(self.name("the name of a list of axes")?));
        }
        Ok(Extent::Dim(self.expr()?))
    }
}
