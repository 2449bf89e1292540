//! The workspace of every workload against what must be in it at once: values that stand in memory, and packed
//! panels, from the loop nest that writes them to the last one that reads them.

use tensorjit_core::check::{CheckedFunction, check};
use tensorjit_core::diag::Failure;
use tensorjit_core::graph::value::Env;
use tensorjit_core::pipeline;
use tensorjit_core::syntax::parse_text;
use tensorjit_core::testing::states;

use crate::gates::Verdict;
use crate::workloads::{attention, block, convolution, finance, layers, linear, network, products, rows};
use crate::{Error, Result};

/// How much more the workspace may be.
const RATIO: f64 = 1.1;

/// The text of a block, a function of it, and the values of its symbols, as the workloads have them.
const FUNCTIONS: [(&str, &str, &[i64]); 14] = [
    (linear::single::TEXT, "linear_step", &[32]),
    (products::single::TEXT, "product", &[64, 64, 64]),
    (products::single::TEXT, "product", &[512, 512, 512]),
    (products::single::TEXT, "product", &[2048, 2048, 2048]),
    (layers::single::TEXT, "linear_relu", &[256, 768, 3072]),
    (network::single::TEXT, "mlp_grad", &[17]),
    (network::single::TEXT, "mlp_grad", &[128]),
    (rows::single::TEXT, "softmax_rows", &[4096, 1024]),
    (rows::single::TEXT, "layer_norm_grad", &[4096, 1024]),
    (rows::single::TEXT, "column_sums", &[4096, 1024]),
    (finance::single::TEXT, "black_scholes", &[1 << 20]),
    (attention::single::TEXT, "attention_grad", &[4, 8, 256]),
    (block::single::TEXT, "block_grad", &[4, 128]),
    (convolution::single::TEXT, "convolution_grad", &[32]),
];

/// The gates on the workspace.
pub fn verdicts() -> Result<Vec<Verdict>> {
    let mut verdicts = Vec::new();
    for (block, name, dims) in FUNCTIONS {
        let sizes: Vec<String> = dims.iter().map(i64::to_string).collect();
        let name_of = format!("{name} of {}", sizes.join(" x "));
        let (workspace, live) = bytes(block, name, dims)?;
        verdicts.push(Verdict::report(format!("{name_of}: kB of workspace"), workspace * 1e-3));
        let ratio = if live == 0.0 { 1.0 + workspace } else { workspace / live };
        let what = format!("{name_of}: workspace over the largest sum of what lives at once");
        verdicts.push(Verdict::at_most(what, Some(ratio), RATIO));
    }
    Ok(verdicts)
}

/// Bytes of the workspace, and the largest sum of what lives at once.
fn bytes(block: &str, name: &str, dims: &[i64]) -> Result<(f64, f64)> {
    let function = function(block, name)?;
    let states = states(&function);
    let prepared = pipeline::prepare(function.graph, &states, &mut |_, _, _| {}).map_err(failed)?;
    let (workspace, live) = prepared.memory().map_err(|bug| Error::from(bug.to_string()))?;
    let env = Env { dims };
    let mut largest = 0;
    for sum in &live {
        largest = largest.max(env.value(sum).map_err(|bug| bug.to_string())?);
    }
    Ok((env.value(&workspace).map_err(|bug| bug.to_string())? as f64, largest as f64))
}

fn function(block: &str, name: &str) -> Result<CheckedFunction> {
    let parsed = parse_text(block);
    let functions = check(&parsed.block).map_err(failed)?;
    let found = functions.into_iter().find(|function| function.name == name);
    found.ok_or_else(|| format!("there is no function `{name}`").into())
}

/// These functions have been compiled into this program, so that none has mistakes.
fn failed(failure: Failure) -> Error {
    match failure {
        Failure::User(diagnostics) => format!("{} diagnostics", diagnostics.len()).into(),
        Failure::Bug(bug) => bug.to_string().into(),
    }
}
