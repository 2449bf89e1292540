//! A perceptron on handwritten digits: loss, gradients and the whole Adam step in one compiled function.

mod common;

use common::digits::Digits;
use common::{Outcome, Uniform, short};
use tensorjit::ndarray::{Array1, Array2};
use tensorjit::tensor_fn;

tensor_fn! {
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
        let (p1, m1, v1) = adam(w1, gw1, mw1, vw1, step, rate = rate);
        let (p2, m2, v2) = adam(b1, gb1, mb1, vb1, step, rate = rate);
        let (p3, m3, v3) = adam(w2, gw2, mw2, vw2, step, rate = rate);
        let (p4, m4, v4) = adam(b2, gb2, mb2, vb2, step, rate = rate);
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
    let mut digits = Digits::open()?;
    let mut random = Uniform::new(1);
    let (mut p, mut m, mut v) = (Layers::random(&mut random), Layers::zeros(), Layers::zeros());
    let mut step = 0.0;
    let epochs = if short() { 60 } else { 100 };
    let learned = digits.learn("digits", epochs, &mut random, |images, labels, rate, _| {
        train(
            images, labels, rate, &mut step, &mut p.0, &mut p.1, &mut p.2, &mut p.3, &mut m.0, &mut m.1,
            &mut m.2, &mut m.3, &mut v.0, &mut v.1, &mut v.2, &mut v.3,
        )
    })?;
    let right = digits.right(|images| classify(images, &p.0, &p.1, &p.2, &p.3))?;
    learned.tell("digits", "Digits, 64-64-10, Adam", right)?;
    if right >= 0.97 { Ok(()) } else { Err("less than 97 % of the test split are right".into()) }
}
