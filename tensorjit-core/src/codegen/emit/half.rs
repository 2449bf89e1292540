//! Conversions between `f32` and the types of 16 bits, which are held as their bits: one instruction for `f16` where the
//! machine has it, else arithmetic on the bits.

use inkwell::values::{BasicValueEnum, InstructionOpcode as Op};
use tensorjit_runtime::abi::DType;

use super::{Emitter, vector};
use crate::diag::Bug;
use crate::lanes::Cmp;
use crate::loops::Ty;

/// The bits of infinity, of `f32`.
const INFINITY: i64 = 0x7f80_0000;

impl<'ctx> Emitter<'ctx, '_> {
    /// The `f32` of the same value.
    pub(super) fn widen_half(
        &self,
        from: DType,
        a: BasicValueEnum<'ctx>,
        lanes: u32,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let single = self.lower(Ty { dtype: DType::F32, lanes });
        if from == DType::F16 && self.converts_f16() {
            if self.exceeds_register(lanes) {
                return self.by_halves(a, lanes, |emit, a, lanes| emit.widen_half(from, a, lanes));
            }
            let half = vector(self.context.f16_type().into(), lanes);
            let half = self.builder.build_bit_cast(a, half, "")?;
            return Ok(self.builder.build_cast(Op::FPExt, half, single, "")?);
        }
        let bits = self.builder.build_cast(Op::ZExt, a, self.lower(word(lanes)), "")?;
        let wide = match from {
            DType::BF16 => self.by(Op::Shl, bits, 16, lanes)?,
            _ => self.widen_f16(bits, lanes)?,
        };
        Ok(self.builder.build_bit_cast(wide, single, "")?)
    }

    /// The bits of the nearest number of the type, of two the even one.
    pub(super) fn round_to_half(
        &self,
        to: DType,
        a: BasicValueEnum<'ctx>,
        lanes: u32,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let bits_of_half = self.lower(Ty { dtype: to, lanes });
        if to == DType::F16 && self.converts_f16() {
            if self.exceeds_register(lanes) {
                return self.by_halves(a, lanes, |emit, a, lanes| emit.round_to_half(to, a, lanes));
            }
            let half = vector(self.context.f16_type().into(), lanes);
            let half = self.builder.build_cast(Op::FPTrunc, a, half, "")?;
            return Ok(self.builder.build_bit_cast(half, bits_of_half, "")?);
        }
        let bits = self.builder.build_bit_cast(a, self.lower(word(lanes)), "")?;
        let rounded = match to {
            DType::BF16 => self.round_to_bf16(a, bits, lanes)?,
            _ => self.round_to_f16(bits, lanes)?,
        };
        Ok(self.builder.build_cast(Op::Trunc, rounded, bits_of_half, "")?)
    }

    /// Whether there are instructions for `f16`: F16C, which every x86-64 with FMA has, or those of every aarch64.
    fn converts_f16(&self) -> bool {
        self.kernel.target.fma
    }

    /// Whether as many `f32` take several registers: LLVM takes conversions of such vectors apart into single lanes.
    fn exceeds_register(&self, lanes: u32) -> bool {
        32 * lanes > self.kernel.target.vector_bits
    }

    /// What `convert` makes of each half of the lanes.
    fn by_halves(
        &self,
        a: BasicValueEnum<'ctx>,
        lanes: u32,
        convert: impl Fn(&Self, BasicValueEnum<'ctx>, u32) -> Result<BasicValueEnum<'ctx>, Bug>,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let (a, half) = (a.into_vector_value(), lanes / 2);
        let mut converted = Vec::with_capacity(2);
        for first in [0, half] {
            let part = self.pick(a, a, first..first + half)?;
            converted.push(convert(self, part.into(), half)?.into_vector_value());
        }
        Ok(self.pick(converted[0], converted[1], 0..lanes)?.into())
    }

    /// Exponent and fraction move to their places, and the exponent from one bias to the other.
    fn widen_f16(&self, bits: BasicValueEnum<'ctx>, lanes: u32) -> Result<BasicValueEnum<'ctx>, Bug> {
        let magnitude = self.by(Op::And, bits, 0x7fff, lanes)?;
        let moved = self.by(Op::Shl, magnitude, 13, lanes)?;
        let normal = self.by(Op::Add, moved, (127 - 15) << 23, lanes)?;
        // Infinity and NaN have the greatest exponent in both types.
        let special = self.by(Op::Add, moved, (255 - 31) << 23, lanes)?;
        let is_special = self.compare_to(Cmp::Ge, magnitude, 0x7c00, lanes)?;
        let large = self.select(is_special, special, normal)?;
        // A subnormal number is the fraction of one with the least exponent, less the 1 before its point.
        let single = self.lower(Ty { dtype: DType::F32, lanes });
        let least = self.word(113 << 23, lanes)?;
        let with_one = self.by(Op::Add, moved, 113 << 23, lanes)?;
        let with_one = self.builder.build_bit_cast(with_one, single, "")?;
        let one = self.builder.build_bit_cast(least, single, "")?;
        let small = self.builder.build_binop(Op::FSub, with_one, one, "")?;
        let small = self.builder.build_bit_cast(small, self.lower(word(lanes)), "")?;
        let is_small = self.compare_to(Cmp::Lt, magnitude, 0x0400, lanes)?;
        let found = self.select(is_small, small, large)?;
        let sign = self.by(Op::And, bits, 0x8000, lanes)?;
        let sign = self.by(Op::Shl, sign, 16, lanes)?;
        Ok(self.builder.build_binop(Op::Or, found, sign, "")?)
    }

    fn round_to_f16(&self, bits: BasicValueEnum<'ctx>, lanes: u32) -> Result<BasicValueEnum<'ctx>, Bug> {
        let magnitude = self.by(Op::And, bits, 0x7fff_ffff, lanes)?;
        // The odd bit that remains decides a tie; what is carried out of the fraction raises the exponent, up to infinity.
        let odd = self.by(Op::LShr, magnitude, 13, lanes)?;
        let odd = self.by(Op::And, odd, 1, lanes)?;
        let biased = self.by(Op::Add, magnitude, ((15 - 127) << 23) + 0xfff, lanes)?;
        let raised = self.builder.build_binop(Op::Add, biased, odd, "")?;
        let normal = self.by(Op::LShr, raised, 13, lanes)?;
        // Added to a number whose last bit is the least of `f16`, a small one is rounded to that bit.
        let single = self.lower(Ty { dtype: DType::F32, lanes });
        let magic = ((127 - 15) + (23 - 10) + 1) << 23;
        let addend = self.builder.build_bit_cast(self.word(magic, lanes)?, single, "")?;
        let number = self.builder.build_bit_cast(magnitude, single, "")?;
        let sum = self.builder.build_binop(Op::FAdd, number, addend, "")?;
        let sum = self.builder.build_bit_cast(sum, self.lower(word(lanes)), "")?;
        let small = self.by(Op::Sub, sum, magic, lanes)?;
        let is_small = self.compare_to(Cmp::Lt, magnitude, 113 << 23, lanes)?;
        let finite = self.select(is_small, small, normal)?;
        let is_large = self.compare_to(Cmp::Ge, magnitude, (127 + 16) << 23, lanes)?;
        let is_nan = self.compare_to(Cmp::Gt, magnitude, INFINITY, lanes)?;
        let special = self.select(is_nan, self.word(0x7e00, lanes)?, self.word(0x7c00, lanes)?)?;
        let found = self.select(is_large, special, finite)?;
        let sign = self.by(Op::LShr, bits, 16, lanes)?;
        let sign = self.by(Op::And, sign, 0x8000, lanes)?;
        Ok(self.builder.build_binop(Op::Or, found, sign, "")?)
    }

    fn round_to_bf16(
        &self,
        a: BasicValueEnum<'ctx>,
        bits: BasicValueEnum<'ctx>,
        lanes: u32,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let odd = self.by(Op::LShr, bits, 16, lanes)?;
        let odd = self.by(Op::And, odd, 1, lanes)?;
        let biased = self.by(Op::Add, bits, 0x7fff, lanes)?;
        let raised = self.builder.build_binop(Op::Add, biased, odd, "")?;
        // The carry of a NaN might make it another number.
        let quiet = self.by(Op::Or, bits, 0x0040_0000, lanes)?;
        let is_nan = self.compare(Cmp::Ne, DType::F32, a, a)?;
        let found = self.select(is_nan, quiet, raised)?;
        self.by(Op::LShr, found, 16, lanes)
    }

    /// An operation with a constant.
    fn by(
        &self,
        op: Op,
        a: BasicValueEnum<'ctx>,
        constant: i64,
        lanes: u32,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        Ok(self.builder.build_binop(op, a, self.word(constant, lanes)?, "")?)
    }

    fn word(&self, value: i64, lanes: u32) -> Result<BasicValueEnum<'ctx>, Bug> {
        let scalar = self.context.i32_type().const_int(value as u32 as u64, false);
        self.splat(scalar.into(), lanes)
    }

    /// A comparison of magnitudes with a constant.
    fn compare_to(
        &self,
        cmp: Cmp,
        a: BasicValueEnum<'ctx>,
        constant: i64,
        lanes: u32,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        self.compare(cmp, word(lanes).dtype, a, self.word(constant, lanes)?)
    }
}

/// The type of the bits of `f32`.
fn word(lanes: u32) -> Ty {
    Ty { dtype: DType::U32, lanes }
}
