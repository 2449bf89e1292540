//! Sorting: each element becomes an integer key of the same order, and keys are sorted by their digits.
//!
//! A short row is sorted by counting, for each element, those that come before it, all lanes at once.  Longer ones go
//! through a network of comparisons (`network`), and long ones are dealt out by their digits, from the last to the first,
//! in order, so that equal keys stay in order.  All give the same indices.

mod network;

use super::tasks::Range;
use super::{Emit, Var};
use crate::diag::Bug;
use crate::dim::{Dim, Sym};
use crate::graph::ops::sort::Sort;
use crate::graph::{NodeId, Op};
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::loops::Buf;
use crate::schedule::fuse::Group;
use crate::schedule::reads::volume;
use crate::schedule::tasks::Cut;
use tensorjit_runtime::abi::DType;

/// Values of a digit, of one byte.
const DIGITS: i64 = 256;

/// The type of the keys of elements: integers of the same width or of 32 bits.
pub(in crate::schedule) fn key_type(dtype: DType) -> DType {
    if dtype.size() == 8 { DType::I64 } else { DType::I32 }
}

/// Bytes of the memory that sorting a row takes: the keys twice, the indices twice, each in whole blocks of a network, and
/// how many keys have a digit; with their element types.
pub(in crate::schedule) fn space(dtype: DType, extent: &Dim) -> Vec<(DType, Dim)> {
    let key = key_type(dtype);
    let block = Dim::constant(network::MOST);
    let extent = &extent.ceil_div(&block) * &block;
    let row = |dtype: DType| (dtype, &extent * &Dim::constant(dtype.size() as i64));
    let counts = Dim::constant(DIGITS * key.size() as i64 * DType::I64.size() as i64);
    vec![row(key), row(key), row(DType::I64), row(DType::I64), (DType::I64, counts)]
}

/// A buffer with where this task's part of it begins.
type Part = (Buf, Val);

/// A sort while it is emitted.
#[derive(Clone, Copy)]
struct Sorting<'g> {
    root: usize,
    op: &'g Sort,
    input: NodeId,
    key: DType,
    keys: [Part; 2],
    indices: [Part; 2],
    counts: Part,
}

impl<'a> Emit<'a> {
    /// The indices that sort rows.
    pub(super) fn sort(&mut self, group: &Group) -> Result<(), Bug> {
        let root = group.stages[0][0];
        let graph = self.graph;
        let node = self.roots[root].node;
        let (Op::Sort(op), [input]) = (&graph.node(node).op, graph.node(node).inputs.as_slice()) else {
            return Err(Bug::new("schedule", format!("{node:?} is not a sort")));
        };
        let rows = Group { rows: op.axis, ..group.clone() };
        let cut = Cut::of(&self.facts, self.grain, self.roots, &rows);
        self.shared(cut.as_ref(), &mut |emit, range| {
            let mut parts = Vec::new();
            for stored in emit.scratch[root].clone() {
                let start = emit.offset(&stored, &[], &[]);
                parts.push((stored.buf, emit.scalar_index(&start)?));
            }
            let [a, b, c, d, counts] = parts.as_slice() else {
                return Err(Bug::new("schedule", format!("{node:?} has no memory to be sorted in")));
            };
            let key = key_type(graph.ty(*input).dtype);
            let sorting =
                Sorting { root, op, input: *input, key, keys: [*a, *b], indices: [*c, *d], counts: *counts };
            emit.sort_rows(sorting, range, &mut Vec::new())
        })
    }

    /// Loops over all axes but the one that is sorted, those before it in a range of rows.
    fn sort_rows(&mut self, sorting: Sorting<'a>, range: Range, at: &mut Vec<Dim>) -> Result<(), Bug> {
        let roots = self.roots;
        let extents = &roots[sorting.root].parallel;
        let axis = at.len();
        let Some(extent) = extents.get(axis) else { return self.sort_row(sorting, at) };
        if axis == sorting.op.axis {
            // Its place is filled by the loops inside.
            at.push(Dim::constant(0));
            self.sort_rows(sorting, None, at)?;
            at.pop();
            return Ok(());
        }
        let inside = volume(extents.get(axis + 1..sorting.op.axis).unwrap_or(&[]));
        self.rows_in(extent, &inside, range, |emit, sym, range| {
            at.push(Dim::sym(sym));
            emit.sort_rows(sorting, range, at)?;
            at.pop();
            Ok(Vec::new())
        })
    }

    fn sort_row(&mut self, sorting: Sorting<'a>, at: &[Dim]) -> Result<(), Bug> {
        let roots = self.roots;
        let extent = &roots[sorting.root].parallel[sorting.op.axis];
        for (buf, _) in sorting.keys.into_iter().chain(sorting.indices).chain([sorting.counts]) {
            self.b.pin(buf);
        }
        let [short, medium] = self.sorted_otherwise(sorting.key);
        self.up_to(extent, short, &mut |emit, is_short| {
            if is_short {
                return emit.by_counting(sorting, extent, at);
            }
            emit.up_to(extent, medium, &mut |emit, is_medium| match is_medium {
                true => emit.by_network(sorting, extent, at),
                false => emit.by_digits(sorting, extent, at),
            })
        })
    }

    /// Emits `body` for an extent of at most `most` elements, for one of more, or both and a branch.
    fn up_to(
        &mut self,
        extent: &Dim,
        most: i64,
        body: &mut dyn FnMut(&mut Self, bool) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        match self.range_of(extent) {
            (_, Some(greatest)) if greatest <= most => return body(self, true),
            (Some(least), _) if least > most => return body(self, false),
            _ => {}
        }
        let (count, bound) = (self.scalar_index(extent)?, self.int(most));
        let is_less = self.b.prim(Prim::Cmp(Cmp::Le), &[count, bound]);
        self.b.open_branch(is_less);
        body(self, true)?;
        self.b.otherwise(Vec::new());
        body(self, false)?;
        self.b.close_branch(Vec::new());
        Ok(())
    }

    /// Stores the key of every element of the row.
    fn keys(&mut self, sorting: Sorting<'a>, extent: &Dim, at: &[Dim]) -> Result<(), Bug> {
        let mut at = at.to_vec();
        let (keys, start) = sorting.keys[0];
        self.lane_loop(extent, sorting.key.size(), 2, &mut |emit, sym| {
            at[sorting.op.axis] = Dim::sym(sym);
            let value = emit.value(sorting.input, &at)?;
            let key = emit.key_of(value, sorting.key, sorting.op);
            let start = Dim::sym(emit.fresh(Var::Scalar(start)));
            emit.store_at(keys, &(&start + &Dim::sym(sym)), key)
        })
    }

    /// An integer that is less where the element comes first.
    fn key_of(&mut self, value: Val, key: DType, op: &Sort) -> Val {
        let dtype = self.b.dtype(value);
        if !dtype.is_float() {
            let mut whole = self.b.prim(Prim::Convert(key), &[value]);
            if dtype.is_unsigned() && dtype.size() == key.size() {
                // Keys are signed: the upper half of the values must not come first.
                let sign = self.b.int(key, if key == DType::I64 { i64::MIN } else { i32::MIN.into() });
                whole = self.b.prim(Prim::Xor, &[whole, sign]);
            }
            return if op.descending { self.flipped(whole) } else { whole };
        }
        // Negative numbers fall as their bits rise, and the zeros are one.
        let zero = self.b.float(dtype, 0.0);
        let sum = self.b.prim(Prim::Add, &[value, zero]);
        let bits = self.b.prim(Prim::Bitcast(key), &[sum]);
        let (width, greatest) = match key {
            DType::I64 => (63, i64::MAX),
            _ => (31, i64::from(i32::MAX)),
        };
        let end = if op.nan_first { -greatest - 1 } else { greatest };
        let end = self.b.int(key, end);
        let (width, greatest) = (self.b.int(key, width), self.b.int(key, greatest));
        let sign = self.b.prim(Prim::AShr, &[bits, width]);
        let magnitude = self.b.prim(Prim::And, &[sign, greatest]);
        let mut found = self.b.prim(Prim::Xor, &[bits, magnitude]);
        if op.descending {
            found = self.flipped(found);
        }
        let nan = self.b.prim(Prim::Cmp(Cmp::Ne), &[value, value]);
        self.b.prim(Prim::Select, &[nan, end, found])
    }

    /// An integer whose order is the other way round.
    fn flipped(&mut self, key: Val) -> Val {
        let ones = self.b.int(self.b.dtype(key), -1);
        self.b.prim(Prim::Xor, &[key, ones])
    }

    /// An element of memory that begins somewhere.
    fn read(&mut self, (buf, start): Part, at: Val) -> Val {
        self.b.pin(buf);
        let offset = self.b.prim(Prim::Add, &[start, at]);
        self.b.load(buf, offset, 1, None)
    }

    fn write(&mut self, (buf, start): Part, at: Val, value: Val) {
        let offset = self.b.prim(Prim::Add, &[start, at]);
        self.b.store(buf, offset, value, None);
    }

    /// Stores an index to its place in the row of the result.
    fn write_index(
        &mut self,
        sorting: Sorting<'a>,
        at: &[Dim],
        position: Val,
        index: Val,
    ) -> Result<(), Bug> {
        let mut at = at.to_vec();
        at[sorting.op.axis] = Dim::sym(self.fresh(Var::Scalar(position)));
        self.store(sorting.root, &at, index)
    }

    fn by_counting(&mut self, sorting: Sorting<'a>, extent: &Dim, at: &[Dim]) -> Result<(), Bug> {
        self.keys(sorting, extent, at)?;
        let (keys, start) = sorting.keys[0];
        let (ranks, rank_start) = sorting.indices[0];
        let key = sorting.key;
        self.lane_loop(extent, key.size(), 1, &mut |emit, sym| {
            let lanes = emit.lanes;
            let start_of = |emit: &mut Self, start| Dim::sym(emit.fresh(Var::Scalar(start)));
            let from = start_of(emit, start);
            let own = emit.load_at(keys, &(&from + &Dim::sym(sym)))?;
            let number = emit.lane_index(&Dim::sym(sym))?;
            let number = emit.b.prim(Prim::Convert(key), &[number]);
            let (zero, one) = (emit.b.int(key, 0), emit.b.int(key, 1));
            let initial = emit.b.splat(zero, lanes);
            let ranks_now = emit.scalar_loop(extent, &[initial], &mut |emit, other, carried| {
                let place = emit.scalar_index(&Dim::sym(other))?;
                let theirs = emit.read((keys, start), place);
                let place = emit.b.prim(Prim::Convert(key), &[place]);
                let less = emit.b.prim(Prim::Cmp(Cmp::Lt), &[theirs, own]);
                let equal = emit.b.prim(Prim::Cmp(Cmp::Eq), &[theirs, own]);
                let earlier = emit.b.prim(Prim::Cmp(Cmp::Lt), &[place, number]);
                let tie = emit.b.prim(Prim::And, &[equal, earlier]);
                let before = emit.b.prim(Prim::Or, &[less, tie]);
                let more = emit.b.prim(Prim::Add, &[carried[0], one]);
                let next = emit.b.prim(Prim::Select, &[before, more, carried[0]]);
                Ok(vec![emit.b.splat(next, lanes)])
            })?;
            let rank = emit.b.prim(Prim::Convert(DType::I64), &[ranks_now[0]]);
            let to = start_of(emit, rank_start);
            emit.store_at(ranks, &(&to + &Dim::sym(sym)), rank)
        })?;
        self.b.pin(ranks);
        self.scalar_loop(extent, &[], &mut |emit, sym, _| {
            let index = emit.scalar_index(&Dim::sym(sym))?;
            let position = emit.read((ranks, rank_start), index);
            emit.write_index(sorting, at, position, index)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    fn by_digits(&mut self, sorting: Sorting<'a>, extent: &Dim, at: &[Dim]) -> Result<(), Bug> {
        self.keys(sorting, extent, at)?;
        let passes = sorting.key.size();
        self.count_digits(sorting, extent)?;
        for pass in 0..passes {
            self.places_of_digits(sorting, pass)?;
            self.deal_out(sorting, pass, extent, at)?;
        }
        Ok(())
    }

    /// How many keys have each value of each digit.
    fn count_digits(&mut self, sorting: Sorting<'a>, extent: &Dim) -> Result<(), Bug> {
        let passes = sorting.key.size();
        let (counts, start) = sorting.counts;
        let none = self.int(0);
        self.lane_loop(&Dim::constant(DIGITS * passes as i64), 8, 2, &mut |emit, sym| {
            let start = Dim::sym(emit.fresh(Var::Scalar(start)));
            emit.store_at(counts, &(&start + &Dim::sym(sym)), none)
        })?;
        self.scalar_loop(extent, &[], &mut |emit, sym, _| {
            let place = emit.scalar_index(&Dim::sym(sym))?;
            let key = emit.read(sorting.keys[0], place);
            for pass in 0..passes {
                let digit = emit.digit(sorting.key, key, pass);
                let (old, one) = (emit.read(sorting.counts, digit), emit.int(1));
                let new = emit.b.prim(Prim::Add, &[old, one]);
                emit.write(sorting.counts, digit, new);
            }
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// The place of the count of a key's digit.
    fn digit(&mut self, dtype: DType, key: Val, pass: usize) -> Val {
        let passes = dtype.size();
        let shift = self.b.int(dtype, 8 * pass as i64);
        let shifted = self.b.prim(Prim::LShr, &[key, shift]);
        let low = self.b.int(dtype, DIGITS - 1);
        let mut digit = self.b.prim(Prim::And, &[shifted, low]);
        if pass + 1 == passes {
            // The first digit has the sign.
            let sign = self.b.int(dtype, DIGITS / 2);
            digit = self.b.prim(Prim::Xor, &[digit, sign]);
        }
        let digit = self.b.prim(Prim::Convert(DType::I64), &[digit]);
        let before = self.int(DIGITS * pass as i64);
        self.b.prim(Prim::Add, &[digit, before])
    }

    /// Replaces how many keys have a digit by how many have a lower one.
    fn places_of_digits(&mut self, sorting: Sorting<'a>, pass: usize) -> Result<(), Bug> {
        let none = self.int(0);
        let (from, to) = (self.int(DIGITS * pass as i64), self.int(DIGITS * (pass as i64 + 1)));
        self.range_loop((from, to, 1), &[none], &mut |emit, sym, before| {
            let place = emit.scalar_index(&Dim::sym(sym))?;
            let count = emit.read(sorting.counts, place);
            emit.write(sorting.counts, place, before[0]);
            Ok(vec![emit.b.prim(Prim::Add, &[before[0], count])])
        })?;
        Ok(())
    }

    /// Moves every key and its index to the next place of its digit; at the last pass the index is the result.
    fn deal_out(&mut self, sorting: Sorting<'a>, pass: usize, extent: &Dim, at: &[Dim]) -> Result<(), Bug> {
        let (from, to) = (pass % 2, (pass + 1) % 2);
        let last = pass + 1 == sorting.key.size();
        self.scalar_loop(extent, &[], &mut |emit, sym: Sym, _| {
            let place = emit.scalar_index(&Dim::sym(sym))?;
            let key = emit.read(sorting.keys[from], place);
            let index = if pass == 0 { place } else { emit.read(sorting.indices[from], place) };
            let digit = emit.digit(sorting.key, key, pass);
            let (position, one) = (emit.read(sorting.counts, digit), emit.int(1));
            let next = emit.b.prim(Prim::Add, &[position, one]);
            emit.write(sorting.counts, digit, next);
            if last {
                emit.write_index(sorting, at, position, index)?;
            } else {
                emit.write(sorting.keys[to], position, key);
                emit.write(sorting.indices[to], position, index);
            }
            Ok(Vec::new())
        })?;
        Ok(())
    }
}
