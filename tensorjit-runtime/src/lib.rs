//! What a compiled tensor function needs at run time: binding, checks, errors, workspace.
//!
//! The path of one call, in the order of the modules: the generated shell describes its arguments
//! ([`Arg`] makes a [`arg::ArgView`]), [`call::call`] solves the dimension symbols and checks every axis,
//! condition and index, reserves memory, and jumps into machine code.  Nothing native runs before all checks
//! have passed, and nothing can fail afterwards, so that an error leaves every buffer as it was.

pub mod abi;
pub mod half;
mod elements;
mod stack;
mod dims;
pub mod arg;
pub mod plan;
mod strided;
pub mod error;
mod fault;
mod pages;
mod workspace;
mod bind;
mod check;
mod memo;
#[cfg(feature = "threads")]
mod crew;
mod threads;
pub mod host;
mod level;
pub mod outputs;
#[doc(hidden)]
pub mod instances;
pub mod leaves;
#[cfg(any(feature = "safetensors", feature = "npz"))]
pub mod files;
pub mod call;

pub use arg::{Arg, ArgMut, Element};
pub use error::{Error, ErrorKind, Result};
pub use leaves::{Leaf, LeafMut, Leaves};
pub use level::available;
pub use ndarray;
pub use threads::with_threads;
pub use workspace::{Workspace, release_workspaces};
