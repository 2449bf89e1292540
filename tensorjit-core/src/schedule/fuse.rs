//! Which roots share loops.
//!
//! A group of loops runs over rows: the leading parallel axes that all its roots share.  Its stages follow one
//! another within a row, so that a row stays in cache; the roots of a stage share the inner loops too, and
//! hand values to each other in registers.  A fold of the rows themselves joins the loops that make them.  A product
//! takes the maps of its result as its epilogue.

use std::collections::{BTreeMap, BTreeSet};

use super::cost::EPILOGUE_COST;
use super::reads::At;
use super::roots::{Kind, Root, variable};
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::NodeId;

/// Roots that one nest of loops computes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// The form of the nest.
    pub(super) nest: Nest,
    /// The number of leading parallel axes that all stages share; of a product, all.
    pub(super) rows: usize,
    /// Indices of roots; of a product, the product and then its epilogue.
    pub(super) stages: Vec<Vec<usize>>,
    /// What of it a strip takes.
    pub(super) portion: Portion,
}

/// What of a product is computed for a strip of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Portion {
    /// All of it, at the index of the batch.
    Whole,
    /// These rows of the result.
    Rows,
    /// These terms of every sum: the rows are summed over.
    Terms,
}

impl Group {
    /// All its roots in order.
    pub(super) fn roots(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.stages.iter().flatten().copied()
    }

    /// Whether all it computes are folds across its rows, element by element of one axis.
    pub(super) fn sums_columns(&self, roots: &[Root]) -> bool {
        self.stages.len() == 1
            && self.roots().all(|root| {
                let Root { kind, parallel, folded, .. } = &roots[root];
                *kind == Kind::Across && folded.is_empty() && parallel.len() == self.rows + 1
            })
    }
}

/// Forms of nests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nest {
    /// Loops over rows: of maps and folds.
    Rows,
    /// Register tiles of a product.
    Product,
    /// The updates of a scatter in order.
    Scatter,
    /// Folds that run along an axis, each by itself.
    Cumulate,
    /// Rows that are sorted, each by itself.
    Sort,
    /// Matrices that are computed in place.
    Matrices,
    /// The steps of a scan.
    Scan,
}

/// More roots than this do not share loops: they would run out of registers and of streams.
const MOST_ROOTS: usize = 24;

/// Cuts the roots into groups, in an order in which each group reads only earlier ones.  Folds that are made across
/// the rows of a group become [`Kind::Across`].
pub(super) fn fuse(facts: &Facts, roots: &mut [Root]) -> Vec<Group> {
    let by_node = roots.iter().enumerate().map(|(i, root)| (root.node, i)).collect();
    let mut fuser = Fuser { facts, roots, by_node, done: BTreeSet::new() };
    let mut groups = Vec::new();
    loop {
        // A fold that could be made across rows waits for the loops over these rows.
        let waits = |i: &usize| fuser.roots[*i].crossing.is_some();
        let Some(first) = fuser.ready().find(|i| !waits(i)).or_else(|| fuser.ready().next()) else {
            return groups;
        };
        groups.push(fuser.grow(first));
    }
}

struct Fuser<'a> {
    facts: &'a Facts,
    roots: &'a mut [Root],
    by_node: BTreeMap<NodeId, usize>,
    done: BTreeSet<usize>,
}

/// How a root would become part of a group.
struct Joining {
    index: usize,
    /// What it is there.
    root: Root,
    /// The rows that remain.
    rows: usize,
    /// Whether it opens a stage.
    opens: bool,
}

impl Fuser<'_> {
    /// Roots whose operands are computed, in topological order.
    fn ready(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.roots.len()).filter(|i| {
            let computed = |node| self.by_node.get(node).is_none_or(|dep| self.done.contains(dep));
            !self.done.contains(i) && self.roots[*i].reads.iter().all(|(node, _)| computed(node))
        })
    }

    fn grow(&mut self, first: usize) -> Group {
        if let Some(across) = self.roots[first].of_columns() {
            self.roots[first] = across;
        }
        let root = &self.roots[first];
        let rows = if root.kind == Kind::Across { root.across } else { root.parallel.len() };
        let nest = match root.kind {
            Kind::Map | Kind::Fold | Kind::Across | Kind::Dot => Nest::Rows,
            Kind::Product => Nest::Product,
            Kind::Scatter => Nest::Scatter,
            Kind::Cumulate => Nest::Cumulate,
            Kind::Sort => Nest::Sort,
            Kind::Matrices => Nest::Matrices,
            Kind::Scan => return self.scan(first),
        };
        let mut group = Group { nest, rows, stages: vec![vec![first]], portion: Portion::Whole };
        self.done.insert(first);
        while group.roots().count() < MOST_ROOTS {
            let Some(joining) = self.next(&group) else { break };
            group.rows = joining.rows;
            match group.stages.last_mut() {
                Some(stage) if !joining.opens => stage.push(joining.index),
                _ => group.stages.push(vec![joining.index]),
            }
            self.roots[joining.index] = joining.root;
            self.done.insert(joining.index);
        }
        group
    }

    /// All results of a scan.
    fn scan(&mut self, first: usize) -> Group {
        let scan = self.roots[first].scan;
        let results = (first..self.roots.len()).filter(|i| self.roots[*i].scan == scan);
        let stage: Vec<usize> = results.collect();
        self.done.extend(&stage);
        Group { nest: Nest::Scan, rows: 0, stages: vec![stage], portion: Portion::Whole }
    }

    /// The next root of a group: one that joins the last stage, or else one that opens a stage.
    fn next(&self, group: &Group) -> Option<Joining> {
        let related: Vec<(usize, Root)> = self
            .ready()
            .flat_map(|i| self.forms(group, i).into_iter().map(move |root| (i, root)))
            .filter(|(_, root)| self.related(group, root))
            .collect();
        let joining = |opens: bool| {
            related.iter().find_map(|(index, root)| {
                let rows =
                    if opens { self.opens_stage(group, root)? } else { self.joins_stage(group, root)? };
                let rows = self.rows_across(group, root, rows)?;
                Some(Joining { index: *index, root: root.clone(), rows, opens })
            })
        };
        joining(false).or_else(|| joining(true))
    }

    /// What a root could be in a group: itself, or a fold across rows, of which there are as many as possible.
    fn forms(&self, group: &Group, index: usize) -> Vec<Root> {
        let root = &self.roots[index];
        let most = if group.nest == Nest::Rows { group.rows } else { 0 };
        let across = (1..=most).rev().filter_map(|rows| root.across(rows));
        [root.clone()].into_iter().chain(across).collect()
    }

    /// The rows that remain of `rows`, which folds across them fix.
    fn rows_across(&self, group: &Group, root: &Root, rows: usize) -> Option<usize> {
        let wanted = if root.kind == Kind::Across { root.across } else { rows };
        let fixed = group.roots().any(|member| self.roots[member].kind == Kind::Across);
        (wanted <= rows && (!fixed || wanted == group.rows)).then_some(wanted)
    }

    /// Whether sharing loops saves memory traffic: one reads the other, or both read the same elements.
    fn related(&self, group: &Group, root: &Root) -> bool {
        root.reads.iter().any(|(leaf, at)| {
            group.roots().any(|member| {
                let member = &self.roots[member];
                member.node == *leaf
                    || (!matches!(at, At::Axes(index) if index.is_empty())
                        && *at != At::Data
                        && member.reads.iter().any(|read| read.0 == *leaf && read.1 == *at))
            })
        })
    }

    /// The rows that remain if `candidate` became a stage of the group.
    fn opens_stage(&self, group: &Group, root: &Root) -> Option<usize> {
        if group.nest != Nest::Rows
            || matches!(
                root.kind,
                Kind::Product | Kind::Scatter | Kind::Cumulate | Kind::Sort | Kind::Matrices | Kind::Scan
            )
        {
            return None;
        }
        let rows = self.common_rows(group, root);
        let scalars = group.rows == 0 && root.parallel.is_empty();
        (rows > 0 || scalars).then_some(rows)
    }

    fn common_rows(&self, group: &Group, root: &Root) -> usize {
        let first = &self.roots[group.stages[0][0]];
        let shared = first.parallel[..group.rows]
            .iter()
            .zip(&root.parallel)
            .take_while(|(a, b)| self.facts.same(a, b))
            .count();
        let aligned = root.reads.iter().filter_map(|(leaf, at)| {
            let member = &self.roots[self.member(group, *leaf)?];
            Some(match at {
                // What is folded across the rows is known after the last of them.
                _ if member.kind == Kind::Across => 0,
                At::Axes(index) => aligned(index),
                At::Flat(_) | At::Data => 0,
            })
        });
        aligned.fold(shared, usize::min)
    }

    fn member(&self, group: &Group, leaf: NodeId) -> Option<usize> {
        self.by_node.get(&leaf).copied().filter(|dep| group.roots().any(|member| member == *dep))
    }

    /// The rows that remain if `candidate` joined the last stage of the group.
    fn joins_stage(&self, group: &Group, root: &Root) -> Option<usize> {
        let stage = group.stages.last()?;
        let rows = match (group.nest, root.kind) {
            (Nest::Product, Kind::Map) if root.cost <= EPILOGUE_COST => group.rows,
            (Nest::Rows, Kind::Map | Kind::Fold | Kind::Across | Kind::Dot) => self.common_rows(group, root),
            _ => return None,
        };
        // Without rows no stage finds a row in cache.  One stage over one axis is one pass all the same.
        let one_pass = group.stages.len() == 1 && root.parallel.len() + root.folded.len() == 1;
        let scalars = group.rows == 0 && root.parallel.is_empty();
        if rows == 0 && group.nest == Nest::Rows && !(one_pass || scalars) {
            return None;
        }
        let same_loops = stage.iter().all(|member| self.same_loops(group.nest, &self.roots[*member], root));
        let forwards = root.reads.iter().all(|(leaf, at)| {
            let Some(dep) = self.by_node.get(leaf).filter(|dep| stage.contains(dep)) else { return true };
            let finished = matches!(self.roots[*dep].kind, Kind::Map | Kind::Product);
            finished && matches!(at, At::Axes(index) if aligned(index) == self.roots[*dep].parallel.len())
        });
        (same_loops && forwards).then_some(rows)
    }

    /// Whether the loops of one root can compute the other.
    fn same_loops(&self, nest: Nest, a: &Root, b: &Root) -> bool {
        if nest == Nest::Product {
            return self.same_extents(&a.parallel, &b.parallel);
        }
        let domain = |root: &Root| [&root.parallel[..], &root.folded[..]].concat();
        let foldings = match (a.folded.is_empty(), b.folded.is_empty()) {
            (true, true) => true,
            // A map follows the order of its own axes, so the fold must too.
            (true, false) => b.natural,
            (false, true) => a.natural,
            (false, false) => {
                a.folded.len() == b.folded.len() && a.by_lanes == b.by_lanes && a.lane_bytes == b.lane_bytes
            }
        };
        foldings && self.same_extents(&domain(a), &domain(b))
    }

    fn same_extents(&self, a: &[Dim], b: &[Dim]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.facts.same(a, b))
    }
}

/// The number of leading axes at which an index is the variables of the domain in order.
pub(super) fn aligned(index: &[Dim]) -> usize {
    index.iter().enumerate().take_while(|(axis, index)| **index == variable(*axis)).count()
}
