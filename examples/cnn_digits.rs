//! A convolutional network on handwritten digits: a struct of parameters, and loss, gradients and Adam in one compiled
//! function.

mod common;

use common::digits::Digits;
use common::{Outcome, Uniform, short};
use tensorjit::ndarray::{Array2, ArrayBase, DataMut, Dimension};
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

    /// Trains on one batch: a step of Adam with decay of the weights; returns the loss before it.
    pub fn train<B: 1..>(
        images: f32[B, 64], labels: i64[B], rate: f32,
        step: &mut f32, network: &mut Network, mean: &mut Network, square: &mut Network,
    ) -> f32 {
        let loss = cross_entropy(logits(images, network), labels);
        let slope = grad(loss, network);
        step = step + 1;
        let (next, first, second) = adamw(network, slope, mean, square, step, rate = rate, decay = 0.02);
        network = next;
        mean = first;
        square = second;
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
    let mut digits = Digits::open()?;
    let mut random = Uniform::new(1);
    let mut network = Network::zeros();
    fill(&mut network.first.w, 9.0, &mut random);
    fill(&mut network.second.w, 16.0 * 9.0, &mut random);
    fill(&mut network.w, 512.0, &mut random);
    let (mut mean, mut square) = (Network::zeros(), Network::zeros());
    let mut step = 0.0;
    let epochs = if short() { 12 } else { 40 };
    let learned = digits.learn("cnn_digits", epochs, &mut random, |images, labels, rate, random| {
        let images = moved(images, random);
        train(&images, labels, rate, &mut step, &mut network, &mut mean, &mut square)
    })?;
    let right = digits.right(|images| classify(images, &network))?;
    learned.tell("cnn_digits", "Digits, two convolutions, Adam", right)?;
    if right >= 0.98 { Ok(()) } else { Err("less than 98 % of the test split are right".into()) }
}
