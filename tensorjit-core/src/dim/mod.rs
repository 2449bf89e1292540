//! Dimension expressions in normal form: integer polynomials over symbols and opaque atoms.
//!
//! Two expressions that are equal as polynomials are equal as values of [`Dim`].  What follows from `where`
//! clauses and bounds is decided by [`facts`]; the program that evaluates one at call time is made by [`program`].

mod algebra;
pub mod facts;
mod interval;
mod poly;
pub mod program;
mod prove;
mod samples;
mod solver;

pub use poly::{Atom, Dim, Monomial, Sym};
