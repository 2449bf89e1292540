//! The register tile of a matrix product: what the scheduler relies on LLVM for.

use std::hint::black_box;
use std::time::Instant;

use tensorjit_runtime::abi::{DType, Level};

use super::{Compiled, address, runnable};
use crate::codegen::{Listing, listing};
use crate::lanes::{Prim, Val};
use crate::loops::tests::Sketch;
use crate::loops::{Kernel, Target, Ty};

/// Rows of the tile and vectors in a row: all registers but those for one row of `b` and a value of `a`.
fn tile(target: &Target) -> (i64, i64) {
    if target.vector_registers == 32 { (14, 2) } else { (6, 2) }
}

/// `c = a b` for one tile.  `a` is `rows x k`, either a panel that holds its columns one after another
/// or row-major; `b` is `k x columns`, row-major; `k` is the only symbol.
fn micro_kernel(target: &Target, panel: bool) -> Kernel {
    let (rows, vectors) = tile(target);
    let lanes = target.vector_bits / 32;
    let f32s = Ty { dtype: DType::F32, lanes };
    let columns = vectors * i64::from(lanes);
    let mut k = Sketch::on(target.clone());
    let (a, b, c) = (k.arg(DType::F32, 0), k.arg(DType::F32, 1), k.arg(DType::F32, 2));
    let (zero, depth) = (k.int(DType::I64, 0), k.symbol(0));
    let nothing = k.float(DType::F32, 0.0);
    let nothing = k.splat(nothing, lanes);
    let start = vec![nothing; (rows * vectors) as usize];
    let (row_step, index_step) = if panel { (None, rows) } else { (Some(depth), 1) };
    let starts: Vec<Val> = (0..rows)
        .map(|row| {
            let row = k.int(DType::I64, row);
            row_step.map_or(row, |step| k.times(row, step))
        })
        .collect();
    let sums = k.repeat((zero, depth, 1), &start, |k, index, sums| {
        let (index_step, columns) = (k.int(DType::I64, index_step), k.int(DType::I64, columns));
        let (in_a, in_b) = (k.times(index, index_step), k.times(index, columns));
        let right: Vec<Val> = (0..vectors)
            .map(|vector| {
                let column = k.int(DType::I64, vector * i64::from(lanes));
                let at = k.plus(in_b, column);
                k.load(b, at, lanes, None)
            })
            .collect();
        let mut next = Vec::with_capacity(sums.len());
        for (row, start) in starts.iter().enumerate() {
            let at = k.plus(in_a, *start);
            let left = k.load(a, at, 1, None);
            let left = k.splat(left, lanes);
            for (vector, right) in right.iter().enumerate() {
                let sum = sums[row * vectors as usize + vector];
                next.push(k.prim(Prim::Fma, &[left, *right, sum], f32s));
            }
        }
        next
    });
    for (number, sum) in sums.into_iter().enumerate() {
        let at = k.int(DType::I64, number as i64 * i64::from(lanes));
        k.store(c, at, sum, None);
    }
    k.finish()
}

/// The innermost loop of the assembly: what stands between the target of its last backward jump and the jump.
fn innermost(assembly: &str) -> Vec<&str> {
    let lines: Vec<&str> = assembly.lines().map(str::trim).collect();
    for (end, line) in lines.iter().enumerate() {
        let Some(label) = line.strip_prefix('j').and_then(|jump| jump.split_whitespace().nth(1)) else {
            continue;
        };
        let start = lines[..end].iter().position(|line| line.split('#').next() == Some(&format!("{label}:")));
        if let Some(start) = start {
            return lines[start..=end].to_vec();
        }
    }
    Vec::new()
}

fn listed(kernel: Kernel) -> Listing {
    listing(&[("kernel".into(), kernel)]).expect("compiles")
}

/// In the loop there are the products, the loads, the addresses and the count, and no register is saved.
#[test]
#[cfg(target_arch = "x86_64")]
fn accumulators_stay_in_registers() {
    for target in super::targets(super::TRIPLE, None).expect("a supported machine") {
        if target.level == Level::X86V2 {
            continue;
        }
        let (rows, vectors) = tile(&target);
        for panel in [true, false] {
            let assembly = listed(micro_kernel(&target, panel)).assembly;
            let body = innermost(&assembly);
            let count = |name: &str| body.iter().filter(|line| line.starts_with(name)).count() as i64;
            assert_eq!(count("vfmadd"), rows * vectors, "{assembly}");
            assert!(!body.iter().any(|line| line.contains("rsp")), "{}", body.join("\n"));
            let overhead = body.len() as i64 - count("vfmadd") - count("vbroadcastss") - count("vmov");
            assert!(
                overhead <= if panel { 6 } else { rows + 8 },
                "{overhead} others in\n{}",
                body.join("\n")
            );
        }
    }
}

/// The tile computes the product.
#[test]
fn tiles_are_products() {
    for target in runnable() {
        let (rows, vectors) = tile(&target);
        let (rows, columns) = (rows as usize, (vectors * i64::from(target.vector_bits / 32)) as usize);
        for depth in [0, 1, 7] {
            for panel in [true, false] {
                let compiled = Compiled::of(&[("kernel".into(), micro_kernel(&target, panel))]);
                let mut a: Vec<f32> = (0..rows * depth).map(|i| (i % 11) as f32 - 5.0).collect();
                let mut b: Vec<f32> = (0..depth * columns).map(|i| (i % 7) as f32 - 3.0).collect();
                let mut c = vec![9_f32; rows * columns];
                let args = [address(&mut a), address(&mut b), address(&mut c)];
                compiled.run("kernel", &args, &[depth as i64], &mut []);
                for (at, found) in c.iter().enumerate() {
                    let (row, column) = (at / columns, at % columns);
                    let left = |k: usize| if panel { a[k * rows + row] } else { a[row * depth + k] };
                    let expected: f32 = (0..depth).map(|k| left(k) * b[k * columns + column]).sum();
                    assert_eq!(*found, expected, "{row}, {column}, {depth}, {:?}", target.level);
                }
            }
        }
    }
}

/// Prints the speed of the tile: `cargo test --release -- --ignored --nocapture speed_of_tiles`.
#[test]
#[ignore = "a measurement"]
fn speed_of_tiles() {
    for target in runnable() {
        let (rows, vectors) = tile(&target);
        let (rows, columns) = (rows as usize, (vectors * i64::from(target.vector_bits / 32)) as usize);
        for panel in [true, false] {
            let kernel = micro_kernel(&target, panel);
            if panel {
                println!("{}", innermost(&listed(kernel.clone()).assembly).join("\n"));
            }
            let compiled = Compiled::of(&[("kernel".into(), kernel)]);
            let depth = 256;
            let (mut a, mut b) = (vec![1_f32; rows * depth], vec![1_f32; depth * columns]);
            let mut c = vec![0_f32; rows * columns];
            let args = [address(&mut a), address(&mut b), address(&mut c)];
            let best = (0..50)
                .map(|_| {
                    let start = Instant::now();
                    for _ in 0..200 {
                        compiled.run("kernel", black_box(&args), &[depth as i64], &mut []);
                    }
                    start.elapsed().as_secs_f64() / 200.0
                })
                .fold(f64::INFINITY, f64::min);
            let operations = (2 * rows * columns * depth) as f64;
            println!("{:?}, panel {panel}: {:.1} GFLOP/s", target.level, operations / best / 1e9);
        }
    }
}

/// Prints how long a small function takes to compile, part by part.
#[test]
#[ignore = "a measurement"]
fn time_of_compilation() {
    for target in super::targets(super::TRIPLE, None).expect("a supported machine") {
        for count in [1, 10, 100] {
            let kernels: Vec<_> = (0..count)
                .map(|number| (format!("kernel{number}"), micro_kernel(&target, number % 2 == 0)))
                .collect();
            let start = Instant::now();
            crate::codegen::compile(&kernels, crate::codegen::Visibility::Hidden).expect("compiles");
            println!("{:?}: {count} kernels in {:.1} ms", target.level, start.elapsed().as_secs_f64() * 1e3);
        }
    }
}
