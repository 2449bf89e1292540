//! Results that are written past the caches.
//!
//! A store first reads the line that it writes, unless it writes whole lines past the caches.  A nest that reads and
//! writes clearly more than the last cache holds leaves no result there for whoever reads it next, so that results that no loop
//! reads go past, and a map is spared a third of its traffic.  Sizes decide, those of the call where they are symbolic.
//!
//! Vectors then begin where lines do, wherever rows begin; what lies before the first whole vector of a row and behind the
//! last is stored as ever, so that no line is written in both ways.

use std::collections::BTreeSet;

use tensorjit_runtime::abi::DType;

use super::holds::Holds;
use super::lanes::Turn;
use super::tasks::Range;
use super::{Emit, Stored, Var};
use crate::diag::Bug;
use crate::dim::{Dim, Sym};
use crate::graph::NodeId;
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::loops::{Buf, LINE, STREAM_BYTES};
use crate::schedule::fuse::Group;
use crate::schedule::reads::{At, volume};
use crate::schedule::roots::Kind;

/// The vectors of a loop that streams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streaming {
    /// Whether this call streams.
    beyond: Val,
    /// How many elements lie before the first vector, which begins a line.
    lead: Val,
    /// What is streamed to, and where the row at hand begins.
    buf: Buf,
    start: Val,
}

impl<'a> Emit<'a> {
    /// Makes the loops of a group that stands in no strip; what a strip writes is read while it is in cache.
    pub(super) fn past_caches(
        &mut self,
        group: &Group,
        body: impl FnOnce(&mut Self) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        self.beyond = self.beyond_cache(group)?;
        body(self)?;
        self.fence();
        self.beyond = None;
        Ok(())
    }

    /// Whether this call reads and writes more in a group than the last cache holds; none where no call does, or where
    /// nothing could be streamed.
    fn beyond_cache(&mut self, group: &Group) -> Result<Option<Val>, Bug> {
        if !group.roots().any(|root| self.is_streamable(root)) {
            return Ok(None);
        }
        let most = self.grain.cache;
        Ok(match self.reaches(&self.traffic(group), most.saturating_add(1))? {
            Holds::Always => Some(self.b.int(DType::Bool, 1)),
            Holds::Never => None,
            Holds::If(beyond) => Some(beyond),
        })
    }

    /// Whether a root is a map that goes to the caller alone.  The steps of a scan write parts of its results.
    fn is_streamable(&self, root: usize) -> bool {
        let home = &self.memory.homes[root];
        let is_part = |argument: &u32| self.b.is_view(self.arguments[*argument as usize]);
        self.roots[root].kind == Kind::Map && home.unread && !home.arguments.iter().any(is_part)
    }

    /// Bytes of the whole tensors that a group reads and writes.  Of tensors read at computed indices it is not known
    /// how much is read.
    pub(super) fn traffic(&self, group: &Group) -> Dim {
        let reads = group.roots().flat_map(|root| &self.roots[root].reads);
        let mut nodes: BTreeSet<NodeId> =
            reads.filter(|(_, at)| *at != At::Data).map(|(leaf, _)| *leaf).collect();
        for root in group.roots() {
            let (node, home) = (self.roots[root].node, &self.memory.homes[root]);
            let is_whole = home.arena.as_ref().is_some_and(|slot| slot.lacks == 0);
            if is_whole || !home.arguments.is_empty() {
                nodes.insert(node);
            } else {
                nodes.remove(&node);
            }
        }
        nodes.into_iter().fold(Dim::default(), |sum, node| {
            let ty = self.graph.ty(node);
            &sum + &(&volume(&ty.shape) * &Dim::constant(ty.dtype.size() as i64))
        })
    }

    /// What is to be known of a loop over the last axis of maps, at the indices `at` of the axes around it, where
    /// one of them streams.  Results that begin elsewhere on their lines than the first go through the caches.
    pub(super) fn streaming(
        &mut self,
        roots: impl IntoIterator<Item = usize>,
        at: &[Dim],
    ) -> Result<Option<Streaming>, Bug> {
        let Some(beyond) = self.beyond else { return Ok(None) };
        let Some(root) = roots.into_iter().find(|root| self.is_streamable(*root)) else { return Ok(None) };
        let shape = &self.graph.ty(self.roots[root].node).shape;
        let Some(argument) = self.memory.homes[root].arguments.first() else { return Ok(None) };
        let buf = self.arguments[*argument as usize];
        if shape.len() != at.len() + 1 {
            return Ok(None);
        }
        let start = self.offset(&Stored::whole(buf), shape, &[at, &[Dim::default()]].concat());
        let (lead, start) = (self.lead(buf, &start)?, self.scalar_index(&start)?);
        Ok(Some(Streaming { beyond, lead, buf, start }))
    }

    /// How many elements lie between an element and the first behind it that begins a line.
    fn lead(&mut self, buf: Buf, start: &Dim) -> Result<Val, Bug> {
        let size = self.b.buffer_dtype(buf).size() as i64;
        let (base, start) = (self.b.address(buf), self.scalar_index(&(start * &Dim::constant(size)))?);
        let address = self.b.prim(Prim::Add, &[base, start]);
        let (zero, last) = (self.int(0), self.int(i64::from(LINE) - 1));
        let below = self.b.prim(Prim::Sub, &[zero, address]);
        let bytes = self.b.prim(Prim::And, &[below, last]);
        let size = self.int(size.trailing_zeros().into());
        Ok(self.b.prim(Prim::LShr, &[bytes, size]))
    }

    /// A loop over an axis, or a part of it, in vectors of so many lanes, the rest in vectors of `step`: [`Emit::lines`]
    /// where this call streams.
    pub(super) fn lines_or_vectors(
        &mut self,
        streaming: Streaming,
        (extent, range): (&Dim, Range),
        (lanes, step): (u32, u32),
        body: Turn<'_, 'a>,
    ) -> Result<(), Bug> {
        let part = match range {
            Some(range) => range,
            None => (self.int(0), self.scalar_index(extent)?),
        };
        if self.b.as_int(streaming.beyond).is_some() {
            return self.lines(streaming, part, (lanes, step), body);
        }
        self.b.open_branch(streaming.beyond);
        self.lines(streaming, part, (lanes, step), body)?;
        self.b.otherwise(Vec::new());
        self.whole_vectors(extent, range, (lanes, step), body)?;
        self.b.close_branch(Vec::new());
        Ok(())
    }

    /// A loop over a part of an axis in vectors of so many lanes that begin where lines do, then over what lies before
    /// and behind, in vectors of `step` lanes under a mask.
    fn lines(
        &mut self,
        streaming: Streaming,
        (from, to): (Val, Val),
        (lanes, step): (u32, u32),
        body: Turn<'_, 'a>,
    ) -> Result<(), Bug> {
        let start = self.b.prim(Prim::Add, &[from, streaming.lead]);
        let start = self.least(start, to);
        let all = self.b.prim(Prim::Sub, &[to, start]);
        let mask = self.int(-i64::from(lanes));
        let whole = self.b.prim(Prim::And, &[all, mask]);
        let end = self.b.prim(Prim::Add, &[start, whole]);
        // What lies behind is no whole vector, and its lines are read before they are written: by now, lest what is
        // streamed after waits for them.
        for index in [end, to] {
            let element = self.b.prim(Prim::Add, &[streaming.start, index]);
            self.b.prefetch(streaming.buf, element);
        }
        // Turn 0 is what lies before and the whole vectors, turn 1 what lies behind.  A vector before reaches beyond its
        // mask, and would wait for what is just streamed there.
        let (zero, one, two) = (self.int(0), self.int(1), self.int(2));
        let (turn, _) = self.b.open_loop((zero, two, 1), &[]);
        let is_first = self.b.prim(Prim::Cmp(Cmp::Lt), &[turn, one]);
        let part = [(from, end), (start, to), (end, start)];
        let [from, to, end] = part.map(|(first, last)| self.b.prim(Prim::Select, &[is_first, first, last]));
        let (index, _) = self.b.open_loop((from, to, step.into()), &[]);
        let mask = if step > 1 { Some(self.mask_up_to(index, to, step)) } else { None };
        self.vector_turn(index, step, mask, &[], body)?;
        self.b.close_loop(Vec::new());
        let (index, _) = self.b.open_loop((start, end, lanes.into()), &[]);
        let outer = self.streaming.replace(streaming);
        self.vector_turn(index, lanes, None, &[], body)?;
        self.streaming = outer;
        self.b.close_loop(Vec::new());
        self.b.close_loop(Vec::new());
        Ok(())
    }

    /// Stores elements of a root to an argument.
    pub(super) fn store_result(
        &mut self,
        root: usize,
        buf: Buf,
        offset: &Dim,
        value: Val,
    ) -> Result<(), Bug> {
        let Some(streams) = self.streams(root, buf, offset)? else {
            return self.store_at(buf, offset, value);
        };
        let (offset, value) = (self.scalar_index(offset)?, self.b.splat(value, self.lanes));
        let Some(alike) = streams else {
            self.b.stream(buf, offset, value);
            return Ok(());
        };
        self.b.open_branch(alike);
        self.b.stream(buf, offset, value);
        self.b.otherwise(Vec::new());
        self.b.store(buf, offset, value, None);
        self.b.close_branch(Vec::new());
        Ok(())
    }

    /// Whether the vectors at an offset are streamed: never, always, or where a value is true.
    fn streams(&mut self, root: usize, buf: Buf, offset: &Dim) -> Result<Option<Option<Val>>, Bug> {
        let Some(Streaming { lead, .. }) = self.streaming else { return Ok(None) };
        let bytes = self.lanes * self.b.buffer_dtype(buf).size() as u32;
        if self.tail.is_some() || bytes < STREAM_BYTES || !self.is_streamable(root) {
            return Ok(None);
        }
        let lane = |sym: &Sym| matches!(self.vars.get(sym), Some(Var::Lane(_)));
        let Some(lane) = offset.symbols().into_iter().find(lane) else { return Ok(None) };
        let Some((_, start)) = offset.linear_in(lane).filter(|(scale, _)| scale.is(1)) else {
            return Ok(None);
        };
        let own = self.lead(buf, &start)?;
        Ok(Some((own != lead).then(|| self.b.prim(Prim::Cmp(Cmp::Eq), &[own, lead]))))
    }

    /// Makes what has been streamed visible to those who read after the loops at hand.
    pub(super) fn fence(&mut self) {
        let Some(beyond) = self.beyond else { return };
        self.b.open_branch(beyond);
        self.b.fence();
        self.b.otherwise(Vec::new());
        self.b.close_branch(Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use crate::schedule::tests::emitted;

    /// What a function writes past the caches, if its sizes are such.
    const CASES: [(&str, bool); 9] = [
        ("pub fn map<M, N>(x: f32[M, N]) -> f32[M, N] { relu(x) }", true),
        ("pub fn rows<M, N>(x: f32[M, N]) -> f32[M, N] { softmax(x) }", true),
        ("pub fn large(x: f32[8192, 1024]) -> f32[8192, 1024] { relu(x) }", true),
        // They fit in the cache, or nearly.
        ("pub fn medium(x: f32[4096, 1024]) -> f32[4096, 1024] { relu(x) }", false),
        ("pub fn small<M: 0..=64>(x: f32[M, 1024]) -> f32[M, 1024] { relu(x) }", false),
        // The old value is in the cache.
        ("pub fn state<N>(x: &mut f32[N], y: f32[N]) { x = 0.9 * x + y; }", false),
        // It is read again.
        (
            "pub fn read<M, N>(x: f32[M, N], w: f32[N, N]) -> (f32[M, N], f32[M, N]) { let y = relu(x); (y, y @ w) }",
            false,
        ),
        ("pub fn sums<M, N>(x: f32[M, N]) -> f32[M] { sum(x, axis = 1) }", false),
        ("pub fn turned<M, N>(x: f32[M, N]) -> f32[N, M] { permute(x, (1, 0)) }", false),
    ];

    #[test]
    fn large_results_that_are_not_read_stream() {
        for (text, streams) in CASES {
            for (level, kernel) in emitted(text) {
                assert_eq!(kernel.contains("stream b"), streams, "{level:?} of {text}");
                assert_eq!(kernel.contains("fence"), streams, "{level:?} of {text}");
            }
        }
    }
}
