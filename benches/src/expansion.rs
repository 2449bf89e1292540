//! What an expansion costs: rustc with a workload's functions in the dev profile, less rustc with none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::Result;
use crate::gates::Verdict;
use crate::workloads::{attention, block, convolution, encoder, finance, layers, linear, network};
use crate::workloads::{places, products, rows, scan};

/// The functions of a block, by name.
const BLOCKS: [(&str, &str); 12] = [
    ("linear_step", linear::single::TEXT),
    ("product", products::single::TEXT),
    ("linear_relu", layers::single::TEXT),
    ("mlp_grad", network::single::TEXT),
    ("bias_gelu, softmax, sums, layer_norm_grad", rows::single::TEXT),
    ("black_scholes", finance::single::TEXT),
    ("attention_grad", attention::single::TEXT),
    ("block_grad", block::single::TEXT),
    ("encoder_grad", encoder::single::TEXT),
    ("convolution_grad", convolution::single::TEXT),
    ("comets_grad", scan::single::TEXT),
    ("gather_rows, scatter_rows, running_sums, greatest, sorted", places::single::TEXT),
];

/// The most seconds of an expansion for all levels.
const LIMITS: [(&str, f64); 3] = [("linear_step", 0.15), ("block_grad", 3.0), ("encoder_grad", 6.0)];

/// The most kB of the archives of three levels.
const ARCHIVES: (&str, f64) = ("encoder_grad", 3000.0);

/// The most seconds under `cargo check`.
const CHECK: f64 = 5e-3;

/// The gates on expansions.
pub fn verdicts() -> Result<Vec<Verdict>> {
    let folder = PathBuf::from("target/bench/expansion");
    fs::create_dir_all(&folder)?;
    let compiler = Compiler { face: face()?, folder: folder.canonicalize()? };
    compiler.source("")?;
    let none = [Kind::Fresh, Kind::Check].map(|kind| compiler.least(kind));
    let [none, none_checked] = none;
    let (none, none_checked) = (none?, none_checked?);
    let mut verdicts = Vec::new();
    for (name, text) in BLOCKS {
        compiler.source(text)?;
        let fresh = compiler.least(Kind::Fresh)?;
        let archives = compiler.archives()?;
        let cached = compiler.least(Kind::Cached)?;
        let checked = compiler.least(Kind::Check)?;
        let limit = LIMITS.iter().find(|(limited, _)| *limited == name).map(|(_, limit)| *limit);
        let mut add = |what: &str, found: f64, limit: Option<f64>| {
            let what = format!("expansion of {name}: {what}");
            verdicts.push(match limit {
                Some(limit) => Verdict::at_most(what, Some(found), limit),
                None => Verdict::report(what, found),
            });
        };
        add("seconds", fresh.seconds - none.seconds, limit);
        add("seconds where nothing has changed", cached.seconds - none.seconds, None);
        add("seconds under check", checked.seconds - none_checked.seconds, limit.map(|_| CHECK));
        add("MB of memory more than without", (fresh.memory - none.memory) * 1e-6, None);
        add("kB of archives", archives * 1e-3, (name == ARCHIVES.0).then_some(ARCHIVES.1));
    }
    Ok(verdicts)
}

/// What rustc does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All functions are compiled.
    Fresh,
    /// They are found.
    Cached,
    /// No code is wanted.
    Check,
}

/// A run of rustc.
struct Cost {
    seconds: f64,
    /// The largest number of bytes that were resident.
    memory: f64,
}

/// rustc, with one source file.
struct Compiler {
    /// The library `tensorjit` of the dev profile.
    face: PathBuf,
    folder: PathBuf,
}

impl Compiler {
    fn kernels(&self) -> PathBuf {
        self.folder.join("out/kernels")
    }

    fn source(&self, functions: &str) -> Result<()> {
        let text = format!("tensorjit::tensor_fn! {{\n{functions}\n}}\n");
        Ok(fs::write(self.folder.join("lib.rs"), if functions.is_empty() { "" } else { &text })?)
    }

    /// The cheapest of three runs.
    fn least(&self, kind: Kind) -> Result<Cost> {
        let mut least = self.run(kind)?;
        for _ in 1..3 {
            let next = self.run(kind)?;
            if next.seconds < least.seconds {
                least = next;
            }
        }
        Ok(least)
    }

    fn run(&self, kind: Kind) -> Result<Cost> {
        let kernels = self.kernels();
        if kind == Kind::Fresh && kernels.exists() {
            fs::remove_dir_all(&kernels)?;
        }
        fs::create_dir_all(&kernels)?;
        let dependencies = self.face.parent().unwrap_or(Path::new(".")).join("deps");
        let mut command = Command::new("rustc");
        command.args([
            "--edition",
            "2024",
            "--crate-type",
            "lib",
            "-C",
            "debuginfo=line-tables-only",
            "-A",
            "warnings",
        ]);
        command.arg("--extern").arg(format!("tensorjit={}", self.face.display()));
        command.arg("-L").arg(format!("dependency={}", dependencies.display()));
        command.arg("-L").arg(format!("native={}", kernels.display()));
        command.args(["--emit", if kind == Kind::Check { "metadata" } else { "metadata,link" }]);
        command.arg("--out-dir").arg(&self.folder).arg(self.folder.join("lib.rs"));
        let start = Instant::now();
        let (memory, success) = wait(command.spawn()?)?;
        if !success {
            return Err("rustc failed".into());
        }
        Ok(Cost { seconds: start.elapsed().as_secs_f64(), memory })
    }

    /// Bytes of the archives that the last fresh run made.
    fn archives(&self) -> Result<f64> {
        let mut bytes = 0;
        for entry in fs::read_dir(self.kernels())? {
            let entry = entry?;
            if entry.path().extension().is_some_and(|extension| extension == "a") {
                bytes += entry.metadata()?.len();
            }
        }
        Ok(bytes as f64)
    }
}

/// Waits for a process: its largest resident memory, and whether it succeeded.
fn wait(child: Child) -> Result<(f64, bool)> {
    let mut status = 0;
    // SAFETY: the structure is plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the process is a child that nobody has waited for, and both places are live.
    let waited = unsafe { libc::wait4(child.id() as libc::pid_t, &raw mut status, 0, &raw mut usage) };
    if waited < 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    // Linux counts in kibibytes.
    Ok((usage.ru_maxrss as f64 * 1024.0, status == 0))
}

/// Builds `tensorjit` in the dev profile and tells where its library is.
fn face() -> Result<PathBuf> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let output = Command::new("cargo")
        .args(["build", "--quiet", "--lib", "--message-format", "json", "--manifest-path", manifest])
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let library = |line: &str| -> Option<PathBuf> {
        let message: Value = serde_json::from_str(line).ok()?;
        if message["reason"] != "compiler-artifact" || message["target"]["name"] != "tensorjit" {
            return None;
        }
        let files = message["filenames"].as_array()?.iter().filter_map(Value::as_str);
        files.map(PathBuf::from).find(|file| file.extension().is_some_and(|extension| extension == "rlib"))
    };
    text.lines().find_map(library).ok_or_else(|| "cargo has built no library `tensorjit`".into())
}
