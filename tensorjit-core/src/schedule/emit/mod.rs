//! From groups to loops: each kind of group has its file; what an element is worth is [`value`]'s.

mod across;
mod ahead;
mod blocks;
mod coming;
mod cumulate;
mod factor;
mod far;
mod fold;
mod heights;
mod holds;
mod index;
mod lanes;
mod matrix;
mod panels;
mod product;
mod rows;
mod scan;
mod scatter;
mod shared;
mod short;
pub(super) mod sort;
mod stream;
mod strip;
mod tasks;
mod terms;
mod tile;
mod turn;
mod value;
mod walk;

use std::borrow::Cow;
use std::collections::BTreeMap;

use tensorjit_runtime::abi::DType;

use super::Schedule;
use super::fuse::{Group, Nest};
use super::memory::{Home, Memory, Panel, Slot, Sums};
use super::roots::Root;
use super::steps::Steps;
use super::strips::Strip;
use super::tasks::Grain;
use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::dim::{Dim, Sym};
use crate::graph::{Graph, NodeId};
use crate::lanes::{Lanes, Val};
use crate::loops::cells::promote;
use crate::loops::split::{Limits, Pool};
use crate::loops::{Buf, Buffer, Builder, Kernel, Place, Target};

/// What a loop variable is in the machine.
#[derive(Clone, Copy, Debug)]
enum Var {
    /// The same in all lanes.
    Scalar(Val),
    /// The value in lane 0; it rises by one from lane to lane.
    Lane(Val),
    /// A vector.
    Vector(Val),
}

/// Memory that holds a node: row-major, without the leading axes of which it holds one index at a time.
#[derive(Clone, Debug)]
struct Stored {
    buf: Buf,
    /// The number of leading axes that its memory lacks.
    skip: usize,
    /// Whether it begins at the first row of the strip at hand.
    strip: bool,
    /// Where every task has its own: the elements from one to the next.
    slice: Option<Dim>,
}

impl Stored {
    /// All of a node.
    fn whole(buf: Buf) -> Stored {
        Stored { buf, skip: 0, strip: false, slice: None }
    }
}

/// Memory that a product uses while it is computed.
#[derive(Clone, Debug, Default)]
struct Packed {
    /// Panels of the left and of the right operand.
    left: Option<Stored>,
    right: Option<Stored>,
    /// Sums between blocks of terms, where they stand nowhere else.
    sums: Option<Stored>,
}

/// The state of emission.
struct Emit<'a> {
    graph: &'a Graph,
    /// What is known of the symbols here: the facts of the graph, and what branches have found out.
    facts: Cow<'a, Facts>,
    /// What the innermost branch has found out: an extent, the least and the most that it is.
    found: Option<(Dim, i64, i64)>,
    roots: &'a [Root],
    groups: &'a [Group],
    strips: &'a [Strip],
    steps: &'a BTreeMap<NodeId, Steps<'a>>,
    memory: &'a Memory,
    /// Where in the arena the memory of the schedule begins.
    arena: Dim,
    grain: Grain,
    /// The rows of the strip at hand, where their axis is cut.
    strip: Option<strip::Rows>,
    b: Builder,
    /// Inputs and results in the order of the call.
    arguments: Vec<Buf>,
    /// Memory of the roots that have any.
    stored: BTreeMap<NodeId, Stored>,
    /// Memory that products use while they are computed, by root.
    panels: Vec<Packed>,
    /// Memory in which rows are sorted, by root.
    scratch: Vec<Vec<Stored>>,
    /// Room for the registers of a tile, by type.
    aside: BTreeMap<DType, Buf>,
    vars: BTreeMap<Sym, Var>,
    next: u32,
    /// Lanes of the vectors being made; 1 outside of vector loops.
    lanes: u32,
    /// Lanes that exist, in the tail of a vector loop.
    tail: Option<Val>,
    /// Lanes, or the scalar, in which a guarded source applies.
    guard: Option<Val>,
    /// Values in registers, with the index at which they hold.
    bound: BTreeMap<NodeId, (Vec<Dim>, Val)>,
    /// Vectors of a short row in registers, by what the row is of and the index.
    row: BTreeMap<(NodeId, Vec<Dim>), Val>,
    /// Whether a vector of a short row is being made.
    in_piece: bool,
    /// The variables of such vectors, by first element and lanes.
    piece_places: BTreeMap<(i64, u32), Sym>,
    /// Elements that have been computed and not yet stored.
    pending: Vec<(usize, Vec<Dim>, Val)>,
    /// What has been evaluated in the current scope.
    memo: BTreeMap<(NodeId, Vec<Dim>), Val>,
    /// The folds across the rows of the group at hand.
    across: Vec<across::Across>,
    /// The number of the task, where there are several.
    task: Option<Sym>,
    /// Whether there are several in this call.
    several: Option<Val>,
    /// Whether this call reads and writes clearly more in the group at hand than the last cache holds; none where no call does.
    beyond: Option<Val>,
    /// Whether the group at hand does nothing but read what the near caches do not hold.
    reads_far: bool,
    /// What the stage at hand asks for of the next row.
    asked: coming::Asked,
    /// Of the loop at hand, where it streams.
    streaming: Option<stream::Streaming>,
    /// The tile being made of maps that turn an operand.
    turning: Option<turn::Turning>,
    /// The root being computed, which is not read from memory.
    computing: Option<NodeId>,
}

/// Makes the kernel of all groups, in order, and the copies after them; and the parts that it calls.
pub(super) fn emit(schedule: &Schedule<'_>, target: &Target, limits: Limits) -> Result<(Kernel, Pool), Bug> {
    let (shared, pool) = shared::parts(schedule, target, limits)?;
    let mut b = Builder::new(target.clone());
    let arguments = arguments(schedule, &mut b);
    let mut emit = Emit::new(schedule, &schedule.strips, b, arguments, Dim::default());
    let mut known = BTreeMap::new();
    for (strip, own) in schedule.strips.iter().zip(&schedule.alike) {
        match shared.get(&own.first) {
            Some(shared) => emit.call(strip, shared, [&schedule.alike[own.first], own], &mut known)?,
            None => {
                emit.b.forget();
                emit.strip(strip)?;
            }
        }
    }
    emit.copies()?;
    let kernel = emit.b.finish();
    Ok((if schedule.steps.is_empty() { kernel } else { promote(kernel) }, pool))
}

/// Inputs and results in the order of the call.
fn arguments(schedule: &Schedule<'_>, b: &mut Builder) -> Vec<Buf> {
    let graph = schedule.graph();
    let inputs = graph.inputs.iter().map(|input| input.ty.dtype);
    let outputs = graph.outputs[..schedule.results].iter().map(|id| graph.ty(*id).dtype);
    let all = inputs.chain(outputs).enumerate();
    all.map(|(i, dtype)| b.buffer(Buffer { dtype, place: Place::Arg(i as u32) })).collect()
}

impl<'a> Emit<'a> {
    /// The state before these strips are emitted; the memory of the schedule begins at `arena`.
    fn new(
        schedule: &'a Schedule<'_>,
        strips: &'a [Strip],
        b: Builder,
        arguments: Vec<Buf>,
        arena: Dim,
    ) -> Emit<'a> {
        let Schedule { graph, roots, groups, steps, memory, grain, .. } = schedule;
        let mut emit = Emit {
            graph,
            facts: Cow::Borrowed(&graph.facts),
            found: None,
            roots,
            groups,
            strips,
            steps,
            memory,
            arena,
            grain: *grain,
            strip: None,
            b,
            arguments,
            stored: BTreeMap::new(),
            panels: Vec::new(),
            scratch: Vec::new(),
            aside: BTreeMap::new(),
            vars: BTreeMap::new(),
            next: 2 * super::reads::FIRST_VARIABLE,
            lanes: 1,
            tail: None,
            guard: None,
            bound: BTreeMap::new(),
            row: BTreeMap::new(),
            in_piece: false,
            piece_places: BTreeMap::new(),
            pending: Vec::new(),
            memo: BTreeMap::new(),
            across: Vec::new(),
            task: None,
            several: None,
            beyond: None,
            reads_far: false,
            asked: coming::Asked::default(),
            streaming: None,
            turning: None,
            computing: None,
        };
        emit.declare();
        emit
    }

    /// All strips in order, and the copies after them.
    fn all(&mut self) -> Result<(), Bug> {
        let strips = self.strips;
        strips.iter().try_for_each(|strip| self.strip(strip))?;
        self.copies()
    }
}

impl Emit<'_> {
    /// A group, at the indices `prefix` of the leading axes, whose loops are open.
    fn group(&mut self, group: &Group, prefix: &[Dim]) -> Result<(), Bug> {
        self.bound.clear();
        self.memo.clear();
        self.row.clear();
        self.pin_results(group);
        match group.nest {
            Nest::Product => self.product(&group.stages[0], group.portion, prefix),
            Nest::Scatter => self.scatter(group),
            Nest::Cumulate => self.cumulate(group),
            Nest::Sort => self.sort(group),
            Nest::Matrices => self.matrices(group),
            Nest::Scan => self.scan(group),
            Nest::Rows => self.rows(group, prefix),
        }
    }

    /// Keeps loads of what a group computes behind it.
    fn pin_results(&mut self, group: &Group) {
        for root in group.roots() {
            if let Some(stored) = self.stored.get(&self.roots[root].node) {
                self.b.pin(stored.buf);
            }
            for argument in &self.memory.homes[root].arguments {
                self.b.pin(self.arguments[*argument as usize]);
            }
        }
    }

    /// The memory of the schedule at an offset in bytes.
    fn arena(&mut self, dtype: DType, offset: &Dim) -> Buf {
        let place = Place::Arena(&self.arena + offset);
        self.b.buffer(Buffer { dtype, place })
    }

    /// Declares the memory of all roots, and what those of the strips use while they are computed.
    fn declare(&mut self) {
        let mut own = vec![false; self.roots.len()];
        let groups = self.strips.iter().flat_map(|strip| &self.groups[strip.groups.clone()]);
        groups.flat_map(Group::roots).for_each(|root| own[root] = true);
        for ((root, home), own) in self.roots.iter().zip(&self.memory.homes).zip(own) {
            let dtype = self.graph.ty(root.node).dtype;
            let (packed, scratch) = if own { self.scratch_of(dtype, home) } else { Default::default() };
            self.panels.push(packed);
            self.scratch.push(scratch);
            let stored = match (home.arguments.first(), &home.arena) {
                (_, Some(slot)) => self.slot(dtype, slot),
                (Some(argument), None) => Stored::whole(self.arguments[*argument as usize]),
                (None, None) => continue,
            };
            self.stored.insert(root.node, stored);
        }
    }

    /// The memory that a root uses while it is computed: of a product, and of what is sorted.
    fn scratch_of(&mut self, dtype: DType, home: &Home) -> (Packed, Vec<Stored>) {
        let mut panel = |dtype: DType, Panel { offset, slice }: &Panel| {
            let buf = self.arena(dtype, offset);
            Stored { slice: slice.clone(), ..Stored::whole(buf) }
        };
        let [left, right] = home.panels.each_ref().map(|side| side.as_ref().map(|side| panel(dtype, side)));
        let scratch = home.scratch.iter().map(|(dtype, place)| panel(*dtype, place)).collect();
        let sums = match &home.sums {
            Some(Sums::Apart(slot)) => Some(self.slot(dtype, slot)),
            _ => None,
        };
        (Packed { left, right, sums }, scratch)
    }

    fn slot(&mut self, dtype: DType, slot: &Slot) -> Stored {
        let buf = self.arena(dtype, &slot.offset);
        Stored { buf, skip: slot.lacks, strip: slot.strip, slice: slot.slice.clone() }
    }

    /// A new loop variable.
    fn fresh(&mut self, var: Var) -> Sym {
        let sym = Sym(self.next);
        self.next += 1;
        self.vars.insert(sym, var);
        sym
    }

    fn int(&mut self, value: i64) -> Val {
        self.b.int(DType::I64, value)
    }

    /// All memory that holds a root.
    fn homes(&self, root: usize) -> Vec<Stored> {
        let Home { arguments, arena, .. } = &self.memory.homes[root];
        let whole = |argument: &u32| Stored::whole(self.arguments[*argument as usize]);
        let own = arena.as_ref().and_then(|_| self.stored.get(&self.roots[root].node).cloned());
        arguments.iter().map(whole).chain(own).collect()
    }

    /// Stores an element, or a vector of elements along the last axis, of a root to all its homes.
    fn store(&mut self, root: usize, at: &[Dim], value: Val) -> Result<(), Bug> {
        let shape = &self.graph.ty(self.roots[root].node).shape;
        for home in self.homes(root) {
            let offset = self.offset(&home, shape, at);
            self.store_result(root, home.buf, &offset, value)?;
        }
        Ok(())
    }

    /// Where the element at `at` of a node of this shape stands.
    fn offset(&self, stored: &Stored, shape: &[Dim], at: &[Dim]) -> Dim {
        let mut at = at[stored.skip..].to_vec();
        if let (true, Some(rows), Some(first)) = (stored.strip, &self.strip, at.first_mut()) {
            *first = &*first - &rows.first;
        }
        let offset = super::reads::flat(&shape[stored.skip..], &at);
        match (&stored.slice, self.task) {
            (Some(slice), Some(task)) => &offset + &(slice * &Dim::sym(task)),
            _ => offset,
        }
    }

    /// Copies whole leaves to arguments, saving first what is overwritten.
    fn copies(&mut self) -> Result<(), Bug> {
        let copies = self.memory.copies.clone();
        let mut sources = Vec::new();
        for copy in &copies {
            let ty = self.graph.ty(copy.from);
            let count = super::reads::volume(&ty.shape);
            let from = match (&self.graph.node(copy.from).op, self.stored.get(&copy.from)) {
                (crate::graph::Op::Input(input), _) => self.arguments[*input as usize],
                (_, Some(stored)) => stored.buf,
                _ => {
                    return Err(Bug::new(
                        "schedule",
                        format!("{:?} is copied but stands nowhere", copy.from),
                    ));
                }
            };
            let source = match &copy.through {
                Some(offset) => {
                    let saved = self.arena(ty.dtype, offset);
                    self.copy(from, saved, &count)?;
                    saved
                }
                None => from,
            };
            sources.push((source, count));
        }
        for (copy, (source, count)) in copies.iter().zip(sources) {
            self.copy(source, self.arguments[copy.to as usize], &count)?;
        }
        Ok(())
    }

    fn copy(&mut self, from: Buf, to: Buf, count: &Dim) -> Result<(), Bug> {
        self.b.pin(from);
        self.b.pin(to);
        let bytes = self.b.buffer_dtype(from).size().max(4);
        self.lane_loop(count, bytes, 2, &mut |emit, sym| {
            let offset = Dim::sym(sym);
            let value = emit.load_at(from, &offset)?;
            emit.store_at(to, &offset, value)
        })
    }
}
