//! Instances of generic functions that most crates with tensor functions want.
//!
//! Where code is not optimised rustc takes the instances that a dependency has, so that these are compiled once, and
//! not in every crate and at every change to it.

use ndarray::{Array, Dimension, Ix1, Ix2, Ix3, Ix4, ShapeBuilder};

use crate::arg::Element;
use crate::leaves::Leaves;
use crate::outputs::Output;

/// What takes results of the usual types and ranks: whose address is asked for is compiled here.
#[doc(hidden)]
pub fn results() -> [usize; 12] {
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
        take::<i64, Ix1>(),
        take::<i64, Ix2>(),
        take::<bool, Ix1>(),
        take::<bool, Ix2>(),
    ]
}

/// What structs do with leaves of the usual types and ranks, likewise.
#[doc(hidden)]
pub fn leaves() -> [[usize; 3]; 4] {
    fn leaf<T: Element + Default, const N: usize>() -> [usize; 3]
    where
        [usize; N]: ShapeBuilder,
        Array<T, <[usize; N] as ShapeBuilder>::Dim>: Leaves,
    {
        type Leaf<T, const N: usize> = Array<T, <[usize; N] as ShapeBuilder>::Dim>;
        let make = |extents: [usize; N]| drop(Leaf::<T, N>::from_elem(extents, T::default()));
        let walk = |leaf: &mut Leaf<T, N>| {
            leaf.leaves();
            leaf.leaves_mut();
        };
        let take = |outputs: &mut dyn Iterator<Item = Output>| drop(Leaf::<T, N>::take(outputs));
        [
            make as fn([usize; N]) as usize,
            walk as fn(&mut Leaf<T, N>) as usize,
            take as fn(&mut dyn Iterator<Item = Output>) as usize,
        ]
    }
    [leaf::<f32, 1>(), leaf::<f32, 2>(), leaf::<f64, 1>(), leaf::<f64, 2>()]
}
