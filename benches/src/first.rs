//! First results: of a fresh process, and of a batch size that was never seen before.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Result;
use crate::clock::median;
use crate::gates::Verdict;
use crate::tensor::{Precision, Tensor};
use crate::workload::Workload;

/// What was found; there are no gates but that of a fresh process.
pub fn verdicts(workloads: &[Workload], python: Option<&Path>) -> Result<Vec<Verdict>> {
    let program = env::current_exe()?.with_file_name("first");
    let fresh = processes(20, || Command::new(&program))?;
    let what = "a fresh process to its end, with one call of linear_step: ms".to_owned();
    let mut verdicts = vec![Verdict::at_most(what, Some(fresh * 1e3), 1.0)];
    if let Some(python) = python {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/first.py");
        for peer in ["numpy", "jax", "torch"] {
            let seconds = processes(3, || {
                let mut command = Command::new(python);
                command.args([script, peer]);
                command
            })?;
            verdicts.push(Verdict::report(format!("{peer}: the same, with its imports: ms"), seconds * 1e3));
        }
    }
    for workload in workloads.iter().filter(|workload| workload.name == "mlp_grad_b17") {
        let (first, later) = unseen(workload)?;
        let name = &workload.function;
        verdicts.push(Verdict::report(
            format!("{name}: us of the first call with a new batch size"),
            first * 1e6,
        ));
        verdicts.push(Verdict::report(format!("{name}: us of a later one"), later * 1e6));
    }
    Ok(verdicts)
}

/// The median time of processes.
fn processes(count: usize, command: impl Fn() -> Command) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..count {
        let start = Instant::now();
        let status = command().stdout(Stdio::null()).status()?;
        times.push(start.elapsed().as_secs_f64());
        if !status.success() {
            return Err("a process ended with a failure".into());
        }
    }
    Ok(median(&mut times))
}

/// Seconds of the first call with a size that this process has not seen, and the median of later ones.
fn unseen(workload: &Workload) -> Result<(f64, f64)> {
    let inputs: Vec<Tensor> =
        workload.inputs.iter().zip(1..).map(|(input, seed)| input.sample(seed, Precision::F32)).collect();
    let mut call = (workload.ours)(&inputs)?;
    let mut time = || {
        let start = Instant::now();
        call.run().map(|()| start.elapsed().as_secs_f64())
    };
    let first = time()?;
    let mut later = (0..20).map(|_| time()).collect::<Result<Vec<f64>>>()?;
    Ok((first, median(&mut later)))
}
