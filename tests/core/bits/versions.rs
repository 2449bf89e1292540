//! Versions for chosen sizes have the bits of the function without them.

use super::extents::FUNCTIONS;
use super::{Compiled, assert_equal};

const VERSIONS: &str = "#[specialize(M = 1, M % 14 == 0 && N == 32, N % 16 == 0, K = 5 && M >= 3, N < M)]";

/// Sizes for each of the versions in turn, for sizes next to them, and for none.
const SIZES: [(i64, i64, i64); 9] = [
    (1, 7, 5),
    (14, 32, 64),
    (28, 32, 3),
    (5, 48, 2),
    (3, 33, 5),
    (2, 33, 5),
    (40, 9, 4),
    (3, 17, 6),
    (0, 0, 0),
];

#[test]
fn special_or_general() {
    for text in FUNCTIONS {
        let general = Compiled::new(text);
        let special = Compiled::new(&format!("{VERSIONS} {text}"));
        assert_eq!(special.function.versions.len(), 5);
        for (m, n, k) in SIZES {
            let dims = general.dims(&[("M", m), ("N", n), ("K", k)]);
            let inputs = general.inputs(&dims);
            for level in general.levels() {
                let what = format!("{}, M = {m}, N = {n}, K = {k}, {level:?}", general.function.name);
                let expected = general.run(level, &dims, &inputs);
                assert_equal(&what, &special.run(level, &dims, &inputs), &expected);
            }
        }
    }
}
