//! Compiles a case and compares what it gives.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tensorjit_core::autodiff;
use tensorjit_core::check::{CheckedFunction, check};
use tensorjit_core::diag::{Diagnostic, Failure};
use tensorjit_core::dim::Dim;
use tensorjit_core::dim::facts::Condition;
use tensorjit_core::graph::value::{Scalar, Value};
use tensorjit_core::interp;
use tensorjit_core::pipeline::{Stage, prepare};
use tensorjit_core::syntax::parse_text;
use tensorjit_core::testing::{Program, Side};
use tensorjit_runtime::abi::Relation;

use crate::case::{Expected, Subject};

/// How many times the oracle's bound a kernel may be off.
const SLACK: f64 = 4.0;

/// How often conditions that the compiler asks for are added.
const ROUNDS: usize = 8;

/// Runs a case with its extents as constants, and compares.
pub(crate) fn constant<S: Subject>(case: &S) -> Result<Vec<Value>, String> {
    let text = case.text(&[], &[]);
    let show = |message: String| format!("{message}\n{text}");
    let function = function(&text).map_err(|errors| show(errors.join("; ")))?;
    let inputs = case.inputs();
    let oracle = match S::BOUNDED {
        true => {
            let plain = autodiff::run(function.graph.clone()).map_err(|failure| show(failure.to_string()))?;
            interp::run(&plain, &[], &inputs).map_err(|bug| show(bug.to_string()))?
        }
        false => Vec::new(),
    };
    let values = compile(&function).and_then(|program| call(&program, &[], &inputs)).map_err(show)?;
    for (i, (expected, value)) in case.expected().zip(&values).enumerate() {
        agree(value, expected, oracle.get(i))
            .map_err(|message| show(format!("{}: {message}", expected.name)))?;
    }
    Ok(values)
}

/// Runs a case with symbols; tells the conditions that give a symbol one value.
pub(crate) fn symbolic<S: Subject>(case: &S, constant: &[Value]) -> Result<Vec<String>, String> {
    let (mut clauses, mut types) = (Vec::new(), vec![None; constant.len()]);
    let mut text = case.text(&clauses, &types);
    let show = |message: String, text: &str| format!("{message}\n{text}");
    for _ in 0..ROUNDS {
        let errors = match function(&text) {
            Ok(function) => {
                let inputs = case.inputs();
                let dims = sizes(&function, &inputs, |symbol| case.size(symbol))
                    .map_err(|message| show(message, &text))?;
                if let Some(clause) = broken(&function, &dims) {
                    return Err(show(format!("its sizes do not meet `{clause}`"), &text));
                }
                let values = match S::SHARED {
                    true => {
                        let shared = share(&text);
                        let program = shared.get_or_init(|| compile(&function));
                        program.as_ref().map_err(String::clone).and_then(|p| call(p, &dims, &inputs))
                    }
                    false => compile(&function).and_then(|program| call(&program, &dims, &inputs)),
                };
                let values = values.map_err(|message| show(message, &text))?;
                for (i, (value, constant)) in values.iter().zip(constant).enumerate() {
                    if bits(value) != bits(constant) {
                        return Err(show(format!("result {i} has other bits"), &text));
                    }
                }
                return Ok(clauses.into_iter().filter(|clause| pins(clause)).collect());
            }
            Err(errors) => errors,
        };
        let before = (clauses.clone(), types.clone());
        for error in &errors {
            amend(error, &mut clauses, &mut types);
        }
        if before == (clauses.clone(), types.clone()) {
            return Err(show(errors.join("; "), &text));
        }
        text = case.text(&clauses, &types);
    }
    Err(show("the compiler asks for ever more".to_owned(), &text))
}

/// Takes from an error what it says would make the function legal: the type of a result, or a condition.
fn amend(error: &str, clauses: &mut Vec<String>, types: &mut [Option<String>]) {
    let result = error.strip_prefix("result ").or_else(|| error.strip_prefix("the result ").map(|_| error));
    if let Some((_, found)) = result.and_then(|text| text.split_once(", this is ")) {
        let number = result.and_then(|text| text.split(' ').next()?.parse::<usize>().ok()).unwrap_or(0);
        let found = found.split(" | ").next().unwrap_or(found);
        if let Some(written) = types.get_mut(number) {
            *written = Some(found.to_owned());
        }
        return;
    }
    let clause = error.split_once("`where ").and_then(|(_, rest)| rest.split_once('`'));
    if let Some((clause, _)) = clause
        && !clauses.iter().any(|known| known == clause)
    {
        clauses.push(clause.to_owned());
    }
}

/// Whether a condition is `N == 3`.
fn pins(clause: &str) -> bool {
    clause
        .split_once("==")
        .is_some_and(|(left, right)| !left.contains('%') && right.trim().parse::<i64>().is_ok())
}

/// The last function of a text, checked; of a text with mistakes the messages with their advice.
pub(crate) fn function(text: &str) -> Result<CheckedFunction, Vec<String>> {
    let parsed = parse_text(text);
    let show = |diagnostics: &[Diagnostic]| -> Vec<String> {
        let one = |d: &Diagnostic| match &d.help {
            None => d.message.clone(),
            Some(help) => format!("{} | {help}", d.message),
        };
        diagnostics.iter().map(one).collect()
    };
    if !parsed.diagnostics.is_empty() {
        return Err(show(&parsed.diagnostics));
    }
    let mut functions = check(&parsed.block).map_err(|failure| match failure {
        Failure::User(diagnostics) => show(&diagnostics),
        Failure::Bug(bug) => vec![bug.to_string()],
    })?;
    functions.pop().ok_or_else(|| vec!["no function".to_owned()])
}

/// A condition that does not hold for these sizes: with a clause that was added, the function is another one.
fn broken(function: &CheckedFunction, dims: &[i64]) -> Option<String> {
    let value = |dim: &Dim| dim.eval(&|sym| dims.get(sym.0 as usize).copied());
    let fails = |condition: &&Condition| match (value(&condition.left), value(&condition.right)) {
        (Some(left), Some(right)) => match condition.relation {
            Relation::Eq => left != right,
            Relation::Ne => left == right,
            Relation::Lt => left >= right,
            Relation::Le => left > right,
            Relation::Gt => left <= right,
            Relation::Ge => left < right,
        },
        _ => true,
    };
    let broken = function.conditions.iter().find(fails)?;
    Some(function.graph.facts.show_condition(broken))
}

/// The values of a function's symbols, each given or from an axis that has it as its extent.
fn sizes(
    function: &CheckedFunction,
    inputs: &[Value],
    given: impl Fn(&str) -> Option<i64>,
) -> Result<Vec<i64>, String> {
    let symbols = &function.graph.facts.symbols;
    let mut found: Vec<Option<i64>> = symbols.iter().map(|symbol| given(&symbol.name)).collect();
    for (param, input) in function.params.iter().zip(inputs) {
        for (dim, extent) in param.shape.iter().zip(&input.shape) {
            if let [symbol] = dim.symbols()[..]
                && *dim == Dim::sym(symbol)
            {
                found[symbol.0 as usize] = Some(*extent as i64);
            }
        }
    }
    found.into_iter().collect::<Option<_>>().ok_or_else(|| "a symbol is on no axis".to_owned())
}

/// A program that is compiled when it is first needed, or why it is not.
type Shared = Arc<OnceLock<Result<Program, String>>>;

/// What stands for a text that cases share.
fn share(text: &str) -> Shared {
    static KNOWN: Mutex<BTreeMap<String, Shared>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().expect("no thread panics");
    known.entry(text.to_owned()).or_default().clone()
}

/// Compiles for the highest level of this machine.
fn compile(function: &CheckedFunction) -> Result<Program, String> {
    let mut watch = |_: Stage, _: Duration, _: &dyn Fn() -> String| {};
    prepare(function.graph.clone(), &[], &mut watch)
        .and_then(|prepared| Program::highest(prepared, &[], &mut watch))
        .map_err(|failure| failure.to_string())
}

fn call(program: &Program, dims: &[i64], inputs: &[Value]) -> Result<Vec<Value>, String> {
    let level = program.levels().next().ok_or("this machine has no level")?;
    program.run(level, dims, inputs, Side::Back).map_err(|bug| bug.to_string())
}

/// Whether a value is what it must be: no farther from the true values than those of the file, or than the
/// oracle's bound allows, or than the tolerance; integers and truth values equal.
fn agree(found: &Value, expected: &Expected, oracle: Option<&Value>) -> Result<(), String> {
    let truth = expected.exact.as_ref().unwrap_or(&expected.value);
    if found.dtype != expected.value.dtype || found.shape != truth.shape {
        return Err(format!("it is {:?}, not {:?}", found.shape, truth.shape));
    }
    let (true_values, file) = (truth.to_f64(), expected.value.to_f64());
    let squares = true_values.iter().filter(|x| x.is_finite()).map(|x| x * x);
    let typical = (squares.sum::<f64>() / true_values.len().max(1) as f64).sqrt();
    let off = |x: f64, t: f64| if x == t || x.is_nan() && t.is_nan() { 0.0 } else { (x - t).abs() };
    let scales: Vec<f64> = true_values.iter().map(|t| t.abs().max(typical)).collect();
    let relative = file.iter().zip(&true_values).zip(&scales).map(|((x, t), scale)| off(*x, *t) / scale);
    let allowed = relative.filter(|error| error.is_finite()).fold(expected.tolerance, f64::max);
    for (i, found) in found.elements.iter().enumerate() {
        let bound = oracle.map_or(0.0, |oracle| oracle.elements[i].error);
        let (value, truth) = (found.scalar.to_f64(), true_values[i]);
        let near = match found.scalar {
            Scalar::Float(_) => {
                let error = off(value, truth);
                error <= allowed * scales[i] || error <= SLACK * bound && bound.is_finite()
            }
            _ => value == truth,
        };
        if !near && value != file[i] {
            return Err(format!("element {i} is {value:?}, not {truth:?} (the file has {:?})", file[i]));
        }
    }
    Ok(())
}

/// The elements as bits, by which signed zeros differ and all NaN are equal.
fn bits(value: &Value) -> Vec<u64> {
    let one = |scalar: Scalar| match scalar {
        Scalar::Float(x) if x.is_nan() => f64::NAN.to_bits(),
        Scalar::Float(x) => x.to_bits(),
        Scalar::Int(x) => x as u64,
        Scalar::Bool(x) => u64::from(x),
    };
    value.elements.iter().map(|element| one(element.scalar)).collect()
}
