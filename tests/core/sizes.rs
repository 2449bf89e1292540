//! Every size of every symbol: the ends of registers, blocks and loops, alone and in pairs.
//!
//! A function of `tests/core/sizes/*.tj` is compiled once, for symbols; whatever their values are, every level
//! must agree with the oracle.  For the values of a `//@ constant: N = 33` line it is compiled with constants in
//! their place too, which must not change a bit.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tensorjit_core::check::CheckedFunction;
use tensorjit_core::graph::value::Value;
use tensorjit_core::syntax::cases::{Case, numbers, read};
use tensorjit_core::testing::{Program, Side};
use tensorjit_core::{autodiff, interp};
use tensorjit_runtime::abi::Level;

use crate::support::{agree, bits, compile, function, inputs};

/// Around the numbers of lanes, of registers in a block and of steps between partial sums.
const SIZES: [i64; 19] = [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257];

/// The value of the symbols that do not vary.
const OTHERS: i64 = 3;

/// A pair is taken where the product of all values is no more than this: the oracle is slow.
const MOST: i64 = 2200;

#[test]
fn elementwise() {
    topic("elementwise");
}

#[test]
fn folds() {
    topic("folds");
}

#[test]
fn products() {
    topic("products");
}

#[test]
fn indices() {
    topic("indices");
}

/// Runs the functions of a file, and reports all that fail.
fn topic(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/core/sizes").join(name);
    let text = fs::read_to_string(path.with_extension("tj")).expect("the file can be read");
    let only = std::env::var("CASE").ok();
    let mut failed = Vec::new();
    for case in read(&text).unwrap_or_else(|message| panic!("{name}: {message}")) {
        if only.as_ref().is_some_and(|only| !case.name.contains(only.as_str())) {
            continue;
        }
        if let Err(message) = one(&case) {
            failed.push(format!("{}: {message}", case.name));
        }
    }
    assert!(failed.is_empty(), "{} functions of {name} fail\n{}", failed.len(), failed.join("\n"));
}

fn one(case: &Case) -> Result<(), String> {
    case.only(&["constant"])?;
    let function = function(&case.text)?;
    let plain = autodiff::run(function.graph.clone()).map_err(|failure| failure.to_string())?;
    let program = compile(&function)?;
    let (mut runs, mut unsure) = (0, vec![0; plain.outputs.len()]);
    for dims in choices(&function) {
        let inputs = inputs(&function, &dims)?;
        let oracle = interp::run(&plain, &dims, &inputs).map_err(|bug| bug.to_string())?;
        for (level, found) in run(&program, &dims, &inputs)? {
            runs += 1;
            for (position, (found, oracle)) in found.iter().zip(&oracle).enumerate() {
                let what =
                    |message| format!("{dims:?}, level {}, output {position}: {message}", level.name());
                unsure[position] += usize::from(!agree(found, oracle).map_err(what)?);
            }
        }
    }
    // A rounding error may decide a branch, but not at most sizes.
    if let Some(position) = unsure.iter().position(|count| 2 * count > runs) {
        return Err(format!("the oracle is hardly ever sure of output {position}"));
    }
    for line in case.all("constant") {
        constants(case, &function, &program, line).map_err(|message| format!("{line}: {message}"))?;
    }
    Ok(())
}

/// The values of the symbols: each size of each, then each pair of sizes of each two, within their bounds.
fn choices(function: &CheckedFunction) -> Vec<Vec<i64>> {
    let symbols = &function.graph.facts.symbols;
    let mut found = Vec::new();
    for first in 0..symbols.len() {
        for size in SIZES {
            let mut dims = vec![OTHERS; symbols.len()];
            dims[first] = size;
            found.push(dims.clone());
            for second in first + 1..symbols.len() {
                let pairs = SIZES.map(|other| {
                    dims[second] = other;
                    dims.clone()
                });
                dims[second] = OTHERS;
                found.extend(pairs.into_iter().filter(|dims| dims.iter().product::<i64>() <= MOST));
            }
        }
    }
    let legal = |dims: &Vec<i64>| symbols.iter().zip(dims).all(|(s, dim)| s.low <= *dim && *dim <= s.high);
    found.retain(legal);
    found.sort();
    found.dedup();
    found
}

/// The outputs at every level.
fn run(program: &Program, dims: &[i64], inputs: &[Value]) -> Result<Vec<(Level, Vec<Value>)>, String> {
    let one = |level| program.run(level, dims, inputs, Side::Back).map(|values| (level, values));
    program.levels().map(one).collect::<Result<_, _>>().map_err(|bug| bug.to_string())
}

/// Holds the function with constants in place of its symbols against that with symbols.
fn constants(case: &Case, symbolic: &CheckedFunction, program: &Program, line: &str) -> Result<(), String> {
    let sizes = numbers(line)?;
    let value = |name: &String| sizes.get(name).copied().ok_or_else(|| format!("`{name}` has no value"));
    let names = symbolic.graph.facts.symbols.iter().map(|symbol| &symbol.name);
    let dims: Vec<i64> = names.map(value).collect::<Result<_, _>>()?;
    let inputs = inputs(symbolic, &dims)?;

    let constant = function(&with_constants(case, symbolic, &sizes)?)?;
    if !constant.graph.facts.symbols.is_empty() {
        return Err("symbols are left".to_owned());
    }
    let constant = run(&compile(&constant)?, &[], &inputs)?;
    for ((level, symbolic), (_, constant)) in run(program, &dims, &inputs)?.iter().zip(&constant) {
        for (position, (symbolic, constant)) in symbolic.iter().zip(constant).enumerate() {
            let (with, without) = (bits(symbolic), bits(constant));
            if let Some(i) = (0..with.len()).find(|i| with[*i] != without[*i]) {
                let (symbolic, constant) = (symbolic.elements[i].scalar, constant.elements[i].scalar);
                return Err(format!(
                    "level {}, output {position}, element {i}: {symbolic:?} for symbols, {constant:?} for constants",
                    level.name()
                ));
            }
        }
    }
    Ok(())
}

/// The function as a helper, and a public one that calls it with numbers in place of its symbols.
fn with_constants(
    case: &Case,
    function: &CheckedFunction,
    sizes: &BTreeMap<String, i64>,
) -> Result<String, String> {
    let parts = case.text.split_once("pub fn f<").and_then(|(before, rest)| {
        let (_, signature) = rest.split_once(">(")?;
        Some((before, rest, signature.split_once('{')?.0))
    });
    let (before, helper, signature) = parts.ok_or("it has no `pub fn f<..>(..)`")?;
    let args: Vec<&str> = function.params.iter().map(|param| param.name.as_str()).collect();
    let mut constant = String::new();
    let mut word = String::new();
    for c in signature.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        constant += &sizes.get(&word).map_or(word.clone(), i64::to_string);
        word.clear();
        constant.push(c);
    }
    Ok(format!("{before}fn f<{helper}\npub fn g({constant}{{ f({}) }}\n", args.join(", ")))
}
