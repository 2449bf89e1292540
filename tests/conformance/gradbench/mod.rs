//! Objectives of GradBench: values, gradients and Jacobians, Jacobian-vector and Hessian-vector products.
//!
//! Each objective is a function as a user writes it, for any sizes; `tests/data/gradbench` has cases of it.  For constant
//! sizes the symbols become constants of the block.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tensorjit_core::graph::value::Value;
use tensorjit_runtime::abi::DType;

use crate::arrays::Arrays;
use crate::case::{Expected, Missing, Subject};
use crate::report::{Entry, Floor, suite};
use crate::run;

/// The relative error that is allowed.
const TOLERANCE: f64 = 1e-9;

/// All of them.
const ALL: Floor = Floor { passed: 36, symbolic: 36 };

/// An objective.
struct Objective {
    /// Its name in the index, which the function has too.
    name: &'static str,
    text: &'static str,
    /// The arrays that the results must be.
    results: &'static [&'static str],
}

const OBJECTIVES: [Objective; 8] = [
    Objective {
        name: "ba",
        text: include_str!("ba.tj"),
        results: &[
            "out_reproj",
            "out_w",
            "jac_blocks",
            "jac_w",
            "vjp_cams",
            "vjp_X",
            "vjp_w",
            "jvp_reproj",
            "jvp_w",
        ],
    },
    Objective { name: "det", text: include_str!("det.tj"), results: &["out", "grad_A", "jvp", "hvp_A"] },
    Objective {
        name: "gmm",
        text: include_str!("gmm.tj"),
        results: &[
            "out",
            "grad_alpha",
            "grad_mu",
            "grad_q",
            "grad_l",
            "jvp",
            "hvp_alpha",
            "hvp_mu",
            "hvp_q",
            "hvp_l",
        ],
    },
    Objective {
        name: "kmeans",
        text: include_str!("kmeans.tj"),
        results: &["out", "grad_centroids", "hdiag_centroids", "dir"],
    },
    Objective { name: "llsq", text: include_str!("llsq.tj"), results: &["out", "grad_x", "jvp", "hvp_x"] },
    Objective { name: "lse", text: include_str!("lse.tj"), results: &["out", "grad_x", "jvp", "hvp_x"] },
    Objective {
        name: "lstm",
        text: include_str!("lstm.tj"),
        results: &["out", "grad_main", "grad_extra", "jvp", "hvp_main", "hvp_extra"],
    },
    Objective { name: "ode", text: include_str!("ode.tj"), results: &["out", "grad_last_x", "vjp_x", "jvp"] },
];

#[test]
fn gradbench() {
    let text = fs::read_to_string(folder().join("index.json")).expect("the index can be read");
    let index: Json = serde_json::from_str(&text).expect("the index is JSON");
    let cases = index["cases"].as_array().expect("the index lists cases");
    // Three more entries say programs in words, without arrays.
    let entries: Vec<Entry<'_, Written>> = cases
        .iter()
        .filter(|case| case["file"].is_string())
        .map(|case| Entry {
            name: case["id"].as_str().unwrap_or_default().to_owned(),
            group: "gradbench".to_owned(),
            build: Box::new(move |symbolic| build(case, symbolic)),
        })
        .collect();
    suite("gradbench", &entries, &[("gradbench", ALL)]);
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/gradbench")
}

/// A function that was written by hand, with the arrays of a case.
struct Written {
    text: String,
    inputs: Vec<Value>,
    expected: Vec<Expected>,
    sizes: BTreeMap<String, i64>,
    symbolic: bool,
}

impl Subject for Written {
    fn text(&self, clauses: &[String], _: &[Option<String>]) -> String {
        // The text states all that it needs; what the compiler asks for beyond that stands as a mark in it.
        clauses.iter().fold(self.text.clone(), |text, clause| format!("{text}\n// lacks `where {clause}`"))
    }

    fn inputs(&self) -> Vec<Value> {
        self.inputs.clone()
    }

    fn expected(&self) -> impl Iterator<Item = &Expected> {
        self.expected.iter()
    }

    fn is_symbolic(&self) -> bool {
        self.symbolic
    }

    fn size(&self, symbol: &str) -> Option<i64> {
        self.sizes.get(symbol).copied()
    }

    const BOUNDED: bool = false;
    const SHARED: bool = true;
}

fn build(case: &Json, symbolic: bool) -> Result<Written, Missing> {
    let (name, file) = (case["eval"].as_str().unwrap_or_default(), case["file"].as_str());
    let arrays = Arrays::read(&folder().join(file.ok_or("a case without a file")?))?;
    let objective =
        OBJECTIVES.iter().find(|objective| objective.name == name).ok_or_else(|| format!("`{name}`"))?;
    let sizes = sizes(case);
    let text = match symbolic {
        true => objective.text.to_owned(),
        false => with_constants(objective, &sizes)?,
    };
    let function = run::function(&text).map_err(|errors| errors.join("; "))?;
    let inputs = function
        .params
        .iter()
        .map(|param| argument(&arrays, case, &param.name))
        .collect::<Result<Vec<_>, _>>()?;
    let expected = objective
        .results
        .iter()
        .zip(&function.results)
        .map(|(name, (_, ty))| {
            let mut value = arrays.get(name)?.clone();
            // The files keep scalars as vectors of one element.
            if ty.shape.is_empty() && value.shape == [1] {
                value.shape.clear();
            }
            Ok(Expected { name: (*name).to_owned(), value, exact: None, tolerance: TOLERANCE })
        })
        .collect::<Result<Vec<_>, Missing>>()?;
    assert_eq!(expected.len(), function.results.len(), "the results of {name} have names");
    Ok(Written { text, inputs, expected, sizes, symbolic })
}

/// The sizes of a case, by the names of symbols.
fn sizes(case: &Json) -> BTreeMap<String, i64> {
    let numbers = ["dims", "scalars"].into_iter().filter_map(|key| case[key].as_object()).flatten();
    numbers.filter_map(|(name, size)| Some((name.to_uppercase(), size.as_i64()?))).collect()
}

/// The array of a parameter: `in_x`, `const_x`, or `x` itself, which may be a number of the index.
fn argument(arrays: &Arrays, case: &Json, name: &str) -> Result<Value, Missing> {
    let found = ["in_", "const_", ""].iter().find_map(|prefix| arrays.find(&format!("{prefix}{name}")));
    match (found, case["scalars"][name].as_f64()) {
        (Some(value), _) => Ok(value.clone()),
        (None, Some(number)) => Ok(Value::floats(DType::F64, &[], &[number])),
        (None, None) => Err(format!("no `{name}`")),
    }
}

/// The text with its symbols as constants of the block.
fn with_constants(objective: &Objective, sizes: &BTreeMap<String, i64>) -> Result<String, Missing> {
    let start = format!("pub fn {}", objective.name);
    let (before, rest) =
        objective.text.split_once(&format!("{start}<")).ok_or("the function has no symbols")?;
    let (symbols, after) = rest.split_once(">(").ok_or("the symbols have no end")?;
    let mut constants = String::new();
    for symbol in symbols.split(',') {
        let name = symbol.split(':').next().unwrap_or_default().trim();
        let size = sizes.get(name).ok_or_else(|| format!("no size `{name}`"))?;
        constants += &format!("const {name}: i64 = {size};\n");
    }
    Ok(format!("{constants}{before}{start}({after}"))
}
