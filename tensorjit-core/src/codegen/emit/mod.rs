//! The function of a kernel and the values in it.
//!
//! [`loops::verify`](crate::loops::verify) has accepted the kernel, so that values have the kinds that the
//! conversions of inkwell's enums expect.

mod calls;
mod control;
mod dims;
mod half;
mod memory;
mod prim;
mod rare;
mod scale;
mod tasks;
mod vectors;

use std::collections::{BTreeMap, BTreeSet};

use inkwell::attributes::AttributeLoc;
use inkwell::builder::Builder;
use inkwell::comdat::ComdatSelectionKind;
use inkwell::context::ContextRef;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicTypeEnum, FunctionType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FunctionValue, InstructionValue, IntValue, MetadataValue,
    PointerValue,
};
use inkwell::{AddressSpace, GlobalVisibility};
use tensorjit_runtime::abi::DType;

use super::{Visibility, bug};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::Val;
use crate::loops::{Block, Buf, Inst, Kernel, Target, Ty};
use memory::Alias;

/// Adds the function of a kernel to the module.
pub(super) fn function(
    module: &Module,
    symbol: &str,
    kernel: &Kernel,
    visibility: Visibility,
) -> Result<(), Bug> {
    let context = module.get_context();
    // Two archives that hold the same kernel agree on its code: the linker keeps either.
    let function = match module.get_function(symbol) {
        // A call has declared it.
        Some(function) => function,
        None => module.add_function(symbol, signature(&context), None),
    };
    function.set_linkage(Linkage::WeakODR);
    let global = function.as_global_value();
    let comdat = module.get_or_insert_comdat(symbol);
    comdat.set_selection_kind(ComdatSelectionKind::Any);
    global.set_comdat(comdat);
    global.set_visibility(match visibility {
        Visibility::Hidden => GlobalVisibility::Hidden,
        Visibility::Exported => GlobalVisibility::Default,
    });
    attributes(&context, function, &kernel.target);
    let entry = context.append_basic_block(function, "");
    let builder = context.create_builder();
    builder.position_at_end(entry);
    let parameter = |number| {
        function
            .get_nth_param(number)
            .map(BasicValueEnum::into_pointer_value)
            .ok_or_else(|| bug(format!("`{symbol}` lacks a parameter")))
    };
    let mut emitter = Emitter {
        module,
        symbol,
        kernel,
        function,
        args: parameter(0)?,
        dims: parameter(1)?,
        arena: parameter(2)?,
        host: parameter(3)?,
        alias: Alias::new(&context, symbol, &kernel.buffers),
        invariant: (context.get_kind_id("invariant.load"), context.metadata_node(&[])),
        context,
        builder,
        values: vec![None; kernel.types.len()],
        splats: BTreeMap::new(),
        addresses: BTreeMap::new(),
        bases: BTreeMap::new(),
        rooms: BTreeMap::new(),
        intrinsics: BTreeMap::new(),
        task: None,
        rare: BTreeMap::new(),
        tasks: 0,
    };
    emitter.arena_addresses()?;
    emitter.body(&kernel.body)?;
    emitter.builder.build_return(None)?;
    Ok(())
}

/// What all functions take: arguments, dimensions, arena, host.
fn signature<'ctx>(context: &ContextRef<'ctx>) -> FunctionType<'ctx> {
    let parameters = [context.ptr_type(AddressSpace::default()).into(); 4];
    context.void_type().fn_type(&parameters, false)
}

/// Sets what all functions of a target have in common.
pub(super) fn attributes(context: &ContextRef, function: FunctionValue, target: &Target) {
    let bits = target.vector_bits.to_string();
    for (key, value) in [
        ("target-cpu", target.cpu.as_str()),
        ("target-features", target.features.as_str()),
        // Without both, LLVM prefers 256 bits on machines that have 512.
        ("prefer-vector-width", bits.as_str()),
        ("min-legal-vector-width", bits.as_str()),
        ("denormal-fp-math", "ieee,ieee"),
        ("frame-pointer", "none"),
        // Library functions that LLVM knows by name are not to be recognised or made.
        ("no-builtins", ""),
    ] {
        if !(value.is_empty() && key == "target-features") {
            function.add_attribute(AttributeLoc::Function, context.create_string_attribute(key, value));
        }
    }
    let nounwind = inkwell::attributes::Attribute::get_named_enum_kind_id("nounwind");
    function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(nounwind, 0));
}

/// Emits one function.
struct Emitter<'ctx, 'k> {
    context: ContextRef<'ctx>,
    module: &'k Module<'ctx>,
    symbol: &'k str,
    kernel: &'k Kernel,
    function: FunctionValue<'ctx>,
    builder: Builder<'ctx>,
    args: PointerValue<'ctx>,
    dims: PointerValue<'ctx>,
    arena: PointerValue<'ctx>,
    host: PointerValue<'ctx>,
    alias: Alias<'ctx>,
    /// The kind and node of `!invariant.load`.
    invariant: (u32, MetadataValue<'ctx>),
    /// What each value of the kernel became.
    values: Vec<Option<BasicValueEnum<'ctx>>>,
    /// Constants in all lanes.
    splats: BTreeMap<(Val, u32), BasicValueEnum<'ctx>>,
    /// Where addresses in the arena stand, by their offsets; they are computed in the entry.
    addresses: BTreeMap<&'k Dim, PointerValue<'ctx>>,
    /// The addresses of the buffers in use.
    bases: BTreeMap<Buf, PointerValue<'ctx>>,
    /// Room on the stack of the function at hand.
    rooms: BTreeMap<Buf, PointerValue<'ctx>>,
    intrinsics: BTreeMap<(&'static str, Ty), FunctionValue<'ctx>>,
    /// In the function of a task: where the addresses of buffers come from.
    task: Option<tasks::Frame<'ctx>>,
    /// The functions of rare sides, by what they compute.
    rare: BTreeMap<String, rare::Rare<'ctx>>,
    /// The number of functions made for tasks.
    tasks: u32,
}

impl<'ctx, 'k> Emitter<'ctx, 'k> {
    /// The outermost block of a function.  Each statement loads the addresses that it uses, so that few registers hold
    /// addresses while it runs, however many buffers the function has.
    fn body(&mut self, body: &'k Block) -> Result<(), Bug> {
        for inst in &body.insts {
            if inst.blocks().next().is_some() || matches!(inst, Inst::Call { .. } | Inst::Nest { .. }) {
                self.bases.clear();
                let mut used = BTreeSet::new();
                buffers(inst, &mut used);
                for buf in used {
                    self.base(buf)?;
                }
            }
            self.inst(inst)?;
        }
        Ok(())
    }

    fn block(&mut self, block: &'k Block) -> Result<(), Bug> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    fn inst(&mut self, inst: &'k Inst) -> Result<(), Bug> {
        let (result, value) = match inst {
            Inst::Float(result, value) => {
                let dtype = self.ty(*result).dtype;
                let constant = match self.scalar(dtype) {
                    BasicTypeEnum::FloatType(ty) => ty.const_float(*value).into(),
                    ty => ty.into_int_type().const_int(half_bits(dtype, *value), false).into(),
                };
                (*result, constant)
            }
            Inst::Int(result, value) => (*result, self.int(self.ty(*result).dtype, *value)),
            Inst::Symbol(result, symbol) => (*result, self.symbol(*symbol)?.into()),
            Inst::Input(result, number) => (*result, self.input(self.ty(*result), *number)?),
            Inst::Lanes(result) => (*result, self.lanes(self.ty(*result))),
            Inst::Splat(result, scalar) => {
                (*result, self.splat(self.value(*scalar)?, self.ty(*result).lanes)?)
            }
            Inst::Prim(result, prim, args) => (*result, self.prim(self.ty(*result), *prim, args)?),
            Inst::Half { result, vector, high } => (*result, self.half(*result, *vector, *high)?),
            Inst::Shuffle { result, first, second, order } => {
                (*result, self.shuffle(*first, *second, order)?)
            }
            Inst::Entry { result, table, index } => (*result, self.entry(self.ty(*result), table, *index)?),
            Inst::Extract { result, vector, lane } => (*result, self.extract(*vector, *lane)?),
            Inst::Any { result, mask } => (*result, self.any(*mask)?),
            Inst::Load { result, buf, offset, mask } => {
                (*result, self.load(self.ty(*result), *buf, *offset, *mask)?)
            }
            Inst::Gather { result, buf, offsets, mask } => {
                (*result, self.gather(self.ty(*result), *buf, *offsets, *mask)?)
            }
            Inst::Address { result, buf } => (*result, self.address_of(*buf)?),
            Inst::Store { buf, offset, value, mask, streamed: false } => {
                return self.store(*buf, *offset, *value, *mask);
            }
            Inst::Store { buf, offset, value, .. } => return self.stream(*buf, *offset, *value),
            Inst::Prefetch { buf, offset } => return self.prefetch(*buf, *offset),
            Inst::Fence => return self.fence(),
            Inst::For(body) => return self.counted(body),
            Inst::If(branch) => return self.branch(branch),
            Inst::Parallel(tasks) => return self.tasks(tasks),
            Inst::Enter(part) => return self.enter(*part),
            Inst::Call { part, buffers } => return self.call(*part, buffers),
            Inst::Nest { part, buffers, values } => return self.run_nest(*part, buffers, values),
        };
        self.define(result, value);
        Ok(())
    }

    /// A value as an operand with so many lanes; constants are splat.
    fn operand(&mut self, val: Val, lanes: u32) -> Result<BasicValueEnum<'ctx>, Bug> {
        let value = self.value(val)?;
        if self.ty(val).lanes == lanes {
            return Ok(value);
        }
        if let Some(splat) = self.splats.get(&(val, lanes)) {
            return Ok(*splat);
        }
        let splat = self.splat(value, lanes)?;
        self.splats.insert((val, lanes), splat);
        Ok(splat)
    }

    /// Calls an intrinsic that is overloaded on one type and has a value.
    fn intrinsic(
        &mut self,
        name: &'static str,
        ty: Ty,
        args: &[BasicMetadataValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let function = match self.intrinsics.get(&(name, ty)) {
            Some(function) => *function,
            None => {
                let function = self.declare(name, &[self.lower(ty)])?;
                self.intrinsics.insert((name, ty), function);
                function
            }
        };
        let call = self.builder.build_call(function, args, "")?;
        call.try_as_basic_value().basic().ok_or_else(|| bug(format!("{name} has no value")))
    }

    fn declare(&self, name: &str, types: &[BasicTypeEnum<'ctx>]) -> Result<FunctionValue<'ctx>, Bug> {
        Intrinsic::find(name)
            .and_then(|intrinsic| intrinsic.get_declaration(self.module, types))
            .ok_or_else(|| bug(format!("LLVM has no {name}")))
    }

    /// The value of a symbol; the runtime does not change it during the call.
    fn symbol(&self, symbol: u32) -> Result<IntValue<'ctx>, Bug> {
        let i64_type = self.context.i64_type();
        let address = self.element(i64_type.into(), self.dims, i64_type.const_int(symbol.into(), false))?;
        let value = self.builder.build_load(i64_type, address, "")?.into_int_value();
        self.mark_invariant(value.as_instruction())?;
        Ok(value)
    }

    fn mark_invariant(&self, load: Option<InstructionValue<'ctx>>) -> Result<(), Bug> {
        let (kind, node) = self.invariant;
        let load = load.ok_or_else(|| bug("a load is no instruction"))?;
        load.set_metadata(node, kind).map_err(|error| bug(error.to_string()))
    }

    fn int(&self, dtype: DType, value: i64) -> BasicValueEnum<'ctx> {
        let value = if dtype == DType::Bool { value & 1 } else { value };
        self.scalar(dtype).into_int_type().const_int(value as u64, true).into()
    }

    fn ty(&self, val: Val) -> Ty {
        self.kernel.types[val.0 as usize]
    }

    fn define(&mut self, val: Val, value: BasicValueEnum<'ctx>) {
        self.values[val.0 as usize] = Some(value);
    }

    fn value(&self, val: Val) -> Result<BasicValueEnum<'ctx>, Bug> {
        self.values[val.0 as usize].ok_or_else(|| bug(format!("{val} has no value yet")))
    }

    /// The type of a value in registers.
    fn lower(&self, ty: Ty) -> BasicTypeEnum<'ctx> {
        vector(self.scalar(ty.dtype), ty.lanes)
    }

    fn scalar(&self, dtype: DType) -> BasicTypeEnum<'ctx> {
        match dtype {
            DType::Bool => self.context.bool_type().into(),
            DType::I8 | DType::U8 => self.context.i8_type().into(),
            // Of the floats of 16 bits registers hold the bits.
            DType::I16 | DType::U16 | DType::F16 | DType::BF16 => self.context.i16_type().into(),
            DType::I32 | DType::U32 => self.context.i32_type().into(),
            DType::I64 | DType::U64 => self.context.i64_type().into(),
            DType::F32 => self.context.f32_type().into(),
            DType::F64 => self.context.f64_type().into(),
        }
    }
}

/// The bits of a number that has been rounded to `f16` or `bf16`.
fn half_bits(dtype: DType, value: f64) -> u64 {
    let single = u64::from((value as f32).to_bits());
    if dtype == DType::BF16 || value.is_nan() {
        return single >> 16;
    }
    let sign = single >> 16 & 0x8000;
    // Below the least normal number the bits count its fraction.
    let least = 2.0_f64.powi(-14);
    sign | match value.abs() {
        f64::INFINITY => 0x7c00,
        small if small < least => (small * 2.0_f64.powi(24)) as u64,
        _ => ((single & 0x7fff_ffff) - ((127 - 15) << 23)) >> 13,
    }
}

/// A vector of a number type, which is the type itself for one lane.
fn vector(scalar: BasicTypeEnum, lanes: u32) -> BasicTypeEnum {
    match scalar {
        _ if lanes == 1 => scalar,
        BasicTypeEnum::IntType(ty) => ty.vec_type(lanes).into(),
        BasicTypeEnum::FloatType(ty) => ty.vec_type(lanes).into(),
        BasicTypeEnum::PointerType(ty) => ty.vec_type(lanes).into(),
        other => other,
    }
}

/// The buffers that an instruction touches.
fn buffers(inst: &Inst, used: &mut BTreeSet<Buf>) {
    match inst {
        Inst::Load { buf, .. } | Inst::Gather { buf, .. } => used.insert(*buf),
        Inst::Store { buf, .. } | Inst::Address { buf, .. } | Inst::Prefetch { buf, .. } => used.insert(*buf),
        Inst::Nest { buffers, .. } => {
            used.extend(buffers);
            false
        }
        _ => false,
    };
    inst.blocks().flat_map(|block| &block.insts).for_each(|inst| buffers(inst, used));
}
