//! Instances of generic functions that most crates with tensor functions want.
//!
//! Where code is not optimised rustc takes the instances that a dependency has, so that these are compiled once, and
//! not in every crate and at every change to it.

use ndarray::{Dimension, Ix1, Ix2, Ix3, Ix4};

use crate::arg::Element;
use crate::outputs::Output;

/// Names the functions that take results, of the usual types and ranks.
#[doc(hidden)]
pub fn results() -> [usize; 8] {
    fn take<T: Element, D: Dimension>() -> usize {
        let take = |output: Output| drop(output.array::<T, D>());
        take as fn(Output) as usize
    }
    [
        take::<f32, Ix1>(),
        take::<f32, Ix2>(),
        take::<f32, Ix3>(),
        take::<f32, Ix4>(),
        take::<f64, Ix1>(),
        take::<f64, Ix2>(),
        take::<f64, Ix3>(),
        take::<f64, Ix4>(),
    ]
}
