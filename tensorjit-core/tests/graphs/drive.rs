//! Running a test on many recipes.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRng, TestRunner};

use tensorjit_core::graph::ops::derivative::Derivative;

use crate::build::{Program, build};
use crate::recipe::{Recipe, recipes};

/// Runs `test` on the same recipes every time: `cases`, or as many as the variable `PROPTEST_CASES` says.
pub(crate) fn on_recipes(cases: u32, test: impl Fn(Recipe) -> Result<(), TestCaseError>) {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    let random = TestRng::deterministic_rng(config.rng_algorithm);
    match TestRunner::new_with_rng(config, random).run(&recipes(), test) {
        Ok(()) => {}
        Err(TestError::Fail(reason, recipe)) => {
            let graph =
                with_gradients(&recipe).map_or_else(|error| error.to_string(), |p| p.graph.to_string());
            panic!(
                "{reason}\nfor N, M = {:?}, seed {}, in\n{graph}\nof {recipe:?}",
                recipe.dims, recipe.seed
            );
        }
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

/// A failure of a case.
pub(crate) fn fail(error: impl std::fmt::Display) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

/// A program whose outputs are its results and gradients, and of one in four a second derivative.
pub(crate) fn with_gradients(recipe: &Recipe) -> Result<Program, TestCaseError> {
    let mut program = build(recipe).map_err(fail)?;
    let gradients = program.gradients().map_err(fail)?;
    program.graph.outputs = program.results.iter().copied().chain(gradients).collect();
    if recipe.seed.is_multiple_of(4) {
        let x = program.variables[0];
        let second = program.derivative(Derivative::Hvp, &[program.loss, x, x]).map_err(fail)?;
        program.graph.outputs.push(second);
    }
    Ok(program)
}
