//! Indexing and slicing: ranges with proven bounds, dropped axes, and gathers.

use tensorjit_runtime::abi::Relation;

use super::report::{Checked, counted};
use super::scope::Checker;
use super::types::axes;
use super::value::{Operand, Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::dim::facts::Verdict;
use crate::graph::ops::gather::Gather;
use crate::graph::ops::reshape::Reshape;
use crate::graph::ops::slice::{Range, Slice};
use crate::graph::{NodeId, Op};
use crate::syntax::ast::{Expr, IndexItem};

/// What an index does with one axis.
enum Step {
    /// Keeps a range of it.
    Keep(Range),
    /// Takes one element and drops the axis.
    Drop(Dim),
    /// Puts the axes of an index tensor in its place.
    Gather(NodeId, Origin),
}

impl Checker<'_> {
    /// `value[items]`.
    pub(super) fn index(&mut self, value: Placed, items: &[IndexItem], at: Origin) -> Checked<Value> {
        let operand = self.operand(&value.value, value.at)?;
        let shape = self.shape(&operand);
        let Some(spread) = self.spread(items, shape.len()) else {
            let found = self.show_operand(&operand);
            let message = format!("{} for {}", counted(items.len(), "index", "indices"), axes(shape.len()));
            let diagnostic =
                Diagnostic::new("index-count", message, at).label(value.at, format!("this is {found}"));
            return Err(self.report(diagnostic));
        };
        let mut steps = Vec::with_capacity(shape.len());
        let mut failed = None;
        for (item, extent) in spread.into_iter().zip(&shape) {
            match self.step(item, extent, at) {
                Ok(step) => steps.push(step),
                Err(stop) => failed = Some(stop),
            }
        }
        if let Some(stop) = failed {
            return Err(stop);
        }
        let sliced = self.take_ranges(operand, &steps, &shape, at)?;
        let dropped = self.drop_axes(sliced, &steps, at)?;
        Ok(self.take_gather(dropped, &steps, at)?.value())
    }

    /// One item for each axis: the first `..` stands for as many axes as the others leave.
    fn spread<'i>(&self, items: &'i [IndexItem], rank: usize) -> Option<Vec<Option<&'i IndexItem>>> {
        let rest = items.iter().position(|item| matches!(item, IndexItem::Rest(_)));
        let others = items.len() - usize::from(rest.is_some());
        let left = rank.checked_sub(others)?;
        let mut spread = Vec::with_capacity(rank);
        for (position, item) in items.iter().enumerate() {
            match item {
                IndexItem::Rest(_) if Some(position) == rest => spread.extend((0..left).map(|_| None)),
                IndexItem::Rest(_) => spread.push(None),
                item => spread.push(Some(item)),
            }
        }
        spread.resize(rank, None);
        Some(spread)
    }

    fn step(&mut self, item: Option<&IndexItem>, extent: &Dim, at: Origin) -> Checked<Step> {
        match item {
            None | Some(IndexItem::Rest(_)) => Ok(Step::Keep(whole(extent))),
            Some(IndexItem::Range { from, to, step, at }) => {
                self.range(from.as_deref(), to.as_deref(), step.as_deref(), extent, *at).map(Step::Keep)
            }
            Some(IndexItem::At(expr)) => self.position(expr, extent, at),
        }
    }

    /// A bound of a range or an index; a negative literal counts from the end.
    fn bound(&mut self, expr: &Expr, extent: &Dim, what: &str) -> Checked<Dim> {
        let value = self.eval(expr)?;
        let dim = self.value_dim(&value, what, expr.span)?;
        Ok(if value.counts_from_end() { extent + &dim } else { dim })
    }

    fn range(
        &mut self,
        from: Option<&Expr>,
        to: Option<&Expr>,
        step: Option<&Expr>,
        extent: &Dim,
        at: Origin,
    ) -> Checked<Range> {
        let zero = Dim::constant(0);
        let start = from.map(|expr| self.bound(expr, extent, "the start of a range"));
        let end = to.map(|expr| self.bound(expr, extent, "the end of a range"));
        let step = match step {
            None => 1,
            Some(expr) => match self.eval(expr)?.as_int() {
                Some(step) if step > 0 => step,
                _ => {
                    let diagnostic = Diagnostic::new(
                        "index-step",
                        "the step of a range is a positive constant",
                        expr.span,
                    );
                    return Err(self.report(diagnostic.help("`flip(x, axis = ..)` walks backwards")));
                }
            },
        };
        let start = start.transpose()?.unwrap_or_else(|| zero.clone());
        let end = end.transpose()?.unwrap_or_else(|| extent.clone());
        if start != zero {
            let place = from.map_or(at, |expr| expr.span);
            self.demand(&start, Relation::Ge, &zero, place, "a range must start inside the axis")?;
        }
        if end != *extent {
            let place = to.map_or(at, |expr| expr.span);
            self.demand(&end, Relation::Le, extent, place, "a range must end inside the axis")?;
        }
        self.demand(&start, Relation::Le, &end, at, "a range must not end before it starts")?;
        let len = (&end - &start).ceil_div(&Dim::constant(step));
        Ok(Range { start, step, len })
    }

    /// An index that is no range: an integer known now drops the axis, an integer tensor gathers.
    fn position(&mut self, expr: &Expr, extent: &Dim, at: Origin) -> Checked<Step> {
        let value = self.placed(expr)?;
        if let Some(dim) = value.value.as_dim() {
            let index = if value.value.counts_from_end() { extent + &dim } else { dim };
            let zero = Dim::constant(0);
            self.demand(&index, Relation::Ge, &zero, value.at, "an index must lie inside the axis")?;
            let known = self.graph.facts.decide(&index, Relation::Lt, extent);
            match index.as_const() {
                // Of an open condition `N >= 1` reads better than `N > 0`.
                Some(_) if known == Verdict::Open => {
                    let least = &index + &Dim::constant(1);
                    self.demand(extent, Relation::Ge, &least, value.at, "an index must lie inside the axis")?;
                }
                _ => {
                    self.demand(&index, Relation::Lt, extent, value.at, "an index must lie inside the axis")?
                }
            }
            return Ok(Step::Drop(index));
        }
        let indices = self.index_of(&value, extent, at)?;
        Ok(Step::Gather(indices, value.at))
    }

    /// Has the call check the values of an index tensor that is an input.
    pub(super) fn note_index(&mut self, indices: NodeId, extent: &Dim) {
        if let Op::Input(input) = self.graph.node(indices).op {
            self.index_bounds
                .entry(input)
                .and_modify(|bound| *bound = bound.minimum(extent))
                .or_insert_with(|| extent.clone());
        }
    }

    fn take_ranges(
        &mut self,
        operand: Operand,
        steps: &[Step],
        shape: &[Dim],
        at: Origin,
    ) -> Checked<Operand> {
        let ranges: Vec<Range> = steps
            .iter()
            .zip(shape)
            .map(|(step, extent)| match step {
                Step::Keep(range) => range.clone(),
                Step::Drop(index) => Range { start: index.clone(), step: 1, len: Dim::constant(1) },
                Step::Gather(..) => whole(extent),
            })
            .collect();
        self.slice(operand, ranges, at)
    }

    /// Keeps a range of each axis.
    pub(super) fn slice(&mut self, operand: Operand, ranges: Vec<Range>, at: Origin) -> Checked<Operand> {
        let shape = self.shape(&operand);
        if ranges.iter().zip(&shape).all(|(range, extent)| *range == whole(extent)) {
            return Ok(operand);
        }
        let taken = ranges.iter().map(|range| range.len.clone()).collect();
        self.apply(Op::Slice(Slice { ranges }), &[operand], taken, at)
    }

    /// Takes the elements that index tensors name; the axes of which one element was taken are gone.
    fn take_gather(&mut self, operand: Operand, steps: &[Step], at: Origin) -> Checked<Operand> {
        let left = steps.iter().filter(|step| !matches!(step, Step::Drop(_)));
        let indexed: Vec<(usize, NodeId, Origin)> = left
            .enumerate()
            .filter_map(|(axis, step)| match step {
                Step::Gather(indices, place) => Some((axis, *indices, *place)),
                _ => None,
            })
            .collect();
        if indexed.is_empty() {
            return Ok(operand);
        }
        let source = match operand {
            Operand::Node(id) => id,
            Operand::Literal(literal) => return Err(self.open_literal(&literal, at)),
        };
        let rank = self.graph.ty(source).rank();
        let (indexing, indices) = self.indexing(&indexed, rank, at)?;
        let inputs = [&[source], indices.as_slice()].concat();
        Ok(Operand::Node(self.add(Op::Gather(Gather { indexing }), &inputs, at)?))
    }

    /// Removes the axes of which one element was taken.
    fn drop_axes(&mut self, operand: Operand, steps: &[Step], at: Origin) -> Checked<Operand> {
        if !steps.iter().any(|step| matches!(step, Step::Drop(_))) {
            return Ok(operand);
        }
        let extents = self.shape(&operand).into_iter().zip(steps);
        let kept = extents.filter(|(_, step)| !matches!(step, Step::Drop(_)));
        let shape: Vec<Dim> = kept.map(|(extent, _)| extent).collect();
        self.apply(Op::Reshape(Reshape { shape: shape.clone() }), &[operand], shape, at)
    }
}

/// All of an axis.
pub(super) fn whole(extent: &Dim) -> Range {
    Range { start: Dim::constant(0), step: 1, len: extent.clone() }
}
