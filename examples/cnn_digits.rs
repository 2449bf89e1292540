//! A convolutional network on handwritten digits: a struct of parameters, and loss, gradients and Adam in one compiled
//! function.

mod common;

use std::time::Instant;

use common::{Outcome, Uniform, data, learned, progress, short};
use tensorjit::ndarray::{Array1, Array2, ArrayBase, Axis, DataMut, Dimension};
use tensorjit::tensor_fn;

tensor_fn! {
    /// A layer of convolution with kernels of 3 x 3.
    pub struct Filter<I, O> { w: f32[O, I, 3, 3], b: f32[O] }

    /// Two layers of convolution, and one of all features.
    pub struct Network { first: Filter<1, 16>, second: Filter<16, 32>, w: f32[512, 10], b: f32[10] }

    fn filtered<B, I, O, H, W>(x: f32[B, I, H, W], filter: Filter<I, O>) -> f32[B, O, H, W]
    where H >= 1, W >= 1
    {
        relu(conv(x, filter.w, padding = 1) + reshape(filter.b, [O, 1, 1]))
    }

    fn logits<B>(images: f32[B, 64], network: Network) -> f32[B, 10] {
        let maps = filtered(reshape(images, [B, 1, 8, 8]), network.first);
        let pooled = max_pool(filtered(maps, network.second), (2, 2));
        reshape(pooled, [B, 512]) @ network.w + network.b
    }

    /// Trains on one batch: a step of Adam (Kingma and Ba 2015, algorithm 1) with decay of the weights; returns the
    /// loss before it.
    pub fn train<B: 1..>(
        images: f32[B, 64], labels: i64[B], rate: f32,
        step: &mut f32, network: &mut Network, mean: &mut Network, square: &mut Network,
    ) -> f32 {
        let loss = cross_entropy(logits(images, network), labels);
        let slope = grad(loss, network);
        step = step + 1;
        mean = 0.9 * mean + 0.1 * slope;
        square = 0.999 * square + 0.001 * slope * slope;
        let direction = mean / (1 - pow(0.9, step)) / (sqrt(square / (1 - pow(0.999, step))) + 1e-8);
        network = network - rate * (direction + 0.02 * network);
        loss
    }

    /// The most likely digit of each image.
    pub fn classify<B>(images: f32[B, 64], network: Network) -> i64[B] {
        argmax(logits(images, network), axis = 1)
    }
}

/// Weights uniform with the variance 2 / inputs (He et al. 2015).
fn fill<S: DataMut<Elem = f32>, D: Dimension>(w: &mut ArrayBase<S, D>, inputs: f64, random: &mut Uniform) {
    w.map_inplace(|w| *w = ((6.0 / inputs).sqrt() * random.next()) as f32);
}

/// The images moved by up to one pixel each way, so that few are seen twice.
fn moved(images: &Array2<f32>, random: &mut Uniform) -> Array2<f32> {
    let mut result = Array2::zeros(images.dim());
    for (image, mut result) in images.outer_iter().zip(result.outer_iter_mut()) {
        let [right, down] = [(); 2].map(|()| (1.5 * random.next()).round() as isize);
        for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
            let (y, x) = (row + down, column + right);
            if (0..8).contains(&y) && (0..8).contains(&x) {
                result[(8 * y + x) as usize] = image[(8 * row + column) as usize];
            }
        }
    }
    result
}

fn main() -> Outcome<()> {
    let mut file = data("digits.npz")?;
    let x: Array2<f64> = file.by_name("X")?;
    let y: Array1<i64> = file.by_name("y")?;
    let rows = |indices: Array1<i64>| indices.iter().map(|i| *i as usize).collect::<Vec<_>>();
    let (mut train_rows, test_rows) = (rows(file.by_name("train")?), rows(file.by_name("test")?));
    let x = x.mapv(|pixel| pixel as f32);

    let mut random = Uniform::new(1);
    let mut network = Network::zeros();
    fill(&mut network.first.w, 9.0, &mut random);
    fill(&mut network.second.w, 16.0 * 9.0, &mut random);
    fill(&mut network.w, 512.0, &mut random);
    let (mut mean, mut square) = (Network::zeros(), Network::zeros());
    let (mut step, mut losses, mut seconds) = (0.0f32, Vec::new(), 0.0);
    let epochs = if short() { 12 } else { 40 };
    let bar = progress("cnn_digits", epochs)?;
    for epoch in 0..epochs {
        random.shuffle(&mut train_rows);
        let rate = if epoch * 3 < epochs * 2 { 2e-3 } else { 4e-4 };
        for batch in train_rows.chunks(32) {
            let (bx, by) = (moved(&x.select(Axis(0), batch), &mut random), y.select(Axis(0), batch));
            let start = Instant::now();
            let loss = train(&bx, &by, rate, &mut step, &mut network, &mut mean, &mut square)?;
            seconds += start.elapsed().as_secs_f64();
            losses.push(f64::from(loss));
        }
        bar.inc(1);
        bar.set_message(format!("loss {:.3}", losses[losses.len() - 1]));
    }
    bar.finish();

    let (tx, ty) = (x.select(Axis(0), &test_rows), y.select(Axis(0), &test_rows));
    let found = classify(&tx, &network)?;
    let right = found.iter().zip(&ty).filter(|(a, b)| a == b).count() as f64 / ty.len() as f64;
    learned("cnn_digits", "Digits, two convolutions, Adam", (&losses, epochs as usize), seconds, right)?;
    if right >= 0.98 { Ok(()) } else { Err("less than 98 % of the test split are right".into()) }
}
