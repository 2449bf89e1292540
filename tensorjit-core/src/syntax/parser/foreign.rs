//! Words of Rust that mean something else here, or nothing yet, and what to write instead.

use super::super::tokens::Kind;
use super::{Parse, Parser};
use crate::diag::Diagnostic;

/// What a word that cannot be a name is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// Part of the language.
    Own,
    /// Of a construct that the language reserves and this version lacks.
    Reserved,
    /// Of Rust, and not part of the language.
    Foreign,
}

use Word::{Foreign, Own, Reserved};

/// Every word that cannot be a name, in order, and what to write instead.
const WORDS: &[(&str, Word, &str)] = &[
    ("Self", Foreign, "types are tensors, scalars, structs and tuples of them"),
    ("_", Own, ""),
    ("as", Own, ""),
    ("async", Foreign, "tensor functions run to their end"),
    ("await", Foreign, "tensor functions run to their end"),
    ("box", Foreign, "there are no pointers"),
    ("break", Foreign, "a `for` goes over all of its range"),
    ("checkpoint", Reserved, "write the block without it; intermediate values are kept"),
    ("const", Own, ""),
    ("continue", Foreign, "a `for` goes over all of its range"),
    ("crate", Foreign, "names have no paths; `use path::name;` before the functions brings a name in"),
    ("dyn", Foreign, "types are tensors, scalars, structs and tuples of them"),
    ("else", Own, ""),
    ("enum", Foreign, "a block holds `fn`, `struct` and `const` items"),
    ("extern", Foreign, "a block holds `fn`, `struct` and `const` items"),
    ("false", Own, ""),
    ("fn", Own, ""),
    ("for", Own, ""),
    ("if", Own, ""),
    ("impl", Foreign, "a block holds `fn`, `struct` and `const` items"),
    ("in", Own, ""),
    ("let", Own, ""),
    ("loop", Foreign, "there is no iteration without end"),
    ("match", Foreign, "`select(condition, a, b)` chooses elements"),
    ("mod", Foreign, "a block holds `fn`, `struct` and `const` items"),
    ("move", Foreign, "closures read what they see without it"),
    ("mut", Own, ""),
    ("pub", Own, ""),
    ("ref", Foreign, "there are no references"),
    ("return", Foreign, "the value of a function is its last expression, without `return` and without `;`"),
    ("self", Foreign, "a tensor function has no receiver; name every parameter"),
    ("static", Foreign, "a constant is written `const NAME: f32 = ..;`"),
    ("struct", Own, ""),
    ("super", Foreign, "names have no paths; `use path::name;` before the functions brings a name in"),
    ("trait", Foreign, "a block holds `fn`, `struct` and `const` items"),
    ("true", Own, ""),
    ("type", Foreign, "a block holds `fn`, `struct` and `const` items"),
    ("unsafe", Foreign, "there is nothing unsafe to do"),
    ("use", Own, ""),
    ("where", Own, ""),
    ("while", Reserved, "write `while_loop(init, |carry| condition, |carry| carry, max = 100)`"),
];

fn word(text: &str) -> Option<&'static (&'static str, Word, &'static str)> {
    WORDS.binary_search_by(|(word, ..)| (*word).cmp(text)).ok().and_then(|index| WORDS.get(index))
}

/// Whether a word cannot be a name.
pub(in super::super) fn is_keyword(text: &str) -> bool {
    word(text).is_some() || text.starts_with("r#")
}

impl Parser {
    /// The problem with the next token, where it is a word or sign of Rust that cannot stand here.
    #[cold]
    pub(super) fn foreign(&mut self) -> Option<Diagnostic> {
        let (code, message, help) = match &self.token().kind {
            Kind::Ident(word) => word_problem(word)?,
            Kind::Op(op) => {
                let (message, help) = sign_problem(op)?;
                ("rust-construct", message.to_owned(), help)
            }
            _ => return None,
        };
        let at = self.here();
        Some(Diagnostic::new(code, message, at).help(help))
    }

    /// Fails with what is wrong at the next token, where `what` is expected.
    #[cold]
    pub(super) fn fail_foreign<T>(&mut self, what: &str) -> Parse<T> {
        let diagnostic = match self.foreign() {
            Some(diagnostic) => diagnostic,
            None => self.expected(what),
        };
        self.fail(diagnostic)
    }

    /// What stands after an operand and cannot: paths, macros, struct values, `?`.
    pub(super) fn reject_suffix(&mut self) -> Parse<()> {
        let (message, help) = match &self.token().kind {
            Kind::Op("::") => {
                ("names have no paths", "`use path::name;` before the functions brings a name in")
            }
            Kind::Op("?") => ("`?` has no meaning here", "nothing in a tensor function can fail"),
            Kind::Op("!") if matches!(self.ahead(1), Kind::Open(..)) => {
                ("macros cannot be called in tensor functions", "write the expression, or a helper `fn`")
            }
            _ => return Ok(()),
        };
        let at = self.here();
        self.fail(Diagnostic::new("rust-construct", message, at).help(help))
    }
}

fn word_problem(text: &str) -> Option<(&'static str, String, &'static str)> {
    if text.starts_with("r#") {
        let message = format!("`{text}` is a raw name, which the language does not have");
        return Some(("rust-construct", message, "choose a name that is not a keyword"));
    }
    match word(text)? {
        (_, Own, _) => None,
        (_, Reserved, help) => Some(("not-supported-yet", format!("`{text}` is not supported yet"), help)),
        (_, Foreign, help) => Some(("rust-construct", format!("`{text}` is not part of the language"), help)),
    }
}

fn sign_problem(op: &str) -> Option<(&'static str, &'static str)> {
    Some(match op {
        "&" | "&&" => {
            ("there are no references in expressions", "write the name itself; values are never moved")
        }
        "*" => ("there are no pointers to follow", "write the name itself"),
        "+" => ("there is no unary `+`", "write the operand alone"),
        "'" => ("there are no lifetimes or labels", "leave it out"),
        "<" | "::" => ("names have no paths", "`use path::name;` before the functions brings a name in"),
        "#" => ("expressions have no attributes", "attributes stand before `fn`"),
        ".." | "..=" => (
            "a range is not a value",
            "ranges stand in an index, as `x[1..T]`; numbers in order are `iota(n)`",
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::WORDS;

    #[test]
    fn words_are_in_order() {
        for pair in WORDS.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} and {}", pair[0].0, pair[1].0);
        }
    }
}
