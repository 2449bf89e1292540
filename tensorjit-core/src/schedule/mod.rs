//! From the graph to loops: what is fused, what stands in memory, how loops are tiled and vectorised.
//!
//! [`keep`] says which nodes stand in memory, [`roots`] how they are computed by loops, [`fuse`] which of them share loops,
//! [`strips`] which of these loops run strip by strip, [`steps`] what a scan runs again and again, [`memory`] where values stand, [`alike`] which strips are equal but
//! for that; these know nothing of the machine.  [`emit`] makes the loops for a target.

mod cost;
mod order;
mod reads;
mod keep;
mod roots;
mod joint;
mod orient;
mod fuse;
pub mod tasks;
mod strips;
mod packing;
mod arena;
mod memory;
mod steps;
mod alike;
mod emit;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::{Graph, NodeId};
use crate::loops::split::{Limits, Pool};
use crate::loops::{Kernel, Target};
use tasks::Grain;

/// The loops of a function, before they are made for a target.
#[derive(Debug)]
pub struct Schedule<'a> {
    graph: Cow<'a, Graph>,
    results: usize,
    roots: Vec<roots::Root>,
    groups: Vec<fuse::Group>,
    strips: Vec<strips::Strip>,
    /// What scans run.
    steps: BTreeMap<NodeId, steps::Steps<'a>>,
    memory: memory::Memory,
    /// One for each strip.
    alike: Vec<alike::Alike>,
    grain: Grain,
}

/// Plans a graph whose last outputs are the final values of the state inputs `states`, in order.  Work of the
/// given size is shared among threads.
pub fn schedule<'a>(graph: &'a Graph, states: &[u32], grain: Grain) -> Result<Schedule<'a>, Bug> {
    plan(Cow::Borrowed(graph), states, grain)
}

fn plan<'a>(graph: Cow<'a, Graph>, states: &[u32], grain: Grain) -> Result<Schedule<'a>, Bug> {
    let mut roots = roots::find(&graph)?;
    joint::find(&graph, &mut roots);
    orient::orient(&graph, &mut roots)?;
    let groups = fuse::fuse(&graph.facts, &mut roots);
    let (groups, strips) = strips::strips(&graph.facts, &roots, groups, grain);
    let steps = steps::find(&graph, &roots, grain)?;
    let memory = memory::place(&graph, &roots, &groups, &strips, &steps, states, grain);
    let alike = alike::find(&graph, &roots, &groups, &strips, &memory);
    let results = graph.outputs.len() - states.len();
    Ok(Schedule { graph, results, roots, groups, strips, steps, memory, alike, grain })
}

impl Schedule<'_> {
    /// What is computed.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Bytes of workspace.
    pub fn workspace(&self) -> &Dim {
        &self.memory.bytes
    }

    /// Bytes of what stands in the arena while each group runs, and during the copies after all: the largest is the
    /// least that any placement needs.
    pub fn live(&self) -> Vec<Dim> {
        let at = |group: usize| {
            let uses = self.memory.uses.iter().filter(|used| (used.first..=used.last).contains(&group));
            uses.fold(Dim::default(), |sum, used| &sum + &used.bytes)
        };
        (0..=self.groups.len()).map(at).collect()
    }

    /// The number of loop nests that the function runs.
    pub fn kernels(&self) -> usize {
        self.strips.len() + self.memory.copies.len()
    }

    /// The loops for a target: the kernel that is entered, and what it calls where strips are equal.
    pub fn emit(&self, target: &Target, limits: Limits) -> Result<(Kernel, Pool), Bug> {
        emit::emit(self, target, limits)
    }
}
