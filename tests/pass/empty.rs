//! A block with nothing to emit, and functions without parameters.

use tensorjit::tensor_fn;

tensor_fn! {}

tensor_fn! {
    fn helper(x: f32) -> f32 { x }
}

tensor_fn! {
    pub fn table() -> f64[2, 2] { [[1, 2], [3, 4.5]] }
}

fn main() {
    assert_eq!(table().unwrap().into_raw_vec_and_offset().0, [1.0, 2.0, 3.0, 4.5]);
}
