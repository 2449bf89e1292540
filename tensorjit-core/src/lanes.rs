//! The arithmetic that machine vectors have: what every elementwise operator is lowered to.
//!
//! [`Lanes`] is implemented by the builder of loops, which emits the operations, and by a scalar executor in
//! the tests, which performs them, so that vector algorithms are tested without a code generator.

use tensorjit_runtime::abi::DType;

/// A value of the loop language: a scalar or a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Val(pub u32);

/// Order relations of numbers.  On floats all but `Ne` are false where an operand is NaN; `Ne` is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cmp {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

/// A lane-wise operation without memory or control.  Operands have as many lanes as the result.
///
/// `Bool` values are one-bit masks in registers.  Integer arithmetic wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Prim {
    /// Sum of numbers of one type, integer or float.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Float quotient.
    FDiv,
    /// `a * b + c` rounded once; at levels without FMA the builder emits a product and a sum.
    Fma,
    /// Float negation: flips the sign bit.
    FNeg,
    /// Clears the sign bit.
    FAbs,
    /// Correctly rounded square root.
    Sqrt,
    /// Rounds down to an integer.
    Floor,
    /// Rounds up.
    Ceil,
    /// Rounds toward zero.
    Trunc,
    /// Rounds to nearest, ties to even.
    RoundEven,
    /// `a * 2^b` rounded once, where `a` is NaN or has a magnitude between 1/2 and 2, or 0, and `b` is an integer
    /// whose half is the exponent of a normal number.
    Scale,
    /// Comparison; the result is `Bool`.  Integers compare by their type; `Bool` only by `Eq` and `Ne`.
    Cmp(Cmp),
    /// `mask ? a : b`.
    Select,
    /// Bitwise and; on `Bool` too.
    And,
    /// Bitwise or; on `Bool` too.
    Or,
    /// Bitwise exclusive or; on `Bool` too.
    Xor,
    /// Shift left; amounts are below the width.
    Shl,
    /// Shift right, zeros enter.
    LShr,
    /// Shift right of signed integers, the sign enters.
    AShr,
    /// Integer quotient, truncated; the operands are such that it does not trap.
    IDiv,
    /// Integer remainder, sign of the dividend; the operands are such that it does not trap.
    IRem,
    /// The same bits as another type of the same width.
    Bitcast(DType),
    /// Numeric conversion to the type: integers extend by their sign, if any, or truncate by wrapping; integer to float and
    /// float to float round to nearest even; float to integer truncates and is defined only in range;
    /// `Bool` to a number gives 0 or 1.  `F16` and `BF16`, which have no arithmetic, convert from and to `F32` alone.
    Convert(DType),
}

/// The number of entries of a table.
pub const ENTRIES: usize = 16;

/// The body of [`Lanes::repeat`]: from the state to the next one.
pub type RepeatBody<'b> = &'b mut dyn FnMut(&mut dyn Lanes, &[Val]) -> Vec<Val>;

/// Builds or executes lane-wise operations.
pub trait Lanes {
    /// A constant of a float type, rounded to it.
    fn float(&mut self, dtype: DType, value: f64) -> Val;
    /// A constant of an integer type or `Bool`; wraps.
    fn int(&mut self, dtype: DType, value: i64) -> Val;
    /// An operation.  Constants fit any number of lanes.
    fn prim(&mut self, prim: Prim, args: &[Val]) -> Val;
    /// The element type of a value.
    fn dtype(&self, value: Val) -> DType;
    /// Whether [`Prim::Fma`] rounds once.
    fn has_fma(&self) -> bool;
    /// Whether [`Lanes::entry`] is there: one instruction where a register holds [`ENTRIES`] numbers of 32 bits.
    fn has_tables(&self) -> bool;
    /// In each lane the entry of a table of `f32` whose number is in the low bits of an `i32`, modulo [`ENTRIES`].
    fn entry(&mut self, table: &[f64; ENTRIES], index: Val) -> Val;
    /// The values of `then` if any lane of the mask is set, else `otherwise`: a branch around rare work.
    ///
    /// The branch is taken by the vector as a whole, so `then` must itself select by the mask and give the
    /// bits of `otherwise` in the lanes that are not set.
    fn if_any(
        &mut self,
        mask: Val,
        otherwise: &[Val],
        then: &mut dyn FnMut(&mut dyn Lanes) -> Vec<Val>,
    ) -> Vec<Val>;
    /// Replaces the state by what `body` makes of it, `count` times: a loop of constant length.
    fn repeat(&mut self, count: u32, state: &[Val], body: RepeatBody<'_>) -> Vec<Val>;
}

/// Short names, so that an algorithm reads like its formula.
impl dyn Lanes + '_ {
    /// Sum.
    pub fn add(&mut self, a: Val, b: Val) -> Val {
        self.prim(Prim::Add, &[a, b])
    }
    /// Difference.
    pub fn sub(&mut self, a: Val, b: Val) -> Val {
        self.prim(Prim::Sub, &[a, b])
    }
    /// Product.
    pub fn mul(&mut self, a: Val, b: Val) -> Val {
        self.prim(Prim::Mul, &[a, b])
    }
    /// Float quotient.
    pub fn fdiv(&mut self, a: Val, b: Val) -> Val {
        self.prim(Prim::FDiv, &[a, b])
    }
    /// `a * b + c`.
    pub fn fma(&mut self, a: Val, b: Val, c: Val) -> Val {
        self.prim(Prim::Fma, &[a, b, c])
    }
    /// Comparison.
    pub fn cmp(&mut self, cmp: Cmp, a: Val, b: Val) -> Val {
        self.prim(Prim::Cmp(cmp), &[a, b])
    }
    /// Bitwise and.
    pub fn and(&mut self, a: Val, b: Val) -> Val {
        self.prim(Prim::And, &[a, b])
    }
    /// Bitwise or.
    pub fn or(&mut self, a: Val, b: Val) -> Val {
        self.prim(Prim::Or, &[a, b])
    }
    /// Bitwise exclusive or.
    pub fn xor(&mut self, a: Val, b: Val) -> Val {
        self.prim(Prim::Xor, &[a, b])
    }
    /// `a << b`.
    pub fn shl(&mut self, a: Val, b: Val) -> Val {
        self.prim(Prim::Shl, &[a, b])
    }
    /// `a >> b`, zeros enter.
    pub fn lshr(&mut self, a: Val, b: Val) -> Val {
        self.prim(Prim::LShr, &[a, b])
    }
    /// `a >> b`, the sign enters.
    pub fn ashr(&mut self, a: Val, b: Val) -> Val {
        self.prim(Prim::AShr, &[a, b])
    }
    /// Float negation.
    pub fn fneg(&mut self, a: Val) -> Val {
        self.prim(Prim::FNeg, &[a])
    }
    /// Float magnitude.
    pub fn fabs(&mut self, a: Val) -> Val {
        self.prim(Prim::FAbs, &[a])
    }
    /// Square root.
    pub fn sqrt(&mut self, a: Val) -> Val {
        self.prim(Prim::Sqrt, &[a])
    }
    /// Float rounded toward zero.
    pub fn trunc(&mut self, a: Val) -> Val {
        self.prim(Prim::Trunc, &[a])
    }
    /// The same bits as another type.
    pub fn bitcast(&mut self, dtype: DType, a: Val) -> Val {
        self.prim(Prim::Bitcast(dtype), &[a])
    }
    /// Numeric conversion.
    pub fn convert(&mut self, dtype: DType, a: Val) -> Val {
        self.prim(Prim::Convert(dtype), &[a])
    }
    /// `mask ? a : b`.
    pub fn select(&mut self, mask: Val, a: Val, b: Val) -> Val {
        self.prim(Prim::Select, &[mask, a, b])
    }
}
