//! Square tiles transposed in registers.

use super::Builder;
use crate::lanes::Val;

/// Bytes of the pieces of a register within which shuffles are cheapest on every level.
const PIECE: usize = 16;

impl Builder {
    /// The transpose of a square tile given by its rows: as many vectors as each has lanes, a power of two.
    ///
    /// Neighbouring elements are interleaved within pieces of 16 bytes, then pairs of them, until each piece holds
    /// elements of one column; then the pieces change places.  Every step is one shuffle of two registers.
    pub fn transposed(&mut self, mut rows: Vec<Val>) -> Vec<Val> {
        let Some(first) = rows.first() else { return rows };
        let lanes = self.lanes(*first) as usize;
        let piece = (PIECE / self.ty(*first).dtype.size()).min(lanes);
        let mut unit = 1;
        while unit < piece {
            self.exchange(&mut rows, unit, &|high, lane| {
                let (start, within) = (lane / piece * piece, lane % piece);
                let taken = start + (within / (2 * unit)) * unit + within % unit;
                let upper = if high { piece / 2 } else { 0 };
                (within / unit % 2 == 1, taken + upper)
            });
            unit *= 2;
        }
        reverse_low_bits(&mut rows, piece);
        while unit < lanes {
            self.exchange(&mut rows, unit, &|high, lane| {
                let second = lane / unit % 2 == 1;
                let distance = if high { unit } else { 0 };
                (second, if second { lane - unit + distance } else { lane + distance })
            });
            unit *= 2;
        }
        rows
    }

    /// Replaces each pair of rows `distance` apart by two shuffles of it, the low and the high one; `source` says for
    /// a lane whether it is from the second row, and which lane of that row it is.
    fn exchange(&mut self, rows: &mut [Val], distance: usize, source: &dyn Fn(bool, usize) -> (bool, usize)) {
        let lanes = rows.len();
        for low in (0..lanes).filter(|row| (row / distance).is_multiple_of(2)) {
            let (first, second) = (rows[low], rows[low + distance]);
            for (high, row) in [(false, low), (true, low + distance)] {
                let order = (0..lanes).map(|lane| {
                    let (from_second, lane) = source(high, lane);
                    (lane + if from_second { lanes } else { 0 }) as u32
                });
                rows[row] = self.shuffle(first, second, order.collect());
            }
        }
    }
}

/// Puts the rows of each run of `length`, a power of two, in the order of their numbers with the bits reversed, which
/// is the order that interleaving leaves.
fn reverse_low_bits(rows: &mut [Val], length: usize) {
    if length < 2 {
        return;
    }
    let bits = length.trailing_zeros();
    for run in rows.chunks_mut(length) {
        let old = run.to_vec();
        for (row, value) in old.into_iter().enumerate() {
            run[row.reverse_bits() >> (usize::BITS - bits)] = value;
        }
    }
}
