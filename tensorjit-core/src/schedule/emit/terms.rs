//! The terms of the sums of a tile: chains of [`CHAIN`] terms, each from zero, added in turn.
//!
//! Chains are counted over all terms of a sum, the last axis fastest, so that it does not matter whether axes have
//! been joined, what is packed, or in how many parts the terms come: parts begin where chains do.  From one chain to
//! the next the sums of those before stand on the stack, since registers hold the sums of the chain at hand.

use super::Emit;
use super::product::Product;
use super::tile::Tile;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::loops::{Buf, Buffer, Place};
use crate::schedule::order::CHAIN;
use crate::schedule::reads;

/// The most registers of a tile.
const MOST_REGISTERS: u32 = 32;

/// What adds a term to all sums, given its indices among the terms of the tile and its position there.
type Term<'f, 'a> = &'f mut dyn FnMut(&mut Emit<'a>, &[Dim], &Dim, &[Val]) -> Result<Vec<Val>, Bug>;

/// What adds the term at a position to all sums.
type Step<'f, 'a> = &'f mut dyn FnMut(&mut Emit<'a>, &Dim, &[Val]) -> Result<Vec<Val>, Bug>;

/// What adds the sums that earlier parts of the terms have left.
type Resume<'f, 'a> = &'f mut dyn FnMut(&mut Emit<'a>, Vec<Val>) -> Result<Vec<Val>, Bug>;

impl<'a> Emit<'a> {
    /// The sums of all terms of a tile.
    pub(super) fn add_terms(
        &mut self,
        product: &Product<'_>,
        tile: &Tile<'_>,
        term: Term<'_, 'a>,
        resume: Resume<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let extents = &tile.depth.extents;
        let dtype = self.graph.ty(product.node).dtype;
        let zero = if dtype.is_float() { self.b.float(dtype, 0.0) } else { self.b.int(dtype, 0) };
        let zeros = vec![self.b.splat(zero, tile.columns.lanes); tile.rows as usize * tile.columns.at.len()];
        let volume = tile.depth.volume();
        if self.graph.facts.range(&volume).1.is_some_and(|most| most <= CHAIN) {
            let sums = self
                .nest(extents, &zeros, &mut |emit, k, sums| term(emit, k, &reads::flat(extents, k), sums))?;
            return resume(self, sums);
        }
        let aside = self.room_aside(zeros[0])?;
        let packed = tile.left.is_some() && tile.right.is_some();
        let mut several = (0..extents.len()).filter(|axis| !extents[*axis].is(1));
        match (several.next(), several.next()) {
            (Some(axis), None) => {
                let mut k = vec![Dim::default(); extents.len()];
                let term = &mut |emit: &mut Self, position: &Dim, sums: &[Val]| {
                    k[axis] = position.clone();
                    term(emit, &k, position, sums)
                };
                self.chains(&volume, aside, &zeros, term, resume)
            }
            // Nothing is read at its indices.
            _ if packed => {
                let term =
                    &mut |emit: &mut Self, position: &Dim, sums: &[Val]| term(emit, &[], position, sums);
                self.chains(&volume, aside, &zeros, term, resume)
            }
            _ => {
                let sums = self.pieces(extents, &mut Vec::new(), (aside, &zeros), &zeros, term)?;
                let (volume, size) = (self.scalar_index(&volume)?, self.int(CHAIN));
                let several = self.b.prim(Prim::Cmp(Cmp::Lt), &[size, volume]);
                self.b.open_branch(several);
                let added = self.add_earlier(aside, &sums);
                self.b.otherwise(added);
                let sums = self.b.close_branch(sums);
                resume(self, sums)
            }
        }
    }

    /// Chains along one axis of so many terms.
    fn chains(
        &mut self,
        terms: &Dim,
        aside: Buf,
        zeros: &[Val],
        term: Step<'_, 'a>,
        resume: Resume<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let (zero, end, size) = (self.int(0), self.scalar_index(terms)?, self.int(CHAIN));
        let (from, _) = self.b.open_loop((zero, end, CHAIN), zeros);
        let next = self.b.prim(Prim::Add, &[from, size]);
        let to = self.least(next, end);
        let sums =
            self.range_loop((from, to, 1), zeros, &mut |emit, sym, sums| term(emit, &Dim::sym(sym), sums))?;
        let is_first = self.b.prim(Prim::Cmp(Cmp::Eq), &[from, zero]);
        self.b.open_branch(is_first);
        let first = resume(self, sums.clone())?;
        self.b.otherwise(first);
        let added = self.add_earlier(aside, &sums);
        let sums = self.b.close_branch(added);
        let is_last = self.b.prim(Prim::Cmp(Cmp::Ge), &[next, end]);
        self.b.open_branch(is_last);
        self.b.otherwise(Vec::new());
        self.set_aside(aside, &sums);
        self.b.close_branch(Vec::new());
        Ok(self.b.close_loop(sums))
    }

    /// Chains over several axes: the last one in pieces that end where chains do.  The sums of the chain at hand are
    /// carried from one piece to the next.
    fn pieces(
        &mut self,
        extents: &[Dim],
        k: &mut Vec<Dim>,
        (aside, zeros): (Buf, &[Val]),
        carried: &[Val],
        term: Term<'_, 'a>,
    ) -> Result<Vec<Val>, Bug> {
        let extent = &extents[k.len()];
        if k.len() + 1 < extents.len() {
            return self.scalar_loop(extent, carried, &mut |emit, sym, carried| {
                k.push(Dim::sym(sym));
                let next = emit.pieces(extents, k, (aside, zeros), carried, term)?;
                k.pop();
                Ok(next)
            });
        }
        let (zero, end, size) = (self.int(0), self.scalar_index(extent)?, self.int(CHAIN));
        let before = reads::flat(extents, &[&k[..], &[Dim::default()]].concat());
        let before = self.scalar_index(&before)?;
        // Where in a chain the axis begins.
        let begun = self.b.prim(Prim::IRem, &[before, size]);
        let end_in_chains = self.b.prim(Prim::Add, &[begun, end]);
        let (position, sums) = self.b.open_loop((zero, end_in_chains, CHAIN), carried);
        let first = self.b.prim(Prim::Sub, &[position, begun]);
        let next = self.b.prim(Prim::Add, &[first, size]);
        let (from, to) = (self.greatest(first, zero), self.least(next, end));
        let sums = self.begin_chain(before, first, (aside, zeros), &sums);
        let sums = self.range_loop((from, to, 1), &sums, &mut |emit, sym, sums| {
            k.push(Dim::sym(sym));
            let next = term(emit, k, &reads::flat(extents, k), sums)?;
            k.pop();
            Ok(next)
        })?;
        Ok(self.b.close_loop(sums))
    }

    /// Where a chain begins, other than the first, sets the sums of those before aside and begins with zeros.
    fn begin_chain(
        &mut self,
        before: Val,
        first: Val,
        (aside, zeros): (Buf, &[Val]),
        sums: &[Val],
    ) -> Vec<Val> {
        let (zero, size) = (self.int(0), self.int(CHAIN));
        let term = self.b.prim(Prim::Add, &[before, first]);
        let begins = self.b.prim(Prim::Cmp(Cmp::Ge), &[first, zero]);
        let is_later = self.b.prim(Prim::Cmp(Cmp::Gt), &[term, zero]);
        let begins = self.b.prim(Prim::And, &[begins, is_later]);
        self.b.open_branch(begins);
        let is_second = self.b.prim(Prim::Cmp(Cmp::Eq), &[term, size]);
        self.b.open_branch(is_second);
        self.b.otherwise(sums.to_vec());
        let added = self.add_earlier(aside, sums);
        let all = self.b.close_branch(added);
        self.set_aside(aside, &all);
        self.b.otherwise(zeros.to_vec());
        self.b.close_branch(sums.to_vec())
    }

    /// Adds the sums of the chains before.
    fn add_earlier(&mut self, aside: Buf, sums: &[Val]) -> Vec<Val> {
        self.b.pin(aside);
        let lanes = self.b.lanes(sums[0]);
        let mut added = Vec::with_capacity(sums.len());
        for (sum, number) in sums.iter().zip(0..) {
            let offset = self.int(number * i64::from(lanes));
            let earlier = self.b.load(aside, offset, lanes, None);
            added.push(self.b.prim(Prim::Add, &[earlier, *sum]));
        }
        added
    }

    /// Stores sums for the chains that follow.
    fn set_aside(&mut self, aside: Buf, sums: &[Val]) {
        for (sum, number) in sums.iter().zip(0..) {
            let offset = self.int(number * i64::from(self.b.lanes(*sum)));
            self.b.store(aside, offset, *sum, None);
        }
    }

    /// Room for the registers of a tile, one for all products of a type.
    fn room_aside(&mut self, register: Val) -> Result<Buf, Bug> {
        let dtype = self.b.ty(register).dtype;
        if let Some(buf) = self.aside.get(&dtype) {
            return Ok(*buf);
        }
        let bytes = MOST_REGISTERS * self.b.target().vector_bits / 8;
        let buf = self.b.buffer(Buffer { dtype, place: Place::Stack(bytes) });
        self.aside.insert(dtype, buf);
        Ok(buf)
    }
}
