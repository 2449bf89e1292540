//! An executor of [`Lanes`] for the tests: performs each operation at once on a batch of numbers.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, ENTRIES, Lanes, Prim, Val};

/// The lanes of one value.
#[derive(Clone, Debug)]
pub(crate) enum Batch {
    /// Masks.
    Bool(Vec<bool>),
    /// Integers of a type, within its range.
    Int(DType, Vec<i128>),
    /// Numbers of `f16` or `bf16`.
    Half(DType, Vec<f32>),
    /// `f32`.
    F32(Vec<f32>),
    /// `f64`.
    F64(Vec<f64>),
}

/// Values in the order in which they were made; all have the same number of lanes.
pub(crate) struct Exec {
    values: Vec<Batch>,
    lanes: usize,
    machine: Machine,
}

/// What there is to compute with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    /// Neither fused multiply-add nor tables.
    Plain,
    /// Fused multiply-add.
    Fma,
    /// Both.
    Tables,
}

impl Machine {
    /// All of them.
    pub(crate) const ALL: [Machine; 3] = [Machine::Plain, Machine::Fma, Machine::Tables];

    /// Whether it has fused multiply-add.
    pub(crate) fn has_fma(self) -> bool {
        self != Machine::Plain
    }
}

impl Exec {
    /// An executor of so many lanes.
    pub(crate) fn new(lanes: usize, machine: Machine) -> Exec {
        Exec { values: Vec::new(), lanes, machine }
    }

    /// A value that is given.
    pub(crate) fn input(&mut self, batch: Batch) -> Val {
        self.values.push(batch);
        Val(self.values.len() as u32 - 1)
    }

    /// The lanes of a value.
    pub(crate) fn get(&self, value: Val) -> &Batch {
        &self.values[value.0 as usize]
    }
}

/// `f` of each lane.
fn map<A: Copy, R>(a: &[A], f: impl Fn(A) -> R) -> Vec<R> {
    a.iter().map(|&a| f(a)).collect()
}

/// `f` of each pair of lanes.
fn zip<A: Copy, R>(a: &[A], b: &[A], f: impl Fn(A, A) -> R) -> Vec<R> {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

fn compare<A: Copy + PartialOrd>(cmp: Cmp, a: &[A], b: &[A]) -> Batch {
    Batch::Bool(zip(a, b, |a, b| match cmp {
        Cmp::Eq => a == b,
        Cmp::Ne => a != b,
        Cmp::Lt => a < b,
        Cmp::Le => a <= b,
        Cmp::Gt => a > b,
        Cmp::Ge => a >= b,
    }))
}

fn choose<A: Copy>(mask: &[bool], a: &[A], b: &[A]) -> Vec<A> {
    mask.iter().zip(a.iter().zip(b)).map(|(&mask, (&a, &b))| if mask { a } else { b }).collect()
}

macro_rules! float_prim {
    ($make:path, $prim:expr, $args:expr, $fma:expr) => {{
        let args = $args;
        match $prim {
            Prim::Add => $make(zip(args[0], args[1], |a, b| a + b)),
            Prim::Sub => $make(zip(args[0], args[1], |a, b| a - b)),
            Prim::Mul => $make(zip(args[0], args[1], |a, b| a * b)),
            Prim::FDiv => $make(zip(args[0], args[1], |a, b| a / b)),
            Prim::Fma => {
                let product = |i: usize| {
                    let (a, b, c) = (args[0][i], args[1][i], args[2][i]);
                    if $fma { a.mul_add(b, c) } else { a * b + c }
                };
                $make((0..args[0].len()).map(product).collect())
            }
            Prim::FNeg => $make(map(args[0], |a| -a)),
            Prim::FAbs => $make(map(args[0], |a| a.abs())),
            Prim::Sqrt => $make(map(args[0], |a| a.sqrt())),
            Prim::Floor => $make(map(args[0], |a| a.floor())),
            Prim::Ceil => $make(map(args[0], |a| a.ceil())),
            Prim::Trunc => $make(map(args[0], |a| a.trunc())),
            Prim::RoundEven => $make(map(args[0], |a| a.round_ties_even())),
            Prim::Scale => $make(zip(args[0], args[1], |a, b| {
                let half = (b / 2.0).floor();
                a * half.exp2() * (b - half).exp2()
            })),
            Prim::Cmp(cmp) => compare(cmp, args[0], args[1]),
            other => panic!("{other:?} of floats"),
        }
    }};
}

/// An operation of integers, which wraps.
fn int_prim(prim: Prim, dtype: DType, args: &[&[i128]]) -> Batch {
    let width = 8 * dtype.size() as i128;
    // The bits of a number as those of an unsigned one.
    let bits = |a: i128| a.rem_euclid(1 << width);
    let shift = |b: i128| {
        assert!((0..width).contains(&b), "a shift of {dtype:?} by {b}");
        b
    };
    let (a, b) = (args[0], args[1]);
    let wide = match prim {
        Prim::Add => zip(a, b, |a, b| a + b),
        Prim::Sub => zip(a, b, |a, b| a - b),
        Prim::Mul => zip(a, b, |a, b| a.wrapping_mul(b)),
        Prim::And => zip(a, b, |a, b| a & b),
        Prim::Or => zip(a, b, |a, b| a | b),
        Prim::Xor => zip(a, b, |a, b| a ^ b),
        Prim::Shl => zip(a, b, |a, b| bits(a).wrapping_shl(shift(b) as u32)),
        Prim::LShr => zip(a, b, |a, b| bits(a) >> shift(b)),
        Prim::AShr => zip(a, b, |a, b| a >> shift(b)),
        Prim::IDiv => zip(a, b, |a, b| a / b),
        Prim::IRem => zip(a, b, |a, b| a % b),
        Prim::Cmp(cmp) => return compare(cmp, a, b),
        other => panic!("{other:?} of integers"),
    };
    Batch::Int(dtype, map(&wide, |value| dtype.wrap(value)))
}

fn convert(value: &Batch, to: DType) -> Batch {
    match (value, to) {
        (Batch::Half(_, a), DType::F32) => Batch::F32(a.clone()),
        (Batch::F32(a), DType::F16) => Batch::Half(to, map(a, |a| half::f16::from_f32(a).to_f32())),
        (Batch::F32(a), DType::BF16) => Batch::Half(to, map(a, |a| half::bf16::from_f32(a).to_f32())),
        (Batch::F32(a), DType::F64) => Batch::F64(map(a, f64::from)),
        (Batch::F64(a), DType::F32) => Batch::F32(map(a, |a| a as f32)),
        (Batch::Int(_, a), DType::F32) => Batch::F32(map(a, |a| a as f32)),
        (Batch::Int(_, a), DType::F64) => Batch::F64(map(a, |a| a as f64)),
        (Batch::Int(_, a), to) if to.is_int() => Batch::Int(to, map(a, |a| to.wrap(a))),
        (Batch::F32(a), to) if to.is_int() => Batch::Int(to, map(a, |a| truncate(a.into(), to))),
        (Batch::F64(a), to) if to.is_int() => Batch::Int(to, map(a, |a| truncate(a, to))),
        (Batch::Bool(a), to) if to.is_int() => Batch::Int(to, map(a, i128::from)),
        (Batch::Bool(a), DType::F32) => Batch::F32(map(a, |a| f32::from(u8::from(a)))),
        (Batch::Bool(a), DType::F64) => Batch::F64(map(a, |a| f64::from(u8::from(a)))),
        (value, to) => panic!("{to:?} of {value:?}"),
    }
}

/// The integer part of a float, which must be in the range of the type.
fn truncate(a: f64, to: DType) -> i128 {
    let (least, greatest) = to.bounds();
    let defined = a.is_finite() && (least..=greatest).contains(&(a as i128));
    assert!(defined, "the conversion of {a} to {to:?} is not defined");
    a as i128
}

fn bitcast(value: &Batch, to: DType) -> Batch {
    match (value, to) {
        (Batch::F32(a), to) if to.is_int() => Batch::Int(to, map(a, |a| to.wrap(a.to_bits().into()))),
        (Batch::F64(a), to) if to.is_int() => Batch::Int(to, map(a, |a| to.wrap(a.to_bits().into()))),
        (Batch::Int(_, a), DType::F32) => Batch::F32(map(a, |a| f32::from_bits(a as u32))),
        (Batch::Int(_, a), DType::F64) => Batch::F64(map(a, |a| f64::from_bits(a as u64))),
        (Batch::Int(_, a), to) => Batch::Int(to, map(a, |a| to.wrap(a))),
        (value, to) => panic!("{to:?} of the bits of {value:?}"),
    }
}

fn select(mask: &Batch, a: &Batch, b: &Batch) -> Batch {
    let Batch::Bool(mask) = mask else { panic!("a select by {mask:?}") };
    match (a, b) {
        (Batch::Bool(a), Batch::Bool(b)) => Batch::Bool(choose(mask, a, b)),
        (Batch::Int(dtype, a), Batch::Int(other, b)) if dtype == other => {
            Batch::Int(*dtype, choose(mask, a, b))
        }
        (Batch::Half(dtype, a), Batch::Half(other, b)) if dtype == other => {
            Batch::Half(*dtype, choose(mask, a, b))
        }
        (Batch::F32(a), Batch::F32(b)) => Batch::F32(choose(mask, a, b)),
        (Batch::F64(a), Batch::F64(b)) => Batch::F64(choose(mask, a, b)),
        _ => panic!("a select between {a:?} and {b:?}"),
    }
}

/// The operands as slices of one type.
macro_rules! slices {
    ($variant:path, $values:expr) => {
        $values
            .iter()
            .map(|value| match value {
                $variant(lanes) => lanes.as_slice(),
                other => panic!("mixed operands: {other:?}"),
            })
            .collect::<Vec<_>>()
    };
}

impl Lanes for Exec {
    fn float(&mut self, dtype: DType, value: f64) -> Val {
        let batch = match dtype {
            DType::F32 => Batch::F32(vec![value as f32; self.lanes]),
            DType::F64 => Batch::F64(vec![value; self.lanes]),
            other => panic!("a float constant of {other:?}"),
        };
        self.input(batch)
    }

    fn int(&mut self, dtype: DType, value: i64) -> Val {
        let batch = match dtype {
            DType::Bool => Batch::Bool(vec![value & 1 == 1; self.lanes]),
            dtype if dtype.is_float() => panic!("an integer constant of {dtype:?}"),
            dtype => Batch::Int(dtype, vec![dtype.wrap(value.into()); self.lanes]),
        };
        self.input(batch)
    }

    fn prim(&mut self, prim: Prim, args: &[Val]) -> Val {
        let values: Vec<&Batch> = args.iter().map(|&arg| self.get(arg)).collect();
        let result = match (prim, values[0]) {
            (Prim::Select, mask) => select(mask, values[1], values[2]),
            (Prim::Convert(to), value) => convert(value, to),
            (Prim::Bitcast(to), value) => bitcast(value, to),
            (_, Batch::F32(_)) => {
                float_prim!(Batch::F32, prim, slices!(Batch::F32, values), self.machine.has_fma())
            }
            (_, Batch::F64(_)) => {
                float_prim!(Batch::F64, prim, slices!(Batch::F64, values), self.machine.has_fma())
            }
            (_, Batch::Int(dtype, _)) => {
                let lanes = values.iter().map(|value| match value {
                    Batch::Int(other, lanes) if other == dtype => lanes.as_slice(),
                    other => panic!("mixed operands: {other:?}"),
                });
                int_prim(prim, *dtype, &lanes.collect::<Vec<_>>())
            }
            (_, Batch::Half(..)) => panic!("{prim:?} of 16 bits"),
            (_, Batch::Bool(_)) => {
                let args = slices!(Batch::Bool, values);
                match prim {
                    Prim::And => Batch::Bool(zip(args[0], args[1], |a, b| a & b)),
                    Prim::Or => Batch::Bool(zip(args[0], args[1], |a, b| a | b)),
                    Prim::Xor => Batch::Bool(zip(args[0], args[1], |a, b| a ^ b)),
                    Prim::Cmp(cmp) => compare(cmp, args[0], args[1]),
                    other => panic!("{other:?} of masks"),
                }
            }
        };
        self.input(result)
    }

    fn dtype(&self, value: Val) -> DType {
        match self.get(value) {
            Batch::Bool(_) => DType::Bool,
            Batch::Int(dtype, _) | Batch::Half(dtype, _) => *dtype,
            Batch::F32(_) => DType::F32,
            Batch::F64(_) => DType::F64,
        }
    }

    fn has_fma(&self) -> bool {
        self.machine.has_fma()
    }

    fn has_tables(&self) -> bool {
        self.machine == Machine::Tables
    }

    fn entry(&mut self, table: &[f64; ENTRIES], index: Val) -> Val {
        let Batch::Int(DType::I32, index) = self.get(index) else { panic!("entries by {index:?}") };
        let found = map(index, |i| table[i.rem_euclid(ENTRIES as i128) as usize] as f32);
        self.input(Batch::F32(found))
    }

    fn if_any(
        &mut self,
        mask: Val,
        otherwise: &[Val],
        then: &mut dyn FnMut(&mut dyn Lanes) -> Vec<Val>,
    ) -> Vec<Val> {
        let Batch::Bool(mask) = self.get(mask) else { panic!("a branch by {mask:?}") };
        if mask.contains(&true) { then(self) } else { otherwise.to_vec() }
    }

    fn repeat(
        &mut self,
        count: u32,
        state: &[Val],
        body: &mut dyn FnMut(&mut dyn Lanes, &[Val]) -> Vec<Val>,
    ) -> Vec<Val> {
        (0..count).fold(state.to_vec(), |state, _| body(self, &state))
    }
}
