//! The first function of the design: three results, one artefact for every batch size.

use tensorjit::tensor_fn;

tensor_fn! {
    /// Mean squared error of a linear model and its gradients.
    pub fn linear_step<B: 1..=64>(
        x: f32[B, 3], y: f32[B, 2], w: f32[3, 2], bias: f32[2], scale: f32,
    ) -> (f32, f32[3, 2], f32[2]) {
        let error = x @ w + bias - y;
        let loss = sum(error * error) * scale;
        (loss, grad(loss, w), grad(loss, bias))
    }
}

fn main() {
    for batch in [1, 2, 64] {
        let (x, y) = (vec![[1.0; 3]; batch], vec![[1.0, -2.0]; batch]);
        let x = tensorjit::ndarray::Array2::from(x);
        let y = tensorjit::ndarray::Array2::from(y);
        let (loss, dw, dbias) = linear_step(&x, &y, &[[0.0; 2]; 3], &[0.0; 2], 0.5).unwrap();
        let b = batch as f32;
        assert_eq!(loss, 2.5 * b);
        assert_eq!(dw.row(2).to_vec(), [-b, 2.0 * b]);
        assert_eq!(dbias.to_vec(), [-b, 2.0 * b]);
    }
}
