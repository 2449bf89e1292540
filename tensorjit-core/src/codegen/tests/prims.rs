//! Every lane-wise operation of every type it has, at all levels and lane counts: what it computes, and that
//! nothing is imported for it.

use std::iter;

use tensorjit_runtime::abi::DType;

use super::scalar::{self, Scalar, eval, specials};
use super::{Compiled, TRIPLE, runnable};
use crate::codegen::object::{MAY_IMPORT, undefined_symbols};
use crate::codegen::{Visibility, compile, compile_all, targets};
use crate::lanes::{Cmp, Prim};
use crate::loops::tests::Sketch;
use crate::loops::verify::{arity, legal};
use crate::loops::{Kernel, Target, Ty};

const LANES: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// An operation with the types of its operands (the mask of a select aside) and its result.
#[derive(Clone, Copy, Debug)]
struct Row {
    prim: Prim,
    source: DType,
    result: DType,
}

/// All operations that the verifier lets pass.
fn rows() -> Vec<Row> {
    let relations = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge].map(Prim::Cmp);
    let casts = DType::ALL.into_iter().flat_map(|to| [Prim::Bitcast(to), Prim::Convert(to)]);
    [
        Prim::Add,
        Prim::Sub,
        Prim::Mul,
        Prim::FDiv,
        Prim::Fma,
        Prim::FNeg,
        Prim::FAbs,
        Prim::Sqrt,
        Prim::Floor,
        Prim::Ceil,
        Prim::Trunc,
        Prim::RoundEven,
        Prim::Scale,
        Prim::Select,
        Prim::And,
        Prim::Or,
        Prim::Xor,
        Prim::Shl,
        Prim::LShr,
        Prim::AShr,
        Prim::IDiv,
        Prim::IRem,
    ]
    .into_iter()
    .chain(relations)
    .chain(casts)
    .flat_map(|prim| {
        let pairs = DType::ALL.into_iter().flat_map(|s| DType::ALL.into_iter().map(move |r| (s, r)));
        pairs.filter(move |(s, r)| legal(prim, *s, *r)).map(move |(source, result)| Row {
            prim,
            source,
            result,
        })
    })
    .collect()
}

impl Row {
    fn operands(self) -> Vec<DType> {
        let mask = (self.prim == Prim::Select).then_some(DType::Bool);
        mask.into_iter().chain(iter::repeat(self.source)).take(arity(self.prim)).collect()
    }

    /// Applies the operation to every element of its arguments.
    fn kernel(self, target: &Target, lanes: u32) -> Kernel {
        let mut k = Sketch::on(target.clone());
        let operands = self.operands();
        let inputs: Vec<_> = operands.iter().zip(0..).map(|(dtype, number)| k.arg(*dtype, number)).collect();
        let output = k.arg(self.result, inputs.len() as u32);
        let (zero, n) = (k.int(DType::I64, 0), k.symbol(0));
        k.repeat((zero, n, lanes.into()), &[], |k, index, _| {
            let args: Vec<_> = inputs.iter().map(|input| k.load(*input, index, lanes, None)).collect();
            let value = k.prim(self.prim, &args, Ty { dtype: self.result, lanes });
            k.store(output, index, value, None);
            vec![]
        });
        k.finish()
    }

    /// Operands on which the operation is defined, by position; the values of each type meet each other.
    fn samples(self) -> Vec<Vec<Scalar>> {
        let pools: Vec<Vec<Scalar>> = self.operands().into_iter().map(specials).collect();
        let count: usize = pools.iter().map(Vec::len).product();
        let tuples = (0..count).map(|mut number| {
            let pick = |pool: &Vec<Scalar>| {
                let value = pool[number % pool.len()];
                number /= pool.len();
                value
            };
            pools.iter().map(pick).collect::<Vec<_>>()
        });
        let mut samples: Vec<Vec<Scalar>> =
            tuples.filter(|args| eval(self.prim, args, true).is_some()).collect();
        // As many as the widest vector needs.
        scalar::pad(&mut samples);
        samples
    }
}

/// The results are those of Rust, bit for bit, at every level of this machine.
#[test]
fn operations_compute_what_they_say() {
    let rows = rows();
    for target in runnable() {
        let kernels: Vec<(String, Kernel)> = rows
            .iter()
            .enumerate()
            .flat_map(|(number, row)| {
                let target = &target;
                LANES.map(move |lanes| (format!("row{number}_{lanes}"), row.kernel(target, lanes)))
            })
            .collect();
        let compiled = Compiled::of(&kernels);
        for (number, row) in rows.iter().enumerate() {
            let samples = row.samples();
            for lanes in LANES {
                let results = compiled.map(&format!("row{number}_{lanes}"), &samples, row.result);
                for (args, found) in samples.iter().zip(results) {
                    let expected = eval(row.prim, args, target.fma).expect("samples are defined");
                    assert!(
                        expected.same(found),
                        "{row:?} of {args:?}: {found:?}, not {expected:?}, {lanes} lanes, {:?}",
                        target.level
                    );
                }
            }
        }
    }
}

/// Every float of 16 bits becomes the `f32` of its value, and around all of them `f32` is rounded to nearest and even.
#[test]
fn floats_of_16_bits_are_converted_exactly() {
    for target in runnable() {
        for (dtype, lanes) in
            [DType::F16, DType::BF16].into_iter().flat_map(|d| [1, 8, 16, 32].map(|l| (d, l)))
        {
            let rows = [(dtype, DType::F32), (DType::F32, dtype)].map(|(source, result)| Row {
                prim: Prim::Convert(result),
                source,
                result,
            });
            let kernels = rows.map(|row| (format!("to_{}", row.result.name()), row.kernel(&target, lanes)));
            let compiled = Compiled::of(&kernels);
            let samples = [
                scalar::halves(dtype).map(|half| vec![half]).collect::<Vec<_>>(),
                scalar::around_halves(dtype).map(|single| vec![single]).collect(),
            ];
            for ((row, (symbol, _)), samples) in rows.iter().zip(&kernels).zip(samples) {
                let results = compiled.map(symbol, &samples, row.result);
                for (args, found) in samples.iter().zip(results) {
                    let expected = eval(row.prim, args, target.fma).expect("it is defined");
                    let same = expected.same(found);
                    assert!(same, "{row:?} of {args:?}: {found:?}, not {expected:?}, {:?}", target.level);
                }
            }
        }
    }
}

/// No operation makes an object import more than it may, on any target, also those this machine cannot run.
#[test]
fn operations_import_nothing() {
    for triple in ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"] {
        for target in targets(triple, None).expect("a supported target") {
            let kernels: Vec<(String, Kernel)> = rows()
                .into_iter()
                .enumerate()
                .flat_map(|(number, row)| {
                    LANES.map(|lanes| (format!("row{number}_{lanes}"), row.kernel(&target, lanes)))
                })
                .collect();
            let object = compile(&kernels, Visibility::Hidden).expect("compiles");
            let imports = undefined_symbols(&object.bytes).expect("reads");
            let unwanted: Vec<_> =
                imports.iter().filter(|name| !MAY_IMPORT.contains(&name.as_str())).collect();
            assert!(unwanted.is_empty(), "{triple} {:?} imports {unwanted:?}", target.level);
        }
    }
}

/// Compiling twice, alone or beside others, gives the same bytes.
#[test]
fn objects_are_reproducible() {
    let row = Row { prim: Prim::Fma, source: DType::F32, result: DType::F32 };
    let groups: Vec<Vec<(String, Kernel)>> = targets(TRIPLE, None)
        .expect("a supported machine")
        .iter()
        .map(|target| vec![("fma".to_owned(), row.kernel(target, 16))])
        .collect();
    let together = compile_all(&groups, Visibility::Hidden).expect("compiles");
    for (group, object) in groups.iter().zip(&together) {
        assert_eq!(&compile(group, Visibility::Hidden).expect("compiles"), object);
    }
}
