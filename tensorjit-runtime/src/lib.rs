//! What a compiled tensor function needs at run time.
pub mod abi;
