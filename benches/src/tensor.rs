//! Tensors as every contender can take them: elements in double precision, which hold single ones exactly.

use std::path::Path;

use ndarray::{Array, ArrayD, Dimension, IxDyn};

use crate::{Error, Result};

/// An input or an output of a workload.
pub type Tensor = ArrayD<f64>;

/// The element type in which a workload is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    F32,
    F64,
}

/// The elements' types.
pub trait Real: Copy + 'static {
    fn of(value: f64) -> Self;
    fn value(self) -> f64;
}

macro_rules! reals {
    ($($t:ident),*) => { $(
        impl Real for $t {
            fn of(value: f64) -> $t {
                value as $t
            }

            fn value(self) -> f64 {
                self as f64
            }
        }
    )* };
}
reals!(f32, f64, i64);

/// An input as an array of fixed rank, or why it is none.
pub fn array<T: Real, D: Dimension>(tensor: &Tensor) -> Result<Array<T, D>> {
    Ok(tensor.mapv(T::of).into_dimensionality()?)
}

/// An input of rank 0.
pub fn scalar<T: Real>(tensor: &Tensor) -> Result<T> {
    tensor.first().map(|value| T::of(*value)).ok_or_else(|| Error::from("a scalar is missing"))
}

/// How the elements of an input are drawn.
#[derive(Clone, Copy, Debug)]
pub enum Draw {
    /// Normal, with this deviation.
    Normal(f64),
    /// Uniform between two values.
    Uniform(f64, f64),
    /// Each row is zero but for a one at a uniform place.
    OneHot,
    /// This value.
    Constant(f64),
    /// A uniform whole number below this one: an index.
    Index(usize),
}

/// An input of a workload, as data.
#[derive(Clone, Debug)]
pub struct Input {
    pub shape: Vec<usize>,
    pub draw: Draw,
}

/// Normal elements.
pub fn normal(shape: &[usize]) -> Input {
    scaled(1.0, shape)
}

/// Normal elements of this deviation.
pub fn scaled(deviation: f64, shape: &[usize]) -> Input {
    Input { shape: shape.to_vec(), draw: Draw::Normal(deviation) }
}

/// Uniform elements.
pub fn uniform(low: f64, high: f64, shape: &[usize]) -> Input {
    Input { shape: shape.to_vec(), draw: Draw::Uniform(low, high) }
}

/// A given scalar.
pub fn constant(value: f64) -> Input {
    Input { shape: Vec::new(), draw: Draw::Constant(value) }
}

/// Indices of an axis of this extent.
pub fn index(extent: usize, shape: &[usize]) -> Input {
    Input { shape: shape.to_vec(), draw: Draw::Index(extent) }
}

/// Rows with a one each.
pub fn one_hot(rows: usize, columns: usize) -> Input {
    Input { shape: vec![rows, columns], draw: Draw::OneHot }
}

impl Input {
    /// The elements for this seed, rounded to the precision of the workload.
    pub fn sample(&self, seed: u64, precision: Precision) -> Tensor {
        let mut random = Random::new(seed);
        let columns = self.shape.last().copied().unwrap_or(1);
        let mut hot = 0;
        let mut position = 0;
        ArrayD::from_shape_simple_fn(IxDyn(&self.shape), || {
            let value = match self.draw {
                Draw::Normal(deviation) => deviation * random.normal(),
                Draw::Uniform(low, high) => low + (high - low) * random.unit(),
                Draw::Constant(value) => value,
                Draw::Index(extent) => (random.unit() * extent as f64).floor(),
                Draw::OneHot => {
                    if position % columns == 0 {
                        hot = (random.unit() * columns as f64) as usize;
                    }
                    if position % columns == hot { 1.0 } else { 0.0 }
                }
            };
            position += 1;
            match precision {
                Precision::F32 => f64::from(value as f32),
                Precision::F64 => value,
            }
        })
    }
}

/// The generator SplitMix64.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Normal, by the method of Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// Writes an input for the Python peers, in the precision of the workload; indices as integers.
pub fn write_npy(path: &Path, tensor: &Tensor, draw: Draw, precision: Precision) -> Result<()> {
    match precision {
        _ if matches!(draw, Draw::Index(_)) => ndarray_npy::write_npy(path, &tensor.mapv(|x| x as i64))?,
        Precision::F32 => ndarray_npy::write_npy(path, &tensor.mapv(|x| x as f32))?,
        Precision::F64 => ndarray_npy::write_npy(path, tensor)?,
    }
    Ok(())
}

/// Reads an output of a Python peer, which writes all in double precision.
pub fn read_npy(path: &Path) -> Result<Tensor> {
    Ok(ndarray_npy::read_npy(path)?)
}
