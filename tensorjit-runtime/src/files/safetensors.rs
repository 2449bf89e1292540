//! The format of Hugging Face: <https://github.com/huggingface/safetensors>.

use std::fs;
use std::path::Path;

use ndarray::{ArrayD, ArrayViewD};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize_to_file};

use super::{FileError, Loaded, Problem, load as load_leaves};
use crate::abi::DType;
use crate::leaves::{Leaf, Leaves};

/// Saves all leaves.
///
/// # Errors
///
/// If the file cannot be written.
pub fn save(value: &impl Leaves, path: &Path) -> Result<(), FileError> {
    let encoded: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = value
        .leaves()
        .into_iter()
        .map(|(name, leaf)| (name, dtype(leaf.dtype()), leaf.shape().to_vec(), encode(&leaf)))
        .collect();
    let write = || {
        let mut views = Vec::with_capacity(encoded.len());
        for (name, dtype, shape, bytes) in &encoded {
            views.push((name, TensorView::new(*dtype, shape.clone(), bytes)?));
        }
        serialize_to_file(views, None, path)
    };
    write().map_err(|error| Problem::file(error).at(path))
}

/// Loads all leaves, whose element types and shapes must be those of the file.
///
/// # Errors
///
/// If the file cannot be read, or lacks a leaf or has it with another type or shape; no leaf has changed then.
pub fn load(value: &mut impl Leaves, path: &Path) -> Result<(), FileError> {
    let mut read = || {
        let bytes = fs::read(path).map_err(Problem::file)?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(Problem::file)?;
        load_leaves(value, |leaf, expected| {
            let Ok(tensor) = tensors.tensor(leaf) else {
                return Err(Problem::Missing { leaf: leaf.to_owned() });
            };
            if tensor.dtype() != dtype(expected) {
                let (leaf, found) = (leaf.to_owned(), format!("{:?}", tensor.dtype()));
                return Err(Problem::ElementType { leaf, expected, found });
            }
            decode(expected, tensor.shape(), tensor.data())
        })
    };
    read().map_err(|problem| problem.at(path))
}

fn dtype(dtype: DType) -> Dtype {
    match dtype {
        DType::Bool => Dtype::BOOL,
        DType::I32 => Dtype::I32,
        DType::I64 => Dtype::I64,
        DType::F32 => Dtype::F32,
        DType::F64 => Dtype::F64,
    }
}

/// The elements row by row, little end first.
fn encode(leaf: &Leaf<'_>) -> Vec<u8> {
    fn bytes<T: Copy, const N: usize>(view: &ArrayViewD<'_, T>, encode: fn(T) -> [u8; N]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(N * view.len());
        view.iter().for_each(|x| bytes.extend_from_slice(&encode(*x)));
        bytes
    }
    match leaf {
        Leaf::F32(view) => bytes(view, f32::to_le_bytes),
        Leaf::F64(view) => bytes(view, f64::to_le_bytes),
        Leaf::I32(view) => bytes(view, i32::to_le_bytes),
        Leaf::I64(view) => bytes(view, i64::to_le_bytes),
        Leaf::Bool(view) => bytes(view, |x| [u8::from(x)]),
    }
}

fn decode(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Loaded, Problem> {
    fn elements<T, const N: usize>(
        shape: &[usize],
        bytes: &[u8],
        decode: fn([u8; N]) -> T,
    ) -> Result<ArrayD<T>, Problem> {
        let (elements, _) = bytes.as_chunks::<N>();
        let elements = elements.iter().map(|element| decode(*element)).collect();
        ArrayD::from_shape_vec(shape, elements).map_err(Problem::file)
    }
    Ok(match dtype {
        DType::F32 => Loaded::F32(elements(shape, bytes, f32::from_le_bytes)?),
        DType::F64 => Loaded::F64(elements(shape, bytes, f64::from_le_bytes)?),
        DType::I32 => Loaded::I32(elements(shape, bytes, i32::from_le_bytes)?),
        DType::I64 => Loaded::I64(elements(shape, bytes, i64::from_le_bytes)?),
        DType::Bool => Loaded::Bool(elements(shape, bytes, |[byte]: [u8; 1]| byte != 0)?),
    })
}
