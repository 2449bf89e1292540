//! The terms of the sums of a tile: chains of [`CHAIN`] terms, or of [`SHORT_CHAIN`] where there are few, each from
//! zero, added in turn.
//!
//! Chains are counted over all terms of a sum, the last axis fastest, so that it does not matter whether axes have
//! been joined, what is packed, or in how many parts the terms come: parts begin where chains do.  From one chain to
//! the next the sums of those before stand on the stack, since registers hold the sums of the chain at hand.

use super::Emit;
use super::holds::Holds;
use super::product::Product;
use super::tile::{Depth, Tile};
use super::walk::Walk;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::loops::{Buf, Buffer, Place};
use crate::schedule::order::{CHAIN, FEW_TERMS, SHORT_CHAIN};

/// The most registers of a tile.
const MOST_REGISTERS: u32 = 32;

/// What adds a term to all sums, given its indices and its position among the terms of the tile.
type Term<'f, 'a> = &'f mut dyn FnMut(&mut Emit<'a>, &[Dim], &Dim, &[Val]) -> Result<Vec<Val>, Bug>;

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
        let dtype = self.graph.ty(product.node).dtype;
        let zero = if dtype.is_float() { self.b.float(dtype, 0.0) } else { self.b.int(dtype, 0) };
        let zeros = vec![self.b.splat(zero, tile.columns.lanes); tile.rows as usize * tile.columns.at.len()];
        // Where both operands are packed, nothing is read at the indices of a term.
        let packed = tile.left.is_some() && tile.right.is_some();
        let walk = if packed { Walk::still(tile.depth) } else { Walk::of(tile.depth) };
        let (begin, end) = (self.int(0), self.scalar_index(&tile.depth.count)?);
        let start = self.start(&walk, begin)?;
        if self.is_one_chain(product, tile.depth) {
            let (sums, _) = self.walk(&walk, (begin, end), (&zeros, &start), term)?;
            return resume(self, sums);
        }
        let (aside, size) = (self.room_aside(zeros[0])?, self.chain(product)?);
        let count = self.quotient_up(end, size);
        let (chain, inside) = self.b.open_loop((begin, count, 1), &[&zeros[..], &start].concat());
        let from = self.b.prim(Prim::Mul, &[chain, size]);
        let next = self.b.prim(Prim::Add, &[from, size]);
        let to = self.least(next, end);
        let (sums, at) = self.walk(&walk, (from, to), (&zeros, &inside[zeros.len()..]), term)?;
        let is_first = self.b.prim(Prim::Cmp(Cmp::Eq), &[from, begin]);
        self.b.open_branch(is_first);
        let first = resume(self, sums.clone())?;
        self.b.otherwise(first);
        let added = self.add_earlier(aside, &sums);
        let mut sums = self.b.close_branch(added);
        let is_last = self.b.prim(Prim::Cmp(Cmp::Ge), &[next, end]);
        self.b.open_branch(is_last);
        self.b.otherwise(Vec::new());
        self.set_aside(aside, &sums);
        self.b.close_branch(Vec::new());
        let count = sums.len();
        sums.extend(at);
        let mut sums = self.b.close_loop(sums);
        sums.truncate(count);
        Ok(sums)
    }

    /// The terms of a chain, which depend on how many a sum has in all, whatever part of them a tile adds.
    fn chain(&mut self, product: &Product<'_>) -> Result<Val, Bug> {
        let has_many = self.reaches(&Depth::whole(product).count, FEW_TERMS + 1)?;
        let (short, long) = (self.int(SHORT_CHAIN), self.int(CHAIN));
        Ok(match has_many {
            Holds::Always => long,
            Holds::Never => short,
            Holds::If(has_many) => self.b.prim(Prim::Select, &[has_many, long, short]),
        })
    }

    /// Whether the terms of a tile are one chain at every call.
    fn is_one_chain(&self, product: &Product<'_>, depth: &Depth) -> bool {
        let (least, _) = self.facts.range(&Depth::whole(product).count);
        let has_many = least.is_some_and(|least| least > FEW_TERMS);
        let length = if has_many { CHAIN } else { SHORT_CHAIN };
        self.facts.range(&depth.count).1.is_some_and(|most| most <= length)
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
