//! What goes wrong: errors of the user, and bugs of the compiler, which are another type.

mod codes;

pub use codes::{CODES, Code};

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
