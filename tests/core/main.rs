//! The compiler in this process: checked text to machine code at every level, beside the oracle and beside
//! vectors that others made.  One binary, so that it links once.

mod support;
