//! The arrays of a case.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use ndarray_npy::{NpzReader, ReadNpzError, ReadableElement};
use tensorjit::ndarray::{IxDyn, OwnedRepr};
use tensorjit_core::graph::value::Value;
use tensorjit_runtime::abi::DType;

/// Arrays by name.
pub(super) struct Vectors(BTreeMap<String, Value>);

impl Vectors {
    /// Reads a file of f64, i64 and bool arrays.
    pub(super) fn read(path: &Path) -> Result<Vectors, String> {
        let fail = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let file = File::open(path).map_err(|error| fail(&error))?;
        let mut archive = NpzReader::new(file).map_err(|error| fail(&error))?;
        let mut arrays = BTreeMap::new();
        for name in archive.names().map_err(|error| fail(&error))? {
            let value = array(&mut archive, &name).map_err(|error| fail(&format!("{name}: {error}")))?;
            arrays.insert(name, value);
        }
        Ok(Vectors(arrays))
    }

    /// An array; an error where there is none of the name.
    pub(super) fn get(&self, name: &str) -> Result<&Value, String> {
        self.0.get(name).ok_or_else(|| format!("the file has no `{name}`"))
    }

    /// Whether there is an array of a name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Puts other numbers in an array's place, from a list.
    pub(super) fn replace(&mut self, name: &str, list: &str) -> Result<(), String> {
        let numbers: Result<Vec<f64>, _> = list.split(',').map(|number| number.trim().parse()).collect();
        let numbers = numbers.map_err(|error| format!("`{list}`: {error}"))?;
        let shape = self.get(name)?.shape.clone();
        if numbers.len() != shape.iter().product::<usize>() {
            return Err(format!("`{name}` is of shape {shape:?}, {} numbers are given", numbers.len()));
        }
        self.0.insert(name.to_owned(), Value::floats(DType::F64, &shape, &numbers));
        Ok(())
    }
}

fn array<R: Read + Seek>(archive: &mut NpzReader<R>, name: &str) -> Result<Value, ReadNpzError> {
    match elements::<f64, R>(archive, name) {
        Ok((shape, values)) => return Ok(Value::floats(DType::F64, &shape, &values)),
        Err(ReadNpzError::Npy(_)) => {}
        Err(error) => return Err(error),
    }
    if let Ok((shape, values)) = elements::<i64, R>(archive, name) {
        return Ok(Value::ints(DType::I64, &shape, &values));
    }
    let (shape, values) = elements::<bool, R>(archive, name)?;
    Ok(Value::bools(&shape, &values))
}

/// The shape and the elements in row-major order.
fn elements<T: ReadableElement + Copy, R: Read + Seek>(
    archive: &mut NpzReader<R>,
    name: &str,
) -> Result<(Vec<usize>, Vec<T>), ReadNpzError> {
    let array = archive.by_name::<OwnedRepr<T>, IxDyn>(name)?;
    Ok((array.shape().to_vec(), array.iter().copied().collect()))
}
