//! What makes vectors, takes them apart, and crosses their lanes.

use inkwell::types::VectorType;
use inkwell::values::{BasicValueEnum, IntValue, VectorValue};

use super::{Emitter, vector};
use crate::diag::Bug;
use crate::lanes::Val;
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
