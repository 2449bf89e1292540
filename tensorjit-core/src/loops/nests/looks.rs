//! Which nests may be equal, found without a look at what they work on.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::{At, kernels};
use crate::loops::split::{Limits, Parts};
use crate::loops::{Block, Inst, Kernel};

/// What can be seen of nests without regard to names: hashes of those that could be parts.
pub(super) struct Looks {
    of: FxHashMap<At, u64>,
    /// How often each stands where it is not within one that has been counted before.
    counts: FxHashMap<u64, u32>,
    least: usize,
}

/// What can be seen of an instruction.
struct Look {
    hash: u64,
    size: usize,
    /// How many loops stand in one another.
    depth: usize,
    /// Whether it works by itself, without tasks and calls.
    plain: bool,
}

impl Looks {
    /// Of all nests of a function.
    pub(super) fn of(parts: &Parts, limits: Limits) -> Looks {
        let mut looks = Looks { of: FxHashMap::default(), counts: FxHashMap::default(), least: limits.part };
        for kernel in kernels(parts) {
            for inst in &kernel.body.insts {
                looks.look(inst, kernel);
            }
        }
        kernels(parts).for_each(|kernel| looks.count(&kernel.body));
        looks
    }

    /// Whether a nest may have an equal one.
    pub(super) fn are_several(&self, inst: &Inst) -> bool {
        let look = self.of.get(&std::ptr::from_ref(inst));
        look.and_then(|look| self.counts.get(look)).is_some_and(|count| *count > 1)
    }

    fn look(&mut self, inst: &Inst, kernel: &Kernel) -> Look {
        let mut hasher = FxHasher::default();
        std::mem::discriminant(inst).hash(&mut hasher);
        inst.results(&mut |val| kernel.types[val.0 as usize].hash(&mut hasher));
        let mut look = Look { hash: 0, size: 1, depth: 0, plain: true };
        match inst {
            Inst::Prim(_, prim, _) => prim.hash(&mut hasher),
            Inst::Parallel(_) | Inst::Enter(_) | Inst::Call { .. } => look.plain = false,
            _ => {}
        }
        for block in inst.blocks() {
            block.insts.len().hash(&mut hasher);
            for inner in &block.insts {
                let inner = self.look(inner, kernel);
                hasher.write_u64(inner.hash);
                look.size += inner.size;
                look.depth = look.depth.max(inner.depth);
                look.plain &= inner.plain;
            }
        }
        look.hash = hasher.finish();
        if let Inst::For(body) = inst {
            look.depth += 1;
            // What it gives would have to pass through memory, and a single loop may be short.
            if body.results.is_empty() && look.plain && look.depth > 1 && look.size >= self.least {
                self.of.insert(std::ptr::from_ref(inst), look.hash);
            }
        }
        look
    }

    fn count(&mut self, block: &Block) {
        for inst in &block.insts {
            if let Some(look) = self.of.get(&std::ptr::from_ref(inst)) {
                let count = self.counts.entry(*look).or_default();
                *count += 1;
                if *count > 1 {
                    continue;
                }
            }
            inst.blocks().for_each(|block| self.count(block));
        }
    }
}
