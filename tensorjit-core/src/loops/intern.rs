//! The pure instructions that a builder has made, by what they compute.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

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
    values: HashMap<Key, Made, BuildHasherDefault<Mix>>,
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

/// A hash of a few small numbers.  Most builds run the compiler unoptimised, in which the standard hash takes long.
#[derive(Default)]
struct Mix(u64);

impl Mix {
    fn mix(&mut self, number: u64) {
        // The fraction of the golden ratio: odd, with its bits spread.
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.mix(u64::from(*byte)));
    }

    fn write_u8(&mut self, number: u8) {
        self.mix(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.mix(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.mix(number);
    }

    fn write_i64(&mut self, number: i64) {
        self.mix(number as u64);
    }

    fn write_usize(&mut self, number: usize) {
        self.mix(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.mix(number as u64);
    }
}
