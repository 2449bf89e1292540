//! Lane-wise operations as Rust computes them.

use std::collections::BTreeSet;

use half::{bf16, f16};
use tensorjit_runtime::abi::DType;

use crate::graph::value;
use crate::lanes::{Cmp, Prim};

/// A number of one of the types.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar {
    Bool(bool),
    Int(DType, i128),
    /// The bits of a float of 16.
    Half(DType, u16),
    F32(f32),
    F64(f64),
}

use Scalar::*;

/// Repeats tuples until the widest vector divides their number.
pub(super) fn pad(samples: &mut Vec<Vec<Scalar>>) {
    for again in (0..samples.len()).cycle() {
        if samples.len().is_multiple_of(64) {
            return;
        }
        samples.push(samples[again].clone());
    }
}

/// The values of a type that meet each other.
pub(super) fn specials(dtype: DType) -> Vec<Scalar> {
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
        DType::F32 => floats.iter().map(|x| F32(*x as f32)).collect(),
        DType::F64 => floats.iter().map(|x| F64(*x)).collect(),
        DType::F16 | DType::BF16 => floats.iter().map(|x| Scalar::of(dtype, *x)).collect(),
        dtype => {
            let (least, greatest) = dtype.bounds();
            let wrapped = ints.iter().chain(&long).map(|x| dtype.wrap((*x).into()));
            let all: BTreeSet<i128> = wrapped.chain([least, least + 1, greatest, greatest - 1]).collect();
            all.into_iter().map(|x| Int(dtype, x)).collect()
        }
    }
}

/// Every float of 16 bits.
pub(super) fn halves(dtype: DType) -> impl Iterator<Item = Scalar> {
    (0..=u16::MAX).map(move |bits| Half(dtype, bits))
}

/// Every float of 16 bits as one of 32, what lies in the middle between it and the next, and the floats beside that.
pub(super) fn around_halves(dtype: DType) -> impl Iterator<Item = Scalar> {
    halves(dtype).flat_map(move |half| {
        let next = match half {
            Half(_, bits) => Half(dtype, bits.wrapping_add(1)),
            other => other,
        };
        let middle = half.single() / 2.0 + next.single() / 2.0;
        [half.single(), middle, middle.next_up(), middle.next_down()].map(F32)
    })
}

impl Scalar {
    pub(super) fn bytes(self) -> Vec<u8> {
        match self {
            Bool(x) => vec![x.into()],
            Int(dtype, x) => x.to_le_bytes()[..dtype.size()].into(),
            Half(_, bits) => bits.to_ne_bytes().into(),
            F32(x) => x.to_ne_bytes().into(),
            F64(x) => x.to_ne_bytes().into(),
        }
    }

    pub(super) fn read(dtype: DType, bytes: &[u8]) -> Scalar {
        let wrong = "as many bytes as the type has";
        match dtype {
            DType::Bool => {
                assert!(bytes[0] < 2, "a byte that is no bool: {}", bytes[0]);
                Bool(bytes[0] == 1)
            }
            DType::F32 => F32(f32::from_ne_bytes(bytes.try_into().expect(wrong))),
            DType::F64 => F64(f64::from_ne_bytes(bytes.try_into().expect(wrong))),
            DType::F16 | DType::BF16 => Half(dtype, u16::from_ne_bytes(bytes.try_into().expect(wrong))),
            dtype => {
                assert_eq!(bytes.len(), dtype.size(), "{wrong}");
                let number = bytes.iter().rev().fold(0, |number, byte| number << 8 | i128::from(*byte));
                Int(dtype, dtype.wrap(number))
            }
        }
    }

    /// The number of a type nearest to `value`; a bool is whether it is below a half.
    pub(super) fn of(dtype: DType, value: f64) -> Scalar {
        match dtype {
            DType::Bool => Bool(value < 0.5),
            DType::F32 => F32(value as f32),
            DType::F64 => F64(value),
            DType::F16 => Half(dtype, f16::from_f64(value).to_bits()),
            DType::BF16 => Half(dtype, bf16::from_f64(value).to_bits()),
            dtype => {
                let (least, greatest) = dtype.bounds();
                Int(dtype, (value as i128).clamp(least, greatest))
            }
        }
    }

    /// As the oracle holds it.
    pub(super) fn wide(self) -> value::Scalar {
        match self {
            Bool(x) => value::Scalar::Bool(x),
            Int(_, x) => value::Scalar::Int(x),
            Half(..) => value::Scalar::Float(self.single().into()),
            F32(x) => value::Scalar::Float(x.into()),
            F64(x) => value::Scalar::Float(x),
        }
    }

    /// The value of a float of 16 bits.
    fn single(self) -> f32 {
        match self {
            Half(DType::F16, bits) => f16::from_bits(bits).to_f32(),
            Half(_, bits) => bf16::from_bits(bits).to_f32(),
            other => panic!("{other:?} has not 16 bits"),
        }
    }

    /// The same bits, any NaN for another.
    pub(super) fn same(self, other: Scalar) -> bool {
        match (self, other) {
            (F32(a), F32(b)) if a.is_nan() => b.is_nan(),
            (F64(a), F64(b)) if a.is_nan() => b.is_nan(),
            (Half(..), Half(..)) if self.single().is_nan() => other.single().is_nan(),
            _ => self.bytes() == other.bytes(),
        }
    }
}

/// `a * 2^b` where it is defined and, in f64, exact.
fn scale(a: f64, b: f64, most: f64) -> Option<f64> {
    let defined = (0.5..=2.0).contains(&a.abs()) || a == 0.0 || a.is_nan();
    (defined && b.abs() <= most && b.trunc() == b).then(|| a * b.exp2())
}

/// What Rust makes of an operation; `None` where it is not defined.
pub(super) fn eval(prim: Prim, args: &[Scalar], fused: bool) -> Option<Scalar> {
    match (prim, args) {
        (Prim::Select, [Bool(mask), a, b]) => Some(if *mask { *a } else { *b }),
        (Prim::Bitcast(to), [a]) => Some(Scalar::read(to, &a.bytes())),
        (Prim::Convert(to), [a]) => convert(*a, to),
        (Prim::Cmp(cmp), [a, b]) => Some(Bool(match (a, b) {
            (Bool(a), Bool(b)) => holds(cmp, a, b),
            (Int(_, a), Int(_, b)) => holds(cmp, a, b),
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
                Prim::Scale => scale(f64::from(*a), f64::from(b), 250.0)? as f32,
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
                Prim::Scale => scale(*a, b, 1000.0)?,
                _ => return None,
            }))
        }
        (prim, [Bool(a), Bool(b)]) => Some(Bool(match prim {
            Prim::And => a & b,
            Prim::Or => a | b,
            Prim::Xor => a ^ b,
            _ => return None,
        })),
        (prim, [Int(dtype, a), Int(_, b)]) => {
            let width = 8 * dtype.size() as i128;
            let bits = a.rem_euclid(1 << width);
            let amount = (0..width).contains(b).then_some(*b as u32);
            let value = match prim {
                Prim::Add => a + b,
                Prim::Sub => a - b,
                Prim::Mul => a.wrapping_mul(*b),
                Prim::And => a & b,
                Prim::Or => a | b,
                Prim::Xor => a ^ b,
                Prim::Shl => bits.wrapping_shl(amount?),
                Prim::LShr => bits >> amount?,
                Prim::AShr => a >> amount?,
                // The least signed number over -1 traps.
                Prim::IDiv => {
                    Some(a.checked_div(*b)?).filter(|quotient| dtype.wrap(*quotient) == *quotient)?
                }
                Prim::IRem if *b == -1 && *a == dtype.bounds().0 => return None,
                Prim::IRem => a.checked_rem(*b)?,
                _ => return None,
            };
            Some(Int(*dtype, dtype.wrap(value)))
        }
        _ => None,
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
    let whole = |x: f64| {
        let (least, greatest) = to.bounds();
        let number = x as i128;
        (x.is_finite() && (least..=greatest).contains(&number)).then_some(Int(to, number))
    };
    Some(match (a, to) {
        (Half(from, _), to) if from == to => a,
        (Half(..), DType::F32) => F32(a.single()),
        (F32(x), DType::F16) => Half(to, f16::from_f32(x).to_bits()),
        (F32(x), DType::BF16) => Half(to, bf16::from_f32(x).to_bits()),
        (Half(..), _) => return None,
        (_, to) if to.is_half() => return None,
        (Bool(x), DType::Bool) => Bool(x),
        (Bool(x), DType::F32) => F32(x.into()),
        (Bool(x), DType::F64) => F64(x.into()),
        (Bool(x), to) => Int(to, x.into()),
        (Int(_, x), DType::Bool) => Bool(x != 0),
        (Int(_, x), DType::F32) => F32(x as f32),
        (Int(_, x), DType::F64) => F64(x as f64),
        (Int(_, x), to) => Int(to, to.wrap(x)),
        (F32(x), DType::Bool) => Bool(x != 0.0),
        (F32(x), DType::F32) => F32(x),
        (F32(x), DType::F64) => F64(x.into()),
        (F32(x), _) => whole(x.into())?,
        (F64(x), DType::Bool) => Bool(x != 0.0),
        (F64(x), DType::F32) => F32(x as f32),
        (F64(x), DType::F64) => F64(x),
        (F64(x), _) => whole(x)?,
    })
}
