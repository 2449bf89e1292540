//! Compiled graphs in this process, beside the oracle: for the tests of this workspace.

pub mod crew;
#[cfg(feature = "syntax")]
pub mod texts;

use std::ptr;
use std::time::Instant;

use tensorjit_runtime::abi::{DType, Host, Level};
use tensorjit_runtime::host::HOST;
use tensorjit_runtime::with_threads;

use crate::codegen::{self, Visibility, load::Loaded, targets};
use crate::diag::{Bug, Failure};
use crate::dim::Dim;

use crate::graph::value::{Env, Scalar, Value};
use crate::graph::{Graph, Type};
use crate::loops::split::Parts;
use crate::pipeline::{self, Prepared, Watch};
use crate::schedule::tasks::Grain;
use crate::sizes::Size;

/// A graph compiled for every level that this machine has.
#[derive(Debug)]
pub struct Program {
    prepared: Prepared,
    results: usize,
    states: Vec<u32>,
    workspace: Dim,
    sizes: Vec<Size>,
    nests: usize,
    highest: Option<Parts>,
    levels: Vec<(Level, Loaded)>,
}

/// Where a buffer lies in its pages, the pages around which may not be touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Its first byte follows the guard page before it.
    Front,
    /// Its last byte precedes the guard page behind it.
    Back,
    /// It begins a page, and the one behind it may be touched, as in most programs: a vector under a mask that reaches
    /// into a page that may not takes a thousand cycles.
    Apart,
}

const SYMBOL: &str = "kernel";

impl Program {
    /// Compiles a checked graph.
    pub fn compile(graph: Graph, states: &[u32], watch: &mut Watch<'_>) -> Result<Program, Failure> {
        Program::of(pipeline::prepare(graph, states, watch)?, states, watch)
    }

    /// Compiles a checked graph, of which work of the given size is shared.
    pub fn compile_with(
        grain: Grain,
        graph: Graph,
        states: &[u32],
        watch: &mut Watch<'_>,
    ) -> Result<Program, Failure> {
        Program::of(pipeline::prepare(graph, states, watch)?.with_grain(grain), states, watch)
    }

    /// Compiles a graph that is prepared.
    pub fn of(prepared: Prepared, states: &[u32], watch: &mut Watch<'_>) -> Result<Program, Failure> {
        Program::at_levels(usize::MAX, prepared, states, watch)
    }

    /// Compiles a graph that is prepared for the highest level of this machine alone.
    pub fn highest(prepared: Prepared, states: &[u32], watch: &mut Watch<'_>) -> Result<Program, Failure> {
        Program::at_levels(1, prepared, states, watch)
    }

    fn at_levels(
        count: usize,
        prepared: Prepared,
        states: &[u32],
        watch: &mut Watch<'_>,
    ) -> Result<Program, Failure> {
        let triple = "x86_64-unknown-linux-gnu";
        let all = targets::targets(triple, None).map_err(|error| Bug::new("testing", error.to_string()))?;
        let all: Vec<_> = all.into_iter().filter(|target| has(target.level)).take(count).collect();
        let lowered = prepared.lower(&all, watch)?;
        let highest = lowered.kernels.first().cloned();
        let mut levels = Vec::new();
        for (target, parts) in all.iter().zip(lowered.kernels) {
            let objects = codegen::compile_all(&parts.batches(SYMBOL), Visibility::Exported)?;
            levels.push((target.level, Loaded::new(&objects)?));
        }
        Ok(Program {
            results: prepared.graph().outputs.len() - states.len(),
            states: states.to_vec(),
            workspace: lowered.workspace,
            sizes: lowered.sizes,
            nests: lowered.nests,
            prepared,
            highest,
            levels,
        })
    }

    /// The graph as it was scheduled.
    pub fn graph(&self) -> &Graph {
        self.prepared.graph()
    }

    /// The number of loop nests.
    pub fn nests(&self) -> usize {
        self.nests
    }

    /// Bytes of workspace.
    pub fn workspace(&self) -> &Dim {
        &self.workspace
    }

    /// The levels that can be run, highest first.
    pub fn levels(&self) -> impl Iterator<Item = Level> + '_ {
        self.levels.iter().map(|(level, _)| *level)
    }

    /// LLVM IR and assembly for the highest level.
    pub fn listing(&self) -> Result<codegen::Listing, Bug> {
        let batches = self.highest.iter().flat_map(|parts| parts.batches(SYMBOL));
        codegen::listing(&batches.flatten().collect::<Vec<_>>())
    }

    /// The outputs for values of the symbols and the inputs, computed by the code for `level`, every buffer
    /// flush against a guard page.
    pub fn run(&self, level: Level, dims: &[i64], inputs: &[Value], side: Side) -> Result<Vec<Value>, Bug> {
        self.run_on(&crew::SERIAL, level, dims, inputs, side)
    }

    /// [`Program::run`] with tasks run by a host of the test's choice.
    pub fn run_on(
        &self,
        host: &Host,
        level: Level,
        dims: &[i64],
        inputs: &[Value],
        side: Side,
    ) -> Result<Vec<Value>, Bug> {
        let memory = self.memory(dims, inputs, side)?;
        self.call(host, level, dims, &memory, 1)?;
        let env = Env { dims };
        let mut outputs = Vec::new();
        for (i, output) in self.graph().outputs.iter().enumerate() {
            let buffer = match i.checked_sub(self.results) {
                None => inputs.len() + i,
                Some(state) => self.states[state] as usize,
            };
            outputs.push(value_of(&env, self.graph().ty(*output), memory.buffers[buffer].bytes())?);
        }
        Ok(outputs)
    }

    /// Seconds of this thread in one call: the least of many.
    pub fn time(&self, level: Level, dims: &[i64], inputs: &[Value]) -> Result<f64, Bug> {
        let memory = self.memory(dims, inputs, Side::Apart)?;
        let once = |count| -> Result<f64, Bug> {
            let start = thread_seconds();
            self.call(&crew::SERIAL, level, dims, &memory, count)?;
            Ok((thread_seconds() - start) / f64::from(count))
        };
        // Each sample takes a millisecond or one call.
        let count = (1e-3 / once(1)?.max(1e-9)).clamp(1.0, 1e5) as u32;
        let (mut best, start) = (f64::MAX, Instant::now());
        while start.elapsed().as_secs_f64() < 0.3 {
            best = best.min(once(count)?);
        }
        Ok(best)
    }

    /// Seconds of one call by the clock on the wall, with the runtime's host and so many threads: the least of many.
    pub fn time_shared(
        &self,
        threads: usize,
        level: Level,
        dims: &[i64],
        inputs: &[Value],
    ) -> Result<f64, Bug> {
        let memory = self.memory(dims, inputs, Side::Apart)?;
        let (mut best, start) = (f64::MAX, Instant::now());
        while start.elapsed().as_secs_f64() < 0.3 {
            let call = Instant::now();
            with_threads(threads, || self.call(&HOST, level, dims, &memory, 1))?;
            best = best.min(call.elapsed().as_secs_f64());
        }
        Ok(best)
    }

    fn memory(&self, dims: &[i64], inputs: &[Value], side: Side) -> Result<Memory, Bug> {
        let env = Env { dims };
        let declared = &self.graph().inputs;
        if dims.len() != self.graph().facts.symbols.len() || inputs.len() != declared.len() {
            return Err(Bug::new("testing", "a dimension or an input is missing"));
        }
        for (value, input) in inputs.iter().zip(declared) {
            if !value.is_valid()
                || value.dtype != input.ty.dtype
                || value.shape != env.shape(&input.ty.shape)?
            {
                return Err(Bug::new("testing", format!("the value of {} has another type", input.name)));
            }
        }
        for Size { value, least } in &self.sizes {
            if env.value(value)? < *least {
                return Err(Bug::new("testing", "a size is negative"));
            }
        }
        let mut buffers = Vec::new();
        for value in inputs {
            buffers.push(Guarded::new(&bytes_of(value), side)?);
        }
        for output in &self.graph().outputs[..self.results] {
            let ty = self.graph().ty(*output);
            let count: usize = env.shape(&ty.shape)?.iter().product();
            // Every byte of a result is written; what is not shows as this pattern.
            buffers.push(Guarded::new(&vec![0xA5; count * ty.dtype.size()], side)?);
        }
        let arena = Guarded::new(&vec![0xA5; env.extent(&self.workspace)?], side)?;
        Ok(Memory { buffers, arena })
    }

    fn call(&self, host: &Host, level: Level, dims: &[i64], memory: &Memory, count: u32) -> Result<(), Bug> {
        let pointers: Vec<*mut u8> = memory.buffers.iter().map(|buffer| buffer.start).collect();
        let loaded = self.levels.iter().find(|(l, _)| *l == level);
        let Some((_, loaded)) = loaded else { return Err(Bug::new("testing", "no code for this level")) };
        let entry = loaded.entry(SYMBOL)?;
        for _ in 0..count {
            // SAFETY: the buffers have the sizes that the graph states for these dimensions, the arena the
            // size that the schedule states, and `loaded` and the host outlive the call.
            unsafe { entry(pointers.as_ptr(), dims.as_ptr(), memory.arena.start, host) };
        }
        Ok(())
    }
}

/// The time that this thread has run, which other processes do not lengthen.
fn thread_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux, and `time` is a place for its value.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The buffers of a call.
struct Memory {
    buffers: Vec<Guarded>,
    arena: Guarded,
}

/// The inputs that a checked function overwrites, in order.
#[cfg(feature = "syntax")]
pub fn states(function: &crate::check::CheckedFunction) -> Vec<u32> {
    let is_state = |i: &usize| function.params[*i].role == tensorjit_runtime::abi::Role::State;
    (0..function.params.len()).filter(is_state).map(|i| i as u32).collect()
}

/// Reproducible elements: floats in [-1, 1), integers from 0 to 7.
pub fn sample(dtype: DType, shape: &[usize], seed: u64) -> Value {
    let count = shape.iter().product();
    let mut state = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        // A linear congruential generator (Knuth's MMIX), of which the upper bits are good.
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let numbers: Vec<f64> = (0..count).map(|_| next()).collect();
    match dtype {
        DType::Bool => Value::bools(shape, &numbers.iter().map(|x| *x > 0.0).collect::<Vec<_>>()),
        dtype if dtype.is_int() => {
            Value::ints(dtype, shape, &numbers.iter().map(|x| (x * 4.0 + 4.0) as i64).collect::<Vec<_>>())
        }
        _ => Value::floats(dtype, shape, &numbers),
    }
}

/// Whether this machine can run a level.
pub fn has(level: Level) -> bool {
    tensorjit_runtime::available(level)
}

/// The elements as a kernel reads them.
pub fn bytes_of(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    for element in &value.elements {
        match (element.scalar, value.dtype) {
            (Scalar::Float(x), DType::F32) => bytes.extend((x as f32).to_ne_bytes()),
            (Scalar::Float(x), DType::F16) => bytes.extend(half::f16::from_f32(x as f32).to_ne_bytes()),
            (Scalar::Float(x), DType::BF16) => bytes.extend(half::bf16::from_f32(x as f32).to_ne_bytes()),
            (Scalar::Float(x), _) => bytes.extend(x.to_ne_bytes()),
            // The targets are little-endian.
            (Scalar::Int(x), dtype) => bytes.extend(&x.to_le_bytes()[..dtype.size()]),
            (Scalar::Bool(x), _) => bytes.push(x.into()),
        }
    }
    bytes
}

/// What a kernel wrote.
pub fn value_of(env: &Env<'_>, ty: &Type, bytes: &[u8]) -> Result<Value, Bug> {
    let shape = env.shape(&ty.shape)?;
    let words = |bytes: &[u8]| -> [u8; 8] {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        word
    };
    let words = bytes.chunks(ty.dtype.size()).map(words);
    Ok(match ty.dtype {
        DType::F32 => {
            let values: Vec<f64> =
                words.map(|w| f64::from(f32::from_bits(u64::from_ne_bytes(w) as u32))).collect();
            Value::floats(ty.dtype, &shape, &values)
        }
        DType::F16 | DType::BF16 => {
            let wide = |word: [u8; 8]| {
                let bits = u64::from_ne_bytes(word) as u16;
                match ty.dtype {
                    DType::F16 => half::f16::from_bits(bits).to_f64(),
                    _ => half::bf16::from_bits(bits).to_f64(),
                }
            };
            Value::floats(ty.dtype, &shape, &words.map(wide).collect::<Vec<_>>())
        }
        DType::F64 => Value::floats(ty.dtype, &shape, &words.map(f64::from_ne_bytes).collect::<Vec<_>>()),
        dtype if dtype.is_int() => {
            Value::ints(dtype, &shape, &words.map(i64::from_ne_bytes).collect::<Vec<_>>())
        }
        _ => {
            if let Some(byte) = bytes.iter().find(|byte| **byte > 1) {
                return Err(Bug::new("testing", format!("a bool is stored as {byte}")));
            }
            Value::bools(&shape, &bytes.iter().map(|byte| *byte == 1).collect::<Vec<_>>())
        }
    })
}

/// Memory between two pages that may not be touched.
struct Guarded {
    map: *mut u8,
    mapped: usize,
    start: *mut u8,
    len: usize,
}

impl Guarded {
    fn new(bytes: &[u8], side: Side) -> Result<Guarded, Bug> {
        // SAFETY: it only reads a setting.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let inner = (bytes.len().div_ceil(page) + usize::from(side == Side::Apart)) * page;
        let mapped = inner + 2 * page;
        // SAFETY: a new private mapping at an address of the system's choice.
        let map = unsafe {
            libc::mmap(
                ptr::null_mut(),
                mapped,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if map == libc::MAP_FAILED {
            return Err(Bug::new("testing", "no memory for guard pages"));
        }
        let map = map.cast::<u8>();
        let offset = match side {
            Side::Front | Side::Apart => page,
            Side::Back => page + inner - bytes.len(),
        };
        // SAFETY: `page..page + inner` lies in the mapping.
        let allowed =
            unsafe { libc::mprotect(map.add(page).cast(), inner, libc::PROT_READ | libc::PROT_WRITE) };
        // SAFETY: `offset` lies in the mapping.
        let guarded = Guarded { map, mapped, start: unsafe { map.add(offset) }, len: bytes.len() };
        if inner > 0 && allowed != 0 {
            return Err(Bug::new("testing", "pages cannot be made writable"));
        }
        // SAFETY: `offset..offset + len` lies in the part that may be written, and no one else knows of it.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), guarded.start, bytes.len()) };
        Ok(guarded)
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the range was initialised by `new` and is written only by kernels, which have returned.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` and nothing refers to it any more.
        unsafe { libc::munmap(self.map.cast(), self.mapped) };
    }
}
