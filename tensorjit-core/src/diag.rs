//! What goes wrong: errors of the user, and bugs of the compiler, which are another type.

use thiserror::Error;

/// Where something came from: an index into a table of source positions that only the front end can read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin(pub u32);

/// An error of the user, in the user's names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which kind of mistake: the name of a row of the table of problems, such as `shape-mismatch`.
    pub code: &'static str,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// Where.
    pub at: Origin,
    /// Further places and what is there.
    pub labels: Vec<(Origin, String)>,
    /// The way out, where one is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A problem of a kind that [`CODES`] lists.
    pub fn new(code: &'static str, message: impl Into<String>, at: Origin) -> Diagnostic {
        Diagnostic { code, message: message.into(), at, labels: Vec::new(), help: None }
    }

    /// Adds a further place and what is there.
    pub fn label(mut self, at: Origin, text: impl Into<String>) -> Diagnostic {
        self.labels.push((at, text.into()));
        self
    }

    /// Says the way out.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}

/// A kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its name, as diagnostics show it.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
}

/// Every kind of mistake that the front end reports, by name.
pub const CODES: &[Code] = &[
    Code { name: "chained-comparison", about: "A comparison is an operand of another without parentheses." },
    Code { name: "expected", about: "Something else must stand at this place." },
    Code {
        name: "function-form",
        about: "A function lacks a part, or has one that tensor functions do not have.",
    },
    Code {
        name: "literal",
        about: "A literal is out of range, or of a kind or type that the language lacks.",
    },
    Code {
        name: "not-supported-yet",
        about: "A reserved construct of the language that this version lacks.",
    },
    Code { name: "option-form", about: "A named option is not written `name = value` after the arguments." },
    Code { name: "rust-construct", about: "A construct of Rust that the language does not have." },
    Code { name: "statement-form", about: "A statement or assignment is not one that the language has." },
    Code { name: "too-deep", about: "Brackets or operators are nested too deeply." },
    Code { name: "tokens", about: "The text is not made of Rust's tokens." },
    Code { name: "unused-value", about: "An expression is computed and dropped." },
];

/// A bug of the compiler: a stage was handed what the stage before it must not make.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("internal error of tensorjit in stage {stage}: {message}; please report it")]
pub struct Bug {
    /// The stage of the pipeline that found it.
    pub stage: &'static str,
    /// What does not hold.
    pub message: String,
}

impl Bug {
    /// A bug found in `stage`.
    pub fn new(stage: &'static str, message: impl Into<String>) -> Bug {
        Bug { stage, message: message.into() }
    }
}

/// Why the compiler gave no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// The user's errors, all that were found, at least one.
    #[error("{} error(s) in tensor functions", .0.len())]
    User(Vec<Diagnostic>),
    /// A bug of the compiler.
    #[error(transparent)]
    Bug(#[from] Bug),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_names_with_a_sentence() {
        for pair in CODES.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} and {} are out of order", pair[0].name, pair[1].name);
        }
        for code in CODES {
            assert!(code.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", code.name);
            assert!(code.about.ends_with('.') && code.about.len() > 20, "{}: {}", code.name, code.about);
        }
    }
}
