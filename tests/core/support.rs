//! What the tests share: text to compiled programs.

use tensorjit_core::check::{CheckedFunction, check};
use tensorjit_core::diag::Failure;
use tensorjit_core::syntax::parse_text;
use tensorjit_core::testing::{Program, states};

/// The public functions of a text, checked; a text with mistakes fails the test with what it would show.
pub fn functions(text: &str) -> Vec<CheckedFunction> {
    let parsed = parse_text(text);
    let show = |diagnostics: &[tensorjit_core::diag::Diagnostic]| {
        diagnostics.iter().map(|d| d.render(&parsed.sources, "test", text)).collect::<Vec<_>>().join("\n")
    };
    assert!(parsed.diagnostics.is_empty(), "{}", show(&parsed.diagnostics));
    match check(&parsed.block) {
        Ok(functions) => functions,
        Err(Failure::User(diagnostics)) => panic!("{}", show(&diagnostics)),
        Err(Failure::Bug(bug)) => panic!("{bug}"),
    }
}

/// Compiles a checked function for every level of this machine.
pub fn compile(function: &CheckedFunction) -> Program {
    match Program::compile(function.graph.clone(), &states(function), &mut |_, _, _| {}) {
        Ok(program) => program,
        Err(failure) => panic!("{}: {failure}", function.name),
    }
}
