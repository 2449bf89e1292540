//! All cases as NEON code, run by an emulator and held against the oracle.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tensorjit_core::autodiff;
use tensorjit_core::check::CheckedFunction;
use tensorjit_core::codegen::object::{MAY_IMPORT, undefined_symbols};
use tensorjit_core::codegen::{self, Visibility, targets};
use tensorjit_core::graph::value::{Env, Value};
use tensorjit_core::interp;
use tensorjit_core::pipeline::{Prepared, prepare};
use tensorjit_core::syntax::cases::{Case, read};
use tensorjit_core::testing::{bytes_of, states, value_of};

use super::{files, run};
use crate::support;

const TRIPLE: &str = "aarch64-unknown-linux-gnu";
const COMPILER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64";

/// One call of a function, and what it must give.
struct Call {
    /// What the case is called.
    name: String,
    function: usize,
    dims: Vec<i64>,
    inputs: Vec<Value>,
    oracle: Vec<Value>,
}

/// A compiled function.
struct Compiled {
    prepared: Prepared,
    states: Vec<u32>,
    workspace: tensorjit_core::dim::Dim,
}

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing depends on its removal.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
#[ignore = "needs aarch64-linux-gnu-gcc and qemu-aarch64: `./x aarch64` installs and runs them"]
fn every_case_on_aarch64() {
    let folder = Scratch(std::env::temp_dir().join(format!("tensorjit-neon-{}", std::process::id())));
    fs::create_dir_all(&folder.0).expect("a folder");
    let (mut functions, mut calls, mut objects) = (Vec::new(), Vec::new(), Vec::new());
    for case in all_cases() {
        // Those that must not compile have no functions.
        let checked = support::functions(&case.text).unwrap_or_default();
        let Some(function) = checked.first() else { continue };
        let number = functions.len();
        let compiled = compile(function, number, &folder.0, &mut objects);
        functions.push(compiled.unwrap_or_else(|message| panic!("{}: {message}", case.name)));
        let made =
            calls_of(&case, function, number).unwrap_or_else(|message| panic!("{}: {message}", case.name));
        calls.extend(made);
    }
    assert!(calls.len() > 300, "{} calls", calls.len());
    fs::write(folder.0.join("input"), input(&functions, &calls)).expect("it is written");
    link(&folder.0, functions.len(), &objects);
    let output = emulate(&folder.0);
    let failed = failures(&functions, &calls, &output);
    assert!(failed.is_empty(), "{} of {} calls\n{}", failed.len(), calls.len(), failed.join("\n"));
}

fn all_cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut topics: Vec<_> =
        fs::read_dir(root).expect("the folders").map(|entry| entry.expect("a folder").path()).collect();
    topics.sort();
    let texts =
        topics.iter().flat_map(|topic| files(topic)).map(|file| fs::read_to_string(file).expect("a file"));
    texts.flat_map(|text| read(&text).expect("its cases")).collect()
}

/// Compiles a function into objects in the folder.
fn compile(
    function: &CheckedFunction,
    number: usize,
    folder: &Path,
    objects: &mut Vec<PathBuf>,
) -> Result<Compiled, String> {
    let states = states(function);
    let targets = targets(TRIPLE, None).map_err(|error| error.to_string())?;
    let prepared = prepare(function.graph.clone(), &states, &mut |_, _, _| {})
        .map_err(|failure| failure.to_string())?
        .with_versions(&function.versions);
    let lowered = prepared.lower(&targets, &mut |_, _, _| {}).map_err(|failure| failure.to_string())?;
    let batches: Vec<_> =
        lowered.kernels.iter().flat_map(|parts| parts.batches(&format!("kernel{number}"))).collect();
    let made = codegen::compile_all(&batches, Visibility::Hidden).map_err(|bug| bug.to_string())?;
    for (position, object) in made.iter().enumerate() {
        let imports = undefined_symbols(&object.bytes).map_err(|bug| bug.to_string())?;
        let foreign = |name: &&String| !MAY_IMPORT.contains(&name.as_str()) && !name.starts_with("kernel");
        if let Some(name) = imports.iter().find(foreign) {
            return Err(format!("the object imports {name}"));
        }
        let path = folder.join(format!("{number}.{position}.o"));
        fs::write(&path, &object.bytes).map_err(|error| error.to_string())?;
        objects.push(path);
    }
    Ok(Compiled { prepared, states, workspace: lowered.workspace })
}

fn calls_of(case: &Case, function: &CheckedFunction, number: usize) -> Result<Vec<Call>, String> {
    let plain = autodiff::run(function.graph.clone()).map_err(|failure| failure.to_string())?;
    let call = |(dims, inputs): run::Arguments| {
        let oracle = interp::run(&plain, &dims, &inputs).map_err(|bug| bug.to_string())?;
        Ok(Call { name: case.name.clone(), function: number, dims, inputs, oracle })
    };
    run::arguments(case, function)?.into_iter().map(call).collect()
}

impl Compiled {
    /// The bytes of the results of a call, in order.
    fn results(&self, call: &Call) -> Vec<usize> {
        let graph = self.prepared.graph();
        let results = &graph.outputs[..graph.outputs.len() - self.states.len()];
        let bytes = |value: &Value| bytes_of(value).len();
        results.iter().zip(&call.oracle).map(|(_, value)| bytes(value)).collect()
    }
}

/// What the driver reads.
fn input(functions: &[Compiled], calls: &[Call]) -> Vec<u8> {
    let mut input = Vec::new();
    for call in calls {
        let function = &functions[call.function];
        let results = function.results(call);
        let inputs: Vec<Vec<u8>> = call.inputs.iter().map(bytes_of).collect();
        let arena = Env { dims: &call.dims }.extent(&function.workspace).expect("the workspace has a size");
        let head = [call.function, call.dims.len(), inputs.len() + results.len()].map(|number| number as i64);
        let sizes = inputs.iter().map(Vec::len).chain(results.iter().copied()).chain([arena]);
        let sizes = sizes.map(|bytes| bytes as i64);
        let numbers = head.into_iter().chain(call.dims.iter().copied()).chain(sizes);
        input.extend(numbers.flat_map(i64::to_le_bytes));
        input.extend(inputs.concat());
        input.extend(vec![0xA5; results.iter().sum()]);
    }
    input
}

fn link(folder: &Path, functions: usize, objects: &[PathBuf]) {
    let mut header = String::new();
    for number in 0..functions {
        writeln!(
            header,
            "void kernel{number}(uint8_t *const *, const int64_t *, uint8_t *, const struct host *);"
        )
        .expect("a string");
    }
    let names: Vec<String> = (0..functions).map(|number| format!("kernel{number}")).collect();
    writeln!(header, "static const entry ENTRIES[] = {{{}}};", names.join(", ")).expect("a string");
    fs::write(folder.join("kernels.h"), header).expect("it is written");
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/core/cases/driver.c");
    let mut command = Command::new(COMPILER);
    command.args(["-static", "-O1", "-Wall", "-Werror", "-I"]).arg(folder).arg(driver).args(objects);
    command.arg("-o").arg(folder.join("driver"));
    let output =
        command.output().unwrap_or_else(|error| panic!("{COMPILER}: {error}; `./x aarch64` installs it"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn emulate(folder: &Path) -> Vec<u8> {
    let mut command = Command::new(EMULATOR);
    command.arg(folder.join("driver")).stderr(Stdio::inherit());
    command.stdin(File::open(folder.join("input")).expect("the input"));
    let output =
        command.output().unwrap_or_else(|error| panic!("{EMULATOR}: {error}; `./x aarch64` installs it"));
    assert!(output.status.success(), "{EMULATOR}: {}", output.status);
    output.stdout
}

/// Compares what the driver has written with the oracle.
fn failures(functions: &[Compiled], calls: &[Call], mut output: &[u8]) -> Vec<String> {
    let mut failed = Vec::new();
    for call in calls {
        let function = &functions[call.function];
        let graph = function.prepared.graph();
        let mut buffers = Vec::new();
        let inputs = call.inputs.iter().map(|value| bytes_of(value).len());
        for bytes in inputs.chain(function.results(call)) {
            let (buffer, rest) = output.split_at_checked(bytes).expect("the driver wrote all buffers");
            buffers.push(buffer);
            output = rest;
        }
        let results = graph.outputs.len() - function.states.len();
        for (position, (id, oracle)) in graph.outputs.iter().zip(&call.oracle).enumerate() {
            let buffer = match position.checked_sub(results) {
                None => call.inputs.len() + position,
                Some(state) => function.states[state] as usize,
            };
            let env = Env { dims: &call.dims };
            let found = value_of(&env, graph.ty(*id), buffers[buffer]).map_err(|bug| bug.to_string());
            if let Err(message) = found.and_then(|found| run::compare(&found, oracle)) {
                failed.push(format!("{}, {:?}, output {position}: {message}", call.name, call.dims));
            }
        }
    }
    assert!(output.is_empty(), "the driver wrote more");
    failed
}
