//! A small GPT that learns to write as this project's own documents do, letter by letter: the whole training step,
//! gradients of all parameters and Adam, is one compiled function, for every batch and alphabet.
//!
//! The text is that of the documents in this repository, under its licence, MIT or Apache 2.0. `--resume` goes on from
//! the file that an earlier run has left.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

use common::{Outcome, Uniform, plot, progress, short, table};
use tensorjit::ndarray::{Array2, ArrayViewMutD};
use tensorjit::{LeafMut, tensor_fn};

tensor_fn! {
    /// How many layers there are.
    pub const LAYERS: i64 = 4;

    /// How many heads the attention of a layer has.
    pub const HEADS: i64 = 4;

    /// How many letters the model reads at most.
    pub const CONTEXT: i64 = 64;

    /// How wide it is.
    pub const WIDTH: i64 = 128;

    /// A normalisation of rows.
    pub struct Norm { gain: f32[WIDTH], bias: f32[WIDTH] }

    /// Attention and a perceptron, each added to what it reads.
    pub struct Layer {
        before_attention: Norm,
        /// Queries, keys and values side by side.
        qkv: f32[WIDTH, 3 * WIDTH],
        out: f32[WIDTH, WIDTH],
        before_mlp: Norm,
        up: f32[WIDTH, 4 * WIDTH],
        up_bias: f32[4 * WIDTH],
        down: f32[4 * WIDTH, WIDTH],
        down_bias: f32[WIDTH],
    }

    /// The model: letters and their places as vectors, layers, and the letters again to read the result by.
    pub struct Gpt<V> {
        letters: f32[V, WIDTH],
        places: f32[CONTEXT, WIDTH],
        layers: [Layer; LAYERS],
        last: Norm,
    }

    /// All that training changes: the model, the moments of Adam, and how many steps were made.
    pub struct Training<V> { model: Gpt<V>, mean: Gpt<V>, square: Gpt<V>, steps: f32 }

    fn norm<B, T>(x: f32[B, T, WIDTH], norm: Norm) -> f32[B, T, WIDTH] {
        layer_norm(x, norm.gain, norm.bias)
    }

    /// The heads of queries, keys or values as batches.
    fn heads<B, T>(x: f32[B, T, WIDTH]) -> f32[B, HEADS, T, WIDTH / HEADS] {
        permute(reshape(x, [B, T, HEADS, WIDTH / HEADS]), (0, 2, 1, 3))
    }

    /// Each letter looks at those before it.
    fn attend<B, T: 1..>(x: f32[B, T, WIDTH], layer: Layer) -> f32[B, T, WIDTH] {
        let qkv = x @ layer.qkv;
        let q = heads(qkv[.., .., ..WIDTH]);
        let k = heads(qkv[.., .., WIDTH..2 * WIDTH]);
        let v = heads(qkv[.., .., 2 * WIDTH..]);
        let scores = q @ permute(k, (0, 1, 3, 2)) * rsqrt((WIDTH / HEADS) as f32);
        let place = iota(T) as i32;
        let seen = expand_dims(place, axis = 1) >= place;
        let looks = softmax(select(seen, scores, -1e9)) @ v;
        reshape(permute(looks, (0, 2, 1, 3)), [B, T, WIDTH]) @ layer.out
    }

    fn think<B, T>(x: f32[B, T, WIDTH], layer: Layer) -> f32[B, T, WIDTH] {
        gelu(x @ layer.up + layer.up_bias, approximate = "tanh") @ layer.down + layer.down_bias
    }

    /// The scores of what follows each letter.
    fn scores<B, T: 1.., V: 1..>(text: i64[B, T], model: Gpt<V>) -> f32[B, T, V] where T <= CONTEXT {
        let mut x = model.letters[text] + model.places[..T];
        for layer in model.layers {
            x = x + attend(norm(x, layer.before_attention), layer);
            x = x + think(norm(x, layer.before_mlp), layer);
        }
        norm(x, model.last) @ transpose(model.letters)
    }

    /// One step of Adam by a gradient whose norm is at most 1; returns the loss before it.
    pub fn train<B: 1.., V: 1..>(text: i64[B, CONTEXT + 1], rate: f32, state: &mut Training<V>) -> f32 {
        let model = state.model;
        let loss = cross_entropy(scores(text[.., ..CONTEXT], model), text[.., 1..]);
        let slope = clip_by_global_norm(grad(loss, model), 1);
        let steps = state.steps + 1;
        let (model, mean, square) =
            adam(model, slope, state.mean, state.square, steps, rate = rate, beta2 = 0.99);
        state = Training { model, mean, square, steps };
        loss
    }

    /// The mean loss of a text.
    pub fn loss<B: 1.., V: 1..>(text: i64[B, CONTEXT + 1], model: Gpt<V>) -> f32 {
        cross_entropy(scores(text[.., ..CONTEXT], model), text[.., 1..])
    }

    /// How likely each letter is to follow a text.
    pub fn next<T: 1..=CONTEXT, V: 1..>(text: i64[T], temperature: f32, model: Gpt<V>) -> f32[V] {
        softmax(scores(expand_dims(text, axis = 0), model)[0, -1] / temperature)
    }
}

/// The texts of a batch, and the letters of each that are read.
const BATCH: usize = 16;
const LENGTH: usize = CONTEXT as usize;

/// What the model reads.
const DOCUMENTS: [&str; 6] = [
    "docs/language.md",
    "README.md",
    "ARCHITECTURE.md",
    "docs/numerics.md",
    "docs/add-an-operator.md",
    "LICENSE-APACHE",
];

/// A text as positions in its alphabet.
struct Corpus {
    alphabet: Vec<char>,
    /// What is learnt from, and the last tenth of each document, which is not.
    train: Vec<i64>,
    held: Vec<i64>,
}

impl Corpus {
    fn read() -> Outcome<Corpus> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let texts = DOCUMENTS.map(|document| fs::read_to_string(root.join(document)));
        let texts = texts.into_iter().collect::<Result<Vec<String>, _>>()?;
        let letters = texts.iter().flat_map(|text| text.chars());
        let alphabet: Vec<char> = letters.collect::<BTreeSet<char>>().into_iter().collect();
        let position = |letter| alphabet.binary_search(&letter).map_or(0, |position| position as i64);
        let (mut train, mut held) = (Vec::new(), Vec::new());
        for text in texts {
            let text: Vec<i64> = text.chars().map(position).collect();
            let (most, last) = text.split_at(text.len() - text.len() / 10);
            train.extend(most);
            held.extend(last);
        }
        Ok(Corpus { alphabet, train, held })
    }

    /// Texts of a context and one letter from random places.
    fn batch(text: &[i64], random: &mut Uniform) -> Array2<i64> {
        let mut starts = || ((random.next() + 1.0) * 0.5 * (text.len() - LENGTH - 1) as f64) as usize;
        let starts: Vec<usize> = (0..BATCH).map(|_| starts()).collect();
        Array2::from_shape_fn((BATCH, LENGTH + 1), |(row, place)| text[starts[row] + place])
    }
}

/// Weights uniform with the variance 1 / inputs, those that are added to what a layer reads less by the number of
/// such sums; small letters and places; gains of one and biases of zero.
fn random_model(letters: usize, random: &mut Uniform) -> Gpt {
    Gpt::zeros(letters).map(|name, leaf| {
        let LeafMut::F32(leaf) = leaf else { return };
        let (part, inputs) = (name.rsplit('.').next().unwrap_or(name), leaf.shape()[0] as f64);
        let mut fill = |mut leaf: ArrayViewMutD<'_, f32>, deviation: f64| {
            leaf.mapv_inplace(|_| (3.0_f64.sqrt() * deviation * random.next()) as f32);
        };
        match part {
            "letters" | "places" => fill(leaf, 0.05),
            "qkv" | "up" => fill(leaf, inputs.powf(-0.5)),
            "out" | "down" => fill(leaf, (inputs * 2.0 * LAYERS as f64).powf(-0.5)),
            "gain" => { leaf }.fill(1.0),
            _ => {}
        }
    })
}

/// Goes on with a text, each letter drawn by its likelihood at a temperature.
fn write(start: &str, letters: usize, corpus: &Corpus, model: &Gpt, random: &mut Uniform) -> Outcome<String> {
    let mut text: Vec<i64> = start
        .chars()
        .filter_map(|letter| corpus.alphabet.binary_search(&letter).ok())
        .map(|position| position as i64)
        .collect();
    for _ in 0..letters {
        let seen = &text[text.len().saturating_sub(LENGTH)..];
        let likely = next(seen, 0.7, model)?;
        let mut left = (random.next() as f32 + 1.0) * 0.5;
        let drawn = likely.iter().position(|p| {
            left -= p;
            left < 0.0
        });
        text.push(drawn.unwrap_or(likely.len() - 1) as i64);
    }
    Ok(text.iter().map(|position| corpus.alphabet[*position as usize]).collect())
}

/// The mean loss of texts that were never learnt from.
fn held_loss(corpus: &Corpus, model: &Gpt) -> Outcome<f64> {
    let mut random = Uniform::new(3);
    let losses: Vec<f32> = (0..16)
        .map(|_| loss(&Corpus::batch(&corpus.held, &mut random), model))
        .collect::<tensorjit::Result<_>>()?;
    Ok(f64::from(losses.iter().sum::<f32>()) / losses.len() as f64)
}

fn main() -> Outcome<()> {
    let corpus = Corpus::read()?;
    let letters = corpus.alphabet.len();
    let steps = if short() { 100 } else { 1000 };
    let saved = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/demo/char_gpt.safetensors");
    fs::create_dir_all(saved.parent().ok_or("a file stands in a folder")?)?;

    let mut random = Uniform::new(1);
    let mut state = Training::zeros(letters);
    state.model = random_model(letters, &mut random);
    if std::env::args().any(|arg| arg == "--resume") {
        state.load_safetensors(&saved)?;
    }
    let first = held_loss(&corpus, &state.model)?;
    let (mut losses, mut seconds) = (Vec::new(), 0.0);
    let bar = progress("char_gpt", steps)?;
    for step in 0..steps {
        // A rise, then half a cosine down to a tenth.
        let (rise, course) = ((step + 1) as f64 / 50.0, step as f64 / steps as f64);
        let rate = 2e-3 * rise.min(1.0) * (0.55 + 0.45 * (std::f64::consts::PI * course).cos());
        let text = Corpus::batch(&corpus.train, &mut random);
        let start = Instant::now();
        let loss = train(&text, rate as f32, &mut state)?;
        seconds += start.elapsed().as_secs_f64();
        losses.push(f64::from(loss));
        bar.inc(1);
        bar.set_message(format!("loss {loss:.3}"));
        if step == steps / 2 {
            // What stands in the file is all that training goes on from.
            state.save_safetensors(&saved)?;
            state = Training::zeros(letters);
            state.load_safetensors(&saved)?;
        }
    }
    bar.finish();
    state.save_safetensors(&saved)?;

    let held = held_loss(&corpus, &state.model)?;
    let sample = write("A function ", if short() { 80 } else { 400 }, &corpus, &state.model, &mut random)?;
    let means = losses.chunks(10).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect();
    let curve = plot(
        "char_gpt",
        "A GPT of four layers, Adam",
        &[("cross entropy, mean of ten steps".into(), means)],
    )?;
    let count: usize =
        state.model.leaves().iter().map(|(_, leaf)| leaf.shape().iter().product::<usize>()).sum();
    table(
        "A GPT that writes letters",
        &[
            ("letters of the text", format!("{} of {letters} kinds", corpus.train.len() + corpus.held.len())),
            ("parameters", count.to_string()),
            ("steps", losses.len().to_string()),
            ("first and last loss", format!("{:.3}, {:.3}", losses[0], losses[losses.len() - 1])),
            ("loss of text that was held back", format!("{first:.3}, then {held:.3}")),
            ("steps per second", format!("{:.1}", losses.len() as f64 / seconds)),
            ("curve", curve.display().to_string()),
            ("parameters and moments", saved.display().to_string()),
        ],
    );
    println!("\n{sample}");
    // Letters that are drawn by how often they occur alone have the loss 3.3.
    let goal = if short() { 3.2 } else { 2.6 };
    if held < goal { Ok(()) } else { Err(format!("the loss {held:.3} is not below {goal}").into()) }
}
