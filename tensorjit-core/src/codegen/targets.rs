//! What code is made for: the levels of an architecture, or the one processor that the build names.

use inkwell::AddressSpace;
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::targets::{FileType, TargetMachine};
use tensorjit_runtime::abi::Level;
use thiserror::Error;

use super::{bug, machine, write};
use crate::diag::Bug;
use crate::loops::Target;

/// Why there is no code for what the build asks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnsupportedTarget {
    /// Another architecture or operating system.
    #[error(
        "tensorjit makes kernels for x86-64 and aarch64 Linux, not for `{triple}`; \
         `cargo check` works everywhere"
    )]
    Triple {
        /// What the build asks for.
        triple: String,
    },
    /// `target-cpu=native` in a build for another machine.
    #[error("`target-cpu=native` names this machine, but the build is for `{triple}`")]
    NotNative {
        /// What the build asks for.
        triple: String,
    },
    /// LLVM failed to describe the processor.
    #[error(transparent)]
    Bug(#[from] Bug),
}

/// The targets to compile for, highest level first: all levels of the architecture, or, where the build names a
/// processor (`-C target-cpu`; `native` is resolved), that one alone.  A processor that has less than the lowest
/// level gets all levels too: the machine that runs them has it, or the call says what is missing.
pub fn targets(triple: &str, cpu: Option<&str>) -> Result<Vec<Target>, UnsupportedTarget> {
    let unsupported = || UnsupportedTarget::Triple { triple: triple.into() };
    let (architecture, system) = triple.split_once('-').ok_or_else(unsupported)?;
    if !system.contains("linux") {
        return Err(unsupported());
    }
    let levels = match architecture {
        "x86_64" => x86_levels(triple),
        "aarch64" => vec![neon(triple)],
        _ => return Err(unsupported()),
    };
    let described = match cpu {
        None => None,
        Some("native") => {
            let host = TargetMachine::get_default_triple();
            if !host.as_str().to_string_lossy().starts_with(architecture) {
                return Err(UnsupportedTarget::NotNative { triple: triple.into() });
            }
            let cpu = TargetMachine::get_host_cpu_name().to_string();
            let features = TargetMachine::get_host_cpu_features().to_string();
            described(triple, cpu, features)?
        }
        Some(cpu) => described(triple, cpu.into(), String::new())?,
    };
    Ok(described.map_or(levels, |target| vec![target]))
}

fn x86_levels(triple: &str) -> Vec<Target> {
    let level = |level, cpu: &str, vector_bits, vector_registers, fma| Target {
        level,
        triple: triple.into(),
        cpu: cpu.into(),
        features: String::new(),
        vector_bits,
        vector_registers,
        fma,
    };
    vec![
        level(Level::X86V4, "x86-64-v4", 512, 32, true),
        level(Level::X86V3, "x86-64-v3", 256, 16, true),
        level(Level::X86V2, "x86-64-v2", 128, 16, false),
    ]
}

fn neon(triple: &str) -> Target {
    Target {
        level: Level::Neon,
        triple: triple.into(),
        cpu: "generic".into(),
        features: "+neon".into(),
        vector_bits: 128,
        vector_registers: 32,
        fma: true,
    }
}

/// A processor by LLVM's name and features, unless it has less than the lowest level.  LLVM's interface does not
/// tell what a named processor has, so that the instructions tell which it selects for a vector of 512 bits.
fn described(triple: &str, cpu: String, features: String) -> Result<Option<Target>, Bug> {
    let guess = Target {
        level: Level::Native,
        triple: triple.into(),
        cpu,
        features,
        vector_bits: 512,
        vector_registers: 32,
        fma: true,
    };
    if !triple.starts_with("x86_64") {
        return Ok(Some(Target { vector_bits: 128, ..guess }));
    }
    let assembly = probe(&guess)?;
    if assembly.contains("floorf") {
        return Ok(None);
    }
    let (vector_bits, vector_registers) = match () {
        () if assembly.contains("%zmm") => (512, 32),
        () if assembly.contains("%ymm") => (256, 16),
        () => (128, 16),
    };
    Ok(Some(Target { vector_bits, vector_registers, fma: assembly.contains("vfmadd"), ..guess }))
}

/// The assembly of a fused product and sum of sixteen `f32` in memory, and of their rounding.
fn probe(target: &Target) -> Result<String, Bug> {
    let machine = machine::machine(target)?;
    let context = Context::create();
    let module = context.create_module("probe");
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    let pointer = context.ptr_type(AddressSpace::default());
    let function = module.add_function("probe", context.void_type().fn_type(&[pointer.into()], false), None);
    super::emit::attributes(&module.get_context(), function, target);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, ""));
    let memory = function.get_first_param().ok_or_else(|| bug("the probe has no argument"))?;
    let memory = memory.into_pointer_value();
    let vector = context.f32_type().vec_type(16);
    for (name, operands) in [("llvm.fma", 3), ("llvm.floor", 1)] {
        let x = builder.build_load(vector, memory, "")?;
        let intrinsic = Intrinsic::find(name)
            .and_then(|intrinsic| intrinsic.get_declaration(&module, &[vector.into()]))
            .ok_or_else(|| bug(format!("LLVM has no {name}")))?;
        let y = builder.build_call(intrinsic, &vec![x.into(); operands], "")?;
        let y = y.try_as_basic_value().basic().ok_or_else(|| bug(format!("{name} has no value")))?;
        builder.build_store(memory, y)?;
    }
    builder.build_return(None)?;
    Ok(String::from_utf8_lossy(&write(&module, &machine, FileType::Assembly)?).into_owned())
}
