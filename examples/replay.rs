//! Repeats a recorded training run step by step: two activations, three optimisers, 100 steps each, in f64.

mod common;

use common::{Outcome, data, plot, progress, table};
use tensorjit::ndarray::{Array1, Array2};
use tensorjit::tensor_fn;

tensor_fn! {
    /// Loss of a perceptron with tanh, and its gradients.
    pub fn tanh_loss<B: 1.., I, H, C: 1..>(
        x: f64[B, I], y: i64[B], w1: f64[I, H], b1: f64[H], w2: f64[H, C], b2: f64[C],
    ) -> (f64, f64[I, H], f64[H], f64[H, C], f64[C]) {
        let loss = cross_entropy(tanh(x @ w1 + b1) @ w2 + b2, y);
        let (gw1, gb1, gw2, gb2) = grad(loss, (w1, b1, w2, b2));
        (loss, gw1, gb1, gw2, gb2)
    }

    /// Loss of a perceptron with relu, and its gradients.
    pub fn relu_loss<B: 1.., I, H, C: 1..>(
        x: f64[B, I], y: i64[B], w1: f64[I, H], b1: f64[H], w2: f64[H, C], b2: f64[C],
    ) -> (f64, f64[I, H], f64[H], f64[H, C], f64[C]) {
        let loss = cross_entropy(relu(x @ w1 + b1) @ w2 + b2, y);
        let (gw1, gb1, gw2, gb2) = grad(loss, (w1, b1, w2, b2));
        (loss, gw1, gb1, gw2, gb2)
    }

    /// Gradient descent.
    pub fn sgd<N>(p: &mut f64[N], g: f64[N]) {
        p = p - 0.5 * g;
    }

    /// Heavy ball.
    pub fn momentum<N>(p: &mut f64[N], v: &mut f64[N], g: f64[N]) {
        v = 0.9 * v + g;
        p = p - 0.1 * v;
    }

    /// Adam (Kingma and Ba 2015, algorithm 1).
    pub fn adam<N>(p: &mut f64[N], m: &mut f64[N], v: &mut f64[N], g: f64[N], step: f64) {
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * (g * g);
        let m_hat = m / (1.0 - pow(0.9, step));
        let v_hat = v / (1.0 - pow(0.999, step));
        p = p - 0.01 * m_hat / (sqrt(v_hat) + 1e-8);
    }
}

const STEPS: usize = 100;

/// The two layers of the recorded network, or something of the same shape for each.
#[derive(Clone)]
struct Layers {
    w1: Array2<f64>,
    b1: Array1<f64>,
    w2: Array2<f64>,
    b2: Array1<f64>,
}

impl Layers {
    fn zeros_like(&self) -> Layers {
        Layers {
            w1: Array2::zeros(self.w1.dim()),
            b1: Array1::zeros(self.b1.dim()),
            w2: Array2::zeros(self.w2.dim()),
            b2: Array1::zeros(self.b2.dim()),
        }
    }

    /// All numbers in flat slices: the optimisers know no shapes.
    fn flat(&mut self) -> Option<[&mut [f64]; 4]> {
        Some([
            self.w1.as_slice_mut()?,
            self.b1.as_slice_mut()?,
            self.w2.as_slice_mut()?,
            self.b2.as_slice_mut()?,
        ])
    }
}

#[derive(Clone, Copy)]
enum Optimiser {
    Sgd,
    Momentum,
    Adam,
}

fn main() -> Outcome<()> {
    let mut file = data("replay_mlp.npz")?;
    let x: Array2<f64> = file.by_name("X")?;
    let y: Array1<i64> = file.by_name("y")?;
    let initial = Layers {
        w1: file.by_name("init_W1")?,
        b1: file.by_name("init_b1")?,
        w2: file.by_name("init_W2")?,
        b2: file.by_name("init_b2")?,
    };
    let (mut curves, mut rows, mut worst) = (Vec::new(), Vec::new(), 0.0f64);
    for activation in ["tanh", "relu"] {
        for (name, optimiser) in
            [("sgd", Optimiser::Sgd), ("momentum", Optimiser::Momentum), ("adam", Optimiser::Adam)]
        {
            let run = format!("{activation}_{name}");
            let recorded: Array1<f64> = file.by_name(&format!("loss_{run}"))?;
            let losses = train(&run, activation == "tanh", optimiser, &x, &y, initial.clone())?;
            let error = losses.iter().zip(&recorded).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
            worst = worst.max(error);
            rows.push((
                run.clone(),
                format!("last loss {:.6}, farthest from the record {error:.1e}", losses[STEPS]),
            ));
            curves.push((run, losses));
        }
    }
    let curve = plot("replay", "Replay of recorded runs", &curves)?;
    let mut rows: Vec<(&str, String)> =
        rows.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    rows.push(("curve", curve.display().to_string()));
    table("Replay (64-32-10, f64, 100 steps each)", &rows);
    if worst <= 1e-12 { Ok(()) } else { Err(format!("a loss is off by {worst:e}").into()) }
}

fn train(
    title: &str,
    tanh: bool,
    optimiser: Optimiser,
    x: &Array2<f64>,
    y: &Array1<i64>,
    mut p: Layers,
) -> Outcome<Vec<f64>> {
    let (mut m, mut v) = (p.zeros_like(), p.zeros_like());
    let mut losses = Vec::new();
    let bar = progress(title, STEPS as u64)?;
    for step in 0..=STEPS {
        let loss = if tanh { tanh_loss } else { relu_loss };
        let (value, w1, b1, w2, b2) = loss(x, y, &p.w1, &p.b1, &p.w2, &p.b2)?;
        losses.push(value);
        if step == STEPS {
            break;
        }
        let mut g = Layers { w1, b1, w2, b2 };
        let parts = p.flat().zip(m.flat()).zip(v.flat()).zip(g.flat());
        let (((p, m), v), g) = parts.ok_or("an array is not contiguous")?;
        for (((p, m), v), g) in p.into_iter().zip(m).zip(v).zip(g) {
            match optimiser {
                Optimiser::Sgd => sgd(p, &*g)?,
                Optimiser::Momentum => momentum(p, v, &*g)?,
                Optimiser::Adam => adam(p, m, v, &*g, (step + 1) as f64)?,
            }
        }
        bar.inc(1);
    }
    bar.finish();
    Ok(losses)
}
