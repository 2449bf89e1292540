//! Maps over an axis as computations on whole tensors: a scan that carries nothing becomes its body with one more axis.
//!
//! What depends on the item gets a leading axis, by one rule an operator; all else is computed once.  A loop whose number of
//! steps may depend on the item, as that of a `while` or of the side of an `if` does, has no rule, and the map around it
//! stays a loop.  It is done when the derivatives in the body have been taken, so that those around it are of
//! tensors.

use std::collections::BTreeMap;
use std::sync::Arc;

use tensorjit_runtime::abi::DType;

use crate::diag::{Bug, Origin};
use crate::dim::Dim;
use crate::graph::ops::arg_reduce::ArgReduce;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::concat::Concat;
use crate::graph::ops::contract::Contract;
use crate::graph::ops::cumulate::Cumulate;
use crate::graph::ops::custom::Custom;
use crate::graph::ops::gather::Gather;
use crate::graph::ops::indexing::Indexing;
use crate::graph::ops::iota::Iota;
use crate::graph::ops::pad::{Pad, PadAxis};
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reduce::Reduce;
use crate::graph::ops::reshape::Reshape;
use crate::graph::ops::scan::{Output, Scan};
use crate::graph::ops::scatter::Scatter;
use crate::graph::ops::site::Site;
use crate::graph::ops::slice::{Range, Slice};
use crate::graph::ops::sort::Sort;
use crate::graph::ops::window::Window;
use crate::graph::table::Ew;
use crate::graph::{Graph, Input, NodeId, Op, Type};

/// The results of a scan, where it is a map whose body has rules.
pub(super) fn map(
    graph: &mut Graph,
    scan: &Scan,
    operands: &[NodeId],
    origin: Origin,
) -> Result<Option<Vec<NodeId>>, Bug> {
    if scan.carries > 0 || scan.conditional || scan.counted {
        return Ok(None);
    }
    let mut lanes: Vec<Lane> = operands
        .iter()
        .enumerate()
        .map(|(i, id)| if i < scan.slices { Lane::Each(*id) } else { Lane::Same(*id) })
        .collect();
    let numbers = Op::Iota(Iota { dtype: DType::I64, extent: scan.count.clone() });
    lanes.push(Lane::Each(graph.add(numbers, &[], origin)?));
    let mut batch = Batch { graph, count: &scan.count, origin, scans: BTreeMap::new() };
    let Some(results) = batch.body(&scan.body, lanes)? else { return Ok(None) };
    results.into_iter().map(|lane| batch.each(lane)).collect::<Result<_, _>>().map(Some)
}

/// What stands for a node of a body.
#[derive(Clone, Copy, Debug)]
enum Lane {
    /// The same for all items.
    Same(NodeId),
    /// With a leading axis of items.
    Each(NodeId),
}

impl Lane {
    fn node(self) -> NodeId {
        match self {
            Lane::Same(id) | Lane::Each(id) => id,
        }
    }

    fn is_each(self) -> bool {
        matches!(self, Lane::Each(_))
    }
}

struct Batch<'g> {
    graph: &'g mut Graph,
    count: &'g Dim,
    origin: Origin,
    /// The results of loops, and of functions with rules, within the body at hand.
    scans: BTreeMap<NodeId, Vec<NodeId>>,
}

impl Batch<'_> {
    /// The outputs of a body for its inputs; nothing where a rule is missing.
    fn body(&mut self, body: &Graph, inputs: Vec<Lane>) -> Result<Option<Vec<Lane>>, Bug> {
        let needed = body.reachable(&body.outputs);
        let mut image: Vec<Option<Lane>> = vec![None; body.len()];
        let lost = |id: NodeId| Bug::new("autodiff", format!("{id:?} of a map is read before it is made"));
        for id in body.ids().filter(|id| needed[id.0 as usize]) {
            let node = body.node(id);
            self.origin = body.origin(id);
            let operands =
                node.inputs.iter().map(|input| image[input.0 as usize].ok_or_else(|| lost(*input)));
            let operands = operands.collect::<Result<Vec<Lane>, Bug>>()?;
            let lane = match &node.op {
                Op::Input(input) => inputs.get(*input as usize).copied(),
                Op::Output(Output(result)) if operands[0].is_each() => {
                    let results = self.scans.get(&node.inputs[0]);
                    results.and_then(|results| results.get(*result)).map(|id| Lane::Each(*id))
                }
                op if operands.iter().any(|lane| lane.is_each()) => {
                    let (op, operands) = match op {
                        op if op.results().is_some() => {
                            let Some(results) = self.several(op, &operands)? else { return Ok(None) };
                            // The node has no value of its own; its results are taken from here.
                            let stands = results.first().copied().unwrap_or(operands[0].node());
                            self.scans.insert(id, results);
                            image[id.0 as usize] = Some(Lane::Each(stands));
                            continue;
                        }
                        op => match self.rule(op, &operands)? {
                            Some(rule) => rule,
                            None => return Ok(None),
                        },
                    };
                    Some(Lane::Each(self.add(op, &operands)?))
                }
                op => {
                    let operands: Vec<NodeId> = operands.iter().map(|lane| lane.node()).collect();
                    Some(Lane::Same(self.add(op.clone(), &operands)?))
                }
            };
            let Some(lane) = lane else { return Ok(None) };
            let first = self.moves_to_front(&node.op, &node.inputs, &image, body);
            let lane = match (lane, first) {
                (Lane::Each(id), Some(axis)) => Lane::Each(self.moved(id, axis, 0)?),
                (lane, _) => lane,
            };
            image[id.0 as usize] = Some(lane);
        }
        body.outputs
            .iter()
            .map(|id| image[id.0 as usize].ok_or_else(|| lost(*id)).map(Some))
            .collect::<Result<Option<Vec<Lane>>, Bug>>()
    }

    /// Where the axis of items stands in what a rule makes, if not first.
    fn moves_to_front(
        &self,
        op: &Op,
        inputs: &[NodeId],
        image: &[Option<Lane>],
        body: &Graph,
    ) -> Option<usize> {
        let each = |position: usize| {
            inputs.get(position).and_then(|id| image[id.0 as usize]).is_some_and(Lane::is_each)
        };
        match op {
            Op::Contract(op) => match (each(0), each(1)) {
                (true, false) => Some(op.batch.len()),
                (false, true) => Some(op.batch.len() + op.free_left(body.ty(inputs[0]).rank()).len()),
                _ => None,
            },
            Op::Gather(op) => (1..inputs.len()).any(each).then_some(op.indexing.at),
            _ => None,
        }
        .filter(|axis| *axis > 0)
    }

    /// An operator and its operands with the axis of items; nothing where there is no rule.
    fn rule(&mut self, op: &Op, lanes: &[Lane]) -> Result<Option<(Op, Vec<NodeId>)>, Bug> {
        let count = self.count.clone();
        let longer = |shape: &[Dim]| [std::slice::from_ref(&count), shape].concat();
        let later = |axes: &[usize]| -> Vec<usize> { axes.iter().map(|axis| axis + 1).collect() };
        let first = |axes: &[usize]| [&[0], &later(axes)[..]].concat();
        let op = match op {
            Op::Elementwise(_)
            | Op::Variable(_)
            | Op::StopGradient
            | Op::Cholesky(_)
            | Op::TriangularSolve(_)
            | Op::Solve(_)
            | Op::Determinant(_) => op.clone(),
            Op::Broadcast(op) => Op::Broadcast(Broadcast { shape: longer(&op.shape), axes: first(&op.axes) }),
            Op::Permute(op) => Op::Permute(Permute { axes: first(&op.axes) }),
            Op::Reshape(op) => Op::Reshape(Reshape { shape: longer(&op.shape) }),
            Op::Slice(op) => {
                let all = Range { start: Dim::default(), step: 1, len: count.clone() };
                Op::Slice(Slice { ranges: [&[all], &op.ranges[..]].concat() })
            }
            Op::Concat(op) => Op::Concat(Concat { axis: op.axis + 1 }),
            Op::Reduce(op) => Op::Reduce(Reduce { axes: later(&op.axes), ..op.clone() }),
            Op::ArgReduce(op) => Op::ArgReduce(ArgReduce { axis: op.axis + 1, ..op.clone() }),
            Op::Cumulate(op) => Op::Cumulate(Cumulate { axis: op.axis + 1, ..op.clone() }),
            Op::Sort(op) => Op::Sort(Sort { axis: op.axis + 1, ..op.clone() }),
            Op::Pad(op) => {
                let axes = [&[PadAxis::none(&count)], &op.axes[..]].concat();
                return self.filled(Op::Pad(Pad { axes }), lanes).map(Some);
            }
            Op::Window(op) => {
                let window = Window { axis: op.axis + 1, taps: op.taps + 1, ..op.clone() };
                return self.filled(Op::Window(window), lanes).map(Some);
            }
            Op::Contract(op) => return Ok(Some(contract(op, lanes))),
            Op::Gather(op) => {
                let (indexing, indices) = self.indexing(&op.indexing, lanes[0], &lanes[1..])?;
                let operands = [&[lanes[0].node()], &indices[..]].concat();
                return Ok(Some((Op::Gather(Gather { indexing }), operands)));
            }
            Op::Scatter(op) => return self.scatter(op, lanes).map(Some),
            _ => return Ok(None),
        };
        let operands = lanes.iter().map(|lane| self.each(*lane)).collect::<Result<_, _>>()?;
        Ok(Some((op, operands)))
    }

    /// An operator whose second operand, if any, is the number that it fills with.  Where each item has its own these
    /// are put at the places that the operator would fill.
    fn filled(&mut self, op: Op, lanes: &[Lane]) -> Result<(Op, Vec<NodeId>), Bug> {
        let [x, fill @ ..] = lanes else { return Err(Bug::new("autodiff", format!("{op:?} of nothing"))) };
        let x = self.each(*x)?;
        let [Lane::Each(fill)] = fill else {
            return Ok((op, [x].into_iter().chain(fill.iter().map(|fill| fill.node())).collect()));
        };
        let mut site = Site { graph: self.graph, node: x, inputs: &[], origin: self.origin };
        let ty = site.ty(x);
        let all = site.full(&ty.with_dtype(DType::Bool), 1.0)?;
        let none = site.zeros(&Type::scalar(DType::Bool))?;
        let inside = site.add(op.clone(), &[all, none])?;
        let zero = site.zeros(&Type::scalar(ty.dtype))?;
        let moved = site.add(op, &[x, zero])?;
        let shape = site.ty(moved).shape;
        let fill = site.broadcast(*fill, &shape, &[0])?;
        Ok((Op::Elementwise(Ew::Select), vec![inside, moved, fill]))
    }

    /// Which elements of a source are meant, and the indices, all with an axis of items where one has it.
    fn indexing(
        &mut self,
        old: &Indexing,
        source: Lane,
        indices: &[Lane],
    ) -> Result<(Indexing, Vec<NodeId>), Bug> {
        let by_item = indices.iter().any(|lane| lane.is_each());
        let (of_source, of_indices) = (usize::from(source.is_each()), usize::from(by_item));
        let mut indexing = old.clone();
        indexing.axes.iter_mut().for_each(|indexed| indexed.axis += of_source);
        for (axis, other) in &mut indexing.batch {
            (*axis, *other) = (*axis + of_source, *other + of_indices);
        }
        match (source.is_each(), by_item) {
            (true, true) => indexing.batch.insert(0, (0, 0)),
            (true, false) => indexing.at += 1,
            _ => {}
        }
        let indices = match by_item {
            true => indices.iter().map(|lane| self.each(*lane)).collect::<Result<_, _>>()?,
            false => indices.iter().map(|lane| lane.node()).collect(),
        };
        Ok((indexing, indices))
    }

    /// Updates have the axis of items where the indices begin, if these have it.
    fn scatter(&mut self, op: &Scatter, lanes: &[Lane]) -> Result<(Op, Vec<NodeId>), Bug> {
        let [base, indices @ .., updates] = lanes else {
            return Err(Bug::new("autodiff", "a scatter has a base and updates"));
        };
        let base = Lane::Each(self.each(*base)?);
        let (indexing, places) = self.indexing(&op.indexing, base, indices)?;
        let mut updates = self.each(*updates)?;
        if indices.iter().any(|lane| lane.is_each()) {
            updates = self.moved(updates, 0, indexing.at)?;
        }
        let operands = [&[base.node()], &places[..], &[updates]].concat();
        Ok((Op::Scatter(Scatter { indexing, ..op.clone() }), operands))
    }

    /// The results of an operator that has several.
    fn several(&mut self, op: &Op, lanes: &[Lane]) -> Result<Option<Vec<NodeId>>, Bug> {
        match op {
            Op::Scan(scan) => self.scan(scan, lanes),
            Op::Custom(custom) => self.custom(custom, lanes),
            _ => Ok(None),
        }
    }

    /// A loop within the body: each step does what it does for all items, which take the same number of steps.
    fn scan(&mut self, scan: &Scan, lanes: &[Lane]) -> Result<Option<Vec<NodeId>>, Bug> {
        if scan.conditional || scan.counted && lanes.last().is_none_or(|steps| steps.is_each()) {
            return Ok(None);
        }
        let mut operands = Vec::new();
        let mut all = vec![false; scan.body.inputs.len()];
        for (position, (lane, each)) in lanes.iter().zip(&mut all).enumerate() {
            *each = lane.is_each() || position < scan.carries;
            let mut operand = if *each { self.each(*lane)? } else { lane.node() };
            if *each && (scan.carries..scan.carries + scan.slices).contains(&position) {
                operand = self.moved(operand, 0, 1)?;
            }
            operands.push(operand);
        }
        let Some(body) = self.sub_graph(&scan.body, &all)? else { return Ok(None) };
        let results = body.outputs.len();
        let whole = self.add(Op::Scan(Scan { body: Arc::new(body), ..scan.clone() }), &operands)?;
        let one = |batch: &mut Self, result: usize| {
            let id = batch.add(Op::Output(Output(result)), &[whole])?;
            if result < scan.carries { Ok(id) } else { batch.moved(id, 1, 0) }
        };
        (0..results).map(|result| one(self, result)).collect::<Result<Vec<_>, Bug>>().map(Some)
    }

    /// A function with a rule: the rule transforms what belongs to all items.
    fn custom(&mut self, custom: &Custom, lanes: &[Lane]) -> Result<Option<Vec<NodeId>>, Bug> {
        let captures = custom.captures(lanes);
        let mut all = vec![true; custom.rule.inputs.len() - captures.len()];
        all.extend(captures.iter().map(|lane| lane.is_each()));
        let Some(rule) = self.sub_graph(&custom.rule, &all)? else { return Ok(None) };
        let mut operands = Vec::with_capacity(lanes.len());
        for (position, lane) in lanes.iter().enumerate() {
            let is_capture = position >= lanes.len() - captures.len();
            operands.push(if is_capture { lane.node() } else { self.each(*lane)? });
        }
        let whole = self.add(Op::Custom(Custom { rule: Arc::new(rule), ..custom.clone() }), &operands)?;
        let one = |result| self.add(Op::Output(Output(result)), &[whole]);
        (0..custom.results).map(one).collect::<Result<Vec<_>, Bug>>().map(Some)
    }

    /// A sub-graph for all items, of whose inputs those that are marked are one for each.
    fn sub_graph(&self, body: &Graph, each: &[bool]) -> Result<Option<Graph>, Bug> {
        let mut new = Graph::new(self.graph.facts.clone(), Vec::new());
        let mut inside = Vec::with_capacity(each.len());
        for (position, (input, each)) in body.inputs.iter().zip(each).enumerate() {
            let mut ty = input.ty.clone();
            if *each {
                ty = ty.with_shape([std::slice::from_ref(self.count), &ty.shape[..]].concat());
            }
            new.inputs.push(Input { name: input.name.clone(), ty });
            let id = new.add(Op::Input(position as u32), &[], self.origin)?;
            inside.push(if *each { Lane::Each(id) } else { Lane::Same(id) });
        }
        let (count, origin) = (self.count, self.origin);
        let mut batch = Batch { graph: &mut new, count, origin, scans: BTreeMap::new() };
        let Some(results) = batch.body(body, inside)? else { return Ok(None) };
        let outputs = results.into_iter().map(|lane| batch.each(lane)).collect::<Result<Vec<_>, _>>()?;
        new.outputs = outputs;
        Ok(Some(new))
    }

    fn add(&mut self, op: Op, operands: &[NodeId]) -> Result<NodeId, Bug> {
        self.graph.add(op, operands, self.origin)
    }

    /// The node with an axis of items; one that is the same for all is repeated.
    fn each(&mut self, lane: Lane) -> Result<NodeId, Bug> {
        let Lane::Same(id) = lane else { return Ok(lane.node()) };
        let shape = [std::slice::from_ref(self.count), &self.graph.ty(id).shape[..]].concat();
        let axes = (1..shape.len()).collect();
        self.add(Op::Broadcast(Broadcast { shape, axes }), &[id])
    }

    /// The tensor with axis `from` at the place of axis `to`.
    fn moved(&mut self, id: NodeId, from: usize, to: usize) -> Result<NodeId, Bug> {
        if from == to {
            return Ok(id);
        }
        let rank = self.graph.ty(id).rank();
        self.add(Op::Permute(Permute::moving(rank, from, to)), &[id])
    }
}

/// The axis of items is a batch axis where both have it, and else an axis of the one alone.
fn contract(op: &Contract, lanes: &[Lane]) -> (Op, Vec<NodeId>) {
    let shift = |position: usize| usize::from(lanes[position].is_each());
    let (left, right) = (shift(0), shift(1));
    let later = |pairs: &[(usize, usize)]| -> Vec<(usize, usize)> {
        pairs.iter().map(|(a, b)| (a + left, b + right)).collect()
    };
    let mut batch = later(&op.batch);
    if left + right == 2 {
        batch.insert(0, (0, 0));
    }
    let op = Contract { batch, sum: later(&op.sum) };
    (Op::Contract(op), lanes.iter().map(|lane| lane.node()).collect())
}
