//! Where values stand: in arguments, in the arena, or only in registers.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::fuse::{Group, Nest};
use super::order::{LANES_BYTES, is_one_block};
use super::packing::Packing;
use super::reads::{At, volume};
use super::roots::{Kind, Root, stored, variable};
use super::tasks::{Cut, Grain, Slices};
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::{Graph, NodeId, Op};

/// Where a root is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Home {
    /// Arguments that receive it.
    pub(super) arguments: Vec<u32>,
    /// Its place in the arena, where it has one.
    pub(super) arena: Option<Slot>,
    /// Offsets of the panels of a product's operands, left and right, where they are packed.
    pub(super) panels: [Option<Dim>; 2],
    /// Of a fold across rows: the accumulators of each axis of the rows, outermost first.
    pub(super) accumulators: Vec<Accumulators>,
    /// Where the sums of a product stand between blocks of terms, where it may have several.
    pub(super) sums: Option<Sums>,
}

/// Offsets of the accumulators of one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Accumulators {
    /// Of the blocks before; none where the result itself is the place.
    pub(super) total: Option<Dim>,
    /// Of the block at hand; none where there is one block.
    pub(super) block: Option<Dim>,
    /// Where tasks have their own, of the elements from one to the next: of a total, by the number of the task, and
    /// of a block that is a unit of work, by the number of the unit.
    pub(super) slice: Option<Dim>,
}

/// Memory of the size of a product's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sums {
    /// The home of a root: of the product itself, or of its epilogue, which is stored after the last block.
    Of(usize),
    /// A piece of the arena at this offset.
    Apart(Dim),
}

/// A piece of the arena.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// The offset in bytes.
    pub(super) offset: Dim,
    /// Whether it holds one row of the group at a time.
    pub(super) row: bool,
    /// Where every task has a row of its own: the elements from one to the next.
    pub(super) slice: Option<Dim>,
}

/// A copy after all loops: of a leaf, or of what an earlier copy has saved, to an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Copy {
    pub(super) from: NodeId,
    pub(super) to: u32,
    /// Saved here first, since the source is state that another copy or store overwrites.
    pub(super) through: Option<Dim>,
}

/// The memory of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// One for each root.
    pub(super) homes: Vec<Home>,
    /// After all groups, in order.
    pub(super) copies: Vec<Copy>,
    /// Bytes of the arena.
    pub(super) bytes: Dim,
}

/// Gives every root a home.  `states` are the inputs that the last outputs overwrite, in order.
pub(super) fn place(graph: &Graph, roots: &[Root], groups: &[Group], states: &[u32], grain: Grain) -> Memory {
    let mut placer = Placer {
        graph,
        roots,
        groups,
        grain,
        position: vec![(0, 0); roots.len()],
        readers: BTreeMap::new(),
        arena: Arena { facts: &graph.facts, slots: Vec::new() },
    };
    placer.index();
    placer.run(states)
}

struct Placer<'a> {
    graph: &'a Graph,
    roots: &'a [Root],
    groups: &'a [Group],
    grain: Grain,
    /// Group and stage of each root.
    position: Vec<(usize, usize)>,
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
        let by_node: BTreeMap<NodeId, usize> =
            self.roots.iter().enumerate().map(|(i, root)| (root.node, i)).collect();
        let results = self.graph.outputs.len() - states.len();
        let first_result = self.graph.inputs.len() as u32;
        let overwritten: BTreeSet<u32> = states.iter().copied().collect();
        let mut copied = vec![false; self.roots.len()];
        for (position, output) in self.graph.outputs.iter().enumerate() {
            let node = stored(self.graph, *output);
            let (to, state) = match position.checked_sub(results) {
                None => (first_result + position as u32, false),
                Some(state) => (states[state], true),
            };
            match (by_node.get(&node), &self.graph.node(node).op) {
                (Some(root), _) if !state || self.may_overwrite(*root, to) => {
                    memory.homes[*root].arguments.push(to);
                }
                (None, Op::Input(input)) if *input == to => {}
                (root, _) => {
                    if let Some(root) = root {
                        copied[*root] = true;
                    }
                    memory.copies.push(Copy { from: node, to, through: None });
                }
            }
        }
        self.place_roots(&mut memory, &copied);
        self.save_overwritten(&mut memory, &overwritten);
        memory.bytes = self.arena.bytes();
        memory
    }

    /// Whether a root may be stored to the buffer of state `input` at once: nothing reads the old value later.
    fn may_overwrite(&self, root: usize, input: u32) -> bool {
        let (group, stage) = self.position[root];
        let of_input = |node: NodeId| self.graph.node(node).op == Op::Input(input);
        let saved = self.graph.outputs.iter().any(|output| of_input(stored(self.graph, *output)));
        let rank = self.roots[root].parallel.len();
        !saved
            && self.roots[root].kind == Kind::Map
            && self.readers.iter().filter(|(leaf, _)| of_input(**leaf)).flat_map(|(_, readers)| readers).all(
                |(reader, at)| {
                    let (g, s) = self.position[*reader];
                    let same_element = matches!(at, At::Axes(index)
                        if index.len() == rank && index.iter().enumerate().all(|(i, x)| *x == variable(i)));
                    g < group || (*reader == root || (g, s) == (group, stage)) && same_element
                },
            )
    }

    fn place_roots(&mut self, memory: &mut Memory, copied: &[bool]) {
        for (g, group) in self.groups.iter().enumerate() {
            let cut = Cut::of(&self.graph.facts, self.grain, self.roots, group);
            for root in group.roots() {
                for (panel, bytes) in Packing::of(&self.graph.facts, &self.roots[root])
                    .bytes(&self.roots[root])
                    .into_iter()
                    .enumerate()
                {
                    memory.homes[root].panels[panel] = bytes.map(|bytes| self.arena.take(bytes, g, g));
                }
                memory.homes[root].accumulators = self.accumulators(g, root, cut.as_ref());
                let readers = self.readers.get(&self.roots[root].node).cloned().unwrap_or_default();
                let in_registers = |reader: usize, at: &At| {
                    let (group_of, stage) = self.position[reader];
                    let row_value = group.nest == Nest::Rows && self.roots[root].parallel.len() == group.rows;
                    let aligned = matches!(at, At::Axes(index)
                        if index.iter().enumerate().all(|(i, x)| *x == variable(i)));
                    group_of == g && aligned && (stage == self.position[root].1 || row_value)
                };
                let from_memory: Vec<_> =
                    readers.iter().filter(|(reader, at)| !in_registers(*reader, at)).collect();
                let home = &mut memory.homes[root];
                if copied[root] || !from_memory.is_empty() && home.arguments.is_empty() {
                    let last = readers.iter().map(|(reader, _)| self.position[*reader].0).max().unwrap_or(g);
                    let row = last == g && !copied[root] && group.nest == Nest::Rows && group.rows > 0;
                    let ty = self.graph.ty(self.roots[root].node);
                    let extents = &ty.shape[if row { group.rows } else { 0 }..];
                    let mut bytes = &volume(extents) * &Dim::constant(ty.dtype.size() as i64);
                    let mut slice = None;
                    if row && let Some(cut) = &cut {
                        let slices = Slices::new(&cut.most_tasks(), &bytes, ty.dtype.size());
                        (bytes, slice) = (slices.bytes, Some(slices.stride));
                    }
                    let last = if copied[root] { usize::MAX } else { last };
                    home.arena = Some(Slot { offset: self.arena.take(bytes, g, last), row, slice });
                }
            }
            for stage in &group.stages {
                self.place_sums(memory, g, stage);
            }
        }
    }

    /// Finds memory for the sums of the products of a stage whose other roots are their epilogue.
    fn place_sums(&mut self, memory: &mut Memory, group: usize, stage: &[usize]) {
        for product in stage {
            let root = &self.roots[*product];
            if Packing::of(&self.graph.facts, root).block_terms.is_none() {
                continue;
            }
            let ty = self.graph.ty(root.node);
            let inputs = self.graph.inputs.len() as u32;
            // A state is no such home: the epilogue may read its old value.
            let usable = |other: &&usize| {
                let home = &memory.homes[**other];
                self.graph.ty(self.roots[**other].node) == ty
                    && (home.arena.is_some() || home.arguments.first().is_some_and(|first| *first >= inputs))
            };
            let own = std::iter::once(product).chain(stage).find(usable).copied();
            memory.homes[*product].sums = Some(own.map_or_else(
                || {
                    let bytes = &volume(&ty.shape) * &Dim::constant(ty.dtype.size() as i64);
                    Sums::Apart(self.arena.take(bytes, group, group))
                },
                Sums::Of,
            ));
        }
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
            let mut take =
                |needed: bool, bytes: &Dim| needed.then(|| self.arena.take(bytes.clone(), group, group));
            levels.push(Accumulators {
                total: take(axis > 0 || !folded.is_empty(), if is_unit { &bytes } else { own }),
                block: take(!is_one_block(extent, 1), own),
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
                copy.through = Some(self.arena.take(bytes, self.groups.len(), usize::MAX));
            }
        }
    }
}

/// Pieces of memory with the groups in which they are in use.
struct Arena<'a> {
    facts: &'a Facts,
    /// Offset, bytes, and the last group that uses it.
    slots: Vec<(Dim, Dim, usize)>,
}

impl Arena<'_> {
    /// Memory from group `first` to group `last`: a free piece of exactly this size, or new memory at the end.
    fn take(&mut self, bytes: Dim, first: usize, last: usize) -> Dim {
        let rounded = &bytes.ceil_div(&Dim::constant(64)) * &Dim::constant(64);
        let bytes = self.facts.normalize(&rounded);
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.2 < first && slot.1 == bytes) {
            slot.2 = last;
            return slot.0.clone();
        }
        let offset = self.bytes();
        self.slots.push((offset.clone(), bytes, last));
        offset
    }

    fn bytes(&self) -> Dim {
        self.slots.last().map_or_else(Dim::default, |(offset, bytes, _)| offset + bytes)
    }
}
