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

use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{FileType, TargetMachine};

use crate::diag::Bug;
use crate::loops::{Kernel, verify};

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
/// where they belong, so that only what lowering leaves behind has to be cleaned up.
const PASSES: &str = "function(instcombine<no-verify-fixpoint>,simplifycfg)";

/// The version of LLVM: major, minor, patch.
pub fn llvm_version() -> (u32, u32, u32) {
    inkwell::support::get_llvm_version()
}

/// Compiles kernels of one target into one object; each becomes a function with the given symbol name.
pub fn compile(kernels: &[(String, Kernel)], visibility: Visibility) -> Result<Object, Bug> {
    let context = Context::create();
    let (module, machine) = module(&context, kernels, visibility)?;
    optimize(&module, &machine)?;
    Ok(Object { bytes: write(&module, &machine, FileType::Object)? })
}

/// Compiles one object for each group, groups side by side on as many threads.
pub fn compile_all(groups: &[&[(String, Kernel)]], visibility: Visibility) -> Result<Vec<Object>, Bug> {
    if let [group] = groups {
        return Ok(vec![compile(group, visibility)?]);
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = groups.iter().map(|group| scope.spawn(|| compile(group, visibility))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(bug("a thread of code generation panicked"))))
            .collect()
    })
}

/// The texts of the module that [`compile`] makes of the same kernels.
pub fn listing(kernels: &[(String, Kernel)]) -> Result<Listing, Bug> {
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
    kernels: &[(String, Kernel)],
    visibility: Visibility,
) -> Result<(Module<'ctx>, TargetMachine), Bug> {
    let Some((_, first)) = kernels.first() else { return Err(bug("a module without kernels")) };
    let machine = machine::machine(&first.target)?;
    let module = context.create_module("tensorjit");
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    for (symbol, kernel) in kernels {
        if kernel.target != first.target {
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
