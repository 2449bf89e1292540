//! `./x bench`: tensorjit beside its peers, on the same inputs, in turn, in one run.
//!
//! The first process starts one worker for each number of threads, as libraries read theirs only once.  A worker
//! measures every workload ([`measure`]), and the first process puts together what they found, holds it against
//! the gates ([`gates`]), and writes the report.

pub mod allocations;
pub mod arena;
#[cfg(feature = "burn")]
pub mod burn;
pub mod call;
#[cfg(feature = "candle")]
pub mod candle;
pub mod charts;
pub mod clock;
pub mod expansion;
pub mod first;
pub mod gates;
pub mod machine;
pub mod measure;
pub mod options;
pub mod overhead;
pub mod python;
pub mod readme;
pub mod report;
pub mod symbolic;
pub mod table;
pub mod tensor;
pub mod threads;
pub mod values;
pub mod workload;
pub mod workloads;

/// What goes wrong in the bench is text for people.
pub type Error = Box<dyn std::error::Error>;
/// With such an error.
pub type Result<T, E = Error> = std::result::Result<T, E>;
