//! Programs that use the macro: those of `tests/fail` must not compile, and say in full why; those of
//! `tests/pass` must, and run.
//!
//! `TRYBUILD=overwrite cargo test --test programs` writes what is said now, to be read before it is kept.

#[test]
fn mistakes_are_told_in_the_users_names() {
    let tests = trybuild::TestCases::new();
    tests.compile_fail("tests/fail/*/*.rs");
}

#[test]
fn programs_compile_and_run() {
    let tests = trybuild::TestCases::new();
    tests.pass("tests/pass/*.rs");
}
