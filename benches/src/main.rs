//! The command `./x bench`; see the library.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use tensorjit_bench::gates::State;
use tensorjit_bench::machine::{self, Machine};
use tensorjit_bench::measure::{self, Effort};
use tensorjit_bench::options::{self, Options};
use tensorjit_bench::python::Python;
use tensorjit_bench::report::{Part, Report};
use tensorjit_bench::{Result, table, threads, workload};

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error}\n{}", options::USAGE);
            ExitCode::from(2)
        }
    }
}

/// Whether all gates hold.
fn run() -> Result<bool> {
    let options = Options::parse(env::args().skip(1))?;
    let workloads = workload::all();
    if options.list {
        workloads.iter().for_each(|workload| println!("{}", workload.name));
        return Ok(true);
    }
    if let Some(path) = &options.worker {
        worker(&options, path)?;
        return Ok(true);
    }
    let mut parts = Vec::new();
    for threads in &options.threads {
        parts.push(part(*threads)?);
    }
    let report = Report::new(parts, &workloads, options.peers)?;
    print!("{}", table::verdicts(&report.verdicts));
    report.write(Path::new("target/bench"))?;
    Ok(report.verdicts.iter().all(|verdict| verdict.state != State::Fails))
}

/// Runs a worker with this many threads.
fn part(threads: usize) -> Result<Part> {
    let path = PathBuf::from(format!("target/bench/part.{threads}.json"));
    let count = threads.to_string();
    let status = Command::new(env::current_exe()?)
        .args(env::args().skip(1))
        .args(["--threads", &count, "--worker"])
        .arg(&path)
        .env("RAYON_NUM_THREADS", &count)
        .status()?;
    if !status.success() {
        return Err(format!("the worker with {threads} threads failed").into());
    }
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

/// Measures with the first number of threads.
fn worker(options: &Options, path: &Path) -> Result<()> {
    let count = options.threads[0];
    threads::set_threads(count);
    let cores = std::thread::available_parallelism()?.get();
    if count > cores {
        return Err(format!("there are {cores} cores, not {count}").into());
    }
    let machine = Machine::measure(cores)?;
    machine::pin(count)?;
    let mut python = match (options.peers, env::var_os("PYTHON")) {
        (false, _) => None,
        (true, Some(python)) => Some(Python::start(Path::new(&python), count, options.clock)?),
        (true, None) => return Err("`PYTHON` names no interpreter; `./x bench --peers` sets it".into()),
    };
    println!("{}", table::heading(&machine, count));
    let effort = Effort { clock: options.clock, seconds: options.seconds };
    let mut rows = Vec::new();
    for workload in workload::all().iter().filter(|workload| options.selects(&workload.name)) {
        let row = measure::measure(workload, count, effort, python.as_mut())?;
        println!("{}", table::line(&row, &machine));
        rows.push(row);
    }
    let versions = python.as_mut().map_or(Ok(Vec::new()), Python::versions)?;
    fs::write(path, serde_json::to_string(&Part { machine, clock: options.clock, versions, rows })?)?;
    Ok(())
}
