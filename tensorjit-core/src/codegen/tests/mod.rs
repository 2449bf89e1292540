//! Kernels written by hand, compiled, run, and compared with what Rust computes.

mod math;
mod matmul;
mod objects;
mod prims;
mod rows;
mod run;
mod scalar;
mod tasks;
mod tiles;

use std::ptr;

use tensorjit_runtime::abi::{DType, Host, Level};

use self::scalar::Scalar;
use super::load::Loaded;
use super::{Visibility, compile, targets};
use crate::lanes::Val;
use crate::loops::tests::Sketch;
use crate::loops::{Buf, Kernel, Target};

const TRIPLE: &str =
    if cfg!(target_arch = "aarch64") { "aarch64-unknown-linux-gnu" } else { "x86_64-unknown-linux-gnu" };

/// The levels that this machine can run.
fn runnable() -> Vec<Target> {
    targets(TRIPLE, None).expect("a supported machine").into_iter().filter(|t| runs(t.level)).collect()
}

#[cfg(target_arch = "x86_64")]
fn runs(level: Level) -> bool {
    match level {
        Level::X86V2 => std::arch::is_x86_feature_detected!("sse4.2"),
        Level::X86V3 => {
            std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        }
        Level::X86V4 => {
            std::arch::is_x86_feature_detected!("avx512dq") && std::arch::is_x86_feature_detected!("avx512vl")
        }
        Level::Neon | Level::Native => false,
    }
}

#[cfg(target_arch = "aarch64")]
fn runs(level: Level) -> bool {
    level == Level::Neon
}

/// Numbers that live in memory as a tensor does.
trait Element: Copy + Default + PartialEq + std::fmt::Debug {
    const DTYPE: DType;
}
impl Element for f32 {
    const DTYPE: DType = DType::F32;
}
impl Element for f64 {
    const DTYPE: DType = DType::F64;
}
impl Element for i32 {
    const DTYPE: DType = DType::I32;
}
impl Element for i64 {
    const DTYPE: DType = DType::I64;
}
impl Element for bool {
    const DTYPE: DType = DType::Bool;
}

/// Compiled kernels.
struct Compiled {
    loaded: Loaded,
}

impl Compiled {
    fn of(kernels: &[(String, Kernel)]) -> Compiled {
        let object = compile(kernels, Visibility::Exported).expect("compiles");
        Compiled { loaded: Loaded::new(&[object]).expect("links") }
    }

    /// Runs one on arguments that are long enough for what it touches.
    fn run(&self, symbol: &str, args: &[*mut u8], dims: &[i64], arena: &mut [u8]) {
        self.run_on(serial_host(), symbol, args, dims, arena);
    }

    /// [`Compiled::run`] with a host of the test's choice.
    fn run_on(&self, host: Host, symbol: &str, args: &[*mut u8], dims: &[i64], arena: &mut [u8]) {
        let entry = self.loaded.entry(symbol).expect("is exported");
        // SAFETY: the test that wrote the kernel passes arguments as long as it needs.
        unsafe { entry(args.as_ptr(), dims.as_ptr(), arena.as_mut_ptr(), ptr::from_ref(&host)) };
    }

    /// Runs one that maps the elements of its arguments to one element of the given type each.
    fn map(&self, symbol: &str, samples: &[Vec<Scalar>], result: DType) -> Vec<Scalar> {
        let arity = samples.first().map_or(0, Vec::len);
        let mut inputs: Vec<Vec<u8>> = (0..arity)
            .map(|position| samples.iter().flat_map(|args| args[position].bytes()).collect())
            .collect();
        let mut output = vec![0_u8; samples.len() * result.size()];
        let mut args: Vec<*mut u8> = inputs.iter_mut().map(|input| input.as_mut_ptr()).collect();
        args.push(output.as_mut_ptr());
        self.run(symbol, &args, &[samples.len() as i64], &mut []);
        output.chunks(result.size()).map(|bytes| Scalar::read(result, bytes)).collect()
    }
}

/// Runs tasks in order.
fn serial_host() -> Host {
    unsafe extern "C" fn serial(
        _: *const Host,
        count: i64,
        context: *mut u8,
        task: unsafe extern "C" fn(*mut u8, i64),
    ) {
        for index in 0..count {
            // SAFETY: the kernel gave both for each other.
            unsafe { task(context, index) };
        }
    }
    Host { parallel_for: serial }
}

fn address<T>(slice: &mut [T]) -> *mut u8 {
    slice.as_mut_ptr().cast()
}

/// What a kernel does to `inputs`: `body` is given the buffers of the inputs and of the output, which has
/// `length` elements and starts as zeros, and the length as an index.
fn apply<I: Element, O: Element>(
    target: &Target,
    inputs: &[&[I]],
    length: usize,
    body: impl FnOnce(&mut Sketch, &[Buf], Buf, Val),
) -> Vec<O> {
    let mut k = Sketch::on(target.clone());
    let buffers: Vec<Buf> = (0..inputs.len()).map(|number| k.arg(I::DTYPE, number as u32)).collect();
    let output = k.arg(O::DTYPE, inputs.len() as u32);
    let n = k.symbol(0);
    body(&mut k, &buffers, output, n);
    let compiled = Compiled::of(&[("kernel".into(), k.finish())]);
    let mut copies: Vec<Vec<I>> = inputs.iter().map(|input| input.to_vec()).collect();
    let mut result = vec![O::default(); length];
    let mut args: Vec<*mut u8> = copies.iter_mut().map(|copy| address(copy)).collect();
    args.push(address(&mut result));
    compiled.run("kernel", &args, &[length as i64], &mut []);
    result
}
