//! The remainder of a truncated quotient, C's `fmod`, exact for all operands.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, Lanes, Val};

use super::num::{Num, widened};

/// Bits of the quotient that one step reduces: quotients stay below the mantissa's width.
const STEP: i64 = 50;

impl Num<'_> {
    /// `a mod b` for `a < 2^51 b`, both positive `f64` with room for the product: exact, as the remainder is
    /// a multiple of the last bit of `b`.
    fn rem_step(&mut self, a: Val, b: Val) -> Val {
        let quotient = self.div(a, b);
        let quotient = self.trunc(quotient);
        let rest = if self.has_fma() {
            let minus = self.neg(quotient);
            self.fma(minus, b, a)
        } else {
            let product = self.two_prod(quotient, b);
            let rest = self.sub(a, product.hi);
            self.sub(rest, product.lo)
        };
        // The quotient may have been rounded up to an integer, or be one too small.
        let zero = self.c(0.0);
        let negative = self.cmp(Cmp::Lt, rest, zero);
        let raised = self.add(rest, b);
        let rest = self.select(negative, raised, rest);
        let over = self.cmp(Cmp::Ge, rest, b);
        let lowered = self.sub(rest, b);
        self.select(over, lowered, rest)
    }

    /// `a mod b` for positive finite `f64` of any size, in `steps` steps of the long division.
    fn rem_long(&mut self, a: Val, b: Val, steps: u32) -> Val {
        let (a, a_exponent) = self.normalise(a);
        let (b, b_exponent) = self.normalise(b);
        let difference = self.sub(a_exponent, b_exponent);
        let [rest, _] = self.repeat(steps, [a, difference], |n, [rest, difference]| {
            let (zero, step) = (n.i(0), n.i(STEP));
            let positive = n.cmp(Cmp::Gt, difference, zero);
            let bits = n.select(positive, difference, zero);
            let many = n.cmp(Cmp::Gt, bits, step);
            let bits = n.select(many, step, bits);
            let factor = n.power_of_two(bits);
            let scaled = n.mul(rest, factor);
            [n.rem_step(scaled, b), n.sub(difference, bits)]
        });
        // Two factors, as the exponent may be that of a subnormal number.
        let shift = self.add_i(b_exponent, 4096);
        let first = self.lshr(shift, 1);
        let second = self.sub(shift, first);
        let mut result = rest;
        for exponent in [first, second] {
            let exponent = self.add_i(exponent, -2048);
            let factor = self.power_of_two(exponent);
            result = self.mul(result, factor);
        }
        result
    }

    /// The mantissa in `[1, 2)` and the exponent of a positive finite `f64`.
    fn normalise(&mut self, a: Val) -> (Val, Val) {
        let small = self.cmp_c(Cmp::Lt, a, f64::MIN_POSITIVE);
        let lifted = self.scale(a, 2.0_f64.powi(54));
        let lifted = self.select(small, lifted, a);
        let bits = self.bits(lifted);
        let field = self.lshr(bits, 52);
        let (usual, subnormal) = (self.i(1023), self.i(1023 + 54));
        let bias = self.select(small, subnormal, usual);
        let exponent = self.sub(field, bias);
        let mantissa = self.and_i(bits, (1 << 52) - 1);
        let one = self.bits_of(1.0);
        let one = self.i(one);
        let mantissa = self.or(mantissa, one);
        (self.float_from(mantissa), exponent)
    }

    /// `2^n` of an integer in the range of normal `f64`.
    fn power_of_two(&mut self, n: Val) -> Val {
        let field = self.add_i(n, 1023);
        let bits = self.shl(field, 52);
        self.float_from(bits)
    }

    /// `x mod y` with the sign of `x`, in `f64`.
    fn rem_f64(&mut self, x: Val, y: Val, steps: u32) -> Val {
        let (a, b) = (self.abs(x), self.abs(y));
        let rest = self.rem_step(a, b);
        let smaller = self.cmp(Cmp::Lt, a, b);
        let rest = self.select(smaller, a, rest);
        let reach = self.scale(b, 2.0_f64.powi(STEP as i32));
        let mut long = self.cmp(Cmp::Ge, a, reach);
        if !self.has_fma() {
            // The halves of an exact product must neither overflow nor vanish.
            let huge = self.cmp_c(Cmp::Gt, a, 2.0_f64.powi(990));
            let tiny = self.cmp_c(Cmp::Lt, b, 2.0_f64.powi(-900));
            let extreme = self.or(huge, tiny);
            let ordered = self.cmp(Cmp::Ge, a, b);
            let extreme = self.and(extreme, ordered);
            long = self.or(long, extreme);
        }
        let finite = self.cmp_c(Cmp::Lt, a, f64::INFINITY);
        let divides = self.cmp_c(Cmp::Gt, b, 0.0);
        let valid = self.and(finite, divides);
        let long = self.and(long, valid);
        let [rest] = self.if_any(long, [rest], |n| {
            let exact = n.rem_long(a, b, steps);
            [n.select(long, exact, rest)]
        });
        self.with_sign(rest, x)
    }
}

/// `x - y trunc(x / y)`, exactly, with the sign of `x`: C's `fmod` and Rust's `%`.
pub fn rem(l: &mut dyn Lanes, dtype: DType, x: Val, y: Val) -> Val {
    // One step for the mantissas, the others for the largest difference of exponents.
    match dtype {
        DType::F32 => widened(l, [x, y], |n, [x, y]| n.rem_f64(x, y, 6)),
        _ => Num::new(l, dtype).rem_f64(x, y, 42),
    }
}
