//! Running folds along an axis.

use super::arg_reduce::ArgReduce;
use super::fold;
use super::gather::Gather;
use super::pad::{Pad, PadAxis};
use super::reduce::ReduceKind;
use super::site::Site;
use super::slice::{Range, Slice};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::ops::constant::Constant;
use crate::graph::table::Ew;
use crate::graph::value::{Element, Env, Index, Scalar, Value, flat, rounding};
use crate::graph::{NodeId, Op, Type};
use tensorjit_runtime::abi::DType;

/// Every element becomes the fold of those before it along the axis, one after another from the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cumulate {
    /// What folds.
    pub fold: Running,
    /// The axis.
    pub axis: usize,
    /// Whether it runs from the last element to the first.
    pub reverse: bool,
    /// Whether the element itself is left out, so that the first result is the fold of nothing; not of indices.
    pub exclusive: bool,
}

/// What folds, with its value for no elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Running {
    /// Sum, 0.
    Sum,
    /// Product, 1.
    Prod,
    /// Maximum, NaN wins; -inf, or the least integer.
    Max,
    /// Minimum, NaN wins; +inf, or the greatest integer.
    Min,
    /// The index of the first NaN so far, else of the first greatest element, as `i64`.
    ArgMax,
    /// The index of the first NaN so far, else of the first least element, as `i64`.
    ArgMin,
    /// Of two operands: `a` times what came before, plus `b`; 0.
    Linear,
}

impl Running {
    /// The name in the textual form.
    pub fn name(self) -> &'static str {
        match self {
            Running::Sum => "sum",
            Running::Prod => "prod",
            Running::Max => "max",
            Running::Min => "min",
            Running::ArgMax => "argmax",
            Running::ArgMin => "argmin",
            Running::Linear => "linear",
        }
    }

    /// How many operands it folds.
    pub fn operands(self) -> usize {
        if self == Running::Linear { 2 } else { 1 }
    }

    /// The type of what is carried from step to step, where `dtype` is folded: sums and products of `f32` round to
    /// `f64`, since the error of each step stays in all that follow, and a result is rounded once.
    pub fn carry(self, dtype: DType) -> DType {
        match self {
            Running::Sum | Running::Prod | Running::Linear if dtype == DType::F32 => DType::F64,
            _ => dtype,
        }
    }

    /// The reduction that the last element is.
    fn reduction(self) -> Option<ReduceKind> {
        match self {
            Running::Sum => Some(ReduceKind::Sum),
            Running::Prod => Some(ReduceKind::Prod),
            Running::Max => Some(ReduceKind::Max),
            Running::Min => Some(ReduceKind::Min),
            Running::ArgMax | Running::ArgMin | Running::Linear => None,
        }
    }
}

impl Cumulate {
    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let bug = || Err(Bug::new("graph", format!("{self:?} of {inputs:?}")));
        let Some(first) = inputs.first() else { return bug() };
        let alike = inputs.iter().all(|ty| first.fits(facts, ty));
        let fits = inputs.len() == self.fold.operands() && alike;
        let index = matches!(self.fold, Running::ArgMax | Running::ArgMin);
        if !fits || self.axis >= first.rank() || first.dtype == DType::Bool || index && self.exclusive {
            return bug();
        }
        Ok(if index { first.with_dtype(DType::I64) } else { (*first).clone() })
    }

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let Some(first) = operands.first() else { return Err(Bug::new("interp", "cumulate of nothing")) };
        let mut outer = shape.to_vec();
        let extent = std::mem::replace(&mut outer[self.axis], 1);
        let mut elements = vec![Element::exact(Scalar::Int(0)); first.elements.len()];
        let mut dtype = first.dtype;
        let mut walk = Index::new(&outer);
        while let Some(index) = walk.next() {
            let mut index = index.to_vec();
            let mut places: Vec<usize> = (0..extent).collect();
            if self.reverse {
                places.reverse();
            }
            let flats: Vec<usize> = places
                .iter()
                .map(|place| {
                    index[self.axis] = *place;
                    flat(shape, &index)
                })
                .collect();
            let lane: Vec<Vec<Element>> = flats
                .iter()
                .map(|place| operands.iter().map(|operand| operand.elements[*place]).collect())
                .collect();
            for (place, element) in flats.into_iter().zip(self.run(first.dtype, &lane, &places)?) {
                elements[place] = element;
            }
        }
        if matches!(self.fold, Running::ArgMax | Running::ArgMin) {
            dtype = DType::I64;
        }
        Ok(Value { dtype, shape: shape.to_vec(), elements })
    }

    /// The running fold of the elements of one lane, which stand at `places` along the axis.
    fn run(&self, dtype: DType, lane: &[Vec<Element>], places: &[usize]) -> Result<Vec<Element>, Bug> {
        let mut found = Vec::with_capacity(lane.len());
        let (result, dtype) = (dtype, self.fold.carry(dtype));
        let mut folded = match self.fold.reduction() {
            Some(kind) => fold::fold(kind, dtype, &[]),
            None => fold::fold(ReduceKind::Sum, dtype, &[]),
        };
        let mut seen: Vec<Element> = Vec::with_capacity(lane.len());
        for step in lane {
            let before = folded;
            seen.push(step[0]);
            folded = match (self.fold, step.as_slice()) {
                (Running::ArgMax | Running::ArgMin, [_]) => {
                    let least = self.fold == Running::ArgMin;
                    let Element { scalar, error } = ArgReduce { least, axis: 0 }.find(&seen)?;
                    let place = places[fold::int(Element::exact(scalar)) as usize];
                    Element { scalar: Scalar::Int(place as i128), error }
                }
                (Running::Linear, [a, b]) => fold::sum(dtype, &[fold::product(dtype, *a, before), *b]),
                (Running::Prod, [x]) => fold::product(dtype, before, *x),
                (Running::Sum, [x]) => fold::sum(dtype, &[before, *x]),
                (Running::Max, [x]) => fold::fold(ReduceKind::Max, dtype, &[before, *x]),
                (Running::Min, [x]) => fold::fold(ReduceKind::Min, dtype, &[before, *x]),
                _ => return Err(Bug::new("interp", format!("{self:?} of {} operands", step.len()))),
            };
            let Element { scalar, error } = if self.exclusive { before } else { folded };
            let rounded =
                if result == dtype { 0.0 } else { rounding(result, scalar.to_f64().abs() + error, 0.5) };
            found.push(Element { scalar, error: error + rounded });
        }
        Ok(found)
    }

    /// The tangent for the tangents of the operands.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        match (self.fold, tangents) {
            (_, tangents) if tangents.iter().all(Option::is_none) => Ok(None),
            (Running::Sum, [Some(tangent)]) => site.add(Op::Cumulate(self.clone()), &[*tangent]).map(Some),
            (Running::Prod, [Some(tangent)]) => {
                // Of `y = x * before`: `x * before' + x' * before`, without a division.
                let before = self.before(site)?;
                let step = site.ew(Ew::Dmul, &[before, *tangent])?;
                let x = site.input(0)?;
                self.recurrence(site, x, step).map(Some)
            }
            (Running::Linear, [a, b]) => {
                let mut step = *b;
                if let Some(a) = a {
                    let before = self.before(site)?;
                    let part = site.ew(Ew::Mul, &[*a, before])?;
                    step = site.plus(step, Some(part))?;
                }
                let factor = site.input(0)?;
                step.map(|step| self.recurrence(site, factor, step)).transpose()
            }
            (Running::Max | Running::Min, [Some(tangent)]) => self.of_winner(site, *tangent).map(Some),
            _ => Err(Bug::new("autodiff", format!("{self:?} has a tangent"))),
        }
    }

    /// What the fold was before each element: the result itself where that leaves the element out.
    fn before(&self, site: &mut Site) -> Result<NodeId, Bug> {
        let none = if self.fold == Running::Prod { 1.0 } else { 0.0 };
        if self.exclusive { Ok(site.node) } else { self.delayed(site, site.node, self.reverse, none) }
    }

    /// The recurrence with the given factors and steps, in the order of this one.
    fn recurrence(&self, site: &mut Site, factors: NodeId, steps: NodeId) -> Result<NodeId, Bug> {
        let op = Cumulate { fold: Running::Linear, ..self.clone() };
        site.add(Op::Cumulate(op), &[factors, steps])
    }

    /// `x` one step later along the axis, or earlier in the order of indices where `reverse`; `none` comes first.
    ///
    /// It is padded and then cut, so that it is right along an empty axis too.
    fn delayed(&self, site: &mut Site, x: NodeId, reverse: bool, none: f64) -> Result<NodeId, Bug> {
        let ty = site.ty(x);
        let one = Dim::constant(1);
        let pads = ty.shape.iter().enumerate().map(|(axis, extent)| match axis == self.axis {
            true => PadAxis { low: Dim::constant(i64::from(!reverse)), gap: 0, extent: extent + &one },
            false => PadAxis { low: Dim::constant(0), gap: 0, extent: extent.clone() },
        });
        let pads = Op::Pad(Pad { axes: pads.collect() });
        let ranges = ty.shape.iter().enumerate().map(|(axis, extent)| Range {
            start: Dim::constant(i64::from(reverse && axis == self.axis)),
            step: 1,
            len: extent.clone(),
        });
        let ranges = Op::Slice(Slice { ranges: ranges.collect() });
        let none = site.add(Op::Constant(Constant::number(ty.dtype, none)), &[])?;
        let padded = site.add(pads, &[x, none])?;
        site.add(ranges, &[padded])
    }

    /// The tangent of the first element that is the extreme so far; none where that is the fold of nothing.
    fn of_winner(&self, site: &mut Site, tangent: NodeId) -> Result<NodeId, Bug> {
        let fold = if self.fold == Running::Max { Running::ArgMax } else { Running::ArgMin };
        let winner = Cumulate { fold, exclusive: false, ..self.clone() };
        let x = site.input(0)?;
        let winners = site.add(Op::Cumulate(winner), &[x])?;
        let rank = site.ty(x).rank();
        let taken = site.add(Op::Gather(Gather::along(self.axis, rank)), &[tangent, winners])?;
        if self.exclusive { self.delayed(site, taken, self.reverse, 0.0) } else { Ok(taken) }
    }

    /// The cotangents of the operands that it is linear in: the same fold from the other end.
    pub fn transpose(
        &self,
        site: &mut Site,
        linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let back = Cumulate { reverse: !self.reverse, ..self.clone() };
        match (self.fold, linear) {
            (Running::Sum, [true]) => Ok(vec![Some(site.add(Op::Cumulate(back), &[cotangent])?)]),
            (Running::Linear, [false, true]) => {
                // A step reaches what comes after it by the factors there, its own left out.
                let mut factors = site.input(0)?;
                if !self.exclusive {
                    factors = self.delayed(site, factors, back.reverse, 0.0)?;
                }
                Ok(vec![None, Some(site.add(Op::Cumulate(back), &[factors, cotangent])?)])
            }
            _ => Err(Bug::new("autodiff", format!("{self:?} is not linear in {linear:?}"))),
        }
    }
}
