//! Tasks: what they are handed, who runs them, and what the linker sees of them.

use tensorjit_runtime::abi::{DType, Host};

use super::{Compiled, address, runnable, serial_host};
use crate::codegen::{Visibility, compile, object};
use crate::dim::{Dim, Sym};
use crate::lanes::{Cmp, Prim};
use crate::loops::tests::Sketch;
use crate::loops::{Kernel, Target, Ty};

const LANES: u32 = 8;

/// For every block of `x` and twice in a row: `x[i] = x[i] * scale[0] + x[i - 1 in arena]` in vectors, where the
/// arena holds a copy of a scalar that the entry computes; shared where there are at least three blocks.
fn blocks(target: &Target) -> Kernel {
    let mut k = Sketch::on(target.clone());
    let (x, scale) = (k.arg(DType::F32, 0), k.arg(DType::F32, 1));
    let arena = k.arena(DType::F32, &Dim::sym(Sym(0)) * &Dim::constant(64));
    let (zero, n, two) = (k.int(DType::I64, 0), k.symbol(0), k.int(DType::I64, 2));
    let factor = k.load(scale, zero, 1, None);
    let factor = k.splat(factor, LANES);
    let three = k.int(DType::I64, 3);
    let shared = k.prim(Prim::Cmp(Cmp::Ge), &[n, three], Ty { dtype: DType::Bool, lanes: 1 });
    k.repeat((zero, two, 1), &[], |k, turn, _| {
        let added = k.prim(Prim::Convert(DType::F32), &[turn], Ty { dtype: DType::F32, lanes: 1 });
        k.store(arena, zero, added, None);
        k.tasks(n, shared, |k, index| {
            let width = k.int(DType::I64, LANES.into());
            let at = k.times(index, width);
            let vector = Ty { dtype: DType::F32, lanes: LANES };
            let value = k.load(x, at, LANES, None);
            let value = k.prim(Prim::Mul, &[value, factor], vector);
            let added = k.load(arena, zero, 1, None);
            let added = k.splat(added, LANES);
            let value = k.prim(Prim::Add, &[value, added], vector);
            k.store(x, at, value, None);
        });
        vec![]
    });
    k.finish()
}

fn expected(count: usize) -> Vec<f32> {
    (0..count * LANES as usize).map(|i| (i as f32 * 3.0) * 3.0 + 1.0).collect()
}

fn run(target: &Target, host: Host, count: usize) -> Vec<f32> {
    let compiled = Compiled::of(&[("kernel".into(), blocks(target))]);
    let mut x: Vec<f32> = (0..count * LANES as usize).map(|i| i as f32).collect();
    let (mut scale, mut arena) = ([3.0_f32], vec![0_u8; count * 64 + 4]);
    compiled.run_on(host, "kernel", &[address(&mut x), address(&mut scale)], &[count as i64], &mut arena);
    x
}

/// Last task first.
unsafe extern "C" fn reversed(
    _: *const Host,
    count: i64,
    context: *mut u8,
    task: unsafe extern "C" fn(*mut u8, i64),
) {
    for index in (0..count).rev() {
        // SAFETY: the kernel gave both for each other.
        unsafe { task(context, index) };
    }
}

#[test]
fn tasks_use_what_is_around_them() {
    for target in runnable() {
        for count in [0, 1, 2, 3, 9] {
            assert_eq!(run(&target, serial_host(), count), expected(count), "{:?}", target.level);
            let host = Host { parallel_for: reversed };
            assert_eq!(run(&target, host, count), expected(count), "{:?}", target.level);
        }
    }
}

/// The host is asked only where the work is worth it.
#[test]
fn small_work_stays_here() {
    unsafe extern "C" fn nothing(_: *const Host, _: i64, _: *mut u8, _: unsafe extern "C" fn(*mut u8, i64)) {}
    for target in runnable() {
        let lazy = || Host { parallel_for: nothing };
        assert_eq!(run(&target, lazy(), 2), expected(2));
        let untouched: Vec<f32> = (0..3 * LANES).map(|i| i as f32).collect();
        assert_eq!(run(&target, lazy(), 3), untouched);
    }
}

/// Others see the entry alone, and two objects with the same entry link.
#[test]
fn tasks_are_local() {
    let target = &runnable()[0];
    let kernels = [("kernel".to_owned(), blocks(target))];
    let compiled = compile(&kernels, Visibility::Exported).expect("compiles");
    assert_eq!(object::defined_symbols(&compiled.bytes).expect("an object"), ["kernel"]);
    assert_eq!(object::undefined_symbols(&compiled.bytes).expect("an object"), [""; 0]);
    let twice = crate::codegen::load::Loaded::new(&[compiled.clone(), compiled]).expect("links");
    assert!(twice.entry("kernel").is_ok());
}
