//! Where values stand: in arguments, in the arena, or only in registers.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::arena::{Arena, Placed, Use};
use super::emit::sort;
use super::fuse::{Group, Nest, Portion, aligned};
use super::keep::stored;
use super::order::{LANES_BYTES, is_one_block, is_one_run};
use super::packing::Packing;
use super::reads::{At, volume};
use super::roots::{Kind, Root};
use super::steps::Steps;
use super::strips::{HEIGHT, Strip};
use super::tasks::{self, Cut, Grain, Slices};
use crate::dim::Dim;
use crate::graph::ops::scan::Output;
use crate::graph::{Graph, NodeId, Op, Type};
use tensorjit_runtime::abi::DType;

/// Where a root is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Home {
    /// Arguments that receive it.
    pub(super) arguments: Vec<u32>,
    /// Whether it is a whole result that no loop reads from memory.
    pub(super) unread: bool,
    /// Its place in the arena, where it has one.
    pub(super) arena: Option<Slot>,
    /// The panels of a product's operands, left and right, where they are packed.
    pub(super) panels: [Option<Panel>; 2],
    /// Of a fold across rows: the accumulators of each axis of the rows, outermost first.
    pub(super) accumulators: Vec<Accumulators>,
    /// Memory in which rows are sorted, with its element types.
    pub(super) scratch: Vec<(DType, Panel)>,
    /// Where the sums of a product stand between blocks of terms, where it may have several.
    pub(super) sums: Option<Sums>,
}

impl Home {
    /// Calls `visit` with every offset in the arena.
    pub(super) fn offsets(&mut self, visit: &mut dyn FnMut(&mut Dim)) {
        let apart = match &mut self.sums {
            Some(Sums::Apart(slot)) => Some(slot),
            _ => None,
        };
        self.arena.iter_mut().chain(apart).for_each(|slot| visit(&mut slot.offset));
        let scratch = self.scratch.iter_mut().map(|(_, panel)| panel);
        self.panels.iter_mut().flatten().chain(scratch).for_each(|panel| visit(&mut panel.offset));
        for Accumulators { total, block, run, .. } in &mut self.accumulators {
            [total, block, run].into_iter().flatten().for_each(&mut *visit);
        }
    }
}

/// Memory for panels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Panel {
    /// The offset in bytes.
    pub(super) offset: Dim,
    /// Where every task has its own: the elements from one to the next.
    pub(super) slice: Option<Dim>,
}

/// Offsets of the accumulators of one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Accumulators {
    /// Of the blocks before; none where the result itself is the place.
    pub(super) total: Option<Dim>,
    /// Of the block at hand; none where there is one block.
    pub(super) block: Option<Dim>,
    /// Of the run at hand; none where there is one run, or where it is in registers.
    pub(super) run: Option<Dim>,
    /// Where tasks have their own run: the elements from one to the next.
    pub(super) run_slice: Option<Dim>,
    /// Where tasks have their own, of the elements from one to the next: of a total, by the number of the task, and
    /// of a block that is a unit of work, by the number of the unit.
    pub(super) slice: Option<Dim>,
}

/// Memory of the size of a product's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sums {
    /// The home of a root: of the product itself, or of its epilogue, which is stored after the last block.
    Of(usize),
    /// A piece of the arena.
    Apart(Slot),
}

/// A piece of the arena.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// The offset in bytes.
    pub(super) offset: Dim,
    /// The number of leading axes that it lacks: it holds one index of them at a time.
    pub(super) lacks: usize,
    /// Whether it begins at the first row of the strip at hand, along the first axis that it has.
    pub(super) strip: bool,
    /// Where every task has a piece of its own: the elements from one to the next.
    pub(super) slice: Option<Dim>,
    /// Whether it is the memory of an operand that is not read again.
    pub(super) in_place: bool,
}

/// A copy after all loops: of a leaf, or of what an earlier copy has saved, to an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Copy {
    pub(super) from: NodeId,
    pub(super) to: u32,
    /// Saved here first, since the source is state that another copy or store overwrites.
    pub(super) through: Option<Dim>,
}

/// Memory that a scan uses beside its results; offsets are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScanMemory {
    /// Of the carries that are no results.
    pub(super) carries: Vec<Option<Dim>>,
    /// The number of the step.
    pub(super) number: Dim,
    /// Whether the step is taken.
    pub(super) condition: Dim,
    /// The arena of a step, and that of the condition.
    pub(super) step: Dim,
}

/// The memory of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// One for each root.
    pub(super) homes: Vec<Home>,
    /// After all groups, in order.
    pub(super) copies: Vec<Copy>,
    /// Of each scan.
    pub(super) scans: BTreeMap<NodeId, ScanMemory>,
    /// Bytes of the arena.
    pub(super) bytes: Dim,
    /// What is in it when.
    pub(super) uses: Vec<Use>,
}

impl Memory {
    /// Gives all offsets their values.
    fn resolve(&mut self, arena: Placed) {
        let mut resolve = |offset: &mut Dim| arena.resolve(offset);
        self.homes.iter_mut().for_each(|home| home.offsets(&mut resolve));
        self.copies.iter_mut().filter_map(|copy| copy.through.as_mut()).for_each(&mut resolve);
        for ScanMemory { carries, number, condition, step } in self.scans.values_mut() {
            carries.iter_mut().flatten().chain([number, condition, step]).for_each(&mut resolve);
        }
        (self.bytes, self.uses) = (arena.bytes, arena.uses);
    }
}

/// Gives every root a home.  `states` are the inputs that the last outputs overwrite, in order.
pub(super) fn place(
    graph: &Graph,
    roots: &[Root],
    groups: &[Group],
    strips: &[Strip],
    steps: &BTreeMap<NodeId, Steps<'_>>,
    states: &[u32],
    grain: Grain,
) -> Memory {
    let mut placer = Placer {
        graph,
        roots,
        groups,
        steps,
        strip_of: strips.iter().flat_map(|strip| strip.groups.clone().map(move |_| strip)).collect(),
        grain,
        position: vec![(0, 0); roots.len()],
        by_node: roots.iter().enumerate().map(|(i, root)| (root.node, i)).collect(),
        copied: vec![false; roots.len()],
        inherited: BTreeSet::new(),
        readers: BTreeMap::new(),
        arena: Arena::new(&graph.facts),
    };
    placer.index();
    placer.run(states)
}

struct Placer<'a> {
    graph: &'a Graph,
    roots: &'a [Root],
    groups: &'a [Group],
    steps: &'a BTreeMap<NodeId, Steps<'a>>,
    /// The strip of each group.
    strip_of: Vec<&'a Strip>,
    grain: Grain,
    /// Group and stage of each root.
    position: Vec<(usize, usize)>,
    by_node: BTreeMap<NodeId, usize>,
    /// Which roots are copied after all groups.
    copied: Vec<bool>,
    /// Roots whose memory has gone to a reader of theirs.
    inherited: BTreeSet<usize>,
    /// Who reads a leaf, and where.
    readers: BTreeMap<NodeId, Vec<(usize, &'a At)>>,
    arena: Arena<'a>,
}

impl<'a> Placer<'a> {
    fn index(&mut self) {
        for (g, group) in self.groups.iter().enumerate() {
            for (s, stage) in group.stages.iter().enumerate() {
                for root in stage {
                    self.position[*root] = (g, s);
                }
            }
        }
        for (i, root) in self.roots.iter().enumerate() {
            for (leaf, at) in &root.reads {
                self.readers.entry(*leaf).or_default().push((i, at));
            }
        }
    }

    fn run(mut self, states: &[u32]) -> Memory {
        let mut memory = Memory { homes: vec![Home::default(); self.roots.len()], ..Memory::default() };
        let results = self.graph.outputs.len() - states.len();
        let first_result = self.graph.inputs.len() as u32;
        let overwritten: BTreeSet<u32> = states.iter().copied().collect();
        for (position, output) in self.graph.outputs.iter().enumerate() {
            let node = stored(self.graph, *output);
            let (to, state) = match position.checked_sub(results) {
                None => (first_result + position as u32, false),
                Some(state) => (states[state], true),
            };
            match (self.by_node.get(&node), &self.graph.node(node).op) {
                (Some(root), _) if !state || self.may_overwrite(*root, to) => {
                    memory.homes[*root].arguments.push(to);
                }
                (None, Op::Input(input)) if *input == to => {}
                (root, _) => {
                    if let Some(root) = root {
                        self.copied[*root] = true;
                    }
                    memory.copies.push(Copy { from: node, to, through: None });
                }
            }
        }
        self.place_roots(&mut memory);
        self.save_overwritten(&mut memory, &overwritten);
        memory.resolve(self.arena.place(self.groups.len()));
        memory
    }

    /// Whether a root may be stored to the buffer of state `input` at once: nothing reads the old value later.
    fn may_overwrite(&self, root: usize, input: u32) -> bool {
        let of_input = |node: NodeId| self.graph.node(node).op == Op::Input(input);
        let saved = self.graph.outputs.iter().any(|output| of_input(stored(self.graph, *output)));
        let mut readers = self.readers.iter().filter(|(leaf, _)| of_input(**leaf)).flat_map(|(_, r)| r);
        !saved
            && self.roots[root].kind == Kind::Map
            && readers.all(|(reader, at)| self.reads_before(*reader, at, root))
    }

    fn place_roots(&mut self, memory: &mut Memory) {
        for (g, group) in self.groups.iter().enumerate() {
            let cut = Cut::of(&self.graph.facts, self.grain, self.roots, group);
            for root in group.roots() {
                memory.homes[root].panels = self.panels(g, root);
                memory.homes[root].scratch = self.scratch(g, root);
                memory.homes[root].accumulators = self.accumulators(g, root, cut.as_ref());
                let readers = self.readers.get(&self.roots[root].node).cloned().unwrap_or_default();
                let in_registers = |reader: usize, at: &At| {
                    let (group_of, stage) = self.position[reader];
                    let row_value = group.nest == Nest::Rows && self.roots[root].parallel.len() == group.rows;
                    let aligned = matches!(at, At::Axes(index) if aligned(index) == index.len());
                    group_of == g && aligned && (stage == self.position[root].1 || row_value)
                };
                let from_memory: Vec<_> =
                    readers.iter().filter(|(reader, at)| !in_registers(*reader, at)).collect();
                let arguments = &memory.homes[root].arguments;
                let stored = !arguments.is_empty();
                // What overwrites a state has been read, and is in cache.
                let overwrites = arguments.iter().any(|to| (*to as usize) < self.graph.inputs.len());
                let unread = from_memory.is_empty() && stored && !overwrites && !self.copied[root];
                if self.copied[root] || !from_memory.is_empty() && !stored {
                    let last = readers.iter().map(|(reader, _)| self.position[*reader].0).max().unwrap_or(g);
                    let last = if self.copied[root] { usize::MAX } else { last };
                    let slot =
                        self.in_place(memory, root, g, last).unwrap_or_else(|| self.slot(root, g, last));
                    memory.homes[root].arena = Some(slot);
                }
                memory.homes[root].unread = unread;
            }
            for stage in &group.stages {
                self.place_sums(memory, g, stage);
            }
            if let Some(scan) = self.roots[group.stages[0][0]].scan {
                let placed = self.scan(g, scan);
                memory.scans.extend(placed.map(|placed| (scan, placed)));
            }
        }
    }

    /// Memory for the steps of a scan.
    fn scan(&mut self, g: usize, scan: NodeId) -> Option<ScanMemory> {
        let Steps { step, condition } = self.steps.get(&scan)?;
        let Op::Scan(op) = &self.graph.node(scan).op else { return None };
        let is_result = |carry: usize| {
            let results = self.groups[g].roots().map(|root| &self.graph.node(self.roots[root].node).op);
            results.into_iter().any(|op| *op == Op::Output(Output(carry)))
        };
        let bytes = |ty: &Type| &volume(&ty.shape) * &Dim::constant(ty.dtype.size() as i64);
        let carries = op.body.inputs[..op.carries].iter().enumerate();
        let carries: Vec<Option<Dim>> =
            carries.map(|(carry, input)| (!is_result(carry)).then(|| bytes(&input.ty))).collect();
        let inner = condition
            .as_ref()
            .map_or(step.workspace().clone(), |condition| step.workspace().maximum(condition.workspace()));
        let mut take = |bytes: &Dim| self.arena.take(bytes, g, g);
        Some(ScanMemory {
            carries: carries.iter().map(|bytes| bytes.as_ref().map(&mut take)).collect(),
            number: take(&Dim::constant(8)),
            condition: take(&Dim::constant(1)),
            step: take(&inner),
        })
    }

    /// The groups in which memory is in use that groups `first` to `last` of a strip use.  Of the tasks of a strip each
    /// may be at another group, and slices of other sizes lie elsewhere.
    fn in_use(strip: &Strip, first: usize, last: usize) -> (usize, usize) {
        match strip.tasks {
            Some(_) => (strip.groups.start, strip.groups.end - 1),
            None => (first, last),
        }
    }

    /// Memory for the panels of a product.  The block of the right operand is packed for all tasks of one product, and
    /// for each where every task has products of its own.
    fn panels(&mut self, group: usize, product: usize) -> [Option<Panel>; 2] {
        let root = &self.roots[product];
        let bytes = Packing::of(&self.graph.facts, root).bytes(root);
        let strip = self.strip_of[group];
        let cut = match strip.rows {
            0 => Cut::of_product(&self.graph.facts, self.grain, root),
            _ => strip.tasks.clone(),
        };
        let is_one = strip.rows == 0 && tasks::batches(root).is_none();
        let slices = |bytes: &Dim| match &cut {
            Some(cut) => {
                let Slices { bytes, stride } = Slices::new(&cut.most_tasks(), bytes, root.lane_bytes);
                (bytes, Some(stride))
            }
            None => (bytes.clone(), None),
        };
        let large = Packing::is_large(&self.graph.facts, root);
        let if_large = |(bytes, slice): (Dim, Option<Dim>)| (&bytes * &large, slice);
        let right = match (bytes.tile, bytes.block) {
            (Some(tile), Some(block)) if is_one => {
                let (tiles, stride) = slices(&tile);
                Some((tiles.maximum(&(&block * &large)), stride))
            }
            (None, Some(block)) if is_one => Some(if_large((block, None))),
            (Some(tile), Some(block)) => Some(slices(&tile.maximum(&block))),
            (None, Some(block)) => Some(if_large(slices(&block))),
            (tile, None) => tile.map(|bytes| slices(&bytes)),
        };
        let left = bytes.left.map(|bytes| if_large(slices(&bytes)));
        let (first, last) = Placer::in_use(strip, group, group);
        let mut place = |(bytes, slice): (Dim, Option<Dim>)| Panel {
            offset: self.arena.take(&bytes, first, last),
            slice,
        };
        [left.map(&mut place), right.map(&mut place)]
    }

    /// Memory in which the rows of a sort are sorted, for every task its own.
    fn scratch(&mut self, group: usize, root: usize) -> Vec<(DType, Panel)> {
        let Op::Sort(op) = &self.graph.node(self.roots[root].node).op else { return Vec::new() };
        let rows = Group { rows: op.axis, ..self.groups[group].clone() };
        let cut = Cut::of(&self.graph.facts, self.grain, self.roots, &rows);
        let operand = self.graph.node(self.roots[root].node).inputs[0];
        let space = sort::space(self.graph.ty(operand).dtype, &self.roots[root].parallel[op.axis]);
        let mut places = Vec::with_capacity(space.len());
        for (dtype, bytes) in space {
            let (bytes, slice) = match &cut {
                Some(cut) => {
                    let Slices { bytes, stride } = Slices::new(&cut.most_tasks(), &bytes, dtype.size());
                    (bytes, Some(stride))
                }
                None => (bytes, None),
            };
            places.push((dtype, Panel { offset: self.arena.take(&bytes, group, group), slice }));
        }
        places
    }

    /// Finds memory for the sums of the products of a stage whose other roots are their epilogue.
    fn place_sums(&mut self, memory: &mut Memory, group: usize, stage: &[usize]) {
        for product in stage {
            let root = &self.roots[*product];
            let cut = self.groups[group].portion == Portion::Terms;
            if root.kind != Kind::Product
                || !cut && Packing::of(&self.graph.facts, root).block_terms.is_none()
            {
                continue;
            }
            let ty = self.graph.ty(root.node);
            let inputs = self.graph.inputs.len() as u32;
            // A state is no such home, nor an operand's memory: the epilogue may read the old value.
            let usable = |other: &&usize| {
                let Home { arguments, arena, .. } = &memory.homes[**other];
                let own = match arena {
                    Some(slot) => !slot.in_place,
                    None => arguments.first().is_some_and(|first| *first >= inputs),
                };
                own && self.graph.ty(self.roots[**other].node) == ty
            };
            let own = std::iter::once(product).chain(stage).find(usable).copied();
            memory.homes[*product].sums = Some(match own {
                Some(own) => Sums::Of(own),
                None => Sums::Apart(self.slot(*product, group, group)),
            });
        }
    }

    /// The memory of an operand that a map is the last to read, each element just before its own is stored.
    fn in_place(&mut self, memory: &Memory, root: usize, g: usize, last: usize) -> Option<Slot> {
        let (map, group) = (&self.roots[root], &self.groups[g]);
        let strip = self.strip_of[g];
        if map.kind != Kind::Map
            || matches!(group.nest, Nest::Scatter | Nest::Cumulate | Nest::Sort | Nest::Matrices)
        {
            return None;
        }
        let ty = self.graph.ty(map.node);
        if volume(&ty.shape).is(0) {
            return None;
        }
        let last = self.strip_of.get(last).map_or(last, |strip| strip.groups.end - 1);
        let operands = map.reads.iter().filter_map(|(leaf, _)| Some((leaf, *self.by_node.get(leaf)?)));
        for (leaf, operand) in operands {
            let Some(slot) = &memory.homes[operand].arena else { continue };
            let dies = slot.lacks == 0
                && !slot.strip
                && self.position[operand].0 < strip.groups.start
                && !self.copied[operand]
                && !self.inherited.contains(&operand)
                && self.readers[leaf].iter().all(|(reader, at)| self.reads_before(*reader, at, root));
            if dies && self.graph.ty(*leaf) == ty {
                self.inherited.insert(operand);
                self.arena.keep(&slot.offset, last);
                return Some(Slot { in_place: true, ..slot.clone() });
            }
        }
        None
    }

    /// Whether a reader is done with the place of every element when the root of a map stores its own.
    fn reads_before(&self, reader: usize, at: &At, root: usize) -> bool {
        let ((g, stage), (own, own_stage)) = (self.position[reader], self.position[root]);
        if g < self.strip_of[own].groups.start {
            return true;
        }
        let At::Axes(index) = at else { return false };
        let rank = self.roots[root].parallel.len();
        let same_element = index.len() == rank && aligned(index) == rank;
        let same_row = self.groups[own].nest == Nest::Rows && aligned(index) >= self.groups[own].rows;
        g == own && (stage < own_stage && same_row || stage == own_stage && same_element)
    }

    /// Memory for a root of group `g` that group `last` is the last to read.
    fn slot(&mut self, root: usize, g: usize, last: usize) -> Slot {
        let (group, strip) = (&self.groups[g], self.strip_of[g]);
        let ty = self.graph.ty(self.roots[root].node);
        let size = ty.dtype.size() as i64;
        let local = |lacks: usize, rows: i64| &volume(&ty.shape[lacks..]) * &Dim::constant(rows * size);
        let slot = Slot { offset: Dim::default(), lacks: 0, strip: false, slice: None, in_place: false };
        let cut = match strip.rows {
            0 => Cut::of(&self.graph.facts, self.grain, self.roots, group),
            _ => strip.tasks.clone(),
        };
        let sliced = |bytes: Dim| match &cut {
            Some(cut) => {
                let Slices { bytes, stride } = Slices::new(&cut.most_tasks(), &bytes, ty.dtype.size());
                (bytes, Some(stride))
            }
            None => (bytes, None),
        };
        if group.nest == Nest::Rows && group.rows > 0 && last == g {
            let (bytes, slice) = sliced(local(group.rows, 1));
            let (first, last) = Placer::in_use(strip, g, g);
            let offset = self.arena.take(&bytes, first, last);
            return Slot { offset, lacks: group.rows, slice, ..slot };
        }
        if strip.rows > 0 && last < strip.groups.end && group.portion != Portion::Terms {
            let (bytes, slice) = sliced(local(strip.rows, if strip.cut { HEIGHT } else { 1 }));
            let lacks = strip.rows - usize::from(strip.cut);
            let (first, last) = Placer::in_use(strip, g, last);
            let offset = self.arena.take(&bytes, first, last);
            return Slot { offset, lacks, strip: strip.cut, slice, ..slot };
        }
        // A strip runs its groups again and again: what lives longer is in use from its first group to its last.
        let last = self.strip_of.get(last).map_or(last, |strip| strip.groups.end - 1);
        Slot { offset: self.arena.take(&local(0, 1), strip.groups.start, last), ..slot }
    }

    /// The accumulators of a fold across rows.
    fn accumulators(&mut self, group: usize, root: usize, cut: Option<&Cut>) -> Vec<Accumulators> {
        let Root { kind, node, folded, .. } = &self.roots[root];
        if *kind != Kind::Across {
            return Vec::new();
        }
        let ty = self.graph.ty(*node);
        let bytes = match folded.is_empty() {
            true => &volume(&ty.shape) * &Dim::constant(ty.dtype.size() as i64),
            false => Dim::constant(LANES_BYTES),
        };
        let rows = &self.roots[root].parallel[..self.groups[group].rows];
        let mut levels = Vec::new();
        for (axis, extent) in rows.iter().enumerate() {
            let count = cut.and_then(|cut| match axis.cmp(&cut.axis?) {
                Ordering::Less => None,
                Ordering::Equal => Some(cut.units.clone()),
                Ordering::Greater => Some(cut.most_tasks()),
            });
            let slices = count.map(|count| Slices::new(&count, &bytes, ty.dtype.size()));
            let own = slices.as_ref().map_or(&bytes, |slices| &slices.bytes);
            let is_unit = cut.is_some_and(|cut| cut.axis == Some(axis));
            let of_task = cut.filter(|cut| cut.axis.is_some_and(|cut| cut <= axis));
            let runs = of_task.map(|cut| Slices::new(&cut.most_tasks(), &bytes, ty.dtype.size()));
            let in_registers = axis + 1 == rows.len() && self.groups[group].sums_columns(self.roots);
            let mut take = |needed: bool, bytes: &Dim| needed.then(|| self.arena.take(bytes, group, group));
            levels.push(Accumulators {
                total: take(axis > 0 || !folded.is_empty(), if is_unit { &bytes } else { own }),
                block: take(!is_one_block(extent, 1), own),
                run: take(
                    !is_one_run(extent) && !in_registers,
                    runs.as_ref().map_or(&bytes, |runs| &runs.bytes),
                ),
                run_slice: runs.map(|runs| runs.stride),
                slice: slices.as_ref().map(|slices| slices.stride.clone()),
            });
        }
        levels
    }

    /// A copy whose source is state that is overwritten reads a saved copy.
    fn save_overwritten(&mut self, memory: &mut Memory, overwritten: &BTreeSet<u32>) {
        for copy in &mut memory.copies {
            if let Op::Input(input) = self.graph.node(copy.from).op
                && overwritten.contains(&input)
            {
                let ty = self.graph.ty(copy.from);
                let bytes = &volume(&ty.shape) * &Dim::constant(ty.dtype.size() as i64);
                copy.through = Some(self.arena.take(&bytes, self.groups.len(), usize::MAX));
            }
        }
    }
}
