//! Bundles the carries of a scan that go alike: scalars of which none sees another, all by one formula, become one
//! carry with an axis of them.
//!
//! So a step that is written out for each of several objects runs in the lanes of vectors.

mod columns;
mod lanes;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::rewriter::map;
use crate::diag::{Bug, Origin};
use crate::dim::Dim;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::scan::{Output, Scan};
use crate::graph::step::{Outputs, Part, Step};
use crate::graph::{Graph, Input, NodeId, Op, Type};
use columns::{Outside, Place, column, together};
use lanes::{Dependence, Lane, find};

/// The graph with such carries bundled.
pub(super) fn bundle(graph: Graph) -> Result<Graph, Bug> {
    let scans = graph.ids().filter_map(|id| match &graph.node(id).op {
        Op::Scan(scan) => Some((id, find(scan)?)),
        _ => None,
    });
    let scans: BTreeMap<NodeId, (Vec<Vec<Lane>>, Dependence)> = scans.collect();
    if scans.is_empty() {
        return Ok(graph);
    }
    let new = Graph::new(graph.facts.clone(), graph.inputs.clone());
    let mut outside = Outside::new(new);
    let mut places: BTreeMap<NodeId, Vec<Place>> = BTreeMap::new();
    let outputs = map(&graph, |id, op, operands| {
        let origin = graph.origin(id);
        match (op, scans.get(&id)) {
            (Op::Scan(scan), Some((groups, dependence))) => {
                let bundler = Bundler::new(scan, operands, origin, &mut outside);
                let (op, operands, results) = bundler.run(groups, dependence)?;
                let new = outside.new.add(op, &operands, origin)?;
                places.insert(new, results);
                Ok(new)
            }
            (Op::Output(Output(position)), _) => match places.get(&operands[0]) {
                Some(places) => outside.result(operands[0], places[*position], origin),
                None => outside.new.add(op.clone(), operands, origin),
            },
            (op, _) => outside.new.add(op.clone(), operands, origin),
        }
    })?;
    outside.new.outputs = outputs;
    Ok(outside.new)
}

/// Makes a scan with its groups bundled.
struct Bundler<'a> {
    scan: &'a Scan,
    /// Of the scan, in the graph around the new one.
    operands: &'a [NodeId],
    origin: Origin,
    outside: &'a mut Outside,
    /// The new body; the bundles are inputs behind the old ones.
    body: Graph,
    parts: Vec<Part>,
    /// The old node of each input, where one reads it.
    readers: Vec<Option<NodeId>>,
    /// For each old node the new one, where there is one for it alone.
    image: Vec<Option<NodeId>>,
    /// For old nodes of lanes the new one for all lanes at once, and the number of their lane.
    columns: BTreeMap<NodeId, (NodeId, usize)>,
}

/// What the nodes of a first lane, and scalars that all lanes have in common, are for all lanes at once.
type Wide = BTreeMap<NodeId, NodeId>;

impl<'a> Bundler<'a> {
    fn new(scan: &'a Scan, operands: &'a [NodeId], origin: Origin, outside: &'a mut Outside) -> Bundler<'a> {
        let body = Graph::new(scan.body.facts.clone(), scan.body.inputs.clone());
        let given = operands.iter().take(body.inputs.len() - 1).enumerate();
        let parts = given.map(|(input, operand)| match input {
            input if input < scan.carries => Part::Carry { first: *operand, next: *operand },
            input if input < scan.carries + scan.slices => Part::Slice(*operand),
            _ => Part::Capture(*operand),
        });
        let parts = parts.chain([Part::Number]).collect();
        let mut readers = vec![None; body.inputs.len()];
        for id in scan.body.ids() {
            if let Op::Input(input) = scan.body.node(id).op {
                readers[input as usize] = Some(id);
            }
        }
        let (image, columns) = (vec![None; scan.body.len()], BTreeMap::new());
        Bundler { scan, operands, origin, outside, body, parts, readers, image, columns }
    }

    /// The operator, its operands, and where each of the old results is.
    fn run(
        mut self,
        groups: &[Vec<Lane>],
        dependence: &Dependence,
    ) -> Result<(Op, Vec<NodeId>, Vec<Place>), Bug> {
        let mut wide = self.nodes(groups, dependence)?;
        let mut places = vec![(0, None); self.scan.results()];
        let mut nodes = Vec::new();
        for (position, (group, columns)) in results(self.scan, groups).iter().enumerate() {
            let output = self.scan.body.outputs[columns[0]];
            nodes.push(match group {
                None => self.image(output)?,
                Some(group) => self.widened(&mut wide[*group], groups[*group].len(), output)?,
            });
            for (column, old) in columns.iter().enumerate() {
                places[*old] = (position, group.map(|_| column));
            }
        }
        let mut nodes = nodes.into_iter();
        for part in &mut self.parts {
            if let Part::Carry { next, .. } = part {
                nodes.next().into_iter().for_each(|node| *next = node);
            }
        }
        let Scan { count, reverse, counted, .. } = self.scan;
        let step = Step { count, reverse: *reverse, body: &self.body, parts: &self.parts, taped: &[] };
        let steps = self.operands.last().copied().filter(|_| *counted);
        let (op, operands) = step.assemble(&Outputs { stacks: nodes.as_slice(), condition: None, steps })?;
        Ok((op, operands, places))
    }

    /// Adds the inputs of a group: its carries, and what its lanes slice and capture, but for what all have in common.
    fn inputs(&mut self, lanes: &[Lane]) -> Result<Wide, Bug> {
        let (scan, first) = (self.scan, &lanes[0]);
        let mut wide = Wide::new();
        for position in 0..first.carries.len() {
            let carries: Vec<usize> = lanes.iter().map(|lane| lane.carries[position]).collect();
            let firsts: Vec<NodeId> = carries.iter().map(|carry| self.operands[*carry]).collect();
            let whole = self.outside.together(&firsts, self.origin)?;
            let Input { name, ty } = scan.body.inputs[carries[0]].clone();
            let new = self.declare(name, &ty, lanes.len(), Part::Carry { first: whole, next: whole })?;
            wide.extend(self.readers[carries[0]].map(|old| (old, new)));
            for (lane, carry) in carries.into_iter().enumerate() {
                self.parts[carry] = Part::Unused;
                self.columns.extend(self.readers[carry].map(|old| (old, (new, lane))));
            }
        }
        for leaves in differing(lanes) {
            let outside =
                leaves.iter().map(|leaf| self.outside_of(*leaf)).collect::<Result<Option<Vec<_>>, _>>()?;
            let Some(outside) = outside else { continue };
            let (nodes, sliced): (Vec<NodeId>, Vec<bool>) = outside.into_iter().unzip();
            if sliced.iter().any(|other| *other != sliced[0]) {
                continue;
            }
            let whole = self.outside.together(&nodes, self.origin)?;
            let part = if sliced[0] { Part::Slice(whole) } else { Part::Capture(whole) };
            let new = self.declare("bundle".to_owned(), scan.body.ty(leaves[0]), lanes.len(), part)?;
            wide.insert(leaves[0], new);
            for (lane, leaf) in leaves.into_iter().enumerate().filter(|_| sliced[0]) {
                self.image[leaf.0 as usize] = Some(column(&mut self.body, new, lane, self.origin)?);
            }
        }
        Ok(wide)
    }

    /// What a leaf is in the graph around the scan, and whether the scan slices that.
    fn outside_of(&mut self, leaf: NodeId) -> Result<Option<(NodeId, bool)>, Bug> {
        Ok(match &self.scan.body.node(leaf).op {
            Op::Constant(_) => {
                let op = self.scan.body.node(leaf).op.clone();
                Some((self.outside.new.add(op, &[], self.origin)?, false))
            }
            Op::Input(input) => match self.parts[*input as usize] {
                Part::Slice(whole) => Some((whole, true)),
                Part::Capture(value) => Some((value, false)),
                _ => None,
            },
            _ => None,
        })
    }

    fn declare(&mut self, name: String, scalar: &Type, lanes: usize, part: Part) -> Result<NodeId, Bug> {
        let number = self.body.inputs.len() as u32;
        let ty = scalar.with_shape([Dim::constant(lanes as i64)]);
        self.body.inputs.push(Input { name, ty });
        self.parts.push(part);
        self.body.add(Op::Input(number), &[], self.origin)
    }

    /// The nodes of the new body: what needs no carry, of each group those of its first lane for all lanes at once, and
    /// what stands alone.
    fn nodes(&mut self, groups: &[Vec<Lane>], dependence: &Dependence) -> Result<Vec<Wide>, Bug> {
        let old = &*self.scan.body;
        let mut all = groups.iter().map(|lanes| self.inputs(lanes)).collect::<Result<Vec<_>, _>>()?;
        for id in old.ids().filter(|id| dependence.is_free(*id)) {
            if self.image[id.0 as usize].is_none() {
                self.alone(id)?;
            }
        }
        for (lanes, wide) in groups.iter().zip(&mut all) {
            for leaves in differing(lanes) {
                if let Entry::Vacant(entry) = wide.entry(leaves[0]) {
                    let images = leaves.iter().map(|leaf| self.image(*leaf));
                    let images = images.collect::<Result<Vec<_>, _>>()?;
                    entry.insert(together(&mut self.body, &images, self.origin)?);
                }
            }
            // The formula has a node behind its operands.
            for id in &lanes[0].nodes {
                let node = old.node(*id);
                let inputs = node.inputs.iter().map(|input| self.widened(wide, lanes.len(), *input));
                let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
                wide.insert(*id, self.body.add(node.op.clone(), &inputs, old.origin(*id))?);
            }
            for (number, lane) in lanes.iter().enumerate() {
                for (id, first) in lane.nodes.iter().zip(&lanes[0].nodes) {
                    if !dependence.is_free(*id) {
                        self.columns.extend(wide.get(first).map(|bundle| (*id, (*bundle, number))));
                    }
                }
            }
        }
        for id in old.ids().filter(|id| !dependence.is_free(*id)) {
            if !self.columns.contains_key(&id) {
                self.alone(id)?;
            }
        }
        Ok(all)
    }

    /// Makes a node as it was.
    fn alone(&mut self, id: NodeId) -> Result<(), Bug> {
        let (node, origin) = (self.scan.body.node(id), self.scan.body.origin(id));
        let inputs = node.inputs.iter().map(|input| self.image(*input));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        self.image[id.0 as usize] = Some(self.body.add(node.op.clone(), &inputs, origin)?);
        Ok(())
    }

    /// The new node of one by itself: where it is in a lane, one element of a bundle.
    fn image(&mut self, id: NodeId) -> Result<NodeId, Bug> {
        if let Some(image) = self.image[id.0 as usize] {
            return Ok(image);
        }
        let lost = || Bug::new("simplify", format!("{id:?} of a step is read before it is made"));
        let (bundle, lane) = *self.columns.get(&id).ok_or_else(lost)?;
        let image = column(&mut self.body, bundle, lane, self.origin)?;
        self.image[id.0 as usize] = Some(image);
        Ok(image)
    }

    /// A node of the first lane for all lanes, or a scalar repeated for them.
    fn widened(&mut self, wide: &mut Wide, lanes: usize, id: NodeId) -> Result<NodeId, Bug> {
        if let Some(known) = wide.get(&id) {
            return Ok(*known);
        }
        let repeat = Broadcast { shape: vec![Dim::constant(lanes as i64)], axes: Vec::new() };
        let scalar = self.image(id)?;
        let repeated = self.body.add(Op::Broadcast(repeat), &[scalar], self.origin)?;
        wide.insert(id, repeated);
        Ok(repeated)
    }
}

/// The leaves of a group of which not all are one node: for each those of all lanes.
fn differing(lanes: &[Lane]) -> impl Iterator<Item = Vec<NodeId>> {
    let leaves = (0..lanes[0].leaves.len()).map(|leaf| lanes.iter().map(move |lane| lane.leaves[leaf]));
    leaves.map(Iterator::collect).filter(|leaves: &Vec<NodeId>| leaves.iter().any(|leaf| *leaf != leaves[0]))
}

/// For each result of the new scan its group, where it has one, and the results of the old one that are its columns:
/// carries before stacks, and among them bundles last, as their inputs stand.
fn results(scan: &Scan, groups: &[Vec<Lane>]) -> Vec<(Option<usize>, Vec<usize>)> {
    let bundles = |of: fn(&Lane) -> &[usize]| {
        let groups = groups.iter().enumerate();
        let bundles = groups.flat_map(move |(group, lanes)| {
            let bundle = move |position: usize| lanes.iter().map(|lane| of(lane)[position]).collect();
            (0..of(&lanes[0]).len()).map(move |position| (Some(group), bundle(position)))
        });
        bundles.collect::<Vec<(Option<usize>, Vec<usize>)>>()
    };
    let (carries, stacks) = (bundles(|lane| &lane.carries), bundles(|lane| &lane.stacks));
    let bundled: BTreeSet<usize> =
        carries.iter().chain(&stacks).flat_map(|(_, columns)| columns).copied().collect();
    let alone = |from: usize, to: usize| {
        let alone = (from..to).filter(|result| !bundled.contains(result));
        alone.map(|result| (None, vec![result])).collect::<Vec<_>>()
    };
    let (first, all) = (alone(0, scan.carries), alone(scan.carries, scan.results()));
    first.into_iter().chain(carries).chain(all).chain(stacks).collect()
}
