//! The arena: pieces of memory, each in use from one group of loops to another, whose sizes are formulas.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::dim::Dim;
use crate::dim::facts::{Facts, Questions};

/// A request, as it was granted.
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
    facts: Questions<'a>,
    /// In the order of their addresses.
    pieces: Vec<Piece>,
    /// All requests, in order.
    uses: Vec<Use>,
    /// Whether differences of sizes are never negative.  Few sizes meet again and again, and a proof takes long.
    known: RefCell<BTreeMap<Dim, bool>>,
}

struct Piece {
    offset: Dim,
    bytes: Dim,
    /// The last group that uses it.
    last: usize,
}

/// Every piece begins at a multiple of so many bytes.
const ALIGN: i64 = 64;

impl<'a> Arena<'a> {
    pub(super) fn new(facts: &'a Facts) -> Arena<'a> {
        Arena { facts: facts.questions(), pieces: Vec::new(), uses: Vec::new(), known: RefCell::default() }
    }

    /// Bytes of the whole.
    pub(super) fn bytes(&self) -> Dim {
        self.pieces.last().map_or_else(Dim::default, |piece| &piece.offset + &piece.bytes)
    }

    /// All requests.
    pub(super) fn into_uses(self) -> Vec<Use> {
        self.uses
    }

    /// Memory from group `first` to group `last`: neighbouring pieces that are free, of just this size where there
    /// are such, else the first that suffice at every call; or new memory at the end.  No bytes take no piece, so
    /// that no two pieces have one offset.
    pub(super) fn take(&mut self, bytes: &Dim, first: usize, last: usize) -> Dim {
        let align = Dim::constant(ALIGN);
        let bytes = self.facts.normalize(&(&bytes.ceil_div(&align) * &align));
        if bytes.is(0) {
            return Dim::default();
        }
        self.uses.push(Use { bytes: bytes.clone(), first, last });
        let exact = self.pieces.iter().position(|piece| piece.last < first && piece.bytes == bytes);
        if let Some(exact) = exact {
            self.pieces[exact].last = last;
            return self.pieces[exact].offset.clone();
        }
        match self.free(&bytes, first) {
            Some((from, to, rest)) => self.split(from, to, bytes, rest, last),
            None => self.append(bytes, first, last),
        }
    }

    /// Uses a piece on, from the last group that has used it so far.
    pub(super) fn keep(&mut self, offset: &Dim, first: usize, last: usize) {
        if let Some(piece) = self.pieces.iter_mut().find(|piece| piece.offset == *offset) {
            piece.last = last;
            let bytes = piece.bytes.clone();
            // In the group that hands the piece on it counts once.
            self.uses.push(Use { bytes, first: first + 1, last });
        }
    }

    /// The first run of free pieces that is never smaller than `bytes`, and what is left of it.
    fn free(&self, bytes: &Dim, first: usize) -> Option<(usize, usize, Dim)> {
        for from in 0..self.pieces.len() {
            let mut rest = -bytes;
            for (to, piece) in self.pieces.iter().enumerate().skip(from).take_while(|(_, p)| p.last < first) {
                rest = &rest + &piece.bytes;
                if self.is_enough(&rest) {
                    return Some((from, to + 1, self.facts.normalize(&rest)));
                }
            }
        }
        None
    }

    /// Whether a difference of sizes is never negative.
    fn is_enough(&self, difference: &Dim) -> bool {
        if let Some(known) = self.known.borrow().get(difference) {
            return *known;
        }
        let known = self.facts.nonneg(difference);
        self.known.borrow_mut().insert(difference.clone(), known);
        known
    }

    fn split(&mut self, from: usize, to: usize, bytes: Dim, rest: Dim, last: usize) -> Dim {
        let offset = self.pieces[from].offset.clone();
        let free = self.pieces[from..to].iter().map(|piece| piece.last).max().unwrap_or(0);
        let rest = Piece { offset: &offset + &bytes, bytes: rest, last: free };
        let taken = Piece { offset: offset.clone(), bytes, last };
        let rest = Some(rest).filter(|rest| !rest.bytes.is(0));
        self.pieces.splice(from..to, [taken].into_iter().chain(rest));
        offset
    }

    /// New memory at the end, where free pieces that are never larger become part of it.
    fn append(&mut self, bytes: Dim, first: usize, last: usize) -> Dim {
        let mut missing = bytes.clone();
        while let Some(piece) = self.pieces.last().filter(|piece| piece.last < first) {
            let smaller = &missing - &piece.bytes;
            if !self.is_enough(&smaller) {
                break;
            }
            missing = smaller;
            self.pieces.pop();
        }
        let offset = self.bytes();
        self.pieces.push(Piece { offset: offset.clone(), bytes, last });
        offset
    }
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

    #[test]
    fn free_pieces_are_used_again_in_whole_and_in_part() {
        let facts = facts();
        let mut arena = Arena::new(&facts);
        assert_eq!(arena.take(&kib(4), 0, 0), kib(0));
        assert_eq!(arena.take(&kib(2), 0, 1), kib(4));
        assert_eq!(arena.take(&kib(1), 1, 2), kib(0), "a part");
        assert_eq!(arena.take(&kib(3), 1, 2), kib(1), "the rest");
        assert_eq!(arena.take(&kib(6), 3, 3), kib(0), "neighbours together");
        assert_eq!(arena.bytes(), kib(6));
    }

    #[test]
    fn a_piece_that_is_kept_is_in_use_though_an_empty_one_was_asked_for_before() {
        let facts = facts();
        let mut arena = Arena::new(&facts);
        arena.take(&kib(0), 0, 2);
        let piece = arena.take(&kib(1), 0, 1);
        arena.take(&kib(0), 1, 1);
        arena.keep(&piece, 1, 3);
        assert_ne!(arena.take(&kib(1), 2, 2), piece);
    }

    #[test]
    fn the_end_grows_by_what_is_missing() {
        let facts = facts();
        let mut arena = Arena::new(&facts);
        arena.take(&kib(4), 0, 1);
        arena.take(&kib(2), 0, 0);
        assert_eq!(arena.take(&kib(3), 1, 1), kib(4));
        assert_eq!(arena.bytes(), kib(7));
    }

    #[test]
    fn sizes_are_compared_for_all_values_of_the_symbols() {
        let facts = facts();
        let mut arena = Arena::new(&facts);
        arena.take(&(&m() * &Dim::constant(3)), 0, 0);
        assert_eq!(arena.take(&m(), 1, 1), kib(0), "M <= 3 * M");
        let n = &Dim::sym(Sym(1)) * &Dim::constant(64);
        assert_eq!(arena.take(&n, 2, 2), &m() * &Dim::constant(3), "N may be greater than 3 * M");
    }
}
