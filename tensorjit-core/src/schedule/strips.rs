//! Which groups run strip by strip.
//!
//! Batched products that read each other's results, as those of attention do, run for one index of their batch axes
//! after another, and where they share the axis of rows too, for one strip of rows after another, together with
//! what stands between them.  What one hands to the next is then as large as a strip, and stays in the cache.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::fuse::{Group, Nest, Portion, aligned};
use super::order::CHAIN;
use super::reads::At;
use super::roots::{Kind, Root, variable};
use super::tasks::{Cut, Grain};
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::NodeId;

/// Groups that run one after another for every strip of the rows that they share.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    /// Indices of groups.
    pub(super) groups: Range<usize>,
    /// The number of leading axes that they share; none where there is one group, which runs as a whole.
    pub(super) rows: usize,
    /// Whether the last of these axes is cut into strips of at most [`HEIGHT`] rows; otherwise a strip is one row.
    pub(super) cut: bool,
    /// How its batches are cut into tasks.
    pub(super) tasks: Option<Cut>,
}

/// The most rows of a strip: enough that a product seldom reads its right operand again, few enough that what the
/// groups hand over stays in the cache.  Sums over rows go from one strip to the next between two chains.
pub(super) const HEIGHT: i64 = CHAIN;

/// Puts the groups into strips, and in the order of the strips.
pub(super) fn strips(
    facts: &Facts,
    roots: &[Root],
    groups: Vec<Group>,
    grain: Grain,
) -> (Vec<Group>, Vec<Strip>) {
    let computed = groups.iter().enumerate().flat_map(|(g, group)| group.roots().map(move |root| (root, g)));
    let group_of = computed.map(|(root, g)| (roots[root].node, g)).collect();
    let mut former = Former { facts, roots, groups, group_of, done: BTreeSet::new() };
    let (mut ordered, mut strips) = (Vec::new(), Vec::new());
    loop {
        let Some(first) = former.ready().next() else { return (ordered, strips) };
        let forming = former.form(first);
        let from = ordered.len();
        let strip = former.strip(&forming);
        ordered.extend(
            forming.members.into_iter().map(|(g, portion)| Group { portion, ..former.groups[g].clone() }),
        );
        let batch = strip.rows - usize::from(strip.cut);
        let tasks = match batch {
            0 => None,
            _ => Cut::of_strip(facts, grain, roots, &ordered[from..], batch),
        };
        strips.push(Strip { groups: from..ordered.len(), tasks, ..strip });
    }
}

struct Former<'a> {
    facts: &'a Facts,
    roots: &'a [Root],
    groups: Vec<Group>,
    /// Which group computes a node.
    group_of: BTreeMap<NodeId, usize>,
    done: BTreeSet<usize>,
}

/// A strip while groups join it.
struct Forming {
    members: Vec<(usize, Portion)>,
    rows: usize,
}

impl Former<'_> {
    /// Groups whose operands are computed.
    fn ready(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.groups.len()).filter(|g| {
            let computed =
                |node| self.group_of.get(node).is_none_or(|dep| dep == g || self.done.contains(dep));
            !self.done.contains(g) && self.reads(*g).all(|(leaf, _)| computed(leaf))
        })
    }

    fn reads(&self, group: usize) -> impl Iterator<Item = (&NodeId, &At)> {
        let roots = self.groups[group].roots().map(|root| &self.roots[root]);
        roots.flat_map(|root| &root.reads).map(|(leaf, at)| (leaf, at))
    }

    fn form(&mut self, first: usize) -> Forming {
        let mut forming = Forming { members: vec![(first, Portion::Whole)], rows: self.most_rows(first) };
        self.done.insert(first);
        loop {
            let next = self.ready().find_map(|g| self.joins(&forming, g));
            let Some((next, rows, portion)) = next else { break };
            forming.rows = rows;
            forming.members.push((next, portion));
            self.done.insert(next);
        }
        for (g, portion) in &mut forming.members {
            let batch = self.batch(*g);
            if *portion == Portion::Whole && batch.is_some_and(|batch| batch < forming.rows) {
                *portion = Portion::Rows;
            }
        }
        forming
    }

    fn strip(&self, forming: &Forming) -> Strip {
        let alone = forming.members.len() == 1;
        let cut = !alone && forming.members.iter().any(|(_, portion)| *portion != Portion::Whole);
        Strip { groups: 0..0, rows: if alone { 0 } else { forming.rows }, cut, tasks: None }
    }

    /// The product that a group computes.
    fn product(&self, group: usize) -> Option<&Root> {
        let group = &self.groups[group];
        (group.nest == Nest::Product).then(|| &self.roots[group.stages[0][0]])
    }

    /// The number of batch axes of the product that a group computes.
    fn batch(&self, group: usize) -> Option<usize> {
        self.product(group).map(|root| root.parallel.len() - root.left_axes - root.right_axes)
    }

    /// The most leading axes for whose every index a group can run: none where it cannot be part of a strip.
    fn most_rows(&self, group: usize) -> usize {
        let Group { nest, rows, .. } = &self.groups[group];
        let roots = || self.groups[group].roots().map(|root| &self.roots[root]);
        match (nest, self.product(group), self.batch(group)) {
            (_, Some(_), Some(0))
            | (Nest::Scatter | Nest::Cumulate | Nest::Sort | Nest::Matrices | Nest::Scan, ..) => 0,
            (_, Some(product), Some(batch)) => batch + usize::from(product.left_axes == 1),
            _ if roots().any(|root| root.kind == Kind::Across) => 0,
            // Where nothing is left inside a row, the last axis is the one for vectors.
            _ if roots().all(|root| root.parallel.len() == *rows && !root.by_lanes) => rows.saturating_sub(1),
            _ => *rows,
        }
    }

    /// How a group joins a strip: the rows that remain, and what of the group is cut.
    fn joins(&self, forming: &Forming, group: usize) -> Option<(usize, usize, Portion)> {
        let is_batched = |g: usize| self.batch(g).is_some_and(|batch| batch > 0);
        let batched = is_batched(group) || forming.members.iter().any(|(g, _)| is_batched(*g));
        let reads_member = self.reads(group).any(|(leaf, _)| self.member(forming, leaf).is_some());
        if !batched || !reads_member && !self.shares_operand(forming, group) {
            return None;
        }
        let rows = self.shared_rows(forming, group);
        if rows == forming.rows && rows > 0 {
            return Some((group, rows, Portion::Whole));
        }
        if self.sums_rows(forming, group) {
            return Some((group, forming.rows, Portion::Terms));
        }
        // Only a product of what a member has just computed is worth fewer rows.
        let fixed = forming.members.iter().any(|(_, portion)| *portion == Portion::Terms);
        let worth = reads_member && self.product(group).is_some();
        (rows > 0 && worth && !fixed).then_some((group, rows, Portion::Whole))
    }

    /// Whether a product reads what a product of the strip reads.
    fn shares_operand(&self, forming: &Forming, group: usize) -> bool {
        let products = forming.members.iter().filter(|(g, _)| self.product(*g).is_some());
        let mut operands = products.flat_map(|(g, _)| self.reads(*g)).map(|(leaf, _)| leaf);
        self.product(group).is_some() && operands.any(|leaf| self.reads(group).any(|(own, _)| own == leaf))
    }

    fn member(&self, forming: &Forming, leaf: &NodeId) -> Option<Portion> {
        let group = self.group_of.get(leaf)?;
        forming.members.iter().find(|(g, _)| g == group).map(|(_, portion)| *portion)
    }

    /// The extents of the rows of a strip.
    fn extents(&self, forming: &Forming) -> &[Dim] {
        let (first, _) = forming.members[0];
        let root = self.groups[first].stages[0][0];
        &self.roots[root].parallel[..forming.rows]
    }

    fn common(&self, forming: &Forming, axes: &[&Dim]) -> usize {
        self.extents(forming).iter().zip(axes).take_while(|(a, b)| self.facts.same(a, b)).count()
    }

    /// The rows for which a group can run with the members.
    fn shared_rows(&self, forming: &Forming, group: usize) -> usize {
        let axes: Vec<&Dim> = self.roots[self.groups[group].stages[0][0]].parallel.iter().collect();
        let shared = self.common(forming, &axes).min(self.most_rows(group));
        let aligned = self.reads(group).filter_map(|(leaf, at)| {
            Some(match (self.member(forming, leaf)?, at) {
                // A sum over the rows is known after the last of them.
                (Portion::Terms, _) => 0,
                (_, At::Axes(index)) => aligned(index),
                (_, At::Flat(_) | At::Data) => 0,
            })
        });
        aligned.fold(shared, usize::min)
    }

    /// Whether a group is a product that sums over the last axis of the rows.
    fn sums_rows(&self, forming: &Forming, group: usize) -> bool {
        let (Some(root), Some(batch)) = (self.product(group), self.batch(group)) else { return false };
        let [folded] = &root.folded[..] else { return false };
        let axes: Vec<&Dim> = root.parallel[..batch].iter().chain([folded]).collect();
        let alone = self.groups[group].roots().count() == 1;
        let term = variable(root.parallel.len());
        alone
            && batch > 0
            && forming.rows == batch + 1
            && self.common(forming, &axes) == batch + 1
            && self.reads(group).all(|(leaf, at)| match (self.member(forming, leaf), at) {
                (None, _) => true,
                (Some(Portion::Terms), _) => false,
                (_, At::Axes(index)) => aligned(index) >= batch && index.get(batch) == Some(&term),
                (_, At::Flat(_) | At::Data) => false,
            })
    }
}
