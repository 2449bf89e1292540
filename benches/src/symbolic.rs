//! Symbolic sizes against constant ones: the same function compiled once with a symbol, and for every size with
//! that size as a number.

use tensorjit_core::check::check;
use tensorjit_core::diag::Failure;
use tensorjit_core::graph::value::{Env, Value};
use tensorjit_core::syntax::parse_text;
use tensorjit_core::testing::{Program, sample, states};

use crate::gates::Verdict;
use crate::{Error, Result};

/// A function of one size: `SYMBOL` is the list of its generics, `SIZE` the size.
struct Sized {
    name: &'static str,
    text: &'static str,
}

const FUNCTIONS: [Sized; 4] = [
    Sized {
        name: "linear_step",
        text: "pub fn f SYMBOL (x: f32[SIZE, 3], y: f32[SIZE, 2], w: f32[3, 2], bias: f32[2], scale: f32)
            -> (f32, f32[3, 2], f32[2]) {
            let error = x @ w + bias - y;
            let loss = sum(error * error) * scale;
            (loss, grad(loss, w), grad(loss, bias))
        }",
    },
    Sized {
        name: "softmax of SIZE rows of 1024",
        text: "pub fn f SYMBOL (x: f32[SIZE, 1024]) -> f32[SIZE, 1024] { softmax(x) }",
    },
    Sized {
        name: "softmax of 256 rows of SIZE",
        text: "pub fn f SYMBOL (x: f32[256, SIZE]) -> f32[256, SIZE] { softmax(x) }",
    },
    Sized {
        name: "mlp_grad",
        text: "pub fn f SYMBOL (
            w1: f32[784, 512], b1: f32[512], w2: f32[512, 256], b2: f32[256], w3: f32[256, 10], b3: f32[10],
            x: f32[SIZE, 784], y: f32[SIZE, 10], scale: f32
        ) -> (f32, f32[784, 512], f32[512], f32[512, 256], f32[256], f32[256, 10], f32[10]) {
            let h = relu(x @ w1 + b1);
            let h = relu(h @ w2 + b2);
            let loss = -sum(log_softmax(h @ w3 + b3) * y) * scale;
            let (dw1, db1, dw2, db2, dw3, db3) = grad(loss, (w1, b1, w2, b2, w3, b3));
            (loss, dw1, db1, dw2, db2, dw3, db3)
        }",
    },
];

/// The sizes at which tiles, vectors and masks begin and end.
const SIZES: [i64; 19] = [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257];

/// How much longer the symbolic one may take: a part, or some nanoseconds where that is more.
const RATIO: f64 = 1.1;
const SLACK: f64 = 20e-9;

/// The gates on symbolic sizes.
pub fn verdicts() -> Result<Vec<Verdict>> {
    let mut verdicts = Vec::new();
    for function in &FUNCTIONS {
        let symbolic = compile(&function.text.replace("SYMBOL", "<B>").replace("SIZE", "B"))?;
        for size in SIZES {
            let number = size.to_string();
            let constant = compile(&function.text.replace("SYMBOL", "").replace("SIZE", &number))?;
            let (with, without) = times(&symbolic, &constant, size)?;
            // The slack in the unit of the ratio.
            let limit = RATIO.max(1.0 + SLACK / without);
            let name = if function.name.contains("SIZE") {
                function.name.replace("SIZE", &number)
            } else {
                format!("{}, B = {size}", function.name)
            };
            let what = format!("{name}: time with a symbolic size over that with a constant one");
            verdicts.push(Verdict::at_most(what, Some(with / without), limit));
        }
    }
    Ok(verdicts)
}

/// Seconds of a call with the symbol and with the constant, in turn, the least of some.
fn times(symbolic: &Program, constant: &Program, size: i64) -> Result<(f64, f64)> {
    let level = symbolic.levels().next().ok_or("no level runs here")?;
    let inputs = inputs(symbolic, &[size])?;
    let (mut with, mut without) = (f64::MAX, f64::MAX);
    for _ in 0..2 {
        with = with.min(symbolic.time(level, &[size], &inputs).map_err(text)?);
        without = without.min(constant.time(level, &[], &inputs).map_err(text)?);
    }
    Ok((with, without))
}

fn compile(source: &str) -> Result<Program> {
    let parsed = parse_text(source);
    let failed = |failure: Failure| -> Error {
        match failure {
            Failure::User(diagnostics) => {
                let all: Vec<String> =
                    diagnostics.iter().map(|d| d.render(&parsed.sources, "symbolic.rs", source)).collect();
                all.join("\n").into()
            }
            Failure::Bug(bug) => bug.to_string().into(),
        }
    };
    if !parsed.diagnostics.is_empty() {
        return Err(failed(Failure::User(parsed.diagnostics.clone())));
    }
    let functions = check(&parsed.block).map_err(failed)?;
    let function = functions.first().ok_or("the text has no function")?;
    Program::compile(function.graph.clone(), &states(function), &mut |_, _, _| {}).map_err(failed)
}

fn inputs(program: &Program, dims: &[i64]) -> Result<Vec<Value>> {
    let mut inputs = Vec::new();
    for (input, seed) in program.graph().inputs.iter().zip(0..) {
        let shape = Env { dims }.shape(&input.ty.shape).map_err(text)?;
        inputs.push(sample(input.ty.dtype, &shape, seed));
    }
    Ok(inputs)
}

fn text(error: impl std::fmt::Display) -> Error {
    error.to_string().into()
}
