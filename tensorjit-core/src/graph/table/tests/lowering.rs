//! The machine operations of every row, executed on scalars and judged by the row's own evaluator.

use std::collections::BTreeSet;

use super::*;
use crate::math::exec::{Batch, Exec, Machine};

/// Numbers at which functions go wrong.
const SPECIAL: [f64; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    -7.0,
    1e-3,
    -1e-30,
    1e10,
    -3e9,
    9.3e18,
    -9_223_372_036_854_775_808.0,
    1e-42,
    3e38,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Integers at which functions go wrong.
const INTEGERS: [i128; 11] =
    [0, 1, -1, 2, -3, 7, 46_341, i32::MAX as i128, i32::MIN as i128, i64::MAX as i128, i64::MIN as i128];

/// The interesting elements of a type, and `more` floats of the sampling range.
fn elements(dtype: DType, place: &row::Operand, more: usize, random: &mut Random) -> Vec<Scalar> {
    let mut inside = || place.low + (place.high - place.low) * random.next();
    match dtype {
        DType::Bool => vec![Scalar::Bool(false), Scalar::Bool(true)],
        dtype if dtype.is_int() => {
            let (least, greatest) = dtype.bounds();
            let wrapped = INTEGERS.iter().map(|value| wrap(dtype, *value));
            let all: BTreeSet<i128> = wrapped.chain([least, greatest]).collect();
            all.into_iter().map(Scalar::Int).collect()
        }
        _ => {
            let mut values = SPECIAL.to_vec();
            values.extend((0..more).map(|_| inside()));
            values.iter().map(|value| Scalar::Float(round(dtype, *value))).collect()
        }
    }
}

/// All combinations of the interesting elements as operands.
fn combinations(ew: Ew, dtype: DType) -> Vec<Vec<Scalar>> {
    let mut random = Random(3);
    let more = [5000, 60, 0][ew.arity() - 1];
    let mut all = vec![Vec::new()];
    for (position, place) in ew.row().operands.iter().enumerate() {
        let values = elements(ew.row().types.operand(position, dtype), place, more, &mut random);
        all = all
            .iter()
            .flat_map(|start| values.iter().map(move |value| [start.as_slice(), &[*value]].concat()))
            .collect();
    }
    all
}

/// The distance of a float to the next one of the type.
fn spacing(dtype: DType, value: f64) -> f64 {
    if dtype == DType::F32 {
        let value = (value.abs() as f32).min(f32::MAX);
        let below = if value == f32::MAX { value.next_down() } else { value };
        f64::from(below.next_up()) - f64::from(below)
    } else {
        let value = value.abs();
        let below = if value >= f64::MAX { f64::MAX.next_down() } else { value };
        below.next_up() - below
    }
}

/// Whether machine code may give `found` where the oracle gives `exact` before rounding.
fn allowed(ew: Ew, dtype: DType, found: Scalar, exact: Scalar) -> bool {
    let result = ew.row().types.result(dtype);
    let (Scalar::Float(found), Scalar::Float(exact)) = (found, exact) else { return found == exact };
    let folded = round(result, exact);
    if !exact.is_finite() || !folded.is_finite() {
        return found == folded || (found.is_nan() && folded.is_nan());
    }
    // The oracle is itself off by a few units of f64, unless it only picks or rounds to an integer.
    let bound = ew.row().accuracy.of(result);
    let size = exact.abs().max(ew.row().accuracy.least);
    let oracle = if bound == 0.0 { 0.0 } else { 2.0 * spacing(DType::F64, size) };
    (found - exact).abs() <= bound * spacing(result, size) + oracle
}

/// The lanes of a batch of scalars of one type.
fn batch(dtype: DType, scalars: &[Scalar]) -> Batch {
    let int = |scalar: &Scalar| if let Scalar::Int(value) = scalar { *value } else { 0 };
    match dtype {
        DType::Bool => Batch::Bool(scalars.iter().map(|scalar| *scalar == Scalar::Bool(true)).collect()),
        DType::F16 | DType::BF16 => {
            Batch::Half(dtype, scalars.iter().map(|scalar| scalar.to_f64() as f32).collect())
        }
        DType::F32 => Batch::F32(scalars.iter().map(|scalar| scalar.to_f64() as f32).collect()),
        DType::F64 => Batch::F64(scalars.iter().map(|scalar| scalar.to_f64()).collect()),
        dtype => Batch::Int(dtype, scalars.iter().map(int).collect()),
    }
}

/// The scalars of a batch.
fn scalars(batch: &Batch) -> Vec<Scalar> {
    match batch {
        Batch::Bool(values) => values.iter().map(|value| Scalar::Bool(*value)).collect(),
        Batch::Int(_, values) => values.iter().map(|value| Scalar::Int(*value)).collect(),
        Batch::Half(_, values) | Batch::F32(values) => {
            values.iter().map(|value| Scalar::Float(f64::from(*value))).collect()
        }
        Batch::F64(values) => values.iter().map(|value| Scalar::Float(*value)).collect(),
    }
}

/// What the machine operations of a row give for each set of operands.
fn execute(ew: Ew, dtype: DType, sets: &[Vec<Scalar>], machine: Machine) -> Vec<Scalar> {
    let mut exec = Exec::new(sets.len(), machine);
    let operands: Vec<Val> = (0..ew.arity())
        .map(|position| {
            let column: Vec<Scalar> = sets.iter().map(|set| set[position]).collect();
            exec.input(batch(ew.row().types.operand(position, dtype), &column))
        })
        .collect();
    let result = ew.lower(&mut exec, &operands).expect("the arity fits");
    scalars(exec.get(result))
}

#[test]
fn machine_operations_give_the_values_of_the_table() {
    let mut wrong = Vec::new();
    for (ew, dtype) in Ew::ALL.iter().flat_map(|ew| ew.row().types.accepts().iter().map(move |ty| (*ew, *ty)))
    {
        let sets = combinations(ew, dtype);
        // Without FMA, `fma` is a product and a sum, whose error is relative to the product.
        for machine in Machine::ALL.into_iter().filter(|machine| ew != Ew::Fma || machine.has_fma()) {
            let found = execute(ew, dtype, &sets, machine);
            assert_eq!(found.len(), sets.len(), "{ew:?} {dtype:?}");
            let judged = sets.iter().zip(found).filter_map(|(args, found)| {
                let exact = ew.eval(dtype, args).expect("the operands are of the types that the row takes");
                let good = allowed(ew, dtype, found, exact);
                (!good).then(|| format!("{ew:?} {dtype:?} of {args:?}: {found:?} is not {exact:?}"))
            });
            wrong.extend(judged.take(5));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
