//! A perceptron on handwritten digits: loss, gradients and the whole Adam step in one compiled function.

mod common;

use std::time::Instant;

use common::{Outcome, Uniform, data, learned, progress, short};
use tensorjit::ndarray::{Array1, Array2, Axis};
use tensorjit::tensor_fn;

tensor_fn! {
    /// One step of Adam (Kingma and Ba 2015, algorithm 1): the parameter and both moments.
    fn adam<T: float, ..S>(
        p: T[..S], g: T[..S], m: T[..S], v: T[..S], rate: T, step: T,
    ) -> (T[..S], T[..S], T[..S]) {
        let m = 0.9 * m + 0.1 * g;
        let v = 0.999 * v + 0.001 * g * g;
        let m_hat = m / (1.0 - pow(0.9, step));
        let v_hat = v / (1.0 - pow(0.999, step));
        (p - rate * m_hat / (sqrt(v_hat) + 1e-8), m, v)
    }

    fn network<B>(x: f32[B, 64], w1: f32[64, 64], b1: f32[64], w2: f32[64, 10], b2: f32[10]) -> f32[B, 10] {
        relu(x @ w1 + b1) @ w2 + b2
    }

    /// Trains on one batch: updates the weights and the moments, and returns the loss before the update.
    pub fn train<B: 1..>(
        x: f32[B, 64], labels: i64[B], rate: f32,
        step: &mut f32,
        w1: &mut f32[64, 64], b1: &mut f32[64], w2: &mut f32[64, 10], b2: &mut f32[10],
        mw1: &mut f32[64, 64], mb1: &mut f32[64], mw2: &mut f32[64, 10], mb2: &mut f32[10],
        vw1: &mut f32[64, 64], vb1: &mut f32[64], vw2: &mut f32[64, 10], vb2: &mut f32[10],
    ) -> f32 {
        let loss = cross_entropy(network(x, w1, b1, w2, b2), labels);
        let (gw1, gb1, gw2, gb2) = grad(loss, (w1, b1, w2, b2));
        step = step + 1.0;
        let (p1, m1, v1) = adam(w1, gw1, mw1, vw1, rate, step);
        let (p2, m2, v2) = adam(b1, gb1, mb1, vb1, rate, step);
        let (p3, m3, v3) = adam(w2, gw2, mw2, vw2, rate, step);
        let (p4, m4, v4) = adam(b2, gb2, mb2, vb2, rate, step);
        w1 = p1; b1 = p2; w2 = p3; b2 = p4;
        mw1 = m1; mb1 = m2; mw2 = m3; mb2 = m4;
        vw1 = v1; vb1 = v2; vw2 = v3; vb2 = v4;
        loss
    }

    /// The most likely digit of each row.
    pub fn classify<B>(
        x: f32[B, 64], w1: f32[64, 64], b1: f32[64], w2: f32[64, 10], b2: f32[10],
    ) -> i64[B] {
        argmax(network(x, w1, b1, w2, b2), axis = 1)
    }
}

/// Parameters or moments: both layers' weights and biases.
struct Layers(Array2<f32>, Array1<f32>, Array2<f32>, Array1<f32>);

impl Layers {
    fn zeros() -> Layers {
        Layers(Array2::zeros((64, 64)), Array1::zeros(64), Array2::zeros((64, 10)), Array1::zeros(10))
    }

    /// Weights uniform with the variance 2 / inputs (He et al. 2015).
    fn random(random: &mut Uniform) -> Layers {
        let mut uniform = |shape| {
            Array2::from_shape_simple_fn(shape, || (6.0f64 / 64.0).sqrt() as f32 * random.next() as f32)
        };
        Layers(uniform((64, 64)), Array1::zeros(64), uniform((64, 10)), Array1::zeros(10))
    }
}

fn main() -> Outcome<()> {
    let mut file = data("digits.npz")?;
    let x: Array2<f64> = file.by_name("X")?;
    let y: Array1<i64> = file.by_name("y")?;
    let rows = |indices: Array1<i64>| indices.iter().map(|i| *i as usize).collect::<Vec<_>>();
    let (mut train_rows, test_rows) = (rows(file.by_name("train")?), rows(file.by_name("test")?));
    let x = x.mapv(|pixel| pixel as f32);
    let mut random = Uniform::new(1);
    let (mut p, mut m, mut v) = (Layers::random(&mut random), Layers::zeros(), Layers::zeros());
    let (mut step, mut losses, mut seconds) = (0.0f32, Vec::new(), 0.0);
    let epochs = if short() { 60 } else { 100 };
    let bar = progress("digits", epochs)?;
    for epoch in 0..epochs {
        random.shuffle(&mut train_rows);
        let rate = if epoch * 3 < epochs * 2 { 2e-3 } else { 4e-4 };
        for batch in train_rows.chunks(32) {
            let (bx, by) = (x.select(Axis(0), batch), y.select(Axis(0), batch));
            let start = Instant::now();
            let loss = train(
                &bx, &by, rate, &mut step, &mut p.0, &mut p.1, &mut p.2, &mut p.3, &mut m.0, &mut m.1,
                &mut m.2, &mut m.3, &mut v.0, &mut v.1, &mut v.2, &mut v.3,
            )?;
            seconds += start.elapsed().as_secs_f64();
            losses.push(f64::from(loss));
        }
        bar.inc(1);
        bar.set_message(format!("loss {:.3}", losses[losses.len() - 1]));
    }
    bar.finish();
    let (tx, ty) = (x.select(Axis(0), &test_rows), y.select(Axis(0), &test_rows));
    let found = classify(&tx, &p.0, &p.1, &p.2, &p.3)?;
    let right = found.iter().zip(&ty).filter(|(a, b)| a == b).count() as f64 / ty.len() as f64;
    learned("digits", "Digits, 64-64-10, Adam", (&losses, epochs as usize), seconds, right)?;
    if right >= 0.97 { Ok(()) } else { Err("less than 97 % of the test split are right".into()) }
}
