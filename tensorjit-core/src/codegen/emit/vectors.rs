//! What makes vectors, takes them apart, and crosses their lanes.

use inkwell::types::VectorType;
use inkwell::values::{BasicValueEnum, IntValue};

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
        let selector: Vec<IntValue> =
            (first..first + lanes).map(|lane| index.const_int(lane.into(), false)).collect();
        let selector = VectorType::const_vector(&selector);
        let poison = whole.get_type().get_poison();
        Ok(self.builder.build_shuffle_vector(whole, poison, selector, "")?.into())
    }

    pub(super) fn shuffle(
        &self,
        first: Val,
        second: Val,
        order: &[u32],
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let (first, second) = (self.value(first)?, self.value(second)?);
        let index = self.context.i32_type();
        let selector: Vec<IntValue> =
            order.iter().map(|lane| index.const_int((*lane).into(), false)).collect();
        let selector = VectorType::const_vector(&selector);
        let (first, second) = (first.into_vector_value(), second.into_vector_value());
        Ok(self.builder.build_shuffle_vector(first, second, selector, "")?.into())
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
