//! Which strips have equal loops at other places in memory, as those of the layers of a model have.
//!
//! Nodes, roots and places are numbered in the order in which a strip meets them; strips whose descriptions are then
//! equal get the same loops, which need not be made again.

use std::collections::BTreeMap;

use super::fuse::{Group, Nest};
use super::memory::{Home, Memory, Sums};
use super::roots::Root;
use super::strips::Strip;
use super::tasks::Cut;
use crate::dim::Dim;
use crate::graph::{Graph, NodeId, Op, Type};
use crate::loops::Place;

/// A strip beside those before it.
#[derive(Clone, Debug)]
pub(super) struct Alike {
    /// The first strip with equal loops.
    pub(super) first: usize,
    /// Arguments and offsets in the arena, in the order in which the loops meet them.
    pub(super) places: Vec<Place>,
}

/// What stands for a strip where the first that is like it has `place`; a stack is each part's own.
pub(super) fn translated(place: &Place, first: &Alike, own: &Alike) -> Option<Place> {
    if let Place::Stack(_) = place {
        return Some(place.clone());
    }
    let number = first.places.iter().position(|other| other == place)?;
    own.places.get(number).cloned()
}

/// Everything that the loops of a strip depend on.
#[derive(PartialEq)]
struct Form {
    rows: usize,
    cut: bool,
    tasks: Option<Cut>,
    groups: Vec<Group>,
    roots: Vec<Root>,
    homes: Vec<Home>,
    nodes: Vec<Described>,
}

/// A node, by numbers of nodes.
#[derive(PartialEq)]
enum Described {
    /// It is read from memory.
    Leaf(Type, Home),
    Inner(Op, Type, Vec<NodeId>),
}

/// One for each strip.
pub(super) fn find(
    graph: &Graph,
    roots: &[Root],
    groups: &[Group],
    strips: &[Strip],
    memory: &Memory,
) -> Vec<Alike> {
    let by_node: BTreeMap<NodeId, usize> = roots.iter().enumerate().map(|(i, root)| (root.node, i)).collect();
    let mut forms: BTreeMap<(usize, usize, usize), Vec<(usize, Form)>> = BTreeMap::new();
    let mut found = Vec::with_capacity(strips.len());
    for (position, strip) in strips.iter().enumerate() {
        let members = &groups[strip.groups.clone()];
        // The steps of a scan have places of their own.
        if members.iter().any(|group| group.nest == Nest::Scan) {
            found.push(Alike { first: position, places: Vec::new() });
            continue;
        }
        let mut walk = Walk::new(graph, roots, &by_node, memory);
        let form = walk.form(strip, members);
        let key = (form.nodes.len(), form.roots.len(), form.groups.len());
        let others = forms.entry(key).or_default();
        let first = others.iter().find(|(_, other)| *other == form).map(|(first, _)| *first);
        if first.is_none() {
            others.push((position, form));
        }
        found.push(Alike { first: first.unwrap_or(position), places: walk.places });
    }
    found
}

/// What of a strip has been met.
struct Walk<'a> {
    graph: &'a Graph,
    all: &'a [Root],
    by_node: &'a BTreeMap<NodeId, usize>,
    memory: &'a Memory,
    /// Its own number for each root of the strip.
    roots: BTreeMap<usize, usize>,
    /// Its own number for each node.
    numbers: BTreeMap<NodeId, NodeId>,
    nodes: Vec<Described>,
    places: Vec<Place>,
}

impl<'a> Walk<'a> {
    fn new(
        graph: &'a Graph,
        all: &'a [Root],
        by_node: &'a BTreeMap<NodeId, usize>,
        memory: &'a Memory,
    ) -> Walk<'a> {
        let (roots, numbers) = (BTreeMap::new(), BTreeMap::new());
        Walk { graph, all, by_node, memory, roots, numbers, nodes: Vec::new(), places: Vec::new() }
    }

    fn form(&mut self, strip: &Strip, groups: &[Group]) -> Form {
        for root in groups.iter().flat_map(Group::roots) {
            let number = self.roots.len();
            self.roots.entry(root).or_insert(number);
        }
        let members: Vec<usize> = groups.iter().flat_map(Group::roots).collect();
        let roots = members.iter().map(|root| self.root(*root)).collect();
        let homes = members.iter().map(|root| self.home(&self.memory.homes[*root])).collect();
        let own = |stage: &Vec<usize>| stage.iter().map(|root| self.roots[root]).collect();
        let groups = groups
            .iter()
            .map(|group| Group { stages: group.stages.iter().map(own).collect(), ..group.clone() })
            .collect();
        let nodes = std::mem::take(&mut self.nodes);
        Form { rows: strip.rows, cut: strip.cut, tasks: strip.tasks.clone(), groups, roots, homes, nodes }
    }

    fn root(&mut self, root: usize) -> Root {
        let root = &self.all[root];
        let node = self.node(root.node);
        let mut reads: Vec<_> = root.reads.iter().map(|(leaf, at)| (self.node(*leaf), at.clone())).collect();
        reads.sort();
        // What a fold might have become has no part in its loops.
        Root { node, reads, crossing: None, ..root.clone() }
    }

    /// The number of a node, after those of its operands where it is not read from memory.
    fn node(&mut self, node: NodeId) -> NodeId {
        let mut open = vec![node];
        while let Some(top) = open.last().copied() {
            let home = if self.numbers.contains_key(&top) { None } else { Some(self.memory_of(top)) };
            let described = match home {
                None => {
                    open.pop();
                    continue;
                }
                Some(Some(home)) => Described::Leaf(self.graph.ty(top).clone(), home),
                Some(None) => {
                    let inner = self.graph.node(top);
                    let missing = inner.inputs.iter().filter(|input| !self.numbers.contains_key(input));
                    let before = open.len();
                    open.extend(missing.copied().collect::<Vec<_>>());
                    if open.len() > before {
                        continue;
                    }
                    let inputs = inner.inputs.iter().map(|input| self.numbers[input]).collect();
                    Described::Inner(inner.op.clone(), inner.ty.clone(), inputs)
                }
            };
            self.numbers.insert(top, NodeId(self.nodes.len() as u32));
            self.nodes.push(described);
            open.pop();
        }
        self.numbers[&node]
    }

    /// Where a node stands that the strip reads and does not compute.
    fn memory_of(&mut self, node: NodeId) -> Option<Home> {
        if let Op::Input(input) = self.graph.node(node).op {
            return Some(Home { arguments: vec![self.place(Place::Arg(input))], ..Home::default() });
        }
        let root = self.by_node.get(&node).filter(|root| !self.roots.contains_key(root))?;
        let Home { arguments, arena, .. } = &self.memory.homes[*root];
        let home = match (arena, arguments.first()) {
            (None, None) => return None,
            (Some(slot), _) => Home { arena: Some(slot.clone()), ..Home::default() },
            (None, Some(argument)) => Home { arguments: vec![*argument], ..Home::default() },
        };
        Some(self.home(&home))
    }

    /// The same with numbers for its places and roots.
    fn home(&mut self, home: &Home) -> Home {
        let mut home = home.clone();
        for argument in &mut home.arguments {
            *argument = self.place(Place::Arg(*argument));
        }
        home.offsets(&mut |offset| *offset = Dim::constant(self.place(Place::Arena(offset.clone())).into()));
        if let Some(Sums::Of(root)) = &mut home.sums {
            *root = self.roots[root];
        }
        home
    }

    fn place(&mut self, place: Place) -> u32 {
        let known = self.places.iter().position(|other| *other == place);
        known.unwrap_or_else(|| {
            self.places.push(place);
            self.places.len() - 1
        }) as u32
    }
}
