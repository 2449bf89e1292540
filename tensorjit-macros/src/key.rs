//! The name of a compiled function: a hash of all that its machine code depends on.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Hashes parts, in order, each with its length, so that no two lists of parts are one text.
///
/// Equal names are taken for equal code by cache and linker: hence a cryptographic hash, of which 128 bits stay.
pub(crate) fn key(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut name = String::with_capacity(32);
    for byte in &hash.finalize()[..16] {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn every_part_counts() {
        let keys = [key(&[]), key(&[""]), key(&["ab"]), key(&["a", "b"]), key(&["b", "a"]), key(&["ab", ""])];
        for (position, one) in keys.iter().enumerate() {
            assert_eq!(one.len(), 32);
            assert!(!keys[..position].contains(one), "{position}");
        }
        // Names must not depend on the machine or the process.
        assert_eq!(key(&["abc"]), key(&["abc"]));
    }
}
