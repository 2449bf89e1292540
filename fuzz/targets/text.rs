//! Texts go through the whole compiler up to the loops: what is wrong with one is an error of its author, never a
//! bug, a panic or a hang.  Most mutations exchange words, so that many texts get past the parser.
#![no_main]

use std::str;
use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use tensorjit_core::testing::texts::{Random, compile, damage, examples, words};

/// The words that are put in.
static POOL: LazyLock<Vec<String>> = LazyLock::new(|| {
    let programs = examples(include_str!("../../docs/language.md"));
    programs.iter().flat_map(|program| words(program)).collect()
});

fuzz_target!(|text: &str| {
    compile(text);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let found = str::from_utf8(&data[..size]).map(words).unwrap_or_default();
    if seed.is_multiple_of(8) || found.is_empty() {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut changed = found;
    damage(&mut changed, &POOL, &mut Random::new(u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let text = changed.join(" ");
    let end = text.floor_char_boundary(max_size);
    data[..end].copy_from_slice(&text.as_bytes()[..end]);
    end
});
