//! What values a node can have: an interval, and whether NaN is possible.
//!
//! It is sound and simple: inputs can be anything, so that little but constants, masks, counts and what is made
//! of them is proven finite.

use tensorjit_runtime::abi::DType;

use super::rewriter::Rewriter;
use crate::graph::ops::constant::Constant;
use crate::graph::table::Ew;
use crate::graph::{Node, NodeId, Op};

/// Bounds of all elements, and whether one may be NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    low: f64,
    high: f64,
    nan: bool,
}

/// Magnitudes above are taken for infinite, well before the type overflows.
const fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F32 | DType::BF16 => 1e38,
        DType::F16 => 6e4,
        _ => 1e300,
    }
}

impl Range {
    const UNKNOWN: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };

    fn between(low: f64, high: f64) -> Range {
        Range { low, high, nan: false }
    }

    /// Whether every element is finite.
    pub(super) fn is_finite(self) -> bool {
        !self.nan && self.low.is_finite() && self.high.is_finite()
    }

    fn union(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high), nan: self.nan || other.nan }
    }

    /// The hull of `f` at all pairs of ends, for an `f` that is monotone in each operand; unknown where an operand
    /// is not finite.
    fn at_ends(self, other: Range, f: fn(f64, f64) -> f64) -> Range {
        if !self.is_finite() || !other.is_finite() {
            return Range::UNKNOWN;
        }
        let ends = [
            f(self.low, other.low),
            f(self.low, other.high),
            f(self.high, other.low),
            f(self.high, other.high),
        ];
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Range { low, high, nan: ends.iter().any(|end| end.is_nan()) }
    }

    /// Within `low..=high` whatever the operand, which NaN passes through.
    fn squashed(self, low: f64, high: f64) -> Range {
        Range { low, high, nan: self.nan }
    }

    /// As an element type holds it.
    fn held_by(self, dtype: DType) -> Range {
        let limit = largest(dtype);
        Range {
            low: if self.low < -limit { f64::NEG_INFINITY } else { self.low },
            high: if self.high > limit { f64::INFINITY } else { self.high },
            nan: self.nan,
        }
    }
}

impl Rewriter {
    /// What is known of the values of a node.
    pub(super) fn range(&mut self, id: NodeId) -> Range {
        // Operands come before their users, so that each range is found from those before it.
        for position in self.ranges.len()..=id.0 as usize {
            let node = self.node(NodeId(position as u32));
            let range = range_of(node, &self.ranges).held_by(node.ty.dtype);
            self.ranges.push(range);
        }
        self.ranges[id.0 as usize]
    }
}

fn range_of(node: &Node, known: &[Range]) -> Range {
    let operand = |position: usize| {
        node.inputs.get(position).and_then(|id| known.get(id.0 as usize)).copied().unwrap_or(Range::UNKNOWN)
    };
    match &node.op {
        Op::Constant(constant) => range_of_constant(constant),
        Op::Broadcast(_) | Op::Permute(_) | Op::Reshape(_) | Op::Slice(_) => operand(0),
        // Of the inverse, the zero is an element too.
        Op::Window(op) if !op.inverse => operand(0),
        // The indices, second operand of a gather, are clamped into a non-empty axis.
        Op::Gather(_) => operand(0),
        Op::Pad(_) => operand(0).union(operand(1)),
        Op::Concat(_) => {
            (1..node.inputs.len()).fold(operand(0), |all, position| all.union(operand(position)))
        }
        Op::Elementwise(row) if node.ty.dtype.is_float() => range_of_row(*row, operand),
        _ => range_of_type(node.ty.dtype),
    }
}

fn range_of_constant(constant: &Constant) -> Range {
    match constant.scalar().to_f64() {
        value if value.is_nan() => Range::UNKNOWN,
        value => Range::between(value, value),
    }
}

/// What a type alone says.
fn range_of_type(dtype: DType) -> Range {
    match dtype {
        DType::Bool => Range::between(0.0, 1.0),
        dtype if dtype.is_int() => {
            let (least, greatest) = dtype.bounds();
            Range::between(least as f64, greatest as f64)
        }
        _ => Range::UNKNOWN,
    }
}

/// Of rows whose result is a float.
fn range_of_row(row: Ew, operand: impl Fn(usize) -> Range) -> Range {
    let x = operand(0);
    match row {
        Ew::Cast(_) => x,
        Ew::Neg => Range { low: -x.high, high: -x.low, nan: x.nan },
        Ew::Abs => Range { low: 0.0, high: x.high.max(-x.low), nan: x.nan },
        Ew::Sign | Ew::Tanh | Ew::Erf => x.squashed(-1.0, 1.0),
        Ew::Sigmoid => x.squashed(0.0, 1.0),
        Ew::Atan => x.squashed(-2.0, 2.0),
        Ew::Sin | Ew::Cos if x.is_finite() => x.squashed(-1.0, 1.0),
        Ew::Exp if x.high <= 80.0 => x.squashed(0.0, 1e36),
        Ew::Square => Range { low: 0.0, ..x.at_ends(x, |a, b| a * b) },
        Ew::Add => x.at_ends(operand(1), |a, b| a + b),
        Ew::Sub => x.at_ends(operand(1), |a, b| a - b),
        Ew::Mul => x.at_ends(operand(1), |a, b| a * b),
        Ew::Div if operand(1).low > 0.0 || operand(1).high < 0.0 => x.at_ends(operand(1), |a, b| a / b),
        Ew::Maximum | Ew::Minimum => x.union(operand(1)),
        Ew::Select => operand(1).union(operand(2)),
        _ => Range::UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_bounded_soundly() {
        let unit = Range::between(-1.0, 1.0);
        let positive = Range::between(0.5, 2.0);
        let cases = [
            (Ew::Mul, [unit, positive], Range::between(-2.0, 2.0)),
            (Ew::Sub, [unit, positive], Range::between(-3.0, 0.5)),
            (Ew::Div, [unit, positive], Range::between(-2.0, 2.0)),
            (Ew::Div, [positive, unit], Range::UNKNOWN),
            (Ew::Tanh, [Range::UNKNOWN; 2], Range { nan: true, ..unit }),
            (Ew::Sin, [Range::UNKNOWN; 2], Range::UNKNOWN),
            (Ew::Add, [unit, Range::UNKNOWN], Range::UNKNOWN),
            (Ew::Log, [positive; 2], Range::UNKNOWN),
        ];
        for (row, operands, expected) in cases {
            assert_eq!(range_of_row(row, |position| operands[position]), expected, "{row:?}");
        }
        assert!(!Range::between(0.0, 1e39).held_by(DType::F32).is_finite());
    }
}
