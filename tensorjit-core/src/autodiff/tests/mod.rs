//! Derivatives on the oracle: against central differences, and the promises one by one.

mod build;
mod differences;
mod promises;
mod strong_zero;
