//! Cases that no text of the language can stand for, by one of three reasons; all others that do not pass have failed.

use std::fmt;

/// Why a case cannot be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "which reasons there are does not depend on which of them are needed today")]
pub(crate) enum Reason {
    /// It computes with strings or sequences.
    Strings,
    /// The shape of a result depends on data.
    DataShape,
    /// Its own specification does not say what the values are.
    Undefined,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Strings => "strings or sequences",
            Reason::DataShape => "an output shape depends on data",
            Reason::Undefined => "undefined by its own specification",
        })
    }
}

/// Suite, case and reason, with what it is in particular.
const CASES: &[(&str, &str, Reason, &str)] = &[
    // Both halves of its definition apply: the file has the value of one and the derivative of the other.
    ("jax", "clamp_04", Reason::Undefined, "the lower bound lies above the upper one"),
    ("jax", "top_k_02", Reason::Undefined, "NaN of both signs, in an order that is not stated"),
];

/// Why a case of a suite cannot be said, where that is so.
pub(crate) fn reason(suite: &str, case: &str) -> Option<(Reason, &'static str)> {
    CASES
        .iter()
        .find(|(of, name, ..)| *of == suite && *name == case)
        .map(|(_, _, reason, what)| (*reason, *what))
}
