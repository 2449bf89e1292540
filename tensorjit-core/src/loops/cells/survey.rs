//! Looks for cells in the body of a loop.

use std::collections::{BTreeMap, BTreeSet};

use tensorjit_runtime::abi::DType;

use super::{At, Cell, Promoter, buffers_of};
use crate::lanes::Val;
use crate::loops::{Block, Buf, For, Inst, Ty};

/// Looks for cells in the body of a loop.
pub(super) struct Survey<'p> {
    of: &'p Promoter,
    /// What the loop defines.
    defined: BTreeSet<Val>,
    pub(super) cells: BTreeMap<At, Cell>,
    /// Places that are used in another way too.
    pub(super) spoiled: BTreeSet<usize>,
    /// How often the loop names a buffer.
    pub(super) named: BTreeMap<Buf, usize>,
}

impl<'p> Survey<'p> {
    pub(super) fn of(of: &'p Promoter, body: &For) -> Survey<'p> {
        let defined = body.carried.iter().copied().collect();
        let (spoiled, cells, named) = Default::default();
        Survey { of, defined, cells, spoiled, named }
    }

    /// Surveys a block; `always` says that each turn runs it.
    pub(super) fn block(&mut self, block: &Block, always: bool) {
        for inst in &block.insts {
            inst.results(&mut |val| {
                self.defined.insert(val);
            });
            match inst {
                Inst::Load { result, buf, offset, mask } => {
                    self.access((*buf, *offset, *mask), *result, None);
                }
                Inst::Store { buf, offset, value, mask, streamed: false } => {
                    self.access((*buf, *offset, *mask), *value, Some(always));
                }
                Inst::If(branch) => {
                    self.block(&branch.then, false);
                    self.block(&branch.otherwise, false);
                }
                inst => buffers_of(inst, &mut |buf| {
                    *self.named.entry(buf).or_default() += 1;
                    self.spoiled.insert(self.of.places[buf.0 as usize]);
                }),
            }
        }
    }

    /// An access of `value`; `store` says whether each turn runs it, where it is a store.
    fn access(&mut self, (buf, offset, mask): (Buf, Val, Option<Val>), value: Val, store: Option<bool>) {
        *self.named.entry(buf).or_default() += 1;
        let (place, ty) = (self.of.places[buf.0 as usize], self.of.types[value.0 as usize]);
        // The mask has to be that of all turns; no mask of masks is kept.
        let is_fixed = mask.is_none_or(|mask| ty.dtype != DType::Bool && !self.defined.contains(&mask));
        let Some(at) = self.of.at(buf, offset).filter(|_| is_fixed) else {
            self.spoiled.insert(place);
            return;
        };
        if let Some(known) = self.cells.get_mut(&at) {
            known.stored |= store.is_some();
            if (known.mask, known.ty) != (mask, ty) {
                self.spoiled.insert(place);
            }
            return;
        }
        let end = |(_, byte): At, ty: Ty| byte.saturating_add(i64::from(ty.lanes) * ty.dtype.size() as i64);
        // Cells do not overlap, so that it is enough to look at the last before the end of this one.
        let before = self.cells.range((place, i64::MIN)..(place, end(at, ty))).next_back();
        if before.is_some_and(|(other, cell)| end(*other, cell.ty) > at.1) {
            self.spoiled.insert(place);
            return;
        }
        let (fresh, stored) = (store == Some(true), store.is_some());
        self.cells.insert(at, Cell { buf, offset, mask, ty, fresh, stored });
    }
}
