//! Lane-wise operations as instructions of LLVM.

use inkwell::values::{BasicValueEnum, InstructionOpcode as Op};
use inkwell::{FloatPredicate, IntPredicate};
use tensorjit_runtime::abi::DType;

use super::Emitter;
use crate::diag::Bug;
use crate::lanes::{Cmp, Prim, Val};
use crate::loops::Ty;

impl<'ctx> Emitter<'ctx, '_> {
    pub(super) fn prim(&mut self, ty: Ty, prim: Prim, args: &[Val]) -> Result<BasicValueEnum<'ctx>, Bug> {
        let mut operands = [self.operand(args[0], ty.lanes)?; 3];
        for (operand, arg) in operands.iter_mut().zip(args).skip(1) {
            *operand = self.operand(*arg, ty.lanes)?;
        }
        let [a, b, c] = operands;
        let source = self.ty(args[0]).dtype;
        let pick = |float, int| if source.is_float() { float } else { int };
        let opcode = match prim {
            Prim::Add => pick(Op::FAdd, Op::Add),
            Prim::Sub => pick(Op::FSub, Op::Sub),
            Prim::Mul => pick(Op::FMul, Op::Mul),
            Prim::FDiv => Op::FDiv,
            Prim::And => Op::And,
            Prim::Or => Op::Or,
            Prim::Xor => Op::Xor,
            Prim::Shl => Op::Shl,
            Prim::LShr => Op::LShr,
            Prim::AShr => Op::AShr,
            Prim::IDiv if source.is_unsigned() => Op::UDiv,
            Prim::IDiv => Op::SDiv,
            Prim::IRem if source.is_unsigned() => Op::URem,
            Prim::IRem => Op::SRem,
            Prim::Fma if self.kernel.target.fma => {
                return self.intrinsic("llvm.fma", ty, &[a.into(), b.into(), c.into()]);
            }
            Prim::Fma => {
                let product = self.builder.build_binop(Op::FMul, a, b, "")?;
                return Ok(self.builder.build_binop(Op::FAdd, product, c, "")?);
            }
            Prim::FNeg => return self.negate(a),
            Prim::FAbs => return self.intrinsic("llvm.fabs", ty, &[a.into()]),
            Prim::Sqrt => return self.intrinsic("llvm.sqrt", ty, &[a.into()]),
            Prim::Floor => return self.intrinsic("llvm.floor", ty, &[a.into()]),
            Prim::Ceil => return self.intrinsic("llvm.ceil", ty, &[a.into()]),
            Prim::Trunc => return self.intrinsic("llvm.trunc", ty, &[a.into()]),
            Prim::RoundEven => return self.intrinsic("llvm.roundeven", ty, &[a.into()]),
            Prim::Scale => return self.scale(ty, a, b),
            Prim::Cmp(cmp) => return self.compare(cmp, source, a, b),
            Prim::Select => return self.select(a, b, c),
            Prim::Bitcast(_) => return Ok(self.builder.build_bit_cast(a, self.lower(ty), "")?),
            Prim::Convert(_) => return self.convert(a, source, ty),
        };
        Ok(self.builder.build_binop(opcode, a, b, "")?)
    }

    fn negate(&self, a: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>, Bug> {
        Ok(match a {
            BasicValueEnum::VectorValue(a) => self.builder.build_float_neg(a, "")?.into(),
            a => self.builder.build_float_neg(a.into_float_value(), "")?.into(),
        })
    }

    pub(super) fn select(
        &self,
        mask: BasicValueEnum<'ctx>,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        Ok(match mask {
            BasicValueEnum::VectorValue(mask) => self.builder.build_select(mask, a, b, "")?,
            mask => self.builder.build_select(mask.into_int_value(), a, b, "")?,
        })
    }

    pub(super) fn compare(
        &self,
        cmp: Cmp,
        source: DType,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, Bug> {
        let builder = &self.builder;
        if source.is_float() {
            let predicate = match cmp {
                Cmp::Eq => FloatPredicate::OEQ,
                Cmp::Ne => FloatPredicate::UNE,
                Cmp::Lt => FloatPredicate::OLT,
                Cmp::Le => FloatPredicate::OLE,
                Cmp::Gt => FloatPredicate::OGT,
                Cmp::Ge => FloatPredicate::OGE,
            };
            return Ok(match (a, b) {
                (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) => {
                    builder.build_float_compare(predicate, a, b, "")?.into()
                }
                (a, b) => builder
                    .build_float_compare(predicate, a.into_float_value(), b.into_float_value(), "")?
                    .into(),
            });
        }
        let predicate = match (cmp, source.is_unsigned()) {
            (Cmp::Eq, _) => IntPredicate::EQ,
            (Cmp::Ne, _) => IntPredicate::NE,
            (Cmp::Lt, false) => IntPredicate::SLT,
            (Cmp::Le, false) => IntPredicate::SLE,
            (Cmp::Gt, false) => IntPredicate::SGT,
            (Cmp::Ge, false) => IntPredicate::SGE,
            (Cmp::Lt, true) => IntPredicate::ULT,
            (Cmp::Le, true) => IntPredicate::ULE,
            (Cmp::Gt, true) => IntPredicate::UGT,
            (Cmp::Ge, true) => IntPredicate::UGE,
        };
        Ok(match (a, b) {
            (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) => {
                builder.build_int_compare(predicate, a, b, "")?.into()
            }
            (a, b) => {
                builder.build_int_compare(predicate, a.into_int_value(), b.into_int_value(), "")?.into()
            }
        })
    }

    /// A numeric conversion of `a` to `ty`; to `Bool` it asks whether the number differs from zero.
    fn convert(&self, a: BasicValueEnum<'ctx>, source: DType, ty: Ty) -> Result<BasicValueEnum<'ctx>, Bug> {
        let target = self.lower(ty);
        let wider = ty.dtype.size() > source.size();
        let opcode = match (source, ty.dtype) {
            (from, to) if from == to => return Ok(a),
            (from, _) if from.is_half() => return self.widen_half(from, a, ty.lanes),
            (_, to) if to.is_half() => return self.round_to_half(to, a, ty.lanes),
            (_, DType::Bool) => return self.compare(Cmp::Ne, source, a, a.get_type().const_zero()),
            (DType::Bool, to) if to.is_float() => {
                let one = self.scalar(to).into_float_type().const_float(1.0);
                let one = self.splat(one.into(), ty.lanes)?;
                return self.select(a, one, target.const_zero());
            }
            (DType::Bool, _) => Op::ZExt,
            (from, to) if from.is_int() && to.is_int() && from.size() == to.size() => return Ok(a),
            (from, to) => match (from.is_float(), to.is_float(), wider) {
                (false, false, true) if from.is_unsigned() => Op::ZExt,
                (false, false, true) => Op::SExt,
                (false, false, false) => Op::Trunc,
                (false, true, _) if from.is_unsigned() => Op::UIToFP,
                (false, true, _) => Op::SIToFP,
                (true, true, true) => Op::FPExt,
                (true, true, false) => Op::FPTrunc,
                (true, false, _) => {
                    // Out of range LLVM's result is poison, which spoils even what does not depend on it;
                    // frozen it is some number.
                    let opcode = if to.is_unsigned() { Op::FPToUI } else { Op::FPToSI };
                    return self.freeze(self.builder.build_cast(opcode, a, target, "")?);
                }
            },
        };
        Ok(self.builder.build_cast(opcode, a, target, "")?)
    }
}
