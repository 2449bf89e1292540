//! Functions whose derivative is given by a rule of their own, `#[vjp(..)]` or `#[jvp(..)]`.
//!
//! Both operators here have several results, which [`Output`](super::scan::Output) nodes take, and live until the
//! autodiff stage is done.

use std::sync::Arc;

use tensorjit_runtime::abi::DType;

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::{Graph, Type};

/// Operands: the results of the function as its body computes them, the arguments by which it is differentiated, and
/// captures.
///
/// `Op::Custom` gives the results, whose derivative is that of the rule.  `Op::CustomTangent` has tangents in the
/// place of the arguments and gives those of the results; it stands for a rule in reverse direction, and can only be
/// transposed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Custom {
    /// The function, for errors.
    pub name: String,
    /// Whether the rule gives cotangents of the arguments for those of the results; otherwise tangents of the results
    /// for those of the arguments.
    pub reverse: bool,
    /// How many results there are.
    pub results: usize,
    /// How many arguments.
    pub arguments: usize,
    /// Takes the results, then their cotangents or the tangents of the arguments, then the captures.
    pub rule: Arc<Graph>,
}

impl Custom {
    /// The arguments, or tangents, among the operands, one of which there is for each node.
    pub fn arguments<'o, T>(&self, operands: &'o [T]) -> &'o [T] {
        &operands[self.results..self.results + self.arguments]
    }

    /// The operands after the arguments.
    pub fn captures<'o, T>(&self, operands: &'o [T]) -> &'o [T] {
        &operands[self.results + self.arguments..]
    }

    /// A node of it has no value; its type stands for that.
    pub fn infer(&self, facts: &Facts, operands: &[&Type]) -> Result<Type, Bug> {
        let bug = |what: &str| Err(Bug::new("graph", format!("the rule of {}: {what}", self.name)));
        let (given, found) = match self.reverse {
            true => (self.results, self.arguments),
            false => (self.arguments, self.results),
        };
        if operands.len() < self.results + self.arguments
            || self.rule.inputs.len() + self.arguments != operands.len() + given
            || self.rule.outputs.len() != found
        {
            return bug("the number of operands");
        }
        let (results, arguments) = (&operands[..self.results], self.arguments(operands));
        let (given, found) = if self.reverse { (results, arguments) } else { (arguments, results) };
        let expected = results.iter().chain(given).chain(self.captures(operands));
        let fits = |(expected, input): (&&Type, &Type)| expected.fits(facts, input);
        let outputs = self.rule.outputs.iter().map(|output| self.rule.ty(*output));
        match expected.zip(self.rule.inputs.iter().map(|input| &input.ty)).all(fits)
            && found.iter().zip(outputs).all(fits)
        {
            true => Ok(Type::new(DType::Bool, [])),
            false => bug("the types of its operands"),
        }
    }
}
