//! Keeps in registers what the turns of a loop hand on through memory.
//!
//! A cell is a scalar or a vector that a loop reads and writes at one constant offset, in memory that it uses in no
//! other way.  It becomes a value that the loop carries, loaded before it and stored behind it.  The carries of a scan
//! are cells, and so is what its step puts down between nests.

mod survey;
#[cfg(test)]
mod tests;
mod turn;

use std::collections::{BTreeMap, BTreeSet};

use tensorjit_runtime::abi::DType;

use super::{Block, Buf, For, Inst, Kernel, Place, Ty};
use crate::lanes::Val;
use survey::Survey;
use turn::Turn;

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
    // The caller reads arguments.
    for (times, buffer) in named.iter_mut().zip(&buffers) {
        *times += usize::from(matches!(buffer.place, Place::Arg(_)));
    }
    let memories = memories.collect();
    let mut promoter = Promoter { places, memories, types, ints, named };
    promoter.block(&mut body);
    Kernel { types: promoter.types, target, buffers, body }
}

/// Calls `visit` with every buffer that an instruction reads, writes or hands over, as often as it does.
fn buffers_of(inst: &Inst, visit: &mut dyn FnMut(Buf)) {
    match inst {
        Inst::Load { buf, .. } | Inst::Gather { buf, .. } => visit(*buf),
        Inst::Store { buf, .. } | Inst::Address { buf, .. } => visit(*buf),
        Inst::Call { buffers, .. } | Inst::Nest { buffers, .. } => buffers.iter().for_each(|buf| visit(*buf)),
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
    /// How often the kernel as it is now, or its caller, names each buffer.
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
                // Tasks are left as they are: memory at a constant offset is shared by all of them, and one that does not
                // store there must not begin to.
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
        let mut survey = Survey::of(self, body);
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

    /// Where an access is, if its place can have cells and its offset is a constant.
    fn at(&self, buf: Buf, offset: Val) -> Option<At> {
        let size = self.memories[buf.0 as usize]?.size() as i64;
        let element = self.ints.get(&offset)?;
        Some((self.places[buf.0 as usize], element.saturating_mul(size)))
    }
}

/// Where a cell is: in the place of this number, at this byte.
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
