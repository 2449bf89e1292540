//! The command `./x bench`; see the library.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use tensorjit_bench::gates::{State, Verdict};
use tensorjit_bench::machine::{self, Machine};
use tensorjit_bench::measure::{self, Effort};
use tensorjit_bench::options::{self, Options};
use tensorjit_bench::python::Python;
use tensorjit_bench::report::{Part, Report};
use tensorjit_bench::workload::{self, Workload};
use tensorjit_bench::{Result, arena, expansion, first, overhead, symbolic, table, threads};

/// What is measured beside the workloads; `--only` selects these as it does those.
const SECTIONS: [&str; 5] = ["overhead", "first", "arena", "symbolic", "expansion"];

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
        SECTIONS.iter().for_each(|section| println!("{section}"));
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
    let mut report = Report::new(parts, &workloads, options.peers)?;
    report.verdicts.extend(sections(&options, &workloads)?);
    print!("{}", table::verdicts(&report.verdicts));
    report.write(Path::new("target/bench"))?;
    if options.publish {
        report.publish(Path::new("."))?;
    }
    Ok(report.verdicts.iter().all(|verdict| verdict.state != State::Fails))
}

/// What is measured beside the workloads, where it was asked for, on one core.
fn sections(options: &Options, workloads: &[Workload]) -> Result<Vec<Verdict>> {
    machine::pin(1)?;
    let effort = Effort { clock: options.clock, seconds: options.seconds };
    let python = env::var_os("PYTHON").filter(|_| options.peers);
    let mut verdicts = Vec::new();
    for section in SECTIONS.iter().filter(|section| options.selects(section)) {
        println!("measuring: {section}");
        verdicts.extend(match *section {
            "overhead" => overhead::verdicts(effort)?,
            "first" => first::verdicts(workloads, python.as_deref().map(Path::new))?,
            "arena" => arena::verdicts()?,
            "symbolic" => symbolic::verdicts()?,
            _ => expansion::verdicts()?,
        });
    }
    Ok(verdicts)
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
    let workloads = workload::all();
    let selected: Vec<_> = workloads.iter().filter(|workload| options.selects(&workload.name)).collect();
    let mut python = match (options.peers && !selected.is_empty(), env::var_os("PYTHON")) {
        (false, _) => None,
        (true, Some(python)) => Some(Python::start(Path::new(&python), count, options.clock)?),
        (true, None) => return Err("`PYTHON` names no interpreter; `./x bench --peers` sets it".into()),
    };
    println!("{}", table::heading(&machine, count));
    let effort = Effort { clock: options.clock, seconds: options.seconds };
    let mut rows = Vec::new();
    for workload in selected {
        let row = measure::measure(workload, count, effort, python.as_mut())?;
        println!("{}", table::line(&row, &machine));
        rows.push(row);
    }
    let versions = python.as_mut().map_or(Ok(Vec::new()), Python::versions)?;
    fs::write(path, serde_json::to_string(&Part { machine, clock: options.clock, versions, rows })?)?;
    Ok(())
}
