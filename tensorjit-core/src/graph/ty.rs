//! Types of nodes.

use tensorjit_runtime::abi::DType;

use crate::dim::Dim;
use crate::dim::facts::Facts;

/// The extents of a tensor, outermost axis first.
pub type Shape = Vec<Dim>;

/// An element type and a shape; a scalar has no axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    /// The type of the elements.
    pub dtype: DType,
    /// The extents.
    pub shape: Shape,
}

impl Type {
    /// A tensor type.
    pub fn new(dtype: DType, shape: impl Into<Shape>) -> Type {
        Type { dtype, shape: shape.into() }
    }

    /// A type without axes.
    pub fn scalar(dtype: DType) -> Type {
        Type { dtype, shape: Vec::new() }
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The same shape with another element type.
    pub fn with_dtype(&self, dtype: DType) -> Type {
        Type { dtype, shape: self.shape.clone() }
    }

    /// The same element type with another shape.
    pub fn with_shape(&self, shape: impl Into<Shape>) -> Type {
        Type { dtype: self.dtype, shape: shape.into() }
    }

    /// Whether the facts make both the same type.
    pub fn fits(&self, facts: &Facts, other: &Type) -> bool {
        self.dtype == other.dtype
            && self.rank() == other.rank()
            && self.shape.iter().zip(&other.shape).all(|(a, b)| facts.same(a, b))
    }
}
