//! The function of a kernel: control flow and the values in it.
//!
//! [`loops::verify`](crate::loops::verify) has accepted the kernel, so that values have the kinds that the
//! conversions of inkwell's enums expect.

mod dims;
mod memory;
mod prim;

use std::collections::{BTreeMap, BTreeSet};

use inkwell::attributes::AttributeLoc;
use inkwell::builder::Builder;
use inkwell::comdat::ComdatSelectionKind;
use inkwell::context::ContextRef;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FunctionValue, InstructionValue, IntValue, MetadataValue,
    PhiValue, PointerValue,
};
use inkwell::{AddressSpace, GlobalVisibility, IntPredicate};
use tensorjit_runtime::abi::DType;

use super::{Visibility, bug};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::Val;
use crate::loops::{Block, Buf, For, If, Inst, Kernel, Target, Ty};
use memory::Alias;

/// Adds the function of a kernel to the module.
pub(super) fn function(
    module: &Module,
    symbol: &str,
    kernel: &Kernel,
    visibility: Visibility,
) -> Result<(), Bug> {
    let context = module.get_context();
    let pointer = context.ptr_type(AddressSpace::default());
    let parameters = [pointer.into(); 4];
    let signature = context.void_type().fn_type(&parameters, false);
    // Two archives that hold the same kernel agree on its code: the linker keeps either.
    let function = module.add_function(symbol, signature, Some(Linkage::WeakODR));
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
        kernel,
        function,
        args: parameter(0)?,
        dims: parameter(1)?,
        arena: parameter(2)?,
        alias: Alias::new(&context, symbol, &kernel.buffers),
        invariant: (context.get_kind_id("invariant.load"), context.metadata_node(&[])),
        context,
        builder,
        values: vec![None; kernel.types.len()],
        splats: BTreeMap::new(),
        offsets: BTreeMap::new(),
        bases: BTreeMap::new(),
        intrinsics: BTreeMap::new(),
    };
    emitter.arena_offsets()?;
    emitter.body(&kernel.body)?;
    emitter.builder.build_return(None)?;
    Ok(())
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
    kernel: &'k Kernel,
    function: FunctionValue<'ctx>,
    builder: Builder<'ctx>,
    args: PointerValue<'ctx>,
    dims: PointerValue<'ctx>,
    arena: PointerValue<'ctx>,
    alias: Alias<'ctx>,
    /// The kind and node of `!invariant.load`.
    invariant: (u32, MetadataValue<'ctx>),
    /// What each value of the kernel became.
    values: Vec<Option<BasicValueEnum<'ctx>>>,
    /// Constants in all lanes.
    splats: BTreeMap<(Val, u32), BasicValueEnum<'ctx>>,
    /// Offsets in the arena, computed in the entry.
    offsets: BTreeMap<&'k Dim, IntValue<'ctx>>,
    /// The addresses of the buffers in use.
    bases: BTreeMap<Buf, PointerValue<'ctx>>,
    intrinsics: BTreeMap<(&'static str, Ty), FunctionValue<'ctx>>,
}

impl<'ctx, 'k> Emitter<'ctx, 'k> {
    /// The outermost block.  Each statement loads the addresses that it uses, so that few registers hold
    /// addresses while it runs, however many buffers the function has.
    fn body(&mut self, body: &'k Block) -> Result<(), Bug> {
        for inst in &body.insts {
            if let Inst::For(_) | Inst::If(_) = inst {
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
                let ty = self.scalar(self.ty(*result).dtype).into_float_type();
                (*result, ty.const_float(*value).into())
            }
            Inst::Int(result, value) => (*result, self.int(self.ty(*result).dtype, *value)),
            Inst::Symbol(result, symbol) => (*result, self.symbol(*symbol)?.into()),
            Inst::Lanes(result) => (*result, self.lanes(self.ty(*result))),
            Inst::Splat(result, scalar) => {
                (*result, self.splat(self.value(*scalar)?, self.ty(*result).lanes)?)
            }
            Inst::Prim(result, prim, args) => (*result, self.prim(self.ty(*result), *prim, args)?),
            Inst::Half { result, vector, high } => (*result, self.half(*result, *vector, *high)?),
            Inst::Extract { result, vector, lane } => (*result, self.extract(*vector, *lane)?),
            Inst::Any { result, mask } => (*result, self.any(*mask)?),
            Inst::Load { result, buf, offset, mask } => {
                (*result, self.load(self.ty(*result), *buf, *offset, *mask)?)
            }
            Inst::Gather { result, buf, offsets, mask } => {
                (*result, self.gather(self.ty(*result), *buf, *offsets, *mask)?)
            }
            Inst::Store { buf, offset, value, mask } => return self.store(*buf, *offset, *value, *mask),
            Inst::For(body) => return self.counted(body),
            Inst::If(branch) => return self.branch(branch),
        };
        self.define(result, value);
        Ok(())
    }

    /// The loop with its test at the end, behind a test whether it runs at all.
    fn counted(&mut self, body: &'k For) -> Result<(), Bug> {
        let from = self.value(body.from)?.into_int_value();
        let to = self.value(body.to)?.into_int_value();
        let before = self.current()?;
        let turn = self.context.append_basic_block(self.function, "");
        let after = self.context.append_basic_block(self.function, "");
        let runs = self.builder.build_int_compare(IntPredicate::SLT, from, to, "")?;
        let always = runs.get_zero_extended_constant() == Some(1);
        if always {
            self.builder.build_unconditional_branch(turn)?;
        } else {
            self.builder.build_conditional_branch(runs, turn, after)?;
        }

        let initial = self.fitted(&body.initial, &body.carried)?;
        self.builder.position_at_end(turn);
        let index = self.phi(body.index)?;
        let carried = self.phis(&body.carried)?;
        index.add_incoming(&[(&from, before)]);
        self.block(&body.body)?;
        let step = self.context.i64_type().const_int(body.step as u64, false);
        let next = self.builder.build_int_nsw_add(index.as_basic_value().into_int_value(), step, "")?;
        let yields = self.fitted(&body.body.yields, &body.carried)?;
        let last = self.current()?;
        index.add_incoming(&[(&next, last)]);
        for ((phi, initial), next) in carried.iter().zip(&initial).zip(&yields) {
            phi.add_incoming(&[(initial, before), (next, last)]);
        }
        let again = self.builder.build_int_compare(IntPredicate::SLT, next, to, "")?;
        self.builder.build_conditional_branch(again, turn, after)?;

        self.builder.position_at_end(after);
        let results = self.phis(&body.results)?;
        for ((phi, initial), next) in results.iter().zip(&initial).zip(&yields) {
            phi.add_incoming(&[(next, last)]);
            if !always {
                phi.add_incoming(&[(initial, before)]);
            }
        }
        Ok(())
    }

    fn branch(&mut self, branch: &'k If) -> Result<(), Bug> {
        let condition = self.value(branch.condition)?.into_int_value();
        let then = self.context.append_basic_block(self.function, "");
        let otherwise = self.context.append_basic_block(self.function, "");
        let after = self.context.append_basic_block(self.function, "");
        self.builder.build_conditional_branch(condition, then, otherwise)?;
        let mut ends = Vec::with_capacity(2);
        for (start, block) in [(then, &branch.then), (otherwise, &branch.otherwise)] {
            self.builder.position_at_end(start);
            self.block(block)?;
            let yields = self.fitted(&block.yields, &branch.results)?;
            ends.push((yields, self.current()?));
            self.builder.build_unconditional_branch(after)?;
        }
        self.builder.position_at_end(after);
        for (position, phi) in self.phis(&branch.results)?.into_iter().enumerate() {
            for (yields, end) in &ends {
                phi.add_incoming(&[(&yields[position], *end)]);
            }
        }
        Ok(())
    }

    fn phis(&mut self, results: &[Val]) -> Result<Vec<PhiValue<'ctx>>, Bug> {
        results.iter().map(|result| self.phi(*result)).collect()
    }

    /// A phi without incoming values, which is what `result` becomes.
    fn phi(&mut self, result: Val) -> Result<PhiValue<'ctx>, Bug> {
        let phi = self.builder.build_phi(self.lower(self.ty(result)), "")?;
        self.define(result, phi.as_basic_value());
        Ok(phi)
    }

    /// `vals` as the types of `targets`, which they fit.
    fn fitted(&mut self, vals: &[Val], targets: &[Val]) -> Result<Vec<BasicValueEnum<'ctx>>, Bug> {
        vals.iter().zip(targets).map(|(val, target)| self.operand(*val, self.ty(*target).lanes)).collect()
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

    /// All lanes equal to a scalar.
    fn splat(&self, scalar: BasicValueEnum<'ctx>, lanes: u32) -> Result<BasicValueEnum<'ctx>, Bug> {
        if lanes == 1 {
            return Ok(scalar);
        }
        let ty = vector(scalar.get_type(), lanes).into_vector_type();
        let zero = self.context.i32_type().const_zero();
        let first = self.builder.build_insert_element(ty.get_poison(), scalar, zero, "")?;
        let selector = self.context.i32_type().vec_type(lanes).const_zero();
        Ok(self.builder.build_shuffle_vector(first, ty.get_poison(), selector, "")?.into())
    }

    fn lanes(&self, ty: Ty) -> BasicValueEnum<'ctx> {
        let scalar = self.scalar(ty.dtype).into_int_type();
        let numbers: Vec<IntValue> =
            (0..u64::from(ty.lanes)).map(|lane| scalar.const_int(lane, false)).collect();
        match numbers.as_slice() {
            [number] => (*number).into(),
            numbers => VectorType::const_vector(numbers).into(),
        }
    }

    fn half(&self, result: Val, whole: Val, high: bool) -> Result<BasicValueEnum<'ctx>, Bug> {
        let whole = self.value(whole)?.into_vector_value();
        let lanes = self.ty(result).lanes;
        let first = if high { lanes } else { 0 };
        let index = self.context.i32_type();
        if lanes == 1 {
            let lane = index.const_int(first.into(), false);
            return Ok(self.builder.build_extract_element(whole, lane, "")?);
        }
        let selector: Vec<IntValue> =
            (first..first + lanes).map(|lane| index.const_int(lane.into(), false)).collect();
        let selector = VectorType::const_vector(&selector);
        let poison = whole.get_type().get_poison();
        Ok(self.builder.build_shuffle_vector(whole, poison, selector, "")?.into())
    }

    fn extract(&self, vector: Val, lane: u32) -> Result<BasicValueEnum<'ctx>, Bug> {
        match self.value(vector)? {
            BasicValueEnum::VectorValue(vector) => {
                let lane = self.context.i32_type().const_int(lane.into(), false);
                Ok(self.builder.build_extract_element(vector, lane, "")?)
            }
            scalar => Ok(scalar),
        }
    }

    fn any(&mut self, mask: Val) -> Result<BasicValueEnum<'ctx>, Bug> {
        match self.value(mask)? {
            BasicValueEnum::VectorValue(vector) => {
                self.intrinsic("llvm.vector.reduce.or", self.ty(mask), &[vector.into()])
            }
            scalar => Ok(scalar),
        }
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

    fn current(&self) -> Result<inkwell::basic_block::BasicBlock<'ctx>, Bug> {
        self.builder.get_insert_block().ok_or_else(|| bug("no block is open"))
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
            DType::I32 => self.context.i32_type().into(),
            DType::I64 => self.context.i64_type().into(),
            DType::F32 => self.context.f32_type().into(),
            DType::F64 => self.context.f64_type().into(),
        }
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
    let mut visit = |block: &Block| block.insts.iter().for_each(|inst| buffers(inst, used));
    match inst {
        Inst::For(body) => visit(&body.body),
        Inst::If(branch) => {
            visit(&branch.then);
            visit(&branch.otherwise);
        }
        Inst::Load { buf, .. } | Inst::Gather { buf, .. } | Inst::Store { buf, .. } => {
            used.insert(*buf);
        }
        _ => {}
    }
}
