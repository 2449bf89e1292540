//! Gradients by parameters, names, tuples; second derivatives; the branch not taken.

use tensorjit::tensor_fn;

tensor_fn! {
    pub fn cubic(x: f64) -> (f64, f64, f64) {
        let y = x * x * x;
        let slope = grad(y, x);
        (slope, grad(slope, x), hvp(y, x, 2))
    }

    pub fn by_names(x: f64) -> (f64, f64, f64) {
        let a = x * x;
        let b = x * x;
        let y = a * b * b;
        let (da, db) = grad(y, (a, b));
        (da, db, jvp(y, (a, b), (1, 1)))
    }

    pub fn safe<N>(x: f64[N]) -> f64[N] {
        let y = select(x > 0, sqrt(x), 0);
        grad(sum(y), x)
    }

    pub fn unread<N>(x: f64[N]) -> f64[N] { grad(sum(x), x) }
}

fn main() {
    assert_eq!(cubic(2.0).unwrap(), (12.0, 12.0, 24.0));
    assert_eq!(by_names(2.0).unwrap(), (16.0, 32.0, 48.0));
    assert_eq!(safe(&[-1.0, 0.0, 4.0]).unwrap().to_vec(), [0.0, 0.0, 0.25]);
    assert_eq!(unread(&[5.0, 6.0]).unwrap().to_vec(), [1.0, 1.0]);
}
