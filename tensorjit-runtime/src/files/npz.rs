//! NumPy's format: what `numpy.savez` writes and `numpy.load` reads.
//!
//! It has no `bf16`, whose numbers stand in a file as the `f32` that they are.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use ndarray::ArrayD;
use ndarray_npy::{
    NpzReader, NpzWriter, ReadDataError, ReadNpyError, ReadNpzError, ReadableElement, WritableElement,
    WriteDataError,
};
use py_literal::Value;

use super::{FileError, Loaded, Problem, load as load_leaves};
use crate::abi::DType;
use crate::elements::for_primitive_elements;
use crate::half::{bf16, f16};
use crate::leaves::{Leaf, Leaves};

/// Saves all leaves.
///
/// # Errors
///
/// If the file cannot be written.
pub fn save(value: &impl Leaves, path: &Path) -> Result<(), FileError> {
    let write = || {
        let mut npz = NpzWriter::new(File::create(path).map_err(Problem::file)?);
        for (name, leaf) in value.leaves() {
            add(&mut npz, name, &leaf)?;
        }
        npz.finish().map_err(Problem::file)?;
        Ok(())
    };
    write().map_err(|problem: Problem| problem.at(path))
}

/// Loads all leaves, whose element types and shapes must be those of the file.
///
/// # Errors
///
/// If the file cannot be read, or lacks a leaf or has it with another type or shape; no leaf has changed then.
pub fn load(value: &mut impl Leaves, path: &Path) -> Result<(), FileError> {
    let mut read = || {
        let file = File::open(path).map_err(Problem::file)?;
        let mut npz = NpzReader::new(file).map_err(Problem::file)?;
        let names = npz.names().map_err(Problem::file)?;
        load_leaves(value, |leaf, expected| {
            if !names.iter().any(|name| name == leaf) {
                return Err(Problem::Missing { leaf: leaf.to_owned() });
            }
            read_array(&mut npz, leaf, expected)
        })
    };
    read().map_err(|problem| problem.at(path))
}

macro_rules! arrays {
    ($($variant:ident: $rust:ty,)*) => {
        fn add(npz: &mut NpzWriter<File>, name: String, leaf: &Leaf<'_>) -> Result<(), Problem> {
            match leaf {
                $(Leaf::$variant(view) => npz.add_array(name, view),)*
                Leaf::F16(view) => npz.add_array(name, &view.mapv(|x| Half(x.to_bits()))),
                Leaf::BF16(view) => npz.add_array(name, &view.mapv(bf16::to_f32)),
            }
            .map_err(Problem::file)
        }

        fn read_array(npz: &mut NpzReader<File>, leaf: &str, expected: DType) -> Result<Loaded, Problem> {
            Ok(match expected {
                $(DType::$variant => Loaded::$variant(array(npz, leaf, expected)?),)*
                DType::F16 => Loaded::F16(array(npz, leaf, expected)?.mapv(|Half(bits)| f16::from_bits(bits))),
                DType::BF16 => Loaded::BF16(array(npz, leaf, DType::F32)?.mapv(bf16::from_f32)),
            })
        }
    };
}
for_primitive_elements!(arrays);

fn array<T: ReadableElement + Copy>(
    npz: &mut NpzReader<File>,
    leaf: &str,
    expected: DType,
) -> Result<ArrayD<T>, Problem> {
    let array: ArrayD<InParts<T>> = npz.by_name(leaf).map_err(|error| match error {
        ReadNpzError::Npy(ReadNpyError::WrongDescriptor(found)) => {
            Problem::ElementType { leaf: leaf.to_owned(), expected, found: found.to_string() }
        }
        error => Problem::file(error),
    })?;
    Ok(array.mapv(|InParts(element)| element))
}

/// An element of a list that is read a part at a time.
///
/// The crate of the format takes memory for as many elements as the header of a tensor promises, and the process ends
/// where there is not so much: a damaged file must be an error.
#[derive(Clone, Copy)]
struct InParts<T>(T);

impl<T: ReadableElement> ReadableElement for InParts<T> {
    fn read_to_end_exact_vec<R: Read>(
        mut reader: R,
        descriptor: &Value,
        len: usize,
    ) -> Result<Vec<InParts<T>>, ReadDataError> {
        const PART: usize = 1 << 16;
        let mut elements = Vec::new();
        elements.try_reserve_exact(len).map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
        loop {
            let count = PART.min(len - elements.len());
            let part = reader.by_ref().take((count * size_of::<T>()) as u64);
            let part = T::read_to_end_exact_vec(part, descriptor, count)?;
            elements.extend(part.into_iter().map(InParts));
            if elements.len() == len {
                break;
            }
        }
        match io::copy(&mut reader, &mut io::sink())? {
            0 => Ok(elements),
            extra => Err(ReadDataError::ExtraBytes(usize::try_from(extra).unwrap_or(usize::MAX))),
        }
    }
}

/// The bits of an `f16`, which the crate of the format does not know.
#[derive(Clone, Copy)]
struct Half(u16);

impl WritableElement for Half {
    fn type_descriptor() -> Value {
        Value::String("<f2".to_owned())
    }

    fn write<W: Write>(&self, mut writer: W) -> Result<(), WriteDataError> {
        Ok(writer.write_all(&self.0.to_le_bytes())?)
    }

    fn write_slice<W: Write>(slice: &[Half], mut writer: W) -> Result<(), WriteDataError> {
        let bytes: Vec<u8> = slice.iter().flat_map(|half| half.0.to_le_bytes()).collect();
        Ok(writer.write_all(&bytes)?)
    }
}

impl ReadableElement for Half {
    fn read_to_end_exact_vec<R: Read>(
        reader: R,
        descriptor: &Value,
        len: usize,
    ) -> Result<Vec<Half>, ReadDataError> {
        // Integers of the same size are in the file as these bits are.
        let integers = match descriptor {
            Value::String(text) if text == "<f2" => "<u2",
            Value::String(text) if text == ">f2" => ">u2",
            other => return Err(ReadDataError::WrongDescriptor(other.clone())),
        };
        let bits = u16::read_to_end_exact_vec(reader, &Value::String(integers.to_owned()), len)?;
        Ok(bits.into_iter().map(Half).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements that so many of `u16` are found to be in `bytes`, or what is wrong.
    fn read(bytes: &[u8], len: usize) -> Result<Vec<u16>, String> {
        let descriptor = Value::String("<u2".to_owned());
        let found = InParts::<u16>::read_to_end_exact_vec(bytes, &descriptor, len);
        found.map(|list| list.into_iter().map(|x| x.0).collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn parts_make_the_whole() {
        for len in [0, 1, 65_535, 65_536, 65_537, 150_000] {
            let numbers: Vec<u16> = (0..len).map(|i: usize| i.wrapping_mul(7) as u16).collect();
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            assert_eq!(read(&bytes, len), Ok(numbers), "{len}");
            for missing in [1, 70_000, 1 << 32] {
                assert!(read(&bytes, len + missing).is_err(), "{len} and {missing}");
            }
            if len > 0 {
                assert!(read(&bytes, len - 1).is_err_and(|error| error.contains('2')), "{len}");
            }
        }
        assert!(read(&[], 1 << 60).is_err_and(|error| error.contains("memory")));
    }

    #[test]
    fn other_types_are_told() {
        let descriptor = Value::String("<f4".to_owned());
        let found = InParts::<u16>::read_to_end_exact_vec(&[0; 6][..], &descriptor, 3);
        assert!(matches!(found, Err(ReadDataError::WrongDescriptor(_))));
    }
}
