//! Short rows: where the length of a row is known up to its last register, it is a few vectors and no loop.
//!
//! Code for rows whose length is a symbol compares it with the numbers of elements that fill so many registers, and has
//! a path for each of the first few.  Within a path all loops over such a row are the same vectors, the last of which
//! has a mask, so that what one stage of the row computes is still in registers when the next one asks for it.

use std::mem;

use tensorjit_runtime::abi::DType;

use super::fold::Fold;
use super::lanes::Turn;
use super::{Emit, Var};
use crate::diag::Bug;
use crate::dim::{Dim, Sym};
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::schedule::fuse::Group;

/// The most registers of a row that has a path of its own.
const MOST_REGISTERS: u32 = 5;

/// As many where results may be written past the caches: a longer row has vectors that are.
const MOST_BEYOND: u32 = 3;

/// The most operations of such a path, as the cost of its roots counts them: what they take is little beside what a loop
/// takes to begin and to end.
const MOST_OPERATIONS: u32 = 256;

/// What is done for rows of a few lengths.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// The most elements of its rows.
    most: i64,
    /// What must not hold for it to be taken.
    unless: Option<Val>,
}

/// A vector of a short row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Its first element.
    base: i64,
    lanes: u32,
    /// Whether some of its lanes may lie beyond the end.
    masked: bool,
}

/// The vectors of a short row, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    /// As wide as those of a long row.
    whole: Vec<Piece>,
    /// What is left: a register, or two halves of a vector.
    last: Vec<Piece>,
    /// The extent at which that is a whole vector, where it may be.
    filled: Option<i64>,
}

impl<'a> Emit<'a> {
    /// Makes `body` for rows of each of the first few lengths in registers, and for longer ones, where rows of unknown
    /// length are folded.  Rows without elements have a path too: their memory may not be there.
    pub(super) fn by_length(
        &mut self,
        group: &Group,
        several: bool,
        body: &mut dyn FnMut(&mut Self) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let Some((extent, paths)) = self.paths(group, several) else { return body(self) };
        let (low, high) = self.facts.range(&extent);
        let (mut from, mut open) = (low.unwrap_or(0).max(0), 0);
        let memo = mem::take(&mut self.memo);
        for Path { most, unless } in paths {
            if most < from {
                continue;
            }
            let is_last = unless.is_none() && high.is_some_and(|high| high <= most);
            if !is_last {
                let (length, most) = (self.scalar_index(&extent)?, self.int(most));
                let mut short = self.b.prim(Prim::Cmp(Cmp::Le), &[length, most]);
                if let Some(unless) = unless {
                    let no = self.b.int(DType::Bool, 0);
                    short = self.b.prim(Prim::Select, &[unless, no, short]);
                }
                self.b.open_branch(short);
                open += 1;
            }
            self.within(&extent, (from, most), body)?;
            self.memo.clear();
            if is_last {
                self.memo = memo;
                return self.close_paths(open);
            }
            self.b.otherwise(Vec::new());
            from = most + 1;
        }
        body(self)?;
        self.memo = memo;
        self.close_paths(open)
    }

    fn close_paths(&mut self, open: usize) -> Result<(), Bug> {
        (0..open).for_each(|_| drop(self.b.close_branch(Vec::new())));
        Ok(())
    }

    /// The axis that the rows of a group fold, where its extent is not known, and the paths for it.
    fn paths(&self, group: &Group, several: bool) -> Option<(Dim, Vec<Path>)> {
        let folds = || group.roots().map(|root| &self.roots[root]).filter(|root| root.by_lanes);
        let extent = folds().find_map(|root| root.folded.last())?.clone();
        let is_same = folds().all(|root| root.folded.last() == Some(&extent));
        if extent.as_const().is_some() || !is_same || !self.has_masks() {
            return None;
        }
        let register = self.register_lanes(folds().map(|root| root.lane_bytes).max()?);
        let path = |most| Path { most, unless: None };
        // A single row is not worth the code.
        if !several {
            return Some((extent, vec![path(0), path(register.into())]));
        }
        let costs = group.roots().map(|root| self.roots[root].cost);
        let cost = costs.fold(0_u32, |sum, cost| sum.saturating_add(cost).saturating_add(1));
        let powers = (0..=register.trailing_zeros()).map(|power| path(1 << power));
        let registers = (2..=MOST_REGISTERS.min(MOST_OPERATIONS / cost)).map(|count| {
            let unless = self.beyond.filter(|_| count > MOST_BEYOND);
            Path { most: i64::from(count * register), unless }
        });
        Some((extent, [path(0)].into_iter().chain(powers).chain(registers).collect()))
    }

    /// The most elements of a short row.
    pub(super) fn most_of_short(&self, bytes: usize) -> i64 {
        i64::from(MOST_REGISTERS * self.register_lanes(bytes))
    }

    /// The vectors of a row of this extent, where all that is unknown of it is how much of its last register it fills.
    /// `lanes` are those of a vector for a longer one.
    pub(super) fn pieces_of(&self, extent: &Dim, bytes: usize, lanes: u32) -> Option<Pieces> {
        let register = i64::from(self.register_lanes(bytes));
        if extent.as_const().is_some() || !self.has_masks() {
            return None;
        }
        let (Some(low), Some(high)) = self.range_of(extent) else { return None };
        if high <= 0 {
            return Some(Pieces::default());
        }
        let most = self.most_of_short(bytes);
        if low < 1 || high > most || (low - 1) / register != (high - 1) / register {
            return None;
        }
        let lanes = i64::from(self.lanes_for(extent, lanes));
        let piece = |base, lanes: i64| Piece { base, lanes: lanes as u32, masked: low < base + lanes };
        let base = (high - 1) / lanes * lanes;
        let whole = (0..base / lanes).map(|i| piece(i * lanes, lanes)).collect();
        let half = lanes.min(register);
        let last = (0..).map(|i| base + i * half).take_while(|base| *base < high);
        let last = last.map(|base| piece(base, half)).collect();
        Some(Pieces { whole, last, filled: (high == base + lanes).then_some(high) })
    }

    /// A loop over a short row.
    pub(super) fn each_piece(
        &mut self,
        extent: &Dim,
        pieces: &Pieces,
        body: Turn<'_, 'a>,
    ) -> Result<(), Bug> {
        for piece in pieces.whole.iter().chain(&pieces.last) {
            self.piece(extent, *piece, &[], body)?;
        }
        Ok(())
    }

    /// Folds a short row as a long one is folded: what fills no vector is a part of its own.
    pub(super) fn fold_pieces(
        &mut self,
        stage: &[usize],
        extent: &Dim,
        pieces: &Pieces,
        initial: &[Val],
        turn: Turn<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let mut total = initial.to_vec();
        for piece in &pieces.whole {
            total = self.piece(extent, *piece, &total, turn)?;
        }
        if pieces.whole.is_empty() {
            return self.fold_last(extent, &pieces.last, initial, initial, turn);
        }
        // A multiply-add goes on from the total where the vector is whole; to all else it makes no difference.
        let fused = |fold: &Fold| matches!(fold, Fold::Dot(dtype) if dtype.is_float());
        let filled = pieces.filled.filter(|_| self.folds(stage).iter().any(fused));
        let Some(filled) = filled else {
            let last = self.fold_last(extent, &pieces.last, initial, initial, turn)?;
            return self.combine_all(stage, &total, &last);
        };
        let (length, filled) = (self.scalar_index(extent)?, self.int(filled));
        let whole = self.b.prim(Prim::Cmp(Cmp::Eq), &[length, filled]);
        let choose = |emit: &mut Self, a: &[Val], b: &[Val]| -> Vec<Val> {
            a.iter().zip(b).map(|(a, b)| emit.b.prim(Prim::Select, &[whole, *a, *b])).collect()
        };
        let from = choose(self, &total, initial);
        let last = self.fold_last(extent, &pieces.last, &from, initial, turn)?;
        let both = self.combine_all(stage, &total, &last)?;
        Ok(choose(self, &last, &both))
    }

    /// Folds what is left of a row, a vector or its lower half, from `from`.
    fn fold_last(
        &mut self,
        extent: &Dim,
        last: &[Piece],
        from: &[Val],
        initial: &[Val],
        turn: Turn<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let Some(first) = last.first() else { return Ok(from.to_vec()) };
        let lanes = from.first().map_or(first.lanes, |value| self.b.lanes(*value));
        if first.lanes == lanes {
            return self.piece(extent, *first, from, turn);
        }
        let mut halves = |of: &[Val], high| of.iter().map(|value| self.b.half(*value, high)).collect();
        let (low, high): (Vec<Val>, Vec<Val>) = (halves(from, false), halves(from, true));
        let none: Vec<Val> = halves(initial, true);
        let low = self.piece(extent, *first, &low, turn)?;
        let high = match last.get(1) {
            Some(second) => self.piece(extent, *second, &high, turn)?,
            None => none,
        };
        let join = |(low, high): (Val, Val)| self.b.shuffle(low, high, (0..lanes).collect());
        Ok(low.into_iter().zip(high).map(join).collect())
    }

    /// One vector of a short row.
    fn piece(
        &mut self,
        extent: &Dim,
        Piece { base, lanes, masked }: Piece,
        carried: &[Val],
        body: Turn<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let mask = match masked {
            true => {
                let left = self.scalar_index(&(extent - &Dim::constant(base)))?;
                Some(self.mask_below(left, lanes))
            }
            false => None,
        };
        let sym = self.place_of_piece(base, lanes);
        let outer = mem::replace(&mut self.in_piece, true);
        let next = self.turn_at(sym, lanes, mask, carried, body)?;
        self.in_piece = outer;
        Ok(next)
    }

    /// The variable of the vectors of all short rows that stand at one place.
    fn place_of_piece(&mut self, base: i64, lanes: u32) -> Sym {
        if let Some(sym) = self.piece_places.get(&(base, lanes)) {
            return *sym;
        }
        let first = self.int(base);
        let sym = self.fresh(if lanes == 1 { Var::Scalar(first) } else { Var::Lane(first) });
        self.piece_places.insert((base, lanes), sym);
        sym
    }
}
