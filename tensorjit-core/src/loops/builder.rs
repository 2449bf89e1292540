//! Makes kernels: interns pure instructions and places each in the outermost loop where its operands exist.

/// The builder.
#[derive(Debug)]
pub struct Builder {}
