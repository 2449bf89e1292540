//! Which instruction-set level the machine has.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::abi::{Function, Level, LevelEntry};

/// The detected level, one more than its number; zero while nothing has asked.
static DETECTED: AtomicU8 = AtomicU8::new(0);

/// Below every level.
const NONE: u8 = 1;

/// Whether code for `level` may run here.
///
/// The environment variable `TENSORJIT_LEVEL` (`v2`, `v3` or `v4`), read once, hides the levels above it, so
/// that tests reach all of them on one machine.
#[inline]
pub fn available(level: Level) -> bool {
    match level {
        Level::Native => true,
        Level::Neon => cfg!(target_arch = "aarch64"),
        Level::X86V2 | Level::X86V3 | Level::X86V4 => number(level) <= detected(),
    }
}

/// The first entry, which is the highest, that may run here.
pub(crate) fn pick(function: &Function) -> Option<&'static LevelEntry> {
    function.entries.iter().find(|entry| available(entry.level))
}

#[inline]
fn number(level: Level) -> u8 {
    level as u8 + 1 + NONE
}

#[inline]
fn detected() -> u8 {
    match DETECTED.load(Ordering::Relaxed) {
        0 => first_use(),
        found => found,
    }
}

#[cold]
fn first_use() -> u8 {
    let found = detect().map_or(NONE, number).min(cap());
    DETECTED.store(found, Ordering::Relaxed);
    found
}

/// What the environment allows.
fn cap() -> u8 {
    match std::env::var("TENSORJIT_LEVEL").as_deref() {
        Ok("v2") => number(Level::X86V2),
        Ok("v3") => number(Level::X86V3),
        _ => u8::MAX,
    }
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Option<Level> {
    macro_rules! has {
        ($($feature:tt)*) => { $(is_x86_feature_detected!($feature) &&)* true };
    }
    if !has!("cmpxchg16b" "popcnt" "sse3" "ssse3" "sse4.1" "sse4.2") {
        None
    } else if !has!("avx" "avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe") {
        Some(Level::X86V2)
    } else if !has!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl") {
        Some(Level::X86V3)
    } else {
        Some(Level::X86V4)
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Option<Level> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_rise_and_native_is_always_there() {
        assert!(available(Level::Native));
        let levels = [Level::X86V2, Level::X86V3, Level::X86V4].map(available);
        assert!(levels.is_sorted_by(|lower, higher| lower >= higher), "{levels:?}");
        assert_eq!(available(Level::Neon), cfg!(target_arch = "aarch64"));
    }
}
