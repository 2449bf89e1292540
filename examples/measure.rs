//! The figures that the README states: compiled functions beside ndarray and, where `PYTHON` names an interpreter
//! that has it, NumPy.  `./x measure` pins the run to one core.

use std::error::Error;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use tensorjit::ndarray::{Array1, Array2, Axis};
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

    /// Softmax of every row.
    pub fn softmax_rows<M, N>(x: f32[M, N]) -> f32[M, N] {
        softmax(x)
    }

    /// A matrix product.
    pub fn product<M, N, K>(a: f32[M, K], b: f32[K, N]) -> f32[M, N] {
        a @ b
    }
}

/// A workload and the seconds of a call: ours, and the peers'.
struct Row {
    name: &'static str,
    ours: f64,
    ndarray: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let rows = [linear_step_row()?, softmax_row()?, product_row()?];
    let numpy = numpy()?;
    println!("{:40} {:>12} {:>12} {:>12}", "seconds of a call", "tensorjit", "ndarray", "NumPy");
    for row in &rows {
        let peer = numpy.iter().find(|(name, _)| row.name.starts_with(name.as_str())).map(|(_, t)| *t);
        let ratio = |t: f64| format!("{:.1}x", t / row.ours);
        println!(
            "{:40} {:>12} {:>12} {:>12}",
            row.name,
            show(row.ours),
            format!("{} {}", show(row.ndarray), ratio(row.ndarray)),
            peer.map_or("-".into(), |t| format!("{} {}", show(t), ratio(t))),
        );
    }
    Ok(())
}

fn linear_step_row() -> Result<Row, Box<dyn Error>> {
    let (x, y) = (sample(32, 3), sample(32, 2));
    let (w, bias) = (sample(3, 2), Array1::from(vec![0.1, -0.2]));
    let (mut loss, mut dw, mut dbias) = (0.0f32, Array2::zeros((3, 2)), Array1::zeros(2));
    let scale = 1.0 / 64.0;
    let ours = best(&mut || linear_step::into(&x, &y, &w, &bias, scale, &mut loss, &mut dw, &mut dbias))?;
    let ndarray = best(&mut || {
        let error = x.dot(&w) + &bias - &y;
        let d = &error * (2.0 * scale);
        black_box((error.mapv(|e| e * e).sum() * scale, x.t().dot(&d), d.sum_axis(Axis(0))));
        Ok::<(), tensorjit::Error>(())
    })?;
    Ok(Row { name: "linear_step, B = 32, into", ours, ndarray })
}

fn softmax_row() -> Result<Row, Box<dyn Error>> {
    let x = sample(4096, 1024);
    let mut y = Array2::zeros(x.dim());
    let ours = best(&mut || softmax_rows::into(&x, &mut y))?;
    let ndarray = best(&mut || {
        let mut y = x.clone();
        for mut row in y.rows_mut() {
            let most = row.fold(f32::NEG_INFINITY, |a, b| a.max(*b));
            row.mapv_inplace(|v| (v - most).exp());
            let sum = row.sum();
            row.mapv_inplace(|v| v / sum);
        }
        black_box(y);
        Ok::<(), tensorjit::Error>(())
    })?;
    Ok(Row { name: "softmax, 4096 x 1024", ours, ndarray })
}

fn product_row() -> Result<Row, Box<dyn Error>> {
    let (a, b) = (sample(512, 512), sample(512, 512));
    let mut c = Array2::zeros((512, 512));
    let ours = best(&mut || product::into(&a, &b, &mut c))?;
    let ndarray = best(&mut || {
        black_box(a.dot(&b));
        Ok::<(), tensorjit::Error>(())
    })?;
    Ok(Row { name: "product, 512 x 512 x 512", ours, ndarray })
}

/// The least time of a call over half a second, in samples of a millisecond or one call.
fn best(call: &mut dyn FnMut() -> tensorjit::Result<()>) -> tensorjit::Result<f64> {
    call()?;
    let mut time = |count: u32| -> tensorjit::Result<f64> {
        let start = Instant::now();
        for _ in 0..count {
            call()?;
        }
        Ok(start.elapsed().as_secs_f64() / f64::from(count))
    };
    let count = (1e-3 / time(1)?.max(1e-9)).clamp(1.0, 1e6) as u32;
    let (mut least, start) = (f64::MAX, Instant::now());
    while start.elapsed().as_secs_f64() < 0.5 {
        least = least.min(time(count)?);
    }
    Ok(least)
}

/// NumPy's times, from `benches/numpy_peers.py`.
fn numpy() -> Result<Vec<(String, f64)>, Box<dyn Error>> {
    let Ok(python) = std::env::var("PYTHON") else { return Ok(Vec::new()) };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/numpy_peers.py");
    let output = Command::new(python).arg(script).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let mut times = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let (name, seconds) = line.split_once(' ').ok_or("a line without a time")?;
        times.push((name.to_owned(), seconds.parse()?));
    }
    Ok(times)
}

/// Reproducible numbers in [-1, 1).
fn sample(rows: usize, columns: usize) -> Array2<f32> {
    let mut state = 1u32;
    Array2::from_shape_simple_fn((rows, columns), || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    })
}

fn show(seconds: f64) -> String {
    match seconds {
        t if t < 1e-6 => format!("{:.0} ns", t * 1e9),
        t if t < 1e-3 => format!("{:.1} us", t * 1e6),
        t => format!("{:.2} ms", t * 1e3),
    }
}
