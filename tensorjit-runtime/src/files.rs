//! Structs of tensors in files, a tensor for each leaf under its name.
//!
//! A file is read as a whole and every leaf checked before the first is changed, so that an error leaves the struct as
//! it was. What else is in the file is not looked at.

#[cfg(feature = "npz")]
pub mod npz;
#[cfg(feature = "safetensors")]
pub mod safetensors;

use std::error::Error as StdError;
use std::fmt;
use std::path::{Path, PathBuf};

use ndarray::ArrayD;

use crate::abi::DType;
use crate::elements::for_elements;
use crate::leaves::{LeafMut, Leaves};

/// Why a struct could not be saved or loaded.
#[derive(Debug)]
pub struct FileError {
    path: PathBuf,
    problem: Problem,
}

/// What is wrong with a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// It cannot be read or written, or is no file of this format.
    File(Box<dyn StdError + Send + Sync>),
    /// It has no tensor for a leaf.
    Missing {
        /// The name of the leaf.
        leaf: String,
    },
    /// It has another element type for a leaf.
    ElementType {
        /// The name of the leaf.
        leaf: String,
        /// The element type of the leaf.
        expected: DType,
        /// That in the file, in the words of its format.
        found: String,
    },
    /// It has another shape for a leaf.
    Shape {
        /// The name of the leaf.
        leaf: String,
        /// The extents of the leaf.
        expected: Vec<usize>,
        /// Those in the file.
        found: Vec<usize>,
    },
}

impl FileError {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong with it.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.problem)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::File(error) => write!(f, "{error}"),
            Problem::Missing { leaf } => write!(f, "there is no tensor `{leaf}`"),
            Problem::ElementType { leaf, expected, found } => {
                write!(f, "tensor `{leaf}`: expected elements of {}, found {found}", expected.name())
            }
            Problem::Shape { leaf, expected, found } => {
                write!(f, "tensor `{leaf}`: expected shape {expected:?}, found {found:?}")
            }
        }
    }
}

impl StdError for FileError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.problem {
            Problem::File(error) => Some(error.as_ref()),
            _ => None,
        }
    }
}

impl Problem {
    fn file(error: impl StdError + Send + Sync + 'static) -> Problem {
        Problem::File(Box::new(error))
    }

    fn at(self, path: &Path) -> FileError {
        FileError { path: path.to_owned(), problem: self }
    }
}

/// Declares [`Loaded`].
macro_rules! loaded {
    ($($variant:ident: $rust:ty,)*) => {
        /// The elements of a tensor of a file.
        enum Loaded {
            $($variant(ArrayD<$rust>),)*
        }

        impl Loaded {
            fn shape(&self) -> &[usize] {
                match self {
                    $(Loaded::$variant(array) => array.shape(),)*
                }
            }

            /// Writes the elements to a leaf of the same type and shape.
            fn store(self, leaf: LeafMut<'_>) {
                match (self, leaf) {
                    $((Loaded::$variant(array), LeafMut::$variant(mut leaf)) => leaf.assign(&array),)*
                    // `read` gives the type that it was asked for.
                    _ => {}
                }
            }
        }
    };
}
for_elements!(loaded);

/// Loads every leaf; `read` gives the elements under a name as the element type, whatever their shape.
fn load(
    value: &mut impl Leaves,
    mut read: impl FnMut(&str, DType) -> Result<Loaded, Problem>,
) -> Result<(), Problem> {
    let mut loaded = Vec::new();
    for (leaf, view) in value.leaves() {
        let found = read(&leaf, view.dtype())?;
        if found.shape() != view.shape() {
            let (expected, found) = (view.shape().to_vec(), found.shape().to_vec());
            return Err(Problem::Shape { leaf, expected, found });
        }
        loaded.push(found);
    }
    for (found, (_, leaf)) in loaded.into_iter().zip(value.leaves_mut()) {
        found.store(leaf);
    }
    Ok(())
}
