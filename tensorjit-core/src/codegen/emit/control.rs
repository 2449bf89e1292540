//! Loops and branches as basic blocks, and the values that join where these meet.

use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValueEnum, IntValue, PhiValue};

use super::Emitter;
use crate::codegen::bug;
use crate::diag::Bug;
use crate::lanes::Val;
use crate::loops::{For, If, Inst};

impl<'ctx, 'k> Emitter<'ctx, 'k> {
    /// The loop with its test at the end, behind a test whether it runs at all.
    pub(super) fn counted(&mut self, body: &'k For) -> Result<(), Bug> {
        let from = self.value(body.from)?.into_int_value();
        let to = self.value(body.to)?.into_int_value();
        let before = self.current()?;
        let turn = self.context.append_basic_block(self.function, "");
        let after = self.context.append_basic_block(self.function, "");
        let runs = self.builder.build_int_compare(IntPredicate::SLT, from, to, "")?;
        let always = runs.get_zero_extended_constant() == Some(1);
        if always {
            self.builder.build_unconditional_branch(turn)?;
        } else {
            self.builder.build_conditional_branch(runs, turn, after)?;
        }

        let initial = self.fitted(&body.initial, &body.carried)?;
        self.builder.position_at_end(turn);
        let index = self.phi(body.index)?;
        let carried = self.phis(&body.carried)?;
        index.add_incoming(&[(&from, before)]);
        if body.body.insts.iter().any(has_loop) {
            let opaque = self.opaque(index.as_basic_value().into_int_value())?;
            self.define(body.index, opaque.into());
        }
        self.block(&body.body)?;
        let step = self.context.i64_type().const_int(body.step as u64, false);
        let next = self.builder.build_int_nsw_add(index.as_basic_value().into_int_value(), step, "")?;
        let yields = self.fitted(&body.body.yields, &body.carried)?;
        let last = self.current()?;
        index.add_incoming(&[(&next, last)]);
        for ((phi, initial), next) in carried.iter().zip(&initial).zip(&yields) {
            phi.add_incoming(&[(initial, before), (next, last)]);
        }
        let mut again = self.builder.build_int_compare(IntPredicate::SLT, next, to, "")?;
        if let (true, Some(goes_on)) = (body.conditional, yields.first()) {
            again = self.builder.build_and(again, goes_on.into_int_value(), "")?;
        }
        self.builder.build_conditional_branch(again, turn, after)?;

        self.builder.position_at_end(after);
        let results = self.phis(&body.results)?;
        for ((phi, initial), next) in results.iter().zip(&initial).zip(&yields) {
            phi.add_incoming(&[(next, last)]);
            if !always {
                phi.add_incoming(&[(initial, before)]);
            }
        }
        Ok(())
    }

    /// An index of which LLVM knows nothing.
    ///
    /// Its strength reduction weighs every address in a loop anew for each loop around it, which takes longer than all
    /// else but instruction selection.  Only in innermost loops is the code better for it.
    fn opaque(&self, index: IntValue<'ctx>) -> Result<IntValue<'ctx>, Bug> {
        let ty = index.get_type().fn_type(&[index.get_type().into()], false);
        let nothing = self.context.create_inline_asm(ty, "".into(), "=r,0".into(), false, false, None, false);
        let call = self.builder.build_indirect_call(ty, nothing, &[index.into()], "")?;
        let value = call.try_as_basic_value().basic().ok_or_else(|| bug("an index has no value"))?;
        Ok(value.into_int_value())
    }

    pub(super) fn branch(&mut self, branch: &'k If) -> Result<(), Bug> {
        let condition = self.value(branch.condition)?.into_int_value();
        let then = self.context.append_basic_block(self.function, "");
        let otherwise = self.context.append_basic_block(self.function, "");
        let after = self.context.append_basic_block(self.function, "");
        let choice = self.builder.build_conditional_branch(condition, then, otherwise)?;
        let rare = Self::is_rare(&branch.then);
        if rare {
            self.mark_rare(choice)?;
        }
        let mut ends = Vec::with_capacity(2);
        for (start, block, rare) in [(then, &branch.then, rare), (otherwise, &branch.otherwise, false)] {
            self.builder.position_at_end(start);
            let yields = if rare {
                self.rare(block, &branch.results)?
            } else {
                self.block(block)?;
                self.fitted(&block.yields, &branch.results)?
            };
            ends.push((yields, self.current()?));
            self.builder.build_unconditional_branch(after)?;
        }
        self.builder.position_at_end(after);
        for (position, phi) in self.phis(&branch.results)?.into_iter().enumerate() {
            for (yields, end) in &ends {
                phi.add_incoming(&[(&yields[position], *end)]);
            }
        }
        Ok(())
    }

    fn phis(&mut self, results: &[Val]) -> Result<Vec<PhiValue<'ctx>>, Bug> {
        results.iter().map(|result| self.phi(*result)).collect()
    }

    /// A phi without incoming values, which is what `result` becomes.
    fn phi(&mut self, result: Val) -> Result<PhiValue<'ctx>, Bug> {
        let phi = self.builder.build_phi(self.lower(self.ty(result)), "")?;
        self.define(result, phi.as_basic_value());
        Ok(phi)
    }

    /// `vals` as the types of `targets`, which they fit.
    pub(super) fn fitted(&mut self, vals: &[Val], targets: &[Val]) -> Result<Vec<BasicValueEnum<'ctx>>, Bug> {
        vals.iter().zip(targets).map(|(val, target)| self.operand(*val, self.ty(*target).lanes)).collect()
    }

    fn current(&self) -> Result<BasicBlock<'ctx>, Bug> {
        self.builder.get_insert_block().ok_or_else(|| bug("no block is open"))
    }
}

/// Whether an instruction is or has a loop.
fn has_loop(inst: &Inst) -> bool {
    matches!(inst, Inst::For(_)) || inst.blocks().flat_map(|block| &block.insts).any(has_loop)
}
