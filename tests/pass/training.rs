//! A classifier with integer labels, through layers of the prelude, with its gradients.

use tensorjit::tensor_fn;

tensor_fn! {
    pub fn step<B: 1..>(x: f64[B, 4], labels: i32[B], w: &mut f64[4, 3], b: &mut f64[3]) -> f64 {
        let logits = layer_norm(x) @ w + b;
        let loss = cross_entropy(logits, labels);
        let (dw, db) = grad(loss, (w, b));
        w = w - 0.5 * dw;
        b = b - 0.5 * db;
        loss
    }
}

fn main() {
    let x = [[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.5, 0.0], [0.0, 0.0, 1.0, 0.5]];
    let labels = [0, 1, 2];
    let (mut w, mut b) = ([[0.0; 3]; 4], [0.0; 3]);
    let first = step(&x, &labels, &mut w, &mut b).unwrap();
    assert!((first - 3f64.ln()).abs() < 1e-12);
    let mut last = first;
    for _ in 0..200 {
        last = step(&x, &labels, &mut w, &mut b).unwrap();
    }
    assert!(last < 0.05, "{last}");
    let error = step(&x, &[0, 3, 1], &mut w, &mut b).unwrap_err().to_string();
    assert!(error.contains("labels") && error.contains('3'), "{error}");
}
