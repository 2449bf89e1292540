//! Every function against special values, correctly rounded values and dense sweeps, on every kind of machine.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Lanes, Val};

use super::exec::{Batch, Exec, Machine};
use super::reference;

/// Special values, thresholds and correctly rounded points; the README beside it says how to read it.
const CASES: &str = include_str!("../../../tests/data/math/elementary.txt");
/// Points of `f64` with the result as a sum of two.
const POINTS_F64: &str = include_str!("../../../tests/data/math/points_f64.txt");

/// StableHLO's tables.
const TABLES: &str = include_str!("../../../tests/data/math/stablehlo.txt");

/// Every how many bit patterns of `f32` a sweep stops.
const STRIDE: u32 = 9973;

/// What the bounds grow by without FMA.
const WITHOUT_FMA: f64 = 0.5;

pub(crate) type Apply = fn(&mut dyn Lanes, DType, &[Val]) -> Val;

/// A function, what it is compared with, and how much it may differ.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) operands: usize,
    pub(crate) apply: Apply,
    /// The value in `f64`, within 1 ULP of `f64`.
    pub(crate) reference: fn(&[f64]) -> f64,
    /// The largest error in ULP, of `f32` and `f64`.
    bound: (f64, f64),
}

macro_rules! functions {
    ($($name:ident($($index:literal),+), $f32:literal, $f64:literal, $reference:expr;)*) => {
        &[$(Function {
            name: stringify!($name),
            operands: [$($index),+].len(),
            apply: |l, dtype, x| super::$name(l, dtype, $(x[$index]),+),
            reference: $reference,
            bound: ($f32, $f64),
        }),*]
    };
}

/// `e^x / (1 + e^x)` without overflow.
fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

/// `2 / (e^x + e^-x)` without overflow.
fn sech(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    2.0 * e / (1.0 + e * e)
}

pub(crate) const FUNCTIONS: &[Function] = functions! {
    exp(0), 1.0, 1.0, |x| x[0].exp();
    exp2(0), 1.0, 1.0, |x| x[0].exp2();
    expm1(0), 1.0, 1.0, |x| x[0].exp_m1();
    log(0), 1.0, 1.0, |x| x[0].ln();
    log2(0), 1.0, 1.0, |x| x[0].log2();
    log1p(0), 1.0, 1.0, |x| x[0].ln_1p();
    sin(0), 1.0, 1.0, |x| x[0].sin();
    cos(0), 1.0, 1.0, |x| x[0].cos();
    tan(0), 1.0, 1.5, |x| x[0].tan();
    asin(0), 1.0, 1.0, |x| x[0].asin();
    acos(0), 1.0, 1.0, |x| x[0].acos();
    atan(0), 1.0, 1.0, |x| x[0].atan();
    atan2(0, 1), 1.0, 1.0, |x| x[0].atan2(x[1]);
    sinh(0), 1.0, 1.0, |x| x[0].sinh();
    cosh(0), 1.0, 1.0, |x| x[0].cosh();
    tanh(0), 1.0, 1.0, |x| x[0].tanh();
    sech(0), 3.0, 3.0, |x| sech(x[0]);
    sigmoid(0), 1.0, 1.0, |x| sigmoid(x[0]);
    erf(0), 1.0, 1.25, |x| libm::erf(x[0]);
    pow(0, 1), 1.0, 1.0, |x| x[0].powf(x[1]);
    hypot(0, 1), 1.0, 1.5, |x| x[0].hypot(x[1]);
    rem(0, 1), 0.0, 0.0, |x| x[0] % x[1];
    rsqrt(0), 1.0, 1.0, |x| 1.0 / x[0].sqrt();
    cbrt(0), 1.0, 1.0, |x| x[0].cbrt();
    log10(0), 1.0, 1.0, |x| x[0].log10();
    erfc(0), 1.0, 3.0, |x| libm::erfc(x[0]);
    erf_inv(0), 1.0, 3.0, |x| reference::erf_inv(x[0]);
    lgamma(0), 1.0, 5.0, |x| libm::lgamma(x[0]);
    digamma(0), 1.0, 4.0, |x| reference::digamma(x[0]);
    bessel_i0e(0), 1.0, 4.0, |x| reference::bessel_i0e(x[0]);
    bessel_i1e(0), 1.0, 4.0, |x| reference::bessel_i1e(x[0]);
};

/// Evaluates a function of `f32` on columns of operands.
pub(crate) fn run_f32(function: &Function, machine: Machine, columns: &[Vec<f32>]) -> Vec<f32> {
    let mut exec = Exec::new(columns[0].len(), machine);
    let args: Vec<Val> = columns.iter().map(|column| exec.input(Batch::F32(column.clone()))).collect();
    let result = (function.apply)(&mut exec, DType::F32, &args);
    match exec.get(result) {
        Batch::F32(lanes) => lanes.clone(),
        other => panic!("{}: {other:?}", function.name),
    }
}

/// Evaluates a function of `f64` on columns of operands.
pub(crate) fn run_f64(function: &Function, machine: Machine, columns: &[Vec<f64>]) -> Vec<f64> {
    let mut exec = Exec::new(columns[0].len(), machine);
    let args: Vec<Val> = columns.iter().map(|column| exec.input(Batch::F64(column.clone()))).collect();
    let result = (function.apply)(&mut exec, DType::F64, &args);
    match exec.get(result) {
        Batch::F64(lanes) => lanes.clone(),
        other => panic!("{}: {other:?}", function.name),
    }
}

/// The distance of two `f32` beside a value in `f64`, in ULP of `f32` at that value; infinity if the one is NaN and
/// not the other.
pub(crate) fn ulp_f32(got: f32, expected: f64) -> f64 {
    if got.is_nan() || expected.is_nan() {
        return if got.is_nan() && expected.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let rounded = expected as f32;
    if got == rounded {
        // Also infinity and what rounds to it.
        return if rounded.is_infinite() {
            0.0
        } else {
            (f64::from(got) - expected).abs() / unit_f32(expected)
        };
    }
    if expected.is_infinite() {
        return f64::INFINITY;
    }
    let got =
        if got.is_infinite() { f64::from(f32::MAX) * 2.0 * f64::from(got.signum()) } else { f64::from(got) };
    (got - expected).abs() / unit_f32(expected)
}

/// The distance of neighbouring `f32` at a value.
fn unit_f32(value: f64) -> f64 {
    let exponent = ((value.abs().to_bits() >> 52) as i32 - 1023).max(-126);
    2.0_f64.powi(exponent.min(127) - 23)
}

/// The error of `got` in ULP of `f64`, where the value is `high + low`.
fn ulp_f64(got: f64, high: f64, low: f64) -> f64 {
    if got.is_nan() || high.is_nan() {
        return if got.is_nan() && high.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got == high && high.is_infinite() {
        return 0.0;
    }
    let exponent = ((high.abs().to_bits() >> 52) as i32 - 1023).max(-1022);
    // Both are scaled before they are compared, as the unit itself may underflow.
    let scale = |value: f64| value * 2.0_f64.powi(-exponent / 2) * 2.0_f64.powi(-exponent - -exponent / 2);
    ((scale(got) - scale(high)) - scale(low)).abs() * 2.0_f64.powi(52)
}

/// The largest error of a function in a test, and where.
struct Worst {
    error: f64,
    place: String,
}

impl Worst {
    fn new() -> Worst {
        Worst { error: 0.0, place: String::new() }
    }

    fn see(&mut self, error: f64, place: impl FnOnce() -> String) {
        if error > self.error {
            *self = Worst { error, place: place() };
        }
    }
}

/// Prints the worst errors of all functions and fails if one is beyond its bound.
fn check(dtype: DType, mut measure: impl FnMut(&Function, Machine) -> Worst) {
    let mut failures = Vec::new();
    for function in FUNCTIONS {
        let bound = if dtype == DType::F32 { function.bound.0 } else { function.bound.1 };
        for machine in Machine::ALL {
            let worst = measure(function, machine);
            let line = format!(
                "{:8} {} {:6?}: {:.3} ULP {}",
                function.name,
                dtype.name(),
                machine,
                worst.error,
                worst.place
            );
            println!("{line}");
            if worst.error > bound + if machine.has_fma() || bound == 0.0 { 0.0 } else { WITHOUT_FMA } {
                failures.push(line);
            }
        }
    }
    assert!(failures.is_empty(), "beyond their bounds:\n{}", failures.join("\n"));
}

/// One line of the cases: operands and results as text.
struct Case {
    special: bool,
    operands: Vec<&'static str>,
    results: Vec<&'static str>,
}

/// The cases of a function and type.
fn cases(function: &Function, dtype: DType) -> Vec<Case> {
    let cases: Vec<Case> = CASES
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .filter(|words| words[0] == function.name && words[1] == dtype.name())
        .map(|words| Case {
            special: words[2] == "special",
            operands: words[3..3 + function.operands].to_vec(),
            results: words[3 + function.operands..].to_vec(),
        })
        .collect();
    assert!(!cases.is_empty(), "no cases of {}", function.name);
    cases
}

fn parse_f32(word: &str) -> f32 {
    if word == "nan" { f32::NAN } else { f32::from_bits(u32::from_str_radix(word, 16).expect("hexadecimal")) }
}

fn parse_f64(word: &str) -> f64 {
    if word == "nan" { f64::NAN } else { f64::from_bits(u64::from_str_radix(word, 16).expect("hexadecimal")) }
}

/// Transposes the operands of cases into columns.
fn columns<T>(function: &Function, cases: &[Case], parse: impl Fn(&str) -> T) -> Vec<Vec<T>> {
    (0..function.operands).map(|i| cases.iter().map(|case| parse(case.operands[i])).collect()).collect()
}

#[test]
fn f32_special_values_and_points() {
    check(DType::F32, |function, machine| {
        let cases = cases(function, DType::F32);
        let results = run_f32(function, machine, &columns(function, &cases, parse_f32));
        let mut worst = Worst::new();
        for (case, got) in cases.iter().zip(results) {
            let error = match case.results[0] {
                "zero" if got == 0.0 => 0.0,
                "zero" => f64::INFINITY,
                word if case.special => {
                    let expected = parse_f32(word);
                    // Special values that are not of the last ULP are exact, their signs included.
                    let exact = got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan());
                    let ordinary = expected.is_finite() && expected != 0.0;
                    if exact {
                        0.0
                    } else if ordinary && got != 0.0 {
                        (i64::from(got.to_bits()) - i64::from(expected.to_bits())).abs() as f64
                    } else {
                        f64::INFINITY
                    }
                }
                _ => ulp_f32(got, parse_f64(case.results[1])),
            };
            worst.see(error, || {
                format!("at {:?}: {:08x}, not {:?}", case.operands, got.to_bits(), case.results)
            });
        }
        worst
    });
}

#[test]
fn f64_special_values_and_points() {
    check(DType::F64, |function, machine| {
        let cases = cases(function, DType::F64);
        let results = run_f64(function, machine, &columns(function, &cases, parse_f64));
        let mut worst = Worst::new();
        for (case, got) in cases.iter().zip(results) {
            let error = match case.results[0] {
                "zero" if got == 0.0 => 0.0,
                "zero" => f64::INFINITY,
                word => {
                    let expected = parse_f64(word);
                    let ordinary = expected.is_finite() && expected != 0.0 && got != 0.0;
                    if got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan()) {
                        0.0
                    } else if ordinary && ["lgamma", "digamma"].contains(&function.name) {
                        // Beside their zeros in units of 1.
                        (got - expected).abs() / (f64::EPSILON * expected.abs().max(1.0))
                    } else if ordinary {
                        (got.to_bits() as i64 - expected.to_bits() as i64).unsigned_abs() as f64
                    } else {
                        f64::INFINITY
                    }
                }
            };
            worst.see(error, || {
                format!("at {:?}: {:016x}, not {:?}", case.operands, got.to_bits(), case.results)
            });
        }
        worst
    });
}

#[test]
fn f32_sweep() {
    check(DType::F32, |function, machine| {
        let mut worst = Worst::new();
        let mut random = Random(1);
        let mut bits = 0_u32;
        // What is computed in f64 differs from its reference by one rounding, and its reference is slow.
        let widened = ["erf_inv", "lgamma", "digamma", "bessel_i0e", "bessel_i1e"].contains(&function.name);
        let stride = if widened { 61 * STRIDE } else { STRIDE };
        loop {
            let mut batch = Vec::new();
            let mut wrapped = false;
            while batch.len() < 256 && !wrapped {
                batch.push(f32::from_bits(bits));
                (bits, wrapped) = bits.overflowing_add(stride);
            }
            let mut operands = vec![batch];
            if function.operands == 2 {
                operands.push(operands[0].iter().map(|&x| random.partner(x)).collect());
            }
            let results = run_f32(function, machine, &operands);
            for (i, got) in results.into_iter().enumerate() {
                let x: Vec<f64> = operands.iter().map(|column| f64::from(column[i])).collect();
                worst.see(ulp_f32(got, (function.reference)(&x)), || format!("at {x:?}: {got:e}"));
            }
            if wrapped {
                return worst;
            }
        }
    });
}

/// A small generator of numbers, the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A second operand: of any bits, of the size of the first, or small.
    fn partner(&mut self, x: f32) -> f32 {
        let random = self.next();
        let fraction = (random >> 40) as f32 / 8_388_608.0 - 1.0;
        match random % 4 {
            0 => f32::from_bits((random >> 32) as u32),
            1 => x * fraction,
            2 => fraction * 8.0,
            // An exponent that takes the power of x near the edges of the range.
            _ => fraction * 130.0 / x.abs().log2(),
        }
    }
}

#[test]
fn f64_points() {
    check(DType::F64, |function, machine| {
        let rows: Vec<Vec<f64>> = POINTS_F64
            .lines()
            .map(|line| line.split(' ').collect::<Vec<_>>())
            .filter(|words| words[0] == function.name)
            .map(|words| words[1..].iter().map(|word| parse_f64(word)).collect())
            .collect();
        let mut worst = Worst::new();
        if function.name == "rem" {
            return worst;
        }
        assert!(rows.len() > 100, "too few points of {}", function.name);
        let operands: Vec<Vec<f64>> =
            (0..function.operands).map(|i| rows.iter().map(|row| row[i]).collect()).collect();
        for (row, got) in rows.iter().zip(run_f64(function, machine, &operands)) {
            let (x, value) = row.split_at(function.operands);
            worst.see(ulp_f64(got, value[0], value[1]), || format!("at {x:?}: {got:e}, not {:e}", value[0]));
        }
        worst
    });
}

#[test]
fn f64_remainders_are_exact() {
    let function = FUNCTIONS.iter().find(|function| function.name == "rem").expect("a row");
    let mut random = Random(2);
    let any = (0..20_000).map(|_| f64::from_bits(random.next())).collect::<Vec<_>>();
    let others: Vec<f64> = any
        .iter()
        .map(|x| {
            let random = random.next();
            if random.is_multiple_of(2) {
                f64::from_bits(random)
            } else {
                x * (random >> 11) as f64 * 2.0_f64.powi(-60)
            }
        })
        .collect();
    for machine in Machine::ALL {
        let results = run_f64(function, machine, &[any.clone(), others.clone()]);
        for ((x, y), got) in any.iter().zip(&others).zip(results) {
            let expected = x % y;
            let same = got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan());
            assert!(same, "{x:e} % {y:e}: {got:e}, not {expected:e}");
        }
    }
}

/// The tables' results are within 3 ULP.
#[test]
fn tables_of_others_agree() {
    let rows: Vec<Vec<&str>> = TABLES.lines().map(|line| line.split(' ').collect()).collect();
    for function in FUNCTIONS {
        let of = |dtype: DType| {
            rows.iter()
                .filter(move |row| row[0] == function.name && row[1] == dtype.name())
                .collect::<Vec<_>>()
        };
        for machine in Machine::ALL {
            let (narrow, wide) = (of(DType::F32), of(DType::F64));
            if narrow.is_empty() {
                continue;
            }
            let found = run_f32(function, machine, &[narrow.iter().map(|row| parse_f32(row[2])).collect()]);
            for (row, found) in narrow.iter().zip(found) {
                let error = ulp_f32(found, f64::from(parse_f32(row[3])));
                assert!(error <= 3.0, "{row:?}: {found:e}, {error} ULP");
            }
            let found = run_f64(function, machine, &[wide.iter().map(|row| parse_f64(row[2])).collect()]);
            for (row, found) in wide.iter().zip(found) {
                let error = ulp_f64(found, parse_f64(row[3]), 0.0);
                assert!(error <= 3.0, "{row:?}: {found:e}, {error} ULP");
            }
        }
    }
}

#[test]
fn lanes_do_not_depend_on_their_neighbours() {
    // Huge angles and subnormal numbers take branches for the whole vector.
    let x = [0.5_f32, 1e30, 3e6, -2.25, 1e-40, f32::INFINITY, f32::NAN, -0.0];
    let y = [1e-40_f32, 3.0, 1e-3, 0.75, 1e-44, 2.0, 1.0, 5.0];
    for function in FUNCTIONS {
        for machine in Machine::ALL {
            let columns = [x.to_vec(), y.to_vec()];
            let together = run_f32(function, machine, &columns[..function.operands]);
            for (i, whole) in together.iter().enumerate() {
                let columns = [vec![x[i]], vec![y[i]]];
                let alone = run_f32(function, machine, &columns[..function.operands])[0];
                let same = alone.to_bits() == whole.to_bits() || (alone.is_nan() && whole.is_nan());
                assert!(same, "{} at {}: {alone:e} alone, {whole:e} in a vector", function.name, x[i]);
            }
        }
    }
}
