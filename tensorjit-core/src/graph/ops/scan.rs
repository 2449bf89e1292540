//! A sub-graph run again and again: with carried values, over slices of tensors, stacking what each step gives.
//!
//! The one operator with several results.  A node of it has no value of its own; [`Output`] nodes take its results.
//! What a loop in the language is follows from the attributes: a fold stacks nothing, a `while` is conditional.

use std::sync::Arc;

use tensorjit_runtime::abi::DType;

use crate::diag::Bug;
use crate::dim::Dim;
use crate::dim::facts::Facts;
use crate::graph::{Graph, Type};

/// Operands: the first values of the carries, the tensors that are sliced along their first axis, and captures; where
/// [`Scan::counted`], last the number of steps.
///
/// The body takes the carries, the slices, the captures and the number of the step, an `i64`.  It gives the next
/// carries, then what is stacked; where [`Scan::conditional`], last whether the step is taken at all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scan {
    /// One step; its symbols are those of the outer graph.
    pub body: Arc<Graph>,
    /// The number of steps, and the extent of the first axis of slices and stacks.
    pub count: Dim,
    /// How many carries.
    pub carries: usize,
    /// How many tensors are sliced.
    pub slices: usize,
    /// Whether the last step comes first; slices and stacks stay where they are.
    pub reverse: bool,
    /// Whether the loop ends before the first step whose condition does not hold.  The number of steps taken is
    /// then one more result, an `i64`, and what later steps would stack is not defined.
    pub conditional: bool,
    /// Whether an operand says how many of the steps, the first ones, are taken; it is at most `count`.
    pub counted: bool,
}

/// A result of a [`Scan`]: the last carries, then the stacks, then the number of steps where it is conditional.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Output(pub usize);

impl Scan {
    /// The number of stacked results.
    pub fn stacks(&self) -> usize {
        self.body.outputs.len() - self.carries - usize::from(self.conditional)
    }

    /// The number of results.
    pub fn results(&self) -> usize {
        self.body.outputs.len()
    }

    /// A node of it has no value; its type stands for that.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let bug = |what: String| Err(Bug::new("graph", format!("scan: {what}")));
        let operands = &inputs[..inputs.len().saturating_sub(usize::from(self.counted))];
        if operands.len() + 1 != self.body.inputs.len() || operands.len() < self.carries + self.slices {
            return bug(format!("{} operands for {} inputs", inputs.len(), self.body.inputs.len()));
        }
        if self.counted && inputs.last().is_none_or(|ty| **ty != index()) {
            return bug("the number of steps is not an i64".to_owned());
        }
        let least = self.carries + usize::from(self.conditional);
        if self.body.outputs.len() < least || self.conditional && (self.counted || self.reverse) {
            return bug(format!("the body has {} outputs", self.body.outputs.len()));
        }
        for (position, (given, input)) in operands.iter().zip(&self.body.inputs).enumerate() {
            let sliced = (self.carries..self.carries + self.slices).contains(&position);
            let expected = if sliced { self.stacked(&input.ty) } else { input.ty.clone() };
            if !expected.fits(facts, given) {
                return bug(format!("`{}` is {given:?}, not {expected:?}", input.name));
            }
        }
        for (carry, output) in self.body.inputs[..self.carries].iter().zip(&self.body.outputs) {
            let next = self.body.ty(*output);
            if !carry.ty.fits(facts, next) {
                return bug(format!("the carry `{}` becomes {next:?}", carry.name));
            }
        }
        Ok(Type::new(DType::Bool, []))
    }

    /// The type of result `position`.
    pub fn result(&self, position: usize) -> Result<Type, Bug> {
        let lost = || Bug::new("graph", format!("scan: there is no result {position}"));
        let output = *self.body.outputs.get(position).ok_or_else(lost)?;
        Ok(match position.checked_sub(self.carries) {
            None => self.body.inputs[position].ty.clone(),
            Some(stack) if stack < self.stacks() => self.stacked(self.body.ty(output)),
            Some(_) => index(),
        })
    }

    fn stacked(&self, ty: &Type) -> Type {
        let shape: Vec<Dim> = std::iter::once(&self.count).chain(&ty.shape).cloned().collect();
        ty.with_shape(shape)
    }
}

/// The type of numbers of steps.
fn index() -> Type {
    Type::new(DType::I64, [])
}
