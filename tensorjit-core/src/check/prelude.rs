//! The functions that are written in the language itself, read one at a time when they are first called.
//!
//! Those with a documentation comment, `///`, are functions of the language; the others are for these alone.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::report::{Checked, Stop};
use crate::diag::{Bug, Origin};
use crate::syntax::ast::Function;
use crate::syntax::parse_function_text;

/// The texts, by family; the comment at the beginning of each says which.
pub(super) const TEXTS: &[&str] = &[
    include_str!("prelude/statistics.tj"),
    include_str!("prelude/activation.tj"),
    include_str!("prelude/hyperbolic.tj"),
    include_str!("prelude/normalization.tj"),
    include_str!("prelude/loss.tj"),
    include_str!("prelude/indexing.tj"),
    include_str!("prelude/creation.tj"),
    include_str!("prelude/interpolation.tj"),
    include_str!("prelude/attention.tj"),
    include_str!("prelude/recurrent.tj"),
    include_str!("prelude/optimiser.tj"),
    include_str!("prelude/random.tj"),
    include_str!("prelude/linalg.tj"),
];

/// How every function starts: no line inside a function does.
const START: &str = "\nfn ";

/// How the line before it starts where the function has a rule for its derivative.
const ATTRIBUTE: &str = "#[";

/// Functions that have been read.
#[derive(Default)]
pub(super) struct Prelude {
    read: RefCell<BTreeMap<String, Rc<Function>>>,
}

impl Prelude {
    /// The function of that name, be it one of the language or not.
    pub(super) fn function(&self, name: &str) -> Checked<Option<Rc<Function>>> {
        if let Some(function) = self.read.borrow().get(name) {
            return Ok(Some(function.clone()));
        }
        let Some(entry) = find(name) else { return Ok(None) };
        let function = Rc::new(parse(name, entry.text())?);
        self.read.borrow_mut().insert(name.to_owned(), function.clone());
        Ok(Some(function))
    }

    /// The names of the functions of the language.
    pub(super) fn names<'n>() -> impl Iterator<Item = &'n str> {
        all().filter(Entry::is_public).map(|entry| entry.name())
    }
}

/// Whether there is a function of that name.
pub(super) fn has(name: &str) -> bool {
    find(name).is_some()
}

/// Whether there is a function of the language of that name.
pub(super) fn has_public(name: &str) -> bool {
    find(name).is_some_and(|entry| entry.is_public())
}

/// A function where it stands in its text.
#[derive(Clone, Copy)]
pub(super) struct Entry<'t> {
    /// What stands before it.
    before: &'t str,
    /// It, and what stands behind it.
    from: &'t str,
}

impl<'t> Entry<'t> {
    fn name(&self) -> &'t str {
        let rest = self.head();
        let rest = rest.strip_prefix("fn ").unwrap_or(rest);
        rest.split(['(', '<']).next().unwrap_or(rest)
    }

    /// From `fn` on.
    fn head(&self) -> &'t str {
        match self.from.split_once('\n') {
            Some((line, rest)) if line.starts_with(ATTRIBUTE) => rest,
            _ => self.from,
        }
    }

    /// From its attribute or `fn` to the last brace.
    fn text(&self) -> &'t str {
        let end = self.from.find("\n}").map_or(self.from.len(), |end| end + 2);
        &self.from[..end]
    }

    /// Whether it has a documentation comment.
    pub(super) fn is_public(&self) -> bool {
        self.before.rsplit('\n').next().is_some_and(|line| line.starts_with("///"))
    }

    /// The documentation comment in one line.
    pub(super) fn doc(&self) -> String {
        let lines = self.before.rsplit('\n').map_while(|line| line.strip_prefix("/// "));
        let mut lines: Vec<&str> = lines.collect();
        lines.reverse();
        lines.join(" ")
    }

    /// What stands between `fn` and the body, in one line.
    pub(super) fn signature(&self) -> String {
        let head = self.head().split(" {\n").next().unwrap_or_default();
        let words: Vec<&str> = head.split_whitespace().skip(1).collect();
        words.join(" ").replace("( ", "(").replace(", )", ")")
    }
}

/// The functions of a text.
pub(super) fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    text.match_indices(START).map(|(end, _)| {
        let line = text[..end].rfind('\n').unwrap_or(end);
        let at = if text[line..end].trim_start().starts_with(ATTRIBUTE) { line } else { end };
        Entry { before: &text[..at], from: &text[at + 1..] }
    })
}

fn all() -> impl Iterator<Item = Entry<'static>> {
    TEXTS.iter().copied().flat_map(entries)
}

fn find(name: &str) -> Option<Entry<'static>> {
    all().find(|entry| entry.name() == name)
}

fn parse(name: &str, text: &str) -> Result<Function, Stop> {
    let bug = |what: String| Stop::Bug(Bug::new("check", format!("the prelude's `{name}`: {what}")));
    parse_function_text(text, Origin::default()).map_err(|errors| bug(format!("{errors:?}")))
}

#[cfg(test)]
mod tests {
    use super::{Prelude, all, entries, find, has, has_public};

    #[test]
    fn every_function_can_be_read() {
        let prelude = Prelude::default();
        for entry in all() {
            let function = prelude.function(entry.name()).expect("the prelude parses").expect("it is found");
            assert_eq!(function.name.text, entry.name());
        }
        assert!(Prelude::names().count() > 100, "only {} functions", Prelude::names().count());
    }

    #[test]
    fn a_name_is_not_found_by_its_beginning() {
        assert!(!has("soft"));
        let softplus = find("softplus").expect("it is there").text();
        assert!(softplus.starts_with("fn softplus<") && softplus.ends_with('}'));
    }

    #[test]
    fn a_function_is_read_with_its_rule() {
        let softmax = find("softmax").expect("it is there");
        assert!(softmax.text().starts_with("#[jvp(softmax_tangent)]\nfn softmax<"), "{}", softmax.text());
        assert!(softmax.signature().starts_with("softmax<") && softmax.doc().starts_with("`exp(x)` over"));
    }

    #[test]
    fn functions_without_documentation_are_not_of_the_language() {
        assert!(has_public("nll") && has("labelled") && !has_public("labelled"));
    }

    #[test]
    fn a_function_is_described_in_two_lines() {
        let text = "// A family.\n\n// Other.\n/// The first,\n/// and more.\nfn f<N>(\n    x: f32[N],\n    y: int = 1,\n) -> f32\nwhere N >= 1 {\n    x[0]\n}\n";
        let found: Vec<_> = entries(text).map(|entry| (entry.doc(), entry.signature())).collect();
        let expected = ("The first, and more.", "f<N>(x: f32[N], y: int = 1) -> f32 where N >= 1");
        assert_eq!(found, [(expected.0.to_owned(), expected.1.to_owned())]);
    }
}
