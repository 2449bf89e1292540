//! Random graphs: the stages of the compiler against the oracle, values and gradients.

mod agreement;
mod build;
mod compiled;
mod drive;
mod recipe;
mod stages;
