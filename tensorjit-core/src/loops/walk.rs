//! What an instruction defines and what it names, without regard to what it does.

use super::{Block, Buf, For, Inst};
use crate::lanes::Val;

/// Gives values and buffers other names.
pub trait Rename {
    /// Renames a value.
    fn val(&mut self, val: &mut Val);
    /// Renames a buffer.
    fn buf(&mut self, buf: &mut Buf);
}

impl Inst {
    /// Calls `visit` with every value that it defines for what follows it.
    pub fn results(&self, visit: &mut dyn FnMut(Val)) {
        match self {
            Inst::Float(result, _) | Inst::Int(result, _) | Inst::Symbol(result, _) => visit(*result),
            Inst::Input(result, _) => visit(*result),
            Inst::Lanes(result) | Inst::Splat(result, _) | Inst::Prim(result, ..) => visit(*result),
            Inst::Half { result, .. }
            | Inst::Extract { result, .. }
            | Inst::Shuffle { result, .. }
            | Inst::Entry { result, .. }
            | Inst::Any { result, .. }
            | Inst::Address { result, .. }
            | Inst::Load { result, .. }
            | Inst::Gather { result, .. } => visit(*result),
            Inst::Store { .. } | Inst::Prefetch { .. } | Inst::Fence => {}
            Inst::Parallel(_) | Inst::Enter(_) | Inst::Call { .. } | Inst::Nest { .. } => {}
            Inst::For(body) => body.results.iter().copied().for_each(visit),
            Inst::If(branch) => branch.results.iter().copied().for_each(visit),
        }
    }

    /// Gives other names to all values and buffers in it, those of nested blocks included.
    pub fn rename(&mut self, names: &mut dyn Rename) {
        match self {
            Inst::Float(val, _) | Inst::Int(val, _) | Inst::Symbol(val, _) => names.val(val),
            Inst::Input(val, _) | Inst::Lanes(val) => names.val(val),
            Inst::Splat(result, of)
            | Inst::Half { result, vector: of, .. }
            | Inst::Extract { result, vector: of, .. }
            | Inst::Entry { result, index: of, .. }
            | Inst::Any { result, mask: of } => [result, of].into_iter().for_each(|val| names.val(val)),
            Inst::Shuffle { result, first, second, .. } => {
                [result, first, second].into_iter().for_each(|val| names.val(val));
            }
            Inst::Prim(result, _, args) => {
                names.val(result);
                args.iter_mut().for_each(|val| names.val(val));
            }
            Inst::Load { result, buf, offset: at, mask }
            | Inst::Gather { result, buf, offsets: at, mask } => {
                names.buf(buf);
                [result, at].into_iter().chain(mask).for_each(|val| names.val(val));
            }
            Inst::Address { result, buf } => {
                names.buf(buf);
                names.val(result);
            }
            Inst::Store { buf, offset, value, mask, .. } => {
                names.buf(buf);
                [offset, value].into_iter().chain(mask).for_each(|val| names.val(val));
            }
            Inst::Prefetch { buf, offset } => {
                names.buf(buf);
                names.val(offset);
            }
            Inst::For(body) => {
                let For { index, from, to, carried, initial, body, results, .. } = &mut **body;
                let lists = carried.iter_mut().chain(initial).chain(results);
                [index, from, to].into_iter().chain(lists).for_each(|val| names.val(val));
                body.rename(names);
            }
            Inst::If(branch) => {
                names.val(&mut branch.condition);
                branch.then.rename(names);
                branch.otherwise.rename(names);
                branch.results.iter_mut().for_each(|val| names.val(val));
            }
            Inst::Parallel(tasks) => {
                let vals = [&mut tasks.index, &mut tasks.count, &mut tasks.shared];
                vals.into_iter().for_each(|val| names.val(val));
                tasks.body.rename(names);
            }
            Inst::Enter(_) | Inst::Fence => {}
            Inst::Call { buffers, .. } => buffers.iter_mut().for_each(|buf| names.buf(buf)),
            Inst::Nest { buffers, values, .. } => {
                buffers.iter_mut().for_each(|buf| names.buf(buf));
                values.iter_mut().for_each(|val| names.val(val));
            }
        }
    }
}

impl Block {
    fn rename(&mut self, names: &mut dyn Rename) {
        self.insts.iter_mut().for_each(|inst| inst.rename(names));
        self.yields.iter_mut().for_each(|val| names.val(val));
    }
}
