//! Cases that others made, written in the language by tables of translations and compiled in this process.
//!
//! The data stands in `tests/data`.  Each case is compiled twice, with the extents of its file as constants and
//! with a symbol for each of them, and both must give the values of the file, and the same bits.  What passes is
//! counted, and the counts are floors that only rise; `target/tmp/conformance` tells what does not pass, and why.
//! What cannot be said in the language stands in `inexpressible.rs`.
//! `CASE=name` runs the cases whose name contains it, and shows their text where they fail.

mod arrays;
mod case;
mod gradbench;
mod inexpressible;
mod jax;
mod math;
mod onnx;
mod report;
mod run;
mod text;
