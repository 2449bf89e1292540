//! Nests that are equal but for the buffers and the scalars that they work on: one part, which all their places run.
//!
//! Tiles of products are equal wherever matrices of the same shapes are multiplied, forth and back and in every layer.
//! Code generation takes as long for each copy as for the first, and a call is nothing beside such a nest.

mod form;
mod looks;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use super::split::{Limits, Parts, share, size};
use super::walk::Rename;
use super::{Block, Buf, Buffer, Inst, Kernel, Place, Ty};
use crate::lanes::Val;
use form::{Definitions, Form};
use looks::Looks;

/// Makes parts of equal nests, where the function is large enough to be cut.
pub fn share_nests(mut parts: Parts, limits: Limits) -> Parts {
    let total: usize = kernels(&parts).map(|kernel| size(&kernel.body)).sum();
    if total < limits.whole {
        return parts;
    }
    let mut plan = Plan { looks: Looks::of(&parts, limits), groups: Vec::new(), at: FxHashMap::default() };
    let mut known = FxHashMap::default();
    for kernel in kernels(&parts) {
        let definitions = Definitions::of(kernel);
        plan.survey(&kernel.body, &definitions, &mut known);
    }
    let mut made = Made { first: parts.parts.len() as u32, parts: Vec::new() };
    for kernel in std::iter::once(&mut parts.entry).chain(&mut parts.parts) {
        let Kernel { target, buffers, types, body } = kernel;
        let around = Kernel {
            target: target.clone(),
            buffers: buffers.clone(),
            types: types.clone(),
            body: Block::default(),
        };
        plan.replace(body, &around, &mut made);
    }
    parts.parts.extend(plan.finish(made));
    parts
}

fn kernels(parts: &Parts) -> impl Iterator<Item = &Kernel> {
    std::iter::once(&parts.entry).chain(&parts.parts)
}

/// Where a nest stands.
type At = *const Inst;

/// What is done about the nests of a function.
struct Plan {
    looks: Looks,
    groups: Vec<Group>,
    /// The nests that are in a group, but for those within a later nest of a group.
    at: FxHashMap<At, Use>,
}

/// Equal nests.
struct Group {
    count: usize,
    /// The memory of each buffer.
    memories: Vec<u32>,
    /// The part, once it has been made.
    part: Option<u32>,
}

/// A nest of a group.
struct Use {
    group: usize,
    buffers: Vec<Buf>,
    values: Vec<Val>,
    /// What is made anew in the part.
    remade: Vec<Inst>,
}

/// The parts that have been made.
struct Made {
    /// The number of the first.
    first: u32,
    /// Each with its group, which tells the memories of its buffers.
    parts: Vec<(usize, Kernel)>,
}

impl Plan {
    /// Finds the groups of the nests in a block.
    fn survey(&mut self, block: &Block, definitions: &Definitions, known: &mut FxHashMap<Vec<u64>, usize>) {
        for inst in &block.insts {
            if self.looks.are_several(inst)
                && let Some(Form { words, buffers, memories, values, remade }) = Form::of(inst, definitions)
            {
                let next = self.groups.len();
                let group = *known.entry(words).or_insert(next);
                self.at.insert(std::ptr::from_ref(inst), Use { group, buffers, values, remade });
                if group < next {
                    self.groups[group].count += 1;
                    share(&mut self.groups[group].memories, &memories);
                    continue;
                }
                self.groups.push(Group { count: 1, memories, part: None });
            }
            inst.blocks().for_each(|block| self.survey(block, definitions, known));
        }
    }

    /// Puts instructions that run parts in the place of the nests in a block of the kernel `around`.
    fn replace(&mut self, block: &mut Block, around: &Kernel, made: &mut Made) {
        for inst in &mut block.insts {
            let place =
                self.at.remove(&std::ptr::from_ref(inst)).filter(|place| self.groups[place.group].count > 1);
            let Some(Use { group, buffers, values, remade }) = place else {
                inst.blocks_mut().for_each(|block| self.replace(block, around, made));
                continue;
            };
            if let Some(part) = self.groups[group].part {
                *inst = Inst::Nest { part, buffers, values };
                continue;
            }
            inst.blocks_mut().for_each(|block| self.replace(block, around, made));
            let part = made.first + made.parts.len() as u32;
            self.groups[group].part = Some(part);
            let kernel =
                Extract::kernel(std::mem::replace(inst, Inst::Fence), remade, &values, &buffers, around);
            made.parts.push((group, kernel));
            *inst = Inst::Nest { part, buffers, values };
        }
    }

    /// The parts, in order, with what is known of their memories in the end.
    fn finish(self, made: Made) -> impl Iterator<Item = Kernel> {
        made.parts.into_iter().map(move |(group, mut kernel)| {
            for (buffer, shared) in kernel.buffers.iter_mut().zip(&self.groups[group].memories) {
                if let Place::Given { memory, .. } = &mut buffer.place {
                    *memory = *shared;
                }
            }
            kernel
        })
    }
}

/// Gives the values and buffers of a nest the names of a kernel of its own.
struct Extract<'k> {
    around: &'k Kernel,
    numbers: FxHashMap<Val, Val>,
    types: Vec<Ty>,
    buffers: &'k [Buf],
}

impl Extract<'_> {
    /// The kernel of a nest that takes these values and buffers.
    fn kernel(nest: Inst, remade: Vec<Inst>, values: &[Val], buffers: &[Buf], around: &Kernel) -> Kernel {
        let mut names = Extract { around, numbers: FxHashMap::default(), types: Vec::new(), buffers };
        let inputs = values.iter().zip(0..).map(|(val, number)| Inst::Input(*val, number));
        let mut insts: Vec<Inst> = inputs.chain(remade).chain([nest]).collect();
        insts.iter_mut().for_each(|inst| inst.rename(&mut names));
        let given = buffers.iter().zip(0..).map(|(buf, number)| {
            let Buffer { dtype, place } = &around.buffers[buf.0 as usize];
            let place = match place {
                Place::Stack(bytes) => Place::Stack(*bytes),
                _ => Place::Given { number, memory: 0 },
            };
            Buffer { dtype: *dtype, place }
        });
        Kernel {
            target: around.target.clone(),
            buffers: given.collect(),
            types: names.types,
            body: Block { insts, yields: Vec::new() },
        }
    }
}

impl Rename for Extract<'_> {
    fn val(&mut self, val: &mut Val) {
        let types = &mut self.types;
        *val = *self.numbers.entry(*val).or_insert_with(|| {
            types.push(self.around.types[val.0 as usize]);
            Val(types.len() as u32 - 1)
        });
    }

    fn buf(&mut self, buf: &mut Buf) {
        if let Some(position) = self.buffers.iter().position(|other| other == buf) {
            *buf = Buf(position as u32);
        }
    }
}
