//! The format of Hugging Face: <https://github.com/huggingface/safetensors>.

use std::fs;
use std::path::Path;

use ndarray::{ArrayD, ArrayViewD};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize_to_file};

use super::{FileError, Loaded, Problem, load as load_leaves};
use crate::abi::DType;
use crate::elements::for_elements;
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
        DType::I8 => Dtype::I8,
        DType::I16 => Dtype::I16,
        DType::I32 => Dtype::I32,
        DType::I64 => Dtype::I64,
        DType::U8 => Dtype::U8,
        DType::U16 => Dtype::U16,
        DType::U32 => Dtype::U32,
        DType::U64 => Dtype::U64,
        DType::F32 => Dtype::F32,
        DType::F64 => Dtype::F64,
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
    }
}

/// An element as the bytes of a file, little end first.
trait Bytes<const N: usize>: Copy {
    fn encode(self) -> [u8; N];
    fn decode(bytes: [u8; N]) -> Self;
}

impl Bytes<1> for bool {
    fn encode(self) -> [u8; 1] {
        [u8::from(self)]
    }

    fn decode([byte]: [u8; 1]) -> bool {
        byte != 0
    }
}

macro_rules! numbers {
    ($($rust:ty),*) => { $(
        impl Bytes<{ size_of::<$rust>() }> for $rust {
            fn encode(self) -> [u8; size_of::<$rust>()] {
                self.to_le_bytes()
            }

            fn decode(bytes: [u8; size_of::<$rust>()]) -> $rust {
                <$rust>::from_le_bytes(bytes)
            }
        }
    )* };
}
numbers!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, crate::half::f16, crate::half::bf16);

/// The elements row by row.
fn bytes<T: Bytes<N>, const N: usize>(view: &ArrayViewD<'_, T>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(N * view.len());
    view.iter().for_each(|x| bytes.extend_from_slice(&x.encode()));
    bytes
}

fn elements<T: Bytes<N>, const N: usize>(shape: &[usize], bytes: &[u8]) -> Result<ArrayD<T>, Problem> {
    let (elements, _) = bytes.as_chunks::<N>();
    let elements = elements.iter().map(|element| T::decode(*element)).collect();
    ArrayD::from_shape_vec(shape, elements).map_err(Problem::file)
}

macro_rules! leaves {
    ($($variant:ident: $rust:ty,)*) => {
        fn encode(leaf: &Leaf<'_>) -> Vec<u8> {
            match leaf {
                $(Leaf::$variant(view) => bytes(view),)*
            }
        }

        fn decode(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Loaded, Problem> {
            Ok(match dtype {
                $(DType::$variant => Loaded::$variant(elements(shape, bytes)?),)*
            })
        }
    };
}
for_elements!(leaves);
