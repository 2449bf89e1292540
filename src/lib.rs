//! Tensor functions compiled to native, differentiable kernels while `cargo build` runs.
//!
//! [`tensor_fn!`] is the whole interface: it turns functions over tensors into Rust functions over
//! [`ndarray`] arrays.

#[doc(inline)]
pub use tensorjit_runtime::*;

#[doc(hidden)]
pub use tensorjit_macros::__expand;

include!(concat!(env!("OUT_DIR"), "/tensor_fn.rs"));
