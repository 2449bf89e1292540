//! Errors as the compiler of the user's crate shows them.

use proc_macro2::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use tensorjit_core::diag::{Diagnostic, Failure, Origin};
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
    let mut text = problem.message.clone();
    // What another block says is shown where this one imports it: both places have a part in it.
    let import = sources.import_of(problem.at);
    let here = import.map(|_| (problem.at, "here, in what is imported".to_owned()));
    for (at, label) in here.iter().chain(&problem.labels) {
        text.push_str(&format!("\n  at {}: {label}", place(*at, sources)));
    }
    if let Some(help) = &problem.help {
        text.push_str("\n  help: ");
        text.push_str(help);
    }
    let (first, last) = sources.spans(import.unwrap_or(problem.at));
    error(&text, first, last)
}

/// `line:column`, with the file where it may be another one.
fn place(at: Origin, sources: &Sources) -> String {
    let span = sources.spans(at).0;
    let start = span.start();
    let file = sources.import_of(at).map_or_else(String::new, |_| format!("{}:", span.file()));
    format!("{file}{}:{}", start.line, start.column + 1)
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
    use tensorjit_core::diag::Bug;

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
