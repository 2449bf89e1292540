//! What makes vectors, takes them apart, and crosses their lanes.

use inkwell::types::VectorType;
use inkwell::values::{BasicValueEnum, IntValue, VectorValue};

use super::{Emitter, bug, vector};
use crate::diag::Bug;
use crate::lanes::{ENTRIES, Val};
use crate::loops::Ty;

impl<'ctx> Emitter<'ctx, '_> {
    /// All lanes equal to a scalar.
    pub(super) fn splat(
        &self,
        scalar: BasicValueEnum<'ctx>,
        lanes: u32,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        if lanes == 1 {
            return Ok(scalar);
        }
        let ty = vector(scalar.get_type(), lanes).into_vector_type();
        let zero = self.context.i32_type().const_zero();
        let first = self.builder.build_insert_element(ty.get_poison(), scalar, zero, "")?;
        let selector = self.context.i32_type().vec_type(lanes).const_zero();
        Ok(self.builder.build_shuffle_vector(first, ty.get_poison(), selector, "")?.into())
    }

    pub(super) fn lanes(&self, ty: Ty) -> BasicValueEnum<'ctx> {
        let scalar = self.scalar(ty.dtype).into_int_type();
        let numbers: Vec<IntValue> =
            (0..u64::from(ty.lanes)).map(|lane| scalar.const_int(lane, false)).collect();
        match numbers.as_slice() {
            [number] => (*number).into(),
            numbers => VectorType::const_vector(numbers).into(),
        }
    }

    pub(super) fn half(&self, result: Val, whole: Val, high: bool) -> Result<BasicValueEnum<'ctx>, Bug> {
        let whole = self.value(whole)?.into_vector_value();
        let lanes = self.ty(result).lanes;
        let first = if high { lanes } else { 0 };
        let index = self.context.i32_type();
        if lanes == 1 {
            let lane = index.const_int(first.into(), false);
            return Ok(self.builder.build_extract_element(whole, lane, "")?);
        }
        Ok(self.pick(whole, whole.get_type().get_poison(), first..first + lanes)?.into())
    }

    pub(super) fn shuffle(
        &self,
        first: Val,
        second: Val,
        order: &[u32],
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let (first, second) =
            (self.value(first)?.into_vector_value(), self.value(second)?.into_vector_value());
        Ok(self.pick(first, second, order.iter().copied())?.into())
    }

    /// Lanes of two vectors; those of the second have the numbers after those of the first.
    pub(super) fn pick(
        &self,
        first: VectorValue<'ctx>,
        second: VectorValue<'ctx>,
        order: impl Iterator<Item = u32>,
    ) -> Result<VectorValue<'ctx>, Bug> {
        let index = self.context.i32_type();
        let order: Vec<IntValue> = order.map(|lane| index.const_int(lane.into(), false)).collect();
        Ok(self.builder.build_shuffle_vector(first, second, VectorType::const_vector(&order), "")?)
    }

    /// Entries of a table that fills a register; the instruction takes one register of numbers.
    pub(super) fn entry(
        &self,
        ty: Ty,
        table: &[f64; ENTRIES],
        index: Val,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let float = self.context.f32_type();
        let table: Vec<_> = table.iter().map(|value| float.const_float(*value)).collect();
        let table = VectorType::const_vector(&table);
        let function = self.declare("llvm.x86.avx512.permvar.sf.512", &[])?;
        let width = ENTRIES as u32;
        let look_up = |index: VectorValue<'ctx>| {
            let call = self.builder.build_call(function, &[table.into(), index.into()], "")?;
            let found = call.try_as_basic_value().basic();
            found.map(BasicValueEnum::into_vector_value).ok_or_else(|| bug("an entry has no value"))
        };
        let index = self.widen(self.value(index)?)?.into_vector_value();
        let mut parts = Vec::new();
        for first in (0..ty.lanes).step_by(ENTRIES) {
            // Lanes beyond the last repeat it.
            let lanes = (first..first + width).map(|lane| lane.min(ty.lanes - 1));
            parts.push(look_up(self.pick(index, index, lanes)?)?);
        }
        let mut lanes = width;
        while parts.len() > 1 {
            let pairs = parts.chunks(2).map(|pair| self.pick(pair[0], pair[1], 0..2 * lanes));
            parts = pairs.collect::<Result<_, Bug>>()?;
            lanes *= 2;
        }
        let found = if ty.lanes < lanes { self.pick(parts[0], parts[0], 0..ty.lanes)? } else { parts[0] };
        self.narrow(found.into(), ty)
    }

    pub(super) fn extract(&self, vector: Val, lane: u32) -> Result<BasicValueEnum<'ctx>, Bug> {
        match self.value(vector)? {
            BasicValueEnum::VectorValue(vector) => {
                let lane = self.context.i32_type().const_int(lane.into(), false);
                Ok(self.builder.build_extract_element(vector, lane, "")?)
            }
            scalar => Ok(scalar),
        }
    }

    pub(super) fn any(&mut self, mask: Val) -> Result<BasicValueEnum<'ctx>, Bug> {
        match self.value(mask)? {
            BasicValueEnum::VectorValue(vector) => {
                self.intrinsic("llvm.vector.reduce.or", self.ty(mask), &[vector.into()])
            }
            scalar => Ok(scalar),
        }
    }
}
