//! Structs: their declarations and their values.

use proc_macro2::{Delimiter, TokenStream};

use super::super::ast::{Expr, ExprKind, Field, Ident, Struct};
use super::super::tokens::Kind;
use super::{Parse, Parser};
use crate::diag::Diagnostic;

impl Parser {
    /// A struct after its keyword.
    pub(super) fn structure(
        &mut self,
        attributes: Vec<TokenStream>,
        visibility: TokenStream,
        public: bool,
    ) -> Parse<Struct> {
        let name = self.name("the name of a struct")?;
        let generics = if self.eat_op("<") { self.generics()? } else { Vec::new() };
        if !self.at_open(Delimiter::Brace) {
            let at = self.here();
            let message = format!("struct `{}` has no fields with names", name.text);
            let help = format!("write `struct {} {{ w: f32[3], b: f32 }}`", name.text);
            return self.fail(Diagnostic::new("struct-form", message, at).help(help));
        }
        let fields = self.group(Delimiter::Brace, |parser| parser.list(Parser::declared_field))?;
        Ok(Struct { attributes, visibility, public, name, generics, fields })
    }

    fn declared_field(&mut self) -> Parse<Field> {
        let attributes = self.attributes()?;
        let attributes = self.plain(attributes, "a field")?;
        // All fields are public; that may be written.
        self.visibility()?;
        let name = self.name("the name of a field")?;
        if !self.eat_op(":") {
            let problem = self.expected("`:` and the type of the field");
            return self.fail(problem.help(format!("write `{}: f32[N]`", name.text)));
        }
        Ok(Field { attributes, name, ty: self.type_expr()? })
    }

    /// `{ w: a, b, ..base }` after the name of a struct, which began at token `start`.
    pub(super) fn struct_value(&mut self, name: Ident, start: usize) -> Parse<Expr> {
        let (mut base, mut height) = (None, 0);
        let mut fields: Vec<(Ident, Expr)> = Vec::new();
        self.group(Delimiter::Brace, |parser| {
            parser.list(|parser| {
                if parser.eat_op("..") {
                    base = Some(Box::new(parser.expr()?));
                    height = height.max(parser.height);
                    if !parser.at_end() {
                        return parser.fail_expected("`}` after the base");
                    }
                    return Ok(());
                }
                let field = parser.name("the name of a field")?;
                let value = parser.field_value(&field)?;
                height = height.max(parser.height);
                fields.push((field, value));
                Ok(())
            })
        })?;
        self.height = self.raise(height)?;
        let (at, span) = (name.at, self.since(start));
        Ok(Expr { kind: ExprKind::Struct { name, fields, base }, at, span })
    }

    /// `: value`, or the value of that name.
    fn field_value(&mut self, field: &Ident) -> Parse<Expr> {
        if self.eat_op(":") {
            return self.expr();
        }
        if matches!(self.token().kind, Kind::Op("=")) {
            let at = self.here();
            let problem = Diagnostic::new("struct-form", "a field of a value is not written with `=`", at);
            return self.fail(problem.help(format!("write `{}: value`", field.text)));
        }
        self.height = 1;
        Ok(Expr { kind: ExprKind::Name(field.text.clone()), at: field.at, span: field.at })
    }
}
