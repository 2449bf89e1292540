//! The cases of `#[specialize(..)]`.

use super::report::Checked;
use super::scope::Checker;
use crate::diag::Diagnostic;
use crate::dim::facts::{Condition, Verdict};
use crate::dim::program::compile;
use crate::dim::{Dim, Sym};
use crate::syntax::ast::{Function, Version};

impl Checker<'_> {
    /// Reads the cases that a function is specialised for, each on its own.
    pub(super) fn versions(&mut self, function: &Function) -> Checked<Vec<Vec<Condition>>> {
        if let (Some(version), false) = (function.versions.first(), function.public) {
            let message = format!("`{}` has no code of its own to specialise", function.name.text);
            let diagnostic = Diagnostic::new("specialize", message, version.at);
            return Err(self.report(diagnostic.help("helpers are inlined: specialise the public functions")));
        }
        let mut versions = Vec::with_capacity(function.versions.len());
        let mut failed = None;
        for version in &function.versions {
            match self.version(version) {
                Ok(conditions) => versions.push(conditions),
                Err(stop) => failed = Some(stop),
            }
        }
        failed.map_or(Ok(versions), Err)
    }

    /// The conditions of a case, each of which may hold where those before it do.
    fn version(&mut self, version: &Version) -> Checked<Vec<Condition>> {
        let mut facts = self.graph.facts.clone();
        let mut conditions = Vec::with_capacity(version.conditions.len());
        for written in &version.conditions {
            let condition = self.condition(written)?;
            if [&condition.left, &condition.right].iter().all(|side| side.symbols().is_empty()) {
                let diagnostic = Diagnostic::new("specialize", "this depends on no dimension", written.at);
                return Err(
                    self.report(diagnostic.help("a version is chosen by the symbols of the function"))
                );
            }
            if facts.decide(&condition.left, condition.relation, &condition.right) == Verdict::Refuted {
                let message = format!("{} never holds here", facts.show_condition(&condition));
                return self.fail("condition-false", written.at, message);
            }
            for side in [&condition.left, &condition.right] {
                if let Err(problem) = compile(side) {
                    return self.fail("size", written.at, problem.to_string());
                }
            }
            facts.conditions.push(condition.clone());
            conditions.push(condition);
        }
        // What no relation by itself shows.
        for index in 0..facts.symbols.len() {
            if let (Some(low), Some(high)) = facts.range(&Dim::sym(Sym(index as u32)))
                && low > high
            {
                return self.fail("condition-false", version.at, "no sizes meet all of these");
            }
        }
        Ok(conditions)
    }
}
