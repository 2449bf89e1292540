//! Rewrites a loop whose cells become values.

use std::collections::{BTreeMap, BTreeSet};

use super::{At, Cell, Promoter};
use crate::lanes::{Prim, Val};
use crate::loops::walk::Rename;
use crate::loops::{Block, Buf, For, If, Inst, Ty};

/// A turn of the loop, as far as it has been rewritten.
pub(super) struct Turn<'p> {
    promoter: &'p mut Promoter,
    cells: BTreeMap<At, Cell>,
    /// What the cells hold at this point.
    held: BTreeMap<At, Val>,
    /// What cells held before they were given another value, in order.
    replaced: Vec<(At, Val)>,
    /// What stands instead of loads that are gone.
    names: BTreeMap<Val, Val>,
    /// The mask outside of which a value is zero, as what a load under it gives.
    cut: BTreeMap<Val, Val>,
    zeros: BTreeMap<Ty, Val>,
}

impl Turn<'_> {
    /// Rewrites a loop; what it needs goes to `before`.  Gives what follows it.
    pub(super) fn promote(
        promoter: &mut Promoter,
        cells: BTreeMap<At, Cell>,
        body: &mut For,
        before: &mut Vec<Inst>,
    ) -> Vec<Inst> {
        let (held, replaced, names, cut, zeros) = Default::default();
        let mut turn = Turn { promoter, cells, held, replaced, names, cut, zeros };
        let mut carried = Vec::new();
        for (at, Cell { buf, offset, mask, ty, fresh, stored }) in &turn.cells {
            if mask.is_some() && !turn.zeros.contains_key(ty) {
                let [zero, zeros] = [Ty { lanes: 1, ..*ty }, *ty].map(|ty| turn.promoter.define(ty));
                before.push(if ty.dtype.is_float() { Inst::Float(zero, 0.0) } else { Inst::Int(zero, 0) });
                before.push(Inst::Splat(zeros, zero));
                turn.zeros.insert(*ty, zeros);
            }
            if *fresh {
                continue;
            }
            let first = turn.promoter.define(*ty);
            before.push(Inst::Load { result: first, buf: *buf, offset: *offset, mask: *mask });
            turn.promoter.named[buf.0 as usize] += 1;
            let mut value = first;
            if *stored {
                value = turn.promoter.define(*ty);
                body.initial.push(first);
                body.carried.push(value);
                carried.push(*at);
            }
            turn.cut.extend(mask.map(|mask| (value, mask)));
            turn.held.insert(*at, value);
        }
        turn.block(&mut body.body);
        let mut behind = Vec::new();
        for at in carried {
            let Cell { buf, offset, mask, ty, .. } = &turn.cells[&at];
            let last = turn.promoter.define(*ty);
            body.body.yields.push(turn.held[&at]);
            body.results.push(last);
            behind.push(Inst::Store {
                buf: *buf,
                offset: *offset,
                value: last,
                mask: *mask,
                streamed: false,
            });
            turn.promoter.named[buf.0 as usize] += 1;
        }
        behind
    }

    fn block(&mut self, block: &mut Block) {
        for mut inst in std::mem::take(&mut block.insts) {
            inst.rename(self);
            match &mut inst {
                Inst::Load { result, buf, offset, .. } => {
                    if let Some(at) = self.cell(*buf, *offset) {
                        self.promoter.named[buf.0 as usize] -= 1;
                        self.names.insert(*result, self.held[&at]);
                        continue;
                    }
                }
                Inst::Store { buf, offset, value, .. } => {
                    if let Some(at) = self.cell(*buf, *offset) {
                        self.promoter.named[buf.0 as usize] -= 1;
                        let value = self.as_loaded(at, *value, &mut block.insts);
                        self.hold(at, value);
                        continue;
                    }
                }
                Inst::If(branch) => self.branch(branch),
                _ => {}
            }
            block.insts.push(inst);
        }
        block.yields.iter_mut().for_each(|val| self.val(val));
    }

    /// Has the sides of a branch yield what one of them stores.
    fn branch(&mut self, branch: &mut If) {
        let start = self.replaced.len();
        self.block(&mut branch.then);
        let then = self.back_to(start);
        self.block(&mut branch.otherwise);
        let otherwise = self.back_to(start);
        let stored: BTreeSet<At> = then.keys().chain(otherwise.keys()).copied().collect();
        for at in stored {
            let before = self.held[&at];
            let [then, otherwise] = [&then, &otherwise].map(|side| *side.get(&at).unwrap_or(&before));
            branch.then.yields.push(then);
            branch.otherwise.yields.push(otherwise);
            let value = self.promoter.define(self.cells[&at].ty);
            branch.results.push(value);
            self.cut.extend(self.cells[&at].mask.map(|mask| (value, mask)));
            self.hold(at, value);
        }
    }

    fn hold(&mut self, at: At, value: Val) {
        let before = self.held.insert(at, value);
        self.replaced.extend(before.map(|before| (at, before)));
    }

    /// Has cells hold what they did when so many had been replaced; gives what those held that were replaced since.
    fn back_to(&mut self, start: usize) -> BTreeMap<At, Val> {
        let mut last = BTreeMap::new();
        for (at, before) in self.replaced.drain(start..).rev() {
            if let Some(value) = self.held.insert(at, before) {
                last.entry(at).or_insert(value);
            }
        }
        last
    }

    /// The cell that an access is of.
    fn cell(&self, buf: Buf, offset: Val) -> Option<At> {
        self.promoter.at(buf, offset).filter(|at| self.cells.contains_key(at))
    }

    /// A value as a load gives it once it is stored.
    fn as_loaded(&mut self, at: At, value: Val, insts: &mut Vec<Inst>) -> Val {
        let Cell { mask, ty, .. } = &self.cells[&at];
        let Some(mask) = mask.filter(|mask| self.cut.get(&value) != Some(mask)) else { return value };
        let loaded = self.promoter.define(*ty);
        insts.push(Inst::Prim(loaded, Prim::Select, vec![mask, value, self.zeros[ty]]));
        self.cut.insert(loaded, mask);
        loaded
    }
}

impl Rename for Turn<'_> {
    fn val(&mut self, val: &mut Val) {
        if let Some(name) = self.names.get(val) {
            *val = *name;
        }
    }

    fn buf(&mut self, _: &mut Buf) {}
}
