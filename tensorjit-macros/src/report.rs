//! Errors as the compiler of the user's crate shows them.

use proc_macro2::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use tensorjit_core::diag::{Diagnostic, Failure};
use tensorjit_core::syntax::sources::Sources;

/// All errors of a failure, each at its place.
pub(crate) fn failure(failure: &Failure, sources: &Sources) -> TokenStream {
    match failure {
        Failure::User(diagnostics) => {
            diagnostics.iter().map(|problem| diagnostic(problem, sources)).collect()
        }
        Failure::Bug(bug) => error(&bug.to_string(), Span::call_site(), Span::call_site()),
    }
}

/// One error: what is wrong, what stands at the other places, the way out.
pub(crate) fn diagnostic(problem: &Diagnostic, sources: &Sources) -> TokenStream {
    let (first, last) = sources.spans(problem.at);
    let mut text = problem.message.clone();
    for (at, label) in &problem.labels {
        let place = sources.spans(*at).0.start();
        text.push_str(&format!("\n  at {}:{}: {label}", place.line, place.column + 1));
    }
    if let Some(help) = &problem.help {
        text.push_str("\n  help: ");
        text.push_str(help);
    }
    error(&text, first, last)
}

/// An error from the first to the last of two tokens.
pub(crate) fn error(message: &str, first: Span, last: Span) -> TokenStream {
    let mut literal = Literal::string(message);
    literal.set_span(last);
    let mut group = Group::new(Delimiter::Brace, TokenTree::Literal(literal).into());
    group.set_span(last);
    // The compiler marks from the first token of the call to its last.
    quote_spanned!(first=> ::core::compile_error! #group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensorjit_core::diag::{Bug, Origin};

    #[test]
    fn everything_is_said() {
        let problem = Diagnostic {
            code: "shape",
            message: "shapes differ".to_owned(),
            at: Origin::default(),
            labels: vec![(Origin::default(), "this is `f32[3]`".to_owned())],
            help: Some("transpose it".to_owned()),
        };
        let text = failure(&Failure::User(vec![problem.clone(), problem]), &Sources::default()).to_string();
        assert_eq!(text.matches("compile_error").count(), 2);
        for part in ["shapes differ", "this is `f32[3]`", "help: transpose it"] {
            assert!(text.contains(part), "{text}");
        }
        let bug = Failure::Bug(Bug::new("loops", "lost"));
        assert!(failure(&bug, &Sources::default()).to_string().contains("please report"));
    }
}
