//! A command line for the compiler: checks a file of tensor functions, shows stages, runs them beside the oracle.
//!
//! ```text
//! tj FILE [--build] [--dump STAGE,..] [--run] [--time] [--threads N] [SYMBOL=VALUE ..]
//! ```
//!
//! Stages are those of `TENSORJIT_DUMP`.  `--build` only compiles, for all levels as the macro does, and tells what
//! each stage took and how large the code is.  `--run` calls every function on sampled arguments at every level that
//! this machine has and compares with the oracle; `--time` tells the time of a call, and
//! `--threads` the time of one that shares its work beside one that does not.

use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs};

use tensorjit_core::check::{CheckedFunction, check};
use tensorjit_core::codegen::{self, Visibility};
use tensorjit_core::diag::{Bug, Failure};
use tensorjit_core::graph::value::{Env, Value};
use tensorjit_core::interp;
use tensorjit_core::pipeline::{self, Stage};
use tensorjit_core::syntax::parse_text;
use tensorjit_core::testing::{Program, Side, sample, states};

#[derive(Default)]
struct Options {
    file: String,
    dump: Vec<String>,
    build: bool,
    run: bool,
    time: bool,
    threads: usize,
    sizes: Vec<(String, i64)>,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(message) => {
            eprintln!(
                "tj: {message}\nusage: tj FILE [--build] [--dump STAGE,..] [--run] [--time] [--threads N] \
                 [SYMBOL=VALUE ..]"
            );
            return ExitCode::from(2);
        }
    };
    match tj(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Options, String> {
    let mut options = Options::default();
    let mut args = env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--dump" => {
                let stages = args.next().ok_or("--dump takes stages")?;
                options.dump.extend(stages.split(',').map(str::to_owned));
            }
            "--build" => options.build = true,
            "--run" => options.run = true,
            "--time" => options.time = true,
            "--threads" => {
                let threads = args.next().and_then(|number| number.parse().ok());
                options.threads = threads.ok_or("--threads takes a number")?;
            }
            _ => match arg.split_once('=') {
                Some((symbol, value)) => {
                    let value = value.parse().map_err(|_| format!("`{arg}` gives no number"))?;
                    options.sizes.push((symbol.to_owned(), value));
                }
                None if options.file.is_empty() => options.file = arg,
                None => return Err(format!("`{arg}` is not understood")),
            },
        }
    }
    if options.file.is_empty() { Err("a file is missing".into()) } else { Ok(options) }
}

fn tj(options: &Options) -> Result<(), String> {
    let text = fs::read_to_string(&options.file).map_err(|error| format!("{}: {error}", options.file))?;
    let parsed = parse_text(&text);
    let failed = |failure: Failure| match failure {
        Failure::User(diagnostics) => {
            let rendered: Vec<String> =
                diagnostics.iter().map(|d| d.render(&parsed.sources, &options.file, &text)).collect();
            rendered.join("\n")
        }
        Failure::Bug(bug) => bug.to_string(),
    };
    if !parsed.diagnostics.is_empty() {
        return Err(failed(Failure::User(parsed.diagnostics.clone())));
    }
    for function in check(&parsed.block).map_err(failed)? {
        one(options, &function).map_err(failed)?;
    }
    Ok(())
}

/// Compiles for all levels, side by side, and tells times and sizes.
fn build(function: &CheckedFunction) -> Result<(), Failure> {
    let name = &function.name;
    let mut watch = |stage: Stage, took: Duration, _: &dyn Fn() -> String| {
        println!("{name}: {} {:.2} ms", stage.name(), took.as_secs_f64() * 1e3);
    };
    let targets = codegen::targets("x86_64-unknown-linux-gnu", None)
        .map_err(|error| Bug::new("tj", error.to_string()))?;
    let start = Instant::now();
    let prepared = pipeline::prepare(function.graph.clone(), &states(function), &mut watch)?;
    let prepared = prepared.with_versions(&function.versions);
    let lowered = prepared.lower(&targets, &mut watch)?;
    let middle = start.elapsed();
    for (target, parts) in targets.iter().zip(&lowered.kernels) {
        let objects = codegen::compile_all(&parts.batches("kernel"), Visibility::Hidden)?;
        let bytes: usize = objects.iter().map(|object| object.bytes.len()).sum();
        println!(
            "{name}: {:?} {} parts, {} objects, {bytes} bytes",
            target.level,
            parts.parts.len(),
            objects.len()
        );
    }
    let (middle, all) = (middle.as_secs_f64() * 1e3, start.elapsed().as_secs_f64() * 1e3);
    println!("{name}: {middle:.2} ms to loops, {all:.2} ms in all");
    Ok(())
}

fn one(options: &Options, function: &CheckedFunction) -> Result<(), Failure> {
    if options.build {
        return build(function);
    }
    let shows = |stage: &str| options.dump.iter().any(|name| name == stage);
    let mut watch = |stage: Stage, took: Duration, text: &dyn Fn() -> String| {
        eprintln!("{}: {} took {:.2} ms", function.name, stage.name(), took.as_secs_f64() * 1e3);
        if shows(stage.name()) {
            println!("{}", text());
        }
    };
    let states = states(function);
    let prepared = pipeline::prepare(function.graph.clone(), &states, &mut watch)?;
    let program = Program::of(prepared.with_versions(&function.versions), &states, &mut watch)?;
    let workspace = program.graph().facts.show(program.workspace());
    println!("{}: {} loop nests, {workspace} bytes of workspace", function.name, program.nests());
    if shows("ir") || shows("asm") {
        let listing = program.listing()?;
        if shows("ir") {
            println!("{}", listing.optimized);
        }
        if shows("asm") {
            println!("{}", listing.assembly);
        }
    }
    if options.run || options.time || options.threads > 0 {
        run(options, function, &program)?;
    }
    Ok(())
}

fn run(options: &Options, function: &CheckedFunction, program: &Program) -> Result<(), Bug> {
    let facts = &program.graph().facts;
    let mut dims = Vec::new();
    for symbol in &facts.symbols {
        let given = options.sizes.iter().find(|(name, _)| *name == symbol.name);
        dims.push(given.map_or(symbol.low.max(8), |(_, value)| *value));
    }
    let mut inputs: Vec<Value> = Vec::new();
    for (i, input) in program.graph().inputs.iter().enumerate() {
        let shape = Env { dims: &dims }.shape(&input.ty.shape)?;
        inputs.push(sample(input.ty.dtype, &shape, i as u64));
    }
    for level in program.levels() {
        if options.time {
            let seconds = program.time(level, &dims, &inputs)?;
            println!("{}: {level:?} {:.3} us", function.name, seconds * 1e6);
        }
        if options.threads > 0 {
            let one = program.time_shared(1, level, &dims, &inputs)?;
            let all = program.time_shared(options.threads, level, &dims, &inputs)?;
            let (one, all, ratio) = (one * 1e6, all * 1e6, one / all);
            let threads = options.threads;
            println!("{}: {level:?} {one:.1} us, {threads} threads {all:.1} us, {ratio:.2} x", function.name);
        }
        if !options.run {
            continue;
        }
        let expected = interp::run(program.graph(), &dims, &inputs)?;
        let found = program.run(level, &dims, &inputs, Side::Back)?;
        for (i, (expected, found)) in expected.iter().zip(&found).enumerate() {
            let mut worst = 0.0f64;
            for (e, f) in expected.elements.iter().zip(&found.elements) {
                let (x, y) = (e.scalar.to_f64(), f.scalar.to_f64());
                if x != y && !(x.is_nan() && y.is_nan()) {
                    let ratio = (x - y).abs() / e.error.max(f64::MIN_POSITIVE);
                    worst = if ratio.is_nan() { f64::INFINITY } else { worst.max(ratio) };
                }
            }
            println!("{}: {level:?} output {i}: {worst:.2} of the oracle's error bound", function.name);
        }
    }
    Ok(())
}
