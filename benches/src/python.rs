//! The Python peers: a process that is told over a pipe what to run for how long, so that its turns and ours
//! alternate.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::Result;
use crate::clock::Clock;
use crate::tensor::{Precision, Tensor, read_npy};
use crate::workload::Contender;

/// The running script `peers.py`.
#[derive(Debug)]
pub struct Python {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

/// What the script replies; every field but those of the request is missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reply {
    error: Option<String>,
    absent: bool,
    /// Seconds of the first call.
    cold: f64,
    samples: Vec<f64>,
    outputs: Vec<PathBuf>,
    versions: Vec<String>,
}

impl Python {
    /// Starts the interpreter that the environment variable `PYTHON` names.
    pub fn start(interpreter: &Path, threads: usize, clock: Clock) -> Result<Python> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers.py");
        let count = threads.to_string();
        let mut command = Command::new(interpreter);
        for variable in ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"] {
            command.env(variable, &count);
        }
        // OpenBLAS knows the machine better than what these say.
        command.env_remove("OPENBLAS_CORETYPE").env_remove("OPENBLAS_L2_SIZE");
        let clock = if clock == Clock::Cpu { "cpu" } else { "wall" };
        let mut child = command
            .args([script, "--threads", &count, "--clock", clock])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(requests), Some(replies)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the pipes of the Python process are missing".into());
        };
        Ok(Python { child, requests, replies: BufReader::new(replies) })
    }

    /// The versions of the peers.
    pub fn versions(&mut self) -> Result<Vec<String>> {
        Ok(self.ask(&json!({ "do": "versions" }))?.versions)
    }

    /// Makes a function ready for a peer: the seconds of its first call, or `None` where the peer has no such
    /// function.  `double` converts the inputs to double precision.
    pub fn prepare(
        &mut self,
        peer: &str,
        function: &str,
        precision: Precision,
        inputs: &[PathBuf],
    ) -> Result<Option<f64>> {
        let precision = if precision == Precision::F64 { "float64" } else { "float32" };
        let reply = self.ask(&json!({
            "do": "prepare", "peer": peer, "function": function, "precision": precision, "inputs": inputs,
        }))?;
        Ok(if reply.absent { None } else { Some(reply.cold) })
    }

    /// Seconds of a call, in samples over about `seconds`.
    pub fn samples(&mut self, peer: Contender, seconds: f64) -> Result<Vec<f64>> {
        Ok(self.ask(&json!({ "do": "run", "peer": peer.name(), "seconds": seconds }))?.samples)
    }

    /// What the last call computed; the files are written to `folder`.
    pub fn outputs(&mut self, peer: &str, folder: &Path) -> Result<Vec<Tensor>> {
        let reply = self.ask(&json!({ "do": "outputs", "peer": peer, "folder": folder }))?;
        reply.outputs.iter().map(|path| read_npy(path)).collect()
    }

    /// Forgets what was made ready.
    pub fn clear(&mut self) -> Result<()> {
        self.ask(&json!({ "do": "clear" })).map(drop)
    }

    fn ask(&mut self, request: &Value) -> Result<Reply> {
        writeln!(self.requests, "{request}")?;
        self.requests.flush()?;
        let mut line = String::new();
        if self.replies.read_line(&mut line)? == 0 {
            return Err("the Python process has ended".into());
        }
        let reply: Reply = serde_json::from_str(&line)?;
        match reply.error {
            Some(error) => Err(error.into()),
            None => Ok(reply),
        }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
