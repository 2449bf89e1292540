//! Calls of the parts of a function.

use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::values::FunctionValue;

use super::{Emitter, signature};
use crate::codegen::bug;
use crate::diag::Bug;
use crate::loops::split::part_symbol;
use crate::loops::{Buf, Place};

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
