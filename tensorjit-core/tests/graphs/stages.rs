//! Stages of the compiler, each against the oracle of what went in.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;
use tensorjit_core::graph::ops::derivative::Derivative;
use tensorjit_core::graph::table::Ew;
use tensorjit_core::graph::value::Value;
use tensorjit_core::graph::{Input, Op, Type};
use tensorjit_core::{autodiff, interp, simplify};

use crate::agreement::{Tally, compare};
use crate::build::{Numbers, build};
use crate::drive::{fail, on_recipes, with_gradients};
use crate::recipe::recipes;

#[test]
fn every_row_is_drawn_often() {
    let mut runner = TestRunner::deterministic();
    let mut drawn: BTreeMap<Ew, usize> = BTreeMap::new();
    for _ in 0..750 {
        let recipe = recipes().new_tree(&mut runner).unwrap().current();
        let mut program = build(&recipe).unwrap();
        program.graph.outputs = vec![program.loss];
        let live = program.graph.reachable(&program.graph.outputs);
        let operators: Vec<_> = program.graph.ids().filter(|id| live[id.0 as usize]).collect();
        assert!(operators.len() >= 8, "{recipe:?}");
        for id in operators {
            if let Op::Elementwise(row) = program.graph.node(id).op {
                *drawn.entry(row).or_default() += 1;
            }
        }
    }
    for row in Ew::ALL {
        let count = drawn.get(row).copied().unwrap_or(0);
        assert!(count >= 20, "{} is drawn {count} times", row.row().name);
    }
}

#[test]
fn simplified_graphs_have_the_same_results() {
    let tally = std::cell::Cell::new(Tally::default());
    on_recipes(256, |recipe| {
        let program = with_gradients(&recipe)?;
        let plain = autodiff::run(program.graph).map_err(fail)?;
        let simple = simplify::run(plain.clone()).map_err(fail)?;
        let expected = interp::run(&plain, &program.dims, &program.inputs).map_err(fail)?;
        let found = interp::run(&simple, &program.dims, &program.inputs).map_err(fail)?;
        let mut sum = tally.get();
        for (position, (found, expected)) in found.iter().zip(&expected).enumerate() {
            compare(&format!("output {position}"), found, expected, &mut sum).map_err(fail)?;
        }
        tally.set(sum);
        Ok(())
    });
    let Tally { compared, unsure } = tally.get();
    assert!(compared > 2 * unsure, "{compared} elements compared, {unsure} not");
}

/// The reverse derivative is the transpose of the forward one: `<u, J v> = <J^T u, v>`.
#[test]
fn forward_and_reverse_agree() {
    let tally = std::cell::Cell::new(Tally::default());
    on_recipes(256, |recipe| {
        let mut program = build(&recipe).map_err(fail)?;
        let y = program.results[0];
        let mut added = Vec::new();
        let directions: Vec<Type> = program.variables.iter().map(|x| program.graph.ty(*x).clone()).collect();
        for ty in directions.into_iter().chain([program.graph.ty(y).clone()]) {
            let position = program.graph.inputs.len() as u32;
            program.graph.inputs.push(Input { name: format!("v{position}"), ty });
            added.push(program.graph.add(Op::Input(position), &[], Default::default()).map_err(fail)?);
        }
        let mut numbers = Numbers(!recipe.seed);
        for input in &program.graph.inputs[program.inputs.len()..] {
            program.inputs.push(numbers.value(input, &program.dims));
        }
        let seed = added[program.variables.len()];
        let mut outputs = Vec::new();
        for (x, v) in program.variables.clone().iter().zip(&added) {
            outputs.push(program.derivative(Derivative::Jvp, &[y, *x, *v]).map_err(fail)?);
            outputs.push(program.derivative(Derivative::Vjp, &[y, *x, seed]).map_err(fail)?);
        }
        program.graph.outputs = outputs;
        let graph = autodiff::run(program.graph).map_err(fail)?;
        let values = interp::run(&graph, &program.dims, &program.inputs).map_err(fail)?;
        let given = &program.inputs[program.variables.len()..];
        let mut sum = tally.get();
        // What is rounded to a half on its way has other digits in each direction.
        let rounded = graph.ids().any(|id| graph.ty(id).dtype.is_half());
        for (pair, v) in values.chunks(2).zip(given) {
            let (forward, reverse) = (dot(&pair[0], &given[program.variables.len()]), dot(&pair[1], v));
            let bound = 4.0 * (forward.1 + reverse.1) + 1e-12 * forward.0.abs();
            if !rounded && bound.is_finite() && forward.0.is_finite() && reverse.0.is_finite() {
                sum.compared += 1;
                prop_assert!((forward.0 - reverse.0).abs() <= bound, "{forward:?} {reverse:?}");
            } else {
                sum.unsure += 1;
            }
        }
        tally.set(sum);
        Ok(())
    });
    let Tally { compared, unsure } = tally.get();
    assert!(compared > 2 * unsure, "{compared} elements compared, {unsure} not");
}

/// The inner product, with a bound on its error.
fn dot(a: &Value, b: &Value) -> (f64, f64) {
    let terms = a.elements.iter().zip(&b.elements);
    terms.fold((0.0, 0.0), |(sum, error), (a, b)| {
        let product = a.float() * b.float();
        (sum + product, error + a.error * b.float().abs() + 1e-14 * product.abs())
    })
}
