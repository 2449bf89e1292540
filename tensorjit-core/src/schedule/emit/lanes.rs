//! Loops: over scalars, and over vectors with a masked tail.

use std::mem;

use tensorjit_runtime::abi::{DType, Relation};

use super::stream::Streaming;
use super::tasks::Range;
use super::{Emit, Var};
use crate::diag::Bug;
use crate::dim::facts::Condition;
use crate::dim::{Dim, Sym};
use crate::lanes::{Cmp, Lanes, Prim, Val};

/// So many vectors without a mask are better than one with it, where masks are not for free.
const FEW_PIECES: u32 = 2;

/// What a loop does each turn: from the loop variable and the carried values to the next ones.
pub(super) type Turn<'f, 'a> = &'f mut dyn FnMut(&mut Emit<'a>, Sym, &[Val]) -> Result<Vec<Val>, Bug>;

/// What the innermost of a nest of loops does each turn: from the indices, outermost first, and the carried values
/// to the next ones.
pub(super) type Inner<'f, 'a> = &'f mut dyn FnMut(&mut Emit<'a>, &[Dim], &[Val]) -> Result<Vec<Val>, Bug>;

impl<'a> Emit<'a> {
    /// Lanes of a vector of two registers: enough for two independent chains of operations.
    pub(super) fn vector_lanes(&self, bytes: usize) -> u32 {
        2 * self.register_lanes(bytes)
    }

    /// Whether the machine reads and writes memory under a mask.
    pub(super) fn has_masks(&self) -> bool {
        self.b.target().vector_bits >= 256
    }

    /// Whether that costs no more than without.
    fn has_free_masks(&self) -> bool {
        self.b.target().vector_bits >= 512
    }

    /// Lanes of one register.
    pub(super) fn register_lanes(&self, bytes: usize) -> u32 {
        self.b.target().vector_bits / 8 / bytes as u32
    }

    /// Runs `body` where the code has found out that `extent` is at most `most`.
    pub(super) fn at_most(
        &mut self,
        extent: &Dim,
        most: i64,
        body: &mut dyn FnMut(&mut Self) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        self.within(extent, (0, most), body)
    }

    /// Runs `body` where the code has found out the least and the most that `extent` is.
    pub(super) fn within(
        &mut self,
        extent: &Dim,
        (least, most): (i64, i64),
        body: &mut dyn FnMut(&mut Self) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let found = self.found.replace((extent.clone(), least, most));
        self.where_holds(extent, &[(Relation::Ge, least), (Relation::Le, most)], body)?;
        self.found = found;
        Ok(())
    }

    /// Runs `body` where the code has found out that `extent` is at least `least`.
    pub(super) fn at_least(
        &mut self,
        extent: &Dim,
        least: i64,
        body: &mut dyn FnMut(&mut Self) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        self.where_holds(extent, &[(Relation::Ge, least)], body)
    }

    fn where_holds(
        &mut self,
        extent: &Dim,
        bounds: &[(Relation, i64)],
        body: &mut dyn FnMut(&mut Self) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let outer = self.facts.clone();
        for (relation, bound) in bounds {
            let (left, right) = (extent.clone(), Dim::constant(*bound));
            self.facts.to_mut().conditions.push(Condition { left, relation: *relation, right });
        }
        body(self)?;
        self.facts = outer;
        Ok(())
    }

    /// The least and the most that an extent can be, where they are known.
    pub(super) fn range_of(&self, extent: &Dim) -> (Option<i64>, Option<i64>) {
        match (&self.found, extent.as_const()) {
            (_, Some(extent)) => (Some(extent), Some(extent)),
            (Some((found, least, most)), None) if found == extent => (Some(*least), Some(*most)),
            _ => self.facts.range(extent),
        }
    }

    /// The most that an extent can be, where it is known.
    pub(super) fn most(&self, extent: &Dim) -> Option<i64> {
        self.range_of(extent).1
    }

    /// The lanes of a vector for an axis: `lanes`, or fewer where no more exist.
    pub(super) fn lanes_for(&self, extent: &Dim, lanes: u32) -> u32 {
        match self.most(extent) {
            Some(most) if most < i64::from(lanes) => (most.max(1) as u32).next_power_of_two(),
            _ => lanes,
        }
    }

    /// Whether an axis of unknown extent never has more elements than a vector of so many lanes, which is then all of
    /// its loop, under a mask.
    pub(super) fn is_one_vector(&self, extent: &Dim, lanes: u32) -> bool {
        let fits = |most: i64| most <= i64::from(lanes);
        extent.as_const().is_none() && self.has_masks() && self.most(extent).is_some_and(fits)
    }

    /// The only turn of a loop over such an axis.
    pub(super) fn one_vector(
        &mut self,
        extent: &Dim,
        lanes: u32,
        carried: &[Val],
        body: Turn<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let (zero, end) = (self.int(0), self.scalar_index(extent)?);
        let mask = self.mask_below(end, lanes);
        self.vector_turn(zero, lanes, Some(mask), carried, body)
    }

    /// A loop over scalars from 0 to `extent`; a single turn needs none.
    pub(super) fn scalar_loop(
        &mut self,
        extent: &Dim,
        carried: &[Val],
        body: Turn<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        if extent.is(1) {
            let zero = self.int(0);
            let sym = self.fresh(Var::Scalar(zero));
            return body(self, sym, carried);
        }
        let (from, to) = (self.int(0), self.scalar_index(extent)?);
        self.range_loop((from, to, 1), carried, body)
    }

    /// Loops over scalars from 0 to each of `extents`, the last innermost.
    pub(super) fn nest(
        &mut self,
        extents: &[Dim],
        carried: &[Val],
        body: Inner<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        self.nest_inside(extents, &mut Vec::new(), carried, body)
    }

    fn nest_inside(
        &mut self,
        extents: &[Dim],
        index: &mut Vec<Dim>,
        carried: &[Val],
        body: Inner<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let Some((extent, rest)) = extents.split_first() else { return body(self, index, carried) };
        self.scalar_loop(extent, carried, &mut |emit, sym, carried| {
            index.push(Dim::sym(sym));
            let next = emit.nest_inside(rest, index, carried, body)?;
            index.pop();
            Ok(next)
        })
    }

    /// A loop over scalars in a range.
    pub(super) fn range_loop(
        &mut self,
        range: (Val, Val, i64),
        carried: &[Val],
        body: Turn<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let (index, inside) = self.b.open_loop(range, carried);
        let sym = self.fresh(Var::Scalar(index));
        let memo = mem::take(&mut self.memo);
        let next = body(self, sym, &inside)?;
        self.memo = memo;
        Ok(self.b.close_loop(next))
    }

    /// A loop over an axis in vectors of `registers` registers of elements of `bytes` bytes, then over the rest.
    ///
    /// The rest goes register by register under a mask, or element by element where the machine has no masked
    /// accesses to memory.
    pub(super) fn lane_loop(
        &mut self,
        extent: &Dim,
        bytes: usize,
        registers: u32,
        body: &mut dyn FnMut(&mut Self, Sym) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        self.lane_range(extent, None, None, (bytes, registers), body)
    }

    /// [`Emit::lane_loop`] over a part of the axis, or all of it.  The part begins at a multiple of every vector's
    /// lanes and ends at one or where the axis ends.  A loop that streams begins its vectors where lines do.
    pub(super) fn lane_range(
        &mut self,
        extent: &Dim,
        range: Range,
        streaming: Option<Streaming>,
        (bytes, registers): (usize, u32),
        body: &mut dyn FnMut(&mut Self, Sym) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let body: Turn<'_, 'a> = &mut |emit, sym, _| body(emit, sym).map(|()| Vec::new());
        let register = self.register_lanes(bytes);
        let lanes = self.lanes_for(extent, registers * register);
        if let (None, Some(extent)) = (range, extent.as_const())
            && extent < 2 * i64::from(registers * register)
        {
            return self.pieces(extent.max(0) as u32, [registers * register, register], body);
        }
        if range.is_none()
            && let Some(pieces) = self.pieces_of(extent, bytes, 2 * register)
        {
            return self.each_piece(extent, &pieces, body);
        }
        if range.is_none() && lanes <= register && self.is_one_vector(extent, lanes) {
            self.one_vector(extent, lanes, &[], body)?;
            return Ok(());
        }
        let step = if self.has_masks() { register } else { 1 };
        match streaming {
            Some(streaming) => self.lines_or_vectors(streaming, (extent, range), (lanes, step), body),
            None => self.whole_vectors(extent, range, (lanes, step), body),
        }
    }

    /// A part of an axis, or all of it, in vectors of `lanes` lanes, then in vectors of `rest` lanes under a mask.
    pub(super) fn whole_vectors(
        &mut self,
        extent: &Dim,
        range: Range,
        (lanes, rest): (u32, u32),
        body: Turn<'_, 'a>,
    ) -> Result<(), Bug> {
        let step = i64::from(lanes);
        let main = &extent.floor_div(&Dim::constant(step)) * &Dim::constant(step);
        let whole = self.scalar_index(&main)?;
        match range {
            None => self.full_vectors(&main, lanes, &[], body)?,
            Some((from, to)) => {
                let to = self.least(to, whole);
                let (index, _) = self.b.open_loop((from, to, step), &[]);
                self.vector_turn(index, lanes, None, &[], body)?;
                self.b.close_loop(Vec::new())
            }
        };
        if *extent == main {
            return Ok(());
        }
        let (from, to) = match range {
            None => (whole, self.scalar_index(extent)?),
            Some((from, to)) => (self.greatest(from, whole), to),
        };
        let (index, _) = self.b.open_loop((from, to, rest.into()), &[]);
        let mask = if rest > 1 { Some(self.mask_up_to(index, to, rest)) } else { None };
        self.vector_turn(index, rest, mask, &[], body)?;
        self.b.close_loop(Vec::new());
        Ok(())
    }

    /// A few elements, known when this is compiled: vectors of the first width, then of the second, and for the rest one
    /// under a mask, or smaller vectors where a few of them do and a mask is not for free.
    fn pieces(&mut self, count: u32, widths: [u32; 2], body: Turn<'_, 'a>) -> Result<(), Bug> {
        let register = widths[1];
        let unmasked = (count % register).count_ones() <= FEW_PIECES && !self.has_free_masks();
        let mut done = 0;
        while done < count {
            let rest = count - done;
            let full = widths.into_iter().find(|width| *width <= rest);
            let lanes = full.unwrap_or(match rest.next_power_of_two() {
                lanes if lanes > rest && (unmasked || !self.has_masks()) => lanes / 2,
                lanes => lanes,
            });
            let base = self.int(done.into());
            let mask = (lanes > rest).then(|| {
                let rest = self.int(rest.into());
                self.mask_below(rest, lanes)
            });
            self.vector_turn(base, lanes, mask, &[], body)?;
            done += lanes;
        }
        Ok(())
    }

    /// The mask of the lanes of a vector at `index` that lie below `end`.
    pub(super) fn mask_up_to(&mut self, index: Val, end: Val, lanes: u32) -> Val {
        let left = self.b.prim(Prim::Sub, &[end, index]);
        let all = self.int(lanes.into());
        let fewer = self.b.prim(Prim::Cmp(Cmp::Lt), &[left, all]);
        let left = self.b.prim(Prim::Select, &[fewer, left, all]);
        self.mask_below(left, lanes)
    }

    /// The part of the loop in which all lanes exist, from 0 to `main`.
    pub(super) fn full_vectors(
        &mut self,
        main: &Dim,
        lanes: u32,
        carried: &[Val],
        body: Turn<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        if main.is(0) {
            return Ok(carried.to_vec());
        }
        let (from, to) = (self.int(0), self.scalar_index(main)?);
        if main.is(i64::from(lanes)) {
            return self.vector_turn(from, lanes, None, carried, body);
        }
        let (index, inside) = self.b.open_loop((from, to, i64::from(lanes)), carried);
        let next = self.vector_turn(index, lanes, None, &inside, body)?;
        Ok(self.b.close_loop(next))
    }

    /// The rest of the loop, where there is one.
    pub(super) fn tail_vector(
        &mut self,
        extent: &Dim,
        main: &Dim,
        lanes: u32,
        carried: &[Val],
        body: Turn<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        if extent == main {
            return Ok(carried.to_vec());
        }
        let (base, end) = (self.scalar_index(main)?, self.scalar_index(extent)?);
        let left = self.b.prim(Prim::Sub, &[end, base]);
        if extent.as_const().is_some() {
            let mask = self.mask_below(left, lanes);
            return self.vector_turn(base, lanes, Some(mask), carried, body);
        }
        let condition = self.b.prim(Prim::Cmp(Cmp::Lt), &[base, end]);
        self.b.open_branch(condition);
        let mask = self.mask_below(left, lanes);
        let next = self.vector_turn(base, lanes, Some(mask), carried, body)?;
        self.b.otherwise(next);
        Ok(self.b.close_branch(carried.to_vec()))
    }

    /// The mask of the lanes below a count.
    pub(super) fn mask_below(&mut self, count: Val, lanes: u32) -> Val {
        let count = self.b.prim(Prim::Convert(DType::I32), &[count]);
        let numbers = self.b.lane_numbers(DType::I32, lanes);
        self.b.prim(Prim::Cmp(Cmp::Lt), &[numbers, count])
    }

    /// One turn with a lane variable.
    pub(super) fn vector_turn(
        &mut self,
        base: Val,
        lanes: u32,
        tail: Option<Val>,
        carried: &[Val],
        body: Turn<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let sym = self.fresh(if lanes == 1 { Var::Scalar(base) } else { Var::Lane(base) });
        self.turn_at(sym, lanes, tail, carried, body)
    }

    /// One turn whose lane variable is `sym`.
    pub(super) fn turn_at(
        &mut self,
        sym: Sym,
        lanes: u32,
        tail: Option<Val>,
        carried: &[Val],
        body: Turn<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let memo = mem::take(&mut self.memo);
        let outer = (mem::replace(&mut self.lanes, lanes), mem::replace(&mut self.tail, tail));
        let next = body(self, sym, carried)?;
        (self.lanes, self.tail) = outer;
        self.memo = memo;
        Ok(next)
    }
}
