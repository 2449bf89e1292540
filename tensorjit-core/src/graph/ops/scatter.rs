//! A tensor with elements changed at computed places: the transpose of a gather, and more.

use super::fold;
use super::gather::Gather;
use super::indexing::Indexing;
use super::iota::Iota;
use super::reduce::{Reduce, ReduceKind};
use super::site::Site;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::ops::dim_value::DimValue;
use crate::graph::table::Ew;
use crate::graph::value::{Element, Env, Index, Value, flat};
use crate::graph::{NodeId, Op, Type};
use tensorjit_runtime::abi::DType;

/// Operands are the base, the indices, and the updates, shaped as what a gather from the base gives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scatter {
    /// Which elements.
    pub indexing: Indexing,
    /// What becomes of an element and its updates.
    pub combine: Combine,
}

/// What becomes of an element and its updates, in row-major order of the updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Combine {
    /// The last update, where there is one.
    Set,
    /// The sum with all updates.
    Add,
    /// The product with all updates.
    Mul,
    /// The greatest, NaN winning.
    Max,
    /// The least, NaN winning.
    Min,
}

impl Combine {
    /// The name in the textual form.
    pub fn name(self) -> &'static str {
        match self {
            Combine::Set => "set",
            Combine::Add => "add",
            Combine::Mul => "mul",
            Combine::Max => "max",
            Combine::Min => "min",
        }
    }

    /// The elementwise function of the element so far and the update; none where the update takes its place.
    pub fn function(self) -> Option<Ew> {
        match self {
            Combine::Set => None,
            Combine::Add => Some(Ew::Add),
            Combine::Mul => Some(Ew::Mul),
            Combine::Max => Some(Ew::Maximum),
            Combine::Min => Some(Ew::Minimum),
        }
    }

    fn fold(self, dtype: DType, elements: &[Element]) -> Option<Element> {
        match self {
            Combine::Set => elements.last().copied(),
            Combine::Add => Some(fold::sum(dtype, elements)),
            Combine::Mul => Some(fold::prod(dtype, elements)),
            Combine::Max => Some(fold::fold(ReduceKind::Max, dtype, elements)),
            Combine::Min => Some(fold::fold(ReduceKind::Min, dtype, elements)),
        }
    }
}

impl Scatter {
    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [base, indices @ .., updates] = inputs else {
            return Err(Bug::new("graph", "scatter into nothing"));
        };
        let shape = self.indexing.infer(facts, base, indices)?;
        let fits = shape.len() == updates.rank()
            && shape.iter().zip(&updates.shape).all(|(a, b)| facts.same(a, b))
            && base.dtype == updates.dtype
            && (base.dtype != DType::Bool || self.combine == Combine::Set);
        let windows = self.indexing.axes.iter().any(|indexed| indexed.window.is_some());
        if !fits || windows && !matches!(self.combine, Combine::Set | Combine::Add) {
            return Err(Bug::new("graph", format!("scatter of {updates:?} into {base:?} by {self:?}")));
        }
        Ok((*base).clone())
    }

    /// The value for the values of the operands.
    pub fn eval(&self, env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [base, indices @ .., updates] = operands else {
            return Err(Bug::new("interp", "scatter into nothing"));
        };
        let mut terms: Vec<Vec<Element>> = base.elements.iter().map(|element| vec![*element]).collect();
        let mut walk = Index::new(&updates.shape);
        // An index that a kernel may compute otherwise makes every element unsure.
        let mut unsure = 0.0_f64;
        while let Some(index) = walk.next() {
            let (place, error) = self.indexing.place(env, indices, shape, index)?;
            terms[flat(shape, &place)].push(updates.at(index));
            unsure = unsure.max(error);
        }
        let mut elements = Vec::with_capacity(terms.len());
        for terms in terms {
            let found = match terms.as_slice() {
                [one] => *one,
                terms => match self.combine.fold(base.dtype, terms) {
                    Some(found) => found,
                    None => return Err(Bug::new("interp", "an element of a scatter has no base")),
                },
            };
            elements.push(Element { error: found.error.max(unsure), ..found });
        }
        Ok(Value { dtype: base.dtype, shape: shape.to_vec(), elements })
    }

    /// The tangent for the tangents of the base and the updates.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        let [base, .., updates] = tangents else { return Err(Bug::new("autodiff", "scatter into nothing")) };
        if base.is_none() && updates.is_none() {
            return Ok(None);
        }
        match self.combine {
            Combine::Set | Combine::Add => self.of_both(site, *base, *updates).map(Some),
            Combine::Mul => self.of_product(site, *base, *updates),
            Combine::Max | Combine::Min => self.of_extreme(site, *base, *updates).map(Some),
        }
    }

    /// The same scatter of the tangents, zeros standing for those that are none.
    fn of_both(&self, site: &mut Site, base: Option<NodeId>, updates: Option<NodeId>) -> Result<NodeId, Bug> {
        let mut filled = [base, updates];
        for (tangent, operand) in filled.iter_mut().zip([0, site.inputs.len() - 1]) {
            if tangent.is_none() {
                let ty = site.ty(site.input(operand)?);
                *tangent = Some(site.zeros(&ty)?);
            }
        }
        let [base, updates] = filled.map(|tangent| tangent.unwrap_or(site.node));
        self.scatter(site, self.combine, base, updates)
    }

    /// A scatter to the same places.
    fn scatter(
        &self,
        site: &mut Site,
        combine: Combine,
        base: NodeId,
        updates: NodeId,
    ) -> Result<NodeId, Bug> {
        let inputs = [&[base], indices(site), &[updates]].concat();
        site.add(Op::Scatter(Scatter { combine, indexing: self.indexing.clone() }), &inputs)
    }

    /// The elements at the same places.
    fn gather(&self, site: &mut Site, source: NodeId) -> Result<NodeId, Bug> {
        let inputs = [&[source], indices(site)].concat();
        site.add(Op::Gather(Gather { indexing: self.indexing.clone() }), &inputs)
    }

    /// The mean of the tangents of those that are the extreme: of all NaN, if one is NaN.
    fn of_extreme(
        &self,
        site: &mut Site,
        base: Option<NodeId>,
        updates: Option<NodeId>,
    ) -> Result<NodeId, Bug> {
        let (x, u) = (site.input(0)?, site.input(site.inputs.len() - 1)?);
        let extreme = self.gather(site, site.node)?;
        let mut counted = [x, u];
        let mut kept = [base, updates];
        for ((value, tangent), best) in counted.iter_mut().zip(&mut kept).zip([site.node, extreme]) {
            let equal = site.ew(Ew::Eq, &[*value, best])?;
            let nan = site.ew(Ew::IsNan, &[*value])?;
            let mask = site.ew(Ew::Or, &[equal, nan])?;
            if let Some(one) = tangent {
                *tangent = Some(site.keep(mask, *one)?);
            }
            let dtype = site.ty(*value).dtype;
            *value = site.ew(Ew::Cast(dtype), &[mask])?;
        }
        let [ones, more] = counted;
        let count = self.scatter(site, Combine::Add, ones, more)?;
        let add = Scatter { combine: Combine::Add, indexing: self.indexing.clone() };
        let total = add.of_both(site, kept[0], kept[1])?;
        site.ew(Ew::Div, &[total, count])
    }

    /// The tangents times the products of all others, which are products again: no division, so that it is exact at
    /// zeros, and differentiable by the same rule, to any order.
    fn of_product(
        &self,
        site: &mut Site,
        base: Option<NodeId>,
        updates: Option<NodeId>,
    ) -> Result<Option<NodeId>, Bug> {
        let (x, u) = (site.input(0)?, site.input(site.inputs.len() - 1)?);
        let mut tangent = None;
        if let Some(base) = base {
            let ty = site.ty(x);
            let ones = site.full(&ty, 1.0)?;
            let factors = self.scatter(site, Combine::Mul, ones, u)?;
            tangent = Some(site.ew(Ew::Dmul, &[factors, base])?);
        }
        if let Some(updates) = updates {
            let others = self.others(site, u)?;
            let first = self.gather(site, x)?;
            let factors = site.ew(Ew::Mul, &[first, others])?;
            let step = site.ew(Ew::Dmul, &[factors, updates])?;
            let zeros = site.zeros(&site.ty(x))?;
            let part = self.scatter(site, Combine::Add, zeros, step)?;
            tangent = site.plus(tangent, Some(part))?;
        }
        Ok(tangent)
    }

    /// For each update the product of all others of its place, at a cost that grows with the square of their number.
    fn others(&self, site: &mut Site, updates: NodeId) -> Result<NodeId, Bug> {
        let ty = site.ty(updates);
        let index_shape = site.ty(site.input(1)?).shape;
        let (at, rank) = (self.indexing.at, index_shape.len());
        let count = index_shape.iter().fold(Dim::constant(1), |count, extent| &count * extent);
        // The axes of the indices go last and become one.
        let order: Vec<usize> = (0..ty.rank()).filter(|axis| !(at..at + rank).contains(axis)).collect();
        let mut flat: Vec<Dim> = order.iter().map(|axis| ty.shape[*axis].clone()).collect();
        flat.push(count.clone());
        let moved: Vec<usize> = order.iter().copied().chain(at..at + rank).collect();
        let permuted = site.permute(updates, &moved)?;
        let permuted_shape = site.ty(permuted).shape;
        let factors = site.reshape(permuted, &flat)?;
        let last = flat.len() - 1;
        let square: Vec<Dim> = flat.iter().cloned().chain([count.clone()]).collect();
        // Axis `last` of the square counts the update that is left out, axis `last + 1` the factors.
        let number = site.add(Op::Iota(Iota { dtype: DType::I64, extent: count.clone() }), &[])?;
        let mut same = None;
        for place in self.places(site, &index_shape)? {
            let place = site.reshape(place, std::slice::from_ref(&count))?;
            let (a, b) =
                (site.broadcast(place, &square, &[last])?, site.broadcast(place, &square, &[last + 1])?);
            let equal = site.ew(Ew::Eq, &[a, b])?;
            same = Some(match same {
                Some(same) => site.ew(Ew::And, &[same, equal])?,
                None => equal,
            });
        }
        let (a, b) =
            (site.broadcast(number, &square, &[last])?, site.broadcast(number, &square, &[last + 1])?);
        let mut other = site.ew(Ew::Ne, &[a, b])?;
        if let Some(same) = same {
            other = site.ew(Ew::And, &[other, same])?;
        }
        let factors = site.restore(factors, &square, &[last])?;
        let ones = site.full(&ty.with_shape(square), 1.0)?;
        let chosen = site.ew(Ew::Select, &[other, factors, ones])?;
        let product = Reduce { kind: ReduceKind::Prod, axes: vec![last + 1] };
        let products = site.add(Op::Reduce(product), &[chosen])?;
        let products = site.reshape(products, &permuted_shape)?;
        let mut back = vec![0; moved.len()];
        moved.iter().enumerate().for_each(|(i, axis)| back[*axis] = i);
        site.permute(products, &back)
    }

    /// What tells the places of two indices apart: the clamped indices, and where they stand along batch axes.
    fn places(&self, site: &mut Site, index_shape: &[Dim]) -> Result<Vec<NodeId>, Bug> {
        let shape = site.ty(site.input(0)?).shape;
        let mut places = Vec::new();
        for (position, indexed) in self.indexing.axes.iter().enumerate() {
            let ty = Type::new(DType::I64, index_shape);
            let last = &shape[indexed.axis] - &Dim::constant(1);
            let last = site.add(Op::DimValue(DimValue(last)), &[])?;
            let last = site.broadcast(last, index_shape, &[])?;
            let first = site.zeros(&ty)?;
            let index = site.input(1 + position)?;
            places.push(site.ew(Ew::Clip, &[index, first, last])?);
        }
        for (_, axis) in &self.indexing.batch {
            let iota = Op::Iota(Iota { dtype: DType::I64, extent: index_shape[*axis].clone() });
            let number = site.add(iota, &[])?;
            places.push(site.broadcast(number, index_shape, &[*axis])?);
        }
        Ok(places)
    }

    /// The cotangents of the base and the updates, where it is linear in them.
    pub fn transpose(
        &self,
        site: &mut Site,
        linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let last = linear.len() - 1;
        let mut found = vec![None; linear.len()];
        match self.combine {
            Combine::Add => {
                found[0] = linear[0].then_some(cotangent);
                if linear[last] {
                    found[last] = Some(self.gather(site, cotangent)?);
                }
            }
            Combine::Set => {
                if linear[0] {
                    let zeros = site.zeros(&site.ty(site.input(last)?))?;
                    found[0] = Some(self.scatter(site, Combine::Set, cotangent, zeros)?);
                }
                if linear[last] {
                    let winners = self.winners(site)?;
                    let taken = self.gather(site, cotangent)?;
                    found[last] = Some(site.keep(winners, taken)?);
                }
            }
            _ => return Err(Bug::new("autodiff", format!("{self:?} is not linear"))),
        }
        Ok(found)
    }

    /// Which updates are the last of their place.
    fn winners(&self, site: &mut Site) -> Result<NodeId, Bug> {
        let updates = site.ty(site.input(site.inputs.len() - 1)?).with_dtype(DType::I64);
        let base = site.ty(site.input(0)?).with_dtype(DType::I64);
        let index_shape = site.ty(site.input(1)?).shape;
        let count = index_shape.iter().fold(Dim::constant(1), |count, extent| &count * extent);
        let number = site.add(Op::Iota(Iota { dtype: DType::I64, extent: count }), &[])?;
        let number = site.reshape(number, &index_shape)?;
        let axes: Vec<usize> = (self.indexing.at..self.indexing.at + index_shape.len()).collect();
        let number = site.broadcast(number, &updates.shape, &axes)?;
        let nobody = site.zeros(&base)?;
        let last = self.scatter(site, Combine::Set, nobody, number)?;
        let last = self.gather(site, last)?;
        site.ew(Ew::Eq, &[last, number])
    }
}

/// The operands that are indices.
fn indices<'s>(site: &Site<'s>) -> &'s [NodeId] {
    &site.inputs[1..site.inputs.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dim::Sym;

    fn apply(
        combine: Combine,
        indexing: Indexing,
        base: &Value,
        indices: &[&Value],
        updates: &Value,
    ) -> Vec<f64> {
        let operands = [&[base], indices, &[updates]].concat();
        Scatter { combine, indexing }.eval(&Env { dims: &[] }, &operands, &base.shape).unwrap().to_f64()
    }

    #[test]
    fn updates_of_one_place_are_combined_in_order_and_indices_clamped() {
        let base = Value::floats(DType::F64, &[4], &[10.0, 20.0, 30.0, 40.0]);
        let indices = Value::ints(DType::I64, &[5], &[0, 2, 2, -7, 9]);
        let updates = Value::floats(DType::F64, &[5], &[1.0, 2.0, 50.0, 4.0, 5.0]);
        let cases = [
            (Combine::Set, [4.0, 20.0, 50.0, 5.0]),
            (Combine::Add, [15.0, 20.0, 82.0, 45.0]),
            (Combine::Mul, [40.0, 20.0, 3000.0, 200.0]),
            (Combine::Max, [10.0, 20.0, 50.0, 40.0]),
            (Combine::Min, [1.0, 20.0, 2.0, 5.0]),
        ];
        for (combine, expected) in cases {
            assert_eq!(
                apply(combine, Indexing::one(0), &base, &[&indices], &updates),
                expected,
                "{combine:?}"
            );
        }
    }

    #[test]
    fn batch_axes_go_along_and_windows_stay_inside() {
        let base = Value::floats(DType::F64, &[2, 3], &[0.0; 6]);
        let indices = Value::ints(DType::I64, &[2, 2], &[0, 2, 1, 1]);
        let updates = Value::floats(DType::F64, &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let found = apply(Combine::Add, Indexing::along(1, 2), &base, &[&indices], &updates);
        assert_eq!(found, [1.0, 0.0, 2.0, 0.0, 7.0, 0.0]);

        let mut window = Indexing::one(0);
        window.axes[0].window = Some(Dim::constant(2));
        window.at = 0;
        let base = Value::floats(DType::F64, &[4], &[1.0, 2.0, 3.0, 4.0]);
        let start = Value::ints(DType::I64, &[], &[3]);
        let updates = Value::floats(DType::F64, &[2], &[8.0, 9.0]);
        assert_eq!(apply(Combine::Set, window, &base, &[&start], &updates), [1.0, 2.0, 8.0, 9.0]);
    }

    #[test]
    fn types() {
        let (n, m) = (Dim::sym(Sym(0)), Dim::sym(Sym(1)));
        let op = |combine| Scatter { combine, indexing: Indexing::one(0) };
        let base = Type::new(DType::F32, [m.clone(), 2.into()]);
        let indices = Type::new(DType::I64, [n.clone()]);
        let updates = Type::new(DType::F32, [n, 2.into()]);
        let infer = |base: &Type, indices: &Type, updates: &Type| {
            op(Combine::Add).infer(&Facts::default(), &[base, indices, updates])
        };
        assert_eq!(infer(&base, &indices, &updates), Ok(base.clone()));
        assert!(infer(&base, &indices.with_dtype(DType::I32), &updates).is_err());
        assert!(infer(&base, &indices.with_shape([m]), &updates).is_err());
        assert!(infer(&base.with_dtype(DType::F64), &indices, &updates).is_err());
        let bools = [&base.with_dtype(DType::Bool), &indices, &updates.with_dtype(DType::Bool)];
        assert!(op(Combine::Max).infer(&Facts::default(), &bools).is_err());
        assert!(op(Combine::Set).infer(&Facts::default(), &bools).is_ok());
    }
}
