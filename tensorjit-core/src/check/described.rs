//! What the documents say of the functions that are no rows of the table of elementwise functions.

use super::builtins;
use super::prelude::{Entry, TEXTS, entries};

/// Functions that belong together.
pub(crate) struct Family {
    /// What they are.
    pub(crate) title: String,
    /// What is to be said of all of them, if anything.
    pub(crate) about: String,
    /// Each of them.
    pub(crate) functions: Vec<Described>,
}

/// A function in words.
pub(crate) struct Described {
    /// How it is called.
    pub(crate) signature: String,
    /// What it gives.
    pub(crate) doc: String,
}

/// All functions: those of the compiler, and those that are written in the language, by their texts.
pub(crate) fn families() -> Vec<Family> {
    let builtin = |(signature, doc): (&str, &str)| Described { signature: signature.into(), doc: doc.into() };
    let compiler = Family {
        title: "Built into the compiler".to_owned(),
        about: String::new(),
        functions: builtins::described().map(builtin).collect(),
    };
    std::iter::once(compiler).chain(TEXTS.iter().copied().map(family)).collect()
}

/// The functions of a text: its first comment is a title, and what stands behind a colon is about all of them.
fn family(text: &str) -> Family {
    let comment: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("// ")).collect();
    let comment = comment.join(" ");
    let (title, about) = comment.split_once(": ").unwrap_or((comment.trim_end_matches('.'), ""));
    let mut letters = about.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    let about = first.into_iter().chain(letters).collect();
    let functions = entries(text)
        .filter(Entry::is_public)
        .map(|entry| Described { signature: entry.signature(), doc: entry.doc() })
        .collect();
    Family { title: title.to_owned(), about, functions }
}

/// The names of all functions that have one, the elementwise ones too.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    builtins::names().chain(super::prelude::Prelude::names())
}
