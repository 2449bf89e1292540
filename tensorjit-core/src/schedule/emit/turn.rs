//! Maps that turn an operand: its elements are neighbours along another axis than the result's.
//!
//! Such a map is computed in square tiles of one register: rows of the tile are loaded along the operand's axis,
//! transposed in registers, and stored along the result's.  Tiles follow one another so that what is read and
//! written beside a tile is still in cache, and its pages known, when the neighbouring tile wants it.

use std::collections::BTreeMap;

use super::tasks::Range;
use super::{Emit, Var};
use crate::diag::Bug;
use crate::dim::{Dim, Sym};
use crate::lanes::{Lanes, Prim, Val};
use crate::loops::Buf;
use crate::schedule::fuse::Group;
use crate::schedule::reads::{self, At};
use crate::schedule::roots::{Kind, Root, variable};
use crate::schedule::tasks::Cut;

/// Tiles side by side along the operand's axis before the next ones along the result's.
const TILES: i64 = 4;

/// A tile holds as many copies of the code of an element as it has rows; a longer element gathers its operands.
const MOST_OPERATIONS: u32 = 64;

/// The tile at hand, and what it has turned.
#[derive(Clone, Debug)]
pub(super) struct Turning {
    /// The first index along the operand's axis.
    first: Sym,
    /// The index along it of the elements at hand, and its distance from the first.
    row: (Sym, usize),
    /// The index along the result's axis, one for each lane.
    lane: Sym,
    /// Operands that have been turned: by buffer and by offset less the index along the operand's axis.
    turned: BTreeMap<(Buf, Dim), Vec<Val>>,
}

/// The loops of a map over tiles.
struct Turned {
    /// The operand's axis.
    axis: usize,
    /// Rows, and lanes, of a tile.
    side: u32,
}

impl<'a> Emit<'a> {
    /// Makes the loops of a group of maps in tiles, if that is what it needs; `extents` are those of all its axes.
    pub(super) fn turn(&mut self, group: &Group, extents: &[Dim], cut: Option<&Cut>) -> Result<bool, Bug> {
        let Some((axis, last)) = self.turned_axis(group).zip(extents.last()) else { return Ok(false) };
        let bytes = group.roots().map(|root| self.roots[root].lane_bytes).max().unwrap_or(4);
        let side = self.register_lanes(bytes);
        let short = |extent: &Dim| extent.as_const().is_some_and(|extent| extent < i64::from(side));
        if short(&extents[axis]) || short(last) {
            return Ok(false);
        }
        let turned = Turned { axis, side };
        let block = Dim::constant(i64::from(side) * TILES);
        let mut outer = extents[..extents.len() - 1].to_vec();
        outer[axis] = outer[axis].ceil_div(&block);
        let cut = cut.map(|cut| Cut { units: reads::volume(&outer), ..cut.clone() });
        self.shared(cut.as_ref(), &mut |emit, range| {
            emit.turned_rows(group, extents, &outer, &turned, range, &mut Vec::new())
        })?;
        Ok(true)
    }

    /// The axis along which an operand's elements are neighbours that are apart along the last one.
    fn turned_axis(&self, group: &Group) -> Option<usize> {
        let roots = || group.roots().map(|root| &self.roots[root]);
        let cost = roots().map(|root| root.cost).fold(0, u32::saturating_add);
        if cost > MOST_OPERATIONS || roots().any(|root| root.kind != Kind::Map) {
            return None;
        }
        roots().find_map(|root| root.reads.iter().find_map(|(leaf, at)| self.turns(root, *leaf, at)))
    }

    fn turns(&self, root: &Root, leaf: crate::graph::NodeId, at: &At) -> Option<usize> {
        let ty = self.graph.ty(leaf);
        let offset = match at {
            At::Axes(index) => reads::flat(&ty.shape, index),
            At::Flat(offset) => offset.clone(),
            At::Data => return None,
        };
        let scale = |axis: usize| offset.linear_in(variable(axis).as_sym()?).map(|(scale, _)| scale);
        let last = root.parallel.len().checked_sub(1)?;
        let apart = scale(last).is_some_and(|scale| !scale.is(0) && !scale.is(1));
        let axis = (0..last).find(|axis| scale(*axis).is_some_and(|scale| scale.is(1)));
        // Masks are bytes in memory, which are not turned in registers.
        axis.filter(|_| apart && ty.dtype.size() >= 4)
    }

    /// Loops over all axes but the last; the operand's in blocks.
    fn turned_rows(
        &mut self,
        group: &Group,
        extents: &[Dim],
        outer: &[Dim],
        turned: &Turned,
        range: Range,
        at: &mut Vec<Dim>,
    ) -> Result<(), Bug> {
        let axis = at.len();
        let Some((extent, inside)) = outer.split_first() else {
            return self.turned_block(group, extents, turned, at);
        };
        let block = Dim::constant(i64::from(turned.side) * TILES);
        self.rows_in(extent, &reads::volume(inside), range, |emit, sym, range| {
            let index = Dim::sym(sym);
            at.push(if axis == turned.axis { &index * &block } else { index });
            emit.turned_rows(group, extents, inside, turned, range, at)?;
            at.pop();
            Ok(Vec::new())
        })
    }

    /// A block of the operand's axis, which begins at its index in `at`.
    fn turned_block(
        &mut self,
        group: &Group,
        extents: &[Dim],
        turned: &Turned,
        at: &[Dim],
    ) -> Result<(), Bug> {
        let (side, last) = (i64::from(turned.side), &extents[extents.len() - 1]);
        let from = self.scalar_index(&at[turned.axis])?;
        let (end, size) = (self.scalar_index(&extents[turned.axis])?, self.int(side * TILES));
        let to = self.b.prim(Prim::Add, &[from, size]);
        let to = self.least(to, end);
        let (count, sides) = (self.b.prim(Prim::Sub, &[to, from]), self.int(side));
        let tiles = self.b.prim(Prim::IDiv, &[count, sides]);
        let tiled = self.b.prim(Prim::Mul, &[tiles, sides]);
        let whole = self.b.prim(Prim::Add, &[from, tiled]);
        let main = &last.floor_div(&Dim::constant(side)) * &Dim::constant(side);
        self.full_vectors(&main, turned.side, &[], &mut |emit, lane, _| {
            let (first, _) = emit.b.open_loop((from, whole, side), &[]);
            emit.turned_tile(group, turned, at, first, lane)?;
            emit.b.close_loop(Vec::new());
            emit.turned_rest(group, turned, at, (whole, to), lane)
        })?;
        if *last == main {
            return Ok(());
        }
        let step = if self.has_masks() { turned.side } else { 1 };
        let (begin, end) = (self.scalar_index(&main)?, self.scalar_index(last)?);
        let (index, _) = self.b.open_loop((begin, end, step.into()), &[]);
        let mask = if step > 1 { Some(self.mask_up_to(index, end, step)) } else { None };
        self.vector_turn(index, step, mask, &[], &mut |emit, lane, _| {
            emit.turned_rest(group, turned, at, (from, to), lane)?;
            Ok(Vec::new())
        })?;
        self.b.close_loop(Vec::new());
        Ok(())
    }

    /// One tile: its rows one by one, which are given the operands turned.
    fn turned_tile(
        &mut self,
        group: &Group,
        turned: &Turned,
        at: &[Dim],
        first: Val,
        lane: Sym,
    ) -> Result<(), Bug> {
        let memo = std::mem::take(&mut self.memo);
        let start = self.fresh(Var::Scalar(first));
        let mut operands = BTreeMap::new();
        for distance in 0..turned.side as usize {
            let offset = self.int(distance as i64);
            let index = self.b.prim(Prim::Add, &[first, offset]);
            let row = self.fresh(Var::Scalar(index));
            self.turning = Some(Turning { first: start, row: (row, distance), lane, turned: operands });
            self.element(group, turned, at, row, lane)?;
            operands = self.turning.take().map(|turning| turning.turned).unwrap_or_default();
        }
        self.memo = memo;
        Ok(())
    }

    /// Rows that fill no tile, or lanes that do not: operands are gathered.
    fn turned_rest(
        &mut self,
        group: &Group,
        turned: &Turned,
        at: &[Dim],
        (from, to): (Val, Val),
        lane: Sym,
    ) -> Result<Vec<Val>, Bug> {
        self.range_loop((from, to, 1), &[], &mut |emit, row, _| {
            emit.element(group, turned, at, row, lane).map(|()| Vec::new())
        })
    }

    fn element(
        &mut self,
        group: &Group,
        turned: &Turned,
        at: &[Dim],
        row: Sym,
        lane: Sym,
    ) -> Result<(), Bug> {
        let mut at = at.to_vec();
        at[turned.axis] = Dim::sym(row);
        at.push(Dim::sym(lane));
        self.stages(group, &at)
    }

    /// The elements at an offset in all lanes, where the tile at hand holds them turned.
    pub(super) fn turned(&mut self, buf: Buf, offset: &Dim) -> Result<Option<Val>, Bug> {
        if self.tail.is_some() || self.guard.is_some() || self.b.buffer_dtype(buf).size() < 4 {
            return Ok(None);
        }
        let Some(turning) = &self.turning else { return Ok(None) };
        let (first, (row, distance), lane) = (turning.first, turning.row, turning.lane);
        // Neighbours along the operand's axis are neighbours in memory.
        let Some((_, start)) = offset.linear_in(row).filter(|(scale, _)| scale.is(1)) else {
            return Ok(None);
        };
        let Some((apart, base)) = start.linear_in(lane) else { return Ok(None) };
        if let Some(columns) = turning.turned.get(&(buf, start.clone())) {
            return Ok(Some(columns[distance]));
        }
        let base = &(&base + &Dim::sym(first)) + &(&apart * &Dim::sym(lane));
        let mut rows = Vec::new();
        for lane in 0..self.lanes {
            let offset = &base + &(&apart * &Dim::constant(lane.into()));
            let offset = self.scalar_index(&offset)?;
            rows.push(self.b.load(buf, offset, self.lanes, None));
        }
        let columns = self.b.transposed(rows);
        let value = columns[distance];
        if let Some(turning) = &mut self.turning {
            turning.turned.insert((buf, start), columns);
        }
        Ok(Some(value))
    }
}
