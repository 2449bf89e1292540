//! The front of the front end: tokens to syntax tree.

pub mod ast;
