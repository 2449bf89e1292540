//! Products of matrices and vectors.

use tensorjit_runtime::abi::{DType, Relation};

use super::super::call::Call;
use super::super::derive::lacking;
use super::super::report::Checked;
use super::super::scope::Checker;
use super::super::value::{Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::dim::facts::Verdict;
use crate::graph::ops::contract::Contract;
use crate::graph::ops::permute::Permute;
use crate::graph::ops::reshape::Reshape;
use crate::graph::table::Ew;
use crate::graph::{NodeId, Op};

/// `matmul(a, b)`.
pub(in super::super) fn matmul(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(a), Some(b)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    checker.product("matmul", a.placed(), b.placed(), call.at)
}

/// `dot(a, b)`: over the last axis of `a` and the last but one of `b`, which keeps all others.
pub(in super::super) fn dot(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(a), Some(b)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let (a, b) = (a.placed(), b.placed());
    let (left, right) = checker.factors("dot", &a, &b, call.at)?;
    let (rank, other) = (checker.graph.ty(left).rank(), checker.graph.ty(right).rank());
    if rank == 0 || other == 0 {
        return checker.elementwise(Ew::Mul, "dot", vec![a, b], call.at);
    }
    let pair = (rank - 1, other.saturating_sub(2));
    checker.require_inner("dot", (left, a.at), (right, b.at), pair, call.at)?;
    let op = Op::Contract(Contract { batch: Vec::new(), sum: vec![pair] });
    Ok(Value::Node(checker.add(op, &[left, right], call.at)?))
}

/// A factor without those batch axes of extent 1 that the other factor repeats.
struct Factor {
    node: NodeId,
    /// For each axis of the batch of the result: the axis of the factor, where it has one.
    batch: Vec<Option<usize>>,
}

impl Checker<'_> {
    /// `left @ right`.
    pub(in super::super) fn matmul(&mut self, left: Placed, right: Placed, at: Origin) -> Checked<Value> {
        self.product("@", left, right, at)
    }

    /// The product by the rules of NumPy's `matmul`: the last two axes are matrices, a vector is a row on the
    /// left and a column on the right, and all axes before broadcast.
    fn product(&mut self, text: &str, a: Placed, b: Placed, at: Origin) -> Checked<Value> {
        let (left, right) = self.factors(text, &a, &b, at)?;
        let (x, y) = (self.graph.ty(left).shape.clone(), self.graph.ty(right).shape.clone());
        if x.is_empty() || y.is_empty() {
            let scalar = if x.is_empty() { a.at } else { b.at };
            let diagnostic = Diagnostic::new(
                "rank",
                format!("`{text}` takes vectors and matrices, this is a scalar"),
                scalar,
            );
            return Err(self.report(diagnostic.help("multiply by a scalar with `*`")));
        }
        let pair = (x.len() - 1, y.len().saturating_sub(2));
        self.require_inner(text, (left, a.at), (right, b.at), pair, at)?;
        let (before, after) = (&x[..x.len().saturating_sub(2)], &y[..y.len().saturating_sub(2)]);
        let batch = self.batch_shape(text, before, after, (left, a.at), (right, b.at), at)?;
        let a = self.factor(left, before.len(), &after_of(&batch, after), &batch, a.at)?;
        let b = self.factor(right, after.len(), &after_of(&batch, before), &batch, b.at)?;
        let shared: Vec<usize> =
            (0..batch.len()).filter(|axis| a.batch[*axis].is_some() && b.batch[*axis].is_some()).collect();
        let paired = shared.iter().filter_map(|axis| a.batch[*axis].zip(b.batch[*axis])).collect();
        let (rank, other) = (self.graph.ty(a.node).rank(), self.graph.ty(b.node).rank());
        let sum = vec![(rank - 1, other.saturating_sub(2))];
        let op = Op::Contract(Contract { batch: paired, sum });
        let product = self.add(op, &[a.node, b.node], at)?;
        self.batch_first(product, &a, &b, &shared, at).map(Value::Node)
    }

    /// Both factors with one element type, numbers.
    pub(super) fn factors(
        &mut self,
        text: &str,
        a: &Placed,
        b: &Placed,
        at: Origin,
    ) -> Checked<(NodeId, NodeId)> {
        let (left, right) = (self.operand(&a.value, a.at), self.operand(&b.value, b.at));
        let operands = [(left?, a.at), (right?, b.at)];
        let found = self.unify(text, &operands, at)?;
        if found.is_some_and(|found| found.dtype == DType::Bool) {
            let diagnostic =
                Diagnostic::new("element-type", format!("`{text}` takes numbers, not `bool`"), at);
            return Err(self.report(diagnostic.help("convert the bools first, such as with `as f32`")));
        }
        let [(left, left_at), (right, right_at)] = operands;
        let left = self.settled(left, found)?.value();
        let right = self.settled(right, found)?.value();
        Ok((self.typed(&left, left_at)?, self.typed(&right, right_at)?))
    }

    /// Demands that the axes that are summed over have one extent.
    fn require_inner(
        &mut self,
        text: &str,
        left: (NodeId, Origin),
        right: (NodeId, Origin),
        pair: (usize, usize),
        at: Origin,
    ) -> Checked<()> {
        let (a, b) = (self.graph.ty(left.0).clone(), self.graph.ty(right.0).clone());
        let (m, n) = (&a.shape[pair.0], &b.shape[pair.1]);
        let verdict = self.graph.facts.decide(m, Relation::Eq, n);
        if verdict == Verdict::Proven {
            return Ok(());
        }
        let message = format!(
            "`{text}` sums over axis {} of the left and axis {} of the right, which are {} and {}",
            pair.0,
            pair.1,
            self.show(m),
            self.show(n)
        );
        let diagnostic = Diagnostic::new("shape-mismatch", message, at)
            .label(left.1, format!("this is {}", self.show_type(&a)))
            .label(right.1, format!("this is {}", self.show_type(&b)));
        let help = if verdict == Verdict::Open {
            let clause = self.where_clause(m, Relation::Eq, n);
            Some(format!("if they are always equal, say so: `{clause}`"))
        } else {
            self.transpose_help(&a.shape, &b.shape)
        };
        Err(self.report(match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }))
    }

    /// Which factor fits when it is transposed.
    fn transpose_help(&self, a: &[Dim], b: &[Dim]) -> Option<String> {
        let ([m, k], [l, n]) = (a, b) else { return None };
        let facts = &self.graph.facts;
        if facts.same(k, n) {
            Some("the right one fits when it is transposed: `transpose(..)`".to_owned())
        } else if facts.same(m, l) {
            Some("the left one fits when it is transposed: `transpose(..)`".to_owned())
        } else {
            None
        }
    }

    pub(super) fn batch_shape(
        &mut self,
        text: &str,
        before: &[Dim],
        after: &[Dim],
        left: (NodeId, Origin),
        right: (NodeId, Origin),
        at: Origin,
    ) -> Checked<Vec<Dim>> {
        if let Ok(joined) = self.join_shapes(before, after) {
            return Ok(joined);
        }
        let shapes = format!("{} and {}", self.show_shape(before), self.show_shape(after));
        let message = format!("the axes before the matrices of `{text}` do not fit: {shapes}");
        let diagnostic = Diagnostic::new("shape-mismatch", message, at)
            .label(left.1, format!("this is {}", self.show_type(self.graph.ty(left.0))))
            .label(right.1, format!("this is {}", self.show_type(self.graph.ty(right.0))));
        Err(self.report(diagnostic))
    }

    /// Prepares a factor with `count` batch axes.
    ///
    /// An axis of extent 1 that the other factor repeats is dropped, so that nothing is repeated in memory.
    fn factor(
        &mut self,
        node: NodeId,
        count: usize,
        other: &[Option<Dim>],
        batch: &[Dim],
        at: Origin,
    ) -> Checked<Factor> {
        let shape = self.graph.ty(node).shape.clone();
        let missing = batch.len() - count;
        let mut places = vec![None; batch.len()];
        let mut kept = Vec::with_capacity(shape.len());
        for (axis, extent) in shape[..count].iter().enumerate() {
            let place = missing + axis;
            let repeated = self.is_one(extent) && other[place].as_ref().is_some_and(|dim| !self.is_one(dim));
            if !repeated {
                places[place] = Some(kept.len());
                kept.push(extent.clone());
            }
        }
        kept.extend_from_slice(&shape[count..]);
        let node = match kept.len() == shape.len() {
            true => node,
            false => self.add(Op::Reshape(Reshape { shape: kept }), &[node], at)?,
        };
        Ok(Factor { node, batch: places })
    }

    /// Moves the batch axes that only one factor has to their places before the matrices.
    fn batch_first(
        &mut self,
        product: NodeId,
        a: &Factor,
        b: &Factor,
        shared: &[usize],
        at: Origin,
    ) -> Checked<NodeId> {
        let total = a.batch.len();
        let own = |factor: &Factor| -> Vec<usize> {
            (0..total).filter(|axis| factor.batch[*axis].is_some() && !shared.contains(axis)).collect()
        };
        let (left, right) = (own(a), own(b));
        // The product has the shared axes, the left one's own axes, its rows, then the right one's own and columns.
        let rank = self.graph.ty(product).rank();
        let rows = usize::from(self.graph.ty(a.node).rank() > a.batch.iter().flatten().count() + 1);
        let mut order: Vec<usize> = Vec::with_capacity(rank);
        for axis in 0..total {
            if let Some(position) = shared.iter().position(|s| s == &axis) {
                order.push(position);
            } else if let Some(position) = left.iter().position(|l| l == &axis) {
                order.push(shared.len() + position);
            } else if let Some(position) = right.iter().position(|r| r == &axis) {
                order.push(shared.len() + left.len() + rows + position);
            }
        }
        for axis in 0..rank {
            if !order.contains(&axis) {
                order.push(axis);
            }
        }
        if order.iter().copied().eq(0..rank) {
            return Ok(product);
        }
        self.add(Op::Permute(Permute { axes: order }), &[product], at)
    }
}

/// The extents of the other factor, aligned with the batch of the result.
fn after_of(batch: &[Dim], other: &[Dim]) -> Vec<Option<Dim>> {
    let missing = batch.len() - other.len();
    (0..batch.len()).map(|axis| axis.checked_sub(missing).map(|axis| other[axis].clone())).collect()
}
