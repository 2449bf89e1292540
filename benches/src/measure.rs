//! One workload, all contenders in turn.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::allocations::count;
use crate::call::Call;
use crate::clock::{Clock, median, samples};
use crate::python::Python;
use crate::tensor::{Precision, Tensor, write_npy};
use crate::values::{self, Distance};
use crate::workload::{Contender, Work, Workload};

/// How long everything takes.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub clock: Clock,
    /// Seconds of each contender, over all its turns.
    pub seconds: f64,
}

/// Calls before the first that is measured.
const WARM: usize = 10;

/// The turns of a contender, spread over the time of all.
const TURNS: usize = 6;

/// What was found of a workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub workload: String,
    pub family: String,
    pub threads: usize,
    pub work: Work,
    pub double: bool,
    /// Who the values were compared with.
    pub oracle: String,
    pub results: Vec<Outcome>,
    /// What ten calls of ours allocate, after the first.
    pub allocations: Option<usize>,
    /// Ours with one thread, where there are more: in turn with the others, and whether the bits are the same.
    pub alone: Option<Alone>,
    /// Contenders that failed, and why.
    pub failures: Vec<String>,
}

/// One thread beside several.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Alone {
    pub seconds: f64,
    pub same_bits: bool,
}

/// What was found of a contender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub contender: Contender,
    /// The median of a call.
    pub seconds: f64,
    /// The lower and the upper quartile.
    pub quartiles: [f64; 2],
    /// The error against the oracle.
    pub error: Distance,
    /// Seconds of the first call, for those that compile at run time.
    pub first: Option<f64>,
}

impl Row {
    /// The outcome of a contender.
    pub fn of(&self, contender: Contender) -> Option<&Outcome> {
        self.results.iter().find(|outcome| outcome.contender == contender)
    }

    /// The fastest of these peers.
    pub fn best_of(&self, peers: &[Contender]) -> Option<&Outcome> {
        let peers = self.results.iter().filter(|outcome| peers.contains(&outcome.contender));
        peers.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }

    /// The fastest peer.
    pub fn best_peer(&self) -> Option<&Outcome> {
        self.best_of(&Contender::ALL[1..])
    }

    /// How many times as fast as `peer` ours is.
    pub fn ratio(&self, peer: &Outcome) -> Option<f64> {
        Some(peer.seconds / self.of(Contender::Tensorjit)?.seconds)
    }
}

/// Someone who is ready.
struct Ready {
    contender: Contender,
    /// In this process; Python's are known there by name.
    call: Option<Box<dyn Call>>,
    found: Vec<f64>,
    error: Distance,
    first: Option<f64>,
}

impl Ready {
    /// A turn.
    fn samples(
        &mut self,
        threads: usize,
        seconds: f64,
        clock: Clock,
        python: Option<&mut Python>,
    ) -> Result<Vec<f64>> {
        match (&mut self.call, python) {
            // Ours heeds the number; the others have it from the environment.
            (Some(call), _) => tensorjit::with_threads(threads, || samples(call.as_mut(), clock, seconds)),
            (None, Some(python)) => python.samples(self.contender, seconds),
            (None, None) => Ok(Vec::new()),
        }
    }
}

/// Whether ours computes the same bits with one thread and with several.
fn same_bits(all: &mut [Ready], threads: usize) -> Result<Option<bool>> {
    let ours = all.iter_mut().find(|ready| ready.contender == Contender::Tensorjit);
    let (Some(call), true) = (ours.and_then(|ours| ours.call.as_mut()), threads > 1) else { return Ok(None) };
    let mut bits = |threads: usize| -> Result<Vec<u64>> {
        tensorjit::with_threads(threads, || call.run())?;
        Ok(call.outputs()?.iter().flatten().map(|x| x.to_bits()).collect())
    };
    Ok(Some(bits(1)? == bits(threads)?))
}

/// The files that the two processes share.
fn folder() -> Result<PathBuf> {
    let folder = PathBuf::from("target/bench/data");
    fs::create_dir_all(&folder)?;
    Ok(folder.canonicalize()?)
}

/// Measures a workload with this many threads.
pub fn measure(
    workload: &Workload,
    threads: usize,
    effort: Effort,
    mut python: Option<&mut Python>,
) -> Result<Row> {
    let seeds = 1..;
    let inputs: Vec<Tensor> = workload
        .inputs
        .iter()
        .zip(seeds)
        .map(|(input, seed)| input.sample(seed, workload.precision))
        .collect();
    let folder = folder()?;
    let files = match python {
        Some(_) => files(&folder, workload, &inputs)?,
        None => Vec::new(),
    };
    let mut failures = Vec::new();
    let (exact, oracle) = exact(workload, &inputs, python.as_deref_mut(), &files, &folder)?;

    let mut all = Vec::new();
    let mut allocations = None;
    let here = [(Contender::Tensorjit, workload.ours)].into_iter().chain(workload.peers.iter().copied());
    for (contender, make) in here {
        let ready = make(&inputs).and_then(|mut call| {
            // The first calls start threads, which make what they need in their own time.
            tensorjit::with_threads(threads, || (0..WARM).try_for_each(|_| call.run()))?;
            if contender == Contender::Tensorjit {
                let (count, done) =
                    count(|| tensorjit::with_threads(threads, || (0..10).try_for_each(|_| call.run())));
                done?;
                allocations = Some(count);
            }
            Ok((values::distance(&call.outputs()?, &exact), call))
        });
        match ready {
            Ok((error, call)) => {
                all.push(Ready { contender, call: Some(call), found: Vec::new(), error, first: None });
            }
            Err(error) => failures.push(format!("{}: {error}", contender.name())),
        }
    }
    if let Some(python) = python.as_deref_mut() {
        for contender in Contender::PYTHON {
            let name = contender.name();
            match python.prepare(name, workload.function, workload.precision, &files) {
                Ok(Some(first)) => {
                    let error = values::distance(&python.outputs(name, &folder)?, &exact);
                    let first = Some(first);
                    all.push(Ready { contender, call: None, found: Vec::new(), error, first });
                }
                Ok(None) => {}
                Err(error) => failures.push(format!("{name}: {error}")),
            }
        }
    }
    let same_bits = same_bits(&mut all, threads)?;
    let mut alone = Vec::new();
    for _ in 0..TURNS {
        for ready in &mut all {
            let seconds = effort.seconds / TURNS as f64;
            if threads > 1 && ready.contender == Contender::Tensorjit {
                alone.extend(ready.samples(1, seconds, effort.clock, None)?);
            }
            let found = ready.samples(threads, seconds, effort.clock, python.as_deref_mut())?;
            ready.found.extend(found);
        }
    }
    let alone = same_bits.map(|same_bits| Alone { seconds: median(&mut alone), same_bits });
    if let Some(python) = python {
        python.clear()?;
    }
    Ok(Row {
        workload: workload.name.clone(),
        family: workload.family.into(),
        threads,
        work: workload.work,
        double: workload.precision == Precision::F64,
        oracle,
        results: all.into_iter().map(outcome).collect(),
        allocations,
        alone,
        failures,
    })
}

fn outcome(mut ready: Ready) -> Outcome {
    let seconds = median(&mut ready.found);
    let at = |part: usize| ready.found.get(ready.found.len() * part / 4).copied().unwrap_or(f64::NAN);
    Outcome {
        contender: ready.contender,
        seconds,
        quartiles: [at(1), at(3)],
        error: ready.error,
        first: ready.first,
    }
}

/// Writes the inputs.
fn files(folder: &Path, workload: &Workload, inputs: &[Tensor]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for (i, (input, tensor)) in workload.inputs.iter().zip(inputs).enumerate() {
        let path = folder.join(format!("input.{i}.npy"));
        write_npy(&path, tensor, input.draw, workload.precision)?;
        files.push(path);
    }
    Ok(files)
}

/// The outputs as exactly as they are compared: PyTorch's in double precision where it is there, else our own; of a
/// workload in double precision its own more exact form.
fn exact(
    workload: &Workload,
    inputs: &[Tensor],
    python: Option<&mut Python>,
    files: &[PathBuf],
    folder: &Path,
) -> Result<(Vec<Tensor>, String)> {
    if workload.precision == Precision::F32
        && let Some(python) = python
        && python.prepare("exact", workload.function, Precision::F64, files)?.is_some()
    {
        let exact = python.outputs("exact", folder)?;
        python.clear()?;
        return Ok((exact, "PyTorch in double precision".into()));
    }
    let mut call = (workload.exact)(inputs)?;
    call.run()?;
    let oracle = match workload.precision {
        Precision::F32 => "tensorjit in double precision",
        Precision::F64 => "sums of twice double precision",
    };
    Ok((call.outputs()?, oracle.into()))
}
