//! Control flow and memory.

use tensorjit_runtime::abi::DType;

use super::{Compiled, address, apply, runnable};
use crate::dim::{Atom, Dim, Sym};
use crate::lanes::{Cmp, Prim};
use crate::loops::tests::Sketch;
use crate::loops::{Inst, Ty};

const MASK: fn(u32) -> Ty = |lanes| Ty { dtype: DType::Bool, lanes };
const INDEX: fn(u32) -> Ty = |lanes| Ty { dtype: DType::I64, lanes };

/// `out[i] = a[i] + 1` in vectors with a masked tail: nothing beyond the end is written.
#[test]
fn masked_tails_touch_only_their_lanes() {
    for target in runnable() {
        for lanes in [1, 2, 4, 8, 16] {
            for length in [0, 1, 3, 7, 16, 17, 33] {
                let input: Vec<f32> = (0..length + 64).map(|i| i as f32).collect();
                let output: Vec<f32> = apply(&target, &[&input], length + 64, |k, inputs, output, n| {
                    let (zero, one) = (k.int(DType::I64, 0), k.float(DType::F32, 1.0));
                    let beyond = k.int(DType::I64, 64);
                    let n = k.prim(Prim::Sub, &[n, beyond], INDEX(1));
                    let numbers = k.ty(DType::I64, lanes);
                    k.push(Inst::Lanes(numbers));
                    k.repeat((zero, n, lanes.into()), &[], |k, index, _| {
                        let (first, end) = (k.splat(index, lanes), k.splat(n, lanes));
                        let at = k.prim(Prim::Add, &[first, numbers], INDEX(lanes));
                        let mask = k.prim(Prim::Cmp(Cmp::Lt), &[at, end], MASK(lanes));
                        let x = k.load(inputs[0], index, lanes, Some(mask));
                        let y = k.prim(Prim::Add, &[x, one], Ty { dtype: DType::F32, lanes });
                        k.store(output, index, y, Some(mask));
                        vec![]
                    });
                });
                let expected: Vec<f32> =
                    (0..length + 64).map(|i| if i < length { i as f32 + 1.0 } else { 0.0 }).collect();
                assert_eq!(output, expected, "{} lanes, length {length}, {:?}", lanes, target.level);
            }
        }
    }
}

/// What is asked for ahead need not exist, and is neither read nor written.
#[test]
fn what_is_asked_for_changes_nothing() {
    for target in runnable() {
        let output: Vec<f32> = apply(&target, &[&[1.0_f32, 2.0, 3.0]], 3, |k, inputs, output, n| {
            let (zero, one) = (k.int(DType::I64, 0), k.float(DType::F32, 1.0));
            for offset in [0, 2, -1, -(1 << 40), 1 << 40, i64::MAX] {
                let offset = k.int(DType::I64, offset);
                k.push(Inst::Prefetch { buf: inputs[0], offset });
                k.push(Inst::Prefetch { buf: output, offset });
            }
            k.repeat((zero, n, 1), &[], |k, index, _| {
                let x = k.load(inputs[0], index, 1, None);
                let y = k.prim(Prim::Add, &[x, one], Ty { dtype: DType::F32, lanes: 1 });
                k.store(output, index, y, None);
                k.push(Inst::Prefetch { buf: output, offset: index });
                vec![]
            });
        });
        assert_eq!(output, [2.0, 3.0, 4.0], "{:?}", target.level);
    }
}

/// Carried values through nested loops; loops that do not run hand the initial values on.
#[test]
fn loops_carry_values() {
    for target in runnable() {
        for length in [0_i64, 1, 5] {
            let output: Vec<i64> = apply(&target, &[&[0_i64]], length.max(2) as usize, |k, _, output, n| {
                let (zero, one) = (k.int(DType::I64, 0), k.int(DType::I64, 1));
                let two = k.int(DType::I64, 2);
                // For a length below 2 the tensor has two elements nevertheless.
                let count = k.int(DType::I64, length);
                let _ = n;
                let sums = k.repeat((zero, count, 1), &[zero, one], |k, index, carried| {
                    let inner =
                        k.repeat((zero, index, 2), &[carried[0]], |k, _, inner| vec![k.plus(inner[0], one)]);
                    vec![inner[0], k.times(carried[1], two)]
                });
                k.store(output, zero, sums[0], None);
                k.store(output, one, sums[1], None);
            });
            let turns: i64 = (0..length).map(|i| (i + 1) / 2).sum();
            assert_eq!(output[..2], [turns, 1 << length], "{:?}", target.level);
        }
    }
}

/// Both sides of a branch, in a loop, with results and stores.
#[test]
fn branches_yield_values() {
    for target in runnable() {
        let input = [3_i64, -2, 0, 7, -9];
        let output: Vec<i64> = apply(&target, &[&input], input.len(), |k, inputs, output, n| {
            let zero = k.int(DType::I64, 0);
            k.repeat((zero, n, 1), &[], |k, index, _| {
                let x = k.load(inputs[0], index, 1, None);
                let negative = k.prim(Prim::Cmp(Cmp::Lt), &[x, zero], MASK(1));
                let y = k.choose(
                    negative,
                    |k| vec![k.prim(Prim::Sub, &[zero, x], INDEX(1))],
                    |k| vec![k.times(x, x)],
                );
                k.store(output, index, y[0], None);
                vec![]
            });
        });
        assert_eq!(output, [9, 2, 0, 49, 9], "{:?}", target.level);
    }
}

/// Masks as bytes in memory, reversed by gathering, and whether any is set.
#[test]
fn masks_live_in_memory_as_bytes() {
    for target in runnable() {
        for lanes in [1_u32, 2, 8, 16, 32] {
            let input: Vec<bool> = (0..lanes).map(|i| i % 3 == 1).collect();
            let output: Vec<bool> = apply(&target, &[&input], lanes as usize + 2, |k, inputs, output, n| {
                let zero = k.int(DType::I64, 0);
                let loaded = k.load(inputs[0], zero, lanes, None);
                let truth = k.truth();
                let negated = k.prim(Prim::Xor, &[loaded, truth], MASK(lanes));
                k.store(output, zero, negated, None);
                for (position, mask) in [(-2, loaded), (-1, truth)] {
                    let any = k.ty(DType::Bool, 1);
                    k.push(Inst::Any { result: any, mask });
                    let behind = k.int(DType::I64, position);
                    let at = k.plus(n, behind);
                    k.store(output, at, any, None);
                }
            });
            let mut expected: Vec<bool> = input.iter().map(|x| !x).collect();
            expected.extend([lanes > 1, true]);
            assert_eq!(output, expected, "{lanes} lanes, {:?}", target.level);
        }
    }
}

/// Gathers read the lanes of the mask alone: the others may lie anywhere.
#[test]
fn gathers_follow_their_mask() {
    for target in runnable() {
        for lanes in [2_u32, 4, 8, 16] {
            let input: Vec<f64> = (0..lanes).map(|i| f64::from(i) + 0.5).collect();
            let output: Vec<f64> = apply(&target, &[&input], 2 * lanes as usize, |k, inputs, output, _| {
                let (zero, most) = (k.int(DType::I64, 0), k.int(DType::I64, i64::from(lanes) - 1));
                let (odd, far) = (k.int(DType::I64, 1), k.int(DType::I64, 1 << 40));
                let numbers = k.ty(DType::I64, lanes);
                k.push(Inst::Lanes(numbers));
                let reversed = k.prim(Prim::Sub, &[most, numbers], INDEX(lanes));
                let all = k.gather(inputs[0], reversed, lanes, None);
                k.store(output, zero, all, None);
                let bit = k.prim(Prim::And, &[numbers, odd], INDEX(lanes));
                let even = k.prim(Prim::Cmp(Cmp::Eq), &[bit, zero], MASK(lanes));
                let wild = k.prim(Prim::Select, &[even, numbers, far], INDEX(lanes));
                let some = k.gather(inputs[0], wild, lanes, Some(even));
                let behind = k.int(DType::I64, lanes.into());
                k.store(output, behind, some, None);
            });
            let mut expected: Vec<f64> = input.iter().rev().copied().collect();
            expected.extend((0..lanes).map(|i| if i % 2 == 0 { f64::from(i) + 0.5 } else { 0.0 }));
            assert_eq!(output, expected, "{lanes} lanes, {:?}", target.level);
        }
    }
}

/// Offsets in the arena agree with the evaluation of the same expressions.
#[test]
fn arena_offsets_are_evaluated() {
    let n = || Dim::sym(Sym(0));
    let m = || Dim::sym(Sym(1));
    let three = || Dim::constant(3);
    let shifted = &n() - &Dim::constant(5);
    let dims = [
        &(&n() * &m()) * &Dim::constant(8),
        n().floor_div(&m()),
        n().ceil_div(&m()),
        n().modulo(&m()),
        Dim::atom(Atom::FloorDiv(shifted.clone(), three())),
        Dim::atom(Atom::CeilDiv(shifted.clone(), three())),
        Dim::atom(Atom::Mod(shifted, three())),
        n().minimum(&m()),
        n().maximum(&m()),
    ];
    for target in runnable() {
        let mut k = Sketch::on(target);
        let output = k.arg(DType::I64, 0);
        let zero = k.int(DType::I64, 0);
        let mark = k.int(DType::I32, 77);
        for (number, dim) in dims.iter().enumerate() {
            // Far from each other and from the start, since some are negative.
            let offset = &(dim * &Dim::constant(4)) + &Dim::constant(4000 * (number as i64 + 1));
            let buffer = k.arena(DType::I32, offset);
            k.store(buffer, zero, mark, None);
        }
        k.store(output, zero, zero, None);
        let compiled = Compiled::of(&[("kernel".into(), k.finish())]);
        for (n, m) in [(4, 3), (6, 3), (0, 1), (11, 4)] {
            let mut arena = vec![0_u8; 4000 * (dims.len() + 2)];
            compiled.run("kernel", &[address(&mut [1_i64])], &[n, m], &mut arena);
            let found: Vec<usize> = (0..arena.len()).filter(|at| arena[*at] != 0).collect();
            let expected: Vec<usize> = dims
                .iter()
                .enumerate()
                .map(|(number, dim)| {
                    let value = dim.eval(&|sym| [Some(n), Some(m)][sym.0 as usize]).expect("in range");
                    (4 * value + 4000 * (number as i64 + 1)) as usize
                })
                .collect();
            assert_eq!(found, expected, "n = {n}, m = {m}");
        }
    }
}
