//! A border, and gaps, of one value.

use tensorjit_runtime::abi::DType;

use super::site::Site;
use super::slice::{Range, Slice};
use super::{Guard, Source, operands};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::value::{Env, Value};
use crate::graph::{NodeId, Op, Type};

/// The second operand is the scalar that fills.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pad {
    /// In the order of the axes.
    pub axes: Vec<PadAxis>,
}

/// The extent of the result is `low + (n + (n - 1) * gap, or 0 where n is 0) + high`; element `i` goes to `low + i * (gap + 1)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PadAxis {
    /// Fill before the first element, at least 0.
    pub low: Dim,
    /// The extent of the result, large enough for all elements.
    pub extent: Dim,
    /// Fill between neighbours, at least 0.
    pub gap: i64,
}

impl PadAxis {
    /// An axis that gets no fill.
    pub fn none(extent: &Dim) -> PadAxis {
        PadAxis { low: Dim::default(), extent: extent.clone(), gap: 0 }
    }

    /// The distance of neighbours in the result.
    fn pitch(&self) -> Dim {
        Dim::constant(self.gap.saturating_add(1))
    }

    /// Whether an axis of extent `n` gets no fill.
    pub fn is_none(&self, facts: &Facts, n: &Dim) -> bool {
        self.low.is(0) && self.gap == 0 && facts.same(n, &self.extent)
    }

    /// Whether `n` elements have room, as far as constants show.
    fn fits(&self, n: &Dim) -> bool {
        let (Some(low), Some(n), Some(extent)) = (self.low.as_const(), n.as_const(), self.extent.as_const())
        else {
            return self.gap >= 0;
        };
        let last = i128::from(low) + (i128::from(n) - 1) * (i128::from(self.gap) + 1);
        self.gap >= 0 && (n == 0 || (low >= 0 && last < i128::from(extent)))
    }

    /// The elements in the padded axis.
    fn range(&self, n: &Dim) -> Range {
        Range { start: self.low.clone(), step: self.gap.saturating_add(1), len: n.clone() }
    }
}

impl Pad {
    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [operand, fill] = operands("pad", inputs)?;
        if fill.rank() != 0 || fill.dtype != operand.dtype {
            return Err(Bug::new(
                "graph",
                format!("pad: the fill is no scalar of type {}", operand.dtype.name()),
            ));
        }
        if self.axes.len() != operand.rank() {
            let message = format!("pad: {} borders for {} axes", self.axes.len(), operand.rank());
            return Err(Bug::new("graph", message));
        }
        for (axis, n) in self.axes.iter().zip(&operand.shape) {
            if !axis.fits(n) {
                return Err(Bug::new(
                    "graph",
                    format!(
                        "pad: {} elements from {} with gaps of {} have no room in {}",
                        facts.show(n),
                        facts.show(&axis.low),
                        axis.gap,
                        facts.show(&axis.extent)
                    ),
                ));
            }
        }
        Ok(operand.with_shape(self.axes.iter().map(|axis| axis.extent.clone()).collect::<Vec<_>>()))
    }

    /// The value of the result.
    pub fn eval(&self, env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [operand, fill] = super::operands("pad", operands)?;
        let lows: Vec<i64> = self.axes.iter().map(|axis| env.value(&axis.low)).collect::<Result<_, _>>()?;
        let mut index = vec![0; shape.len()];
        Value::build(operand.dtype, shape, |at| {
            for (axis, pad) in self.axes.iter().enumerate() {
                let (distance, pitch) = (at[axis] as i64 - lows[axis], pad.gap + 1);
                if distance < 0 || distance % pitch != 0 || distance / pitch >= operand.shape[axis] as i64 {
                    return Ok(fill.elements[0]);
                }
                index[axis] = (distance / pitch) as usize;
            }
            Ok(operand.at(&index))
        })
    }

    /// Where the element at `at` comes from.
    pub fn access(&self, facts: &Facts, operands: &[&Type], _result: &Type, at: &[Dim]) -> Vec<Source> {
        let extents = operands.first().map_or(&[][..], |ty| &ty.shape);
        let (mut index, mut guards) = (Vec::new(), Vec::new());
        for ((pad, n), at) in self.axes.iter().zip(extents).zip(at) {
            let distance = at - &pad.low;
            let pitch = pad.pitch();
            if !pad.is_none(facts, n) {
                guards.push(Guard::Within { value: distance.clone(), extent: n * &pitch });
            }
            if pad.gap > 0 {
                guards.push(Guard::Divides { value: distance.clone(), by: pad.gap.saturating_add(1) });
            }
            index.push(distance.floor_div(&pitch));
        }
        if guards.is_empty() {
            return vec![Source::always(0, index)];
        }
        vec![Source { operand: 0, index, guards }, Source::always(1, Vec::new())]
    }

    /// The tangent of the result: the operand's tangent, surrounded by the fill's.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        super::apply_jointly_linear(Op::Pad(self.clone()), site, tangents)
    }

    /// The cotangents: of the operand, the elements in its places; of the fill, the sum of all others.
    pub fn transpose(
        &self,
        site: &mut Site,
        linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let operand = site.ty(site.input(0)?);
        let inner = match linear.first() {
            Some(true) => {
                let ranges = self.axes.iter().zip(&operand.shape).map(|(axis, n)| axis.range(n));
                Some(site.add(Op::Slice(Slice { ranges: ranges.collect() }), &[cotangent])?)
            }
            _ => None,
        };
        let outer = match linear.get(1) {
            Some(true) => Some(self.fill_cotangent(site, &operand.shape, cotangent)?),
            _ => None,
        };
        Ok(vec![inner, outer])
    }

    /// The sum of what is not the operand's; its places are masked out rather than subtracted, so that nothing
    /// cancels.
    fn fill_cotangent(&self, site: &mut Site, operand: &[Dim], cotangent: NodeId) -> Result<NodeId, Bug> {
        let inside = site.full(&Type::new(DType::Bool, operand), 0.0)?;
        let yes = site.full(&Type::scalar(DType::Bool), 1.0)?;
        let outside = site.add(Op::Pad(self.clone()), &[inside, yes])?;
        let outer = site.keep(outside, cotangent)?;
        let axes: Vec<usize> = (0..operand.len()).collect();
        site.sum(outer, &axes)
    }
}
