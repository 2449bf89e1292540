//! A program whose only work is one call: how long a fresh process takes to its first result.

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

fn main() -> tensorjit::Result<()> {
    let (x, y) = ([[1.0, 2.0, 3.0]; 8], [[0.5, 1.0]; 8]);
    let (loss, dw, dbias) = linear_step(&x, &y, &[[0.1; 2]; 3], &[0.0; 2], 1.0 / 16.0)?;
    println!("{loss} {dw} {dbias}");
    Ok(())
}
