//! Short names for the arithmetic of one float type, so that an algorithm reads like its formula.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Cmp, ENTRIES, Lanes, Prim, Val};

/// The arithmetic of one float type on [`Lanes`].
pub(super) struct Num<'a> {
    lanes: &'a mut (dyn Lanes + 'a),
    /// `F32` or `F64`.
    pub(super) float: DType,
    /// The integers of the same width.
    pub(super) int: DType,
}

impl<'a> Num<'a> {
    /// Arithmetic of `float`, which is `F32` or `F64`.
    pub(super) fn new(lanes: &'a mut dyn Lanes, float: DType) -> Num<'a> {
        let int = if float == DType::F32 { DType::I32 } else { DType::I64 };
        Num { lanes, float, int }
    }

    /// The lanes, for code in the other float type.
    pub(super) fn lanes(&mut self) -> &mut dyn Lanes {
        self.lanes
    }

    /// Whether [`Num::fma`] rounds once.
    pub(super) fn has_fma(&self) -> bool {
        self.lanes.has_fma()
    }

    /// Whether functions of this type have tables.
    pub(super) fn has_tables(&self) -> bool {
        self.is_f32() && self.lanes.has_tables()
    }

    /// Entries of a table.
    pub(super) fn entry(&mut self, table: &[f64; ENTRIES], index: Val) -> Val {
        self.lanes.entry(table, index)
    }

    /// Whether the type is `f32`.
    pub(super) fn is_f32(&self) -> bool {
        self.float == DType::F32
    }

    /// One of two things by type.
    pub(super) fn pick<T>(&self, f32: T, f64: T) -> T {
        if self.is_f32() { f32 } else { f64 }
    }

    /// Bits of the mantissa that are stored.
    pub(super) fn mantissa_bits(&self) -> i64 {
        self.pick(23, 52)
    }

    /// The bias of the exponent.
    pub(super) fn bias(&self) -> i64 {
        self.pick(127, 1023)
    }

    /// A float constant.
    pub(super) fn c(&mut self, value: f64) -> Val {
        self.lanes.float(self.float, value)
    }

    /// An integer constant.
    pub(super) fn i(&mut self, value: i64) -> Val {
        self.lanes.int(self.int, value)
    }

    /// `a + b`.
    pub(super) fn add(&mut self, a: Val, b: Val) -> Val {
        self.lanes.add(a, b)
    }

    /// `a - b`.
    pub(super) fn sub(&mut self, a: Val, b: Val) -> Val {
        self.lanes.sub(a, b)
    }

    /// `a * b`.
    pub(super) fn mul(&mut self, a: Val, b: Val) -> Val {
        self.lanes.mul(a, b)
    }

    /// `a * c` for a constant.
    pub(super) fn scale(&mut self, a: Val, c: f64) -> Val {
        let c = self.c(c);
        self.mul(a, c)
    }

    /// `a / b`.
    pub(super) fn div(&mut self, a: Val, b: Val) -> Val {
        self.lanes.fdiv(a, b)
    }

    /// `a * b + c`.
    pub(super) fn fma(&mut self, a: Val, b: Val, c: Val) -> Val {
        self.lanes.fma(a, b, c)
    }

    /// `-a`.
    pub(super) fn neg(&mut self, a: Val) -> Val {
        self.lanes.fneg(a)
    }

    /// `|a|`.
    pub(super) fn abs(&mut self, a: Val) -> Val {
        self.lanes.fabs(a)
    }

    /// The square root.
    pub(super) fn sqrt(&mut self, a: Val) -> Val {
        self.lanes.sqrt(a)
    }

    /// Rounded toward zero.
    pub(super) fn trunc(&mut self, a: Val) -> Val {
        self.lanes.trunc(a)
    }

    /// Rounded to nearest, ties to even.
    pub(super) fn round(&mut self, a: Val) -> Val {
        self.lanes.prim(Prim::RoundEven, &[a])
    }

    /// `a * 2^n` for an integral `n`, rounded once; `a` is of the size of 1.
    pub(super) fn scale_pow2(&mut self, a: Val, n: Val) -> Val {
        self.lanes.prim(Prim::Scale, &[a, n])
    }

    /// A comparison of floats or integers.
    pub(super) fn cmp(&mut self, cmp: Cmp, a: Val, b: Val) -> Val {
        self.lanes.cmp(cmp, a, b)
    }

    /// A comparison of a float with a constant.
    pub(super) fn cmp_c(&mut self, cmp: Cmp, a: Val, c: f64) -> Val {
        let c = self.c(c);
        self.cmp(cmp, a, c)
    }

    /// `mask ? a : b`.
    pub(super) fn select(&mut self, mask: Val, a: Val, b: Val) -> Val {
        self.lanes.select(mask, a, b)
    }

    /// `mask ? a : c` for a constant.
    pub(super) fn select_c(&mut self, mask: Val, a: Val, c: f64) -> Val {
        let c = self.c(c);
        self.select(mask, a, c)
    }

    /// Bitwise and, of integers or masks.
    pub(super) fn and(&mut self, a: Val, b: Val) -> Val {
        self.lanes.and(a, b)
    }

    /// Bitwise or, of integers or masks.
    pub(super) fn or(&mut self, a: Val, b: Val) -> Val {
        self.lanes.or(a, b)
    }

    /// Bitwise exclusive or, of integers or masks.
    pub(super) fn xor(&mut self, a: Val, b: Val) -> Val {
        self.lanes.xor(a, b)
    }

    /// `a << amount` of integers.
    pub(super) fn shl(&mut self, a: Val, amount: i64) -> Val {
        let amount = self.i(amount);
        self.lanes.shl(a, amount)
    }

    /// `a << amount` of integers, by an amount of each lane.
    pub(super) fn shl_by(&mut self, a: Val, amount: Val) -> Val {
        self.lanes.shl(a, amount)
    }

    /// `a >> amount` of integers; the sign enters.
    pub(super) fn ashr(&mut self, a: Val, amount: i64) -> Val {
        let amount = self.i(amount);
        self.lanes.ashr(a, amount)
    }

    /// `a >> amount` of integers; zeros enter.
    pub(super) fn lshr(&mut self, a: Val, amount: i64) -> Val {
        let amount = self.i(amount);
        self.lanes.lshr(a, amount)
    }

    /// `a & mask` of integers.
    pub(super) fn and_i(&mut self, a: Val, mask: i64) -> Val {
        let mask = self.i(mask);
        self.and(a, mask)
    }

    /// `a + c` of integers.
    pub(super) fn add_i(&mut self, a: Val, c: i64) -> Val {
        let c = self.i(c);
        self.add(a, c)
    }

    /// The bits of a float as an integer.
    pub(super) fn bits(&mut self, a: Val) -> Val {
        self.lanes.bitcast(self.int, a)
    }

    /// The float that has these bits.
    pub(super) fn float_from(&mut self, a: Val) -> Val {
        self.lanes.bitcast(self.float, a)
    }

    /// The bits of a float constant.
    pub(super) fn bits_of(&self, value: f64) -> i64 {
        if self.is_f32() { i64::from((value as f32).to_bits() as i32) } else { value.to_bits() as i64 }
    }

    /// The sign bit alone, as an integer.
    pub(super) fn sign_bit(&mut self, a: Val) -> Val {
        let bits = self.bits(a);
        let sign = self.bits_of(-0.0);
        self.and_i(bits, sign)
    }

    /// Flips the sign where the integer `sign` has its sign bit set; its other bits are zero.
    pub(super) fn flip_sign(&mut self, a: Val, sign: Val) -> Val {
        let bits = self.bits(a);
        let flipped = self.xor(bits, sign);
        self.float_from(flipped)
    }

    /// Gives a magnitude, or a zero of either sign, the sign of `x`.
    pub(super) fn with_sign(&mut self, magnitude: Val, x: Val) -> Val {
        let sign = self.sign_bit(x);
        let bits = self.bits(magnitude);
        let signed = self.or(bits, sign);
        self.float_from(signed)
    }

    /// `x`, but `limit` where `x` is greater; NaN stays.
    pub(super) fn at_most(&mut self, x: Val, limit: f64) -> Val {
        let limit = self.c(limit);
        let over = self.cmp(Cmp::Gt, x, limit);
        self.select(over, limit, x)
    }

    /// `x`, but `limit` where `x` is less; NaN stays.
    pub(super) fn at_least(&mut self, x: Val, limit: f64) -> Val {
        let limit = self.c(limit);
        let under = self.cmp(Cmp::Lt, x, limit);
        self.select(under, limit, x)
    }

    /// The polynomial with these coefficients, lowest first, by Horner's rule; long ones as the sum of an even
    /// and an odd half, which halves the chain of dependent operations.
    pub(super) fn poly(&mut self, x: Val, coefficients: &[f64]) -> Val {
        if coefficients.len() < 8 {
            return self.horner(x, coefficients.iter().copied());
        }
        let square = self.mul(x, x);
        let even = self.horner(square, coefficients.iter().copied().step_by(2));
        let odd = self.horner(square, coefficients.iter().copied().skip(1).step_by(2));
        self.fma(odd, x, even)
    }

    fn horner(&mut self, x: Val, coefficients: impl DoubleEndedIterator<Item = f64>) -> Val {
        let mut highest_first = coefficients.rev();
        let mut sum = self.c(highest_first.next().unwrap_or(0.0));
        for coefficient in highest_first {
            let coefficient = self.c(coefficient);
            sum = self.fma(sum, x, coefficient);
        }
        sum
    }

    /// The same values in another type.
    pub(super) fn convert(&mut self, dtype: DType, a: Val) -> Val {
        self.lanes.prim(Prim::Convert(dtype), &[a])
    }

    /// Two values, from `then` if any lane of the mask is set.
    pub(super) fn if_any<const N: usize>(
        &mut self,
        mask: Val,
        otherwise: [Val; N],
        then: impl Fn(&mut Num<'_>) -> [Val; N],
    ) -> [Val; N] {
        let float = self.float;
        let values =
            self.lanes.if_any(mask, &otherwise, &mut |lanes| then(&mut Num::new(lanes, float)).to_vec());
        let mut result = otherwise;
        result.copy_from_slice(&values);
        result
    }

    /// The state after `count` turns of `body`.
    pub(super) fn repeat<const N: usize>(
        &mut self,
        count: u32,
        state: [Val; N],
        body: impl Fn(&mut Num<'_>, [Val; N]) -> [Val; N],
    ) -> [Val; N] {
        let float = self.float;
        let values = self.lanes.repeat(count, &state, &mut |lanes, values| {
            let mut current = state;
            current.copy_from_slice(values);
            body(&mut Num::new(lanes, float), current).to_vec()
        });
        let mut result = state;
        result.copy_from_slice(&values);
        result
    }
}

/// Evaluates a function of `f32` operands in `f64`.
pub(super) fn widened<const N: usize>(
    lanes: &mut dyn Lanes,
    args: [Val; N],
    body: impl FnOnce(&mut Num<'_>, [Val; N]) -> Val,
) -> Val {
    let mut n = Num::new(lanes, DType::F64);
    let args = args.map(|arg| n.convert(DType::F64, arg));
    let result = body(&mut n, args);
    n.convert(DType::F32, result)
}
