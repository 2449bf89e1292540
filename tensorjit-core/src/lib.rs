//! The compiler of tensorjit: from text to object code, with no entry of its own.
//!
//! Modules stand in the order of the data flow; each uses only modules above it.

pub mod diag;
pub mod dim;
pub mod lanes;
pub mod math;
#[cfg(feature = "syntax")]
pub mod syntax;
pub mod graph;
#[cfg(feature = "syntax")]
pub mod check;
pub mod interp;
pub mod autodiff;
pub mod simplify;
pub mod sizes;
pub mod loops;
pub mod schedule;
#[cfg(feature = "llvm")]
pub mod codegen;
pub mod pipeline;
#[cfg(feature = "syntax")]
pub mod docs;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

/// A hash of the compiler's own sources.
pub const FINGERPRINT: &str = env!("TENSORJIT_FINGERPRINT");
