//! Arithmetic on dimensions, `where` clauses, slices, and symbols that no argument determines.

use tensorjit::tensor_fn;

tensor_fn! {
    pub fn pairs<T: 1..>(x: f32[T, 2]) -> (f32[T], f32[ceil_div(T, 2)]) where T % 2 == 0 {
        let half = T / 2;
        let rows = reshape(x, [half, 4]);
        (x[.., 1] / (T as f32), rows[.., 0])
    }

    pub fn differences<T>(x: f64[T]) -> f64[T - 1] where T >= 1 {
        x[1..] - x[..-1]
    }

    pub fn ramp<N>(start: f64) -> f64[N] {
        start + arange(N)
    }
}

fn main() {
    let (last, first) = pairs(&[[1.0, 2.0], [3.0, 4.0]]).unwrap();
    assert_eq!(last.to_vec(), [1.0, 2.0]);
    assert_eq!(first.to_vec(), [1.0]);
    assert!(pairs(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).is_err());
    assert_eq!(differences(&[1.0, 4.0, 9.0]).unwrap().to_vec(), [3.0, 5.0]);
    assert_eq!(ramp::with_dims(ramp::Dims { N: 3 }, 0.5).unwrap().to_vec(), [0.5, 1.5, 2.5]);
}
