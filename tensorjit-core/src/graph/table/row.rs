//! What a row of the table says of a function.  No column is optional: what does not apply is said as a value.

use tensorjit_runtime::abi::DType;

use super::formula::Formula;
use super::{Scalar, wrap};
use crate::diag::Bug;
use crate::graph::value::{round, round_int};
use crate::lanes::{Lanes, Val};

/// Everything that is known of an elementwise function.
#[derive(Debug)]
pub struct Row {
    /// The name in the language and in the textual form of graphs; operators have names such as `add`.
    pub name: &'static str,
    /// How it is written.
    pub form: Form,
    /// What it computes, one sentence.
    pub doc: &'static str,
    /// The operands in order; their number is the arity.
    pub operands: &'static [Operand],
    /// Which element types it takes and gives.
    pub types: TypeRule,
    /// The value, by which interpreter and folder compute and tests judge.
    pub eval: Eval,
    /// The derivative.
    pub derivative: Derivative,
    /// Where it is not smooth, and what the derivative is there.
    pub kinks: Kinks,
    /// How machine vectors compute it.
    pub lower: Lower,
    /// How far that may be from the true value.
    pub accuracy: Accuracy,
}

/// Builds the operations for operands whose numbers have the given element type.
pub type Lower = fn(&mut dyn Lanes, DType, &[Val]) -> Val;

/// How the language writes a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `name(a, b)`.
    Call,
    /// `a + b`, with how strongly it binds.
    Infix(&'static str, u8),
    /// `-a`.
    Prefix(&'static str),
    /// `a as f32`.
    As,
    /// Not at all: the compiler alone makes it.
    Internal,
}

/// An operand: its name, and the range in which tests sample it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operand {
    /// As the documentation calls it.
    pub name: &'static str,
    /// The least sample.
    pub low: f64,
    /// The greatest sample.
    pub high: f64,
}

/// An operand sampled in `low..high`.
pub(super) const fn operand(name: &'static str, low: f64, high: f64) -> Operand {
    Operand { name, low, high }
}

/// Which element types a function takes, and which it gives for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeRule {
    /// Numbers of one type to the same type.
    Number,
    /// Floats of one type to the same type.
    Float,
    /// Floats of one type that is computed as itself, to the same type.
    OwnFloat,
    /// Integers of one type, or bools, to the same type.
    Bits,
    /// Integers of one type to the same type.
    Int,
    /// A float to the integer of its width.
    ToBits,
    /// An integer to the float of its width.
    FromBits,
    /// A float to a bool.
    FloatTest,
    /// Numbers of one type to a bool.
    Order,
    /// Numbers of one type, or bools, to a bool.
    Equality,
    /// A bool and two of any one type, to that type.
    Select,
    /// Anything to the type.
    Cast(DType),
}

/// All types by their order: bool, the integers, the floats, those that are computed as others.
const TYPES: &[DType] = &DType::ALL;
const BITS: &[DType] = TYPES.split_at(9).0;
const INTEGERS: &[DType] = BITS.split_at(1).1;
const COMPUTED: &[DType] = TYPES.split_at(11).0;
const NUMBERS: &[DType] = COMPUTED.split_at(1).1;
const FLOATS: &[DType] = COMPUTED.split_at(9).1;

impl TypeRule {
    /// The element types that the operands may have; of [`TypeRule::Select`], the second and third.
    pub const fn accepts(self) -> &'static [DType] {
        match self {
            TypeRule::Number | TypeRule::Order => NUMBERS,
            TypeRule::Float | TypeRule::OwnFloat | TypeRule::FloatTest | TypeRule::ToBits => FLOATS,
            TypeRule::Int => INTEGERS,
            TypeRule::FromBits => &[DType::I32, DType::I64, DType::U32, DType::U64],
            TypeRule::Bits => BITS,
            TypeRule::Equality => COMPUTED,
            TypeRule::Select | TypeRule::Cast(_) => TYPES,
        }
    }

    /// Whether the language applies it to the type: directly, or as what the type is computed as.
    pub fn takes(self, dtype: DType) -> bool {
        match self {
            TypeRule::ToBits | TypeRule::OwnFloat => self.accepts().contains(&dtype),
            _ => self.accepts().contains(&dtype.computed()),
        }
    }

    /// The element type of the operand at `position`, where the function works on `dtype`.
    pub const fn operand(self, position: usize, dtype: DType) -> DType {
        match (self, position) {
            (TypeRule::Select, 0) => DType::Bool,
            _ => dtype,
        }
    }

    /// The element type of the result, where the function works on `dtype`.
    pub const fn result(self, dtype: DType) -> DType {
        match self {
            TypeRule::Number
            | TypeRule::Float
            | TypeRule::OwnFloat
            | TypeRule::Bits
            | TypeRule::Int
            | TypeRule::Select => dtype,
            TypeRule::ToBits => match dtype {
                DType::F32 => DType::U32,
                _ => DType::U64,
            },
            TypeRule::FromBits => match dtype {
                DType::I32 | DType::U32 => DType::F32,
                _ => DType::F64,
            },
            TypeRule::FloatTest | TypeRule::Order | TypeRule::Equality => DType::Bool,
            TypeRule::Cast(to) => to,
        }
    }

    /// The element types in words.
    pub const fn words(self) -> &'static str {
        match self {
            TypeRule::Number => "numbers",
            TypeRule::Float => "floats",
            TypeRule::OwnFloat => "`f32` and `f64`",
            TypeRule::Bits => "integers and bools",
            TypeRule::Int => "integers",
            TypeRule::ToBits => "`f32` and `f64`, to `u32` and `u64`",
            TypeRule::FromBits => "integers of 32 and 64 bits, to floats",
            TypeRule::FloatTest => "floats, to bool",
            TypeRule::Order => "numbers, to bool",
            TypeRule::Equality => "numbers and bools, to bool",
            TypeRule::Select => "bool, then any",
            TypeRule::Cast(_) => "any",
        }
    }
}

/// The value of a function.  Floats are computed in f64 and not rounded to f32; integers are computed in i128 by
/// operations that wrap, and then wrapped.
#[derive(Clone, Copy, Debug)]
pub enum Eval {
    /// Of floats alone.
    Float(fn(&[f64]) -> f64),
    /// Of floats, and of integers.
    Number(fn(&[f64]) -> f64, fn(&[i128]) -> i128),
    /// A property of a float.
    Test(fn(f64) -> bool),
    /// A relation, decided by the order of the operands, which is `None` where one is NaN.
    Relation(fn(Option<std::cmp::Ordering>) -> bool),
    /// Bit by bit; a bool is the lowest bit.
    Bits(fn(&[i128]) -> i128),
    /// What depends on the element type itself, such as on its width; `None` for operands of other types.
    Typed(fn(DType, &[Scalar]) -> Option<Scalar>),
    /// The second or the third operand, by the first.
    Select,
    /// A conversion.
    Cast(DType),
}

/// The greatest number of operands.
pub(super) const MAX_ARITY: usize = 3;

impl Eval {
    /// The value for operands of the types that the row's rule accepts; integers wrap at the width of `dtype`.
    pub(super) fn apply(self, dtype: DType, args: &[Scalar]) -> Result<Scalar, Bug> {
        match (self, args) {
            (Eval::Float(f) | Eval::Number(f, _), [Scalar::Float(_), ..]) => {
                Ok(Scalar::Float(f(gather(args, float, &mut [0.0; MAX_ARITY])?)))
            }
            (Eval::Number(_, f), [Scalar::Int(_), ..]) => {
                Ok(Scalar::Int(wrap(dtype, f(gather(args, wide, &mut [0; MAX_ARITY])?))))
            }
            (Eval::Test(f), [Scalar::Float(x)]) => Ok(Scalar::Bool(f(*x))),
            (Eval::Relation(f), [Scalar::Float(a), Scalar::Float(b)]) => {
                Ok(Scalar::Bool(f(a.partial_cmp(b))))
            }
            (Eval::Relation(f), [Scalar::Int(a), Scalar::Int(b)]) => Ok(Scalar::Bool(f(Some(a.cmp(b))))),
            (Eval::Relation(f), [Scalar::Bool(a), Scalar::Bool(b)]) => Ok(Scalar::Bool(f(Some(a.cmp(b))))),
            (Eval::Bits(f), [Scalar::Int(_), ..]) => {
                Ok(Scalar::Int(wrap(dtype, f(gather(args, bits, &mut [0; MAX_ARITY])?))))
            }
            (Eval::Bits(f), [Scalar::Bool(_), ..]) => {
                Ok(Scalar::Bool(f(gather(args, bits, &mut [0; MAX_ARITY])?) & 1 == 1))
            }
            (Eval::Typed(f), _) => f(dtype, args).ok_or_else(|| wrong(args)),
            (Eval::Select, [Scalar::Bool(mask), a, b]) => Ok(if *mask { *a } else { *b }),
            (Eval::Cast(to), [x]) => Ok(cast(to, *x)),
            _ => Err(wrong(args)),
        }
    }
}

/// The operands as one Rust type, in `room`.
fn gather<'a, T>(
    args: &[Scalar],
    read: fn(Scalar) -> Option<T>,
    room: &'a mut [T; MAX_ARITY],
) -> Result<&'a [T], Bug> {
    let count = args.len();
    for (place, arg) in room.iter_mut().zip(args) {
        *place = read(*arg).ok_or_else(|| wrong(args))?;
    }
    room.get(..count).ok_or_else(|| wrong(args))
}

fn float(arg: Scalar) -> Option<f64> {
    if let Scalar::Float(value) = arg { Some(value) } else { None }
}

fn wide(arg: Scalar) -> Option<i128> {
    if let Scalar::Int(value) = arg { Some(value) } else { None }
}

fn bits(arg: Scalar) -> Option<i128> {
    match arg {
        Scalar::Int(value) => Some(value),
        Scalar::Bool(value) => Some(i128::from(value)),
        Scalar::Float(_) => None,
    }
}

fn wrong(args: &[Scalar]) -> Bug {
    Bug::new("graph", format!("an elementwise function was given {args:?}"))
}

/// `x as to`: float to integer saturates, NaN to 0; integers wrap; a number is true where it is not 0.
fn cast(to: DType, x: Scalar) -> Scalar {
    match (to, x) {
        (DType::Bool, Scalar::Bool(value)) => Scalar::Bool(value),
        (DType::Bool, Scalar::Int(value)) => Scalar::Bool(value != 0),
        (DType::Bool, Scalar::Float(value)) => Scalar::Bool(value != 0.0),
        (DType::F32 | DType::F64, value) => Scalar::Float(value.to_f64()),
        (to, Scalar::Int(value)) if to.is_half() => Scalar::Float(round_int(to, value)),
        (to, value) if to.is_half() => Scalar::Float(round(to, value.to_f64())),
        (_, Scalar::Bool(value)) => Scalar::Int(i128::from(value)),
        (_, Scalar::Int(value)) => Scalar::Int(wrap(to, value)),
        (_, Scalar::Float(value)) => {
            let (least, greatest) = to.bounds();
            Scalar::Int((value as i128).clamp(least, greatest))
        }
    }
}

/// The derivative of a function by its float operands; integers and bools carry none.
#[derive(Clone, Copy, Debug)]
pub enum Derivative {
    /// The derivative by each operand.  A tangent or cotangent is multiplied by it: as `dmul(derivative, t)`, for
    /// which 0 stays 0, where a mask or a position may have put a zero in its place, and as `derivative * t` elsewhere.
    Partials(fn() -> Vec<Formula>),
    /// Linear in the operands at these positions: the tangent is the function itself, of their tangents and of
    /// the other operands as they are.  The transpose gives the cotangents of the same operands in order, with
    /// [`Formula::Out`] for the cotangent of the result; each is then cast to the type of its operand.
    Linear {
        /// The positions.
        operands: &'static [usize],
        /// The cotangents.
        transpose: fn() -> Vec<Formula>,
    },
    /// Of `dmul(d, t)`: the tangent is `dmul(d', t) + dmul(d, t')`.
    StrongProduct,
    /// Constant wherever it is smooth, or of a type that carries no derivative; why.
    Zero(&'static str),
    /// Not differentiable; why.  To ask for it is an error of the user.
    None(&'static str),
}

impl Derivative {
    /// The derivative by each operand at a point, all operands being floats; `None` where there is no derivative.
    /// A mask among the operands gives 0.
    pub(super) fn partials(self, args: &[Scalar], out: Scalar) -> Result<Option<Vec<f64>>, Bug> {
        match self {
            Derivative::Partials(rules) => {
                let partials: Result<Vec<f64>, Bug> =
                    rules().iter().map(|rule| rule.eval(args, out).map(Scalar::to_f64)).collect();
                partials.map(Some)
            }
            Derivative::Linear { operands, transpose } => {
                // The cotangents of a cotangent of 1.
                let mut partials = vec![0.0; args.len()];
                for (position, rule) in operands.iter().zip(transpose()) {
                    partials[*position] = rule.eval(args, Scalar::Float(1.0))?.to_f64();
                }
                Ok(Some(partials))
            }
            Derivative::StrongProduct => Ok(Some(args.iter().rev().map(|arg| arg.to_f64()).collect())),
            Derivative::Zero(_) => Ok(Some(vec![0.0; args.len()])),
            Derivative::None(_) => Ok(None),
        }
    }
}

/// Where a function is not smooth: kinks, jumps, poles, and the ends of its domain.
#[derive(Clone, Copy, Debug)]
pub struct Kinks {
    /// How far the operands are from the nearest such place, at least roughly; infinite where there is none.
    pub distance: fn(&[f64]) -> f64,
    /// Whether the value itself may jump or end there, so that a small error of an operand is a large one of it.
    pub jumps: bool,
    /// The derivatives at such places, by convention or in the limit.
    pub values: &'static [Kink],
}

impl Kinks {
    /// No such place.
    pub(super) const NONE: Kinks = Kinks { distance: |_| f64::INFINITY, jumps: false, values: &[] };

    /// Places where the derivative alone jumps.
    pub(super) const fn bends(distance: fn(&[f64]) -> f64, values: &'static [Kink]) -> Kinks {
        Kinks { distance, jumps: false, values }
    }

    /// Places where the value jumps, grows without bound, or ends.
    pub(super) const fn jumps(distance: fn(&[f64]) -> f64, values: &'static [Kink]) -> Kinks {
        Kinks { distance, jumps: true, values }
    }
}

/// The derivatives at one place.
#[derive(Clone, Copy, Debug)]
pub struct Kink {
    /// The operands.
    pub at: &'static [f64],
    /// The derivative by each.
    pub partials: &'static [f64],
    /// Why, one phrase.
    pub why: &'static str,
}

/// The derivatives `partials` at the operands `at`.
pub(super) const fn kink(at: &'static [f64], partials: &'static [f64], why: &'static str) -> Kink {
    Kink { at, partials, why }
}

/// The greatest error of machine vectors, in units in the last place of the true value.
///
/// 0 is an exact result; 0.5 the nearest float to the true value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// In f32.
    pub f32: f64,
    /// In f64.
    pub f64: f64,
    /// Where the value is less than this, beside zeros of the function, the units are those of this number.
    pub least: f64,
}

impl Accuracy {
    /// No rounding at all.
    pub(super) const EXACT: Accuracy = Accuracy { f32: 0.0, f64: 0.0, least: 0.0 };
    /// The nearest float.
    pub const NEAREST: Accuracy = Accuracy { f32: 0.5, f64: 0.5, least: 0.0 };

    /// Bounds for both types.
    pub(super) const fn ulp(f32: f64, f64: f64) -> Accuracy {
        Accuracy { f32, f64, least: 0.0 }
    }

    /// The same, and in units of `least` where the value is less.
    pub(super) const fn beside_zeros(self, least: f64) -> Accuracy {
        Accuracy { least, ..self }
    }

    /// The bound for a type; integers and bools are exact.
    pub const fn of(self, dtype: DType) -> f64 {
        match dtype {
            DType::F32 => self.f32,
            DType::F64 => self.f64,
            _ => 0.0,
        }
    }
}
