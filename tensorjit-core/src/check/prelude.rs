//! The functions that are written in the language itself, read one at a time when they are first called.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::report::{Checked, Stop};
use crate::diag::{Bug, Origin};
use crate::syntax::ast::Function;
use crate::syntax::parse_function_text;

/// The texts, by family.
const TEXTS: &[&str] = &[
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

/// Functions that have been read.
#[derive(Default)]
pub(super) struct Prelude {
    read: RefCell<BTreeMap<String, Rc<Function>>>,
}

impl Prelude {
    /// The function of that name.
    pub(super) fn function(&self, name: &str) -> Checked<Option<Rc<Function>>> {
        if let Some(function) = self.read.borrow().get(name) {
            return Ok(Some(function.clone()));
        }
        let Some(text) = find(name) else { return Ok(None) };
        let function = Rc::new(parse(name, text)?);
        self.read.borrow_mut().insert(name.to_owned(), function.clone());
        Ok(Some(function))
    }

    /// The names of all functions.
    pub(super) fn names<'n>() -> impl Iterator<Item = &'n str> {
        TEXTS
            .iter()
            .flat_map(|text| text.split(START).skip(1).filter_map(|rest| rest.split(['(', '<']).next()))
    }
}

/// The text of a function.
fn find(name: &str) -> Option<&'static str> {
    TEXTS.iter().copied().find_map(|text| {
        let mut from = 0;
        loop {
            let start = from + text[from..].find(START)?;
            let function = &text[start + 1..];
            let rest = &function["fn ".len()..];
            if rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(['(', '<'])) {
                let end = function.find("\n}").map_or(function.len(), |end| end + 2);
                return Some(&function[..end]);
            }
            from = start + 1;
        }
    })
}

fn parse(name: &str, text: &str) -> Result<Function, Stop> {
    let bug = |what: String| Stop::Bug(Bug::new("check", format!("the prelude's `{name}`: {what}")));
    parse_function_text(text, Origin::default()).map_err(|errors| bug(format!("{errors:?}")))
}

#[cfg(test)]
mod tests {
    use super::{Prelude, find};

    #[test]
    fn every_function_can_be_read() {
        let prelude = Prelude::default();
        let mut count = 0;
        for name in Prelude::names() {
            let function = prelude.function(name).expect("the prelude parses").expect("it is found");
            assert_eq!(function.name.text, name);
            count += 1;
        }
        assert!(count > 20, "only {count} functions");
    }

    #[test]
    fn a_name_is_not_found_by_its_beginning() {
        assert!(find("soft").is_none());
        assert!(find("softmax").is_some_and(|text| text.starts_with("fn softmax<") && text.ends_with('}')));
    }
}
