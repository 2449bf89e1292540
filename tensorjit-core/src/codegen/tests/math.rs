//! The elementary functions as machine code: bit for bit what their executor computes, at every level, in vectors
//! and as scalars, with nothing imported.

use std::time::Instant;

use tensorjit_runtime::abi::DType;

use super::{Compiled, address, runnable};
use crate::codegen::object::{MAY_IMPORT, undefined_symbols};
use crate::codegen::{Visibility, compile};
use crate::lanes::Lanes as _;
use crate::loops::{Buffer, Builder, Kernel, Place, Target};
use crate::math::exec::Machine;
use crate::math::tests::{FUNCTIONS, Function, run_f32, run_f64, ulp_f32};

/// `out[i] = function(in[i], ..)` for whole vectors.
fn kernel(function: &Function, dtype: DType, target: &Target, lanes: u32) -> Kernel {
    let mut b = Builder::new(target.clone());
    b.set_width(lanes);
    let mut buffer = |number: usize| b.buffer(Buffer { dtype, place: Place::Arg(number as u32) });
    let inputs: Vec<_> = (0..function.operands).map(&mut buffer).collect();
    let output = buffer(function.operands);
    let (zero, count) = (b.int(DType::I64, 0), b.symbol(0));
    let (index, _) = b.open_loop((zero, count, lanes.into()), &[]);
    let args: Vec<_> = inputs.iter().map(|input| b.load(*input, index, lanes, None)).collect();
    let value = (function.apply)(&mut b, dtype, &args);
    let value = b.splat(value, lanes);
    b.store(output, index, value, None);
    b.close_loop(vec![]);
    b.finish()
}

fn name(function: &Function, dtype: DType, lanes: u32) -> String {
    format!("{}_{}_{lanes}", function.name, dtype.name())
}

/// All kernels for a target: of each type one with full vectors and one with scalars.
fn kernels(target: &Target) -> Vec<(String, Kernel)> {
    let mut kernels = Vec::new();
    for function in FUNCTIONS {
        for dtype in [DType::F32, DType::F64] {
            for lanes in [1, target.vector_bits / 8 / dtype.size() as u32] {
                kernels.push((name(function, dtype, lanes), kernel(function, dtype, target, lanes)));
            }
        }
    }
    kernels
}

/// Bit patterns all over the range, special values first; a multiple of every vector's length.
fn patterns(seed: u64) -> Vec<u64> {
    let exponents = (0..64_u64).map(|i| ((i * 0x0410 + 0x3f00) << 48) | (i * 0x0101_0101));
    let ordinary = (0..448_u64).map(|i| {
        let x = (i as f64 - 224.0) / 16.0 + 1.0 / (3.0 + seed as f64);
        x.to_bits()
    });
    let spread = (0..3584_u64).map(|i| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    exponents.chain(ordinary).chain(spread).collect()
}

/// Calls a kernel.
fn call<T: Copy + Default>(compiled: &Compiled, symbol: &str, inputs: &mut [Vec<T>]) -> Vec<T> {
    let length = inputs[0].len();
    let mut output = vec![T::default(); length];
    let mut args: Vec<*mut u8> = inputs.iter_mut().map(|input| address(input)).collect();
    args.push(address(&mut output));
    compiled.run(symbol, &args, &[length as i64], &mut []);
    output
}

#[test]
fn functions_compute_what_their_executor_does() {
    let mut wide: Vec<Vec<f64>> =
        [0, 5].map(|seed| patterns(seed).into_iter().map(f64::from_bits).collect()).into();
    let mut narrow: Vec<Vec<f32>> = [0, 5]
        .map(|seed| {
            let halves = patterns(seed).into_iter().enumerate();
            // Ordinary numbers by value, the others by their bits.
            halves
                .map(|(i, bits)| match i {
                    64..512 => f64::from_bits(bits) as f32,
                    _ => f32::from_bits((bits >> 32) as u32),
                })
                .collect()
        })
        .into();
    for target in runnable() {
        let compiled = Compiled::of(&kernels(&target));
        let machine = match (target.vector_bits, target.fma) {
            (512, _) => Machine::Tables,
            (_, true) => Machine::Fma,
            (_, false) => Machine::Plain,
        };
        for function in FUNCTIONS {
            let expected = run_f32(function, machine, &narrow[..function.operands]);
            for lanes in [1, target.vector_bits / 32] {
                let symbol = name(function, DType::F32, lanes);
                let found = call(&compiled, &symbol, &mut narrow[..function.operands]);
                for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
                    let same = a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
                    let x = (narrow[0][i], narrow[1][i]);
                    assert!(same, "{symbol} at {x:?}, {:?}: {a:e}, not {b:e}", target.level);
                }
            }
            let expected = run_f64(function, machine, &wide[..function.operands]);
            for lanes in [1, target.vector_bits / 64] {
                let symbol = name(function, DType::F64, lanes);
                let found = call(&compiled, &symbol, &mut wide[..function.operands]);
                for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
                    let same = a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
                    let x = (wide[0][i], wide[1][i]);
                    assert!(same, "{symbol} at {x:?}, {:?}: {a:e}, not {b:e}", target.level);
                }
            }
        }
    }
}

#[test]
fn functions_import_nothing() {
    for target in runnable() {
        let object = compile(&kernels(&target), Visibility::Exported).expect("compiles");
        let foreign: Vec<String> = undefined_symbols(&object.bytes)
            .expect("reads")
            .into_iter()
            .filter(|symbol| !MAY_IMPORT.contains(&symbol.as_str()))
            .collect();
        assert!(foreign.is_empty(), "{:?}: {foreign:?}", target.level);
    }
}

/// Nanoseconds an element of one kernel.
fn time<T: Copy + Default>(compiled: &Compiled, symbol: &str, mut inputs: Vec<Vec<T>>) -> f64 {
    let length = inputs[0].len();
    let mut output = vec![T::default(); length];
    let mut args: Vec<*mut u8> = inputs.iter_mut().map(|input| address(input)).collect();
    args.push(address(&mut output));
    let once = || {
        let start = Instant::now();
        for _ in 0..20 {
            compiled.run(symbol, &args, &[length as i64], &mut []);
        }
        start.elapsed().as_secs_f64() / 20.0 / length as f64 * 1e9
    };
    (0..20).map(|_| once()).fold(f64::MAX, f64::min)
}

/// Prints the time an element takes; run by hand.
#[test]
#[ignore = "a measurement"]
fn speed() {
    for target in runnable() {
        let compiled = Compiled::of(&kernels(&target));
        for function in FUNCTIONS {
            let narrow: Vec<f32> = (0..4096).map(|i| 0.1 + i as f32 / 500.0).collect();
            let wide: Vec<f64> = narrow.iter().copied().map(f64::from).collect();
            let symbol = |dtype: DType| name(function, dtype, target.vector_bits / 8 / dtype.size() as u32);
            let single = time(&compiled, &symbol(DType::F32), vec![narrow; function.operands]);
            let double = time(&compiled, &symbol(DType::F64), vec![wide; function.operands]);
            println!("{:?} {:8} f32 {single:6.2} f64 {double:6.2} ns", target.level, function.name);
        }
    }
}

/// Prints the largest error of the machine code for `f32` on every 97th operand; run by hand.
#[test]
#[ignore = "a measurement"]
fn accuracy() {
    const STRIDE: usize = 97;
    for target in runnable() {
        let compiled = Compiled::of(&kernels(&target));
        for function in FUNCTIONS {
            let symbol = name(function, DType::F32, target.vector_bits / 32);
            let mut worst = (0.0, 0.0, 0.0);
            for first in (0..=u32::MAX).step_by(STRIDE * 4096) {
                let x: Vec<f32> =
                    (0..4096).map(|i| f32::from_bits(first.saturating_add(i * STRIDE as u32))).collect();
                // The second operand takes a power to the edges of its range, or is of the size of the first.
                let y: Vec<f32> = x
                    .iter()
                    .enumerate()
                    .map(
                        |(i, x)| {
                            if i % 2 == 0 { (i as f32 - 2048.0) / 16.0 / x.abs().log2() } else { x * 0.7 }
                        },
                    )
                    .collect();
                let mut inputs = [x, y];
                let found = call(&compiled, &symbol, &mut inputs[..function.operands]);
                for (i, found) in found.into_iter().enumerate() {
                    let (x, y) = (f64::from(inputs[0][i]), f64::from(inputs[1][i]));
                    let error = ulp_f32(found, (function.reference)(&[x, y][..function.operands]));
                    if error > worst.0 {
                        worst = (error, x, y);
                    }
                }
            }
            println!("{:?} {:8} {:.3} ULP at {:?}", target.level, function.name, worst.0, (worst.1, worst.2));
        }
    }
}
