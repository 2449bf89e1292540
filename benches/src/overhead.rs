//! What a call costs beyond its work: the `into` form against the bare entry of the same compiled function.

use std::ptr;

use tensorjit::__private::abi::{Entry, Function, Host};
use tensorjit::__private::call::workspace_bytes;

use crate::Result;
use crate::call::{Call, Make};
use crate::clock::{median, samples};
use crate::gates::Verdict;
use crate::measure::Effort;
use crate::tensor::{Input, Precision, Tensor, constant, normal};
use crate::workloads::{layers, linear, products};

/// A small call.
struct Small {
    name: &'static str,
    function: &'static Function,
    dims: &'static [usize],
    inputs: Vec<Input>,
    /// The elements of each result.
    results: &'static [usize],
    ours: Make,
}

fn small() -> [Small; 3] {
    [
        Small {
            name: "linear_step, B = 8",
            function: &linear::single::linear_step::FUNCTION,
            dims: &[8],
            inputs: vec![normal(&[8, 3]), normal(&[8, 2]), normal(&[3, 2]), normal(&[2]), constant(0.1)],
            results: &[1, 6, 2],
            ours: linear::single::ours,
        },
        Small {
            name: "product, 1 x 1 x 1",
            function: &products::single::product::FUNCTION,
            dims: &[1, 1, 1],
            inputs: vec![normal(&[1, 1]), normal(&[1, 1])],
            results: &[1],
            ours: products::single::ours,
        },
        Small {
            name: "linear_relu, 1 x 4 x 4",
            function: &layers::single::linear_relu::FUNCTION,
            dims: &[1, 4, 4],
            inputs: vec![normal(&[1, 4]), normal(&[4, 4]), normal(&[4])],
            results: &[4],
            ours: layers::single::ours,
        },
    ]
}

/// The gates on overhead.
pub fn verdicts(effort: Effort) -> Result<Vec<Verdict>> {
    small().iter().map(|small| one(small, effort)).collect()
}

fn one(small: &Small, effort: Effort) -> Result<Verdict> {
    let inputs: Vec<Tensor> =
        small.inputs.iter().zip(1..).map(|(input, seed)| input.sample(seed, Precision::F32)).collect();
    let mut ours = (small.ours)(&inputs)?;
    let mut bare = Bare::new(small, &inputs)?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        with.extend(samples(ours.as_mut(), effort.clock, effort.seconds / 10.0)?);
        without.extend(samples(&mut bare, effort.clock, effort.seconds / 10.0)?);
    }
    let nanoseconds = (median(&mut with) - median(&mut without)) * 1e9;
    let what = format!("{}: ns of a call in the `into` form beyond the bare entry", small.name);
    Ok(Verdict::at_most(what, Some(nanoseconds), 50.0))
}

/// The entry with everything that a call finds out given.
struct Bare {
    entry: Entry,
    /// What the addresses lie in.
    _buffers: Vec<Vec<f32>>,
    addresses: Vec<*mut u8>,
    dims: Vec<i64>,
    arena: Vec<Line>,
}

/// The alignment of a workspace.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "only its place counts")] [u8; 64]);

impl Bare {
    fn new(small: &Small, inputs: &[Tensor]) -> Result<Bare> {
        let mut buffers: Vec<Vec<f32>> =
            inputs.iter().map(|input| input.iter().map(|x| *x as f32).collect()).collect();
        buffers.extend(small.results.iter().map(|count| vec![0.0; *count]));
        let entries = small.function.entries.iter();
        let mut here = entries.filter(|entry| tensorjit_runtime::available(entry.level));
        let arena = workspace_bytes(small.function, small.dims)?.div_ceil(64);
        Ok(Bare {
            entry: here.next().ok_or("no level of the function runs here")?.entry,
            addresses: buffers.iter_mut().map(|buffer| buffer.as_mut_ptr().cast()).collect(),
            _buffers: buffers,
            dims: small.dims.iter().map(|dim| *dim as i64).collect(),
            arena: vec![Line([0; 64]); arena],
        })
    }
}

/// Small work is never shared; were it, every task would run here.
static HOST: Host = Host { parallel_for: serial };

unsafe extern "C" fn serial(
    _: *const Host,
    count: i64,
    context: *mut u8,
    task: unsafe extern "C" fn(*mut u8, i64),
) {
    for index in 0..count {
        // SAFETY: the kernel hands over a task for these indices.
        unsafe { task(context, index) };
    }
}

impl Call for Bare {
    fn run(&mut self) -> Result<()> {
        // SAFETY: the addresses are those of dense buffers of the shapes that the function has for these
        // dimensions, in the order of its parameters, and the arena has the size that it asks for.
        unsafe {
            (self.entry)(
                self.addresses.as_ptr(),
                self.dims.as_ptr(),
                self.arena.as_mut_ptr().cast(),
                ptr::from_ref(&HOST),
            );
        }
        Ok(())
    }

    fn outputs(&mut self) -> Result<Vec<Tensor>> {
        Ok(Vec::new())
    }
}
