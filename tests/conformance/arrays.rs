//! The arrays of a file, of any element type that the language has.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use ndarray_npy::{NpzReader, ReadNpzError, ReadableElement};
use tensorjit::ndarray::{IxDyn, OwnedRepr};
use tensorjit_core::graph::value::{Element, Scalar, Value};
use tensorjit_runtime::abi::DType;

/// Arrays by name; those of other element types are left out.
pub(crate) struct Arrays(BTreeMap<String, Value>);

impl Arrays {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Arrays, String> {
        let fail = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let file = File::open(path).map_err(|error| fail(&error))?;
        let mut archive = NpzReader::new(file).map_err(|error| fail(&error))?;
        let mut arrays = BTreeMap::new();
        for name in archive.names().map_err(|error| fail(&error))? {
            if let Some(value) = array(&mut archive, &name).map_err(|error| fail(&error))? {
                arrays.insert(name, value);
            }
        }
        Ok(Arrays(arrays))
    }

    /// An array; an error where there is none of the name.
    pub(crate) fn get(&self, name: &str) -> Result<&Value, String> {
        self.find(name).ok_or_else(|| format!("the file has no `{name}` of a type of the language"))
    }

    /// An array, if there is one of the name.
    pub(crate) fn find(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}

fn array<R: Read + Seek>(archive: &mut NpzReader<R>, name: &str) -> Result<Option<Value>, ReadNpzError> {
    if let Some((shape, x)) = elements::<f32, R>(archive, name)? {
        let x: Vec<f64> = x.into_iter().map(f64::from).collect();
        return Ok(Some(Value::floats(DType::F32, &shape, &x)));
    }
    if let Some((shape, x)) = elements::<f64, R>(archive, name)? {
        return Ok(Some(Value::floats(DType::F64, &shape, &x)));
    }
    /// The integers of each type in turn, if the array has it.
    macro_rules! integers {
        ($($dtype:ident: $rust:ty),*) => { $(
            if let Some((shape, x)) = elements::<$rust, R>(archive, name)? {
                let elements = x.into_iter().map(|x| Element::exact(Scalar::Int(x.into()))).collect();
                return Ok(Some(Value { dtype: DType::$dtype, shape, elements }));
            }
        )* };
    }
    integers!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64);
    Ok(elements::<bool, R>(archive, name)?.map(|(shape, x)| Value::bools(&shape, &x)))
}

/// A shape, and elements in row-major order.
type Elements<T> = (Vec<usize>, Vec<T>);

/// The elements of an array; nothing where the array is of another type.
fn elements<T: ReadableElement + Copy, R: Read + Seek>(
    archive: &mut NpzReader<R>,
    name: &str,
) -> Result<Option<Elements<T>>, ReadNpzError> {
    match archive.by_name::<OwnedRepr<T>, IxDyn>(name) {
        Ok(array) => Ok(Some((array.shape().to_vec(), array.iter().copied().collect()))),
        Err(ReadNpzError::Npy(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
