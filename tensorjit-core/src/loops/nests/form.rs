//! What two nests have in common when one code can do for both.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHashMap;

use crate::lanes::Val;
use crate::loops::{Block, Buf, Buffer, Inst, Kernel, Place, Ty};

/// What defines the values of a kernel that a part can make anew: constants, and vectors that depend on nothing but
/// scalars.
pub(super) struct Definitions<'k> {
    kernel: &'k Kernel,
    of: Vec<Option<&'k Inst>>,
}

impl<'k> Definitions<'k> {
    /// Of all values.
    pub(super) fn of(kernel: &'k Kernel) -> Definitions<'k> {
        let mut definitions = Definitions { kernel, of: vec![None; kernel.types.len()] };
        definitions.block(&kernel.body);
        definitions
    }

    fn block(&mut self, block: &'k Block) {
        for inst in &block.insts {
            let constant = matches!(inst, Inst::Float(..) | Inst::Int(..));
            let pure = matches!(
                inst,
                Inst::Lanes(_)
                    | Inst::Splat(..)
                    | Inst::Prim(..)
                    | Inst::Half { .. }
                    | Inst::Shuffle { .. }
                    | Inst::Entry { .. }
            );
            if constant || pure {
                inst.results(&mut |val| {
                    if constant || self.kernel.types[val.0 as usize].lanes > 1 {
                        self.of[val.0 as usize] = Some(inst);
                    }
                });
            }
            inst.blocks().for_each(|block| self.block(block));
        }
    }
}

/// A nest in numbers that are the same for equal nests, which count values and buffers from zero.
pub(super) struct Form {
    /// What it is.
    pub(super) words: Vec<u64>,
    /// The buffers, in the order of their use.
    pub(super) buffers: Vec<Buf>,
    /// The memory of each.
    pub(super) memories: Vec<u32>,
    /// The scalars from outside, in the order of their use.
    pub(super) values: Vec<Val>,
    /// What is made anew before the nest.
    pub(super) remade: Vec<Inst>,
}

impl Form {
    /// The form of a nest; none where it takes a vector that cannot be made anew.
    pub(super) fn of(nest: &Inst, definitions: &Definitions<'_>) -> Option<Form> {
        let form = Form {
            words: Vec::new(),
            buffers: Vec::new(),
            memories: Vec::new(),
            values: Vec::new(),
            remade: Vec::new(),
        };
        let mut writer =
            Writer { definitions, form, numbers: FxHashMap::default(), memories: Vec::new(), possible: true };
        writer.inst(nest);
        writer.possible.then_some(writer.form)
    }
}

/// Writes a form.
struct Writer<'d> {
    definitions: &'d Definitions<'d>,
    form: Form,
    /// The numbers of values.
    numbers: FxHashMap<Val, u64>,
    /// Memories in the order of their use.
    memories: Vec<Option<u32>>,
    possible: bool,
}

impl Writer<'_> {
    fn inst(&mut self, inst: &Inst) {
        std::mem::discriminant(inst).hash(self);
        self.own(inst);
        match inst {
            Inst::For(body) => {
                [body.from, body.to].iter().chain(&body.initial).for_each(|val| self.used(*val));
                std::iter::once(&body.index).chain(&body.carried).for_each(|val| self.made(*val));
            }
            Inst::If(branch) => self.used(branch.condition),
            _ => inst.uses(&mut |val| self.used(val)),
        }
        for block in inst.blocks() {
            block.insts.len().hash(self);
            block.insts.iter().for_each(|inst| self.inst(inst));
            block.yields.iter().for_each(|val| self.used(*val));
        }
        inst.results(&mut |val| self.made(val));
    }

    /// What an instruction is beside values and blocks.
    fn own(&mut self, inst: &Inst) {
        match inst {
            Inst::Float(_, value) => value.to_bits().hash(self),
            Inst::Int(_, value) => value.hash(self),
            Inst::Symbol(_, number) | Inst::Input(_, number) => number.hash(self),
            Inst::Prim(_, prim, args) => (prim, args.len()).hash(self),
            Inst::Half { high, .. } => high.hash(self),
            Inst::Shuffle { order, .. } => order.hash(self),
            Inst::Entry { table, .. } => table.iter().for_each(|entry| entry.to_bits().hash(self)),
            Inst::Extract { lane, .. } => lane.hash(self),
            Inst::Load { buf, mask, .. } | Inst::Gather { buf, mask, .. } => {
                mask.is_some().hash(self);
                self.touched(*buf);
            }
            Inst::Store { buf, mask, streamed, .. } => {
                (mask.is_some(), *streamed).hash(self);
                self.touched(*buf);
            }
            Inst::Address { buf, .. } | Inst::Prefetch { buf, .. } => self.touched(*buf),
            Inst::For(body) => (body.step, body.conditional, body.carried.len()).hash(self),
            Inst::If(branch) => branch.results.len().hash(self),
            Inst::Lanes(_) | Inst::Splat(..) | Inst::Any { .. } | Inst::Fence => {}
            // No nest that could be a part has one.
            Inst::Parallel(_) | Inst::Enter(_) | Inst::Call { .. } | Inst::Nest { .. } => {
                self.possible = false
            }
        }
    }

    fn made(&mut self, val: Val) {
        self.numbers.insert(val, self.numbers.len() as u64);
        self.ty(val).hash(self);
    }

    fn used(&mut self, val: Val) {
        let number = self.numbers.get(&val).copied();
        number.hash(self);
        if number.is_none() {
            self.outside(val);
        }
    }

    /// A value from outside, at its first use.
    fn outside(&mut self, val: Val) {
        let definition = self.definitions.of[val.0 as usize];
        definition.is_some().hash(self);
        if let Some(inst) = definition {
            self.inst(inst);
            self.form.remade.push(inst.clone());
            return;
        }
        self.possible &= self.ty(val).lanes == 1;
        self.form.values.push(val);
        self.made(val);
    }

    fn touched(&mut self, buf: Buf) {
        let number = self.form.buffers.iter().position(|other| *other == buf);
        let Buffer { dtype, place } = &self.definitions.kernel.buffers[buf.0 as usize];
        let number = number.unwrap_or_else(|| {
            let memory = place.memory();
            let position = self.memories.iter().position(|other| *other == memory).unwrap_or_else(|| {
                self.memories.push(memory);
                self.memories.len() - 1
            });
            self.form.buffers.push(buf);
            self.form.memories.push(position as u32);
            self.form.buffers.len() - 1
        });
        let room = if let Place::Stack(bytes) = place { Some(*bytes) } else { None };
        (number, *dtype, room).hash(self);
    }

    fn ty(&self, val: Val) -> Ty {
        self.definitions.kernel.types[val.0 as usize]
    }
}

/// What is hashed is kept.
impl Hasher for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.form.words.extend(bytes.iter().map(|byte| u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.form.words.push(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.form.words.push(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.form.words.push(number as u64);
    }

    fn finish(&self) -> u64 {
        0
    }
}
