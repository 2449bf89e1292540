//! How errors are reported: collected, and worded in the user's names.

use super::scope::Checker;
use crate::diag::{Bug, Diagnostic, Origin};
use crate::dim::Dim;
use crate::graph::Type;

/// Why an expression has no value.
#[derive(Debug)]
pub(super) enum Stop {
    /// An error of the user, which has been reported.
    Reported,
    /// A bug of the compiler.
    Bug(Bug),
}

impl From<Bug> for Stop {
    fn from(bug: Bug) -> Stop {
        Stop::Bug(bug)
    }
}

/// The result of checking a part.
pub(super) type Checked<T> = Result<T, Stop>;

/// A diagnostic with the functions into which it was inlined, outermost first.
#[derive(Debug)]
pub(super) struct Report {
    /// Functions of the block that were being inlined where it was found.
    pub(super) through: Vec<String>,
    /// The diagnostic.
    pub(super) diagnostic: Diagnostic,
}

impl Checker<'_> {
    /// Records an error.
    ///
    /// One inside the prelude moves to the user's call, for the user cannot see the prelude's text; one in the text of
    /// another block says which call of this one leads there.
    pub(super) fn report(&mut self, mut diagnostic: Diagnostic) -> Stop {
        if let Some((at, name)) = &self.library {
            diagnostic.at = *at;
            diagnostic.labels.clear();
            diagnostic.message = format!("in `{name}`: {}", diagnostic.message);
        }
        if let Some(call) = self.abroad {
            diagnostic.labels.push((call, "in this call".to_owned()));
        }
        diagnostic.message = self.items.plain(diagnostic.message);
        diagnostic.help = diagnostic.help.map(|help| self.items.plain(help));
        for (_, label) in &mut diagnostic.labels {
            *label = self.items.plain(std::mem::take(label));
        }
        let through = self.inlined.clone();
        self.reports.push(Report { through, diagnostic });
        Stop::Reported
    }

    /// Records an error that needs no more than a message.
    pub(super) fn fail<T>(
        &mut self,
        code: &'static str,
        at: Origin,
        message: impl Into<String>,
    ) -> Checked<T> {
        Err(self.report(Diagnostic::new(code, message, at)))
    }

    /// A type in the user's names: `f32[B, 3]`, or `f32` for a scalar.
    pub(super) fn show_type(&self, ty: &Type) -> String {
        match ty.shape.is_empty() {
            true => ty.dtype.name().to_owned(),
            false => format!("{}{}", ty.dtype.name(), self.show_shape(&ty.shape)),
        }
    }

    /// A shape in the user's names.
    pub(super) fn show_shape(&self, shape: &[Dim]) -> String {
        self.graph.facts.show_shape(shape)
    }

    /// A dimension in the user's names.
    pub(super) fn show(&self, dim: &Dim) -> String {
        self.graph.facts.show(dim)
    }
}

/// The candidate that `name` is most likely a misspelling of.
pub(super) fn closest<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    // Of short names most others are one edit away, so that only those count which differ in case.
    let allowed = name.chars().count() / 3;
    candidates
        .map(|candidate| match candidate.eq_ignore_ascii_case(name) {
            true => (0, candidate),
            false => (distance(name, candidate), candidate),
        })
        .filter(|(distance, candidate)| *distance <= allowed && *candidate != name)
        .min()
        .map(|(_, candidate)| candidate)
}

/// The number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// "a, b and c", each in backquotes.
pub(super) fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// "1 axis", "2 axes".
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::{closest, distance};

    #[test]
    fn distance_counts_edits() {
        for (a, b, expected) in [
            ("sum", "sum", 0),
            ("smu", "sum", 1),
            ("sofmax", "softmax", 1),
            ("relu", "gelu", 1),
            ("", "abc", 3),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn only_close_names_are_suggested() {
        let names = ["softmax", "sum", "relu"];
        assert_eq!(closest("sofmax", names.into_iter()), Some("softmax"));
        assert_eq!(closest("smu", names.into_iter()), Some("sum"));
        assert_eq!(closest("b", ["a", "B"].into_iter()), Some("B"));
        assert_eq!(closest("z", ["x", "y"].into_iter()), None);
        assert_eq!(closest("frobnicate", names.into_iter()), None);
    }
}
