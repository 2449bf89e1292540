//! What the tests share: text to compiled programs, and values by their bits.

use std::time::Duration;

use tensorjit_core::check::{CheckedFunction, check};
use tensorjit_core::diag::{Diagnostic, Failure};
use tensorjit_core::graph::value::{Env, Scalar, Value};
use tensorjit_core::loops::split::Limits;
use tensorjit_core::pipeline::{Prepared, Stage, prepare};
use tensorjit_core::schedule::tasks::Grain;
use tensorjit_core::syntax::parse_text;
use tensorjit_core::testing::{Program, sample, states};

/// How many times the oracle's bound a kernel may be off.
const SLACK: f64 = 4.0;

/// The public functions of a text, checked; of a text with mistakes what it would show.
pub(crate) fn functions(text: &str) -> Result<Vec<CheckedFunction>, String> {
    let parsed = parse_text(text);
    let show = |diagnostics: &[Diagnostic]| {
        diagnostics.iter().map(|d| d.render(&parsed.sources, "test", text)).collect::<Vec<_>>().join("\n")
    };
    if !parsed.diagnostics.is_empty() {
        return Err(show(&parsed.diagnostics));
    }
    check(&parsed.block).map_err(|failure| match failure {
        Failure::User(diagnostics) => show(&diagnostics),
        Failure::Bug(bug) => bug.to_string(),
    })
}

/// The only public function of a text, checked.
pub(crate) fn function(text: &str) -> Result<CheckedFunction, String> {
    let mut functions = functions(text)?;
    match (functions.pop(), functions.len()) {
        (Some(function), 0) => Ok(function),
        (_, others) => Err(format!("one public function is wanted beside {others} others")),
    }
}

/// Compiles a checked function for every level of this machine.
pub(crate) fn compile(function: &CheckedFunction) -> Result<Program, String> {
    compile_as(function, |prepared| prepared)
}

/// Compiles a checked function, of which work of the given size is shared.
pub(crate) fn compile_with(grain: Grain, function: &CheckedFunction) -> Result<Program, String> {
    compile_as(function, |prepared| prepared.with_grain(grain))
}

/// Compiles a checked function with no part, so that no two nests share their code.
pub(crate) fn compile_whole(function: &CheckedFunction) -> Result<Program, String> {
    compile_as(function, |prepared| prepared.with_limits(Limits::WHOLE))
}

/// Compiles a checked function with each of its nests a part of its own, all of them cut into tasks, their results
/// written past the caches.
pub(crate) fn compile_in_parts(function: &CheckedFunction) -> Result<Program, String> {
    let grain = Grain { group: 0, task: 1, cache: 0 };
    compile_as(function, |prepared| prepared.with_limits(Limits::NONE).with_grain(grain))
}

fn compile_as(function: &CheckedFunction, how: impl FnOnce(Prepared) -> Prepared) -> Result<Program, String> {
    let (states, mut watch) = (states(function), |_: Stage, _: Duration, _: &dyn Fn() -> String| {});
    prepare(function.graph.clone(), &states, &mut watch)
        .and_then(|prepared| {
            Program::of(how(prepared.with_versions(&function.versions)), &states, &mut watch)
        })
        .map_err(|failure| format!("{}: {failure}", function.name))
}

/// The values of a function's symbols, each from an axis whose extent is linear in it alone.
pub(crate) fn sizes(function: &CheckedFunction, inputs: &[Value]) -> Result<Vec<i64>, String> {
    let symbols = &function.graph.facts.symbols;
    let mut found = vec![None; symbols.len()];
    for (param, input) in function.params.iter().zip(inputs) {
        for (dim, extent) in param.shape.iter().zip(&input.shape) {
            let [sym] = dim.symbols()[..] else { continue };
            let linear = dim.linear_in(sym).and_then(|(by, plus)| Some((by.as_const()?, plus.as_const()?)));
            if let Some((by, plus)) = linear {
                found[sym.0 as usize] = Some((*extent as i64 - plus) / by);
            }
        }
    }
    let missing = |i: usize| format!("no axis determines {}", symbols[i].name);
    found.into_iter().enumerate().map(|(i, extent)| extent.ok_or_else(|| missing(i))).collect()
}

/// Sampled arguments; integers that index are below what they index.
pub(crate) fn inputs(function: &CheckedFunction, dims: &[i64]) -> Result<Vec<Value>, String> {
    let env = Env { dims };
    let mut inputs = Vec::new();
    for (seed, param) in function.params.iter().enumerate() {
        let shape = env.shape(&param.shape).map_err(|bug| bug.to_string())?;
        let mut value = sample(param.dtype, &shape, seed as u64);
        if let Some(bound) = &param.index_bound {
            let bound = env.value(bound).map_err(|bug| bug.to_string())?;
            for element in &mut value.elements {
                if let Scalar::Int(index) = &mut element.scalar {
                    *index %= i128::from(bound);
                }
            }
        }
        inputs.push(value);
    }
    Ok(inputs)
}

/// Demands that what a kernel computed lies within four times the oracle's bound of what the oracle found.  Tells
/// whether the oracle was sure of at least one element, or there are none.
pub(crate) fn agree(found: &Value, oracle: &Value) -> Result<bool, String> {
    if found.dtype != oracle.dtype || found.shape != oracle.shape {
        return Err(format!("it is {:?}, but the oracle has {:?}", found.shape, oracle.shape));
    }
    let mut sure = oracle.elements.is_empty();
    for (position, (found, oracle)) in found.elements.iter().zip(&oracle.elements).enumerate() {
        let bound = SLACK * oracle.error;
        let same = match (found.scalar, oracle.scalar) {
            (Scalar::Float(f), Scalar::Float(o)) => {
                f == o || (f.is_nan() && o.is_nan()) || (f - o).abs() <= bound
            }
            (found, oracle) => found == oracle,
        };
        sure |= bound.is_finite();
        if bound.is_finite() && !same {
            let (found, oracle) = (found.scalar, oracle.scalar);
            return Err(format!(
                "element {position} is {found:?}, but the oracle has {oracle:?} within {bound:e}"
            ));
        }
    }
    Ok(sure)
}

/// The elements as bits, by which signed zeros differ and all NaN are equal.
pub(crate) fn bits(value: &Value) -> Vec<u64> {
    let one = |scalar: Scalar| match scalar {
        Scalar::Float(x) if x.is_nan() => f64::NAN.to_bits(),
        Scalar::Float(x) => x.to_bits(),
        Scalar::Int(x) => x as u64,
        Scalar::Bool(x) => u64::from(x),
    };
    value.elements.iter().map(|element| one(element.scalar)).collect()
}
