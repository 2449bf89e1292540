//! Scaling by powers of two: one instruction for each register with AVX-512, else two factors.

use inkwell::values::{BasicValueEnum, InstructionOpcode as Op};
use tensorjit_runtime::abi::DType;

use super::Emitter;
use crate::diag::Bug;
use crate::loops::Ty;

impl<'ctx> Emitter<'ctx, '_> {
    /// `a * 2^b`.
    pub(super) fn scale(
        &mut self,
        ty: Ty,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let bits = 8 * ty.dtype.size() as u32 * ty.lanes;
        if self.kernel.target.vector_bits < 512 || bits < 128 {
            return self.scale_by_factors(ty, a, b);
        }
        if bits <= 512 {
            return self.scale_in_register(ty, a, b);
        }
        // The instruction takes one register: each half by itself.
        let (a, b) = (a.into_vector_value(), b.into_vector_value());
        let half = Ty { lanes: ty.lanes / 2, ..ty };
        let mut scaled = Vec::with_capacity(2);
        for first in [0, half.lanes] {
            let lanes = first..first + half.lanes;
            let (a, b) = (self.pick(a, a, lanes.clone())?, self.pick(b, b, lanes)?);
            scaled.push(self.scale(half, a.into(), b.into())?.into_vector_value());
        }
        Ok(self.pick(scaled[0], scaled[1], 0..ty.lanes)?.into())
    }

    fn scale_in_register(
        &self,
        ty: Ty,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        // The rounding mode is the one that is set; only the widest form can say another.
        const CURRENT_DIRECTION: u64 = 4;
        let (name, wide) = match (ty.dtype, ty.lanes) {
            (DType::F32, 4) => ("llvm.x86.avx512.mask.scalef.ps.128", false),
            (DType::F32, 8) => ("llvm.x86.avx512.mask.scalef.ps.256", false),
            (DType::F32, _) => ("llvm.x86.avx512.mask.scalef.ps.512", true),
            (_, 2) => ("llvm.x86.avx512.mask.scalef.pd.128", false),
            (_, 4) => ("llvm.x86.avx512.mask.scalef.pd.256", false),
            (..) => ("llvm.x86.avx512.mask.scalef.pd.512", true),
        };
        let mask = if ty.lanes == 16 { self.context.i16_type() } else { self.context.i8_type() };
        let mut args = vec![a.into(), b.into(), a.into(), mask.const_all_ones().into()];
        if wide {
            args.push(self.context.i32_type().const_int(CURRENT_DIRECTION, false).into());
        }
        let function = self.declare(name, &[])?;
        let call = self.builder.build_call(function, &args, "")?;
        call.try_as_basic_value().basic().ok_or_else(|| super::bug(format!("{name} has no value")))
    }

    /// `a * 2^half * 2^(b - half)`: the first product is exact, and both factors are normal numbers.
    fn scale_by_factors(
        &self,
        ty: Ty,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let (int, width, bias) = match ty.dtype {
            DType::F32 => (DType::I32, 23_u32, 127_i64),
            _ => (DType::I64, 52, 1023),
        };
        let int = Ty { dtype: int, lanes: ty.lanes };
        let constant = |value: i64| {
            let scalar = self.scalar(int.dtype).into_int_type().const_int(value as u64, true);
            self.splat(scalar.into(), ty.lanes)
        };
        let binary = |op, a, b| self.builder.build_binop(op, a, b, "");
        // Added to a float of this size an integer stands in the low bits of the sum.
        let magic = 3.0 * 2.0_f64.powi(width as i32 - 1);
        let magic_bits = match ty.dtype {
            DType::F32 => i64::from((magic as f32).to_bits()),
            _ => magic.to_bits() as i64,
        };
        let magic = self.scalar(ty.dtype).into_float_type().const_float(magic);
        let sum = binary(Op::FAdd, b, self.splat(magic.into(), ty.lanes)?)?;
        let bits = self.builder.build_bit_cast(sum, self.lower(int), "")?;
        let both = binary(Op::Add, bits, constant(2 * bias - magic_bits)?)?;
        let first = binary(Op::LShr, both, constant(1)?)?;
        let second = binary(Op::Sub, both, first)?;
        let mut result = a;
        for exponent in [first, second] {
            let factor = binary(Op::Shl, exponent, constant(width.into())?)?;
            let factor = self.builder.build_bit_cast(factor, self.lower(ty), "")?;
            result = binary(Op::FMul, result, factor)?;
        }
        Ok(result)
    }
}
