//! Loops written by hand, and what their cells become.

use tensorjit_runtime::abi::DType;

use super::*;
use crate::dim::Dim;
use crate::lanes::{Cmp, Prim};
use crate::loops::tests::Sketch;
use crate::loops::verify;

const F32: Ty = Ty { dtype: DType::F32, lanes: 1 };

/// The body of the kernel as text, promoted.
fn promoted(k: Sketch) -> String {
    let kernel = promote(k.finish());
    verify(&kernel).expect("a legal kernel");
    let text = kernel.to_string();
    let lines = text.lines().filter(|line| !line.starts_with("kernel") && !line.starts_with("  b"));
    lines.map(|line| line.trim_start_matches("  ")).collect::<Vec<_>>().join("\n")
}

/// `memory[0] = 2 * memory[0]`, by way of `aside`, where there is one.
fn double(k: &mut Sketch, memory: Buf, aside: Option<Buf>, zero: Val) {
    let old = k.load(memory, zero, 1, None);
    let mut twice = k.prim(Prim::Add, &[old, old], F32);
    if let Some(aside) = aside {
        k.store(aside, zero, twice, None);
        twice = k.load(aside, zero, 1, None);
    }
    k.store(memory, zero, twice, None);
}

#[test]
fn what_turns_hand_on_is_carried_and_what_one_puts_aside_is_gone() {
    let mut k = Sketch::new();
    let (state, aside) = (k.arg(DType::F32, 0), k.arena(DType::F32, Dim::constant(0)));
    let (zero, n) = (k.int(DType::I64, 0), k.symbol(0));
    k.repeat((zero, n, 1), &[], |k, _, _| {
        double(k, state, Some(aside), zero);
        Vec::new()
    });
    let expected = "\
v0: i64 = 0
v1: i64 = symbol s0
v6: f32 = load b0[v0]
v8: f32 = for v2 in v0..v1 step 1 with v7: f32 = v6 {
v4: f32 = Add v7, v7
yield v4
}
store b0[v0] = v8";
    assert_eq!(promoted(k), expected);
}

#[test]
fn a_side_of_a_branch_hands_on_what_it_stores() {
    let mut k = Sketch::new();
    let (state, n) = (k.arg(DType::F32, 0), k.symbol(0));
    let (zero, truth) = (k.int(DType::I64, 0), k.truth());
    k.repeat((zero, n, 1), &[], |k, _, _| {
        let doubled = |k: &mut Sketch| {
            double(k, state, None, zero);
            Vec::new()
        };
        k.choose(truth, doubled, |_| Vec::new());
        Vec::new()
    });
    let expected = "\
v0: i64 = symbol s0
v1: i64 = 0
v2: bool = 1
v6: f32 = load b0[v1]
v9: f32 = for v3 in v1..v0 step 1 with v7: f32 = v6 {
v8: f32 = if v2 {
v5: f32 = Add v7, v7
yield v5
} else {
yield v7
}
yield v8
}
store b0[v1] = v9";
    assert_eq!(promoted(k), expected);
}

#[test]
fn lanes_outside_of_a_mask_stay_zero() {
    let mut k = Sketch::new();
    let (state, n) = (k.arg(DType::F32, 0), k.symbol(0));
    let (zero, three, numbers) = (k.int(DType::I64, 0), k.int(DType::I32, 3), k.ty(DType::I32, 4));
    k.push(Inst::Lanes(numbers));
    let threes = k.splat(three, 4);
    let mask = k.prim(Prim::Cmp(Cmp::Lt), &[numbers, threes], Ty { dtype: DType::Bool, lanes: 4 });
    let one = k.float(DType::F32, 1.0);
    let ones = k.splat(one, 4);
    k.repeat((zero, n, 1), &[], |k, _, _| {
        let old = k.load(state, zero, 4, Some(mask));
        let more = k.prim(Prim::Add, &[old, ones], Ty { dtype: DType::F32, lanes: 4 });
        k.store(state, zero, more, Some(mask));
        Vec::new()
    });
    let text = promoted(k);
    let expected = "\
v16: f32x4 = for v8 in v1..v0 step 1 with v14: f32x4 = v13 {
v10: f32x4 = Add v14, v7
v15: f32x4 = Select v5, v10, v12
yield v15
}
store b0[v1] = v16 where v5";
    assert!(text.ends_with(expected), "{text}");
}

/// Memory that a loop reaches by other ways too stays memory.
#[test]
fn other_accesses_keep_all_in_memory() {
    type Other = fn(&mut Sketch, Buf, Val);
    let others: [Other; 4] = [
        |k, memory, index| k.store(memory, index, index, None),
        |k, memory, _| {
            let one = k.int(DType::I64, 1);
            k.load(memory, one, 1, None);
        },
        |k, memory, index| {
            k.repeat((index, index, 1), &[], |k, index, _| {
                k.load(memory, index, 1, None);
                Vec::new()
            });
        },
        |k, memory, index| {
            let places = k.splat(index, 2);
            k.gather(memory, places, 2, None);
        },
    ];
    for other in others {
        let mut k = Sketch::new();
        let (memory, zero, n) = (k.arg(DType::I64, 0), k.int(DType::I64, 0), k.symbol(0));
        k.repeat((zero, n, 1), &[], |k, index, _| {
            let old = k.load(memory, zero, 2, None);
            k.store(memory, zero, old, None);
            other(k, memory, index);
            Vec::new()
        });
        let kernel = k.finish();
        assert_eq!(promote(kernel.clone()), kernel);
    }
}

/// What one turn leaves, another loop reads.
#[test]
fn what_is_read_elsewhere_is_stored() {
    let mut k = Sketch::new();
    let (aside, to) = (k.arena(DType::F32, Dim::constant(0)), k.arg(DType::F32, 0));
    let (zero, n, one) = (k.int(DType::I64, 0), k.symbol(0), k.float(DType::F32, 1.0));
    k.repeat((zero, n, 1), &[], |k, _, _| {
        k.store(aside, zero, one, None);
        Vec::new()
    });
    let last = k.load(aside, zero, 1, None);
    k.store(to, zero, last, None);
    let text = promoted(k);
    assert!(text.contains("store b0[v0] = v7\nv4: f32 = load b0[v0]"), "{text}");
}

/// The caller reads what a loop leaves in an argument.
#[test]
fn what_the_caller_reads_is_stored() {
    let mut k = Sketch::new();
    let to = k.arg(DType::F32, 0);
    let (zero, n, one) = (k.int(DType::I64, 0), k.symbol(0), k.float(DType::F32, 1.0));
    k.repeat((zero, n, 1), &[], |k, _, _| {
        k.store(to, zero, one, None);
        Vec::new()
    });
    let text = promoted(k);
    assert!(text.ends_with("store b0[v0] = v6"), "{text}");
}

/// An inner loop that only stores names the memory twice once its cell is carried.
#[test]
fn what_is_read_behind_two_loops_is_stored() {
    let mut k = Sketch::new();
    let (aside, to) = (k.arena(DType::F32, Dim::constant(0)), k.arg(DType::F32, 0));
    let (zero, n, one) = (k.int(DType::I64, 0), k.symbol(0), k.float(DType::F32, 1.0));
    k.repeat((zero, n, 1), &[], |k, _, _| {
        k.store(aside, zero, one, None);
        k.repeat((zero, n, 1), &[], |k, _, _| {
            k.store(aside, zero, one, None);
            Vec::new()
        });
        Vec::new()
    });
    let last = k.load(aside, zero, 1, None);
    k.store(to, zero, last, None);
    let text = promoted(k);
    let (_, behind) = text.rsplit_once("}\n").expect("a loop");
    assert!(behind.starts_with("store b0[v0] = "), "{text}");
}

/// Elements of two types that share bytes stay in memory.
#[test]
fn bytes_that_two_types_share_are_no_cells() {
    let mut k = Sketch::new();
    let (wide, narrow) = (k.arena(DType::F64, Dim::constant(0)), k.arena(DType::F32, Dim::constant(0)));
    let (zero, n) = (k.int(DType::I64, 0), k.symbol(0));
    let three = k.int(DType::I64, 3);
    let (one, two) = (k.float(DType::F64, 1.0), k.float(DType::F32, 2.0));
    let ones = k.splat(one, 2);
    k.repeat((zero, n, 1), &[], |k, _, _| {
        k.store(narrow, three, two, None);
        k.store(wide, zero, ones, None);
        Vec::new()
    });
    let kernel = k.finish();
    assert_eq!(promote(kernel.clone()), kernel);
}

/// A task that does not store to what all of them share does not even write what is there.
#[test]
fn loops_of_tasks_store_what_they_did() {
    let mut k = Sketch::new();
    let to = k.arg(DType::F32, 0);
    let (zero, n, one) = (k.int(DType::I64, 0), k.symbol(0), k.float(DType::F32, 1.0));
    let truth = k.truth();
    k.tasks(n, truth, |k, task| {
        k.repeat((zero, task, 1), &[], |k, _, _| {
            k.store(to, zero, one, None);
            Vec::new()
        });
    });
    let kernel = k.finish();
    assert_eq!(promote(kernel.clone()), kernel);
}
