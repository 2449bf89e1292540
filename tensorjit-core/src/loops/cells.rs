//! Keeps in registers what the turns of a loop hand on through memory.
//!
//! A cell is a scalar or a vector that a loop reads and writes at one constant offset, in memory that it uses in no
//! other way.  It becomes a value that the loop carries, loaded before it and stored behind it.  The carries of a scan
//! are cells, and so is what its step puts down between nests.

use std::collections::{BTreeMap, BTreeSet};

use tensorjit_runtime::abi::DType;

use super::walk::Rename;
use super::{Block, Buf, For, Inst, Kernel, Place, Ty};
use crate::lanes::{Prim, Val};

/// The kernel with the cells of its loops in registers.
pub fn promote(kernel: Kernel) -> Kernel {
    let Kernel { target, buffers, types, mut body } = kernel;
    let mut numbers: BTreeMap<&Place, usize> = BTreeMap::new();
    let mut places = Vec::with_capacity(buffers.len());
    for buffer in &buffers {
        let next = numbers.len();
        places.push(*numbers.entry(&buffer.place).or_insert(next));
    }
    let ints = body.insts.iter().filter_map(|inst| match inst {
        Inst::Int(val, value) => Some((*val, *value)),
        _ => None,
    });
    let ints = ints.collect();
    let mut named = vec![0; buffers.len()];
    body.insts.iter().for_each(|inst| buffers_of(inst, &mut |buf| named[buf.0 as usize] += 1));
    let memories = buffers.iter().map(|buffer| match buffer.place {
        Place::Arena(_) | Place::Arg(_) => Some(buffer.dtype),
        Place::Given { .. } | Place::Stack(_) => None,
    });
    let memories = memories.collect();
    let mut promoter = Promoter { places, memories, types, ints, named };
    promoter.block(&mut body);
    Kernel { types: promoter.types, target, buffers, body }
}

/// Calls `visit` with every buffer that an instruction names, as often as it does.
fn buffers_of(inst: &Inst, visit: &mut dyn FnMut(Buf)) {
    match inst {
        Inst::Load { buf, .. } | Inst::Gather { buf, .. } | Inst::Store { buf, .. } => visit(*buf),
        Inst::Call { buffers, .. } => buffers.iter().for_each(|buf| visit(*buf)),
        _ => {}
    }
    inst.blocks().flat_map(|block| &block.insts).for_each(|inst| buffers_of(inst, visit));
}

struct Promoter {
    /// The number of each buffer's place.
    places: Vec<usize>,
    /// What each buffer holds, where cells can be.
    memories: Vec<Option<DType>>,
    types: Vec<Ty>,
    /// The integer constants of the outermost block.
    ints: BTreeMap<Val, i64>,
    /// How often the kernel names each buffer.
    named: Vec<usize>,
}

impl Promoter {
    /// Promotes the cells of all loops in a block, those of inner loops first.
    fn block(&mut self, block: &mut Block) {
        for mut inst in std::mem::take(&mut block.insts) {
            let mut behind = Vec::new();
            match &mut inst {
                Inst::For(body) => {
                    self.block(&mut body.body);
                    let cells = self.cells(body);
                    if !cells.is_empty() {
                        behind = Turn::promote(self, cells, body, &mut block.insts);
                    }
                }
                Inst::If(branch) => {
                    self.block(&mut branch.then);
                    self.block(&mut branch.otherwise);
                }
                Inst::Parallel(tasks) => self.block(&mut tasks.body),
                _ => {}
            }
            block.insts.push(inst);
            block.insts.extend(behind);
        }
    }

    fn define(&mut self, ty: Ty) -> Val {
        self.types.push(ty);
        Val(self.types.len() as u32 - 1)
    }

    /// The cells of a loop, in places of which it stores one at least.
    fn cells(&self, body: &For) -> BTreeMap<At, Cell> {
        let mut survey = Survey::of(self);
        survey.block(&body.body, true);
        let Survey { mut cells, spoiled, mut named, .. } = survey;
        named.retain(|buf, times| *times < self.named[buf.0 as usize]);
        let outside: BTreeSet<usize> = named.keys().map(|buf| self.places[buf.0 as usize]).collect();
        let stored = cells.iter().filter(|(_, cell)| cell.stored).map(|((place, _), _)| *place);
        let stored: BTreeSet<usize> = stored.collect();
        cells.retain(|(place, _), _| !spoiled.contains(place) && stored.contains(place));
        cells.iter_mut().for_each(|((place, _), cell)| cell.fresh &= !outside.contains(place));
        cells
    }
}

/// Where a cell is: in the place of this number, at this element.
type At = (usize, i64);

/// How a loop uses a cell.
struct Cell {
    buf: Buf,
    offset: Val,
    mask: Option<Val>,
    ty: Ty,
    /// Whether each turn begins with storing it, and nobody but this turn reads that.
    fresh: bool,
    stored: bool,
}

/// Looks for cells in the body of a loop.
struct Survey<'p> {
    of: &'p Promoter,
    /// What the loop defines.
    defined: BTreeSet<Val>,
    cells: BTreeMap<At, Cell>,
    /// Places that are used in another way too.
    spoiled: BTreeSet<usize>,
    /// How often the loop names a buffer.
    named: BTreeMap<Buf, usize>,
}

impl<'p> Survey<'p> {
    fn of(of: &'p Promoter) -> Survey<'p> {
        let (defined, spoiled, cells, named) = Default::default();
        Survey { of, defined, cells, spoiled, named }
    }

    /// Surveys a block; `always` says that each turn runs it.
    fn block(&mut self, block: &Block, always: bool) {
        for inst in &block.insts {
            inst.results(&mut |val| {
                self.defined.insert(val);
            });
            match inst {
                Inst::Load { result, buf, offset, mask } => {
                    self.access((*buf, *offset, *mask), *result, None);
                }
                Inst::Store { buf, offset, value, mask } => {
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
        let first = self.of.ints.get(&offset).copied();
        let first = first.filter(|_| {
            self.of.memories[buf.0 as usize] == Some(ty.dtype)
                && mask.is_none_or(|mask| ty.dtype != DType::Bool && !self.defined.contains(&mask))
        });
        let Some(first) = first else {
            self.spoiled.insert(place);
            return;
        };
        if let Some(known) = self.cells.get_mut(&(place, first)) {
            known.stored |= store.is_some();
            if (known.mask, known.ty) != (mask, ty) {
                self.spoiled.insert(place);
            }
            return;
        }
        let end = |first: i64, ty: Ty| first.saturating_add(ty.lanes.into());
        let mut others = self.cells.range((place, i64::MIN)..(place, end(first, ty)));
        if others.any(|((_, other), cell)| end(*other, cell.ty) > first) {
            self.spoiled.insert(place);
        }
        let (fresh, stored) = (store == Some(true), store.is_some());
        self.cells.insert((place, first), Cell { buf, offset, mask, ty, fresh, stored });
    }
}

/// One turn of a loop whose cells become values.
struct Turn<'p> {
    promoter: &'p mut Promoter,
    cells: BTreeMap<At, Cell>,
    /// What stands instead of loads that are gone.
    names: BTreeMap<Val, Val>,
    /// The mask outside of which a value is zero, as what a load under it gives.
    cut: BTreeMap<Val, Val>,
    zeros: BTreeMap<Ty, Val>,
}

/// What the cells hold at some point.
type Held = BTreeMap<At, Val>;

impl Turn<'_> {
    /// Rewrites a loop; what it needs goes to `before`.  Gives what follows it.
    fn promote(
        promoter: &mut Promoter,
        cells: BTreeMap<At, Cell>,
        body: &mut For,
        before: &mut Vec<Inst>,
    ) -> Vec<Inst> {
        let (names, cut, zeros) = Default::default();
        let mut turn = Turn { promoter, cells, names, cut, zeros };
        let (mut held, mut carried) = (Held::new(), Vec::new());
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
            let mut value = first;
            if *stored {
                value = turn.promoter.define(*ty);
                body.initial.push(first);
                body.carried.push(value);
                carried.push(*at);
            }
            turn.cut.extend(mask.map(|mask| (value, mask)));
            held.insert(*at, value);
        }
        turn.block(&mut body.body, &mut held);
        let mut behind = Vec::new();
        for at in carried {
            let Cell { buf, offset, mask, ty, .. } = &turn.cells[&at];
            let last = turn.promoter.define(*ty);
            body.body.yields.push(held[&at]);
            body.results.push(last);
            behind.push(Inst::Store { buf: *buf, offset: *offset, value: last, mask: *mask });
        }
        behind
    }

    fn block(&mut self, block: &mut Block, held: &mut Held) {
        for mut inst in std::mem::take(&mut block.insts) {
            inst.rename(self);
            match &mut inst {
                Inst::Load { result, buf, offset, .. } => {
                    if let Some(at) = self.at(*buf, *offset) {
                        self.names.insert(*result, held[&at]);
                        continue;
                    }
                }
                Inst::Store { buf, offset, value, .. } => {
                    if let Some(at) = self.at(*buf, *offset) {
                        let value = self.as_loaded(at, *value, &mut block.insts);
                        held.insert(at, value);
                        continue;
                    }
                }
                Inst::If(branch) => {
                    let mut other = held.clone();
                    self.block(&mut branch.then, held);
                    self.block(&mut branch.otherwise, &mut other);
                    for (at, value) in held.iter_mut().filter(|(at, value)| other[at] != **value) {
                        branch.then.yields.push(*value);
                        branch.otherwise.yields.push(other[at]);
                        *value = self.promoter.define(self.cells[at].ty);
                        branch.results.push(*value);
                        self.cut.extend(self.cells[at].mask.map(|mask| (*value, mask)));
                    }
                }
                _ => {}
            }
            block.insts.push(inst);
        }
        block.yields.iter_mut().for_each(|val| self.val(val));
    }

    /// The cell that an access is of.
    fn at(&self, buf: Buf, offset: Val) -> Option<At> {
        let at = (self.promoter.places[buf.0 as usize], *self.promoter.ints.get(&offset)?);
        self.cells.contains_key(&at).then_some(at)
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

#[cfg(test)]
mod tests {
    use super::super::tests::Sketch;
    use super::super::verify;
    use super::*;
    use crate::dim::Dim;
    use crate::lanes::Cmp;

    const F32: Ty = Ty { dtype: DType::F32, lanes: 1 };

    /// The body of the kernel as text, promoted.
    fn promoted(k: Sketch) -> String {
        let kernel = promote(k.finish());
        verify(&kernel).expect("a legal kernel");
        let text = kernel.to_string();
        let lines = text.lines().filter(|line| !line.starts_with("kernel") && !line.starts_with("  b"));
        lines.map(|line| line.trim_start_matches("  ")).collect::<Vec<_>>().join("\n")
    }

    /// `memory[0] = 2 * memory[0]`, by way of `aside`, where there is one.
    fn double(k: &mut Sketch, memory: Buf, aside: Option<Buf>, zero: Val) {
        let old = k.load(memory, zero, 1, None);
        let mut twice = k.prim(Prim::Add, &[old, old], F32);
        if let Some(aside) = aside {
            k.store(aside, zero, twice, None);
            twice = k.load(aside, zero, 1, None);
        }
        k.store(memory, zero, twice, None);
    }

    #[test]
    fn what_turns_hand_on_is_carried_and_what_one_puts_aside_is_gone() {
        let mut k = Sketch::new();
        let (state, aside) = (k.arg(DType::F32, 0), k.arena(DType::F32, Dim::constant(0)));
        let (zero, n) = (k.int(DType::I64, 0), k.symbol(0));
        k.repeat((zero, n, 1), &[], |k, _, _| {
            double(k, state, Some(aside), zero);
            Vec::new()
        });
        let expected = "\
v0: i64 = 0
v1: i64 = symbol s0
v6: f32 = load b0[v0]
v8: f32 = for v2 in v0..v1 step 1 with v7: f32 = v6 {
v4: f32 = Add v7, v7
yield v4
}
store b0[v0] = v8";
        assert_eq!(promoted(k), expected);
    }

    #[test]
    fn a_side_of_a_branch_hands_on_what_it_stores() {
        let mut k = Sketch::new();
        let (state, n) = (k.arg(DType::F32, 0), k.symbol(0));
        let (zero, truth) = (k.int(DType::I64, 0), k.truth());
        k.repeat((zero, n, 1), &[], |k, _, _| {
            let doubled = |k: &mut Sketch| {
                double(k, state, None, zero);
                Vec::new()
            };
            k.choose(truth, doubled, |_| Vec::new());
            Vec::new()
        });
        let expected = "\
v0: i64 = symbol s0
v1: i64 = 0
v2: bool = 1
v6: f32 = load b0[v1]
v9: f32 = for v3 in v1..v0 step 1 with v7: f32 = v6 {
v8: f32 = if v2 {
v5: f32 = Add v7, v7
yield v5
} else {
yield v7
}
yield v8
}
store b0[v1] = v9";
        assert_eq!(promoted(k), expected);
    }

    #[test]
    fn lanes_outside_of_a_mask_stay_zero() {
        let mut k = Sketch::new();
        let (state, n) = (k.arg(DType::F32, 0), k.symbol(0));
        let (zero, three, numbers) = (k.int(DType::I64, 0), k.int(DType::I32, 3), k.ty(DType::I32, 4));
        k.push(Inst::Lanes(numbers));
        let threes = k.splat(three, 4);
        let mask = k.prim(Prim::Cmp(Cmp::Lt), &[numbers, threes], Ty { dtype: DType::Bool, lanes: 4 });
        let one = k.float(DType::F32, 1.0);
        let ones = k.splat(one, 4);
        k.repeat((zero, n, 1), &[], |k, _, _| {
            let old = k.load(state, zero, 4, Some(mask));
            let more = k.prim(Prim::Add, &[old, ones], Ty { dtype: DType::F32, lanes: 4 });
            k.store(state, zero, more, Some(mask));
            Vec::new()
        });
        let text = promoted(k);
        let expected = "\
v16: f32x4 = for v8 in v1..v0 step 1 with v14: f32x4 = v13 {
v10: f32x4 = Add v14, v7
v15: f32x4 = Select v5, v10, v12
yield v15
}
store b0[v1] = v16 where v5";
        assert!(text.ends_with(expected), "{text}");
    }

    /// Memory that a loop reaches by other ways too stays memory.
    #[test]
    fn other_accesses_keep_all_in_memory() {
        type Other = fn(&mut Sketch, Buf, Val);
        let others: [Other; 4] = [
            |k, memory, index| k.store(memory, index, index, None),
            |k, memory, _| {
                let one = k.int(DType::I64, 1);
                k.load(memory, one, 1, None);
            },
            |k, memory, index| {
                k.repeat((index, index, 1), &[], |k, index, _| {
                    k.load(memory, index, 1, None);
                    Vec::new()
                });
            },
            |k, memory, index| {
                let places = k.splat(index, 2);
                k.gather(memory, places, 2, None);
            },
        ];
        for other in others {
            let mut k = Sketch::new();
            let (memory, zero, n) = (k.arg(DType::I64, 0), k.int(DType::I64, 0), k.symbol(0));
            k.repeat((zero, n, 1), &[], |k, index, _| {
                let old = k.load(memory, zero, 2, None);
                k.store(memory, zero, old, None);
                other(k, memory, index);
                Vec::new()
            });
            let kernel = k.finish();
            assert_eq!(promote(kernel.clone()), kernel);
        }
    }

    /// What one turn leaves, another loop reads.
    #[test]
    fn what_is_read_elsewhere_is_stored() {
        let mut k = Sketch::new();
        let (aside, to) = (k.arena(DType::F32, Dim::constant(0)), k.arg(DType::F32, 0));
        let (zero, n, one) = (k.int(DType::I64, 0), k.symbol(0), k.float(DType::F32, 1.0));
        k.repeat((zero, n, 1), &[], |k, _, _| {
            k.store(aside, zero, one, None);
            Vec::new()
        });
        let last = k.load(aside, zero, 1, None);
        k.store(to, zero, last, None);
        let text = promoted(k);
        assert!(text.contains("store b0[v0] = v7\nv4: f32 = load b0[v0]"), "{text}");
    }
}
