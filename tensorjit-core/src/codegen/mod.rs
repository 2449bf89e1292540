//! From loops to machine code through LLVM.
//!
//! One module is made for each call of [`compile`], with one function for each kernel.  Loops, vectors and
//! masks are those of the kernel: LLVM selects instructions and allocates registers.  Nothing here may change
//! what is computed: no fast-math flag is set, and an object imports nothing but what
//! [`object::MAY_IMPORT`] lists.

pub mod archive;
mod emit;
#[cfg(any(test, feature = "testing"))]
pub mod load;
mod machine;
pub mod object;
pub mod targets;
#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{FileType, TargetMachine};

use crate::diag::Bug;
use crate::loops::{Kernel, split, verify};

pub use targets::{UnsupportedTarget, targets};

/// Who may name the functions of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Whatever is linked into the same binary.
    Hidden,
    /// Also those who open it as a shared library.
    Exported,
}

/// A relocatable object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The file.
    pub bytes: Vec<u8>,
}

/// What a dump shows of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// LLVM IR as it was made.
    pub ir: String,
    /// LLVM IR as it is handed to instruction selection.
    pub optimized: String,
    /// Assembly.
    pub assembly: String,
}

/// The passes before instruction selection.  The loops are in their final form and pure instructions stand
/// where they belong, so that only what lowering leaves behind has to be cleaned up, and what strips, each made as if
/// it stood alone, compute alike has to become one.
const PASSES: &str = "function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

/// The version of LLVM: major, minor, patch.
pub fn llvm_version() -> (u32, u32, u32) {
    inkwell::support::get_llvm_version()
}

/// Compiles kernels of one target into one object; each becomes a function with the given symbol name.
pub fn compile<K: Borrow<Kernel>>(kernels: &[(String, K)], visibility: Visibility) -> Result<Object, Bug> {
    let context = Context::create();
    let (module, machine) = module(&context, kernels, visibility)?;
    optimize(&module, &machine)?;
    Ok(Object { bytes: write(&module, &machine, FileType::Object)? })
}

/// Compiles one object for each group, on all cores, or on those for which the system gives threads.
pub fn compile_all<K: Borrow<Kernel> + Sync>(
    groups: &[Vec<(String, K)>],
    visibility: Visibility,
) -> Result<Vec<Object>, Bug> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    // The largest groups come first, so that no core has a large one left when the others are done.
    let weight = |group: &[(String, K)]| -> usize {
        group.iter().map(|(_, kernel)| split::size(&kernel.borrow().body)).sum()
    };
    let mut order: Vec<(usize, &[(String, K)])> = groups.iter().map(Vec::as_slice).enumerate().collect();
    order.sort_by_cached_key(|(_, group)| Reverse(weight(group)));
    let next = AtomicUsize::new(0);
    // The next group that nobody has begun, until there is none.
    let work = || {
        std::iter::from_fn(|| order.get(next.fetch_add(1, Ordering::Relaxed)))
            .map(|(number, group)| Ok((*number, compile(group, visibility)?)))
            .collect::<Result<Vec<_>, Bug>>()
    };
    let mut objects = std::thread::scope(|scope| {
        let begin = |_| Builder::new().spawn_scoped(scope, work).ok();
        let threads: Vec<_> = (1..cores.min(groups.len())).map_while(begin).collect();
        let mut objects = work()?;
        for thread in threads {
            objects.extend(thread.join().map_err(|_| bug("a thread of code generation panicked"))??);
        }
        Ok::<_, Bug>(objects)
    })?;
    objects.sort_by_key(|(number, _)| *number);
    Ok(objects.into_iter().map(|(_, object)| object).collect())
}

/// The texts of the module that [`compile`] makes of the same kernels.
pub fn listing<K: Borrow<Kernel>>(kernels: &[(String, K)]) -> Result<Listing, Bug> {
    let context = Context::create();
    let (module, machine) = module(&context, kernels, Visibility::Hidden)?;
    let ir = module.print_to_string().to_string();
    optimize(&module, &machine)?;
    let optimized = module.print_to_string().to_string();
    let assembly = write(&module, &machine, FileType::Assembly)?;
    Ok(Listing { ir, optimized, assembly: String::from_utf8_lossy(&assembly).into_owned() })
}

/// The module of the kernels, verified, and the machine that it is for.
fn module<'ctx>(
    context: &'ctx Context,
    kernels: &[(String, impl Borrow<Kernel>)],
    visibility: Visibility,
) -> Result<(Module<'ctx>, TargetMachine), Bug> {
    let Some((_, first)) = kernels.first() else { return Err(bug("a module without kernels")) };
    let target = &first.borrow().target;
    let machine = machine::machine(target)?;
    let module = context.create_module("tensorjit");
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    for (symbol, kernel) in kernels {
        let kernel = kernel.borrow();
        if kernel.target != *target {
            return Err(bug("kernels of two targets in one module"));
        }
        verify(kernel)?;
        emit::function(&module, symbol, kernel, visibility)?;
    }
    module.verify().map_err(|message| bug(message.to_string()))?;
    Ok((module, machine))
}

fn optimize(module: &Module, machine: &TargetMachine) -> Result<(), Bug> {
    let options = PassBuilderOptions::create();
    module.run_passes(PASSES, machine, options).map_err(|message| bug(message.to_string()))
}

fn write(module: &Module, machine: &TargetMachine, kind: FileType) -> Result<Vec<u8>, Bug> {
    let buffer = machine.write_to_memory_buffer(module, kind).map_err(|message| bug(message.to_string()))?;
    Ok(buffer.as_slice().to_vec())
}

/// A bug of this stage.
fn bug(message: impl Into<String>) -> Bug {
    Bug::new("codegen", message)
}

impl From<inkwell::builder::BuilderError> for Bug {
    fn from(error: inkwell::builder::BuilderError) -> Bug {
        bug(error.to_string())
    }
}
