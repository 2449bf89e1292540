//! Simplification: named rewrite rules on the typed graph, each with its equation.
//!
//! A rule keeps every bit of the value (the payload of a NaN aside), and none is licensed by what an extent
//! happens to be.  The graph is rebuilt bottom up through [`rewriter::Rewriter::make`], so that a rule sees
//! operands that are simple already; one pass reaches the normal form, in time linear in the graph.
//! Solutions of equations are factored first ([`factor`]).
//! Two forms come next, which alone fix how a value rounds: products of windows (`windows`), and contraction to fused
//! multiply-adds (`fma`).

mod arithmetic;
mod bundle;
mod constants;
mod factor;
mod contraction;
mod fma;
mod identities;
mod layout;
mod logic;
mod movement;
mod range;
mod reductions;
mod rewriter;
mod scans;
mod windows;
#[cfg(test)]
mod tests;

use crate::diag::Bug;
use crate::graph::{Graph, NodeId, Op};
use rewriter::Rewriter;

/// A rewrite rule.
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// What it makes of what.
    pub equation: &'static str,
    /// The node that replaces the operator applied to the operands, where the rule fits.
    apply: Apply,
}

/// What a rule makes of an operator and its operands.
type Apply = fn(&mut Rewriter, &Op, &[NodeId]) -> Result<Option<NodeId>, Bug>;

/// All rules by family, in the order in which they are tried.
pub const FAMILIES: [&[Rule]; 8] = [
    identities::RULES,
    constants::RULES,
    arithmetic::RULES,
    logic::RULES,
    movement::RULES,
    reductions::RULES,
    contraction::RULES,
    layout::RULES,
];

/// The simplest equal graph, without nodes that no output needs.
pub fn run(graph: Graph) -> Result<Graph, Bug> {
    let factored = factor::factor(rewriter::sweep(&graph)?)?;
    let fused = fma::form(&windows::form(scans::simplify(factored)?)?)?;
    rewriter::sweep(&rewriter::rewrite(&fused)?)
}
