//! The pure instructions that a builder has made, by what they compute.

use rustc_hash::FxHashMap;
use tensorjit_runtime::abi::DType;

use super::{Buf, Ty};
use crate::lanes::{ENTRIES, Prim, Val};

/// What a pure instruction computes; equal keys in one scope are one value.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Float(DType, u64),
    Int(DType, i64),
    Symbol(u32),
    Lanes(Ty),
    Splat(Val, u32),
    /// Where there are fewer operands, the first stands for the others.
    Prim(Prim, [Val; 3]),
    Half(Val, bool),
    Shuffle(Val, Val, Vec<u32>),
    Entry(Box<[u64; ENTRIES]>, Val),
    Extract(Val, u32),
    Any(Val),
    Address(Buf),
    /// Loads are pure until the next store to the buffer, which the last number counts.
    Load(Ty, Buf, Val, Option<Val>, u32),
    Gather(Ty, Buf, Val, Option<Val>, u32),
}

/// What is known of a value: the scope that it stands in, by its number.
type Made = (Val, u32);

/// Values by key.  Of equal keys the latest counts: the scopes of the others are closed.
#[derive(Debug, Default)]
pub(super) struct Interned {
    // Nobody iterates it, so that nothing depends on the hash.
    values: FxHashMap<Key, Made>,
}

impl Key {
    /// Whether it depends on nothing that was made before.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self, Key::Float(..) | Key::Int(..) | Key::Symbol(_) | Key::Lanes(_))
    }
}

impl Interned {
    /// The value of a key, and the number of its scope.
    pub(super) fn get(&self, key: &Key) -> Option<Made> {
        self.values.get(key).copied()
    }

    pub(super) fn insert(&mut self, key: Key, made: Made) {
        self.values.insert(key, made);
    }
}
