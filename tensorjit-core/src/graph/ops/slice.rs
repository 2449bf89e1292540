//! Every so-many-th element of a range of each axis.

use super::pad::{Pad, PadAxis};
use super::site::Site;
use super::{Source, operands};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::value::{Env, Value};
use crate::graph::{NodeId, Op, Type};

/// One range for each axis; all indices are in bounds (the front end has proven it).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slice {
    /// In the order of the axes.
    pub ranges: Vec<Range>,
}

/// The elements `start + step * i` for `i` in `0..len`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// The first index.
    pub start: Dim,
    /// The distance, not zero; negative walks down.
    pub step: i64,
    /// How many.
    pub len: Dim,
}

impl Range {
    /// All of an axis.
    pub fn full(extent: &Dim) -> Range {
        Range { start: Dim::default(), step: 1, len: extent.clone() }
    }

    /// The operand's index for index `at` of the result.
    pub fn index(&self, at: &Dim) -> Dim {
        &self.start + &(&Dim::constant(self.step) * at)
    }

    /// Whether it is in bounds, as far as constants show.
    fn fits(&self, extent: &Dim) -> bool {
        let (Some(start), Some(len), Some(extent)) =
            (self.start.as_const(), self.len.as_const(), extent.as_const())
        else {
            return self.step != 0;
        };
        let (start, len, extent) = (i128::from(start), i128::from(len), i128::from(extent));
        let last = start + i128::from(self.step) * (len - 1);
        self.step != 0
            && len >= 0
            && (len == 0 || ((0..extent).contains(&start) && (0..extent).contains(&last)))
    }
}

impl Slice {
    /// A slice that takes one range of one axis and all of the others.
    pub fn along(shape: &[Dim], axis: usize, range: Range) -> Slice {
        let mut ranges: Vec<Range> = shape.iter().map(Range::full).collect();
        ranges[axis] = range;
        Slice { ranges }
    }

    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [operand] = operands("slice", inputs)?;
        if self.ranges.len() != operand.rank() {
            let message = format!("slice: {} ranges for {} axes", self.ranges.len(), operand.rank());
            return Err(Bug::new("graph", message));
        }
        for (range, extent) in self.ranges.iter().zip(&operand.shape) {
            if !range.fits(extent) {
                return Err(Bug::new(
                    "graph",
                    format!(
                        "slice: {} elements from {} by {} leave an axis of extent {}",
                        facts.show(&range.len),
                        facts.show(&range.start),
                        range.step,
                        facts.show(extent)
                    ),
                ));
            }
        }
        Ok(operand.with_shape(self.ranges.iter().map(|range| range.len.clone()).collect::<Vec<_>>()))
    }

    /// The value of the result.
    pub fn eval(&self, env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [operand] = super::operands("slice", operands)?;
        let starts: Vec<i64> =
            self.ranges.iter().map(|range| env.value(&range.start)).collect::<Result<_, _>>()?;
        let mut index = vec![0; shape.len()];
        Value::build(operand.dtype, shape, |at| {
            for (axis, range) in self.ranges.iter().enumerate() {
                let from = starts[axis] + range.step * at[axis] as i64;
                index[axis] = usize::try_from(from)
                    .ok()
                    .filter(|i| *i < operand.shape[axis])
                    .ok_or_else(|| Bug::new("interp", format!("slice: index {from} leaves axis {axis}")))?;
            }
            Ok(operand.at(&index))
        })
    }

    /// Where the element at `at` comes from.
    pub fn access(&self, _facts: &Facts, _operands: &[&Type], _result: &Type, at: &[Dim]) -> Vec<Source> {
        let index = self.ranges.iter().zip(at).map(|(range, at)| range.index(at)).collect();
        vec![Source::always(0, index)]
    }

    /// The tangent of the result: the same slice of the operand's.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        super::apply_linear(Op::Slice(self.clone()), site, tangents)
    }

    /// The cotangent of the operand: the result's back in its places, zeros around and between; reversed
    /// first where the slice walked down.
    pub fn transpose(
        &self,
        site: &mut Site,
        _linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let operand = site.ty(site.input(0)?);
        let last = |len: &Dim| len - &Dim::constant(1);
        let mut upward = cotangent;
        if self.ranges.iter().any(|range| range.step < 0) {
            let ranges = self.ranges.iter().map(|range| match range.step < 0 {
                true => Range { start: last(&range.len), step: -1, len: range.len.clone() },
                false => Range::full(&range.len),
            });
            upward = site.add(Op::Slice(Slice { ranges: ranges.collect() }), &[upward])?;
        }
        let axes = self.ranges.iter().zip(&operand.shape).map(|(range, extent)| PadAxis {
            low: if range.step < 0 { range.index(&last(&range.len)) } else { range.start.clone() },
            extent: extent.clone(),
            gap: range.step.saturating_abs() - 1,
        });
        let pad = Pad { axes: axes.collect() };
        let zero = site.zeros(&Type::scalar(operand.dtype))?;
        Ok(vec![Some(site.add(Op::Pad(pad), &[upward, zero])?)])
    }
}
