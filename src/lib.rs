//! Tensor functions compiled to native, differentiable kernels while `cargo build` runs.
//!
//! [`tensor_fn!`] is the whole interface: it turns functions over tensors into Rust functions over
//! [`ndarray`] arrays.

#[doc(inline)]
pub use tensorjit_runtime::abi::{CodeSize, KernelInfo};
/// The arrays of arguments and results.
pub use tensorjit_runtime::ndarray;
#[doc(inline)]
pub use tensorjit_runtime::{
    Arg, ArgMut, Element, Error, ErrorKind, Leaf, LeafMut, Leaves, Result, Workspace, release_workspaces,
    with_threads,
};

/// The types of `f16` and `bf16` outside of tensor functions.
#[cfg(feature = "half")]
pub use tensorjit_runtime::half;

/// What saving and loading structs of tensors can fail with.
#[cfg(any(feature = "safetensors", feature = "npz"))]
pub use tensorjit_runtime::files::{FileError, Problem};

#[doc(hidden)]
pub use tensorjit_macros::{__expand, __link};

/// What the expansion of [`tensor_fn!`] names; no part of the interface.
#[doc(hidden)]
pub mod __private {
    #[cfg(any(feature = "safetensors", feature = "npz"))]
    pub use tensorjit_runtime::files;
    pub use tensorjit_runtime::{abi, arg, call, half, leaves, outputs, plan};
}

/// Its items where the feature `safetensors` is on, and nothing otherwise: expansions do not see features.
#[cfg(feature = "safetensors")]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_safetensors {
    ($($items:tt)*) => { $($items)* };
}

/// Its items where the feature `safetensors` is on, and nothing otherwise: expansions do not see features.
#[cfg(not(feature = "safetensors"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_safetensors {
    ($($items:tt)*) => {};
}

/// Nothing where the feature `half` is on, and an error otherwise: expansions do not see features.
#[cfg(feature = "half")]
#[doc(hidden)]
#[macro_export]
macro_rules! __needs_half {
    () => {};
}

/// Nothing where the feature `half` is on, and an error otherwise: expansions do not see features.
#[cfg(not(feature = "half"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __needs_half {
    () => {
        ::core::compile_error! {
            "`f16` and `bf16` are types of the crate `half`: build tensorjit with its feature `half`"
        }
    };
}

/// Its items where the feature `npz` is on, and nothing otherwise: expansions do not see features.
#[cfg(feature = "npz")]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_npz {
    ($($items:tt)*) => { $($items)* };
}

/// Its items where the feature `npz` is on, and nothing otherwise: expansions do not see features.
#[cfg(not(feature = "npz"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_npz {
    ($($items:tt)*) => {};
}

// The examples of the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

include!(concat!(env!("OUT_DIR"), "/tensor_fn.rs"));
