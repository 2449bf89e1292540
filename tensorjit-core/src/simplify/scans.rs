//! Scans: those that go over the same steps become one, nothing is computed in them that nobody reads, and their
//! bodies are simplified too.
//!
//! Derivatives make a second scan of a primal one, with more stacks; both are one again here.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diag::Bug;
use crate::graph::ops::scan::{Output, Scan};
use crate::graph::step::{Outputs, Part, Step};
use crate::graph::{Graph, NodeId, Op};

/// The graph with scans merged, trimmed and simplified.
pub(super) fn simplify(graph: Graph) -> Result<Graph, Bug> {
    if !graph.ids().any(|id| matches!(graph.node(id).op, Op::Scan(_))) {
        return Ok(graph);
    }
    let mut loops = Loops::default();
    for id in graph.ids() {
        if let Op::Scan(scan) = &graph.node(id).op {
            loops.merge(&graph, id, scan)?;
        }
    }
    for one in loops.all.values_mut() {
        one.simplify()?;
    }
    loops.trim(&graph)?;
    super::bundle::bundle(loops.rebuild(&graph)?)
}

#[derive(Default)]
struct Loops {
    /// By the first scan of each.
    all: BTreeMap<NodeId, Loop>,
    /// For each scan the first of its loop, and which stack of the loop each of its own is.
    scans: BTreeMap<NodeId, (NodeId, Vec<usize>)>,
}

/// One scan that is made of several.
#[derive(Clone)]
struct Loop {
    /// Its inputs stand in any order, the carries first.
    body: Graph,
    parts: Vec<Part>,
    /// The first of them, with its attributes.
    scan: Scan,
    steps: Option<NodeId>,
    stacks: Vec<NodeId>,
    condition: Option<NodeId>,
    /// Which carries and stacks somebody reads.
    used: Vec<bool>,
    /// Whether somebody reads the number of steps.
    counted: bool,
}

impl Loops {
    /// Adds a scan to the first loop that has its carries, or makes a new one.
    fn merge(&mut self, graph: &Graph, id: NodeId, scan: &Scan) -> Result<(), Bug> {
        let operands = &graph.node(id).inputs;
        for (first, one) in &mut self.all {
            if one.matches(scan, operands) && operands.iter().all(|operand| operand < first) {
                let mut both = one.clone();
                if let Some(stacks) = both.add(scan, operands)? {
                    *one = both;
                    self.scans.insert(id, (*first, stacks));
                    return Ok(());
                }
            }
        }
        let mut one = Loop::new(scan, operands)?;
        if let Some(stacks) = one.add(scan, operands)? {
            self.scans.insert(id, (id, stacks));
        }
        self.all.insert(id, one);
        Ok(())
    }

    /// The loop of a scan, and which of its results, carries first, result `position` of the scan is; `None` for the
    /// number of steps.
    fn result(&self, scan: NodeId, position: usize) -> Result<(NodeId, Option<usize>), Bug> {
        let lost = || Bug::new("simplify", format!("{scan:?} is in no loop"));
        let (first, stacks) = self.scans.get(&scan).ok_or_else(lost)?;
        let carries = self.all[first].scan.carries;
        Ok((
            *first,
            match position.checked_sub(carries) {
                None => Some(position),
                Some(stack) => stacks.get(stack).map(|stack| carries + stack),
            },
        ))
    }

    /// Finds out which results are read, from the last node to the first.
    fn trim(&mut self, graph: &Graph) -> Result<(), Bug> {
        let mut needed = vec![false; graph.len()];
        graph.outputs.iter().for_each(|output| needed[output.0 as usize] = true);
        for id in graph.ids().rev().filter(|id| !matches!(graph.node(*id).op, Op::Input(_))) {
            let node = graph.node(id);
            if let Some(one) = self.all.get_mut(&id) {
                let operands = one.trim()?;
                let read = needed[id.0 as usize];
                operands.iter().filter(|_| read).for_each(|operand| needed[operand.0 as usize] = true);
            } else if needed[id.0 as usize] && !matches!(node.op, Op::Scan(_)) {
                if let (Op::Output(Output(position)), [scan]) = (&node.op, node.inputs.as_slice()) {
                    let (first, result) = self.result(*scan, *position)?;
                    needed[first.0 as usize] = true;
                    if let Some(one) = self.all.get_mut(&first) {
                        match result {
                            Some(result) => one.used[result] = true,
                            None => one.counted = true,
                        }
                    }
                } else {
                    node.inputs.iter().for_each(|input| needed[input.0 as usize] = true);
                }
            }
        }
        Ok(())
    }

    fn rebuild(&self, graph: &Graph) -> Result<Graph, Bug> {
        let mut new = Graph::new(graph.facts.clone(), graph.inputs.clone());
        let mut image: Vec<Option<NodeId>> = vec![None; graph.len()];
        let lost = |id: NodeId| Bug::new("simplify", format!("{id:?} is read but not needed"));
        for id in graph.ids() {
            let node = graph.node(id);
            let (op, operands) = match (&node.op, node.inputs.as_slice()) {
                (Op::Scan(_), _) => match self.all.get(&id) {
                    Some(one) if one.is_used() => one.assemble_simplified()?,
                    _ => continue,
                },
                (Op::Output(Output(position)), [scan]) => {
                    let (first, result) = self.result(*scan, *position)?;
                    match self.all[&first].position(result) {
                        Some(position) => (Op::Output(Output(position)), vec![first]),
                        None => continue,
                    }
                }
                (op, operands) => (op.clone(), operands.to_vec()),
            };
            let operands: Option<Vec<NodeId>> =
                operands.iter().map(|operand| image[operand.0 as usize]).collect();
            // What reads a result that nobody needs is not needed either.
            if let Some(operands) = operands {
                image[id.0 as usize] = Some(new.add(op, &operands, graph.origin(id))?);
            }
        }
        let outputs = graph.outputs.iter().map(|id| image[id.0 as usize].ok_or_else(|| lost(*id)));
        new.outputs = outputs.collect::<Result<_, _>>()?;
        Ok(new)
    }
}

impl Loop {
    /// A loop with the carries of a scan.
    fn new(scan: &Scan, operands: &[NodeId]) -> Result<Loop, Bug> {
        let carries = &scan.body.inputs[..scan.carries];
        Ok(Loop {
            body: Graph::new(scan.body.facts.clone(), carries.to_vec()),
            parts: operands[..scan.carries]
                .iter()
                .map(|first| Part::Carry { first: *first, next: *first })
                .collect(),
            scan: scan.clone(),
            steps: scan.counted.then(|| operands.last().copied()).flatten(),
            stacks: Vec::new(),
            condition: None,
            used: Vec::new(),
            counted: false,
        })
    }

    /// Whether a scan goes over the same steps with the same first values.
    fn matches(&self, scan: &Scan, operands: &[NodeId]) -> bool {
        let firsts = self.parts[..self.scan.carries].iter().zip(operands);
        self.scan.count == scan.count
            && self.scan.carries == scan.carries
            && self.scan.reverse == scan.reverse
            && self.scan.conditional == scan.conditional
            && self.steps == scan.counted.then(|| operands.last().copied()).flatten()
            && firsts.into_iter().all(|(part, operand)| part.outside() == Some(*operand))
    }

    /// Adds what a scan computes; gives the positions of its stacks, or `None` where its carries go other ways.
    fn add(&mut self, scan: &Scan, operands: &[NodeId]) -> Result<Option<Vec<usize>>, Bug> {
        let mut image: Vec<NodeId> = Vec::with_capacity(scan.body.len());
        for id in scan.body.ids() {
            let node = scan.body.node(id);
            let (op, inputs) = match &node.op {
                Op::Input(input) => (Op::Input(self.input(scan, operands, *input as usize)), Vec::new()),
                op => (op.clone(), node.inputs.iter().map(|input| image[input.0 as usize]).collect()),
            };
            image.push(self.body.add(op, &inputs, scan.body.origin(id))?);
        }
        let outputs: Vec<NodeId> = scan.body.outputs.iter().map(|output| image[output.0 as usize]).collect();
        let condition = scan.conditional.then(|| outputs.last().copied()).flatten();
        let first = self.used.is_empty();
        for (part, output) in self.parts.iter_mut().zip(&outputs[..scan.carries]) {
            match part {
                Part::Carry { next, .. } if first => *next = *output,
                Part::Carry { next, .. } if next == output => {}
                _ => return Ok(None),
            }
        }
        if first {
            self.condition = condition;
            self.used = vec![false; scan.carries];
        } else if self.condition != condition {
            return Ok(None);
        }
        let mut stacks = Vec::with_capacity(scan.stacks());
        for output in &outputs[scan.carries..scan.carries + scan.stacks()] {
            let known = self.stacks.iter().position(|stack| stack == output);
            stacks.push(known.unwrap_or_else(|| {
                self.stacks.push(*output);
                self.used.push(false);
                self.stacks.len() - 1
            }));
        }
        Ok(Some(stacks))
    }

    /// The input that has what input `position` of a scan has.
    fn input(&mut self, scan: &Scan, operands: &[NodeId], position: usize) -> u32 {
        if position < scan.carries {
            return position as u32;
        }
        let part = if position + 1 == scan.body.inputs.len() {
            Part::Number
        } else if position < scan.carries + scan.slices {
            Part::Slice(operands[position])
        } else {
            Part::Capture(operands[position])
        };
        let known = self.parts.iter().position(|other| *other == part);
        known.unwrap_or_else(|| {
            self.parts.push(part);
            self.body.inputs.push(scan.body.inputs[position].clone());
            self.parts.len() - 1
        }) as u32
    }

    /// Simplifies the body with all it gives.
    fn simplify(&mut self) -> Result<(), Bug> {
        let nexts = self.parts[..self.scan.carries].iter().filter_map(Part::next);
        let mut body = std::mem::take(&mut self.body);
        body.outputs = nexts.chain(self.stacks.iter().copied()).chain(self.condition).collect();
        self.body = super::run(body)?;
        let mut outputs = self.body.outputs.iter().copied();
        for part in &mut self.parts[..self.scan.carries] {
            if let (Part::Carry { next, .. }, Some(output)) = (part, outputs.next()) {
                *next = output;
            }
        }
        self.stacks.iter_mut().zip(&mut outputs).for_each(|(stack, output)| *stack = output);
        self.condition = outputs.next();
        // The number of the step is an input of every body.
        if !self.parts.contains(&Part::Number) {
            self.parts.push(Part::Number);
            self.body.inputs.push(self.scan.body.inputs[self.scan.body.inputs.len() - 1].clone());
        }
        Ok(())
    }

    /// Uses the carries that used results depend on, and gives the operands that are read.
    fn trim(&mut self) -> Result<Vec<NodeId>, Bug> {
        loop {
            let read = self.step(&self.parts).inputs_of(&self.results());
            let carries = (0..self.scan.carries).filter(|carry| read[*carry] && !self.used[*carry]);
            let new: Vec<usize> = carries.collect();
            if new.is_empty() {
                let read = (0..self.parts.len())
                    .filter(|input| read[*input] || self.used.get(*input) == Some(&true));
                let outside = read.filter_map(|input| self.parts[input].outside());
                return Ok(outside.chain(self.steps).collect());
            }
            new.into_iter().for_each(|carry| self.used[carry] = true);
        }
    }

    /// The nodes of the body whose values are used.
    fn results(&self) -> Vec<NodeId> {
        let nexts = self.parts[..self.scan.carries].iter().filter_map(Part::next);
        let used = nexts.chain(self.stacks.iter().copied()).zip(&self.used).filter(|(_, used)| **used);
        used.map(|(node, _)| node).chain(self.condition).collect()
    }

    fn is_used(&self) -> bool {
        self.counted || self.used.contains(&true)
    }

    /// Where a result stands once those that nobody reads are left out.
    fn position(&self, result: Option<usize>) -> Option<usize> {
        let before = |end: usize| self.used[..end].iter().filter(|used| **used).count();
        match result {
            Some(result) => self.used[result].then(|| before(result)),
            None => self.is_used().then(|| before(self.used.len())),
        }
    }

    fn step<'a>(&'a self, parts: &'a [Part]) -> Step<'a> {
        Step { count: &self.scan.count, reverse: self.scan.reverse, body: &self.body, parts, taped: &[] }
    }

    /// The scan of what is used.  What is left out may have been all that read a result of a loop within.
    fn assemble_simplified(&self) -> Result<(Op, Vec<NodeId>), Bug> {
        match self.assemble()? {
            (Op::Scan(scan), operands) if self.used.contains(&false) => {
                let body = Arc::new(simplify(Graph::clone(&scan.body))?);
                Ok((Op::Scan(Scan { body, ..scan }), operands))
            }
            whole => Ok(whole),
        }
    }

    /// The scan of what is used, with the body as it is.
    fn assemble(&self) -> Result<(Op, Vec<NodeId>), Bug> {
        let mut parts = self.parts.clone();
        let unused = (0..self.scan.carries).filter(|carry| !self.used[*carry]);
        unused.for_each(|carry| parts[carry] = Part::Unused);
        let stacks = self.stacks.iter().zip(&self.used[self.scan.carries..]).filter(|(_, used)| **used);
        let stacks: Vec<NodeId> = stacks.map(|(stack, _)| *stack).collect();
        self.step(&parts).assemble(&Outputs { stacks: &stacks, condition: self.condition, steps: self.steps })
    }
}
