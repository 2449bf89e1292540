//! Which nests become one part, and what they are handed.

use tensorjit_runtime::abi::DType;

use super::share_nests;
use crate::lanes::{Prim, Val};
use crate::loops::split::{Limits, Parts};
use crate::loops::tests::Sketch;
use crate::loops::verify::verify;
use crate::loops::{Buf, Inst, Kernel, Ty};

/// What a nest writes.
#[derive(Clone, Copy)]
enum What {
    Constant(f64),
    /// The scalar in all lanes.
    Splat(Val),
    /// This vector.
    Vector(Val),
}

/// `to[start + 4*i .. + 4] = from[..] + what` for all i below a symbol, a symbol of times.
fn nest(k: &mut Sketch, from: Buf, to: Buf, start: Val, what: What) {
    let vector = Ty { dtype: DType::F32, lanes: 4 };
    let (zero, n) = (k.int(DType::I64, 0), k.symbol(0));
    let addend = match what {
        What::Constant(value) => k.float(DType::F32, value),
        What::Splat(scalar) => k.splat(scalar, 4),
        What::Vector(vector) => vector,
    };
    k.repeat((zero, n, 1), &[], |k, _, _| {
        k.repeat((zero, n, 4), &[], |k, index, _| {
            let at = k.plus(start, index);
            let x = k.load(from, at, 4, None);
            let y = k.prim(Prim::Add, &[x, addend], vector);
            k.store(to, at, y, None);
            Vec::new()
        });
        Vec::new()
    });
}

/// The parts of a kernel, all of them legal.
fn shared(kernel: Kernel) -> Parts {
    let parts = share_nests(Parts { entry: kernel, parts: Vec::new() }, Limits::NONE);
    for kernel in parts.parts.iter().chain([&parts.entry]) {
        verify(kernel).unwrap_or_else(|bug| panic!("{bug}\n{kernel}"));
    }
    parts
}

/// Part, buffers and values.
type Run = (u32, Vec<u32>, Vec<Val>);

/// The nests that the outermost block runs, and how many loops it has.
fn runs(kernel: &Kernel) -> (Vec<Run>, usize) {
    let insts = &kernel.body.insts;
    let runs = insts.iter().filter_map(|inst| match inst {
        Inst::Nest { part, buffers, values } => {
            Some((*part, buffers.iter().map(|buf| buf.0).collect(), values.clone()))
        }
        _ => None,
    });
    (runs.collect(), insts.iter().filter(|inst| matches!(inst, Inst::For(_))).count())
}

#[test]
fn equal_nests_on_other_buffers_and_scalars_are_one_part() {
    let mut k = Sketch::new();
    let [a, b, c] = [0, 1, 2].map(|number| k.arg(DType::F32, number));
    let starts = [k.symbol(1), k.symbol(2)];
    nest(&mut k, a, b, starts[0], What::Constant(1.0));
    nest(&mut k, b, c, starts[1], What::Constant(1.0));
    nest(&mut k, a, c, starts[1], What::Constant(2.0));
    // Within one buffer.
    nest(&mut k, a, a, starts[0], What::Constant(1.0));
    let parts = shared(k.finish());
    let (runs, loops) = runs(&parts.entry);
    assert_eq!((parts.parts.len(), loops), (1, 2), "{}", parts.entry);
    let buffers: Vec<(u32, Vec<u32>)> = runs.iter().map(|run| (run.0, run.1.clone())).collect();
    assert_eq!(buffers, [(0, vec![0, 1]), (0, vec![1, 2])]);
    assert!(runs.iter().zip(starts).all(|(run, start)| run.2.contains(&start)), "{runs:?}");
}

#[test]
fn buffers_of_a_part_share_a_memory_where_those_of_one_place_do() {
    for same in [false, true] {
        let mut k = Sketch::new();
        let [a, b, c] = [0, 1, if same { 1 } else { 2 }].map(|number| k.arg(DType::F32, number));
        let start = k.symbol(1);
        nest(&mut k, a, b, start, What::Constant(1.0));
        nest(&mut k, b, c, start, What::Constant(1.0));
        let parts = shared(k.finish());
        let memories: Vec<_> = parts.parts[0].buffers.iter().map(|buffer| buffer.place.memory()).collect();
        assert_eq!(memories[0] == memories[1], same, "{}", parts.parts[0]);
    }
}

/// A zero with a sign is another one.
#[test]
fn constants_are_what_they_are() {
    let mut k = Sketch::new();
    let (a, b, start) = (k.arg(DType::F32, 0), k.arg(DType::F32, 1), k.symbol(1));
    nest(&mut k, a, b, start, What::Constant(0.0));
    nest(&mut k, a, b, start, What::Constant(-0.0));
    assert_eq!(shared(k.finish()).parts, []);
}

#[test]
fn loops_with_other_steps_are_others() {
    let mut k = Sketch::new();
    let [a, b] = [0, 1].map(|number| k.arg(DType::F32, number));
    let (zero, n) = (k.int(DType::I64, 0), k.symbol(0));
    for step in [4, 8, 4] {
        k.repeat((zero, n, 1), &[], |k, _, _| {
            k.repeat((zero, n, step), &[], |k, index, _| {
                let x = k.load(a, index, 4, None);
                k.store(b, index, x, None);
                Vec::new()
            });
            Vec::new()
        });
    }
    let parts = shared(k.finish());
    let (runs, loops) = runs(&parts.entry);
    assert_eq!((parts.parts.len(), runs.len(), loops), (1, 2, 1), "{}", parts.entry);
}

#[test]
fn vectors_are_made_anew_and_never_handed_over() {
    let mut k = Sketch::new();
    let [a, b] = [0, 1].map(|number| k.arg(DType::F32, number));
    let (zero, one, start) = (k.int(DType::I64, 0), k.int(DType::I64, 1), k.symbol(1));
    for at in [zero, one] {
        let scalar = k.load(a, at, 1, None);
        nest(&mut k, a, b, start, What::Splat(scalar));
    }
    for at in [zero, one] {
        let vector = k.load(a, at, 4, None);
        nest(&mut k, a, b, start, What::Vector(vector));
    }
    let parts = shared(k.finish());
    assert_eq!(parts.parts.len(), 1);
    assert_eq!(runs(&parts.entry).1, 2, "those that take a vector from memory stay: {}", parts.entry);
    assert!(
        parts.parts[0].body.insts.iter().any(|inst| matches!(inst, Inst::Splat(..))),
        "{}",
        parts.parts[0]
    );
}

/// A nest within equal nests is not counted for each of these, but for other places.
#[test]
fn parts_run_parts() {
    for alone in [false, true] {
        let mut k = Sketch::new();
        let [a, b] = [0, 1].map(|number| k.arg(DType::F32, number));
        let (zero, n) = (k.int(DType::I64, 0), k.symbol(0));
        for _ in 0..2 {
            k.repeat((zero, n, 1), &[], |k, index, _| {
                nest(k, a, b, index, What::Constant(1.0));
                Vec::new()
            });
        }
        if alone {
            nest(&mut k, b, a, n, What::Constant(1.0));
        }
        let parts = shared(k.finish());
        assert_eq!((parts.parts.len(), runs(&parts.entry).1), (1 + usize::from(alone), 0), "{}", parts.entry);
    }
}

#[test]
fn little_functions_stay_whole() {
    let mut k = Sketch::new();
    let (a, b, start) = (k.arg(DType::F32, 0), k.arg(DType::F32, 1), k.symbol(1));
    nest(&mut k, a, b, start, What::Constant(1.0));
    nest(&mut k, b, a, start, What::Constant(1.0));
    let parts = Parts { entry: k.finish(), parts: Vec::new() };
    assert_eq!(share_nests(parts.clone(), Limits::USUAL), parts);
}
