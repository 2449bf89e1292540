//! Operators of ONNX, by the cases of its backend tests.

mod attention;
mod cells;
mod elementwise;
mod indexing;
mod layers;
mod sampling;
mod shapes;
mod sums;
mod training;
mod windows;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tensorjit_core::graph::value::{Scalar, Value};
use tensorjit_runtime::abi::DType;

use crate::arrays::Arrays;
use crate::case::{Case, Expected, Missing};
use crate::report::{Entry, Floor, suite};
use crate::text::{Tensor, Writer, list, number};

/// What passes today.
const DIRECT: Floor = Floor { passed: 252, symbolic: 245 };
const COMPOSED: Floor = Floor { passed: 210, symbolic: 200 };

/// What errors of f32 and f64 are allowed, relative to an element or to the root mean square of all.
const TOLERANCE: (f64, f64) = (1e-5, 1e-12);

#[test]
fn onnx() {
    let text = fs::read_to_string(folder().join("index.json")).expect("the index can be read");
    let index: Json = serde_json::from_str(&text).expect("the index is JSON");
    let cases = index.as_array().expect("the index is a list");
    let entries: Vec<Entry<'_>> = cases
        .iter()
        .map(|case| Entry {
            name: case["name"].as_str().unwrap_or_default().to_owned(),
            group: case["scope"].as_str().unwrap_or_default().to_owned(),
            build: Box::new(move |symbolic| build(case, symbolic)),
        })
        .collect();
    suite("onnx", &entries, &[("direct", DIRECT), ("composed", COMPOSED)]);
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/onnx")
}

/// A tensor, and its value where the file says it: integer operands that shape a program are read from there.
#[derive(Clone)]
struct Operand {
    tensor: Tensor,
    value: Option<Value>,
}

/// One operator with its attributes and operands.
struct Node<'j> {
    op: &'j str,
    attributes: &'j Json,
    operands: Vec<Option<Operand>>,
    /// The types of results, as far as the file says them; else that of the first operand.
    results: Vec<(DType, Vec<usize>)>,
}

/// Writes what an operator gives, an expression for each result.
type Translation = fn(&Node<'_>, &mut Writer) -> Option<Vec<String>>;

/// The families of translations, asked in order; each has a line for every operator that it knows.
const FAMILIES: [Translation; 9] = [
    elementwise::translate,
    shapes::translate,
    indexing::translate,
    sums::translate,
    layers::translate,
    attention::translate,
    cells::translate,
    training::translate,
    sampling::translate,
];

impl Node<'_> {
    /// An operand that must be there.
    fn operand(&self, i: usize) -> Option<&Tensor> {
        Some(&self.operands.get(i)?.as_ref()?.tensor)
    }

    /// The text of an operand.
    fn text(&self, i: usize) -> Option<&str> {
        Some(&self.operand(i)?.text)
    }

    /// The integers of an operand, or of the attribute that older versions have instead.
    fn integers(&self, i: usize, attribute: &str) -> Option<Vec<i64>> {
        match self.operands.get(i).and_then(Option::as_ref) {
            None => integers(&self.attributes[attribute]),
            Some(operand) => {
                let elements = &operand.value.as_ref()?.elements;
                let whole = |scalar| match scalar {
                    Scalar::Int(value) => i64::try_from(value).ok(),
                    Scalar::Float(value) => Some(value as i64),
                    Scalar::Bool(_) => None,
                };
                elements.iter().map(|element| whole(element.scalar)).collect()
            }
        }
    }

    fn integer(&self, attribute: &str) -> Option<i64> {
        self.attributes[attribute].as_i64()
    }

    fn flag(&self, attribute: &str) -> bool {
        self.integer(attribute).is_some_and(|value| value != 0)
    }

    /// A number among the attributes, as it is written.
    fn number(&self, attribute: &str, default: f64) -> String {
        let dtype = self.operand(0).map_or(DType::F32, |x| x.dtype);
        number(dtype, self.attributes[attribute].as_f64().unwrap_or(default))
    }

    /// An axis of the first operand, counted from its end if it is negative.
    fn axis(&self, default: i64) -> Option<usize> {
        place(self.integer("axis").unwrap_or(default), self.operand(0)?.rank())
    }

    /// The shape of a result.
    fn shape(&self, i: usize) -> Option<&[usize]> {
        Some(&self.results.get(i)?.1)
    }
}

/// An axis, counted from the end if it is negative.
fn place(axis: i64, rank: usize) -> Option<usize> {
    usize::try_from(if axis < 0 { axis + rank as i64 } else { axis }).ok()
}

/// A list of integers.
fn integers(json: &Json) -> Option<Vec<i64>> {
    json.as_array()?.iter().map(Json::as_i64).collect()
}

fn type_of(json: &Json) -> Result<(DType, Vec<usize>), Missing> {
    let name = json["dtype"].as_str().unwrap_or_default();
    let short = name.replace("float", "f").replace("int", "i");
    let dtype = DType::ALL.into_iter().find(|dtype| dtype.name() == short);
    let dtype = dtype.ok_or_else(|| format!("the type {name}"))?;
    let extents = integers(&json["shape"]).unwrap_or_default();
    Ok((dtype, extents.into_iter().map(|extent| extent as usize).collect()))
}

fn items<'j>(json: &'j Json, name: &str) -> &'j [Json] {
    json[name].as_array().map_or(&[], Vec::as_slice)
}

/// A name of the language for a name of the file.
fn renamed(name: &Json) -> String {
    let name = name.as_str().unwrap_or_default();
    format!("v_{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
}

/// The function of a case.
fn build(case: &Json, symbolic: bool) -> Result<Case, Missing> {
    let file = case["file"].as_str().ok_or("a case without a file")?;
    let arrays = Arrays::read(&folder().join(file.trim_start_matches("npz/")))?;
    let (mut params, mut known, mut types) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let inputs = items(case, "inputs").iter().enumerate().map(|(i, json)| (format!("in_{i}"), json));
    let initial = items(case, "initializers");
    let initial = initial.iter().map(|json| (format!("init_{}", json["name"].as_str().unwrap_or("")), json));
    for (array, json) in inputs.chain(initial) {
        let value = arrays.get(&array)?;
        let tensor = Tensor::named(renamed(&json["name"]), value);
        let operand = Operand { tensor: tensor.clone(), value: Some(value.clone()) };
        known.insert(renamed(&json["name"]), operand);
        params.push((tensor, value.clone()));
    }
    for json in items(case, "outputs") {
        types.insert(renamed(&json["name"]), type_of(json)?);
    }
    let mut written = Case::new(symbolic, params);
    for node in items(case, "nodes") {
        apply(node, &mut known, &types, written.writer())?;
    }
    for (i, json) in items(case, "outputs").iter().enumerate() {
        let name = format!("out_{i}");
        let value = arrays.get(&name)?.clone();
        let tolerance = if value.dtype == DType::F64 { TOLERANCE.1 } else { TOLERANCE.0 };
        let operand = known.get(&renamed(&json["name"])).ok_or("a result that no node gives")?;
        let expected = Expected { name, value, exact: None, tolerance };
        written.result(operand.tensor.text.clone(), expected);
    }
    Ok(written)
}

/// Writes what a node gives.
fn apply(
    json: &Json,
    known: &mut BTreeMap<String, Operand>,
    types: &BTreeMap<String, (DType, Vec<usize>)>,
    writer: &mut Writer,
) -> Result<(), Missing> {
    let op = json["op"].as_str().unwrap_or_default();
    let operands: Vec<Option<Operand>> =
        items(json, "inputs").iter().map(|name| known.get(&renamed(name)).cloned()).collect();
    let first = operands.iter().flatten().next().map(|x| (x.tensor.dtype, x.tensor.shape.clone()));
    let names: Vec<String> = items(json, "outputs").iter().map(renamed).collect();
    if op == "Constant" {
        let (text, value) = constant(&json["attrs"]["value"])?;
        let tensor = Tensor::named(writer.bind(&text), &value);
        known.insert(names.first().cloned().unwrap_or_default(), Operand { tensor, value: Some(value) });
        return Ok(());
    }
    let mut node = Node { op, attributes: &json["attrs"], operands, results: Vec::new() };
    let first = first.map(|(dtype, shape)| {
        let between = windows::pooled(op, node.attributes, &shape).or_else(|| shapes::reshaped(&node));
        (dtype, between.unwrap_or(shape))
    });
    let fallback = || first.clone().unwrap_or((DType::F32, Vec::new()));
    node.results = names.iter().map(|name| types.get(name).cloned().unwrap_or_else(fallback)).collect();
    let texts = FAMILIES.iter().find_map(|family| family(&node, writer)).ok_or_else(|| format!("`{op}`"))?;
    for ((name, text), (dtype, shape)) in names.into_iter().zip(texts).zip(node.results) {
        let tensor = Tensor { text: writer.bind(&text), dtype, shape };
        known.insert(name, Operand { tensor, value: None });
    }
    Ok(())
}

/// A tensor among the attributes, as it is written.
fn constant(json: &Json) -> Result<(String, Value), Missing> {
    fn gather(json: &Json, dtype: DType, numbers: &mut Vec<f64>) -> String {
        match json.as_array() {
            Some(items) => list(items.iter().map(|item| gather(item, dtype, numbers)).collect::<Vec<_>>()),
            None => {
                numbers.push(json.as_f64().unwrap_or(f64::NAN));
                number(dtype, *numbers.last().unwrap_or(&0.0))
            }
        }
    }
    let mut ty = json.clone();
    ty["dtype"] = json["tensor"].clone();
    let (dtype, shape) = type_of(&ty)?;
    let mut numbers = Vec::new();
    let text = gather(&json["data"], dtype, &mut numbers);
    let whole: Vec<i64> = numbers.iter().map(|number| *number as i64).collect();
    let value = match dtype.is_float() {
        true => Value::floats(dtype, &shape, &numbers),
        false => Value::ints(dtype, &shape, &whole),
    };
    Ok((text, value))
}
