//! Derivatives as data: expressions over the table's own functions.
//!
//! A [`Formula`] knows nothing of graphs.  Autodiff builds nodes from it, the oracle evaluates it, the documents
//! print it.  The operators and the functions of this module let a rule read as in a book.

use std::ops;

use tensorjit_runtime::abi::DType;

use super::row::Form;
use super::{Ew, Scalar};
use crate::diag::Bug;

/// An expression in the operands and the result of a function; all numbers have the element type of the result.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// The operand at this position.
    Arg(usize),
    /// The result of the function; in a transpose, the cotangent of the result.
    Out,
    /// A number.
    Const(f64),
    /// A function of the table.
    Call(Ew, Vec<Formula>),
}

impl Formula {
    /// The value in f64, for the operands `args` and the result `out`.
    pub fn eval(&self, args: &[Scalar], out: Scalar) -> Result<Scalar, Bug> {
        match self {
            Formula::Arg(position) => args
                .get(*position)
                .copied()
                .ok_or_else(|| Bug::new("graph", format!("a formula asks for operand {position}"))),
            Formula::Out => Ok(out),
            Formula::Const(value) => Ok(Scalar::Float(*value)),
            Formula::Call(ew, operands) => {
                let values =
                    operands.iter().map(|operand| operand.eval(args, out)).collect::<Result<Vec<_>, _>>()?;
                ew.eval(DType::F64, &values)
            }
        }
    }

    /// The text, with `names` for the operands and `out` for the result.
    pub fn show(&self, names: &[&str], out: &str) -> String {
        self.show_within(names, out, 0)
    }

    /// The text, in parentheses where an operator binds less than `binding`.
    fn show_within(&self, names: &[&str], out: &str, binding: u8) -> String {
        let (text, own) = match self {
            Formula::Arg(position) => (names.get(*position).copied().unwrap_or("?").to_owned(), u8::MAX),
            Formula::Out => (out.to_owned(), u8::MAX),
            Formula::Const(value) => (show_number(*value), u8::MAX),
            Formula::Call(ew, operands) => match (ew.row().form, operands.as_slice()) {
                (Form::Infix(symbol, own), [left, right]) => {
                    let left = left.show_within(names, out, own);
                    let right = right.show_within(names, out, own + 1);
                    (format!("{left} {symbol} {right}"), own)
                }
                (Form::Prefix(symbol), [operand]) => {
                    (format!("{symbol}{}", operand.show_within(names, out, PREFIX)), PREFIX)
                }
                _ => {
                    let operands: Vec<String> =
                        operands.iter().map(|operand| operand.show(names, out)).collect();
                    (format!("{}({})", ew.row().name, operands.join(", ")), u8::MAX)
                }
            },
        };
        if own < binding { format!("({text})") } else { text }
    }
}

/// How strongly a prefix operator binds; above every infix one.
const PREFIX: u8 = 200;

/// The constants of the rules by their names, other numbers as they are.
pub(crate) fn show_number(value: f64) -> String {
    use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LOG2_E};
    let named = [(FRAC_2_SQRT_PI, "2/sqrt(pi)"), (LN_2, "ln(2)"), (LOG2_E, "log2(e)")];
    match named.iter().find(|(number, _)| *number == value) {
        Some((_, name)) => (*name).to_owned(),
        None => value.to_string(),
    }
}

/// The first operand.
pub fn x() -> Formula {
    Formula::Arg(0)
}

/// The second operand.
pub fn y() -> Formula {
    Formula::Arg(1)
}

/// The third operand.
pub fn z() -> Formula {
    Formula::Arg(2)
}

/// The result; in a transpose, its cotangent.
pub fn out() -> Formula {
    Formula::Out
}

/// A number.
pub fn number(value: f64) -> Formula {
    Formula::Const(value)
}

/// `mask ? a : b`.
pub fn select(mask: Formula, a: Formula, b: Formula) -> Formula {
    Formula::Call(Ew::Select, vec![mask, a, b])
}

macro_rules! functions_of_one {
    ($($name:ident $ew:ident,)*) => {$(
        #[doc = concat!("`", stringify!($name), "(a)`.")]
        pub fn $name(a: Formula) -> Formula {
            Formula::Call(Ew::$ew, vec![a])
        }
    )*};
}

functions_of_one! {
    sign Sign, square Square, recip Recip, rsqrt Rsqrt, exp Exp, log Log,
    sin Sin, cos Cos, sinh Sinh, cosh Cosh, tanh Tanh, sech Sech, sigmoid Sigmoid, round Round,
    digamma Digamma, bessel_i0e BesselI0e, bessel_i1e BesselI1e,
}

macro_rules! functions_of_two {
    ($($name:ident $ew:ident,)*) => {$(
        #[doc = concat!("`", stringify!($name), "(a, b)`.")]
        pub fn $name(a: Formula, b: Formula) -> Formula {
            Formula::Call(Ew::$ew, vec![a, b])
        }
    )*};
}

functions_of_two! {
    pow Pow, hypot Hypot, copysign Copysign, eq Eq, lt Lt, le Le, gt Gt, ge Ge, and And, or Or,
}

macro_rules! operators {
    ($($operator:ident $method:ident $ew:ident,)*) => {$(
        impl ops::$operator for Formula {
            type Output = Formula;
            fn $method(self, other: Formula) -> Formula {
                Formula::Call(Ew::$ew, vec![self, other])
            }
        }
    )*};
}

operators! { Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, }

impl ops::Neg for Formula {
    type Output = Formula;
    fn neg(self) -> Formula {
        Formula::Call(Ew::Neg, vec![self])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_print_as_in_the_language() {
        let names = ["x", "y"];
        for (formula, text) in [
            (number(1.0) + square(out()), "1 + square(out)"),
            (x() * (y() - number(1.0)), "x * (y - 1)"),
            (x() - (y() - out()), "x - (y - out)"),
            (x() - y() - out(), "x - y - out"),
            (-(x() * y()), "-(x * y)"),
            (-x() * y(), "-x * y"),
            (select(and(gt(x(), y()), eq(x(), y())), x(), y()), "select((x > y) & (x == y), x, y)"),
            (number(std::f64::consts::LN_2) * out(), "ln(2) * out"),
        ] {
            assert_eq!(formula.show(&names, "out"), text);
        }
    }

    #[test]
    fn formulas_evaluate() {
        let args = [Scalar::Float(3.0), Scalar::Float(4.0)];
        let formula = select(lt(x(), y()), hypot(x(), y()) / out(), number(7.0));
        assert_eq!(formula.eval(&args, Scalar::Float(2.0)), Ok(Scalar::Float(2.5)));
        assert!(z().eval(&args, Scalar::Float(2.0)).is_err());
    }
}
