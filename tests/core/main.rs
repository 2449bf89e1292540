//! The compiler in this process: checked text to machine code at every level, beside the oracle and beside
//! vectors that others made.  One binary, so that it links once.

mod bits;
mod cases;
mod gradients;
mod sizes;
mod support;
