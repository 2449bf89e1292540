//! `jacobian`, `hessian` and their diagonals: directional derivatives along every direction of a basis, stacked.
//!
//! Each is a loop over the directions, whose body holds one derivative; it becomes one tensor computation when that has
//! been taken.

use tensorjit_runtime::abi::{DType, Relation};

use super::call::{Arg, Call};
use super::derive::lacking;
use super::leaves::compound_in;
use super::report::Checked;
use super::scope::Checker;
use super::value::Value;
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::dim::facts::Verdict;
use crate::graph::extract::Extract;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::constant::Constant;
use crate::graph::ops::derivative::Derivative;
use crate::graph::ops::iota::Iota;
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::reshape::Reshape;
use crate::graph::ops::scan::Output;
use crate::graph::step::{Outputs, Part, Step};
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op, Type};

/// `jacobian(y, x)`: its axes are those of `y`, then those of `x`.
pub(super) fn jacobian(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(y), Some(x)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let (y, x) = (checker.float_of(y, call), checker.variables_of(x, call));
    let (y, x) = (y?, x?);
    // The leaves of its type have no axes of `y`.
    if let Some(compound) = compound_in(&x).filter(|_| checker.graph.ty(y).rank() > 0) {
        let found = checker.show_value(&compound.value);
        let message = format!("`{}` of a tensor is by tensors, this is `{found}`", call.name);
        let diagnostic = Diagnostic::new("struct-type", message, x.at);
        return Err(checker.report(diagnostic.help("name its fields, as `(params.w, params.b)`")));
    }
    checker.each_variable(&x, &mut |checker, x| checker.jacobian_of(y, x, call.at))
}

/// `hessian(y, x)`: its axes are those of `x`, twice.
pub(super) fn hessian(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let (y, x) = checker.scalar_and_variable(call)?;
    let ty = checker.graph.ty(x).clone();
    let rows = checker.stacked(&volume(&ty.shape), call.at, &mut |checker, step| {
        let direction = checker.direction(step, &ty, call.at)?;
        checker.add(Op::Derivative(Derivative::Hvp), &[y, x, direction], call.at)
    })?;
    let shape = [&ty.shape[..], &ty.shape].concat();
    Ok(Value::Node(checker.in_shape(rows, shape, call.at)?))
}

/// `jacobian_diagonal(y, x)`: how each element of `y` depends on the element of `x` in its place.
pub(super) fn jacobian_diagonal(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(y), Some(x)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let ((y, y_at), x) = ((checker.float_of(y, call), y.expr.span), checker.one_variable(x, call));
    let (y, x) = (y?, x?);
    let (of_y, of_x) = (checker.graph.ty(y).clone(), checker.graph.ty(x).clone());
    if of_y.dtype != of_x.dtype || !checker.same_shape(&of_y.shape, &of_x.shape) {
        let (y, x) = (checker.show_type(&of_y), checker.show_type(&of_x));
        let message = format!("`{}` is of two tensors of one type, these are {y} and {x}", call.name);
        return checker.fail("shape-mismatch", y_at, message);
    }
    checker.diagonal_of(&of_x, Derivative::Jvp, [y, x], call.at)
}

/// `hessian_diagonal(y, x)`: the second derivatives by each element of `x` alone.
pub(super) fn hessian_diagonal(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let (y, x) = checker.scalar_and_variable(call)?;
    let ty = checker.graph.ty(x).clone();
    checker.diagonal_of(&ty, Derivative::Hvp, [y, x], call.at)
}

fn volume(shape: &[Dim]) -> Dim {
    shape.iter().fold(Dim::constant(1), |product, extent| &product * extent)
}

impl Checker<'_> {
    fn scalar_and_variable(&mut self, call: &Call<'_>) -> Checked<(NodeId, NodeId)> {
        let [Some(y), Some(x)] = call.args.as_slice() else { return Err(lacking(self, call)) };
        let (y, x) = (self.scalar_of(y, call), self.one_variable(x, call));
        Ok((y?, x?))
    }

    /// The one tensor by which second derivatives are taken.
    fn one_variable(&mut self, x: &Arg<'_>, call: &Call<'_>) -> Checked<NodeId> {
        let placed = self.variables_of(x, call)?;
        if let Value::Node(id) = placed.value {
            return Ok(id);
        }
        let message = format!("`{}` is by one tensor", call.name);
        let diagnostic = Diagnostic::new("gradient-target", message, placed.at);
        Err(self
            .report(diagnostic.help("the blocks of several are `jacobian(grad(y, a), b)`, with `let` names")))
    }

    /// Row by row from cotangents of `y`, or column by column from tangents of `x` where those are known to be fewer.
    fn jacobian_of(&mut self, y: NodeId, x: NodeId, at: Origin) -> Checked<NodeId> {
        let (of_y, of_x) = (self.graph.ty(y).clone(), self.graph.ty(x).clone());
        let (rows, columns) = (volume(&of_y.shape), volume(&of_x.shape));
        let shape = [&of_y.shape[..], &of_x.shape].concat();
        if self.graph.facts.decide(&columns, Relation::Lt, &rows) != Verdict::Proven {
            let stacked = self.stacked(&rows, at, &mut |checker, step| {
                let direction = checker.direction(step, &of_y, at)?;
                checker.add(Op::Derivative(Derivative::Vjp), &[y, x, direction], at)
            })?;
            return self.in_shape(stacked, shape, at);
        }
        let stacked = self.stacked(&columns, at, &mut |checker, step| {
            let direction = checker.direction(step, &of_x, at)?;
            checker.add(Op::Derivative(Derivative::Jvp), &[y, x, direction], at)
        })?;
        let turned = [&of_x.shape[..], &of_y.shape].concat();
        let stacked = self.in_shape(stacked, turned, at)?;
        let (outer, inner) = (of_x.rank(), of_y.rank());
        let axes = (outer..outer + inner).chain(0..outer).collect();
        let turned = self.add(Op::Permute(Permute { axes }), &[stacked], at)?;
        // As a gradient it has the element type of `x`, whichever way it is found.
        match of_x.dtype == of_y.dtype {
            true => Ok(turned),
            false => self.add(Op::Elementwise(Ew::Cast(of_x.dtype)), &[turned], at),
        }
    }

    /// The element in the direction's own place of the derivative along every direction.
    fn diagonal_of(
        &mut self,
        ty: &Type,
        derivative: Derivative,
        [y, x]: [NodeId; 2],
        at: Origin,
    ) -> Checked<Value> {
        let stacked = self.stacked(&volume(&ty.shape), at, &mut |checker, step| {
            let direction = checker.direction(step, ty, at)?;
            let along = checker.add(Op::Derivative(derivative), &[y, x, direction], at)?;
            let place = checker.is_place(step, &ty.shape, at)?;
            let none = checker.add(Op::Constant(Constant::number(ty.dtype, 0.0)), &[], at)?;
            let none = checker.add(
                Op::Broadcast(Broadcast { shape: ty.shape.to_vec(), axes: Vec::new() }),
                &[none],
                at,
            )?;
            let kept = checker.add(Op::Elementwise(Ew::Select), &[place, along, none], at)?;
            let axes: Vec<usize> = (0..ty.rank()).collect();
            match axes.is_empty() {
                true => Ok(kept),
                false => checker.add(Op::Reduce(Reduce { kind: ReduceKind::Sum, axes }), &[kept], at),
            }
        })?;
        Ok(Value::Node(self.in_shape(stacked, ty.shape.to_vec(), at)?))
    }

    /// What `each` makes of the numbers below a count, stacked.
    fn stacked(
        &mut self,
        count: &Dim,
        at: Origin,
        each: &mut dyn FnMut(&mut Self, NodeId) -> Checked<NodeId>,
    ) -> Checked<NodeId> {
        let step = self.placeholder("direction", Type::scalar(DType::I64), at)?;
        let result = each(self, step)?;
        let Extract { body, captures } = Extract::depending(&self.graph, &[step], &[result])?;
        let parts: Vec<Part> = [Part::Number].into_iter().chain(captures).collect();
        let step = Step { count, reverse: false, body: &body, parts: &parts, taped: &[] };
        let outputs = Outputs { stacks: &body.outputs, ..Outputs::default() };
        let (op, operands) = step.assemble(&outputs)?;
        let scan = self.add(op, &operands, at)?;
        self.add(Op::Output(Output(0)), &[scan], at)
    }

    /// The direction with the given number: 1 at one place, and 0 elsewhere.
    fn direction(&mut self, number: NodeId, ty: &Type, at: Origin) -> Checked<NodeId> {
        let place = self.is_place(number, &ty.shape, at)?;
        self.add(Op::Elementwise(Ew::Cast(ty.dtype)), &[place], at)
    }

    /// Where the place in row-major order is the given number.
    fn is_place(&mut self, number: NodeId, shape: &[Dim], at: Origin) -> Checked<NodeId> {
        let places = self.add(Op::Iota(Iota { dtype: DType::I64, extent: volume(shape) }), &[], at)?;
        let places = self.in_shape(places, shape.to_vec(), at)?;
        let number = match shape.is_empty() {
            true => number,
            false => {
                let op = Op::Broadcast(Broadcast { shape: shape.to_vec(), axes: Vec::new() });
                self.add(op, &[number], at)?
            }
        };
        self.add(Op::Elementwise(Ew::Eq), &[places, number], at)
    }

    fn in_shape(&mut self, x: NodeId, shape: Vec<Dim>, at: Origin) -> Checked<NodeId> {
        if *self.graph.ty(x).shape == *shape {
            return Ok(x);
        }
        self.add(Op::Reshape(Reshape { shape }), &[x], at)
    }
}
