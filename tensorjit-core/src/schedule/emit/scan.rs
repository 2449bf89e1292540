//! Scans: a loop over the steps, each of which runs the schedule of the body.
//!
//! Carries are the state of a step, so that they stand in one place, which is also where the last of them is wanted.
//! Slices and stacks are parts of whole tensors.

use tensorjit_runtime::abi::DType;

use super::Emit;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::ops::scan::{Output, Scan};
use crate::graph::{NodeId, Op};
use crate::lanes::{Lanes, Prim, Val};
use crate::loops::{Buf, Builder};
use crate::schedule::Schedule;
use crate::schedule::fuse::Group;
use crate::schedule::keep::stored;
use crate::schedule::reads::{flat, volume};
use crate::schedule::steps::Steps;

/// What the steps of a scan work on.
struct Memories {
    carries: Vec<Buf>,
    slices: Vec<Buf>,
    captures: Vec<Buf>,
    number: Buf,
    condition: Buf,
    stacks: Vec<Buf>,
}

impl<'a> Emit<'a> {
    /// All results of a scan.
    pub(super) fn scan(&mut self, group: &Group) -> Result<(), Bug> {
        let lost = || Bug::new("schedule", "a scan was not planned");
        let id = self.roots[group.stages[0][0]].scan.ok_or_else(lost)?;
        let graph = self.graph;
        let Op::Scan(scan) = &graph.node(id).op else { return Err(lost()) };
        let operands = &graph.node(id).inputs;
        let memories = self.memories(group, id, scan)?;
        for (carry, operand) in memories.carries.iter().zip(operands) {
            self.b.pin(*carry);
            self.fill(*carry, *operand, &graph.ty(*operand).shape, &mut Vec::new())?;
        }
        let count = self.scalar_index(&scan.count)?;
        let steps = match (scan.counted, operands.last()) {
            (true, Some(steps)) => {
                let steps = self.value(*steps, &[])?;
                self.least(steps, count)
            }
            _ => count,
        };
        let zero = self.int(0);
        let initial = if scan.conditional { vec![self.b.int(DType::Bool, 1), zero] } else { Vec::new() };
        let taken = self.range_loop((zero, steps, 1), &initial, &mut |emit, sym, carried| {
            if scan.conditional {
                emit.b.conditional_loop();
            }
            let turn = emit.scalar_index(&Dim::sym(sym))?;
            let step = if scan.reverse {
                let one = emit.int(1);
                let last = emit.b.prim(Prim::Sub, &[steps, one]);
                emit.b.prim(Prim::Sub, &[last, turn])
            } else {
                turn
            };
            emit.one_step(id, scan, &memories, step, carried)
        })?;
        self.results(group, taken.get(1).copied())
    }

    /// Step number `step`.
    fn one_step(
        &mut self,
        id: NodeId,
        scan: &Scan,
        memories: &Memories,
        step: Val,
        carried: &[Val],
    ) -> Result<Vec<Val>, Bug> {
        let steps = self.steps;
        let Some(Steps { step: schedule, condition }) = steps.get(&id) else {
            return Err(Bug::new("schedule", "a scan has no steps"));
        };
        let Memories { carries, slices, captures, number, condition: goes_on, stacks } = memories;
        carries.iter().chain([number, goes_on]).chain(stacks).for_each(|buf| self.b.pin(*buf));
        let zero = self.int(0);
        self.b.store(*number, zero, step, None);
        let mut inputs = carries.clone();
        for (slice, input) in slices.iter().zip(&scan.body.inputs[scan.carries..]) {
            inputs.push(self.part(*slice, &input.ty.shape, step)?);
        }
        inputs.extend(captures);
        inputs.push(*number);
        let mut arguments = inputs.clone();
        for (stack, output) in stacks.iter().zip(&scan.body.outputs[scan.carries..]) {
            arguments.push(self.part(*stack, &scan.body.ty(*output).shape, step)?);
        }
        let arena = &self.arena + &self.memory.scans[&id].step;
        let Some(condition) = condition else {
            self.inside(schedule, arguments, arena)?;
            return Ok(Vec::new());
        };
        inputs.push(*goes_on);
        self.inside(condition, inputs, arena.clone())?;
        let taken = self.b.load(*goes_on, zero, 1, None);
        self.b.open_branch(taken);
        self.inside(schedule, arguments, arena)?;
        let one = self.int(1);
        let more = self.b.prim(Prim::Add, &[carried[1], one]);
        self.b.otherwise(vec![more]);
        let count = self.b.close_branch(vec![carried[1]]);
        Ok(vec![taken, count[0]])
    }

    /// Runs a schedule on other arguments, its memory being at `arena`.
    fn inside(&mut self, schedule: &'a Schedule<'a>, arguments: Vec<Buf>, arena: Dim) -> Result<(), Bug> {
        let empty = Builder::new(self.b.target().clone());
        let b = std::mem::replace(&mut self.b, empty);
        let mut inner = Emit::new(schedule, &schedule.strips, b, arguments, arena);
        let done = inner.all();
        self.b = inner.b;
        done
    }

    /// The memory of the operands, results and carries.
    fn memories(&mut self, group: &Group, id: NodeId, scan: &Scan) -> Result<Memories, Bug> {
        let placed =
            self.memory.scans.get(&id).ok_or_else(|| Bug::new("schedule", "a scan has no memory"))?;
        let graph = self.graph;
        let result = |emit: &Self, position: usize| {
            let mut nodes = group.roots().map(|root| emit.roots[root].node);
            let node = nodes.find(|node| graph.node(*node).op == Op::Output(Output(position)))?;
            emit.stored.get(&node).map(|stored| stored.buf)
        };
        let nowhere = || Bug::new("schedule", "a result of a scan stands nowhere");
        let mut carries = Vec::with_capacity(scan.carries);
        for (carry, offset) in placed.carries.iter().enumerate() {
            carries.push(match offset {
                Some(offset) => self.arena(scan.body.inputs[carry].ty.dtype, offset),
                None => result(self, carry).ok_or_else(nowhere)?,
            });
        }
        let mut leaves = Vec::new();
        for operand in &graph.node(id).inputs[scan.carries..scan.body.inputs.len() - 1] {
            leaves.push(self.leaf(*operand)?);
        }
        let captures = leaves.split_off(scan.slices);
        let stacks = scan.carries..scan.carries + scan.stacks();
        Ok(Memories {
            carries,
            slices: leaves,
            captures,
            number: self.arena(DType::I64, &placed.number),
            condition: self.arena(DType::Bool, &placed.condition),
            stacks: stacks.map(|stack| result(self, stack).ok_or_else(nowhere)).collect::<Result<_, _>>()?,
        })
    }

    /// Where an operand stands.
    fn leaf(&self, operand: NodeId) -> Result<Buf, Bug> {
        let node = stored(self.graph, operand);
        match (self.stored.get(&node), &self.graph.node(node).op) {
            (Some(stored), _) => Ok(stored.buf),
            (None, Op::Input(input)) => Ok(self.arguments[*input as usize]),
            _ => Err(Bug::new("schedule", format!("{node:?} is read by a scan but stands nowhere"))),
        }
    }

    /// One index of the first axis of a tensor.
    fn part(&mut self, whole: Buf, shape: &[Dim], index: Val) -> Result<Buf, Bug> {
        let volume = self.scalar_index(&volume(shape))?;
        let start = self.b.prim(Prim::Mul, &[volume, index]);
        Ok(self.b.view(whole, start))
    }

    /// Stores all elements of a node.
    fn fill(&mut self, to: Buf, node: NodeId, extents: &[Dim], at: &mut Vec<Dim>) -> Result<(), Bug> {
        let shape = &self.graph.ty(node).shape;
        let mut turn = |emit: &mut Self, index: Dim, rest: &[Dim]| {
            at.push(index);
            emit.fill(to, node, rest, at)?;
            at.pop();
            Ok(())
        };
        match extents {
            [] => {
                let value = self.value(node, at)?;
                self.store_at(to, &flat(shape, at), value)
            }
            [extent] => {
                let bytes = self.b.buffer_dtype(to).size().max(4);
                self.lane_loop(extent, bytes, 2, &mut |emit, sym| turn(emit, Dim::sym(sym), &[]))
            }
            [extent, rest @ ..] => {
                self.scalar_loop(extent, &[], &mut |emit, sym, _| {
                    turn(emit, Dim::sym(sym), rest).map(|()| Vec::new())
                })?;
                Ok(())
            }
        }
    }

    /// Stores the number of steps, and copies results to where they are wanted too.
    fn results(&mut self, group: &Group, taken: Option<Val>) -> Result<(), Bug> {
        for root in group.roots() {
            let node = self.roots[root].node;
            let ty = self.graph.ty(node).clone();
            let Some(stored) = self.stored.get(&node).map(|stored| stored.buf) else { continue };
            if let (Some(taken), Op::Output(Output(position))) = (taken, &self.graph.node(node).op)
                && let Some(Op::Scan(scan)) = self.roots[root].scan.map(|scan| &self.graph.node(scan).op)
                && *position + 1 == scan.results()
            {
                let zero = self.int(0);
                self.b.store(stored, zero, taken, None);
            }
            self.b.pin(stored);
            let arguments = &self.memory.homes[root].arguments;
            let skip = usize::from(self.memory.homes[root].arena.is_none());
            for argument in arguments.iter().skip(skip) {
                self.copy(stored, self.arguments[*argument as usize], &volume(&ty.shape))?;
            }
        }
        Ok(())
    }
}
