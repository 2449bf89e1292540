//! Loads and stores, and what is known of the memory that they touch.

use std::collections::BTreeMap;

use inkwell::AddressSpace;
use inkwell::context::ContextRef;
use inkwell::llvm_sys::core::{LLVMBuildFreeze, LLVMBuildGEP2};
use inkwell::types::{AsTypeRef, BasicType, BasicTypeEnum, VectorType};
use inkwell::values::{
    AsValueRef, BasicValue, BasicValueEnum, InstructionValue, IntValue, MetadataValue, PointerValue,
    VectorValue,
};
use tensorjit_runtime::abi::DType;

use super::{Emitter, vector};
use crate::codegen::bug;
use crate::diag::Bug;
use crate::lanes::{Cmp, Val};
use crate::loops::{Buf, Buffer, LINE, Place, Ty};

/// Which accesses cannot meet: those of different memories, which are the arguments and the arena.  Buffers of the
/// arena share memory over time, so that nothing is said of two of them.
pub(super) struct Alias<'ctx> {
    scope_kind: u32,
    noalias_kind: u32,
    /// For each memory, the arena under `None`: its own scope, and the scopes of all others.
    scopes: BTreeMap<Option<u32>, (MetadataValue<'ctx>, MetadataValue<'ctx>)>,
}

impl<'ctx> Alias<'ctx> {
    /// The scopes of the function `symbol`.
    pub(super) fn new(context: &ContextRef<'ctx>, symbol: &str, buffers: &[Buffer]) -> Alias<'ctx> {
        let domain = context.metadata_node(&[context.metadata_string(symbol).into()]);
        let mut own: BTreeMap<Option<u32>, MetadataValue> = BTreeMap::new();
        for buffer in buffers {
            let place = buffer.place.memory();
            own.entry(place).or_insert_with(|| {
                let name = place.map_or_else(|| "arena".into(), |number| format!("memory {number}"));
                let name = context.metadata_string(&format!("{symbol}: {name}"));
                context.metadata_node(&[name.into(), domain.into()])
            });
        }
        let scopes = own
            .iter()
            .map(|(place, scope)| {
                let others: Vec<_> = own
                    .iter()
                    .filter(|(other, _)| *other != place)
                    .map(|(_, scope)| (*scope).into())
                    .collect();
                (*place, (context.metadata_node(&[(*scope).into()]), context.metadata_node(&others)))
            })
            .collect();
        Alias {
            scope_kind: context.get_kind_id("alias.scope"),
            noalias_kind: context.get_kind_id("noalias"),
            scopes,
        }
    }

    fn mark(&self, access: InstructionValue<'ctx>, buffer: &Buffer) -> Result<(), Bug> {
        let Some((own, others)) = self.scopes.get(&buffer.place.memory()) else { return Ok(()) };
        access
            .set_metadata(*own, self.scope_kind)
            .and_then(|()| access.set_metadata(*others, self.noalias_kind))
            .map_err(|error| bug(error.to_string()))
    }
}

impl<'ctx, 'k> Emitter<'ctx, 'k> {
    /// The address of the buffer's first element.
    pub(super) fn base(&mut self, buf: Buf) -> Result<PointerValue<'ctx>, Bug> {
        if let Some(base) = self.bases.get(&buf) {
            return Ok(*base);
        }
        let base = match &self.buffer(buf).place {
            Place::Stack(bytes) => self.room(buf, *bytes)?,
            _ if let Some(task) = &self.task => task.base(self, buf)?,
            Place::Arg(number) | Place::Given { number, .. } => {
                let pointer = self.context.ptr_type(AddressSpace::default());
                let number = self.context.i64_type().const_int((*number).into(), false);
                let address = self.element(pointer.into(), self.args, number)?;
                let base = self.builder.build_load(pointer, address, "")?.into_pointer_value();
                self.mark_invariant(base.as_instruction())?;
                base
            }
            Place::Arena(offset) => match (offset.as_const(), self.addresses.get(offset)) {
                (Some(offset), _) => {
                    self.element(self.context.i8_type().into(), self.arena, self.index(offset))?
                }
                (None, Some(slot)) => {
                    self.builder.build_load(self.pointer(), *slot, "")?.into_pointer_value()
                }
                (None, None) => return Err(bug("an address in the arena was not computed")),
            },
        };
        self.bases.insert(buf, base);
        Ok(base)
    }

    /// The room of a buffer on the stack of the function at hand, taken once.
    fn room(&mut self, buf: Buf, bytes: u32) -> Result<PointerValue<'ctx>, Bug> {
        if let Some(room) = self.rooms.get(&buf) {
            return Ok(*room);
        }
        let room = self.alloca(self.context.i8_type().array_type(bytes))?;
        let inst = room.as_instruction().ok_or_else(|| bug("room on the stack is no instruction"))?;
        // A register on the stack lies in one line.
        inst.set_alignment(LINE).map_err(|error| bug(error.to_string()))?;
        self.rooms.insert(buf, room);
        Ok(room)
    }

    pub(super) fn load(
        &mut self,
        ty: Ty,
        buf: Buf,
        offset: Val,
        mask: Option<Val>,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let address = self.address(buf, offset)?;
        let memory = self.memory(ty);
        let (access, value) = match mask {
            None => {
                let value = self.builder.build_load(memory, address, "")?;
                let access = instruction(value)?;
                access.set_alignment(align(ty.dtype)).map_err(|error| bug(error.to_string()))?;
                (access, value)
            }
            Some(mask) => {
                let (memory, mask) = (self.whole(ty), self.mask(mask, ty.lanes)?);
                let function = self.declare("llvm.masked.load", &[memory, self.pointer()])?;
                let args = [
                    address.into(),
                    self.alignment(ty.dtype).into(),
                    mask.into(),
                    memory.const_zero().into(),
                ];
                let call = self.builder.build_call(function, &args, "")?;
                let value = call.try_as_basic_value().basic().ok_or_else(|| bug("a load has no value"))?;
                (instruction(value)?, self.narrow(value, ty)?)
            }
        };
        self.alias.mark(access, self.buffer(buf))?;
        self.to_registers(value, ty)
    }

    pub(super) fn gather(
        &mut self,
        ty: Ty,
        buf: Buf,
        offsets: Val,
        mask: Option<Val>,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let base = self.base(buf)?;
        let offsets = self.operand(offsets, ty.lanes)?;
        let BasicValueEnum::VectorValue(offsets) = offsets else {
            return Err(bug("a gather of one lane"));
        };
        let addresses = self.elements(self.memory(Ty { lanes: 1, ..ty }), base, offsets);
        let mask = match mask {
            Some(mask) => self.mask(mask, ty.lanes)?,
            None => {
                VectorType::const_vector(&vec![self.context.bool_type().const_all_ones(); ty.lanes as usize])
            }
        };
        let memory = self.memory(ty);
        let function = self.declare("llvm.masked.gather", &[memory, addresses.get_type().into()])?;
        let args =
            [addresses.into(), self.alignment(ty.dtype).into(), mask.into(), memory.const_zero().into()];
        let call = self.builder.build_call(function, &args, "")?;
        let value = call.try_as_basic_value().basic().ok_or_else(|| bug("a gather has no value"))?;
        self.alias.mark(instruction(value)?, self.buffer(buf))?;
        self.to_registers(value, ty)
    }

    pub(super) fn store(&mut self, buf: Buf, offset: Val, value: Val, mask: Option<Val>) -> Result<(), Bug> {
        let ty = self.ty(value);
        let address = self.address(buf, offset)?;
        let stored = self.operand(value, ty.lanes)?;
        let stored = self.to_memory(stored, ty)?;
        let access = match mask {
            None => {
                let access = self.builder.build_store(address, stored)?;
                access.set_alignment(align(ty.dtype)).map_err(|error| bug(error.to_string()))?;
                access
            }
            Some(mask) => {
                let (stored, mask) = (self.widen(stored)?, self.mask(mask, ty.lanes)?);
                let function = self.declare("llvm.masked.store", &[stored.get_type(), self.pointer()])?;
                let args = [stored.into(), address.into(), self.alignment(ty.dtype).into(), mask.into()];
                let call = self.builder.build_call(function, &args, "")?;
                call.try_as_basic_value().instruction().ok_or_else(|| bug("a store has a value"))?
            }
        };
        self.alias.mark(access, self.buffer(buf))
    }

    /// Into the first cache, to read: a line that no other core has may then be written at once.
    pub(super) fn prefetch(&mut self, buf: Buf, offset: Val) -> Result<(), Bug> {
        let address = self.address(buf, offset)?;
        let function = self.declare("llvm.prefetch", &[self.pointer()])?;
        let [read, near, data] = [0, 3, 1].map(|number| self.context.i32_type().const_int(number, false));
        self.builder.build_call(function, &[address.into(), read.into(), near.into(), data.into()], "")?;
        Ok(())
    }

    /// A store past the caches.
    pub(super) fn stream(&mut self, buf: Buf, offset: Val, value: Val) -> Result<(), Bug> {
        let ty = self.ty(value);
        let address = self.address(buf, offset)?;
        let stored = self.operand(value, ty.lanes)?;
        let stored = self.to_memory(stored, ty)?;
        let access = self.builder.build_store(address, stored)?;
        let bytes = ty.lanes * align(ty.dtype);
        access.set_alignment(bytes.min(LINE)).map_err(|error| bug(error.to_string()))?;
        let (kind, one) =
            (self.context.get_kind_id("nontemporal"), self.context.i32_type().const_int(1, false));
        let always = self.context.metadata_node(&[one.into()]);
        access.set_metadata(always, kind).map_err(|error| bug(error.to_string()))?;
        self.alias.mark(access, self.buffer(buf))
    }

    /// Orders streamed stores before what follows.  Those of aarch64 are ordered as others are.
    pub(super) fn fence(&mut self) -> Result<(), Bug> {
        if self.kernel.target.triple.starts_with("x86_64") {
            let function = self.declare("llvm.x86.sse.sfence", &[])?;
            self.builder.build_call(function, &[], "")?;
        }
        Ok(())
    }

    /// The address of a buffer, as a number.
    pub(super) fn address_of(&mut self, buf: Buf) -> Result<BasicValueEnum<'ctx>, Bug> {
        let base = self.base(buf)?;
        Ok(self.builder.build_ptr_to_int(base, self.context.i64_type(), "")?.into())
    }

    fn address(&mut self, buf: Buf, offset: Val) -> Result<PointerValue<'ctx>, Bug> {
        let base = self.base(buf)?;
        let dtype = self.buffer(buf).dtype;
        let offset = self.value(offset)?.into_int_value();
        self.element(self.memory(Ty { dtype, lanes: 1 }), base, offset)
    }

    /// The address of an element.  Nothing is said of bounds, which lanes outside a mask may leave.
    pub(super) fn element(
        &self,
        ty: BasicTypeEnum<'ctx>,
        base: PointerValue<'ctx>,
        offset: IntValue<'ctx>,
    ) -> Result<PointerValue<'ctx>, Bug> {
        // SAFETY: the one index fits the type, which is no aggregate.
        Ok(unsafe { self.builder.build_gep(ty, base, &[offset], "") }?)
    }

    /// The addresses of many elements.
    fn elements(
        &self,
        ty: BasicTypeEnum<'ctx>,
        base: PointerValue<'ctx>,
        offsets: VectorValue<'ctx>,
    ) -> VectorValue<'ctx> {
        let mut indices = [offsets.as_value_ref()];
        // SAFETY: the builder stands in a block; type, pointer and index belong to its context, and the one
        // index, a vector of `i64`, fits the type, which is no aggregate: the result is a vector of pointers.
        unsafe {
            VectorValue::new(LLVMBuildGEP2(
                self.builder.as_mut_ptr(),
                ty.as_type_ref(),
                base.as_value_ref(),
                indices.as_mut_ptr(),
                1,
                c"".as_ptr(),
            ))
        }
    }

    /// Some fixed value where `value` is poison.
    pub(super) fn freeze(&self, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>, Bug> {
        // SAFETY: the builder stands in a block, and the value belongs to its context.
        unsafe {
            Ok(BasicValueEnum::new(LLVMBuildFreeze(
                self.builder.as_mut_ptr(),
                value.as_value_ref(),
                c"".as_ptr(),
            )))
        }
    }

    /// What was loaded, as it is held in registers: masks are bytes in memory.
    fn to_registers(&self, value: BasicValueEnum<'ctx>, ty: Ty) -> Result<BasicValueEnum<'ctx>, Bug> {
        match ty.dtype {
            DType::Bool => self.compare(Cmp::Ne, DType::Bool, value, value.get_type().const_zero()),
            _ => Ok(value),
        }
    }

    fn to_memory(&self, value: BasicValueEnum<'ctx>, ty: Ty) -> Result<BasicValueEnum<'ctx>, Bug> {
        let zext = inkwell::values::InstructionOpcode::ZExt;
        match ty.dtype {
            DType::Bool => Ok(self.builder.build_cast(zext, value, self.memory(ty), "")?),
            _ => Ok(value),
        }
    }

    /// The type of a value in memory.
    fn memory(&self, ty: Ty) -> BasicTypeEnum<'ctx> {
        match ty.dtype {
            DType::Bool => vector(self.context.i8_type().into(), ty.lanes),
            _ => self.lower(ty),
        }
    }

    /// The type of a masked access, which is a vector also of one lane.
    fn whole(&self, ty: Ty) -> BasicTypeEnum<'ctx> {
        match self.memory(ty) {
            BasicTypeEnum::IntType(scalar) => scalar.vec_type(1).into(),
            BasicTypeEnum::FloatType(scalar) => scalar.vec_type(1).into(),
            vector => vector,
        }
    }

    fn mask(&mut self, mask: Val, lanes: u32) -> Result<VectorValue<'ctx>, Bug> {
        let mask = self.operand(mask, lanes)?;
        Ok(self.widen(mask)?.into_vector_value())
    }

    /// A scalar as a vector of one lane; vectors as they are.
    pub(super) fn widen(&self, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>, Bug> {
        let poison = match value {
            BasicValueEnum::IntValue(scalar) => scalar.get_type().vec_type(1).get_poison(),
            BasicValueEnum::FloatValue(scalar) => scalar.get_type().vec_type(1).get_poison(),
            vector => return Ok(vector),
        };
        let zero = self.context.i32_type().const_zero();
        Ok(self.builder.build_insert_element(poison, value, zero, "")?.into())
    }

    /// The scalar of a vector of one lane.
    pub(super) fn narrow(&self, value: BasicValueEnum<'ctx>, ty: Ty) -> Result<BasicValueEnum<'ctx>, Bug> {
        if ty.lanes > 1 {
            return Ok(value);
        }
        let zero = self.context.i32_type().const_zero();
        Ok(self.builder.build_extract_element(value.into_vector_value(), zero, "")?)
    }

    pub(super) fn pointer(&self) -> BasicTypeEnum<'ctx> {
        self.context.ptr_type(AddressSpace::default()).as_basic_type_enum()
    }

    fn alignment(&self, dtype: DType) -> IntValue<'ctx> {
        self.context.i32_type().const_int(align(dtype).into(), false)
    }

    pub(super) fn buffer(&self, buf: Buf) -> &'k Buffer {
        let kernel = self.kernel;
        &kernel.buffers[buf.0 as usize]
    }
}

fn align(dtype: DType) -> u32 {
    dtype.size() as u32
}

fn instruction(value: BasicValueEnum) -> Result<InstructionValue, Bug> {
    value.as_instruction_value().ok_or_else(|| bug("an access is no instruction"))
}
