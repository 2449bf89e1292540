//! Sorting by a network: which elements are compared depends on the length alone, so vectors of them are.
//!
//! What is sorted are pairs of a key and its index, no two of which are equal.  A block of vectors is sorted in registers:
//! lane by lane, then transposed, so that each lane's elements are a run, and runs are merged by bitonic networks.  Runs of
//! blocks are merged in memory in the same way.  The last block is filled up with what comes after everything; since a
//! comparison never moves the greater one to the left, it stays behind, and what would be behind it need not be there.

use super::Sorting;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::schedule::emit::{Emit, Var};
use tensorjit_runtime::abi::DType;

/// Bytes of the keys of a network, and of their indices.
const BYTES: usize = 8;

/// Bits of an index that shares an integer with its key.
const INDEX_BITS: i64 = 32;

/// The most vectors of a block.  With more, long rows would gain less than short ones lose, and the code would be longer.
const VECTORS: usize = 8;

/// Elements of the largest block, of vectors of 512 bits.
pub(super) const MOST: i64 = 64;

/// Vectors of a pass over memory that are at hand at a time, of each of its two sides.
const AT_HAND: u32 = 4;

/// The length up to which a network of integers of one lane takes less than digits do.
const WORTH: i64 = 128;

/// The most passes over memory in a row, more than any length takes.
const PASSES: i64 = 64;

/// A vector of pairs: integers with the key above the index, or the keys and the indices.
type Pairs = Vec<Val>;

/// Where a network sorts, and the sizes of its blocks.
struct Network {
    parts: Vec<super::Part>,
    /// Of a vector.
    lanes: u32,
    /// Of a block.
    vectors: usize,
}

impl Network {
    fn block(&self) -> i64 {
        i64::from(self.lanes) * self.vectors as i64
    }
}

impl<'a> Emit<'a> {
    /// The length up to which counting takes less than a network does, and that up to which a network takes less than
    /// digits do, as measured: a network has more passes the longer the row is, but each compares all lanes at once.
    pub(super) fn sorted_otherwise(&self, key: DType) -> [i64; 2] {
        let parts = if key == DType::I64 { 2 } else { 1 };
        let lanes = self.register_lanes(BYTES);
        let (short, wide) = (8 * parts + (1 + parts) * lanes, i64::from(lanes / parts));
        [short.into(), WORTH * wide * wide]
    }

    /// Sorts a row with at least one element.
    pub(super) fn by_network(&mut self, sorting: Sorting<'a>, extent: &Dim, at: &[Dim]) -> Result<(), Bug> {
        let parts = match sorting.key {
            DType::I64 => vec![sorting.keys[0], sorting.indices[0]],
            _ => vec![sorting.indices[0]],
        };
        let vectors = (self.b.target().vector_registers as usize / 2 / parts.len()).min(VECTORS);
        let network = Network { parts, lanes: self.register_lanes(BYTES), vectors };
        self.pairs(sorting, &network, extent, at)?;
        let block = network.block();
        let filled = &extent.ceil_div(&Dim::constant(block)) * &Dim::constant(block);
        let (none, end) = (self.int(0), self.scalar_index(&filled)?);
        self.range_loop((none, end, block), &[], &mut |emit, sym, _| {
            let base = emit.scalar_index(&Dim::sym(sym))?;
            let vectors = emit.read_block(&network, base);
            let vectors = emit.sorted_block(&network, vectors);
            emit.write_block(&network, base, vectors);
            Ok(Vec::new())
        })?;
        if self.most(extent).is_none_or(|most| most > block) {
            self.merge_blocks(&network, end)?;
        }
        self.indices_of(sorting, &network, extent, at)
    }

    /// Stores the pairs of a row, and behind them what fills up the last block.
    fn pairs(
        &mut self,
        sorting: Sorting<'a>,
        network: &Network,
        extent: &Dim,
        at: &[Dim],
    ) -> Result<(), Bug> {
        let block = network.block();
        let last = &(extent - &Dim::constant(1)).floor_div(&Dim::constant(block)) * &Dim::constant(block);
        if *extent != &last + &Dim::constant(block) {
            let (base, end) = (self.scalar_index(&last)?, self.int(i64::MAX));
            let end = self.b.splat(end, network.lanes);
            self.write_block(network, base, vec![vec![end; network.parts.len()]; network.vectors]);
        }
        let mut at = at.to_vec();
        self.lane_loop(extent, BYTES, 2, &mut |emit, sym| {
            at[sorting.op.axis] = Dim::sym(sym);
            let value = emit.value(sorting.input, &at)?;
            let key = emit.key_of(value, sorting.key, sorting.op);
            let index = emit.lane_index(&Dim::sym(sym))?;
            let pairs = match sorting.key {
                DType::I64 => vec![key, index],
                _ => {
                    let (key, bits) = (emit.b.prim(Prim::Convert(DType::I64), &[key]), emit.int(INDEX_BITS));
                    let key = emit.b.prim(Prim::Shl, &[key, bits]);
                    vec![emit.b.prim(Prim::Or, &[key, index])]
                }
            };
            for ((buf, start), part) in network.parts.iter().zip(pairs) {
                let start = Dim::sym(emit.fresh(Var::Scalar(*start)));
                emit.store_at(*buf, &(&start + &Dim::sym(sym)), part)?;
            }
            Ok(())
        })
    }

    /// Stores the indices of the sorted pairs to the result.
    fn indices_of(
        &mut self,
        sorting: Sorting<'a>,
        network: &Network,
        extent: &Dim,
        at: &[Dim],
    ) -> Result<(), Bug> {
        let (buf, start) = network.parts[network.parts.len() - 1];
        let alone = network.parts.len() == 2;
        let index_of = |emit: &mut Self, pair: Val| {
            let low = emit.int((1 << INDEX_BITS) - 1);
            if alone { pair } else { emit.b.prim(Prim::And, &[pair, low]) }
        };
        if sorting.op.axis + 1 < at.len() {
            self.scalar_loop(extent, &[], &mut |emit, sym, _| {
                let position = emit.scalar_index(&Dim::sym(sym))?;
                let pair = emit.read((buf, start), position);
                let index = index_of(emit, pair);
                emit.write_index(sorting, at, position, index)?;
                Ok(Vec::new())
            })?;
            return Ok(());
        }
        let mut at = at.to_vec();
        self.lane_loop(extent, BYTES, 2, &mut |emit, sym| {
            at[sorting.op.axis] = Dim::sym(sym);
            emit.b.pin(buf);
            let start = Dim::sym(emit.fresh(Var::Scalar(start)));
            let pair = emit.load_at(buf, &(&start + &Dim::sym(sym)))?;
            let index = index_of(emit, pair);
            emit.store(sorting.root, &at, index)
        })
    }

    /// Merges runs of one block, then of two, and so on.
    fn merge_blocks(&mut self, network: &Network, end: Val) -> Result<(), Bug> {
        let (none, one, block) = (self.int(0), self.int(1), self.int(network.block()));
        let is_part = |emit: &mut Self, run| emit.b.prim(Prim::Cmp(Cmp::Lt), &[run, end]);
        let is_blocks = |emit: &mut Self, run| emit.b.prim(Prim::Cmp(Cmp::Ge), &[run, block]);
        self.repeat_while(block, &is_part, &mut |emit, run| {
            emit.pass(network, run, end, true)?;
            let half = emit.b.prim(Prim::LShr, &[run, one]);
            emit.repeat_while(half, &is_blocks, &mut |emit, apart| {
                emit.pass(network, apart, end, false)?;
                Ok(emit.b.prim(Prim::LShr, &[apart, one]))
            })?;
            emit.range_loop((none, end, network.block()), &[], &mut |emit, sym, _| {
                let base = emit.scalar_index(&Dim::sym(sym))?;
                let mut vectors = emit.read_block(network, base);
                emit.clean(network, &mut vectors, network.vectors);
                emit.write_block(network, base, vectors);
                Ok(Vec::new())
            })?;
            Ok(emit.b.prim(Prim::Add, &[run, run]))
        })
    }

    /// Does `body` with `first`, then with what it gives, as long as `goes` on.
    fn repeat_while(
        &mut self,
        first: Val,
        goes: &dyn Fn(&mut Self, Val) -> Val,
        body: &mut dyn FnMut(&mut Self, Val) -> Result<Val, Bug>,
    ) -> Result<(), Bug> {
        let (none, passes) = (self.int(0), self.int(PASSES));
        let begins = goes(self, first);
        let most = self.b.prim(Prim::Select, &[begins, passes, none]);
        self.range_loop((none, most, 1), &[begins, first], &mut |emit, _, carried| {
            emit.b.conditional_loop();
            let next = body(emit, carried[1])?;
            Ok(vec![goes(emit, next), next])
        })?;
        Ok(())
    }

    /// Compares elements of neighbouring runs of `run` elements, a power of two: the first with the last and so on
    /// where it is `mirrored`, otherwise the first with the first.  Those compared are the first of the halves, or the
    /// nearest to their border, so that of the last two runs they are as many as the second has.
    fn pass(&mut self, network: &Network, run: Val, end: Val, mirrored: bool) -> Result<(), Bug> {
        let at_hand = AT_HAND.min(network.vectors as u32);
        let (none, one, lanes) = (self.int(0), self.int(1), i64::from(network.lanes));
        let within = self.b.prim(Prim::Sub, &[run, one]);
        let both = self.b.prim(Prim::Add, &[run, within]);
        let rest = self.b.prim(Prim::And, &[end, both]);
        let whole = self.b.prim(Prim::Sub, &[end, rest]);
        let whole = self.b.prim(Prim::LShr, &[whole, one]);
        let second = self.b.prim(Prim::Sub, &[rest, run]);
        let second = self.greatest(second, none);
        let count = self.b.prim(Prim::Add, &[whole, second]);
        self.range_loop((none, count, lanes * i64::from(at_hand)), &[], &mut |emit, sym, _| {
            let place = emit.scalar_index(&Dim::sym(sym))?;
            let offset = emit.b.prim(Prim::And, &[place, within]);
            let before = emit.b.prim(Prim::Sub, &[place, offset]);
            let before = emit.b.prim(Prim::Add, &[before, before]);
            let border = emit.b.prim(Prim::Add, &[before, run]);
            let high = emit.b.prim(Prim::Add, &[border, offset]);
            let low = match mirrored {
                true => emit.b.prim(Prim::Sub, &[border, offset]),
                false => emit.b.prim(Prim::Add, &[before, offset]),
            };
            for number in 0..i64::from(at_hand) {
                let shift = emit.int(number * lanes);
                let back = emit.int((number + 1) * lanes);
                let high = emit.b.prim(Prim::Add, &[high, shift]);
                let low = match mirrored {
                    true => emit.b.prim(Prim::Sub, &[low, back]),
                    false => emit.b.prim(Prim::Add, &[low, shift]),
                };
                let (mut first, second) = (emit.read_pairs(network, low), emit.read_pairs(network, high));
                if mirrored {
                    first = emit.reversed(first);
                }
                let (mut first, second) = emit.ordered(&first, &second);
                if mirrored {
                    first = emit.reversed(first);
                }
                emit.write_pairs(network, low, first);
                emit.write_pairs(network, high, second);
            }
            Ok(Vec::new())
        })?;
        Ok(())
    }

    fn read_pairs(&mut self, network: &Network, at: Val) -> Pairs {
        let mut pairs = Vec::with_capacity(network.parts.len());
        for (buf, start) in &network.parts {
            self.b.pin(*buf);
            let offset = self.b.prim(Prim::Add, &[*start, at]);
            pairs.push(self.b.load(*buf, offset, network.lanes, None));
        }
        pairs
    }

    fn write_pairs(&mut self, network: &Network, at: Val, pairs: Pairs) {
        for ((buf, start), part) in network.parts.iter().zip(pairs) {
            let offset = self.b.prim(Prim::Add, &[*start, at]);
            self.b.store(*buf, offset, part, None);
        }
    }

    fn read_block(&mut self, network: &Network, base: Val) -> Vec<Pairs> {
        let places = (0..network.vectors as i64).map(|vector| vector * i64::from(network.lanes));
        places
            .map(|place| {
                let place = self.int(place);
                let at = self.b.prim(Prim::Add, &[base, place]);
                self.read_pairs(network, at)
            })
            .collect()
    }

    fn write_block(&mut self, network: &Network, base: Val, vectors: Vec<Pairs>) {
        for (vector, pairs) in vectors.into_iter().enumerate() {
            let place = self.int(vector as i64 * i64::from(network.lanes));
            let at = self.b.prim(Prim::Add, &[base, place]);
            self.write_pairs(network, at, pairs);
        }
    }

    /// The elements of a block in order.
    fn sorted_block(&mut self, network: &Network, mut vectors: Vec<Pairs>) -> Vec<Pairs> {
        let (count, lanes) = (network.vectors, network.lanes as usize);
        for (low, high) in comparisons(count) {
            self.order(&mut vectors, low, high);
        }
        let tiles: Vec<Vec<Pairs>> = vectors.chunks(lanes).map(|tile| self.turned_pairs(tile)).collect();
        vectors = (0..lanes).flat_map(|lane| tiles.iter().map(move |tile| tile[lane].clone())).collect();
        let mut run = count / lanes;
        while run < count {
            for runs in vectors.chunks_mut(2 * run) {
                // The second run comes out in any order of which this network makes the right one.
                runs[run..].reverse();
                for second in run..2 * run {
                    runs[second] = self.reversed(runs[second].clone());
                    self.order(runs, second - run, second);
                }
                self.clean(network, runs, run);
            }
            run *= 2;
        }
        vectors
    }

    /// The transpose of a square tile of pairs.
    fn turned_pairs(&mut self, tile: &[Pairs]) -> Vec<Pairs> {
        let mut turned = vec![Vec::new(); tile.len()];
        for part in 0..tile[0].len() {
            let columns = self.b.transposed(tile.iter().map(|pairs| pairs[part]).collect());
            turned.iter_mut().zip(columns).for_each(|(pairs, column)| pairs.push(column));
        }
        turned
    }

    /// Puts the elements of each run of bitonic vectors in order.
    fn clean(&mut self, network: &Network, vectors: &mut [Pairs], run: usize) {
        let mut apart = run / 2;
        while apart > 0 {
            for low in (0..vectors.len()).filter(|vector| (vector / apart).is_multiple_of(2)) {
                self.order(vectors, low, low + apart);
            }
            apart /= 2;
        }
        let mut apart = network.lanes / 2;
        while apart > 0 {
            for pairs in &mut *vectors {
                *pairs = self.ordered_lanes(pairs, apart);
            }
            apart /= 2;
        }
    }

    fn order(&mut self, vectors: &mut [Pairs], low: usize, high: usize) {
        (vectors[low], vectors[high]) = self.ordered(&vectors[low], &vectors[high]);
    }

    /// In each lane what comes first of two pairs, and the other.
    fn ordered(&mut self, first: &Pairs, second: &Pairs) -> (Pairs, Pairs) {
        let before = self.comes_before(first, second);
        (self.chosen(before, first, second), self.chosen(before, second, first))
    }

    /// Orders each lane and that `apart` from it.
    fn ordered_lanes(&mut self, pairs: &Pairs, apart: u32) -> Pairs {
        let other = self.reordered(pairs, |lane| lane ^ apart);
        let (low, high) = self.ordered(pairs, &other);
        let lanes = self.b.lanes(pairs[0]);
        let order: Vec<u32> =
            (0..lanes).map(|lane| if lane & apart == 0 { lane } else { lanes + lane }).collect();
        low.iter().zip(&high).map(|(low, high)| self.b.shuffle(*low, *high, order.clone())).collect()
    }

    /// The lanes in which the first of two pairs, never equal, comes first.
    fn comes_before(&mut self, first: &Pairs, second: &Pairs) -> Val {
        let less = self.b.prim(Prim::Cmp(Cmp::Lt), &[first[0], second[0]]);
        let (Some(first_index), Some(second_index)) = (first.get(1), second.get(1)) else { return less };
        let equal = self.b.prim(Prim::Cmp(Cmp::Eq), &[first[0], second[0]]);
        let earlier = self.b.prim(Prim::Cmp(Cmp::Lt), &[*first_index, *second_index]);
        let tie = self.b.prim(Prim::And, &[equal, earlier]);
        self.b.prim(Prim::Or, &[less, tie])
    }

    fn chosen(&mut self, mask: Val, then: &Pairs, otherwise: &Pairs) -> Pairs {
        let parts = then.iter().zip(otherwise);
        parts.map(|(then, otherwise)| self.b.prim(Prim::Select, &[mask, *then, *otherwise])).collect()
    }

    fn reversed(&mut self, pairs: Pairs) -> Pairs {
        let last = self.b.lanes(pairs[0]) - 1;
        self.reordered(&pairs, |lane| last - lane)
    }

    fn reordered(&mut self, pairs: &Pairs, from: impl Fn(u32) -> u32) -> Pairs {
        let order: Vec<u32> = (0..self.b.lanes(pairs[0])).map(from).collect();
        pairs.iter().map(|part| self.b.shuffle(*part, *part, order.clone())).collect()
    }
}

/// The comparisons that sort `count` elements, a power of two, in order: the odd-even merge sort of Batcher.
fn comparisons(count: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut run = 1;
    while run < count {
        let mut apart = run;
        while apart > 0 {
            let lows =
                (apart % run..count - apart).filter(|low| ((low - apart % run) / apart).is_multiple_of(2));
            found.extend(
                lows.filter(|low| low / (2 * run) == (low + apart) / (2 * run)).map(|low| (low, low + apart)),
            );
            apart /= 2;
        }
        run *= 2;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_sort_all_zeros_and_ones() {
        for count in [2, 4, 8, 16] {
            for bits in 0..1_u32 << count {
                let mut bits: Vec<u32> = (0..count).map(|bit| bits >> bit & 1).collect();
                for (low, high) in comparisons(count) {
                    (bits[low], bits[high]) = (bits[low].min(bits[high]), bits[low].max(bits[high]));
                }
                assert!(bits.is_sorted());
            }
        }
        assert_eq!(comparisons(16).len(), 63);
    }
}
