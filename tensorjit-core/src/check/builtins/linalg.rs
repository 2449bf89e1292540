//! Square matrices: factors, systems of equations, inverses and determinants.

use tensorjit_runtime::abi::{DType, Relation};

use super::super::call::{Arg, Call};
use super::super::derive::lacking;
use super::super::report::Checked;
use super::super::scope::Checker;
use super::super::value::{Operand, Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::dim::facts::Verdict;
use crate::graph::ops::cholesky::Cholesky;
use crate::graph::ops::determinant::{Determinant, Part};
use crate::graph::ops::matrix::identity;
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reshape::Reshape;
use crate::graph::ops::site::Site;
use crate::graph::ops::solve::Solve;
use crate::graph::ops::triangular_solve::TriangularSolve;
use crate::graph::{NodeId, Op};

/// `cholesky(a)`.
pub(in super::super) fn cholesky(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(a)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let a = checker.square(a, call)?;
    Ok(Value::Node(checker.add(Op::Cholesky(Cholesky), &[a], call.at)?))
}

/// `triangular_solve(a, b, lower, transposed, unit_diagonal, left)`.
pub(in super::super) fn triangular_solve(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(a), Some(b), lower, transposed, unit, left] = call.args.as_slice() else {
        return Err(lacking(checker, call));
    };
    let mut lower_is = lower.is_none() || checker.flag(lower.as_ref(), "lower")?;
    let transposed = checker.flag(transposed.as_ref(), "transposed")?;
    let unit = checker.flag(unit.as_ref(), "unit_diagonal")?;
    let left = left.is_none() || checker.flag(left.as_ref(), "left")?;
    let System { mut a, mut b, is_vector } = checker.system(a, b, left, call)?;
    // From the right the transposed system is solved.
    if !left {
        b = checker.turned(b, call.at)?;
    }
    if transposed == left {
        a = checker.turned(a, call.at)?;
        lower_is = !lower_is;
    }
    let op = Op::TriangularSolve(TriangularSolve { lower: lower_is, unit });
    let mut x = checker.add(op, &[a, b], call.at)?;
    if !left {
        x = checker.turned(x, call.at)?;
    }
    checker.solution(x, is_vector, left, call.at)
}

/// `solve(a, b)`.
pub(in super::super) fn solve(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(a), Some(b)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let System { a, b, is_vector } = checker.system(a, b, true, call)?;
    let x = checker.add(Op::Solve(Solve { transposed: false }), &[a, b], call.at)?;
    checker.solution(x, is_vector, true, call.at)
}

/// `inverse(a)`.
pub(in super::super) fn inverse(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(a)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let a = checker.square(a, call)?;
    let identity = checker.identities(a, call.at)?;
    let op = Op::Solve(Solve { transposed: false });
    Ok(Value::Node(checker.add(op, &[a, identity], call.at)?))
}

/// `det(a)`.
pub(in super::super) fn det(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(a)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let a = checker.square(a, call)?;
    Ok(Value::Node(checker.add(Op::Determinant(Determinant { part: Part::Whole }), &[a], call.at)?))
}

/// `slogdet(a)`: the sign of the determinant and the logarithm of its absolute value.
pub(in super::super) fn slogdet(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(a)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let a = checker.square(a, call)?;
    let sign = checker.add(Op::Determinant(Determinant { part: Part::Sign }), &[a], call.at)?;
    let size = checker.add(Op::Determinant(Determinant { part: Part::LogSize }), &[a], call.at)?;
    let placed = |node: NodeId| Placed { value: Value::Node(node), at: call.at };
    Ok(Value::Tuple(vec![placed(sign), placed(size)]))
}

/// A matrix and right-hand sides, of one batch.
struct System {
    a: NodeId,
    b: NodeId,
    /// Whether there is one right-hand side, a vector.
    is_vector: bool,
}

impl Checker<'_> {
    /// A tensor of square matrices of floats.
    fn square(&mut self, a: &Arg<'_>, call: &Call<'_>) -> Checked<NodeId> {
        let node = self.typed(&a.value, a.expr.span)?;
        self.require_square(node, a.expr.span, call.name)?;
        Ok(node)
    }

    fn require_square(&mut self, node: NodeId, at: Origin, name: &str) -> Checked<()> {
        let ty = self.graph.ty(node).clone();
        let shown = self.show_type(&ty);
        if !matches!(ty.dtype, DType::F32 | DType::F64) {
            let message = format!("`{name}` takes matrices of f32 or f64, this is {shown}");
            let diagnostic = Diagnostic::new("element-type", message, at);
            return Err(self.report(diagnostic.help("convert the elements first, such as with `as f64`")));
        }
        let Some([rows, columns]) = ty.shape.last_chunk() else {
            let message = format!("`{name}` takes square matrices, this is {shown}");
            return self.fail("rank", at, message);
        };
        let verdict = self.graph.facts.decide(rows, Relation::Eq, columns);
        if verdict == Verdict::Proven {
            return Ok(());
        }
        let message = format!("`{name}` takes square matrices, this is {shown}");
        let mut diagnostic = Diagnostic::new("shape-mismatch", message, at);
        if verdict == Verdict::Open {
            let clause = self.where_clause(rows, Relation::Eq, columns);
            diagnostic = diagnostic.help(format!("if they are always square, say so: `{clause}`"));
        }
        Err(self.report(diagnostic))
    }

    /// The operands of a system of equations, with the axes before the matrices repeated to one shape.
    fn system(&mut self, a: &Arg<'_>, b: &Arg<'_>, left: bool, call: &Call<'_>) -> Checked<System> {
        let (matrix, right) = self.factors(call.name, &a.placed(), &b.placed(), call.at)?;
        self.require_square(matrix, a.expr.span, call.name)?;
        let given = right;
        let mut right = right;
        let mut shape = self.graph.ty(right).shape.to_vec();
        let is_vector = shape.len() == 1;
        if shape.is_empty() {
            let message = format!("`{}` takes vectors and matrices, this is a scalar", call.name);
            return self.fail("rank", b.expr.span, message);
        }
        if is_vector {
            shape.insert(usize::from(left), Dim::constant(1));
            right = self.add(Op::Reshape(Reshape { shape: shape.clone() }), &[right], call.at)?;
        }
        let of_a = self.graph.ty(matrix).shape.to_vec();
        let (n, before) = (of_a[of_a.len() - 1].clone(), &of_a[..of_a.len() - 2]);
        let unknowns = &shape[shape.len() - if left { 2 } else { 1 }];
        self.require_unknowns(&n, unknowns, (matrix, a.expr.span), (given, b.expr.span), call)?;
        let batch = self.batch_shape(
            call.name,
            before,
            &shape[..shape.len() - 2],
            (matrix, a.expr.span),
            (given, b.expr.span),
            call.at,
        )?;
        let all = |last: &[Dim]| [&batch[..], last].concat();
        let (of_a, of_b) = (all(&of_a[of_a.len() - 2..]), all(&shape[shape.len() - 2..]));
        let a = self.expand(Operand::Node(matrix), &of_a, call.at)?.value();
        let b = self.expand(Operand::Node(right), &of_b, call.at)?.value();
        Ok(System { a: self.typed(&a, call.at)?, b: self.typed(&b, call.at)?, is_vector })
    }

    /// Demands as many right-hand elements as there are unknowns.
    fn require_unknowns(
        &mut self,
        n: &Dim,
        found: &Dim,
        a: (NodeId, Origin),
        b: (NodeId, Origin),
        call: &Call<'_>,
    ) -> Checked<()> {
        let verdict = self.graph.facts.decide(n, Relation::Eq, found);
        if verdict == Verdict::Proven {
            return Ok(());
        }
        let (count, other) = (self.show(n), self.show(found));
        let message = format!("`{}` is of {count} unknowns, and the right-hand side has {other}", call.name);
        let mut diagnostic = Diagnostic::new("shape-mismatch", message, call.at)
            .label(a.1, format!("this is {}", self.show_type(self.graph.ty(a.0))))
            .label(b.1, format!("this is {}", self.show_type(self.graph.ty(b.0))));
        if verdict == Verdict::Open {
            let clause = self.where_clause(n, Relation::Eq, found);
            diagnostic = diagnostic.help(format!("if they are always equal, say so: `{clause}`"));
        }
        Err(self.report(diagnostic))
    }

    /// Matrices with their axes exchanged.
    fn turned(&mut self, x: NodeId, at: Origin) -> Checked<NodeId> {
        let rank = self.graph.ty(x).rank();
        self.add(Op::Permute(Permute::transposing(rank)), &[x], at)
    }

    /// A solution, as a vector where the right-hand side was one: a column on the left, a row on the right.
    fn solution(&mut self, x: NodeId, is_vector: bool, left: bool, at: Origin) -> Checked<Value> {
        if !is_vector {
            return Ok(Value::Node(x));
        }
        let mut shape = self.graph.ty(x).shape.to_vec();
        let unit = shape.len() - if left { 1 } else { 2 };
        shape.remove(unit);
        Ok(Value::Node(self.add(Op::Reshape(Reshape { shape }), &[x], at)?))
    }

    /// Identity matrices like the given ones.
    fn identities(&mut self, a: NodeId, at: Origin) -> Checked<NodeId> {
        let ty = self.graph.ty(a).clone();
        Ok(identity(&mut Site { graph: &mut self.graph, node: a, inputs: &[], origin: at }, &ty)?)
    }
}
