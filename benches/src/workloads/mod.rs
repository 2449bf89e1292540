//! The workloads, a family a file: ours as a user would write it, and the peers of this process likewise.
//!
//! Each file stamps its functions for both precisions; the double one is the workload of its own or the oracle.

pub mod attention;
pub mod block;
pub mod convolution;
pub mod encoder;
pub mod finance;
pub mod layers;
pub mod linear;
pub mod network;
pub mod places;
pub mod products;
pub mod rows;
pub mod scan;
