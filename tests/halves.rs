//! Arguments, results, state and fields of `f16` and `bf16`, as a user calls with them.

use tensorjit::half::{bf16, f16};
use tensorjit::ndarray::{Array1, Array2, array};
use tensorjit::tensor_fn;

tensor_fn! {
    /// Weights of 16 bits.
    pub struct Layer<I, O> { w: bf16[I, O], b: f16[O], scale: f16 }

    pub fn product<N, K, M>(x: f16[N, K], w: f16[K, M]) -> f16[N, M] {
        x @ w
    }

    /// A step of momentum, on a sum of bf16.
    pub fn step<N>(m: &mut bf16[N], g: bf16[N], rate: bf16) -> bf16 {
        m = rate * m + g;
        sum(m)
    }

    pub fn apply<B, I, O>(x: f32[B, I], layer: Layer<I, O>) -> (f32[B, O], Layer<I, O>) {
        let y = (x @ (layer.w as f32) + (layer.b as f32)) * (layer.scale as f32);
        (y, grad(sum(y), layer))
    }
}

#[test]
fn tensors_come_and_go() {
    let x = Array2::from_shape_fn((5, 3), |(i, k)| f16::from_f32((i + 2 * k) as f32 / 4.0));
    let w = Array2::from_shape_fn((3, 7), |(k, j)| f16::from_f32(k as f32 - j as f32));
    let expected = x.mapv(f16::to_f32).dot(&w.mapv(f16::to_f32)).mapv(f16::from_f32);
    assert_eq!(product(&x, &w).expect("it is legal"), expected);
    // Any strides.
    let turned = x.t().as_standard_layout().into_owned();
    assert_eq!(product(turned.t(), w.view()).expect("it is legal"), expected);
}

#[test]
fn scalars_and_states_too() {
    let mut m: Array1<bf16> = Array1::from_elem(300, bf16::from_f32(2.0));
    let g = Array1::from_elem(300, bf16::ONE);
    let total = step(&mut m, &g, bf16::from_f32(0.5)).expect("it is legal");
    assert_eq!(total, bf16::from_f32(600.0));
    assert!(m.iter().all(|m| *m == bf16::from_f32(2.0)));
}

#[test]
fn fields_are_leaves() {
    let mut layer = Layer::zeros(2, 3);
    layer.w.fill(bf16::from_f32(1.5));
    layer.b.fill(f16::from_f32(0.25));
    layer.scale = f16::from_f32(2.0);
    let (y, slope) = apply(&array![[1.0_f32, 2.0]], &layer).expect("it is legal");
    assert_eq!(y, array![[9.5_f32, 9.5, 9.5]]);
    assert_eq!(slope.scale, f16::from_f32(14.25));
    assert_eq!(slope.b, Array1::from_elem(3, f16::from_f32(2.0)));
    assert_eq!(slope.w, Array2::from_shape_fn((2, 3), |(i, _)| bf16::from_f32(2.0 * (i + 1) as f32)));
}

/// Saves a layer, loads it again, and leaves the file.
#[cfg(any(feature = "safetensors", feature = "npz"))]
fn saved(
    name: &str,
    save: fn(&Layer, &std::path::Path) -> Result<(), tensorjit::FileError>,
    load: fn(&mut Layer, &std::path::Path) -> Result<(), tensorjit::FileError>,
) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut layer = Layer::zeros(1, 2);
    layer.w.fill(bf16::from_f32(-3.5));
    layer.b = array![f16::from_f32(1.0), f16::from_f32(-0.1)];
    layer.scale = f16::from_bits(1);
    save(&layer, &path).expect("it is saved");
    let mut loaded = Layer::zeros(1, 2);
    load(&mut loaded, &path).expect("it is loaded");
    assert_eq!(loaded.leaves(), layer.leaves());
    std::fs::read(&path).expect("there is a file")
}

#[cfg(feature = "safetensors")]
#[test]
fn safetensors_have_them() {
    saved("halves.safetensors", |a, path| a.save_safetensors(path), |a, path| a.load_safetensors(path));
}

/// NumPy's `float16` by its name and bits, and `float32` for what it has not.
#[cfg(feature = "npz")]
#[test]
fn npz_has_them() {
    let bytes = saved("halves.npz", |a, path| a.save_npz(path), |a, path| a.load_npz(path));
    let places = |part: &[u8]| bytes.windows(part.len()).filter(|window| *window == part).count();
    assert_eq!([places(b"'descr': '<f2'"), places(b"'descr': '<f4'")], [2, 1]);
    // 1.0 and -0.1 as NumPy stores them, behind the line feed that ends the header.
    assert_eq!(places(&[b'\n', 0x00, 0x3c, 0x66, 0xae]), 1);
}

/// What is said names the type that the file needs.
#[cfg(feature = "npz")]
#[test]
fn npz_of_other_floats_is_refused() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("other_halves.npz");
    let refusal = |w: &dyn Fn(&mut ndarray_npy::NpzWriter<std::fs::File>)| {
        let mut npz = ndarray_npy::NpzWriter::new(std::fs::File::create(&path).expect("a file"));
        w(&mut npz);
        npz.finish().expect("it is written");
        Layer::zeros(1, 2).load_npz(&path).expect_err("another type").to_string()
    };
    let found = refusal(&|npz| npz.add_array("w", &array![[1_i16, 2]]).expect("it is written"));
    assert!(found.ends_with("tensor `w`: expected elements of f32, found '<i2'"), "{found}");
    let found = refusal(&|npz| {
        npz.add_array("w", &array![[1.0_f32, 2.0]]).expect("it is written");
        npz.add_array("b", &array![1.0_f32, 2.0]).expect("it is written");
    });
    assert!(found.ends_with("tensor `b`: expected elements of f16, found '<f4'"), "{found}");
}
