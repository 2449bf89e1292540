//! Calls of entries written by hand: strides, errors, memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ndarray::{Array, Array1, Array2, Ix1, Ix2, array, s};

use super::*;
use crate::abi::{
    Check, DType, DimExpr, DimOp, Host, KernelInfo, Level, LevelEntry, Param, Relation, Size, Solve, Symbol,
};
use crate::plan::{Lists, Plan, axes, composed};
use crate::{Arg, ArgMut, ErrorKind, release_workspaces};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: it forwards to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

const fn dim(program: &'static [DimOp], text: &'static str) -> DimExpr {
    DimExpr::new(program, text)
}

const fn param(name: &'static str, dtype: DType, role: Role, shape: &'static [DimExpr]) -> Param {
    Param { name, dtype, role, shape, index_bound: None }
}

const fn solve(symbol: u32, param: u32, axis: u32, scale: i64, offset: DimExpr) -> Solve {
    Solve { symbol, param, axis, scale, offset }
}

/// The plan of a function with these parameters and so many symbols, as the macro writes it.
macro_rules! plan {
    ($params:ident, $symbols:literal) => {
        Plan::new(
            $params,
            const { &Lists::<{ axes($params) }, { composed($params) }>::of($params, $symbols) },
        )
    };
}

const ZERO: DimExpr = dim(&[DimOp::Const(0)], "0");
const THREE: DimExpr = dim(&[DimOp::Const(3)], "3");
const B: DimExpr = dim(&[DimOp::Symbol(0)], "B");
const N: DimExpr = dim(&[DimOp::Symbol(1)], "N");
const TWO_N: DimExpr = dim(&[DimOp::Const(2), DimOp::Symbol(1), DimOp::Mul], "2*N");
const BYTES: DimExpr = dim(&[DimOp::Symbol(0), DimOp::Const(8), DimOp::Mul], "8*B");

const SUMS_PARAMS: &[Param] = &[
    param("x", DType::F64, Role::Input, &[B, TWO_N]),
    param("w", DType::F64, Role::Input, &[THREE]),
    param("m", DType::F64, Role::State, &[B]),
    Param { name: "pick", dtype: DType::I32, role: Role::Input, shape: &[N], index_bound: Some(THREE) },
    param("s", DType::F64, Role::Input, &[]),
    param("result.0", DType::F64, Role::Output, &[B]),
    param("result.1", DType::F64, Role::Output, &[]),
];

/// `fn sums<B: 1..=64, N>(x: f64[B, 2*N], w: f64[3], m: &mut f64[B], pick: i32[N], s: f64) -> (f64[B], f64)
/// where B != 13`
static SUMS: Function = Function {
    plan: plan!(SUMS_PARAMS, 2),
    name: "sums",
    symbols: &[Symbol { name: "B", low: 1, high: 64 }, Symbol { name: "N", low: 0, high: i64::MAX }],
    params: SUMS_PARAMS,
    solve: &[solve(0, 0, 0, 1, ZERO), solve(1, 0, 1, 2, ZERO)],
    checks: &[Check { left: B, relation: Relation::Ne, right: dim(&[DimOp::Const(13)], "13") }],
    sizes: &[Size {
        value: dim(&[DimOp::Symbol(1), DimOp::Symbol(1), DimOp::Mul, DimOp::Symbol(1), DimOp::Mul], "N*N*N"),
        least: 0,
    }],
    workspace: BYTES,
    entries: &[LevelEntry { level: Level::Native, entry: sums }],
    kernels: KernelInfo { nests: 0, levels: 1, workspace: "", code: &[] },
};

/// `m += s * sum(x, axis = 1); (m, sum(w[pick]))`, through the workspace.
unsafe extern "C" fn sums(args: *const *mut u8, dims: *const i64, arena: *mut u8, _host: *const Host) {
    // SAFETY: the description of `SUMS` gives these types and extents.
    unsafe {
        let [b, n] = [0, 1].map(|i| *dims.add(i) as usize);
        let arg = |i: usize| *args.add(i);
        let x = std::slice::from_raw_parts(arg(0).cast::<f64>(), b * 2 * n);
        let w = std::slice::from_raw_parts(arg(1).cast::<f64>(), 3);
        let m = std::slice::from_raw_parts_mut(arg(2).cast::<f64>(), b);
        let pick = std::slice::from_raw_parts(arg(3).cast::<i32>(), n);
        let s = *arg(4).cast::<f64>();
        let scratch = arena.cast::<f64>();
        for i in 0..b {
            scratch.add(i).write(s * x[i * 2 * n..(i + 1) * 2 * n].iter().sum::<f64>());
        }
        for (i, m) in m.iter_mut().enumerate() {
            *m += *scratch.add(i);
            arg(5).cast::<f64>().add(i).write(*m);
        }
        arg(6).cast::<f64>().write(pick.iter().map(|&i| w[i as usize]).sum());
    }
}

/// The arguments of `sums`, as the generated shell takes them.
fn call_sums<'a>(
    x: impl Arg<'a, f64, Ix2>,
    w: impl Arg<'a, f64, Ix1>,
    m: impl ArgMut<'a, f64, Ix1>,
    pick: impl Arg<'a, i32, Ix1>,
    given: Option<&[usize]>,
) -> Result<(Array1<f64>, f64)> {
    let args = [x.describe(), w.describe(), m.describe_mut(), pick.describe(), ArgView::scalar(&2.0_f64)];
    let mut outputs = [Output::new(), Output::new()];
    // SAFETY: the views are those of the parameters of `SUMS`, whose entry does what it says.
    unsafe { call_new(&SUMS, &args, given, &mut outputs)? };
    let [first, second] = outputs;
    Ok((first.array(), second.scalar()))
}

fn into_sums<'a>(
    x: impl Arg<'a, f64, Ix2>,
    m: impl ArgMut<'a, f64, Ix1>,
    out: impl ArgMut<'a, f64, Ix1>,
    workspace: Option<&mut Workspace>,
) -> Result<f64> {
    let (x, mut second) = (x.describe(), 0.0);
    let picks = &[2, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1][..x.shape()[1] / 2];
    let args = [
        x,
        (&[1.0, 10.0, 100.0]).describe(),
        m.describe_mut(),
        Arg::<i32, Ix1>::describe(picks),
        ArgView::scalar(&2.0_f64),
        out.describe_mut(),
        ArgView::scalar_mut(&mut second),
    ];
    // SAFETY: as in `call_sums`.
    unsafe { call(&SUMS, &args, None, workspace)? };
    Ok(second)
}

fn matrix(rows: usize, columns: usize) -> Array2<f64> {
    Array::from_shape_fn((rows, columns), |(i, j)| (i * 10 + j) as f64)
}

#[test]
fn any_strides_give_the_same() {
    let w = [1.0, 10.0, 100.0];
    let x = matrix(3, 4);
    let (plain, scalar) = call_sums(&x, &w, &mut [1.0, 2.0, 3.0], &[2, 0], None).unwrap();
    assert_eq!((plain.to_vec(), scalar), (vec![13.0, 94.0, 175.0], 101.0));

    let columns = x.t().as_standard_layout().reversed_axes().to_owned();
    let mut wide = Array2::zeros((3, 4));
    wide.column_mut(1).assign(&array![3.0, 2.0, 1.0]);
    let picks = array![0, 9, 2, 9];
    let (first, second) = call_sums(
        columns.slice(s![..;1, ..]),
        array![100.0, 10.0, 1.0].slice(s![..;-1]),
        wide.slice_mut(s![..;-1, 1]),
        picks.slice(s![..;-2]).slice(s![..;-1]).slice(s![..;-1]).mapv(|i| if i == 9 { 0 } else { i }).view(),
        None,
    )
    .unwrap();
    assert_eq!(first, plain);
    assert_eq!(second, 2.0);
    assert_eq!(wide.column(1), array![175.0, 94.0, 13.0]);
    assert_eq!(wide.sum(), 175.0 + 94.0 + 13.0, "nothing beside the state is written");
    let row = array![[1.0, 2.0]];
    let (repeated, _) = call_sums(row.broadcast((3, 2)).unwrap(), &w, &mut [0.0; 3], &[1], None).unwrap();
    assert_eq!(repeated.to_vec(), [6.0; 3]);
}

#[test]
fn outputs_of_the_caller_have_any_strides() {
    let (mut m, mut out) = ([0.0; 3], Array1::from_elem(6, -1.0));
    assert_eq!(into_sums(&matrix(3, 4), &mut m, out.slice_mut(s![..;-2]), None).unwrap(), 101.0);
    assert_eq!(out.to_vec(), [-1.0, 172.0, -1.0, 92.0, -1.0, 12.0]);
}

#[test]
fn empty_axes_are_legal() {
    let (first, second) = call_sums(&matrix(2, 0), &[0.0; 3], &mut [5.0, 6.0], &[0; 0], None).unwrap();
    assert_eq!((first.to_vec(), second), (vec![5.0, 6.0], 0.0));
}

#[test]
fn the_steady_state_allocates_nothing() {
    // The dense copy of the argument is larger than what stands on the stack.
    let (x, mut m, mut out) = (matrix(60, 20), [0.0; 60], [0.0; 60]);
    let mut run = |x: ndarray::ArrayView2<'_, f64>| into_sums(x, &mut m, &mut out, None).unwrap();
    assert!(60 * 20 * size_of::<f64>() + 60 * size_of::<f64>() > Small::BYTES);
    run(x.slice(s![.., ..;-1]));
    let before = ALLOCATIONS.get();
    for _ in 0..10 {
        run(x.slice(s![.., ..;-1]));
    }
    assert_eq!(ALLOCATIONS.get(), before);
    release_workspaces();
    run(x.view());
    assert_eq!(ALLOCATIONS.get(), before, "what is small needs no workspace");
    run(x.slice(s![.., ..;-1]));
    assert!(ALLOCATIONS.get() > before, "the count counts");

    let (x, mut m, mut out) = (matrix(3, 4), [0.0; 3], [0.0; 3]);
    let mut own = Workspace::new();
    into_sums(&x, &mut m, &mut out, Some(&mut own)).unwrap();
    assert!(own.capacity() >= workspace_bytes(&SUMS, &[3, 2]).unwrap());
}

#[test]
fn given_dimensions_are_checked() {
    let (x, w) = (matrix(3, 4), [0.0; 3]);
    let run = |given: &[usize]| {
        call_sums(&x, &w, &mut [0.0; 3], &[0, 0], Some(given)).map_err(|error| error.to_string())
    };
    assert!(run(&[3, 2]).is_ok());
    let cases: &[(&[usize], &str)] = &[
        (&[4, 2], "sums: argument `x`, axis 0: expected B = 4 (as given), found 3"),
        (&[3, 5], "sums: argument `x`, axis 1: expected 2*N = 10 (N = 5 as given), found 4"),
        (&[0, 2], "sums: dimension `B`: expected B in 1..=64, found 0"),
        (&[3, usize::MAX], "sums: dimension `N`: expected N in 0.., found 18446744073709551615"),
        (&[3], "sums: dimension `N`: expected a value, found none"),
        (&[3, 1 << 62], "sums: argument `x`, axis 1: expected 2*N, found a number beyond 2^63 - 1"),
    ];
    for (given, text) in cases {
        assert_eq!(run(given).unwrap_err(), *text);
    }
    assert_eq!(workspace_bytes(&SUMS, &[9, 0]).unwrap(), 128);
    assert_eq!(workspace_bytes(&SUMS, &[65, 0]).unwrap_err().kind(), ErrorKind::Bounds);
    assert_eq!(workspace_bytes(&SUMS, &[13, 0]).unwrap_err().kind(), ErrorKind::Condition);
}

/// One call that must fail, and its error.
struct Refused {
    kind: ErrorKind,
    text: &'static str,
    argument: Option<&'static str>,
    axis: Option<usize>,
    error: crate::Error,
}

/// A function of one symbol and one result, never entered.
fn never(change: impl FnOnce(&mut Function)) -> crate::Error {
    unsafe extern "C" fn entry(_: *const *mut u8, _: *const i64, _: *mut u8, _: *const Host) {
        std::process::abort();
    }
    let mut function = Function {
        name: "never",
        symbols: &[Symbol { name: "B", low: 0, high: i64::MAX }],
        params: const { &[param("result", DType::F32, Role::Output, &[B])] },
        solve: &[],
        checks: &[],
        sizes: &[],
        workspace: ZERO,
        entries: &[LevelEntry { level: Level::Native, entry }],
        kernels: KernelInfo { nests: 0, levels: 1, workspace: "", code: &[] },
        // A call without arguments compares nothing.
        plan: Plan::EMPTY,
    };
    change(&mut function);
    let given: Option<&[usize]> = if function.solve.is_empty() { Some(&[0]) } else { None };
    // SAFETY: there are no arguments, and the entry is not reached.
    unsafe { call_new(Box::leak(Box::new(function)), &[], given, &mut [Output::new()]).unwrap_err() }
}

fn refused() -> Vec<Refused> {
    let w = [0.0; 3];
    let fails = |x: &Array2<f64>, w: &[f64], m: usize, pick: &[i32]| {
        let mut state = vec![0.5; m];
        let error = call_sums(x, w, &mut state, pick, None).unwrap_err();
        assert_eq!(state, vec![0.5; m], "an error leaves the state as it was");
        error
    };
    let row = |kind, text, argument, axis, error| Refused { kind, text, argument, axis, error };
    vec![
        row(
            ErrorKind::Extent,
            "sums: argument `w`, axis 0: expected 3, found 4",
            Some("w"),
            Some(0),
            // The state is wrong too; the first failing argument is reported.
            fails(&matrix(2, 2), &[0.0; 4], 7, &[0]),
        ),
        row(
            ErrorKind::Extent,
            "sums: argument `m`, axis 0: expected B = 2 (from `x`, axis 0), found 7",
            Some("m"),
            Some(0),
            fails(&matrix(2, 2), &w, 7, &[0]),
        ),
        row(
            ErrorKind::Indivisible,
            "sums: argument `x`, axis 1: expected 2*N for a whole number N, found 3",
            Some("x"),
            Some(1),
            fails(&matrix(2, 3), &w, 2, &[0]),
        ),
        row(
            ErrorKind::Bounds,
            "sums: argument `x`, axis 0: expected B in 1..=64, found 65",
            Some("x"),
            Some(0),
            fails(&matrix(65, 2), &[0.0; 4], 65, &[0]),
        ),
        row(
            ErrorKind::Condition,
            "sums: expected B != 13, found B = 13 from `x`, axis 0",
            None,
            None,
            fails(&matrix(13, 2), &w, 13, &[0]),
        ),
        row(
            ErrorKind::Index,
            "sums: argument `pick`, position [1]: expected an index in 0..3, found -1",
            Some("pick"),
            None,
            fails(&matrix(2, 4), &w, 2, &[2, -1]),
        ),
        row(
            ErrorKind::Overflow,
            "never: output `result`: expected at most 2^63 - 1 bytes, found more",
            Some("result"),
            None,
            never(|f| {
                const HUGE: DimExpr = dim(&[DimOp::Const(1 << 61)], "2^61");
                f.params = const { &[param("result", DType::F32, Role::Output, &[HUGE])] };
            }),
        ),
        row(
            ErrorKind::Overflow,
            "never: expected a workspace of at most 2^63 - 1 bytes, found more",
            None,
            None,
            never(|f| f.workspace = dim(&[DimOp::Const(i64::MAX), DimOp::Const(2), DimOp::Mul], "")),
        ),
        row(
            ErrorKind::Negative,
            "never: output `result`, axis 0: expected B - 1 >= 0, found -1",
            Some("result"),
            Some(0),
            never(|f| {
                const LESS: DimExpr = dim(&[DimOp::Symbol(0), DimOp::Const(1), DimOp::Sub], "B - 1");
                f.params = const { &[param("result", DType::F32, Role::Output, &[LESS])] };
            }),
        ),
        row(
            ErrorKind::Negative,
            "never: expected B - 1 >= 0, found B - 1 = -1 (B = 0 as given)",
            None,
            None,
            never(|f| {
                const LESS: DimExpr = dim(&[DimOp::Symbol(0), DimOp::Const(1), DimOp::Sub], "B - 1");
                f.sizes = const { &[Size { value: LESS, least: 0 }] };
            }),
        ),
        row(
            ErrorKind::Overflow,
            "never: expected a size 7 % B of at most 2^63 - 1, found B = 0 as given",
            None,
            None,
            never(|f| {
                const REST: DimExpr = dim(&[DimOp::Const(7), DimOp::Symbol(0), DimOp::Mod], "7 % B");
                f.sizes = const { &[Size { value: REST, least: i64::MIN }] };
            }),
        ),
        row(
            ErrorKind::Unbound,
            "never: dimension `B`: expected a value, found none",
            None,
            None,
            never(|f| f.solve = &[Solve { symbol: 0, param: 0, axis: 0, scale: 1, offset: ZERO }]),
        ),
        row(
            ErrorKind::Memory,
            "never: expected 4611686018427387904 bytes of memory, found less",
            None,
            None,
            never(|f| f.workspace = dim(&[DimOp::Const(1 << 62)], "2^62")),
        ),
        row(
            ErrorKind::Level,
            "never: expected a processor with neon, found one without",
            None,
            None,
            never(|f| {
                let [LevelEntry { entry, .. }] = f.entries else { panic!("one entry") };
                // A level of the other architecture.
                let level = if cfg!(target_arch = "aarch64") { Level::X86V2 } else { Level::Neon };
                f.entries = Box::leak(Box::new([LevelEntry { level, entry: *entry }]));
            }),
        ),
    ]
}

#[test]
fn every_kind_of_error_has_its_case() {
    let cases = refused();
    for case in &cases {
        let error = &case.error;
        assert_eq!(error.to_string(), case.text);
        assert_eq!((error.kind(), error.argument(), error.axis()), (case.kind, case.argument, case.axis));
        assert!(case.text.starts_with(error.function()) && case.text.contains(error.expected()));
        assert!(case.text.ends_with(error.found()));
    }
    for kind in ErrorKind::ALL {
        assert!(cases.iter().any(|case| case.kind == *kind), "{kind:?} has no case");
    }
}

#[test]
fn index_positions_name_the_element() {
    let picks = Array1::from_shape_fn(40, |i| if i == 6 { 3 } else { 1 });
    let run =
        |pick: ndarray::ArrayView1<'_, i32>| call_sums(&matrix(1, 40), &[0.0; 3], &mut [0.0], pick, None);
    assert!(run(picks.slice(s![..;-2])).is_ok(), "39, 37, .. do not meet 6");
    assert_eq!(run(picks.slice(s![..;2])).unwrap_err().position(), Some(&[3][..]));
}

#[test]
fn errors_are_small_and_can_be_sent() {
    fn sendable<T: Send + Sync + std::error::Error + 'static>() {}
    sendable::<crate::Error>();
    assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
}

/// Not a test of anything but speed: `cargo test --release -p tensorjit-runtime -- --ignored --nocapture`.
#[test]
#[ignore = "prints a figure"]
fn overhead_of_a_call() {
    let (x, mut m, mut out) = (matrix(3, 4), [0.0; 3], [0.0; 3]);
    let calls = 1_000_000_u32;
    let start = std::time::Instant::now();
    for _ in 0..calls {
        std::hint::black_box(into_sums(&x, &mut m, &mut out, None)).unwrap();
    }
    println!("{:?} a call", start.elapsed() / calls);
}
