//! LLVM's description of the machine that a kernel is for.

use inkwell::OptimizationLevel;
use inkwell::targets::{
    InitializationConfig, RelocMode, Target as LlvmTarget, TargetMachine, TargetMachineOptions, TargetTriple,
};

use super::bug;
use crate::diag::Bug;
use crate::loops::Target;

/// The machine for a target; code is position independent, for static and shared linking alike.
pub(super) fn machine(target: &Target) -> Result<TargetMachine, Bug> {
    initialize();
    let triple = TargetTriple::create(&target.triple);
    let options = TargetMachineOptions::new()
        .set_cpu(&target.cpu)
        .set_features(&target.features)
        .set_level(OptimizationLevel::Default)
        .set_reloc_mode(RelocMode::PIC);
    LlvmTarget::from_triple(&triple)
        .map_err(|message| bug(message.to_string()))?
        .create_target_machine_from_options(&triple, options)
        .ok_or_else(|| bug(format!("LLVM makes no code for {}", target.triple)))
}

/// Registers the architectures; LLVM does it once, whoever asks.
pub(super) fn initialize() {
    LlvmTarget::initialize_x86(&InitializationConfig::default());
    LlvmTarget::initialize_aarch64(&InitializationConfig::default());
}
