//! Random graphs as plain data, so that a failure shrinks to the steps that matter.

use proptest::prelude::*;
use proptest::sample::select;
use tensorjit_core::graph::table::Ew;
use tensorjit_runtime::abi::DType;

/// A program: steps that extend a pool of tensors, each taking operands from the pool.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    /// The type of all floats.
    pub(crate) dtype: DType,
    /// The values of the symbols N and M.
    pub(crate) dims: [i64; 2],
    /// Where the numbers of the inputs come from.
    pub(crate) seed: u64,
    /// In order.
    pub(crate) steps: Vec<Step>,
}

/// One extension of the pool.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// What is applied.
    pub(crate) kind: Kind,
    /// Which tensors it is applied to; as many as it needs.
    pub(crate) operands: [u16; 3],
    /// Decides all that is left open: axes, variants, conversions.
    pub(crate) choice: u16,
}

/// What a step applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A row of the table.
    Row(Ew),
    /// A reduction along one axis.
    Reduce,
    /// A contraction of two tensors.
    Contract,
    /// Movement of elements that ends in the shape it started from.
    Move,
    /// A gather or scatter along the constant axis.
    Index,
    /// The place of an extreme along the constant axis.
    ArgReduce,
    /// A running fold along the constant axis.
    Running,
    /// Steps of a sub-graph.
    Scan,
    /// A named variable, or the end of derivatives.
    Mark,
}

/// All recipes.
pub(crate) fn recipes() -> impl Strategy<Value = Recipe> {
    let kind = prop_oneof![
        14 => select(Ew::ALL).prop_map(Kind::Row),
        2 => Just(Kind::Reduce),
        2 => Just(Kind::Contract),
        3 => Just(Kind::Move),
        1 => Just(Kind::Index),
        1 => Just(Kind::ArgReduce),
        1 => Just(Kind::Running),
        1 => Just(Kind::Scan),
        1 => Just(Kind::Mark),
    ];
    let step = (kind, any::<[u16; 3]>(), any::<u16>());
    let step = step.prop_map(|(kind, operands, choice)| Step { kind, operands, choice });
    let dtype = prop_oneof![Just(DType::F32), Just(DType::F64)];
    // Around the numbers of lanes, so that vectors have tails.
    let extent = || prop_oneof![3 => 0i64..=5, 1 => select(&[7i64, 8, 9, 15, 16, 17, 33][..])];
    (dtype, [extent(), extent()], any::<u64>(), prop::collection::vec(step, 8..=16))
        .prop_map(|(dtype, dims, seed, steps)| Recipe { dtype, dims, seed, steps })
}
