//! Derivatives: replaces every [`Derivative`](crate::graph::ops::derivative::Derivative) node by what computes it.
//!
//! One scheme gives all of them.  [`linearize`] walks from the variables to the result and builds, beside the
//! graph, the linear map from tangents to the result's tangent; every operator has one rule for it.  A forward
//! derivative applies that map to a vector.  A reverse derivative transposes it, walking back over its
//! nodes ([`transpose`]); every linear operator has one rule for that.  Results are ordinary nodes, so that
//! derivatives nest to any order.
//!
//! Maps over an axis become computations on whole tensors, when the derivatives within them have been taken ([`batch`]).
//!
//! A function may bring a rule of its own, which takes the place of what follows from its operators ([`custom`]).
//!
//! Elementwise code that depends on one value in several ways has one factor for its tangent ([`factors`]).
//!
//! No tangent means zero, and no zero is ever computed with.  Sums of cotangents follow the order of the forward
//! code.  Where a tangent has passed a mask, products with it are strong ([`flow`]).

mod batch;
mod custom;
mod elementwise;
mod expand;
mod factors;
mod flow;
mod linearize;
mod rules;
mod scan;
mod tape;
#[cfg(test)]
mod tests;
mod transpose;

use crate::diag::Failure;
use crate::graph::Graph;

/// Replaces all derivatives of the graph, those within sub-graphs too, and drops what no output needs.
pub fn run(graph: Graph) -> Result<Graph, Failure> {
    custom::erase(expand::expand(&graph)?)
}
