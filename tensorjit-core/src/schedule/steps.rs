//! The schedule of one step of a scan: that of a function whose state the carries are.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Schedule;
use super::roots::Root;
use super::tasks::Grain;
use crate::diag::Bug;
use crate::graph::ops::scan::Scan;
use crate::graph::{Graph, NodeId, Op};

/// What a scan runs again and again.
#[derive(Debug)]
pub(super) struct Steps<'a> {
    /// From the inputs of the body to the stacks and the next carries.
    pub(super) step: Schedule<'a>,
    /// From the inputs of the body to whether the step is taken, where it depends.
    pub(super) condition: Option<Schedule<'a>>,
}

/// Plans the steps of all scans of a graph.
pub(super) fn find(
    graph: &Graph,
    roots: &[Root],
    grain: Grain,
) -> Result<BTreeMap<NodeId, Steps<'static>>, Bug> {
    let mut steps = BTreeMap::new();
    for id in roots.iter().filter_map(|root| root.scan) {
        if let Op::Scan(scan) = &graph.node(id).op
            && !steps.contains_key(&id)
        {
            steps.insert(id, Steps::of(scan, grain)?);
        }
    }
    Ok(steps)
}

impl Steps<'_> {
    fn of(scan: &Scan, grain: Grain) -> Result<Steps<'static>, Bug> {
        let (carries, rest) = scan.body.outputs.split_at(scan.carries);
        let (stacks, condition) = rest.split_at(scan.stacks());
        // The final values of state come last.
        let body = with_outputs(&scan.body, stacks.iter().chain(carries).copied().collect())?;
        let states: Vec<u32> = (0..scan.carries as u32).collect();
        let step = super::plan(Cow::Owned(body), &states, grain)?;
        let condition = match condition {
            [] => None,
            condition => {
                let body = with_outputs(&scan.body, condition.to_vec())?;
                Some(super::plan(Cow::Owned(body), &[], grain)?)
            }
        };
        Ok(Steps { step, condition })
    }
}

/// The part of a body that some nodes need, with all its inputs.
fn with_outputs(body: &Graph, outputs: Vec<NodeId>) -> Result<Graph, Bug> {
    let mut part = body.clone();
    part.outputs = outputs;
    part.prune(&vec![true; body.inputs.len()])
}
