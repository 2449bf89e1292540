//! Calls of the parts of a function.

use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::values::{BasicValue, BasicValueEnum, FunctionValue};

use super::{Emitter, signature};
use crate::codegen::bug;
use crate::diag::Bug;
use crate::lanes::Val;
use crate::loops::split::part_symbol;
use crate::loops::{Buf, Place, Ty};

impl<'ctx> Emitter<'ctx, '_> {
    /// Calls a part with the addresses of its buffers in the place of the arguments.
    pub(super) fn call(&mut self, part: u32, buffers: &[Buf]) -> Result<(), Bug> {
        let pointer = self.context.ptr_type(AddressSpace::default());
        let count = u32::try_from(buffers.len()).map_err(|_| bug("a part with too many buffers"))?;
        // Each call has a list of its own: what a part takes from it does not change while it runs.
        let list = self.builder.build_alloca(pointer.array_type(count), "")?;
        for (number, buf) in (0..).zip(buffers) {
            // A part has a stack of its own.
            if matches!(self.buffer(*buf).place, Place::Stack(_)) {
                continue;
            }
            let base = self.base(*buf)?;
            let place = self.element(pointer.into(), list, self.index(number))?;
            self.builder.build_store(place, base)?;
        }
        let function = self.part(part)?;
        let args = [list, self.dims, self.arena, self.host].map(Into::into);
        self.builder.build_call(function, &args, "")?;
        Ok(())
    }

    /// Runs a part on buffers and scalars: these stand in its list behind the addresses.
    pub(super) fn run_nest(&mut self, part: u32, buffers: &[Buf], values: &[Val]) -> Result<(), Bug> {
        let pointer = self.pointer();
        let count = u32::try_from(buffers.len() + values.len());
        let count = count.map_err(|_| bug("a nest with too many buffers"))?;
        let list = self.alloca(self.context.ptr_type(AddressSpace::default()).array_type(count))?;
        let mut entries = Vec::with_capacity(buffers.len() + values.len());
        for buf in buffers {
            // A nest has a stack of its own.
            let is_given = !matches!(self.buffer(*buf).place, Place::Stack(_));
            entries.push(if is_given { Some(self.base(*buf)?.into()) } else { None });
        }
        for val in values {
            entries.push(Some(self.value(*val)?));
        }
        for (entry, number) in entries.into_iter().zip(0..) {
            let Some(entry) = entry else { continue };
            let place = self.element(pointer, list, self.index(number))?;
            self.builder.build_store(place, entry)?;
        }
        // A nest has no tasks, and no buffers but those of the list.
        let nothing = self.context.ptr_type(AddressSpace::default()).const_null();
        let args = [list, self.dims, nothing, nothing].map(Into::into);
        self.builder.build_call(self.part(part)?, &args, "")?;
        Ok(())
    }

    /// A scalar that was handed over.
    pub(super) fn input(&self, ty: Ty, number: u32) -> Result<BasicValueEnum<'ctx>, Bug> {
        let place = self.index(self.kernel.buffers.len() as i64 + i64::from(number));
        let address = self.element(self.pointer(), self.args, place)?;
        let value = self.builder.build_load(self.lower(ty), address, "")?;
        self.mark_invariant(value.as_instruction_value())?;
        Ok(value)
    }

    /// Calls a part with the parameters of this function.
    pub(super) fn enter(&mut self, part: u32) -> Result<(), Bug> {
        let args = [self.args, self.dims, self.arena, self.host].map(Into::into);
        self.builder.build_call(self.part(part)?, &args, "")?;
        Ok(())
    }

    /// The function of a part, which another object may hold.
    fn part(&self, part: u32) -> Result<FunctionValue<'ctx>, Bug> {
        let symbol = part_symbol(self.symbol, part);
        if let Some(function) = self.module.get_function(&symbol) {
            return Ok(function);
        }
        let function = self.module.add_function(&symbol, signature(&self.context), Some(Linkage::External));
        function.as_global_value().set_visibility(inkwell::GlobalVisibility::Hidden);
        super::attributes(&self.context, function, &self.kernel.target);
        Ok(function)
    }
}
