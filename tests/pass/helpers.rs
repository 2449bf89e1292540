//! Helpers, constants and shadowing of the prelude.

use tensorjit::tensor_fn;

tensor_fn! {
    /// Rust sees it too.
    pub const WIDTH: usize = 2 * 2;
    const HALF: f64 = 1.0 / 2.0;

    // Shadows the prelude's, in this block alone.
    fn relu<T: float, ..S>(x: T[..S], floor: T = 0) -> T[..S] { maximum(x, floor) }

    fn energy<N>(x: f64[N]) -> f64 { HALF * sum(x * x) }

    pub fn clipped(x: f64[WIDTH]) -> (f64[WIDTH], f64) {
        let y = relu(x, floor = -1);
        (y, energy(y))
    }
}

fn main() {
    let (y, energy) = clipped(&[-3.0, -0.5, 0.0, 2.0]).unwrap();
    assert_eq!(y.to_vec(), [-1.0, -0.5, 0.0, 2.0]);
    assert_eq!(energy, 0.5 * (1.0 + 0.25 + 4.0));
    assert_eq!(WIDTH, 4);
}
