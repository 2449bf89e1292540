//! The arena: pieces of memory, each in use from one group of loops to another, whose sizes are formulas.
//!
//! Pieces are placed when all have been asked for, those that are in use longest first.  Each takes the lowest gap
//! between those that are in use at the same time, or stands above them all.  So what a single group needs lies above all
//! that outlives it, whatever its size, and no two sizes need be compared for memory to be used again; where nobody
//! knows which of two pieces ends higher, the formula has their maximum.
//!
//! Gaps are looked for at a sample of the dimensions, and taken where they suffice at every call.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::dim::facts::{Facts, Questions};
use crate::dim::{Dim, Monomial, Sym};

/// Memory in use over a range of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// Bytes, a multiple of the alignment.
    pub(super) bytes: Dim,
    /// The first and the last group in which they are in use.
    pub(super) first: usize,
    pub(super) last: usize,
}

/// Memory that is handed out in pieces.
pub(super) struct Arena<'a> {
    facts: &'a Facts,
    questions: Questions<'a>,
    /// All pieces, in the order in which they were asked for.
    pieces: Vec<Use>,
}

/// A piece that has its place.
struct Standing {
    offset: Dim,
    end: Dim,
    /// Both at the sample.
    from: i64,
    to: i64,
}

/// The pieces that stand already.
struct Shelf<'a> {
    questions: &'a Questions<'a>,
    standing: Vec<Option<Standing>>,
    /// Those that each group uses, in the order of their addresses.
    groups: Vec<Vec<usize>>,
}

/// The arena when all pieces have their places.
pub(super) struct Placed {
    offsets: Vec<Dim>,
    /// Bytes of the whole.
    pub(super) bytes: Dim,
    /// All pieces.
    pub(super) uses: Vec<Use>,
}

/// Every piece begins at a multiple of so many bytes.
const ALIGN: i64 = 64;

/// The offset of the first piece while it has no place: a variable that is no dimension, as those of the next ones.
const FIRST: u32 = 1 << 31;

/// The value of a symbol in the sample, where its bounds allow it.
const SAMPLE: i64 = 128;

impl<'a> Arena<'a> {
    pub(super) fn new(facts: &'a Facts) -> Arena<'a> {
        Arena { facts, questions: facts.questions(), pieces: Vec::new() }
    }

    /// Memory from group `first` to group `last`, at an offset that [`Placed::resolve`] knows.  No bytes take no piece,
    /// so that no two pieces have one offset.
    pub(super) fn take(&mut self, bytes: &Dim, first: usize, last: usize) -> Dim {
        let align = Dim::constant(ALIGN);
        let bytes = self.questions.normalize(&(&bytes.ceil_div(&align) * &align));
        if bytes.is(0) {
            return Dim::default();
        }
        self.pieces.push(Use { bytes, first, last });
        Dim::sym(Sym(FIRST + self.pieces.len() as u32 - 1))
    }

    /// Has a piece in use for longer.
    pub(super) fn keep(&mut self, offset: &Dim, last: usize) {
        if let Some(piece) = piece(offset).and_then(|piece| self.pieces.get_mut(piece)) {
            piece.last = piece.last.max(last);
        }
    }

    /// Finds a place for every piece, where groups number `0..groups` and copies after them are one more.
    pub(super) fn place(self, groups: usize) -> Placed {
        let span = |piece: &Use| piece.first..=piece.last.min(groups);
        let sizes: Vec<i64> = self.pieces.iter().map(|piece| self.sample(&piece.bytes)).collect();
        let mut order: Vec<usize> = (0..self.pieces.len()).collect();
        order.sort_by_key(|piece| {
            let span = span(&self.pieces[*piece]);
            (Reverse(span.end().saturating_sub(*span.start())), Reverse(sizes[*piece]), *span.start())
        });
        let standing = self.pieces.iter().map(|_| None).collect();
        let mut shelf = Shelf { questions: &self.questions, standing, groups: vec![Vec::new(); groups + 1] };
        for piece in order {
            shelf.put(piece, &self.pieces[piece].bytes, sizes[piece], span(&self.pieces[piece]));
        }
        let bytes = shelf.highest(shelf.groups.iter().filter_map(|pieces| pieces.last().copied()));
        let offsets = shelf.standing.into_iter().map(|piece| piece.map_or_else(Dim::default, |p| p.offset));
        Placed { offsets: offsets.collect(), bytes, uses: self.pieces }
    }

    /// A size at the sample.
    fn sample(&self, bytes: &Dim) -> i64 {
        let value = |sym: Sym| self.facts.symbols.get(sym.0 as usize).map(|s| SAMPLE.clamp(s.low, s.high));
        bytes.eval(&value).map_or(0, |bytes| bytes.max(0))
    }
}

impl Shelf<'_> {
    fn piece(&self, piece: usize) -> Option<&Standing> {
        self.standing[piece].as_ref()
    }

    /// Puts a piece into the lowest gap that suffices, or on top.
    fn put(&mut self, piece: usize, bytes: &Dim, size: i64, groups: RangeInclusive<usize>) {
        let from = self.lowest(size, &groups);
        let place = self.between(from, bytes, &groups);
        let (offset, from) = match place {
            Some(offset) => (offset, from),
            None => {
                let tops = self.groups[groups.clone()].iter().filter_map(|pieces| pieces.last().copied());
                let tops = tops.collect::<BTreeSet<_>>();
                let from = tops.iter().filter_map(|top| Some(self.piece(*top)?.to)).max().unwrap_or(0);
                (self.highest(tops.into_iter()), from)
            }
        };
        let end = &offset + bytes;
        for group in groups {
            let above = self.above(group, from);
            self.groups[group].insert(above, piece);
        }
        self.standing[piece] = Some(Standing { offset, end, from, to: from.saturating_add(size) });
    }

    /// Where the lowest gap of so many bytes begins in all these groups, at the sample.
    fn lowest(&self, size: i64, groups: &RangeInclusive<usize>) -> i64 {
        let mut seen = vec![false; self.standing.len()];
        let mut taken = Vec::new();
        for piece in self.groups[groups.clone()].iter().flatten() {
            if !std::mem::replace(&mut seen[*piece], true) {
                taken.extend(self.piece(*piece).map(|p| (p.from, p.to)));
            }
        }
        taken.sort_unstable();
        let mut lowest = 0;
        for (from, to) in taken {
            if from - lowest >= size {
                break;
            }
            lowest = to.max(lowest);
        }
        lowest
    }

    /// How many pieces of a group end below a place, at the sample.
    fn above(&self, group: usize, from: i64) -> usize {
        self.groups[group].partition_point(|piece| self.piece(*piece).is_some_and(|p| p.to <= from))
    }

    /// The offset of a piece in the gaps of these groups that begin at a place of the sample, if it fits at every call.
    fn between(&self, from: i64, bytes: &Dim, groups: &RangeInclusive<usize>) -> Option<Dim> {
        let (mut below, mut above) = (BTreeSet::new(), BTreeSet::new());
        for group in groups.clone() {
            let (lower, higher) = self.groups[group].split_at(self.above(group, from));
            below.extend(lower.last().copied());
            above.extend(higher.first().copied());
        }
        let offset = self.highest(below.into_iter());
        let end = &offset + bytes;
        let mut above = above.into_iter().filter_map(|piece| self.piece(piece));
        above.all(|piece| self.questions.is_plainly_nonneg(&(&piece.offset - &end))).then_some(offset)
    }

    /// The largest of the ends of these pieces.
    fn highest(&self, pieces: impl Iterator<Item = usize>) -> Dim {
        let ends: BTreeSet<&Dim> = pieces.filter_map(|piece| Some(&self.piece(piece)?.end)).collect();
        let mut largest: Vec<&Dim> = Vec::new();
        for end in ends {
            if largest.iter().any(|other| self.questions.is_plainly_nonneg(&(*other - end))) {
                continue;
            }
            largest.retain(|other| !self.questions.is_plainly_nonneg(&(end - *other)));
            largest.push(end);
        }
        let Some((first, rest)) = largest.split_first() else { return Dim::default() };
        // What all have in common stands once.
        let in_all = |term: &&(Monomial, i128)| rest.iter().all(|other| other.terms().contains(term));
        let common = Dim::from_terms(first.terms().iter().filter(in_all).cloned());
        let mut apart = largest.iter().map(|end| *end - &common);
        let first = apart.next().unwrap_or_default();
        &common + &apart.fold(first, |most, end| most.maximum(&end))
    }
}

impl Placed {
    /// Gives an offset its value.
    pub(super) fn resolve(&self, offset: &mut Dim) {
        if let Some(place) = piece(offset).and_then(|piece| self.offsets.get(piece)) {
            *offset = place.clone();
        }
    }
}

/// The piece whose offset this is.
fn piece(offset: &Dim) -> Option<usize> {
    offset.as_sym()?.0.checked_sub(FIRST).map(|piece| piece as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dim::Sym;
    use crate::dim::facts::SymbolInfo;

    fn facts() -> Facts {
        let symbol = |name: &str| SymbolInfo { name: name.into(), low: 0, high: i64::MAX };
        Facts { symbols: vec![symbol("M"), symbol("N")], ..Facts::default() }
    }

    fn kib(count: i64) -> Dim {
        Dim::constant(1024 * count)
    }

    fn m() -> Dim {
        &Dim::sym(Sym(0)) * &Dim::constant(64)
    }

    /// The offsets and the size of an arena with these pieces.
    fn placed(pieces: &[(Dim, usize, usize)]) -> (Vec<Dim>, Dim) {
        let facts = facts();
        let mut arena = Arena::new(&facts);
        let mut offsets: Vec<Dim> =
            pieces.iter().map(|(bytes, first, last)| arena.take(bytes, *first, *last)).collect();
        let groups = pieces.iter().map(|(_, _, last)| last + 1).max().unwrap_or(0);
        let placed = arena.place(groups);
        offsets.iter_mut().for_each(|offset| placed.resolve(offset));
        (offsets, placed.bytes)
    }

    #[test]
    fn what_is_in_use_longest_stands_lowest() {
        let pieces = [(kib(4), 0, 0), (kib(2), 0, 2), (kib(1), 1, 1), (kib(3), 1, 2)];
        assert_eq!(placed(&pieces), (vec![kib(2), kib(0), kib(5), kib(2)], kib(6)));
    }

    #[test]
    fn gaps_are_filled_that_suffice_at_every_call() {
        let twice = &m() * &Dim::constant(2);
        let chain = [(m(), 0, 1), (twice.clone(), 1, 2), (m(), 2, 3), (twice.clone(), 3, 4)];
        let (offsets, bytes) = placed(&chain);
        assert_eq!(offsets, [twice.clone(), kib(0), twice.clone(), kib(0)]);
        assert_eq!(bytes, &m() * &Dim::constant(3));
        // At the sample `N` fits between the others as `M` does, but it may be greater.
        let n = &Dim::sym(Sym(1)) * &Dim::constant(64);
        for (size, expected) in [(m(), kib(1)), (n, &kib(2) + &m())] {
            let (offsets, _) = placed(&[(kib(1), 0, 5), (m(), 0, 3), (kib(1), 3, 5), (size, 4, 5)]);
            assert_eq!(offsets, [kib(0), kib(1), &kib(1) + &m(), expected]);
        }
    }

    #[test]
    fn sizes_of_other_symbols_share_memory() {
        let n = &Dim::sym(Sym(1)) * &Dim::constant(64);
        let pieces = [(m(), 0, 0), (n.clone(), 1, 1), (kib(1), 0, 1)];
        let (offsets, bytes) = placed(&pieces);
        assert_eq!(offsets, [kib(1), kib(1), kib(0)]);
        for (m, n) in [(0, 5), (7, 3)] {
            let value = |sym: Sym| Some([m, n][sym.0 as usize]);
            assert_eq!(bytes.eval(&value), Some(1024 + 64 * m.max(n)));
        }
    }

    #[test]
    fn a_piece_above_several_begins_where_the_highest_ends() {
        let n = &Dim::sym(Sym(1)) * &Dim::constant(64);
        let pieces = [(m(), 0, 2), (n, 3, 5), (kib(1), 2, 3), (&m() * &Dim::constant(3), 4, 5)];
        let (offsets, bytes) = placed(&pieces);
        for (m, n) in [(0, 5), (7, 3)] {
            let value = |dim: &Dim| dim.eval(&|sym: Sym| Some([m, n][sym.0 as usize]));
            let expected = [0, 0, 64 * m.max(n), 64 * n];
            assert_eq!(offsets.iter().map(value).collect::<Vec<_>>(), expected.map(Some));
            assert_eq!(value(&bytes), Some((64 * m.max(n) + 1024).max(64 * (n + 3 * m))));
        }
    }

    #[test]
    fn a_piece_that_is_kept_is_in_use_though_an_empty_one_was_asked_for_before() {
        let facts = facts();
        let mut arena = Arena::new(&facts);
        arena.take(&kib(0), 0, 2);
        let mut piece = arena.take(&kib(1), 0, 1);
        arena.take(&kib(0), 1, 1);
        arena.keep(&piece, 3);
        let mut other = arena.take(&kib(1), 2, 2);
        let placed = arena.place(4);
        for offset in [&mut piece, &mut other] {
            placed.resolve(offset);
        }
        assert_eq!((piece, other, placed.bytes), (kib(0), kib(1), kib(2)));
    }
}
