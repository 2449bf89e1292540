//! One case, run by all executors.

use std::collections::{BTreeMap, BTreeSet};

use tensorjit_core::autodiff;
use tensorjit_core::check::CheckedFunction;
use tensorjit_core::diag::Bug;
use tensorjit_core::graph::value::{Element, Env, Scalar, Value};
use tensorjit_core::graph::{Graph, Op};
use tensorjit_core::interp;
use tensorjit_core::syntax::cases::{Case, numbers};
use tensorjit_core::testing::{Program, Side, sample};
use tensorjit_runtime::abi::{DType, Relation, Role};

use crate::support;

use super::expect::{Numbers, named};

/// How many times the oracle's bound a kernel may be off.
const SLACK: f64 = 4.0;

/// Compiles the function, runs it for every size, and compares.
pub(super) fn function(case: &Case, function: &CheckedFunction) -> Result<(), String> {
    // The oracle sees the derivatives, and nothing that was done to make them fast.
    let plain = autodiff::run(function.graph.clone()).map_err(|failure| failure.to_string())?;
    let program = support::compile(function)?;
    structure(case, function, &program)?;
    let expected = given_outputs(case, function)?;
    for (dims, inputs) in arguments(case, function)? {
        let run = Run { program: &program, plain: &plain, dims: &dims, inputs: &inputs, expected: &expected };
        run.all_levels().map_err(|message| format!("{dims:?}: {message}"))?;
    }
    Ok(())
}

/// The values of the symbols, and the arguments.
pub(super) type Arguments = (Vec<i64>, Vec<Value>);

/// Those of each call.
pub(super) fn arguments(case: &Case, function: &CheckedFunction) -> Result<Vec<Arguments>, String> {
    let given = given(case, "input")?;
    let sizes: Vec<&str> = case.all("sizes").collect();
    if sizes.is_empty() && !function.graph.facts.symbols.is_empty() {
        return Err("`sizes` are missing".to_owned());
    }
    let call = |sizes: &str| {
        let dims = dims(function, sizes)?;
        let inputs = inputs(function, &given, &dims)?;
        Ok((dims, inputs))
    };
    if sizes.is_empty() { vec![""] } else { sizes }.into_iter().map(call).collect()
}

/// What the case says of loops and memory.
fn structure(case: &Case, function: &CheckedFunction, program: &Program) -> Result<(), String> {
    let graph = program.graph();
    let live = graph.reachable(&graph.outputs);
    let carries = graph.ids().filter(|id| live[id.0 as usize]).filter_map(|id| match &graph.node(id).op {
        Op::Scan(scan) => Some(scan.carries.to_string()),
        _ => None,
    });
    let carries: Vec<String> = carries.collect();
    let found = [
        ("kernels", program.nests().to_string()),
        ("scans", carries.len().to_string()),
        ("carries", carries.join(", ")),
        ("workspace", graph.facts.show(program.workspace()).to_string()),
    ];
    for (key, found) in found {
        if let Some(expected) = case.one(key)?
            && expected != found
        {
            return Err(format!("{key}: {found}, expected {expected}"));
        }
    }
    for name in case.all("unread") {
        let position = function.params.iter().position(|param| param.name == name);
        let position = position.ok_or_else(|| format!("`{name}` is no parameter"))? as u32;
        if graph.ids().any(|id| live[id.0 as usize] && graph.node(id).op == Op::Input(position)) {
            return Err(format!("`{name}` is read"));
        }
    }
    Ok(())
}

fn given(case: &Case, key: &str) -> Result<BTreeMap<String, Numbers>, String> {
    let mut found = BTreeMap::new();
    for text in case.all(key) {
        let (name, numbers) = named(text)?;
        if found.insert(name.to_owned(), numbers).is_some() {
            return Err(format!("{key} `{name}` is given twice"));
        }
    }
    Ok(found)
}

/// The expected outputs by position.
fn given_outputs(case: &Case, function: &CheckedFunction) -> Result<BTreeMap<usize, Numbers>, String> {
    let states = function.params.iter().filter(|param| param.role == Role::State);
    let names: Vec<&str> = function
        .results
        .iter()
        .map(|(name, _)| name.as_str())
        .chain(states.map(|s| s.name.as_str()))
        .collect();
    let mut found = BTreeMap::new();
    for (name, numbers) in given(case, "output")? {
        let position = names.iter().position(|n| *n == name);
        let position = position.ok_or_else(|| format!("`{name}` is none of {}", names.join(", ")))?;
        found.insert(position, numbers);
    }
    Ok(found)
}

/// The values of the symbols, within their bounds and conditions.
fn dims(function: &CheckedFunction, sizes: &str) -> Result<Vec<i64>, String> {
    let mut sizes = numbers(sizes)?;
    let mut dims = Vec::new();
    for symbol in &function.graph.facts.symbols {
        let value = sizes.remove(&symbol.name).ok_or_else(|| format!("`{}` has no size", symbol.name))?;
        if value < symbol.low || value > symbol.high {
            return Err(format!("`{}` cannot be {value}", symbol.name));
        }
        dims.push(value);
    }
    if let Some(name) = sizes.keys().next() {
        return Err(format!("`{name}` is no symbol"));
    }
    let env = Env { dims: &dims };
    for condition in &function.conditions {
        let sides = (env.value(&condition.left), env.value(&condition.right));
        let (Ok(left), Ok(right)) = sides else { return Err(format!("{condition:?} has no value")) };
        let holds = match condition.relation {
            Relation::Eq => left == right,
            Relation::Ne => left != right,
            Relation::Lt => left < right,
            Relation::Le => left <= right,
            Relation::Gt => left > right,
            Relation::Ge => left >= right,
        };
        if !holds {
            return Err(format!("a `where` clause does not hold: {left} {:?} {right}", condition.relation));
        }
    }
    Ok(dims)
}

fn inputs(
    function: &CheckedFunction,
    given: &BTreeMap<String, Numbers>,
    dims: &[i64],
) -> Result<Vec<Value>, String> {
    let names: BTreeSet<&str> = function.params.iter().map(|param| param.name.as_str()).collect();
    if let Some(name) = given.keys().find(|name| !names.contains(name.as_str())) {
        return Err(format!("`{name}` is no parameter"));
    }
    let env = Env { dims };
    let mut inputs = Vec::new();
    for (seed, param) in function.params.iter().enumerate() {
        let shape = env.shape(&param.shape).map_err(show)?;
        inputs.push(match given.get(&param.name) {
            Some(numbers) => numbers
                .input(param.dtype, &shape)
                .map_err(|message| format!("`{}`: {message}", param.name))?,
            None => {
                let mut value = sample(param.dtype, &shape, seed as u64);
                if let Some(bound) = &param.index_bound {
                    let bound = env.value(bound).map_err(show)?;
                    for element in &mut value.elements {
                        if let Scalar::Int(index) = element.scalar {
                            *element = Element::exact(Scalar::Int(index % i128::from(bound)));
                        }
                    }
                }
                value
            }
        });
    }
    Ok(inputs)
}

fn show(bug: Bug) -> String {
    bug.to_string()
}

/// One call.
struct Run<'r> {
    program: &'r Program,
    plain: &'r Graph,
    dims: &'r [i64],
    inputs: &'r [Value],
    expected: &'r BTreeMap<usize, Numbers>,
}

impl Run<'_> {
    fn all_levels(&self) -> Result<(), String> {
        let oracle = interp::run(self.plain, self.dims, self.inputs).map_err(show)?;
        for (position, numbers) in self.expected {
            let what = |message| format!("output {position} of the oracle: {message}");
            numbers.check(&oracle[*position], true).map_err(what)?;
        }
        for level in self.program.levels() {
            for side in [Side::Front, Side::Back] {
                let found = self.program.run(level, self.dims, self.inputs, side).map_err(show)?;
                let what = |message| format!("{level:?}, {side:?}: {message}");
                self.compare(&found, &oracle).map_err(what)?;
            }
        }
        Ok(())
    }

    /// Compares what a kernel computed with the oracle, and with the file.
    fn compare(&self, found: &[Value], oracle: &[Value]) -> Result<(), String> {
        for (position, (found, oracle)) in found.iter().zip(oracle).enumerate() {
            let what = |message| format!("output {position}: {message}");
            let sure = compare(found, oracle).map_err(what)?;
            match self.expected.get(&position) {
                Some(numbers) => numbers.check(found, false).map_err(what)?,
                None if !sure => return Err(what("the oracle is sure of no element".to_owned())),
                None => {}
            }
        }
        Ok(())
    }
}

/// Whether the oracle was sure of at least one element, or there are none.
pub(super) fn compare(found: &Value, oracle: &Value) -> Result<bool, String> {
    if found.dtype != oracle.dtype || found.shape != oracle.shape {
        return Err(format!("{:?}, but the oracle has {:?}", found.shape, oracle.shape));
    }
    let mut sure = oracle.elements.is_empty();
    for (position, (f, o)) in found.elements.iter().zip(&oracle.elements).enumerate() {
        let bound = SLACK * o.error;
        if bound == f64::INFINITY {
            continue;
        }
        sure = true;
        let (f, o) = (f.scalar, o.scalar);
        let same = match (f, o) {
            (Scalar::Float(f), Scalar::Float(o)) => {
                f == o || (f.is_nan() && o.is_nan()) || (f - o).abs() <= bound
            }
            _ => f == o,
        };
        if !same {
            return Err(format!("element {position} is {f:?}, but the oracle has {o:?} within {bound:e}"));
        }
    }
    Ok(sure)
}

#[test]
fn a_wrong_element_is_seen() {
    let value = |x: f64| Value::floats(DType::F64, &[2], &[1.0, x]);
    assert_eq!(compare(&value(f64::NAN), &value(f64::NAN)), Ok(true));
    assert!(compare(&value(f64::NAN), &value(2.0)).is_err());
    assert!(compare(&value(2.0), &value(2.0 + 1e-15)).is_err());
}
