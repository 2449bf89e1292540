//! Versions for chosen sizes: the same results, one function.

use tensorjit::ndarray::Array2;
use tensorjit::tensor_fn;

tensor_fn! {
    /// One row and whole tiles have code of their own.
    #[specialize(B = 1, B % 14 == 0 && N >= 16)]
    pub fn special<B, N>(x: f32[B, N], w: f32[N, 3]) -> f32[B, 3] {
        relu(x @ w - 1)
    }

    pub fn general<B, N>(x: f32[B, N], w: f32[N, 3]) -> f32[B, 3] {
        relu(x @ w - 1)
    }
}

fn main() {
    for (rows, columns) in [(1, 1), (1, 40), (14, 3), (28, 16), (5, 70), (0, 4)] {
        let x = Array2::from_shape_fn((rows, columns), |(i, j)| (i * 7 + j) as f32 * 0.25 - 1.0);
        let w = Array2::from_shape_fn((columns, 3), |(i, j)| 1.0 / (1 + i + j) as f32);
        assert_eq!(special(&x, &w).unwrap(), general(&x, &w).unwrap());
    }
}
