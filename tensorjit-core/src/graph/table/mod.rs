//! The table of elementwise functions: one row each, read by parser, folder, interpreter, autodiff, lowering,
//! documents and tests.
//!
//! To add a function: one line in the list below, and one row in the file of its family.

pub mod formula;
pub mod row;
mod arithmetic;
mod bits;
mod convert;
mod exponential;
mod logic;
mod lower;
mod rounding;
mod special;
#[cfg(test)]
mod tests;
mod trigonometric;

use tensorjit_runtime::abi::DType;

use self::row::Row;
use super::Type;
use super::value::{Scalar, round, wrap};
use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::lanes::{Lanes, Val};

/// Declares [`Ew`] and finds the row of each.
macro_rules! functions {
    ($($name:ident $row:path;)*) => {
        /// An elementwise function; [`Ew::row`] says what it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the row of each has its name and meaning")]
        pub enum Ew {
            $($name,)*
            Cast(DType),
        }

        impl Ew {
            /// All functions, in the order of the documentation.
            pub const ALL: &[Ew] = &[
                $(Ew::$name,)*
                Ew::Cast(DType::Bool),
                Ew::Cast(DType::I8),
                Ew::Cast(DType::I16),
                Ew::Cast(DType::I32),
                Ew::Cast(DType::I64),
                Ew::Cast(DType::U8),
                Ew::Cast(DType::U16),
                Ew::Cast(DType::U32),
                Ew::Cast(DType::U64),
                Ew::Cast(DType::F32),
                Ew::Cast(DType::F64),
                Ew::Cast(DType::F16),
                Ew::Cast(DType::BF16),
            ];

            /// What is known of the function.
            pub fn row(self) -> &'static Row {
                match self {
                    $(Ew::$name => &$row,)*
                    Ew::Cast(to) => convert::row(to),
                }
            }
        }
    };
}

functions! {
    Neg arithmetic::NEG;
    Abs arithmetic::ABS;
    Sign rounding::SIGN;
    Square arithmetic::SQUARE;
    Add arithmetic::ADD;
    Sub arithmetic::SUB;
    Mul arithmetic::MUL;
    Div arithmetic::DIV;
    Rem rounding::REM;
    Mod rounding::MOD;
    Maximum arithmetic::MAXIMUM;
    Minimum arithmetic::MINIMUM;
    Clip arithmetic::CLIP;
    Fma arithmetic::FMA;
    Dmul arithmetic::DMUL;
    Recip arithmetic::RECIP;
    Sqrt exponential::SQRT;
    Rsqrt exponential::RSQRT;
    Cbrt exponential::CBRT;
    Exp exponential::EXP;
    Exp2 exponential::EXP2;
    Expm1 exponential::EXPM1;
    Log exponential::LOG;
    Log2 exponential::LOG2;
    Log10 exponential::LOG10;
    Log1p exponential::LOG1P;
    Sin trigonometric::SIN;
    Cos trigonometric::COS;
    Tan trigonometric::TAN;
    Asin trigonometric::ASIN;
    Acos trigonometric::ACOS;
    Atan trigonometric::ATAN;
    Sinh trigonometric::SINH;
    Cosh trigonometric::COSH;
    Tanh trigonometric::TANH;
    Sech trigonometric::SECH;
    Erf exponential::ERF;
    Erfc special::ERFC;
    ErfInv special::ERF_INV;
    Lgamma special::LGAMMA;
    Digamma special::DIGAMMA;
    BesselI0e special::BESSEL_I0E;
    BesselI1e special::BESSEL_I1E;
    Sigmoid exponential::SIGMOID;
    Floor rounding::FLOOR;
    Ceil rounding::CEIL;
    Round rounding::ROUND;
    Trunc rounding::TRUNC;
    Pow exponential::POW;
    Atan2 trigonometric::ATAN2;
    Hypot exponential::HYPOT;
    Copysign rounding::COPYSIGN;
    Nextafter rounding::NEXTAFTER;
    IsNan logic::ISNAN;
    IsInf logic::ISINF;
    IsFinite logic::ISFINITE;
    Lt logic::LT;
    Le logic::LE;
    Gt logic::GT;
    Ge logic::GE;
    Eq logic::EQ;
    Ne logic::NE;
    And logic::AND;
    Or logic::OR;
    Xor logic::XOR;
    Not logic::NOT;
    Select logic::SELECT;
    Shl bits::SHL;
    Shr bits::SHR;
    ShrLogical bits::SHR_LOGICAL;
    CountOnes bits::COUNT_ONES;
    LeadingZeros bits::LEADING_ZEROS;
    ToBits bits::TO_BITS;
    FromBits bits::FROM_BITS;
}

impl Ew {
    /// The function of that name, in the language or in the textual form of graphs.
    pub fn by_name(name: &str) -> Option<Ew> {
        Ew::ALL.iter().copied().find(|ew| ew.row().name == name)
    }

    /// Number of operands.
    pub fn arity(self) -> usize {
        self.row().operands.len()
    }

    /// The type of the result: all operands have the same shape.
    pub fn infer(self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        self.check_arity(inputs.len())?;
        let types = self.row().types;
        let bug = |what: &str| Bug::new("graph", format!("{} of {inputs:?}: {what}", self.row().name));
        let (Some(first), Some(last)) = (inputs.first(), inputs.last()) else {
            return Err(bug("no operands"));
        };
        // The last operand of every function has the type that it works on.
        let dtype = last.dtype;
        if !types.accepts().contains(&dtype) {
            return Err(bug("it does not take this type"));
        }
        for (position, input) in inputs.iter().enumerate() {
            if input.dtype != types.operand(position, dtype) {
                return Err(bug("the element types do not fit"));
            }
            let same = input.rank() == first.rank()
                && input.shape.iter().zip(&first.shape).all(|(a, b)| facts.same(a, b));
            if !same {
                return Err(bug("the shapes differ"));
            }
        }
        Ok(first.with_dtype(types.result(dtype)))
    }

    /// The value for operands of the element type `dtype`.  Floats are not rounded to f32.
    pub fn eval(self, dtype: DType, args: &[Scalar]) -> Result<Scalar, Bug> {
        self.check_arity(args.len())?;
        self.row().eval.apply(dtype, args)
    }

    /// The value for operands of the element type `dtype`, rounded to the type of the result.
    pub fn fold(self, dtype: DType, args: &[Scalar]) -> Result<Scalar, Bug> {
        if let (Ew::Cast(DType::F32), [Scalar::Int(value)]) = (self, args) {
            // Not by way of f64, which would round twice.
            return Ok(Scalar::Float(f64::from(*value as f32)));
        }
        Ok(match self.eval(dtype, args)? {
            Scalar::Float(value) => Scalar::Float(round(self.row().types.result(dtype), value)),
            exact => exact,
        })
    }

    /// The derivative by each operand where they are `args` and the result is `out`; `None` where there is none.
    pub fn partials(self, args: &[Scalar], out: Scalar) -> Result<Option<Vec<f64>>, Bug> {
        self.check_arity(args.len())?;
        self.row().derivative.partials(args, out)
    }

    /// Builds the machine operations.
    pub fn lower(self, lanes: &mut dyn Lanes, args: &[Val]) -> Result<Val, Bug> {
        self.check_arity(args.len())?;
        let last = args.last().ok_or_else(|| Bug::new("graph", "a function without operands"))?;
        let dtype = lanes.dtype(*last);
        Ok((self.row().lower)(lanes, dtype, args))
    }

    fn check_arity(self, count: usize) -> Result<(), Bug> {
        if count == self.arity() {
            return Ok(());
        }
        Err(Bug::new("graph", format!("{} was given {count} operands", self.row().name)))
    }
}
