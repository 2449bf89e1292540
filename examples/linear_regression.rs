//! A linear model: gradients from one compiled function for every batch size, the update on the host.

mod common;

use common::{Outcome, Uniform, data, plot, progress, short, table};
use tensorjit::ndarray::{Array0, Array1, Array2, s};
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

    /// Mean squared error of a linear model with an intercept, and its gradients.
    pub fn least_squares<N: 1.., D: 1..>(
        x: f64[N, D], y: f64[N], w: f64[D], intercept: f64,
    ) -> (f64, f64[D], f64) {
        let loss = mse(x @ w + intercept, y);
        (loss, grad(loss, w), grad(loss, intercept))
    }
}

const STEPS: usize = 100;
const RATE: f32 = 0.15;

fn main() -> Outcome<()> {
    known_weights()?;
    diabetes()
}

/// Finds weights that the data was made with, in batches of 8, 16 and 32 in turn.
fn known_weights() -> Outcome<()> {
    let true_w = Array2::from_shape_vec((3, 2), vec![1.5, -0.5, 0.25, 2.0, -1.0, 0.75])?;
    let true_bias = Array1::from(vec![0.1, -0.3]);
    let mut random = Uniform::new(7);
    let (mut w, mut bias) = (Array2::<f32>::zeros((3, 2)), Array1::<f32>::zeros(2));
    let mut losses = Vec::new();
    let bar = progress("linear regression", STEPS as u64)?;
    for step in 0..STEPS {
        let batch = [8, 16, 32][step % 3];
        let x = Array2::from_shape_simple_fn((batch, 3), || 1.7 * random.next() as f32);
        let y = x.dot(&true_w) + &true_bias;
        let (loss, dw, dbias) = linear_step(&x, &y, &w, &bias, 1.0 / (2.0 * batch as f32))?;
        w.scaled_add(-RATE, &dw);
        bias.scaled_add(-RATE, &dbias);
        losses.push(f64::from(loss));
        bar.inc(1);
        bar.set_message(format!("loss {loss:.2e}"));
    }
    bar.finish();
    let largest = |a: &mut dyn Iterator<Item = f32>| a.fold(0.0f32, |most, x| most.max(x.abs()));
    let w_error = largest(&mut (&w - &true_w).into_iter());
    let bias_error = largest(&mut (&bias - &true_bias).into_iter());
    let curve =
        plot("linear_regression", "Linear regression", &[("batches of 8, 16, 32".into(), losses.clone())])?;
    table(
        "Linear regression with known weights",
        &[
            ("first loss", format!("{:.3e}", losses[0])),
            ("last loss", format!("{:.3e}", losses[STEPS - 1])),
            ("largest error of weights", format!("{w_error:.1e}")),
            ("largest error of bias", format!("{bias_error:.1e}")),
            ("compiled artefacts", format!("{}", artefacts("linear_step")?)),
            ("calls", format!("{STEPS}")),
            ("kernels", format!("{}", linear_step::KERNELS.nests)),
            ("curve", curve.display().to_string()),
        ],
    );
    if w_error < 1e-3 && bias_error < 1e-3 { Ok(()) } else { Err("the weights were not found".into()) }
}

/// Gradient descent with momentum to the least-squares solution of the diabetes data.
fn diabetes() -> Outcome<()> {
    let mut file = data("diabetes.npz")?;
    let (x, y): (Array2<f64>, Array1<f64>) = (file.by_name("X")?, file.by_name("y")?);
    let best: Array1<f64> = file.by_name("coef")?;
    let best_intercept: Array0<f64> = file.by_name("intercept")?;
    let best_intercept = best_intercept.into_scalar();
    // The columns have unit norm: scaled by sqrt(N) they have unit variance, and the descent is well conditioned.
    let scale = (x.nrows() as f64).sqrt();
    let x = x * scale;
    let steps = if short() { 2_000 } else { 20_000 };
    let (mut w, mut intercept) = (Array1::<f64>::zeros(x.ncols()), 0.0);
    let (mut w_speed, mut intercept_speed) = (Array1::<f64>::zeros(x.ncols()), 0.0);
    let mut losses = Vec::new();
    let bar = progress("diabetes", steps)?;
    for _ in 0..steps {
        let (loss, dw, dintercept) = least_squares(&x, &y, &w, intercept)?;
        w_speed = w_speed * 0.95 - dw * 0.05;
        intercept_speed = intercept_speed * 0.95 - dintercept * 0.05;
        w += &w_speed;
        intercept += intercept_speed;
        losses.push(loss);
        bar.inc(1);
    }
    bar.finish();
    let found = &w * scale;
    let error = (&found - &best).iter().zip(&best).fold(0.0f64, |most, (e, b)| most.max((e / b).abs()));
    let curve = plot("diabetes", "Diabetes", &[("mean squared error".into(), losses.clone())])?;
    table(
        "Diabetes (442 x 10, f64)",
        &[
            ("first loss", format!("{:.6}", losses[0])),
            ("last loss", format!("{:.6}", losses[losses.len() - 1])),
            ("largest relative error of coefficients", format!("{error:.1e}")),
            ("error of the intercept", format!("{:.1e}", (intercept - best_intercept).abs())),
            ("coefficients", format!("{:.2}", found.slice(s![..4]))),
            ("curve", curve.display().to_string()),
        ],
    );
    let goal = if short() { 1e-2 } else { 1e-6 };
    if error < goal { Ok(()) } else { Err("the closed-form solution was not reached".into()) }
}

/// Functions in this binary that were compiled from the tensor function `name`, for the level in use.
fn artefacts(name: &str) -> Outcome<usize> {
    let binary = std::fs::read(std::env::current_exe()?)?;
    let levels = linear_step::KERNELS.levels;
    Ok(common::symbols(&binary, name)?.checked_div(levels).unwrap_or_default())
}
