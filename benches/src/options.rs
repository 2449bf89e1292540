//! The command line.

use std::path::PathBuf;

use crate::Result;
use crate::clock::Clock;

pub const USAGE: &str = "\
usage: ./x bench [OPTION ..]
  --peers            the Python peers too: NumPy, JAX, PyTorch, TorchInductor
  --only NAME,..     the workloads whose names begin so
  --threads N,..     the numbers of threads to measure with; 1,2 where it is not given
  --seconds S        the time of each contender; 0.3 where it is not given
  --clock wall|cpu   the time that passes, or, on a machine that others use, the time that the process computes,
                     with `--threads 1`
  --publish          write benches/results.json, docs/bench and the README's table too
  --list             the names of what is measured";

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Options {
    pub peers: bool,
    pub only: Vec<String>,
    pub threads: Vec<usize>,
    pub seconds: f64,
    pub clock: Clock,
    pub publish: bool,
    pub list: bool,
    /// This process measures with the first number of threads, and writes what it found to this file.
    pub worker: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments.
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Options> {
        let mut options = Options {
            peers: false,
            only: Vec::new(),
            threads: vec![1, 2],
            seconds: 0.3,
            clock: Clock::Wall,
            publish: false,
            list: false,
            worker: None,
        };
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("`{arg}` takes a value"));
            match arg.as_str() {
                "--peers" => options.peers = true,
                "--publish" => options.publish = true,
                "--list" => options.list = true,
                "--only" => options.only.extend(value()?.split(',').map(str::to_owned)),
                "--threads" => {
                    let counts = value()?.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>();
                    options.threads = counts.map_err(|_| "`--threads` takes numbers")?;
                }
                "--seconds" => {
                    options.seconds = value()?.parse().map_err(|_| "`--seconds` takes a number")?;
                }
                "--clock" => {
                    options.clock = match value()?.as_str() {
                        "wall" => Clock::Wall,
                        "cpu" => Clock::Cpu,
                        _ => return Err("`--clock` takes `wall` or `cpu`".into()),
                    };
                }
                "--worker" => options.worker = Some(value()?.into()),
                _ => return Err(format!("`{arg}` is not understood").into()),
            }
        }
        if options.threads.is_empty() || options.threads.contains(&0) {
            return Err("`--threads` takes numbers from 1".into());
        }
        if options.clock == Clock::Cpu
            && options.worker.is_none()
            && options.threads.iter().any(|count| *count > 1)
        {
            return Err(
                "the time that a process computes tells nothing of several threads: `--threads 1`".into()
            );
        }
        Ok(options)
    }

    /// Whether a workload was asked for.
    pub fn selects(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| name.starts_with(only.as_str()))
    }
}
