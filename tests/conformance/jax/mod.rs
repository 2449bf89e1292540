//! Primitives of JAX: values, vector-Jacobian and Jacobian-vector products.

mod elementwise;
mod indexing;
mod linalg;
mod shapes;
mod sums;
mod windows;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tensorjit_core::graph::value::Value;
use tensorjit_runtime::abi::DType;

use crate::arrays::Arrays;
use crate::case::{Case, Expected, Missing};
use crate::report::{Entry, Floor, suite};
use crate::text::{Tensor, Writer, number, tuple};

/// What passes today.
const FLOOR: Floor = Floor { passed: 310, symbolic: 283 };

#[test]
fn jax() {
    let text = fs::read_to_string(folder().join("index.json")).expect("the index can be read");
    let index: Json = serde_json::from_str(&text).expect("the index is JSON");
    let cases = index["cases"].as_array().expect("the index lists cases");
    let entries: Vec<Entry<'_>> = cases
        .iter()
        .map(|case| Entry {
            name: case["id"].as_str().unwrap_or_default().to_owned(),
            group: "jax".to_owned(),
            build: Box::new(move |symbolic| build(case, symbolic)),
        })
        .collect();
    suite("jax", &entries, &[("jax", FLOOR)]);
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/jax")
}

/// An equation: a primitive with its attributes.
pub(crate) struct Equation<'j> {
    /// Its name.
    prim: &'j str,
    /// Its attributes.
    params: &'j Json,
    /// The type of the first result.
    dtype: DType,
    /// The shape of the first result.
    shape: Vec<usize>,
}

/// Writes what a primitive gives, an expression for each result.
type Translation = fn(&Equation<'_>, &[Tensor], &mut Writer) -> Option<Vec<String>>;

/// The families of translations, asked in order; each has a line for every primitive that it knows.
const FAMILIES: [Translation; 6] = [
    elementwise::translate,
    shapes::translate,
    sums::translate,
    indexing::translate,
    linalg::translate,
    windows::translate,
];

impl Equation<'_> {
    /// A list of numbers among the attributes.
    fn list(&self, name: &str) -> Option<Vec<usize>> {
        integers(&self.params[name])?.into_iter().map(|number| usize::try_from(number).ok()).collect()
    }
}

/// A list of integers.
fn integers(json: &Json) -> Option<Vec<i64>> {
    json.as_array()?.iter().map(Json::as_i64).collect()
}

fn shape_of(json: &Json) -> Option<Vec<usize>> {
    integers(&json["shape"])?.into_iter().map(|extent| usize::try_from(extent).ok()).collect()
}

fn dtype_of(name: &Json) -> Result<DType, Missing> {
    let name = name.as_str().unwrap_or_default();
    let short = name.replace("float", "f").replace("int", "i");
    DType::ALL.into_iter().find(|dtype| dtype.name() == short).ok_or_else(|| format!("the type {name}"))
}

/// The function of a case: its values, then its derivatives.
fn build(case: &Json, symbolic: bool) -> Result<Case, Missing> {
    let file = case["file"].as_str().ok_or("a case without a file")?;
    let arrays = Arrays::read(&folder().join(file))?;
    let program = &case["prog"];
    let inputs = program["invars"].as_array().ok_or("a program without inputs")?;
    let constants = program["constvars"].as_array().ok_or("a program without constants")?;
    let different = integers(&case["diff_in"]).ok_or("`diff_in`")?;
    let results = integers(&case["diff_out"]).ok_or("`diff_out`")?;
    let name = |json: &Json| json["id"].as_str().unwrap_or_default().to_owned();

    let (mut params, mut known) = (Vec::new(), BTreeMap::new());
    for (list, prefix) in [(inputs, "in"), (constants, "const")] {
        for (i, variable) in list.iter().enumerate() {
            let value = arrays.get(&format!("{prefix}{i}"))?;
            let tensor = Tensor::named(name(variable), value);
            known.insert(name(variable), tensor.clone());
            params.push((tensor, value.clone()));
        }
    }
    let has =
        |prefix: &str, list: &[i64]| list.iter().all(|i| arrays.find(&format!("{prefix}{i}")).is_some());
    let some = !different.is_empty() && !results.is_empty();
    let reverse = some && has("vjp", &different) && has("ct", &results);
    let forward = some && has("jvp", &results) && has("tan", &different);
    let extra = [("ct", &results, reverse), ("tan", &different, forward)];
    for (prefix, list, _) in extra.iter().filter(|(_, _, wanted)| *wanted) {
        for i in *list {
            let value = arrays.get(&format!("{prefix}{i}"))?;
            params.push((Tensor::named(format!("{prefix}{i}"), value), value.clone()));
        }
    }

    let mut case = Case::new(symbolic, params);
    evaluate(program, &mut known, case.writer())?;
    let outputs = program["outvars"].as_array().ok_or("a program without results")?;
    let outputs: Vec<Tensor> =
        outputs.iter().map(|output| operand(output, &known)).collect::<Result<_, _>>()?;
    for (i, output) in outputs.iter().enumerate() {
        case.result(output.text.clone(), expected(&arrays, &format!("out{i}"))?);
    }
    let variables = |prefix: &str| tuple(different.iter().map(|i| format!("{prefix}{i}")));
    let inputs = tuple(different.iter().map(|i| inputs.get(*i as usize).map(name).unwrap_or_default()));
    if reverse {
        for j in &results {
            let y = &outputs[*j as usize].text;
            case.writer().line(format!("let {} = vjp({y}, {inputs}, ct{j});", variables(&format!("by{j}_"))));
        }
        for i in &different {
            let terms = results.iter().map(|j| format!("by{j}_{i}")).collect::<Vec<_>>();
            case.result(terms.join(" + "), expected(&arrays, &format!("vjp{i}"))?);
        }
    }
    if forward {
        for j in &results {
            let y = &outputs[*j as usize].text;
            let text = case.writer().bind(&format!("jvp({y}, {inputs}, {})", variables("tan")));
            case.result(text, expected(&arrays, &format!("jvp{j}"))?);
        }
    }
    Ok(case)
}

fn expected(arrays: &Arrays, name: &str) -> Result<Expected, Missing> {
    let value: Value = arrays.get(name)?.clone();
    let tolerance = if value.dtype == DType::F64 { 1e-13 } else { 1e-6 };
    let exact = arrays.find(&format!("o64_{name}")).cloned();
    let exact = exact.filter(|_| value.dtype.is_float());
    Ok(Expected { name: name.to_owned(), value, exact, tolerance })
}

/// Writes the equations of a program.
fn evaluate(
    program: &Json,
    known: &mut BTreeMap<String, Tensor>,
    writer: &mut Writer,
) -> Result<(), Missing> {
    for json in program["eqns"].as_array().ok_or("a program without equations")? {
        let prim = json["prim"].as_str().ok_or("an equation without a primitive")?;
        let operands = json["ins"].as_array().ok_or("an equation without operands")?;
        let operands: Vec<Tensor> =
            operands.iter().map(|json| operand(json, known)).collect::<Result<_, _>>()?;
        let results = json["outs"].as_array().ok_or("an equation without results")?;
        let first = results.first().ok_or("an equation without a result")?;
        let equation = Equation {
            prim,
            params: &json["params"],
            dtype: dtype_of(&first["dtype"])?,
            shape: shape_of(first).ok_or("a result without a shape")?,
        };
        let texts = FAMILIES.iter().find_map(|family| family(&equation, &operands, writer));
        let texts = texts.ok_or_else(|| format!("`{prim}`"))?;
        for (result, text) in results.iter().zip(texts) {
            let tensor = Tensor {
                text: writer.bind(&text),
                dtype: dtype_of(&result["dtype"])?,
                shape: shape_of(result).ok_or("a result without a shape")?,
            };
            known.insert(result["id"].as_str().unwrap_or_default().to_owned(), tensor);
        }
    }
    Ok(())
}

/// A variable, or a literal.
fn operand(json: &Json, known: &BTreeMap<String, Tensor>) -> Result<Tensor, Missing> {
    if let Some(name) = json.as_str() {
        return known.get(name).cloned().ok_or_else(|| format!("no variable `{name}`"));
    }
    let dtype = dtype_of(&json["dtype"])?;
    let literal = &json["lit"];
    let value = literal.as_f64().or_else(|| literal.as_bool().map(|b| f64::from(u8::from(b))));
    let value = value.ok_or_else(|| format!("the literal {literal}"))?;
    Ok(Tensor { text: number(dtype, value), dtype, shape: Vec::new() })
}
