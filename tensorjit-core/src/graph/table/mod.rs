//! The table of elementwise functions: one row each, read by parser, folder, interpreter, autodiff, lowering,
//! documents and tests.

use tensorjit_runtime::abi::DType;

use super::Type;
use crate::diag::Bug;
use crate::dim::facts::Facts;

/// An elementwise function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the table gives each its name and meaning")]
pub enum Ew {
    // Arithmetic, of all numbers.
    Neg,
    Abs,
    Sign,
    Square,
    Add,
    Sub,
    Mul,
    Div,
    /// `a % b`, sign of the dividend.
    Rem,
    /// Floored remainder, sign of the divisor.
    Mod,
    Maximum,
    Minimum,
    /// `clip(x, low, high)`.
    Clip,
    /// `a * b + c` rounded once where the level has FMA; made by the simplifier alone.
    Fma,
    /// `dmul(d, t)`: 0 where `t` is 0, else `d * t`; made by autodiff alone.
    Dmul,
    // Floats.
    Recip,
    Sqrt,
    Rsqrt,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Erf,
    Sigmoid,
    Floor,
    Ceil,
    Round,
    Trunc,
    Pow,
    Atan2,
    Hypot,
    // Tests and logic.
    IsNan,
    IsInf,
    IsFinite,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    /// On bools and integers.
    And,
    /// On bools and integers.
    Or,
    /// On bools and integers.
    Xor,
    /// On bools and integers.
    Not,
    /// `select(mask, a, b)`.
    Select,
    /// `x as dtype`.
    Cast(DType),
}

impl Ew {
    /// The type of the result: all operands have the same shape.
    pub fn infer(self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "the table is not built yet"))
    }
}
