//! Finds the carries of a scan that go alike.

use std::collections::{BTreeMap, BTreeSet};

use tensorjit_runtime::abi::DType;

use crate::graph::ops::scan::Scan;
use crate::graph::table::Ew;
use crate::graph::{Graph, NodeId, Op};

/// Fewer lanes than this are not worth a vector.
const LEAST: usize = 4;

/// Carries that depend on each other and on no other carry, with what is computed and stacked of them; everything in the
/// order in which the formula has it.
#[derive(Debug)]
pub(super) struct Lane {
    /// Positions among the inputs of the body.
    pub(super) carries: Vec<usize>,
    /// What the formula begins with beside them.
    pub(super) leaves: Vec<NodeId>,
    /// Positions among the outputs of the body.
    pub(super) stacks: Vec<usize>,
    pub(super) nodes: Vec<NodeId>,
}

/// What a lane computes, without saying of which carries.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Formula {
    nodes: Vec<(Ew, Vec<Operand>)>,
    /// The next carries, then the stacks.
    results: Vec<Operand>,
    /// Types of carries and leaves.
    types: [Vec<DType>; 2],
}

/// An operand in a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operand {
    /// An earlier node of it.
    Node(usize),
    Carry(usize),
    Leaf(usize),
}

/// The lanes of a scan by their formula, where enough have one, and what its nodes need.
pub(super) fn find(scan: &Scan) -> Option<(Vec<Vec<Lane>>, Dependence)> {
    if scan.conditional || scan.carries < LEAST {
        return None;
    }
    let dependence = Dependence::of(scan);
    let sets = dependence.sets();
    let mut members: BTreeMap<usize, [Vec<usize>; 2]> = BTreeMap::new();
    for (carry, set) in sets.iter().enumerate() {
        if let Some(set) = set {
            members.entry(*set).or_default()[0].push(carry);
        }
    }
    for stack in scan.carries..scan.results() {
        let carries = &dependence.nodes[scan.body.outputs[stack].0 as usize];
        let seen: BTreeSet<Option<usize>> = carries.iter().map(|carry| sets[carry]).collect();
        if let (1, Some(Some(set))) = (seen.len(), seen.first()) {
            members.entry(*set).or_default()[1].push(stack);
        }
    }
    let mut groups: Vec<Vec<Lane>> = Vec::new();
    // What only some lanes stack is stacked beside them.
    for stacked in [true, false] {
        if members.len() < LEAST {
            break;
        }
        let mut formulas: BTreeMap<Formula, Vec<(usize, Lane)>> = BTreeMap::new();
        for (set, [carries, stacks]) in &members {
            let stacks = if stacked { stacks.clone() } else { Vec::new() };
            if let Some((formula, lane)) = Reader::read(scan, &dependence, carries.clone(), stacks) {
                formulas.entry(formula).or_default().push((*set, lane));
            }
        }
        for lanes in formulas.into_values().filter(|lanes| lanes.len() >= LEAST) {
            let (sets, lanes): (Vec<usize>, Vec<Lane>) = lanes.into_iter().unzip();
            sets.iter().for_each(|set| {
                members.remove(set);
            });
            groups.push(lanes);
        }
    }
    groups.sort_by_key(|lanes| lanes[0].carries[0]);
    (!groups.is_empty()).then_some((groups, dependence))
}

/// A set of carries.
#[derive(Clone, Debug, Default, PartialEq)]
struct Carries(Vec<u64>);

impl Carries {
    fn add(&mut self, carry: usize) {
        self.0.resize(self.0.len().max(carry / 64 + 1), 0);
        self.0[carry / 64] |= 1 << (carry % 64);
    }

    fn extend(&mut self, other: &Carries) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    fn has(&self, carry: usize) -> bool {
        self.0.get(carry / 64).is_some_and(|word| word >> (carry % 64) & 1 == 1)
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        let words = self.0.iter().enumerate().filter(|(_, word)| **word != 0);
        words.flat_map(|(i, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * i + bit)
        })
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// Which carries are needed.
pub(super) struct Dependence {
    /// For each node of the body, by this step.
    nodes: Vec<Carries>,
    /// For each carry, by this step or one before.
    carries: Vec<Carries>,
}

impl Dependence {
    fn of(scan: &Scan) -> Dependence {
        let mut nodes: Vec<Carries> = Vec::with_capacity(scan.body.len());
        for id in scan.body.ids() {
            let mut carries = Carries::default();
            let node = scan.body.node(id);
            match &node.op {
                Op::Input(input) if (*input as usize) < scan.carries => carries.add(*input as usize),
                _ => node.inputs.iter().for_each(|input| carries.extend(&nodes[input.0 as usize])),
            }
            nodes.push(carries);
        }
        let nexts = scan.body.outputs[..scan.carries].iter();
        let mut carries: Vec<Carries> = nexts.map(|next| nodes[next.0 as usize].clone()).collect();
        // The transitive closure: what one carry needs is complete once all that it needs itself has been added.
        for through in 0..scan.carries {
            let more = carries[through].clone();
            carries
                .iter_mut()
                .filter(|carries| carries.has(through))
                .for_each(|carries| carries.extend(&more));
        }
        Dependence { nodes, carries }
    }

    /// Whether a node of the body needs none.
    pub(super) fn is_free(&self, id: NodeId) -> bool {
        self.nodes[id.0 as usize].0.is_empty()
    }

    /// For each carry the set that it belongs to, by its least member; none where it needs carries of several.
    fn sets(&self) -> Vec<Option<usize>> {
        let mut sets = vec![None; self.carries.len()];
        let mut order: Vec<usize> = (0..sets.len()).collect();
        // What a carry needs comes before it, or needs it too.
        let others = |carry: usize| {
            let needed = &self.carries[carry];
            needed.count() - u32::from(needed.has(carry))
        };
        order.sort_by_cached_key(|carry| others(*carry));
        let mut done = vec![false; sets.len()];
        for carry in order {
            if done[carry] {
                continue;
            }
            let needed: Vec<usize> = self.carries[carry].iter().filter(|other| *other != carry).collect();
            let (own, others): (Vec<usize>, Vec<usize>) =
                needed.into_iter().partition(|other| self.carries[*other].has(carry));
            let seen: BTreeSet<Option<usize>> = others.into_iter().map(|other| sets[other]).collect();
            let least = own.iter().copied().chain([carry]).min();
            let set = match seen.len() {
                0 => least,
                1 => seen.first().copied().flatten(),
                _ => None,
            };
            for member in own.into_iter().chain([carry]) {
                sets[member] = set;
                done[member] = true;
            }
        }
        sets
    }
}

/// Reads the formula of one lane.
struct Reader<'g> {
    body: &'g Graph,
    dependence: &'g Dependence,
    formula: Formula,
    lane: Lane,
    known: BTreeMap<NodeId, Operand>,
}

impl Reader<'_> {
    /// Nothing where there is more in it than elementwise functions of scalars.
    fn read(
        scan: &Scan,
        dependence: &Dependence,
        carries: Vec<usize>,
        stacks: Vec<usize>,
    ) -> Option<(Formula, Lane)> {
        let body = &*scan.body;
        let results: Vec<NodeId> =
            carries.iter().chain(&stacks).map(|result| body.outputs[*result]).collect();
        let types = carries.iter().map(|carry| &body.inputs[*carry].ty);
        let scalars: Option<Vec<DType>> = types.map(|ty| (ty.rank() == 0).then_some(ty.dtype)).collect();
        let formula = Formula { types: [scalars?, Vec::new()], ..Formula::default() };
        let lane = Lane { carries, leaves: Vec::new(), stacks, nodes: Vec::new() };
        let mut reader = Reader { body, dependence, formula, lane, known: BTreeMap::new() };
        for result in results {
            let operand = reader.operand(result)?;
            reader.formula.results.push(operand);
        }
        Some((reader.formula, reader.lane))
    }

    fn operand(&mut self, result: NodeId) -> Option<Operand> {
        let mut open = vec![result];
        while let Some(id) = open.last().copied() {
            if self.known.contains_key(&id) {
                open.pop();
                continue;
            }
            let node = self.body.node(id);
            if node.ty.rank() > 0 {
                return None;
            }
            let Op::Elementwise(row) = &node.op else {
                let leaf = self.leaf(id)?;
                self.known.insert(id, leaf);
                continue;
            };
            let operands: Result<Vec<Operand>, NodeId> =
                node.inputs.iter().map(|input| self.known.get(input).copied().ok_or(*input)).collect();
            match operands {
                Ok(operands) => {
                    self.known.insert(id, Operand::Node(self.lane.nodes.len()));
                    self.lane.nodes.push(id);
                    self.formula.nodes.push((*row, operands));
                }
                Err(unknown) => open.push(unknown),
            }
        }
        self.known.get(&result).copied()
    }

    /// What the formula begins with.
    fn leaf(&mut self, id: NodeId) -> Option<Operand> {
        let node = self.body.node(id);
        if self.dependence.is_free(id) {
            let [_, leaves] = &mut self.formula.types;
            leaves.push(node.ty.dtype);
            self.lane.leaves.push(id);
            return Some(Operand::Leaf(leaves.len() - 1));
        }
        let Op::Input(input) = node.op else { return None };
        self.lane.carries.iter().position(|carry| *carry == input as usize).map(Operand::Carry)
    }
}
