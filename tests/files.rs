//! Structs of tensors in files: what is saved is loaded by name, and what does not fit is told by name.

use std::fs;
use std::path::{Path, PathBuf};

use ndarray_npy::{NpzReader, NpzWriter};
use tensorjit::ndarray::{Array1, Array2, arr0};
use tensorjit::{FileError, LeafMut, Problem, tensor_fn};

tensor_fn! {
    /// Weights and a bias.
    pub struct Layer<I, O> { wq: f32[I, O], b: f64[O] }

    /// Every element type.
    pub struct Model<I, O> { layers: [Layer<I, O>; 3], step: i64, mask: bool[O], scale: f32, ids: i32[2], bytes: u8[3], words: i16, wide: u64[2] }
}

/// How a format is saved and loaded.
struct Format {
    name: &'static str,
    save: fn(&Model, &Path) -> Result<(), FileError>,
    load: fn(&mut Model, &Path) -> Result<(), FileError>,
}

const FORMATS: [Format; 2] = [
    Format {
        name: "safetensors",
        save: |model, path| model.save_safetensors(path),
        load: |model, path| model.load_safetensors(path),
    },
    Format {
        name: "npz",
        save: |model, path| model.save_npz(path),
        load: |model, path| model.load_npz(path),
    },
];

fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("files");
    fs::create_dir_all(&folder).expect("a folder");
    folder.join(name)
}

/// Every element another value.
fn model() -> Model {
    let mut count = 0;
    let mut next = || {
        count += 1;
        count
    };
    Model::zeros(2, 3).map(|_, leaf| match leaf {
        LeafMut::F32(mut leaf) => leaf.mapv_inplace(|_| next() as f32 + 0.25),
        LeafMut::F64(mut leaf) => leaf.mapv_inplace(|_| f64::from(next()) + 1e-9),
        LeafMut::I32(mut leaf) => leaf.mapv_inplace(|_| -next()),
        LeafMut::I64(mut leaf) => leaf.mapv_inplace(|_| i64::from(next()) << 40),
        LeafMut::U8(mut leaf) => leaf.mapv_inplace(|_| next() as u8 + 200),
        LeafMut::I16(mut leaf) => leaf.mapv_inplace(|_| -(next() as i16)),
        LeafMut::U64(mut leaf) => leaf.mapv_inplace(|_| u64::MAX - next() as u64),
        LeafMut::Bool(mut leaf) => leaf.mapv_inplace(|_| next() % 2 == 0),
        _ => unreachable!(),
    })
}

fn same(a: &Model, b: &Model) -> bool {
    a.leaves() == b.leaves()
}

#[test]
fn what_is_saved_is_loaded() {
    for format in FORMATS {
        let path = file(&format!("all.{}", format.name));
        let saved = model();
        (format.save)(&saved, &path).expect("it is saved");
        let mut loaded = Model::zeros(2, 3);
        assert!(!same(&loaded, &saved));
        (format.load)(&mut loaded, &path).expect("it is loaded");
        assert!(same(&loaded, &saved), "{}", format.name);
    }
}

#[test]
fn what_does_not_fit_is_named_and_changes_nothing() {
    for format in FORMATS {
        let path = file(&format!("shape.{}", format.name));
        (format.save)(&model(), &path).expect("it is saved");
        let mut other = Model::zeros(2, 3);
        other.layers[2].wq = Array2::zeros((2, 4));
        let before = other.clone();
        let error = (format.load)(&mut other, &path).expect_err("another shape");
        assert_eq!(
            error.to_string(),
            format!("{}: tensor `layers.2.wq`: expected shape [2, 4], found [2, 3]", path.display())
        );
        assert!(same(&other, &before), "{}", format.name);
        assert_eq!(error.path(), path);

        let none = file(&format!("none.{}", format.name));
        let error = (format.load)(&mut other, &none).expect_err("no file");
        assert!(matches!(error.problem(), Problem::File(_)));
        fs::write(&none, "no such format").expect("a file");
        let error = (format.load)(&mut other, &none).expect_err("no such format");
        assert!(matches!(error.problem(), Problem::File(_)));
        fs::remove_file(&none).expect("it is removed");
    }
}

/// The names and types are those that NumPy's users see.
#[test]
fn others_read_and_write_the_files() {
    let path = file("others.npz");
    let saved = model();
    saved.save_npz(&path).expect("it is saved");
    let mut npz = NpzReader::new(fs::File::open(&path).expect("a file")).expect("an archive");
    let b: Array1<f64> = npz.by_name("layers.1.b").expect("a leaf");
    assert_eq!(b, saved.layers[1].b);

    let mut npz = NpzWriter::new(fs::File::create(&path).expect("a file"));
    npz.add_array("layers.0.wq", &Array2::<f64>::zeros((2, 3))).expect("it is written");
    npz.finish().expect("it is written");
    let error = Model::zeros(2, 3).load_npz(&path).expect_err("another type");
    assert_eq!(
        error.to_string(),
        format!("{}: tensor `layers.0.wq`: expected elements of f32, found '<f8'", path.display())
    );

    let mut npz = NpzWriter::new(fs::File::create(&path).expect("a file"));
    npz.add_array("layers.0.wq", &Array2::<f32>::zeros((2, 3))).expect("it is written");
    npz.add_array("unknown", &arr0(1.0_f32)).expect("it is written");
    npz.finish().expect("it is written");
    let error = Model::zeros(2, 3).load_npz(&path).expect_err("a leaf is missing");
    assert_eq!(error.to_string(), format!("{}: there is no tensor `layers.0.b`", path.display()));
}

/// Also those that promise more than there is memory for.
#[test]
fn damaged_headers_are_errors() {
    let path = file("damaged.npz");
    let mut npz = NpzWriter::new(fs::File::create(&path).expect("a file"));
    npz.add_array("layers.0.wq", &Array2::<f32>::zeros((2, 3))).expect("it is written");
    npz.finish().expect("it is written");
    let bytes = fs::read(&path).expect("there is a file");
    let shape = b"(2, 3)}                 ";
    let place = bytes.windows(shape.len()).position(|window| window == shape).expect("a shape");
    // The last two promise more than processors can address, and more than there are numbers of bytes.
    for promised in
        ["(2, 4)}", "(2, 2)}", "(2, 500000000000)}", "(2, 500000000000000)}", "(9, 999999999999999999)}"]
    {
        let mut bytes = bytes.clone();
        bytes[place..place + shape.len()].copy_from_slice(format!("{promised:24}").as_bytes());
        fs::write(&path, bytes).expect("it is written");
        let mut model = Model::zeros(2, 3);
        let error = model.load_npz(&path).expect_err(promised);
        assert!(matches!(error.problem(), Problem::File(_)), "{promised}: {error}");
        assert!(same(&model, &Model::zeros(2, 3)));
    }
}

/// A file of eight bytes of length, a header and the elements, as the format's definition says.
#[test]
fn safetensors_are_read_as_they_are_defined() {
    let path = file("defined.safetensors");
    let header = r#"{"b":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"more":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]},"wq":{"dtype":"F32","shape":[1,1],"data_offsets":[12,16]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend(2.5_f64.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend((-1.5_f32).to_le_bytes());
    fs::write(&path, bytes).expect("a file");
    let mut layer = Layer::zeros(1, 1);
    layer.load_safetensors(&path).expect("it is loaded");
    assert_eq!((layer.wq[(0, 0)], layer.b[0]), (-1.5, 2.5));
}
