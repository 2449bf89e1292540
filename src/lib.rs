//! Tensor functions compiled to native, differentiable kernels while `cargo build` runs.
pub use tensorjit_runtime::*;
