//! Structural operators: one file each with attributes, inference, evaluation, derivative and access map.

pub mod fold;
pub mod site;
#[cfg(test)]
mod tests;

pub mod constant;
pub mod dim_value;
pub mod iota;
pub mod broadcast;
pub mod permute;
pub mod reshape;
pub mod slice;
pub mod pad;
pub mod window;
pub mod concat;
pub mod reduce;
pub mod arg_reduce;
pub mod contract;
pub mod cumulate;
pub mod sort;
pub mod matrix;
pub mod cholesky;
pub mod triangular_solve;
pub mod solve;
pub mod determinant;
pub mod lu;
pub mod indexing;
pub mod gather;
pub mod scatter;
pub mod derivative;
pub mod scan;
pub mod custom;

use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::{NodeId, Op};

use site::Site;

/// The operands, where there are as many as the operator `name` takes.
pub fn operands<'a, T, const N: usize>(name: &str, given: &'a [T]) -> Result<&'a [T; N], Bug> {
    given.try_into().map_err(|_| Bug::new("graph", format!("{name}: {} operands, not {N}", given.len())))
}

/// The tangent of a linear operator of one operand: the operator applied to the operand's tangent.
fn apply_linear(op: Op, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
    match site::only(tangents)? {
        Some(tangent) => Ok(Some(site.add(op, &[tangent])?)),
        None => Ok(None),
    }
}

/// The tangent of an operator that is linear in all operands together: zeros stand for those without one.
fn apply_jointly_linear(op: Op, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
    if tangents.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut filled = Vec::with_capacity(tangents.len());
    for (operand, tangent) in site.inputs.iter().zip(tangents) {
        filled.push(match tangent {
            Some(tangent) => *tangent,
            None => {
                let ty = site.ty(*operand);
                site.zeros(&ty)?
            }
        });
    }
    Ok(Some(site.add(op, &filled)?))
}

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

impl Source {
    /// A source without guards.
    pub fn always(operand: usize, index: Vec<Dim>) -> Source {
        Source { operand, index, guards: Vec::new() }
    }
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
