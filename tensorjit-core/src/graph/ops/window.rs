//! Windows along an axis, for convolutions and pooling.
//!
//! The operand has an axis of positions and one of taps, the result an axis of windows and the same taps: tap `k` of
//! window `o` is what the operand has for tap `k` at position `o * stride + k * dilation`.  A tensor without taps
//! is repeated along them first.  The transpose goes the other way: position `i` has, for each tap, the window in
//! which it is that tap, or a fill, zero for the transpose.  Both only move elements, so that the adjoint of a convolution reads its windows
//! and never scatters.

use super::site::Site;
use super::{Guard, Source};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::table::Ew;
use crate::graph::value::{Env, Value};
use crate::graph::{NodeId, Op, Type};

/// The windows of an axis; all of them lie inside it (the front end has proven it).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// The axis of positions in the one, of windows in the other.
    pub axis: usize,
    /// The axis of taps in both.
    pub taps: usize,
    /// From one window to the next, positive.
    pub stride: i64,
    /// From one tap to the next, positive.
    pub dilation: i64,
    /// The extent of `axis` in the result.
    pub extent: Dim,
    /// From windows to positions.  The second operand is then a scalar, for positions in no window.
    pub inverse: bool,
}

impl Window {
    /// The position of a tap, from the index of the window.
    fn position(&self, window: &Dim, tap: &Dim) -> Dim {
        &(window * &Dim::constant(self.stride)) + &(tap * &Dim::constant(self.dilation))
    }

    /// The same windows the other way, to an axis of that extent.
    fn reversed(&self, extent: Dim) -> Window {
        Window { extent, inverse: !self.inverse, ..self.clone() }
    }

    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let operand = match (self.inverse, inputs) {
            (false, [operand]) => operand,
            (true, [operand, fill]) if fill.rank() == 0 && fill.dtype == operand.dtype => operand,
            _ => return Err(Bug::new("graph", "window: it takes a tensor, and a fill where it is inverse")),
        };
        if self.axis == self.taps || self.axis.max(self.taps) >= operand.rank() {
            let message = format!("window: axes {} and {} of {}", self.axis, self.taps, operand.rank());
            return Err(Bug::new("graph", message));
        }
        if self.stride < 1 || self.dilation < 1 {
            return Err(Bug::new("graph", "window: stride and dilation are positive"));
        }
        let (windows, positions) = match self.inverse {
            false => (&self.extent, &operand.shape[self.axis]),
            true => (&operand.shape[self.axis], &self.extent),
        };
        let sizes = (windows.as_const(), operand.shape[self.taps].as_const(), positions.as_const());
        if let (Some(windows @ 1..), Some(taps @ 1..), Some(positions)) = sizes {
            let [windows, taps, positions] = [windows, taps, positions].map(i128::from);
            let last = (windows - 1) * i128::from(self.stride) + (taps - 1) * i128::from(self.dilation);
            if last >= positions {
                let axis = facts.show(&operand.shape[self.axis]);
                return Err(Bug::new("graph", format!("window: {last} leaves an axis of extent {axis}")));
            }
        }
        let mut shape = operand.shape.clone();
        shape[self.axis] = self.extent.clone();
        Ok(operand.with_shape(shape))
    }

    /// The value of the result.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let missing = || Bug::new("interp", "window: an operand is missing");
        let operand = operands.first().ok_or_else(missing)?;
        let count = operand.shape[self.axis] as i64;
        let mut index = vec![0; shape.len()];
        Value::build(operand.dtype, shape, |at| {
            index.copy_from_slice(at);
            let (place, shift) = (at[self.axis] as i64, at[self.taps] as i64 * self.dilation);
            let from = match self.inverse {
                false => place * self.stride + shift,
                true if (place - shift).rem_euclid(self.stride) == 0 => (place - shift) / self.stride,
                true => -1,
            };
            index[self.axis] = from as usize;
            match (0..count).contains(&from) {
                true => Ok(operand.at(&index)),
                false if self.inverse => Ok(operands.get(1).ok_or_else(missing)?.elements[0]),
                false => Err(Bug::new("interp", format!("window: {from} leaves axis {}", self.axis))),
            }
        })
    }

    /// Where the element at `at` comes from.
    pub fn access(&self, _facts: &Facts, operands: &[&Type], _result: &Type, at: &[Dim]) -> Vec<Source> {
        let mut index = at.to_vec();
        let (place, tap) = (&at[self.axis], &at[self.taps]);
        if !self.inverse {
            index[self.axis] = self.position(place, tap);
            return vec![Source::always(0, index)];
        }
        let (distance, stride) = (place - &(tap * &Dim::constant(self.dilation)), Dim::constant(self.stride));
        let windows = operands.first().map_or_else(Dim::default, |ty| ty.shape[self.axis].clone());
        let mut guards = vec![Guard::Within { value: distance.clone(), extent: &windows * &stride }];
        if self.stride > 1 {
            guards.push(Guard::Divides { value: distance.clone(), by: self.stride });
        }
        index[self.axis] = distance.floor_div(&stride);
        vec![Source { operand: 0, index, guards }, Source::always(1, Vec::new())]
    }

    /// The tangent of the result: the same windows of the operands'.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        super::apply_jointly_linear(Op::Window(self.clone()), site, tangents)
    }

    /// The cotangents: of the tensor, the windows the other way; of the fill, the sum of all that is in no window.
    pub fn transpose(
        &self,
        site: &mut Site,
        linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let operand = site.ty(site.input(0)?);
        let reversed = self.reversed(operand.shape[self.axis].clone());
        if !self.inverse {
            let zero = site.zeros(&operand.with_shape(Vec::new()))?;
            return Ok(vec![Some(site.add(Op::Window(reversed), &[cotangent, zero])?)]);
        }
        let taken = site.add(Op::Window(reversed), &[cotangent])?;
        let fill = match linear {
            [_, true] => {
                let axes: Vec<usize> = (0..operand.rank()).collect();
                let (all, inside) = (site.sum(cotangent, &axes)?, site.sum(taken, &axes)?);
                Some(site.ew(Ew::Sub, &[all, inside])?)
            }
            _ => None,
        };
        Ok(vec![Some(taken), fill])
    }
}
