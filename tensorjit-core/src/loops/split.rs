//! A large kernel in parts: equal nests are compiled once, and different ones side by side.
//!
//! The outermost block is cut where no value crosses but those that can be made anew: behind nests whose results
//! are in memory.  What stands between two cuts may become a kernel of its own, which gets the addresses of its
//! buffers from its caller.  So the layers of a model are one kernel that is called with different addresses.

use std::collections::{BTreeMap, BTreeSet};

use super::walk::Rename;
use super::{Block, Buf, Buffer, Inst, Kernel, Place, Ty};
use crate::lanes::Val;

/// Numbers of instructions that decide what is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Below so many a kernel stays whole: it is compiled fast, and its nests need no calls.
    pub whole: usize,
    /// What has fewer, and stands in the kernel once, is not worth a call.
    pub part: usize,
}

impl Limits {
    /// Those that serve build time best.
    pub const USUAL: Limits = Limits { whole: 2000, part: 100 };
    /// A part wherever there can be one.
    pub const NONE: Limits = Limits { whole: 0, part: 0 };
    /// One kernel, however large.
    pub const WHOLE: Limits = Limits { whole: usize::MAX, part: usize::MAX };
}

/// So many instructions fill an object.
const BATCH: usize = 2000;

/// The loops of a function for one target.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// What the caller enters.
    pub entry: Kernel,
    /// What it calls, by number.
    pub parts: Vec<Kernel>,
}

impl Parts {
    /// The kernels with the names of their functions, grouped by the object they belong to; the entry is the first.
    pub fn batches(&self, symbol: &str) -> Vec<Vec<(String, &Kernel)>> {
        let parts = self.parts.iter().zip(0..).map(|(part, number)| (part_symbol(symbol, number), part));
        let mut batches = Vec::new();
        let mut batch = Vec::new();
        let mut filled = 0;
        for (name, kernel) in std::iter::once((symbol.to_owned(), &self.entry)).chain(parts) {
            filled += size(&kernel.body);
            batch.push((name, kernel));
            if filled >= BATCH {
                batches.push(std::mem::take(&mut batch));
                filled = 0;
            }
        }
        if !batch.is_empty() {
            batches.push(batch);
        }
        batches
    }
}

/// The name of a part of a function, of which `symbol` is the entry or a part too.
pub fn part_symbol(symbol: &str, part: u32) -> String {
    let function = symbol.rsplit_once(PART_OF).map_or(symbol, |(function, _)| function);
    format!("{function}{PART_OF}{part}")
}

/// Names of functions have no dot.
const PART_OF: &str = ".part";

/// Parts of a function by number, no two of them equal.
///
/// Parts that differ in nothing but in which of their buffers share a memory are one, whose buffers share one where
/// those of any of them do: it may then be called for all.
#[derive(Debug, Default)]
pub struct Pool {
    /// Their buffers lie in no memory yet.
    parts: Vec<Kernel>,
    /// The memory of each buffer, by part.
    memories: Vec<Vec<u32>>,
    /// Texts, which tell 0 from -0, are made only of parts that others may equal.
    texts: BTreeMap<u32, String>,
    /// Numbers of parts that may be equal.
    alike: BTreeMap<(usize, usize, usize), Vec<u32>>,
}

impl Pool {
    /// The number of a kernel among the parts, which it joins where none is equal.
    fn number(&mut self, kernel: Kernel, memories: Vec<u32>) -> u32 {
        let key = (size(&kernel.body), kernel.types.len(), kernel.buffers.len());
        let others = self.alike.entry(key).or_default();
        if !others.is_empty() {
            let text = kernel.to_string();
            let mut is_equal = |other: &u32| {
                let part = &self.parts[*other as usize];
                *self.texts.entry(*other).or_insert_with(|| part.to_string()) == text
            };
            if let Some(equal) = others.iter().copied().find(|other| is_equal(other)) {
                share(&mut self.memories[equal as usize], &memories);
                return equal;
            }
        }
        let number = self.parts.len() as u32;
        others.push(number);
        self.parts.push(kernel);
        self.memories.push(memories);
        number
    }

    /// Adds what a kernel consists of; gives for each part of it, in order, its number and its buffers.
    pub fn add(&mut self, kernel: &Kernel) -> Vec<(u32, Vec<Buf>)> {
        let outline = Outline::new(kernel);
        let mut add = |segment: &Vec<usize>| {
            let Copy { kernel, buffers, memories } = Copy::new(kernel, &outline, segment);
            (self.number(kernel, memories), buffers)
        };
        outline.segments().iter().map(&mut add).collect()
    }

    /// The parts, by number.
    fn into_parts(mut self) -> Vec<Kernel> {
        for (part, memories) in self.parts.iter_mut().zip(self.memories) {
            for (buffer, shared) in part.buffers.iter_mut().zip(memories) {
                if let Place::Given { memory, .. } = &mut buffer.place {
                    *memory = shared;
                }
            }
        }
        self.parts
    }
}

/// Makes one of memories whose buffers share one in `other`.
pub(super) fn share(memories: &mut [u32], other: &[u32]) {
    for (buffer, memory) in other.iter().enumerate() {
        let first = other.iter().position(|earlier| earlier == memory).unwrap_or(buffer);
        let (from, to) = (memories[buffer], memories[first]);
        memories.iter_mut().filter(|memory| **memory == from).for_each(|memory| *memory = to);
    }
}

/// Cuts a kernel, which calls what is in the pool already, where that is worth it.
pub fn split(kernel: Kernel, mut pool: Pool, limits: Limits) -> Parts {
    if size(&kernel.body) < limits.whole {
        return Parts { entry: kernel, parts: pool.into_parts() };
    }
    let known = pool.parts.len();
    let outline = Outline::new(&kernel);
    let calls = |at: &usize| matches!(kernel.body.insts[*at], Inst::Call { .. });
    let mut segments = Vec::new();
    for segment in outline.segments() {
        let part = (!segment.iter().any(calls)).then(|| {
            let Copy { kernel, buffers, memories } = Copy::new(&kernel, &outline, &segment);
            (pool.number(kernel, memories), buffers)
        });
        segments.push((segment, part));
    }
    let mut counts = vec![0; pool.parts.len()];
    segments
        .iter()
        .filter_map(|(_, part)| part.as_ref())
        .for_each(|(number, _)| counts[*number as usize] += 1);
    let mut parts = Vec::new();
    let mut numbers = Vec::new();
    for (number, (part, count)) in pool.into_parts().into_iter().zip(counts).enumerate() {
        let worth = number < known || count > 1 || size(&part.body) >= limits.part;
        numbers.push(worth.then_some(parts.len() as u32));
        parts.extend(worth.then_some(part));
    }
    let mut entry = Copier::new(&kernel, &outline, None);
    for (segment, part) in segments {
        match part.and_then(|(number, buffers)| Some((numbers[number as usize]?, buffers))) {
            Some((part, buffers)) => entry.insts.push(Inst::Call { part, buffers }),
            None => entry.segment(&segment),
        }
    }
    let entry = entry.finish(kernel.buffers.clone());
    Parts { entry, parts }
}

/// The number of instructions, nested ones included.
pub fn size(block: &Block) -> usize {
    block.insts.iter().map(|inst| 1 + inst.blocks().map(size).sum::<usize>()).sum()
}

/// What the instructions of the outermost block are.
struct Outline<'k> {
    kernel: &'k Kernel,
    /// For each value, the instruction of the outermost block that makes it and can be repeated anywhere.
    pure: Vec<Option<usize>>,
    /// The other instructions, in order.
    actions: Vec<usize>,
}

impl Outline<'_> {
    fn new(kernel: &Kernel) -> Outline<'_> {
        let mut written = BTreeSet::new();
        kernel.body.insts.iter().for_each(|inst| stored(inst, &mut written));
        let written: BTreeSet<&Place> =
            written.iter().map(|buf| &kernel.buffers[buf.0 as usize].place).collect();
        let mut outline = Outline { kernel, pure: vec![None; kernel.types.len()], actions: Vec::new() };
        for (at, inst) in kernel.body.insts.iter().enumerate() {
            let repeatable = match inst {
                Inst::For(_) | Inst::If(_) | Inst::Parallel(_) | Inst::Store { .. } => false,
                Inst::Prefetch { .. }
                | Inst::Fence
                | Inst::Enter(_)
                | Inst::Call { .. }
                | Inst::Nest { .. } => false,
                Inst::Load { buf, .. } | Inst::Gather { buf, .. } => {
                    let place = &kernel.buffers[buf.0 as usize].place;
                    matches!(place, Place::Arg(_)) && !written.contains(place)
                }
                _ => true,
            };
            let mut pure = repeatable;
            inst.uses(&mut |val| pure &= outline.pure[val.0 as usize].is_some());
            if !pure {
                outline.actions.push(at);
                continue;
            }
            inst.results(&mut |val| outline.pure[val.0 as usize] = Some(at));
        }
        outline
    }

    /// The actions, cut wherever no later one uses what an earlier one has defined.
    fn segments(&self) -> Vec<Vec<usize>> {
        let mut maker: BTreeMap<Val, usize> = BTreeMap::new();
        let mut last: Vec<usize> = (0..self.actions.len()).collect();
        for (position, at) in self.actions.iter().enumerate() {
            let inst = &self.kernel.body.insts[*at];
            inst.uses(&mut |val| {
                if let Some(from) = maker.get(&val) {
                    last[*from] = position;
                }
            });
            inst.results(&mut |val| {
                maker.insert(val, position);
            });
        }
        let mut segments = Vec::new();
        let (mut segment, mut until) = (Vec::new(), 0);
        for (position, at) in self.actions.iter().enumerate() {
            segment.push(*at);
            until = until.max(last[position]);
            if until == position {
                segments.push(std::mem::take(&mut segment));
            }
        }
        segments
    }
}

/// The buffers that an instruction may write.
fn stored(inst: &Inst, written: &mut BTreeSet<Buf>) {
    match inst {
        Inst::Store { buf, .. } => written.extend([*buf]),
        Inst::Call { buffers, .. } | Inst::Nest { buffers, .. } => written.extend(buffers),
        _ => {}
    }
    inst.blocks().flat_map(|block| &block.insts).for_each(|inst| stored(inst, written));
}

/// A segment as a kernel of its own.
struct Copy {
    kernel: Kernel,
    /// What its buffers are in the whole.
    buffers: Vec<Buf>,
    /// The memory of each buffer, which the kernel does not say yet.
    memories: Vec<u32>,
}

impl Copy {
    fn new(kernel: &Kernel, outline: &Outline<'_>, segment: &[usize]) -> Copy {
        let mut copier = Copier::new(kernel, outline, Some(Vec::new()));
        copier.segment(segment);
        let buffers = copier.buffers.take().unwrap_or_default();
        let mut known: Vec<Option<u32>> = Vec::new();
        let (mut given, mut memories) = (Vec::new(), Vec::new());
        for (buf, number) in buffers.iter().zip(0..) {
            let Buffer { dtype, place } = &kernel.buffers[buf.0 as usize];
            let memory = place.memory();
            let position = known.iter().position(|other| *other == memory).unwrap_or_else(|| {
                known.push(memory);
                known.len() - 1
            });
            memories.push(position as u32);
            let place = match place {
                Place::Stack(bytes) => Place::Stack(*bytes),
                _ => Place::Given { number, memory: 0 },
            };
            given.push(Buffer { dtype: *dtype, place });
        }
        let kernel = copier.finish(given);
        Copy { kernel, buffers, memories }
    }
}

/// Copies instructions into a new kernel, together with what they need.
struct Copier<'k> {
    from: &'k Kernel,
    pure: &'k [Option<usize>],
    /// What values have become.
    vals: Vec<Option<Val>>,
    types: Vec<Ty>,
    insts: Vec<Inst>,
    /// The buffers in use, by their new number; none where all keep theirs.
    buffers: Option<Vec<Buf>>,
}

impl<'k> Copier<'k> {
    fn new(from: &'k Kernel, outline: &'k Outline<'_>, buffers: Option<Vec<Buf>>) -> Copier<'k> {
        let vals = vec![None; from.types.len()];
        Copier { from, pure: &outline.pure, vals, types: Vec::new(), insts: Vec::new(), buffers }
    }

    fn segment(&mut self, segment: &[usize]) {
        let mut used = Vec::new();
        for at in segment {
            let inst = &self.from.body.insts[*at];
            inst.uses(&mut |val| used.push(val));
            for val in used.drain(..) {
                self.need(val);
            }
            self.inst(inst);
        }
    }

    /// Makes a value, after those that it is made of, where the outermost block makes it.
    fn need(&mut self, val: Val) {
        let mut open = vec![val];
        while let Some(top) = open.last().copied() {
            let Some(at) = self.pure[top.0 as usize].filter(|_| self.vals[top.0 as usize].is_none()) else {
                open.pop();
                continue;
            };
            let (inst, before) = (&self.from.body.insts[at], open.len());
            inst.uses(&mut |val| {
                if self.vals[val.0 as usize].is_none() {
                    open.push(val);
                }
            });
            if open.len() == before {
                self.inst(inst);
            }
        }
    }

    fn inst(&mut self, inst: &Inst) {
        let mut inst = inst.clone();
        inst.rename(self);
        self.insts.push(inst);
    }

    fn finish(self, buffers: Vec<Buffer>) -> Kernel {
        let body = Block { insts: self.insts, yields: Vec::new() };
        Kernel { target: self.from.target.clone(), buffers, types: self.types, body }
    }
}

impl Rename for Copier<'_> {
    fn val(&mut self, val: &mut Val) {
        let place = val.0 as usize;
        let types = &mut self.types;
        *val = *self.vals[place].get_or_insert_with(|| {
            types.push(self.from.types[place]);
            Val(types.len() as u32 - 1)
        });
    }

    fn buf(&mut self, buf: &mut Buf) {
        let Some(buffers) = &mut self.buffers else { return };
        let position = buffers.iter().position(|other| other == buf).unwrap_or_else(|| {
            buffers.push(*buf);
            buffers.len() - 1
        });
        *buf = Buf(position as u32);
    }
}

#[cfg(test)]
mod tests {
    use tensorjit_runtime::abi::DType;

    use super::super::tests::Sketch;
    use super::super::verify;
    use super::*;
    use crate::dim::Dim;
    use crate::loops::For;

    /// `to[i] = from[i] + constant` for all i below a symbol.
    fn add(k: &mut Sketch, n: Val, from: Buf, to: Buf, constant: Val) {
        let ty = Ty { dtype: DType::F32, lanes: 1 };
        let (zero, index) = (k.int(DType::I64, 0), k.ty(DType::I64, 1));
        let (x, y) = (k.ty(DType::F32, 1), k.ty(ty.dtype, ty.lanes));
        let insts = vec![
            Inst::Load { result: x, buf: from, offset: index, mask: None },
            Inst::Prim(y, crate::lanes::Prim::Add, vec![x, constant]),
            Inst::Store { buf: to, offset: index, value: y, mask: None, streamed: false },
        ];
        k.push(Inst::For(Box::new(For {
            conditional: false,
            index,
            from: zero,
            to: n,
            step: 1,
            carried: Vec::new(),
            initial: Vec::new(),
            body: Block { insts, yields: Vec::new() },
            results: Vec::new(),
        })));
    }

    #[test]
    fn memories_are_one_where_they_are_in_either() {
        for (own, other, all) in [
            ([0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]),
            ([0, 1, 2, 3], [0, 1, 0, 2], [0, 1, 0, 3]),
            ([0, 1, 1, 2], [0, 0, 1, 1], [0, 0, 0, 0]),
            ([0, 0, 1, 1], [0, 1, 2, 0], [0, 0, 0, 0]),
        ] {
            let mut memories = own;
            share(&mut memories, &other);
            assert_eq!(memories, all, "{own:?} {other:?}");
        }
    }

    /// The calls of the entry: part and buffers.
    fn calls(parts: &Parts) -> Vec<(u32, Vec<u32>)> {
        let calls = parts.entry.body.insts.iter().filter_map(|inst| match inst {
            Inst::Call { part, buffers } => Some((*part, buffers.iter().map(|buf| buf.0).collect())),
            _ => None,
        });
        calls.collect()
    }

    #[test]
    fn equal_nests_are_one_part() {
        let mut k = Sketch::new();
        let (x, y) = (k.arg(DType::F32, 0), k.arg(DType::F32, 1));
        let (a, b) = (k.arena(DType::F32, Dim::constant(0)), k.arena(DType::F32, Dim::constant(64)));
        let n = k.symbol(0);
        let (one, zero, minus_zero) =
            (k.float(DType::F32, 1.0), k.float(DType::F32, 0.0), k.float(DType::F32, -0.0));
        add(&mut k, n, x, a, one);
        add(&mut k, n, a, b, one); // Within one memory.
        add(&mut k, n, b, y, one);
        add(&mut k, n, x, a, zero);
        add(&mut k, n, x, a, minus_zero);
        let kernel = k.finish();
        let parts = split(kernel.clone(), Pool::default(), Limits::NONE);
        let expected = [(0, [0, 2]), (0, [2, 3]), (0, [3, 1]), (1, [0, 2]), (2, [0, 2])];
        assert_eq!(calls(&parts), expected.map(|(part, buffers)| (part, buffers.to_vec())));
        // The buffers of a part share a memory where those of one call do.
        let share =
            parts.parts.iter().map(|part| part.buffers[0].place.memory() == part.buffers[1].place.memory());
        assert_eq!(share.collect::<Vec<_>>(), [true, false, false]);
        for kernel in parts.parts.iter().chain([&parts.entry]) {
            verify(kernel).expect("a legal kernel");
        }
        assert_eq!(
            split(kernel.clone(), Pool::default(), Limits::USUAL),
            Parts { entry: kernel, parts: Vec::new() }
        );
    }

    #[test]
    fn what_is_read_before_a_call_is_not_read_again_behind_it() {
        let nest = || {
            let mut k = Sketch::new();
            let (x, y, n) = (k.arg(DType::F32, 0), k.arg(DType::F32, 1), k.symbol(0));
            (k, x, y, n)
        };
        let (mut k, x, y, n) = nest();
        let one = k.float(DType::F32, 1.0);
        add(&mut k, n, y, x, one);
        let mut pool = Pool::default();
        let called = pool.add(&k.finish());
        assert_eq!(called, [(0, vec![y, x])]);
        let (mut k, x, y, n) = nest();
        let zero = k.int(DType::I64, 0);
        let before = k.load(x, zero, 1, None);
        k.push(Inst::Call { part: 0, buffers: vec![y, x] });
        add(&mut k, n, y, y, before);
        let parts = split(k.finish(), pool, Limits::NONE);
        assert_eq!(calls(&parts), [(0, vec![1, 0])], "the nest that uses the value stays beside its load");
        let loads = |inst: &Inst| matches!(inst, Inst::Load { .. });
        assert_eq!(parts.entry.body.insts.iter().filter(|inst| loads(inst)).count(), 1);
    }

    #[test]
    fn values_that_cannot_be_made_anew_join_nests() {
        let mut k = Sketch::new();
        let (x, y) = (k.arg(DType::F32, 0), k.arg(DType::F32, 1));
        let (n, zero) = (k.symbol(0), k.int(DType::I64, 0));
        let read_only = k.load(x, zero, 1, None);
        add(&mut k, n, x, y, read_only);
        let written = k.load(y, zero, 1, None);
        add(&mut k, n, x, y, written);
        let parts = split(k.finish(), Pool::default(), Limits { whole: 0, part: 4 });
        assert_eq!(calls(&parts), [(0, vec![0, 1]), (1, vec![1, 0])]);
        assert_eq!(parts.parts[1].buffers[1].place, Place::Given { number: 1, memory: 1 });
    }
}
