//! Random numbers have the moments of their distributions: within five standard deviations of what a million of
//! independent ones would have.

use tensorjit::tensor_fn;

/// How many numbers are drawn, as a power of ten each way.
const SIDE: usize = 1000;

tensor_fn! {
    /// Of uniform numbers: the mean, the variance, and the correlation of neighbours.
    pub fn uniform_moments(key: u32[2]) -> (f64, f64, f64) {
        let x = rand::uniform(key, [1000, 1000]) as f64 - 0.5;
        (mean(x), mean(x * x), mean(x[.., 1..] * x[.., ..-1]))
    }

    /// How many uniform numbers are in each of ten intervals.
    pub fn uniform_counts(key: u32[2]) -> i64[10] {
        let bins = (10.0 * rand::uniform(key, [1000000])) as i64;
        scatter_add(zeros([10], dtype = i64), bins, 1)
    }

    /// Of normal numbers: the first four moments, and the correlation with those of another key.
    pub fn normal_moments(key: u32[2]) -> (f64, f64, f64, f64, f64) {
        let keys = rand::split(key, 2);
        let x = rand::normal(keys[0], [1000, 1000]) as f64;
        let y = rand::normal(keys[1], [1000, 1000]) as f64;
        let square = x * x;
        (mean(x), mean(square), mean(square * x), mean(square * square), mean(x * y))
    }

    /// The share of what is true, and of what dropout keeps.
    pub fn shares(key: u32[2]) -> (f64, f64) {
        let drawn = rand::bernoulli(key, 0.3, [1000, 1000]);
        let kept = dropout(ones([1000, 1000], dtype = f32), 0.9, key);
        (mean(drawn as f64), mean((kept > 0) as f64))
    }
}

const COUNT: f64 = (SIDE * SIDE) as f64;

/// Whether a mean of as many numbers is what is expected, where one has the given variance.
fn near(found: f64, expected: f64, variance: f64) {
    let deviation = (variance / COUNT).sqrt();
    assert!((found - expected).abs() <= 5.0 * deviation, "{found} is not {expected} within {deviation}");
}

#[test]
fn uniform_numbers_are_even() {
    for key in [[0_u32, 0], [1, 2], [u32::MAX, 7]] {
        let (mean, variance, neighbours) = uniform_moments(&key).expect("nothing to check");
        near(mean, 0.0, 1.0 / 12.0);
        near(variance, 1.0 / 12.0, 1.0 / 80.0 - 1.0 / 144.0);
        near(neighbours, 0.0, 1.0 / 144.0);
        let counts = uniform_counts(&key).expect("nothing to check");
        let share = COUNT / 10.0;
        let square: f64 = counts.iter().map(|count| (*count as f64 - share).powi(2) / share).sum();
        // Chi-square of nine degrees: beyond 34 once in ten thousand.
        assert!(square < 34.0, "{counts:?}");
    }
}

#[test]
fn normal_numbers_have_the_moments_of_their_distribution() {
    for key in [[0_u32, 0], [1, 2], [u32::MAX, 7]] {
        let (first, second, third, fourth, product) = normal_moments(&key).expect("nothing to check");
        near(first, 0.0, 1.0);
        near(second, 1.0, 2.0);
        near(third, 0.0, 15.0);
        near(fourth, 3.0, 105.0 - 9.0);
        near(product, 0.0, 1.0);
    }
}

#[test]
fn shares_are_the_probabilities() {
    let (drawn, kept) = shares(&[3_u32, 4]).expect("nothing to check");
    near(drawn, 0.3, 0.3 * 0.7);
    near(kept, 0.1, 0.1 * 0.9);
}
