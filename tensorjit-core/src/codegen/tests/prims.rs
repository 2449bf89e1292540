//! Every lane-wise operation of every type it has, at all levels and lane counts: what it computes, and that
//! nothing is imported for it.

use std::iter;

use tensorjit_runtime::abi::DType;

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
        let mut samples: Vec<Vec<Scalar>> = tuples.filter(|args| self.eval(args, true).is_some()).collect();
        // As many as the widest vector needs.
        let spare = samples.len().next_multiple_of(32) - samples.len();
        samples.extend_from_within(..spare.min(samples.len()));
        while samples.len() % 32 != 0 {
            samples.push(samples[0].clone());
        }
        samples
    }
}

/// A number of one of the types.
#[derive(Clone, Copy, Debug)]
enum Scalar {
    Bool(bool),
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
}

use Scalar::*;

/// The values of a type that meet each other.
fn specials(dtype: DType) -> Vec<Scalar> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        1.0 / 3.0,
        1e-40,
        -3e-310,
        1e30,
        123_456.79,
        -7e18,
        2_147_483_520.0,
        16_777_217.0,
        1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        0.499_999_999_999_999_94,
    ];
    let ints =
        [0, 1, -1, 2, 3, -7, 31, 63, 255, 1 << 24, (1 << 24) + 1, i64::from(i32::MAX), i64::from(i32::MIN)];
    let long = [i64::MAX, i64::MIN, (1 << 53) + 1, (1 << 40) + (1 << 16) + 1];
    match dtype {
        DType::Bool => vec![Bool(false), Bool(true)],
        DType::I32 => ints.iter().map(|x| I32(*x as i32)).collect(),
        DType::I64 => ints.iter().chain(&long).map(|x| I64(*x)).collect(),
        DType::F32 => floats.iter().map(|x| F32(*x as f32)).collect(),
        DType::F64 => floats.iter().map(|x| F64(*x)).collect(),
    }
}

impl Scalar {
    fn bytes(self) -> Vec<u8> {
        match self {
            Bool(x) => vec![x.into()],
            I32(x) => x.to_ne_bytes().into(),
            I64(x) => x.to_ne_bytes().into(),
            F32(x) => x.to_ne_bytes().into(),
            F64(x) => x.to_ne_bytes().into(),
        }
    }

    fn read(dtype: DType, bytes: &[u8]) -> Scalar {
        let wrong = "as many bytes as the type has";
        match dtype {
            DType::Bool => {
                assert!(bytes[0] < 2, "a byte that is no bool: {}", bytes[0]);
                Bool(bytes[0] == 1)
            }
            DType::I32 => I32(i32::from_ne_bytes(bytes.try_into().expect(wrong))),
            DType::I64 => I64(i64::from_ne_bytes(bytes.try_into().expect(wrong))),
            DType::F32 => F32(f32::from_ne_bytes(bytes.try_into().expect(wrong))),
            DType::F64 => F64(f64::from_ne_bytes(bytes.try_into().expect(wrong))),
        }
    }

    /// The same bits, any NaN for another.
    fn same(self, other: Scalar) -> bool {
        match (self, other) {
            (F32(a), F32(b)) if a.is_nan() => b.is_nan(),
            (F64(a), F64(b)) if a.is_nan() => b.is_nan(),
            _ => self.bytes() == other.bytes(),
        }
    }
}

impl Row {
    /// What Rust makes of the operation; `None` where it is not defined.
    fn eval(self, args: &[Scalar], fused: bool) -> Option<Scalar> {
        match (self.prim, args) {
            (Prim::Select, [Bool(mask), a, b]) => Some(if *mask { *a } else { *b }),
            (Prim::Bitcast(to), [a]) => Some(Scalar::read(to, &a.bytes())),
            (Prim::Convert(to), [a]) => convert(*a, to),
            (Prim::Cmp(cmp), [a, b]) => Some(Bool(match (a, b) {
                (Bool(a), Bool(b)) => holds(cmp, a, b),
                (I32(a), I32(b)) => holds(cmp, a, b),
                (I64(a), I64(b)) => holds(cmp, a, b),
                (F32(a), F32(b)) => holds(cmp, a, b),
                (F64(a), F64(b)) => holds(cmp, a, b),
                _ => return None,
            })),
            (prim, [F32(a), rest @ ..]) => {
                let [b, c] = [0, 1].map(|i| if let Some(F32(x)) = rest.get(i) { *x } else { 0.0 });
                Some(F32(match prim {
                    Prim::Add => a + b,
                    Prim::Sub => a - b,
                    Prim::Mul => a * b,
                    Prim::FDiv => a / b,
                    Prim::Fma => {
                        if fused {
                            a.mul_add(b, c)
                        } else {
                            a * b + c
                        }
                    }
                    Prim::FNeg => -a,
                    Prim::FAbs => a.abs(),
                    Prim::Sqrt => a.sqrt(),
                    Prim::Floor => a.floor(),
                    Prim::Ceil => a.ceil(),
                    Prim::Trunc => a.trunc(),
                    Prim::RoundEven => a.round_ties_even(),
                    _ => return None,
                }))
            }
            (prim, [F64(a), rest @ ..]) => {
                let [b, c] = [0, 1].map(|i| if let Some(F64(x)) = rest.get(i) { *x } else { 0.0 });
                Some(F64(match prim {
                    Prim::Add => a + b,
                    Prim::Sub => a - b,
                    Prim::Mul => a * b,
                    Prim::FDiv => a / b,
                    Prim::Fma => {
                        if fused {
                            a.mul_add(b, c)
                        } else {
                            a * b + c
                        }
                    }
                    Prim::FNeg => -a,
                    Prim::FAbs => a.abs(),
                    Prim::Sqrt => a.sqrt(),
                    Prim::Floor => a.floor(),
                    Prim::Ceil => a.ceil(),
                    Prim::Trunc => a.trunc(),
                    Prim::RoundEven => a.round_ties_even(),
                    _ => return None,
                }))
            }
            (prim, [Bool(a), Bool(b)]) => Some(Bool(match prim {
                Prim::And => a & b,
                Prim::Or => a | b,
                Prim::Xor => a ^ b,
                _ => return None,
            })),
            (prim, [I32(a), I32(b)]) => Some(I32(match prim {
                Prim::Add => a.wrapping_add(*b),
                Prim::Sub => a.wrapping_sub(*b),
                Prim::Mul => a.wrapping_mul(*b),
                Prim::And => a & b,
                Prim::Or => a | b,
                Prim::Xor => a ^ b,
                Prim::Shl => a.checked_shl(u32::try_from(*b).ok()?)?,
                Prim::LShr => (*a as u32).checked_shr(u32::try_from(*b).ok()?)? as i32,
                Prim::AShr => a.checked_shr(u32::try_from(*b).ok()?)?,
                Prim::IDiv => a.checked_div(*b)?,
                Prim::IRem => a.checked_rem(*b)?,
                _ => return None,
            })),
            (prim, [I64(a), I64(b)]) => Some(I64(match prim {
                Prim::Add => a.wrapping_add(*b),
                Prim::Sub => a.wrapping_sub(*b),
                Prim::Mul => a.wrapping_mul(*b),
                Prim::And => a & b,
                Prim::Or => a | b,
                Prim::Xor => a ^ b,
                Prim::Shl => a.checked_shl(u32::try_from(*b).ok()?)?,
                Prim::LShr => (*a as u64).checked_shr(u32::try_from(*b).ok()?)? as i64,
                Prim::AShr => a.checked_shr(u32::try_from(*b).ok()?)?,
                Prim::IDiv => a.checked_div(*b)?,
                Prim::IRem => a.checked_rem(*b)?,
                _ => return None,
            })),
            _ => None,
        }
    }
}

fn holds<T: PartialOrd>(cmp: Cmp, a: T, b: T) -> bool {
    match cmp {
        Cmp::Eq => a == b,
        Cmp::Ne => a != b,
        Cmp::Lt => a < b,
        Cmp::Le => a <= b,
        Cmp::Gt => a > b,
        Cmp::Ge => a >= b,
    }
}

/// Rust's `as` where the result is in range.
fn convert(a: Scalar, to: DType) -> Option<Scalar> {
    let in_range = |x: f64, high: f64| x.trunc() >= -high && x.trunc() < high;
    Some(match (a, to) {
        (Bool(x), DType::Bool) => Bool(x),
        (Bool(x), DType::I32) => I32(x.into()),
        (Bool(x), DType::I64) => I64(x.into()),
        (Bool(x), DType::F32) => F32(x.into()),
        (Bool(x), DType::F64) => F64(x.into()),
        (I32(x), DType::Bool) => Bool(x != 0),
        (I32(x), DType::I32) => I32(x),
        (I32(x), DType::I64) => I64(x.into()),
        (I32(x), DType::F32) => F32(x as f32),
        (I32(x), DType::F64) => F64(x.into()),
        (I64(x), DType::Bool) => Bool(x != 0),
        (I64(x), DType::I32) => I32(x as i32),
        (I64(x), DType::I64) => I64(x),
        (I64(x), DType::F32) => F32(x as f32),
        (I64(x), DType::F64) => F64(x as f64),
        (F32(x), DType::Bool) => Bool(x != 0.0),
        (F32(x), DType::I32) => in_range(x.into(), 2_147_483_648.0).then_some(I32(x as i32))?,
        (F32(x), DType::I64) => in_range(x.into(), 9_223_372_036_854_775_808.0).then_some(I64(x as i64))?,
        (F32(x), DType::F32) => F32(x),
        (F32(x), DType::F64) => F64(x.into()),
        (F64(x), DType::Bool) => Bool(x != 0.0),
        (F64(x), DType::I32) => in_range(x, 2_147_483_648.0).then_some(I32(x as i32))?,
        (F64(x), DType::I64) => in_range(x, 9_223_372_036_854_775_808.0).then_some(I64(x as i64))?,
        (F64(x), DType::F32) => F32(x as f32),
        (F64(x), DType::F64) => F64(x),
    })
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
            let arity = row.operands().len();
            let mut inputs: Vec<Vec<u8>> = (0..arity)
                .map(|position| samples.iter().flat_map(|args| args[position].bytes()).collect())
                .collect();
            for lanes in LANES {
                let size = row.result.size();
                let mut output = vec![0_u8; samples.len() * size];
                let mut args: Vec<*mut u8> = inputs.iter_mut().map(|input| input.as_mut_ptr()).collect();
                args.push(output.as_mut_ptr());
                compiled.run(&format!("row{number}_{lanes}"), &args, &[samples.len() as i64], &mut []);
                for (args, found) in samples.iter().zip(output.chunks(size)) {
                    let expected = row.eval(args, target.fma).expect("samples are defined");
                    let found = Scalar::read(row.result, found);
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
    let slices: Vec<&[(String, Kernel)]> = groups.iter().map(Vec::as_slice).collect();
    let together = compile_all(&slices, Visibility::Hidden).expect("compiles");
    for (group, object) in groups.iter().zip(&together) {
        assert_eq!(&compile(group, Visibility::Hidden).expect("compiles"), object);
    }
}
