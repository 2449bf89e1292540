//! Folding of axes.

use super::cumulate::{Cumulate, Running};
use super::fold;
use super::site::{Site, only};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::{Facts, Verdict};
use crate::graph::table::Ew;
use crate::graph::value::{Env, Value};
use crate::graph::{NodeId, Op, Type};
use tensorjit_runtime::abi::{DType, Relation};

/// Folds the axes away; `docs/numerics.md` states the order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reduce {
    /// The operation.
    pub kind: ReduceKind,
    /// Strictly rising, at least one.
    pub axes: Vec<usize>,
}

/// What folds, with its value for no elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReduceKind {
    /// Sum, 0.
    Sum,
    /// Product, 1.
    Prod,
    /// Maximum, NaN wins; -inf, or the least integer.
    Max,
    /// Minimum, NaN wins; +inf, or the greatest integer.
    Min,
    /// Of bools: whether one is true; false.
    Any,
    /// Of bools: whether all are true; true.
    All,
}

impl Reduce {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [x] = super::operands("reduce", inputs)?;
        let rising = self.axes.windows(2).all(|pair| pair[0] < pair[1]);
        if self.axes.is_empty() || !rising || self.axes.iter().any(|axis| *axis >= x.rank()) {
            return Err(Bug::new("graph", format!("reduce of rank {} over axes {:?}", x.rank(), self.axes)));
        }
        let logical = matches!(self.kind, ReduceKind::Any | ReduceKind::All);
        if logical != (x.dtype == DType::Bool) {
            return Err(Bug::new("graph", format!("{:?} of {}", self.kind, x.dtype.name())));
        }
        let kept = x.shape.iter().enumerate().filter(|(axis, _)| !self.axes.contains(axis));
        Ok(x.with_shape(kept.map(|(_, extent)| extent.clone()).collect::<Vec<_>>()))
    }

    /// The value for the values of the operands.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [x] = super::operands("reduce", operands)?;
        let groups = fold::groups(x, &self.axes);
        let elements = groups.iter().map(|group| fold::fold(self.kind, x.dtype, group)).collect();
        Ok(Value { dtype: x.dtype, shape: shape.to_vec(), elements })
    }

    /// The tangent for the tangent of the operand.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        let Some(tangent) = only(tangents)? else { return Ok(None) };
        match self.kind {
            ReduceKind::Sum => site.sum(tangent, &self.axes).map(Some),
            ReduceKind::Prod => self.linearize_prod(site, tangent).map(Some),
            ReduceKind::Max | ReduceKind::Min => self.linearize_extreme(site, tangent).map(Some),
            ReduceKind::Any | ReduceKind::All => Err(Bug::new("autodiff", "a truth value has a tangent")),
        }
    }

    /// The mean of the tangents of those elements that are the extreme: of all NaN, if one is NaN.
    fn linearize_extreme(&self, site: &mut Site, tangent: NodeId) -> Result<NodeId, Bug> {
        let x = site.input(0)?;
        let ty = site.ty(x);
        let extreme = site.restore(site.node, &ty.shape, &self.axes)?;
        let equal = site.ew(Ew::Eq, &[x, extreme])?;
        let nan = site.ew(Ew::IsNan, &[x])?;
        let mask = site.ew(Ew::Or, &[equal, nan])?;
        let ones = site.ew(Ew::Cast(ty.dtype), &[mask])?;
        let mut count = site.sum(ones, &self.axes)?;
        // The extreme of nothing does not depend on anything: 0 / 1, not 0 / 0.
        if !self.never_empty(&site.graph.facts, &ty.shape) {
            let one = site.full(&site.ty(count), 1.0)?;
            count = site.ew(Ew::Maximum, &[count, one])?;
        }
        let kept = site.keep(mask, tangent)?;
        let total = site.sum(kept, &self.axes)?;
        site.ew(Ew::Div, &[total, count])
    }

    fn never_empty(&self, facts: &Facts, shape: &[Dim]) -> bool {
        let one = Dim::constant(1);
        self.axes.iter().all(|axis| match shape[*axis].as_const() {
            Some(extent) => extent > 0,
            None => facts.decide(&shape[*axis], Relation::Ge, &one) == Verdict::Proven,
        })
    }

    /// The sum over `i` of the tangent of element `i` times the product of all other elements.
    ///
    /// The product of the others is that of the elements before times that of those after: no division, so that it
    /// is exact at zeros, and running products are differentiable again, to any order.
    fn linearize_prod(&self, site: &mut Site, tangent: NodeId) -> Result<NodeId, Bug> {
        let (x, tangent) = (self.flatten(site, site.input(0)?)?, self.flatten(site, tangent)?);
        let axis = site.ty(x).rank() - 1;
        let mut running = |reverse| {
            let op = Cumulate { fold: Running::Prod, axis, reverse, exclusive: true };
            site.add(Op::Cumulate(op), &[x])
        };
        let (before, after) = (running(false)?, running(true)?);
        let others = site.ew(Ew::Mul, &[before, after])?;
        let terms = site.ew(Ew::Dmul, &[others, tangent])?;
        site.sum(terms, &[axis])
    }

    /// Moves the axes that are folded away to the end and makes them one.
    fn flatten(&self, site: &mut Site, x: NodeId) -> Result<NodeId, Bug> {
        let shape = site.ty(x).shape;
        let mut order: Vec<usize> = (0..shape.len()).filter(|axis| !self.axes.contains(axis)).collect();
        let mut flat: Vec<Dim> = order.iter().map(|axis| shape[*axis].clone()).collect();
        flat.push(self.axes.iter().fold(Dim::constant(1), |product, axis| &product * &shape[*axis]));
        order.extend(&self.axes);
        let x = site.permute(x, &order)?;
        site.reshape(x, &flat)
    }

    /// The cotangent of the operand of a sum.
    pub fn transpose(
        &self,
        site: &mut Site,
        _linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        if self.kind != ReduceKind::Sum {
            return Err(Bug::new("autodiff", format!("{:?} is not linear", self.kind)));
        }
        let shape = site.ty(site.input(0)?).shape;
        Ok(vec![Some(site.restore(cotangent, &shape, &self.axes)?)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dim::Sym;

    /// What is folded along which axes, the shape of the result, and its elements.
    type Case = (ReduceKind, &'static [usize], &'static [usize], &'static [f64]);

    fn eval(kind: ReduceKind, axes: &[usize], x: &Value, shape: &[usize]) -> Vec<f64> {
        let reduce = Reduce { kind, axes: axes.to_vec() };
        reduce.eval(&Env { dims: &[] }, &[x], shape).unwrap().to_f64()
    }

    #[test]
    fn axes_are_folded_away() {
        let x = Value::floats(DType::F64, &[2, 3], &[1.0, -2.0, 4.0, 3.0, 5.0, 0.5]);
        let cases: [Case; 6] = [
            (ReduceKind::Sum, &[0], &[3], &[4.0, 3.0, 4.5]),
            (ReduceKind::Sum, &[1], &[2], &[3.0, 8.5]),
            (ReduceKind::Prod, &[1], &[2], &[-8.0, 7.5]),
            (ReduceKind::Max, &[0], &[3], &[3.0, 5.0, 4.0]),
            (ReduceKind::Min, &[0, 1], &[], &[-2.0]),
            (ReduceKind::Sum, &[0, 1], &[], &[11.5]),
        ];
        for (kind, axes, shape, expected) in cases {
            assert_eq!(eval(kind, axes, &x, shape), expected, "{kind:?} {axes:?}");
        }
    }

    #[test]
    fn integers_wrap() {
        let x = Value::ints(DType::I32, &[2], &[i32::MAX.into(), 2]);
        assert_eq!(eval(ReduceKind::Sum, &[0], &x, &[]), [f64::from(i32::MIN) + 1.0]);
        assert_eq!(eval(ReduceKind::Prod, &[0], &x, &[]), [-2.0]);
    }

    #[test]
    fn types() {
        let (facts, n) = (Facts::default(), Dim::sym(Sym(0)));
        let x = Type::new(DType::F32, [2.into(), n.clone(), 3.into()]);
        let infer = |kind, axes: &[usize], x: &Type| Reduce { kind, axes: axes.to_vec() }.infer(&facts, &[x]);
        assert_eq!(infer(ReduceKind::Sum, &[0, 2], &x), Ok(Type::new(DType::F32, [n])));
        for (kind, axes) in [
            (ReduceKind::Sum, &[][..]),
            (ReduceKind::Sum, &[3]),
            (ReduceKind::Sum, &[1, 0]),
            (ReduceKind::Any, &[0]),
        ] {
            assert!(infer(kind, axes, &x).is_err(), "{kind:?} {axes:?}");
        }
        assert!(infer(ReduceKind::Max, &[0], &x.with_dtype(DType::Bool)).is_err());
    }
}
