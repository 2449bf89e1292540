//! Tasks: functions of their own, which the host calls.
//!
//! A task is `(context, index)`.  The context is a struct on the stack of the entry: the dimensions, the
//! addresses of the buffers that the tasks touch, and the values from outside that they use.

use std::collections::{BTreeMap, BTreeSet};

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Linkage;
use inkwell::types::{BasicType, BasicTypeEnum, FunctionType, StructType};
use inkwell::values::{BasicValue, BasicValueEnum, FunctionValue, IntValue, PointerValue};
use inkwell::{AddressSpace, IntPredicate};

use super::{Emitter, attributes, buffers};
use crate::codegen::bug;
use crate::diag::Bug;
use crate::lanes::Val;
use crate::loops::{Buf, Parallel, Place};

/// What the function of a task is handed.
#[derive(Clone)]
pub(super) struct Frame<'ctx> {
    context: PointerValue<'ctx>,
    ty: StructType<'ctx>,
    /// Which field holds the address of a buffer.
    bases: BTreeMap<Buf, u32>,
}

impl<'ctx> Frame<'ctx> {
    /// The address of a buffer.
    pub(super) fn base(&self, emitter: &Emitter<'ctx, '_>, buf: Buf) -> Result<PointerValue<'ctx>, Bug> {
        let field = self.bases.get(&buf).ok_or_else(|| bug(format!("{buf} is not in the context")))?;
        Ok(self.field(emitter, *field)?.into_pointer_value())
    }

    /// A field of the context, which does not change while tasks run.
    fn field(&self, emitter: &Emitter<'ctx, '_>, field: u32) -> Result<BasicValueEnum<'ctx>, Bug> {
        let ty = self.ty.get_field_type_at_index(field).ok_or_else(|| bug("a context lacks a field"))?;
        let address = emitter.builder.build_struct_gep(self.ty, self.context, field, "")?;
        let value = emitter.builder.build_load(ty, address, "")?;
        emitter.mark_invariant(value.as_instruction_value())?;
        Ok(value)
    }
}

/// What of an entry is set aside while the function of a task is made.
struct Outside<'ctx> {
    function: FunctionValue<'ctx>,
    builder: inkwell::builder::Builder<'ctx>,
    dims: PointerValue<'ctx>,
    bases: BTreeMap<Buf, PointerValue<'ctx>>,
    rooms: BTreeMap<Buf, PointerValue<'ctx>>,
}

impl<'ctx, 'k> Emitter<'ctx, 'k> {
    /// Outlines the tasks, and has the host run them where they are worth it.
    pub(super) fn tasks(&mut self, tasks: &'k Parallel) -> Result<(), Bug> {
        let mut used = BTreeSet::new();
        tasks.body.insts.iter().for_each(|inst| buffers(inst, &mut used));
        used.retain(|buf| !matches!(self.buffer(*buf).place, Place::Stack(_)));
        let captured = self.captured(tasks);
        let mut fields: Vec<BasicValueEnum> = vec![self.dims.into()];
        for buf in &used {
            fields.push(self.base(*buf)?.into());
        }
        let bases = used.into_iter().zip(1..).collect();
        fields.extend(captured.values());
        let types: Vec<BasicTypeEnum> = fields.iter().map(BasicValueEnum::get_type).collect();
        let ty = self.context.struct_type(&types, false);
        let context = self.alloca(ty)?;
        for (field, value) in fields.into_iter().enumerate() {
            let address = self.builder.build_struct_gep(ty, context, field as u32, "")?;
            self.builder.build_store(address, value)?;
        }
        let task = self.outlined(tasks, Frame { context, ty, bases }, &captured)?;
        self.run_tasks(tasks, task, context)
    }

    /// The values from outside that tasks use; constants stand everywhere.
    fn captured(&self, tasks: &Parallel) -> BTreeMap<Val, BasicValueEnum<'ctx>> {
        let mut captured = BTreeMap::new();
        tasks.body.uses(&mut |val| {
            if let Some(value) = self.values[val.0 as usize].filter(|value| !is_constant(*value)) {
                captured.insert(val, value);
            }
        });
        captured
    }

    /// Room on the stack, taken once however often the place is passed.
    pub(super) fn alloca(&self, ty: impl BasicType<'ctx>) -> Result<PointerValue<'ctx>, Bug> {
        let entry = self.function.get_first_basic_block().ok_or_else(|| bug("a function without blocks"))?;
        let builder = self.context.create_builder();
        match entry.get_first_instruction() {
            Some(first) => builder.position_before(&first),
            None => builder.position_at_end(entry),
        }
        Ok(builder.build_alloca(ty, "")?)
    }

    fn task_type(&self) -> FunctionType<'ctx> {
        let pointer = self.context.ptr_type(AddressSpace::default());
        self.context.void_type().fn_type(&[pointer.into(), self.context.i64_type().into()], false)
    }

    /// The function of a task, whose frame is as the caller sees it.
    fn outlined(
        &mut self,
        tasks: &'k Parallel,
        frame: Frame<'ctx>,
        captured: &BTreeMap<Val, BasicValueEnum<'ctx>>,
    ) -> Result<FunctionValue<'ctx>, Bug> {
        let function = self.task_function()?;
        let builder = self.context.create_builder();
        builder.position_at_end(self.context.append_basic_block(function, ""));
        let parameter =
            |number| function.get_nth_param(number).ok_or_else(|| bug("a task lacks a parameter"));
        let frame = Frame { context: parameter(0)?.into_pointer_value(), ..frame };
        let outside = Outside {
            function: std::mem::replace(&mut self.function, function),
            builder: std::mem::replace(&mut self.builder, builder),
            dims: self.dims,
            bases: std::mem::take(&mut self.bases),
            rooms: std::mem::take(&mut self.rooms),
        };
        self.dims = frame.field(self, 0)?.into_pointer_value();
        for (val, field) in captured.keys().zip(1 + frame.bases.len() as u32..) {
            let value = frame.field(self, field)?;
            self.define(*val, value);
        }
        self.define(tasks.index, parameter(1)?);
        self.task = Some(frame);
        self.body(&tasks.body)?;
        self.builder.build_return(None)?;
        self.task = None;
        Outside {
            function: self.function,
            builder: self.builder,
            dims: self.dims,
            bases: self.bases,
            rooms: self.rooms,
        } = outside;
        for (val, value) in captured {
            self.define(*val, *value);
        }
        Ok(function)
    }

    /// Declares the function of a task.  It belongs to the entry: where the linker keeps another copy of the
    /// entry, it drops this one too.
    fn task_function(&mut self) -> Result<FunctionValue<'ctx>, Bug> {
        let entry = self.function.as_global_value();
        let name = format!("{}.{}", entry.get_name().to_string_lossy(), self.tasks);
        self.tasks += 1;
        let function = self.module.add_function(&name, self.task_type(), Some(Linkage::Internal));
        let comdat = entry.get_comdat().ok_or_else(|| bug("an entry has no comdat"))?;
        function.as_global_value().set_comdat(comdat);
        attributes(&self.context, function, &self.kernel.target);
        Ok(function)
    }

    /// Calls the host, or runs the tasks here in order.
    fn run_tasks(
        &mut self,
        tasks: &Parallel,
        task: FunctionValue<'ctx>,
        context: PointerValue<'ctx>,
    ) -> Result<(), Bug> {
        let count = self.value(tasks.count)?.into_int_value();
        let shared = self.value(tasks.shared)?.into_int_value();
        let block = || self.context.append_basic_block(self.function, "");
        let (host, here, turn, after) = (block(), block(), block(), block());
        self.builder.build_conditional_branch(shared, host, here)?;
        self.builder.position_at_end(host);
        self.call_host(count, context, task)?;
        self.builder.build_unconditional_branch(after)?;

        self.builder.position_at_end(here);
        let zero = self.index(0);
        let any = self.builder.build_int_compare(IntPredicate::SGT, count, zero, "")?;
        self.builder.build_conditional_branch(any, turn, after)?;
        self.builder.position_at_end(turn);
        let index = self.builder.build_phi(self.context.i64_type(), "")?;
        let number = index.as_basic_value();
        self.builder.build_call(task, &[context.into(), number.into()], "")?;
        let next = self.builder.build_int_nsw_add(number.into_int_value(), self.index(1), "")?;
        index.add_incoming(&[(&zero, here), (&next, turn)]);
        let again = self.builder.build_int_compare(IntPredicate::SLT, next, count, "")?;
        self.builder.build_conditional_branch(again, turn, after)?;
        self.builder.position_at_end(after);
        Ok(())
    }

    /// `host->parallel_for(host, count, context, task)`
    fn call_host(
        &self,
        count: IntValue<'ctx>,
        context: PointerValue<'ctx>,
        task: FunctionValue<'ctx>,
    ) -> Result<(), Bug> {
        let pointer = self.context.ptr_type(AddressSpace::default());
        let parameters = [pointer.into(), self.context.i64_type().into(), pointer.into(), pointer.into()];
        let signature = self.context.void_type().fn_type(&parameters, false);
        // It is the first field of `abi::Host`.
        let parallel_for = self.builder.build_load(pointer, self.host, "")?.into_pointer_value();
        let task = task.as_global_value().as_pointer_value();
        let args = [self.host.into(), count.into(), context.into(), task.into()];
        let call = self.builder.build_indirect_call(signature, parallel_for, &args, "")?;
        let nounwind = Attribute::get_named_enum_kind_id("nounwind");
        call.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(nounwind, 0));
        Ok(())
    }
}

pub(super) fn is_constant(value: BasicValueEnum) -> bool {
    match value {
        BasicValueEnum::IntValue(value) => value.is_const(),
        BasicValueEnum::FloatValue(value) => value.is_const(),
        BasicValueEnum::VectorValue(value) => value.is_const(),
        _ => false,
    }
}
