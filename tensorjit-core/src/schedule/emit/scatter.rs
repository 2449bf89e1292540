//! Sums into computed places: zeros, then every update in row-major order.

use super::Emit;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::Op;
use crate::lanes::{Lanes, Prim};
use crate::loops::Buf;
use crate::schedule::fuse::Group;
use crate::schedule::reads;

impl<'a> Emit<'a> {
    /// A scatter-add.
    pub(super) fn scatter(&mut self, group: &Group) -> Result<(), Bug> {
        let root = group.stages[0][0];
        let node = self.roots[root].node;
        let ty = self.graph.ty(node).clone();
        let count = reads::volume(&ty.shape);
        let bytes = self.roots[root].lane_bytes;
        let Some(stored) = self.stored.get(&node).cloned() else {
            return Err(Bug::new("schedule", format!("{node:?} stands nowhere")));
        };
        let zero = if ty.dtype.is_float() { self.b.float(ty.dtype, 0.0) } else { self.b.int(ty.dtype, 0) };
        self.lane_loop(&count, bytes, 2, &mut |emit, sym| emit.store_at(stored.buf, &Dim::sym(sym), zero))?;
        let updates = self.graph.node(node).inputs[1];
        let extents = self.graph.ty(updates).shape.clone();
        self.b.pin(stored.buf);
        self.updates(root, stored.buf, &extents, &mut Vec::new())?;
        self.b.pin(stored.buf);
        let arguments = self.memory.homes[root].arguments.clone();
        let skip = usize::from(self.memory.homes[root].arena.is_none());
        for argument in arguments.into_iter().skip(skip) {
            self.copy(stored.buf, self.arguments[argument as usize], &count)?;
        }
        Ok(())
    }

    fn updates(&mut self, root: usize, buf: Buf, extents: &[Dim], at: &mut Vec<Dim>) -> Result<(), Bug> {
        let node = self.roots[root].node;
        let Op::ScatterAdd(op) = &self.graph.node(node).op else {
            return Err(Bug::new("schedule", format!("{node:?} is not a scatter")));
        };
        let (axis, index_rank) = (op.axis, op.index_rank);
        let [extent, rest @ ..] = extents else { return self.update(root, buf, axis, index_rank, at) };
        let mut turn = |emit: &mut Self, sym| {
            at.push(Dim::sym(sym));
            emit.updates(root, buf, rest, at)?;
            at.pop();
            Ok(())
        };
        // Lanes must not share a place: only an axis behind the index can be the one for vectors.
        if rest.is_empty() && axis + 1 < self.graph.ty(node).rank() {
            let bytes = self.roots[root].lane_bytes;
            self.lane_loop(extent, bytes, 2, &mut turn)
        } else {
            self.scalar_loop(extent, &[], &mut |emit, sym, _| turn(emit, sym).map(|()| Vec::new()))?;
            Ok(())
        }
    }

    fn update(
        &mut self,
        root: usize,
        buf: Buf,
        axis: usize,
        index_rank: usize,
        at: &[Dim],
    ) -> Result<(), Bug> {
        let node = self.roots[root].node;
        let shape = self.graph.ty(node).shape.clone();
        let inputs = self.graph.node(node).inputs.clone();
        let index = self.value(inputs[0], &at[axis..axis + index_rank])?;
        let index = self.clamped(index, &shape[axis])?;
        let mut place = at[..axis].to_vec();
        place.push(index);
        place.extend_from_slice(&at[axis + index_rank..]);
        let offset = reads::flat(&shape, &place);
        let update = self.value(inputs[1], at)?;
        self.b.pin(buf);
        let old = self.load_at(buf, &offset)?;
        let new = self.b.prim(Prim::Add, &[old, update]);
        self.store_at(buf, &offset, new)
    }
}
