//! Structural operators: one file each with attributes, inference, evaluation, derivative and access map.

pub mod constant;
pub mod dim_value;
pub mod iota;

pub mod broadcast;
pub mod permute;
pub mod reshape;
pub mod slice;

pub mod pad;

pub mod concat;

pub mod reduce;

pub mod arg_reduce;

pub mod contract;

pub mod gather;

pub mod scatter_add;

pub mod derivative;
pub mod region;

pub mod site;

use crate::dim::Dim;

/// Where elements of a result come from: the first source whose guards all hold.
///
/// Movement operators (broadcast, permute, reshape, slice, pad, concat) are inlined as such maps and never
/// stand in memory of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Which operand.
    pub operand: usize,
    /// The index into it, one expression per axis, over loop variables and dimensions.
    pub index: Vec<Dim>,
    /// When it applies; always where empty.
    pub guards: Vec<Guard>,
}

/// A condition on an index expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// `0 <= value < extent`.
    Within {
        /// The value.
        value: Dim,
        /// The bound.
        extent: Dim,
    },
    /// `value % by == 0`, with a positive `by`.
    Divides {
        /// The value.
        value: Dim,
        /// The divisor.
        by: i64,
    },
}
