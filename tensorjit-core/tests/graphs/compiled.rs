//! Compiled code at every level against the oracle, values and gradients.

use std::cell::Cell;

use tensorjit_core::interp;
use tensorjit_core::testing::{Program, Side};
use tensorjit_runtime::abi::DType;

use crate::agreement::{Tally, compare};
use crate::drive::{fail, on_recipes, with_gradients};
use crate::recipe::Recipe;

/// How many programs are compiled for each type of floats.
const CASES: u32 = 256;

#[test]
fn compiled_graphs_of_f32_agree_with_the_oracle() {
    agree(DType::F32);
}

#[test]
fn compiled_graphs_of_f64_agree_with_the_oracle() {
    agree(DType::F64);
}

fn agree(dtype: DType) {
    let tally = Cell::new(Tally::default());
    on_recipes(CASES, |recipe| {
        let recipe = Recipe { dtype, ..recipe };
        let program = with_gradients(&recipe)?;
        let compiled = Program::compile(program.graph, &[], &mut |_, _, _| {}).map_err(fail)?;
        let expected = interp::run(compiled.graph(), &program.dims, &program.inputs).map_err(fail)?;
        let mut sum = tally.get();
        for level in compiled.levels() {
            let side = if recipe.seed & 1 == 0 { Side::Front } else { Side::Back };
            let found = compiled.run(level, &program.dims, &program.inputs, side).map_err(fail)?;
            for (position, (found, expected)) in found.iter().zip(&expected).enumerate() {
                compare(&format!("{level:?}, output {position}"), found, expected, &mut sum).map_err(fail)?;
            }
        }
        tally.set(sum);
        Ok(())
    });
    let Tally { compared, unsure } = tally.get();
    assert!(compared > 2 * unsure, "{compared} elements compared, {unsure} not");
}
