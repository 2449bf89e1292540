//! How a parameter or result is made of tensors: the names and the order of its leaves.

use std::rc::Rc;

use crate::dim::Dim;
use crate::graph::Type;

/// The most leaves that a type may have: each is an argument of its own.
pub(super) const MAX_LEAVES: usize = 4096;

/// The type of a value that is made of tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A tensor or scalar: a leaf.
    Tensor(Type),
    /// A struct.
    Struct(Rc<StructLayout>),
    /// An array of values of one type, at least one.
    Array(Rc<Layout>, usize),
}

/// A struct whose dimensions are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructLayout {
    /// Its name, that of its block before it where that is another one.
    pub name: String,
    /// The values of its dimensions.
    pub dims: Vec<Dim>,
    /// Names and types of its fields, in order.
    pub fields: Vec<(String, Layout)>,
}

impl Layout {
    /// How many leaves it has; no more than `usize` can count.
    pub fn count(&self) -> usize {
        match self {
            Layout::Tensor(_) => 1,
            Layout::Struct(layout) => {
                layout.fields.iter().fold(0, |sum, (_, field)| sum.saturating_add(field.count()))
            }
            Layout::Array(element, len) => element.count().saturating_mul(*len),
        }
    }

    /// Visits the leaves in order with their paths, as `params.layers[3].w` for a value called `params`.
    pub fn leaves(&self, path: &str, visit: &mut dyn FnMut(String, &Type)) {
        match self {
            Layout::Tensor(ty) => visit(path.to_owned(), ty),
            Layout::Struct(layout) => {
                layout.fields.iter().for_each(|(name, field)| field.leaves(&format!("{path}.{name}"), visit));
            }
            Layout::Array(element, len) => {
                (0..*len).for_each(|index| element.leaves(&format!("{path}[{index}]"), visit));
            }
        }
    }
}
