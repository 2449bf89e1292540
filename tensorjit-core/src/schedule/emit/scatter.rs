//! Elements changed at computed places: the base, then every update in row-major order.

use super::Emit;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::ops::scatter::Scatter;
use crate::graph::{NodeId, Op};
use crate::loops::Buf;
use crate::schedule::fuse::Group;
use crate::schedule::reads;

/// A scatter while it is emitted.
#[derive(Clone, Copy)]
struct Updates<'g> {
    node: NodeId,
    op: &'g Scatter,
    base: NodeId,
    indices: &'g [NodeId],
    updates: NodeId,
    buf: Buf,
    bytes: usize,
    /// Whether the last axis of the updates is the last of the base, so that no two lanes share a place.
    by_lanes: bool,
}

impl<'a> Emit<'a> {
    /// A scatter.
    pub(super) fn scatter(&mut self, group: &Group) -> Result<(), Bug> {
        let root = group.stages[0][0];
        let graph = self.graph;
        let node = self.roots[root].node;
        let (Op::Scatter(op), [base, indices @ .., updates]) =
            (&graph.node(node).op, graph.node(node).inputs.as_slice())
        else {
            return Err(Bug::new("schedule", format!("{node:?} is not a scatter")));
        };
        let Some(stored) = self.stored.get(&node).cloned() else {
            return Err(Bug::new("schedule", format!("{node:?} stands nowhere")));
        };
        let rank = graph.ty(node).rank();
        let behind = op.indexing.at + graph.ty(indices[0]).rank() < graph.ty(*updates).rank();
        let scatter = Updates {
            node,
            op,
            base: *base,
            indices,
            updates: *updates,
            buf: stored.buf,
            bytes: self.roots[root].lane_bytes,
            by_lanes: behind && op.indexing.rest(rank).last() == Some(rank - 1),
        };
        self.base(scatter)?;
        self.b.pin(stored.buf);
        self.updates(scatter, &graph.ty(*updates).shape, &mut Vec::new())?;
        self.b.pin(stored.buf);
        self.copy_home(root)
    }

    /// Copies what stands in its first home to the others.
    pub(super) fn copy_home(&mut self, root: usize) -> Result<(), Bug> {
        let node = self.roots[root].node;
        let count = reads::volume(&self.graph.ty(node).shape);
        let Some(stored) = self.stored.get(&node).cloned() else {
            return Err(Bug::new("schedule", format!("{node:?} stands nowhere")));
        };
        let arguments = self.memory.homes[root].arguments.clone();
        let skip = usize::from(self.memory.homes[root].arena.is_none());
        for argument in arguments.into_iter().skip(skip) {
            self.copy(stored.buf, self.arguments[argument as usize], &count)?;
        }
        Ok(())
    }

    /// Stores the base.
    fn base(&mut self, scatter: Updates<'a>) -> Result<(), Bug> {
        let shape = &self.graph.ty(scatter.node).shape;
        let base = self.graph.node(scatter.base);
        let is_leaf = self.is_leaf(scatter.base);
        let repeats_scalar = matches!(base.op, Op::Broadcast(_)) && self.graph.ty(base.inputs[0]).rank() == 0;
        if !is_leaf && !repeats_scalar {
            return self.base_elements(scatter, shape, &mut Vec::new());
        }
        // What is the same or stands in memory in the same order is one loop.
        let zeros = vec![Dim::constant(0); shape.len()];
        self.lane_loop(&reads::volume(shape), scatter.bytes, 2, &mut |emit, sym| {
            let offset = Dim::sym(sym);
            let value = match is_leaf {
                true => emit.load_leaf(scatter.base, &offset)?,
                false => emit.value(scatter.base, &zeros)?,
            };
            emit.store_at(scatter.buf, &offset, value)
        })
    }

    fn base_elements(&mut self, scatter: Updates<'a>, extents: &[Dim], at: &mut Vec<Dim>) -> Result<(), Bug> {
        let turn = |emit: &mut Self, at: &mut Vec<Dim>, sym, rest: &[Dim]| {
            at.push(Dim::sym(sym));
            emit.base_elements(scatter, rest, at)?;
            at.pop();
            Ok(())
        };
        match extents {
            [] => {
                let value = self.value(scatter.base, at)?;
                let offset = reads::flat(&self.graph.ty(scatter.node).shape, at);
                self.store_at(scatter.buf, &offset, value)
            }
            [extent] => self.lane_loop(extent, scatter.bytes, 2, &mut |emit, sym| turn(emit, at, sym, &[])),
            [extent, rest @ ..] => {
                self.scalar_loop(extent, &[], &mut |emit, sym, _| {
                    turn(emit, at, sym, rest).map(|()| Vec::new())
                })?;
                Ok(())
            }
        }
    }

    fn updates(&mut self, scatter: Updates<'a>, extents: &[Dim], at: &mut Vec<Dim>) -> Result<(), Bug> {
        let [extent, rest @ ..] = extents else { return self.update(scatter, at) };
        let mut turn = |emit: &mut Self, sym| {
            at.push(Dim::sym(sym));
            emit.updates(scatter, rest, at)?;
            at.pop();
            Ok(())
        };
        if rest.is_empty() && scatter.by_lanes {
            self.lane_loop(extent, scatter.bytes, 2, &mut turn)
        } else {
            self.scalar_loop(extent, &[], &mut |emit, sym, _| turn(emit, sym).map(|()| Vec::new()))?;
            Ok(())
        }
    }

    fn update(&mut self, scatter: Updates<'a>, at: &[Dim]) -> Result<(), Bug> {
        let place = self.place(&scatter.op.indexing, scatter.node, scatter.indices, at)?;
        let offset = reads::flat(&self.graph.ty(scatter.node).shape, &place);
        let update = self.value(scatter.updates, at)?;
        self.b.pin(scatter.buf);
        let new = match scatter.op.combine.function() {
            Some(function) => {
                let old = self.load_at(scatter.buf, &offset)?;
                self.apply(function, &[old, update])?
            }
            None => update,
        };
        self.store_at(scatter.buf, &offset, new)
    }
}
