//! The reduction of huge angles after Payne and Hanek: the product with `2/pi` in integers, without the parts
//! that are whole turns.

use crate::lanes::{Cmp, Val};

use super::exact::Pair;
use super::num::Num;
use super::trig::{Angle, Precision};

/// The binary digits of `2/pi` after the point, in words of 32 bits, the highest first, after two zero words.
const TWO_OVER_PI: [i64; 40] = [
    0, 0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
];

/// `pi/2` as a pair.
const FRAC_PI_2: (f64, f64) = (std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);

const WORD: i64 = 0xffff_ffff;

impl Num<'_> {
    /// Reduces a finite `f64` angle of magnitude 2^20 and more; other lanes give numbers without meaning.
    pub(super) fn payne_hanek(&mut self, x: Val, precision: Precision) -> Angle {
        // |x| = mantissa * 2^e.  The digits of 2/pi above 2^(2 - e) only make whole turns, so the window of
        // digits begins there: |x| 2/pi = 4 * mantissa * 0.window, but for whole turns.
        let bits = self.bits(x);
        let field = self.lshr(bits, 52);
        let field = self.and_i(field, 0x7ff);
        let position = self.add_i(field, 64 - 2 - 1075);
        let mantissa = self.and_i(bits, (1 << 52) - 1);
        let mantissa = self.add_i(mantissa, 1 << 52);
        let halves = [self.lshr(mantissa, 32), self.and_i(mantissa, WORD)];
        let window = self.digits(position, precision);
        let turns = self.fraction(halves, &window);

        // The quadrant, and the rest as four words of a signed fraction of a quadrant.
        let top = self.shl(turns[0], 32);
        let top = self.or(top, turns[1]);
        let rounded = self.add_i(top, 1 << 61);
        let q = self.lshr(rounded, 62);
        let whole = self.shl(q, 62);
        let rest = self.sub(top, whole);
        let high = self.ashr(rest, 32);
        let second = self.and_i(rest, WORD);
        let mut parts = [high, second, turns[2], turns[3]].map(|word| self.convert(self.float, word));
        for (part, exponent) in parts.iter_mut().zip([-30, -62, -94, -126]) {
            *part = self.scale(*part, 2.0_f64.powi(exponent));
        }
        let sum = self.two_sum(parts[0], parts[1]);
        let tail = self.add(parts[2], parts[3]);
        let low = self.add(sum.lo, tail);
        let quarter = self.fast_two_sum(sum.hi, low);

        // Times pi/2, with the sign of x.
        let (pi_high, pi_low) = (self.c(FRAC_PI_2.0), self.c(FRAC_PI_2.1));
        let product = self.two_prod(quarter.hi, pi_high);
        let low = self.fma(quarter.hi, pi_low, product.lo);
        let low = self.fma(quarter.lo, pi_high, low);
        let r = self.fast_two_sum(product.hi, low);
        let sign = self.sign_bit(x);
        let zero = self.i(0);
        let minus_q = self.sub(zero, q);
        let negative = self.cmp(Cmp::Lt, sign, zero);
        Angle {
            r: Pair { hi: self.flip_sign(r.hi, sign), lo: self.flip_sign(r.lo, sign) },
            q: self.select(negative, minus_q, q),
        }
    }

    /// Seven words of the digits of `2/pi` from a bit position on: a shift by words in stages of powers of two,
    /// then by bits.
    fn digits(&mut self, position: Val, precision: Precision) -> Vec<Val> {
        // An f32 reaches 2^128, an f64 2^1024.
        let (used, stages) = match precision {
            Precision::Single => (15, 3),
            Precision::Double => (TWO_OVER_PI.len(), 6),
        };
        let mut words: Vec<Val> = TWO_OVER_PI[..used].iter().map(|&word| self.i(word)).collect();
        let index = self.lshr(position, 5);
        for stage in (0..stages).rev() {
            let step = 1_usize << stage;
            let bit = self.and_i(index, step as i64);
            let zero = self.i(0);
            let taken = self.cmp(Cmp::Ne, bit, zero);
            words = (0..(7 + step).min(words.len()))
                .map(|i| {
                    let shifted = words.get(i + step).copied().unwrap_or(zero);
                    self.select(taken, shifted, words[i])
                })
                .collect();
        }
        let shift = self.and_i(position, 31);
        let zero = self.i(0);
        (0..7)
            .map(|i| {
                let high = self.shl(words[i], 32);
                let next = words.get(i + 1).copied().unwrap_or(zero);
                let both = self.or(high, next);
                let shifted = self.shl_by(both, shift);
                self.lshr(shifted, 32)
            })
            .collect()
    }

    /// The first four words of the fraction of `mantissa * 0.window`, from two words of the mantissa.
    fn fraction(&mut self, [high, low]: [Val; 2], window: &[Val]) -> [Val; 4] {
        let lows: Vec<Val> = window.iter().map(|&word| self.mul(low, word)).collect();
        let highs: Vec<Val> = window.iter().map(|&word| self.mul(high, word)).collect();
        let mut result = [self.i(0); 4];
        let mut carry = self.i(0);
        // Column k has the weight 2^(-32 (k + 1)); the fifth is there for its carry.
        for k in (0..5).rev() {
            let parts = [
                self.and_i(lows[k], WORD),
                self.lshr(lows[k + 1], 32),
                self.and_i(highs[k + 1], WORD),
                self.lshr(highs[k + 2], 32),
            ];
            let mut column = carry;
            for part in parts {
                column = self.add(column, part);
            }
            carry = self.lshr(column, 32);
            if k < 4 {
                result[k] = self.and_i(column, WORD);
            }
        }
        result
    }
}
