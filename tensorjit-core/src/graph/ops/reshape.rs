//! The same elements in row-major order under another shape.

use tensorjit_runtime::abi::Relation;

use super::site::Site;
use super::{Source, operands};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::{Facts, Verdict};
use crate::graph::value::{Env, Value};
use crate::graph::{NodeId, Op, Type};

/// The number of elements is the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reshape {
    /// The shape of the result.
    pub shape: Vec<Dim>,
}

/// The number of elements of a shape.
pub fn count(shape: &[Dim]) -> Dim {
    shape.iter().fold(Dim::constant(1), |product, extent| &product * extent)
}

impl Reshape {
    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let [operand] = operands("reshape", inputs)?;
        if !facts.same(&count(&operand.shape), &count(&self.shape)) {
            let (from, to) = (facts.show_shape(&operand.shape), facts.show_shape(&self.shape));
            return Err(Bug::new("graph", format!("reshape: {from} and {to} have not as many elements")));
        }
        Ok(operand.with_shape(self.shape.clone()))
    }

    /// The value of the result.
    pub fn eval(&self, _env: &Env, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
        let [operand] = super::operands("reshape", operands)?;
        if operand.elements.len() != shape.iter().product::<usize>() {
            return Err(Bug::new("interp", format!("reshape: {:?} to {shape:?}", operand.shape)));
        }
        Ok(Value { shape: shape.to_vec(), ..(*operand).clone() })
    }

    /// Where the element at `at` comes from.
    ///
    /// `facts` may know more than the graph's: bounds of loop variables that stand in `at` let quotients vanish.
    pub fn access(&self, facts: &Facts, operands: &[&Type], result: &Type, at: &[Dim]) -> Vec<Source> {
        let extents = operands.first().map_or(&[][..], |ty| &ty.shape);
        vec![Source::always(0, reindex(facts, extents, &result.shape, at))]
    }

    /// The tangent of the result: the operand's under the same shape.
    pub fn linearize(&self, site: &mut Site, tangents: &[Option<NodeId>]) -> Result<Option<NodeId>, Bug> {
        super::apply_linear(Op::Reshape(self.clone()), site, tangents)
    }

    /// The cotangent of the operand: the result's under the operand's shape.
    pub fn transpose(
        &self,
        site: &mut Site,
        _linear: &[bool],
        cotangent: NodeId,
    ) -> Result<Vec<Option<NodeId>>, Bug> {
        let operand = site.ty(site.input(0)?);
        Ok(vec![Some(site.reshape(cotangent, &operand.shape)?)])
    }
}

/// The index into `from` of the element that has the index `at` in `to`, both in row-major order.
///
/// Axes are matched greedily from the innermost: equal ones pass, one that is a multiple of the other is split
/// or merged; only where neither divides is the rest flattened.
fn reindex(facts: &Facts, from: &[Dim], to: &[Dim], at: &[Dim]) -> Vec<Dim> {
    let mut index = vec![Dim::default(); from.len()];
    let (mut to_axes, mut from_axes) = (Parts::new(facts, to, Some(at)), Parts::new(facts, from, None));
    // What the axis `from` has got so far, and the number of its elements that this distinguishes.
    let (mut sum, mut scale) = (Dim::default(), Dim::constant(1));
    while let (Some(have), Some(want)) = (to_axes.current(), from_axes.current()) {
        let (have_extent, want_extent) = (have.extent.clone(), want.extent.clone());
        if facts.same(&have_extent, &want_extent) {
            index[want.axis] = &sum + &(&scale * &have.index);
            (sum, scale) = (Dim::default(), Dim::constant(1));
            to_axes.advance();
            from_axes.advance();
        } else if let Some(rest) = want_extent.exact_quotient(&have_extent) {
            sum = &sum + &(&scale * &have.index);
            scale = &scale * &have_extent;
            to_axes.advance();
            from_axes.shrink(rest, None);
        } else if let Some(rest) = have_extent.exact_quotient(&want_extent) {
            let (quotient, remainder) = divide(facts, &have.index, &want_extent);
            index[want.axis] = &sum + &(&scale * &remainder);
            (sum, scale) = (Dim::default(), Dim::constant(1));
            to_axes.shrink(rest, Some(quotient));
            from_axes.advance();
        } else {
            let mut position = to_axes.flatten();
            while let Some(want) = from_axes.current() {
                let last = from_axes.parts.len() == 1;
                let (quotient, remainder) = divide(facts, &position, &want.extent);
                let part = if last { position } else { remainder };
                index[want.axis] = &sum + &(&scale * &part);
                (sum, scale, position) = (Dim::default(), Dim::constant(1), quotient);
                from_axes.advance();
            }
        }
    }
    // Extents that are equal only by the facts may leave an axis whose outer part has extent one.
    if let Some(want) = from_axes.current() {
        index[want.axis] = sum;
    }
    index
}

/// Quotient and remainder, rounded down; multiples of the divisor are taken out, and nothing is left to divide
/// where the rest is known to be below the divisor.
fn divide(facts: &Facts, value: &Dim, by: &Dim) -> (Dim, Dim) {
    let (mut multiple, mut rest) = (Dim::default(), Dim::default());
    for (monomial, coefficient) in value.terms() {
        let term = Dim::from_terms([(monomial.clone(), *coefficient)]);
        match term.exact_quotient(by) {
            Some(quotient) => multiple = &multiple + &quotient,
            None => rest = &rest + &term,
        }
    }
    let small = facts.decide(&Dim::default(), Relation::Le, &rest) == Verdict::Proven
        && facts.decide(&rest, Relation::Lt, by) == Verdict::Proven;
    if small { (multiple, rest) } else { (&multiple + &rest.floor_div(by), rest.modulo(by)) }
}

/// What is left of a shape's axes, the innermost first.
struct Parts {
    /// Outermost first; axes of extent one are left out.
    parts: Vec<Part>,
}

struct Part {
    axis: usize,
    extent: Dim,
    index: Dim,
}

impl Parts {
    fn new(facts: &Facts, shape: &[Dim], at: Option<&[Dim]>) -> Parts {
        let axes = shape.iter().enumerate().filter(|(_, extent)| !extent.is(1));
        let parts = axes.map(|(axis, extent)| Part {
            axis,
            extent: facts.normalize(extent),
            index: at.map_or_else(Dim::default, |at| at[axis].clone()),
        });
        Parts { parts: parts.collect() }
    }

    fn current(&self) -> Option<&Part> {
        self.parts.last()
    }

    fn advance(&mut self) {
        self.parts.pop();
    }

    /// Leaves of the innermost axis an outer part of `extent`, at `index`.
    fn shrink(&mut self, extent: Dim, index: Option<Dim>) {
        if let Some(part) = self.parts.last_mut() {
            part.extent = extent;
            part.index = index.unwrap_or_default();
        }
    }

    /// The position in row-major order among all that is left, and nothing is left after.
    fn flatten(&mut self) -> Dim {
        self.parts.drain(..).fold(Dim::default(), |position, part| &(&position * &part.extent) + &part.index)
    }
}
