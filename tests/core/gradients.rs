//! Gradients beside those that others computed: `tests/data/grad`.
//!
//! Each case is a function in the language and a file of arrays.  Its value, its reverse, forward and second
//! derivatives are compiled twice, for extents that are symbols and for the constants of the file; at every
//! level both must agree with the file, and with each other in every bit.

mod vectors;
mod wrapper;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tensorjit_core::autodiff;
use tensorjit_core::graph::value::Value;
use tensorjit_core::interp;
use tensorjit_core::syntax::cases::{Case, read};
use tensorjit_core::testing::Side;

use self::vectors::Vectors;
use self::wrapper::Signature;
use crate::support::{bits, compile, function, sizes};

/// The files of cases.
const TOPICS: [&str; 6] = ["broadcasting", "elementwise", "reductions", "products", "movement", "windows"];

/// Relative and absolute, where a case does not say otherwise.
const TOLERANCE: (f64, f64) = (1e-10, 1e-12);

#[test]
fn broadcasting() {
    topic("broadcasting");
}

#[test]
fn elementwise() {
    topic("elementwise");
}

#[test]
fn reductions() {
    topic("reductions");
}

#[test]
fn products() {
    topic("products");
}

#[test]
fn movement() {
    topic("movement");
}

#[test]
fn windows() {
    topic("windows");
}

#[test]
fn every_file_of_arrays_has_its_case() {
    let mut expected = BTreeSet::new();
    for case in TOPICS.iter().flat_map(|name| cases(name)) {
        assert!(expected.insert(case.name.clone()), "`{}` stands twice", case.name);
    }
    let entries = fs::read_dir(data()).expect("the folder can be read");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let arrays = files.filter(|path| path.extension().is_some_and(|extension| extension == "npz"));
    let found: BTreeSet<String> =
        arrays.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    assert_eq!(found, expected);
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/grad")
}

fn cases(topic: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/core/gradients").join(topic);
    let text = fs::read_to_string(path.with_extension("tj")).expect("the file can be read");
    read(&text).unwrap_or_else(|message| panic!("{topic}: {message}"))
}

/// Runs the cases of a file, and reports all that fail.
fn topic(name: &str) {
    let only = std::env::var("CASE").ok();
    let mut failed = Vec::new();
    for case in cases(name) {
        if only.as_ref().is_some_and(|only| !case.name.contains(only.as_str())) {
            continue;
        }
        if let Err(message) = one(&case) {
            failed.push(format!("{}: {message}", case.name));
        }
    }
    assert!(failed.is_empty(), "{} cases of {name} fail\n{}", failed.len(), failed.join("\n"));
}

fn one(case: &Case) -> Result<(), String> {
    case.only(&["tolerance", "expect"])?;
    let mut vectors = Vectors::read(&data().join(&case.name).with_extension("npz"))?;
    for line in case.all("expect") {
        let (name, list) = line.split_once('=').ok_or("an expectation is written `name = numbers`")?;
        vectors.replace(name.trim(), list)?;
    }
    let tolerance = match case.one("tolerance")? {
        None => TOLERANCE,
        Some(text) => {
            let pair =
                text.split_once(',').and_then(|(r, a)| Some((r.parse().ok()?, a.trim().parse().ok()?)));
            pair.ok_or("a tolerance is written `relative, absolute`")?
        }
    };
    let signature = Signature::find(&case.text)?;
    let inputs = signature.inputs(&vectors);
    let inputs: Vec<Value> =
        inputs.iter().map(|name| vectors.get(name).cloned()).collect::<Result<_, _>>()?;
    let outputs = signature.outputs(&vectors);

    let mut runs = Vec::new();
    for text in [signature.symbolic(&vectors), signature.constant(&vectors)?] {
        let function = function(&format!("{}{text}", case.text))?;
        let dims = sizes(&function, &inputs)?;
        let extents = if dims.is_empty() { "constant" } else { "symbolic" };
        let plain = autodiff::run(function.graph.clone()).map_err(|failure| failure.to_string())?;
        let values = interp::run(&plain, &dims, &inputs).map_err(|bug| bug.to_string())?;
        agree(&outputs, &values, &vectors, tolerance)
            .map_err(|e| format!("{extents}, by the oracle: {e}"))?;
        let program = compile(&function)?;
        let mut levels = Vec::new();
        for level in program.levels() {
            let values = program.run(level, &dims, &inputs, Side::Back).map_err(|bug| bug.to_string())?;
            agree(&outputs, &values, &vectors, tolerance)
                .map_err(|message| format!("{extents}, level {}: {message}", level.name()))?;
            levels.push((level, values));
        }
        runs.push(levels);
    }
    for ((level, symbolic), (_, constant)) in runs[0].iter().zip(&runs[1]) {
        for ((name, symbolic), constant) in outputs.iter().zip(symbolic).zip(constant) {
            if bits(symbolic) != bits(constant) {
                let (symbolic, constant) = (symbolic.to_f64(), constant.to_f64());
                return Err(format!(
                    "{name} at level {}: symbolic extents give {symbolic:?}, constants {constant:?}",
                    level.name()
                ));
            }
        }
    }
    Ok(())
}

/// Whether all outputs are what the file says.
fn agree(names: &[String], values: &[Value], vectors: &Vectors, tolerance: (f64, f64)) -> Result<(), String> {
    for (name, value) in names.iter().zip(values) {
        compare(value, vectors.get(name)?, tolerance).map_err(|message| format!("{name}: {message}"))?;
    }
    Ok(())
}

/// Numbers within the tolerance of what is expected; infinities and NaN where they are expected.
fn compare(found: &Value, expected: &Value, (relative, absolute): (f64, f64)) -> Result<(), String> {
    if found.shape != expected.shape {
        return Err(format!("the shape is {:?}, not {:?}", found.shape, expected.shape));
    }
    for (i, (found, expected)) in found.to_f64().into_iter().zip(expected.to_f64()).enumerate() {
        let near = (found - expected).abs() <= absolute + relative * expected.abs();
        if !(found == expected || found.is_nan() && expected.is_nan() || expected.is_finite() && near) {
            return Err(format!("element {i} is {found:?}, not {expected:?}"));
        }
    }
    Ok(())
}
