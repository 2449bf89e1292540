//! What is computed by loops of its own, and over which elements: everything else is inlined where it is used.

use super::joint;
use super::keep::Costs;
use super::reads::{self, At, Found, Read};

use crate::diag::Bug;
use crate::dim::{Dim, Sym};
use crate::graph::{Graph, NodeId, Op, Type};

/// How a root is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Element by element.
    Map,
    /// A fold of the elements of the operand along some axes, an arg-reduction included.
    Fold,
    /// A fold whose outermost axes are the rows of its group: every row is folded into accumulators in memory.
    Across,
    /// A contraction whose right operand has axes of its own: register tiles.
    Product,
    /// A contraction whose right operand has none: a fold of products.
    Dot,
    /// Elements changed at computed places.
    Scatter,
    /// A fold that runs along an axis.
    Cumulate,
    /// The indices that sort along an axis.
    Sort,
    /// Matrices that are computed in place, one after another.
    Matrices,
    /// A result of a scan, which all its results are computed by.
    Scan,
}

/// Along which axis neighbouring elements of a product's operand are neighbours in memory, or the same element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    /// The last axis that is the operand's alone.
    Own,
    /// The last axis of terms.
    Terms,
    Neither,
}

/// A node computed by loops, with its iteration domain.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Root {
    pub(super) node: NodeId,
    pub(super) kind: Kind,
    /// The axes of the result.
    pub(super) parallel: Vec<Dim>,
    /// The axes folded away, in the order of the fold.
    pub(super) folded: Vec<Dim>,
    /// Whether the domain in order `parallel, folded` is the order of the axes of what is folded.
    pub(super) natural: bool,
    /// Whether the last axis of what is folded is folded: its elements are dealt out to the lanes of the
    /// accumulator, which are folded last.
    pub(super) by_lanes: bool,
    /// Bytes of an element of the accumulator, or of the widest operand of a map.
    pub(super) lane_bytes: usize,
    /// Of a product: how many of the parallel axes are the left operand's alone, and the right operand's alone.
    pub(super) left_axes: usize,
    pub(super) right_axes: usize,
    /// Of a product: along which axis the left and the right operand are contiguous in memory.
    pub(super) along: [Along; 2],
    /// Of a product: the bytes from one row of its left operand to the next, where its rows are read as they stand.
    pub(super) row_bytes: Option<i64>,
    /// Of a product: the axes of its domain that can be joined to the next.
    pub(super) joints: Vec<usize>,
    /// The rough number of instructions of one element.
    pub(super) cost: u32,
    /// What one element reads, over the variables `variable(i)` of the domain in order.
    pub(super) reads: Vec<Read>,
    /// The index expressions that it depends on by their values, over the same variables.
    pub(super) counts: Vec<Dim>,
    /// Of a fold across rows: how many leading axes the rows are.
    pub(super) across: usize,
    /// Of a result of a scan: the scan.
    pub(super) scan: Option<NodeId>,
    /// Of a fold that can be made across rows: what it reads, over variables of the axes of its operand in order.
    pub(super) crossing: Option<Box<Crossing>>,
}

/// A fold over the leading axes of its operand, or over all.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Crossing {
    /// The extents of the operand.
    shape: Vec<Dim>,
    /// How many of its leading axes are folded.
    folded: usize,
    found: Found,
}

impl Root {
    /// Makes it a fold of `operand` along `axes`.
    fn fold(&mut self, operand: &Type, axes: &[usize]) {
        self.kind = Kind::Fold;
        self.folded = axes.iter().map(|axis| operand.shape[*axis].clone()).collect();
        self.natural = axes.iter().copied().eq(self.parallel.len()..operand.rank());
        self.by_lanes = axes.last().is_some_and(|axis| axis + 1 == operand.rank());
        self.lane_bytes = operand.dtype.size().max(4);
    }

    /// The same fold made across the rows of a matrix, a run of rows at a time as memory has them.
    ///
    /// A few columns, or few elements, stand in one place of the cache anyway, and their sums in registers.
    pub(super) fn of_columns(&self) -> Option<Root> {
        let across = self.across(1)?;
        let [rows, columns] = across.parallel.as_slice() else { return None };
        let few = |extent: &Dim, most: i64| extent.as_const().is_some_and(|extent| extent <= most);
        let is_small = few(columns, FEW_COLUMNS) || few(&(rows * columns), FEW_ELEMENTS);
        (across.folded.is_empty() && !is_small).then_some(across)
    }

    /// The same fold made across so many rows: a row is an index of the leading axes of the operand.
    pub(super) fn across(&self, rows: usize) -> Option<Root> {
        let Crossing { shape, folded, found } = &**self.crossing.as_ref()?;
        let whole = *folded == shape.len();
        // Where all axes are folded, the lanes are dealt out along the last, which stays inside a row.
        if rows == 0 || !(rows == *folded && !whole || rows < *folded && whole) {
            return None;
        }
        Some(Root {
            kind: Kind::Across,
            parallel: if whole { shape[..rows].to_vec() } else { shape.clone() },
            folded: if whole { shape[rows..].to_vec() } else { Vec::new() },
            natural: true,
            reads: found.reads.iter().cloned().collect(),
            counts: found.counts.iter().cloned().collect(),
            across: rows,
            crossing: None,
            joints: Vec::new(),
            ..*self
        })
    }
}

/// A fold of no more columns, or elements, than these keeps its sums in registers.
const FEW_COLUMNS: i64 = 16;
const FEW_ELEMENTS: i64 = 4096;

/// Fewer elements than these along an axis do not fill tiles.
const FEW_ROWS: i64 = 8;

impl Root {
    /// Of a product: the axis of the rows of tiles, where the left operand has one of its own: the last that can fill
    /// tiles, or the last.
    pub(super) fn row_axis(&self) -> Option<usize> {
        let end = self.parallel.len() - self.right_axes;
        let extents =
            joint::extents(&self.parallel[..end], self.joints.iter().copied().filter(|axis| axis + 1 < end));
        let mut axes = (end - self.left_axes..end).rev();
        let fills = |axis: &usize| extents[*axis].as_const().is_none_or(|extent| extent >= FEW_ROWS);
        axes.find(fills).or_else(|| (self.left_axes > 0).then(|| end - 1))
    }

    /// Of a product: the axes that the left operand has alone, but that of the rows.
    pub(super) fn beside(&self) -> impl Iterator<Item = usize> {
        let (end, rows) = (self.parallel.len() - self.right_axes, self.row_axis());
        (end - self.left_axes..end).filter(move |axis| Some(*axis) != rows)
    }

    /// Of a product: the axis of the columns of tiles, where the right operand has one of its own.
    pub(super) fn column_axis(&self) -> Option<usize> {
        (self.right_axes > 0).then(|| self.parallel.len() - 1)
    }
}

/// The variable of axis `i` of a domain while scheduling; beyond all symbols and loop variables of emission.
pub(super) fn variable(axis: usize) -> Dim {
    Dim::sym(Sym(reads::FIRST_VARIABLE + axis as u32))
}

/// The roots in topological order.
pub(super) fn find(graph: &Graph) -> Result<Vec<Root>, Bug> {
    let costs = Costs::of(graph)?;
    let is_leaf = |node: NodeId| costs.is_leaf(graph, node);
    let mut roots = Vec::new();
    for node in graph.ids().filter(|node| costs.roots[node.0 as usize]) {
        let root = root(graph, &is_leaf, node)?;
        roots.push(Root { cost: costs.own[node.0 as usize], ..root });
    }
    Ok(roots)
}

fn root(graph: &Graph, is_leaf: &dyn Fn(NodeId) -> bool, node: NodeId) -> Result<Root, Bug> {
    let parallel = graph.ty(node).shape.clone();
    let inputs = &graph.node(node).inputs;
    let mut root = Root {
        node,
        kind: Kind::Map,
        parallel,
        folded: Vec::new(),
        natural: true,
        by_lanes: false,
        lane_bytes: graph.ty(node).dtype.size().max(4),
        left_axes: 0,
        right_axes: 0,
        along: [Along::Neither; 2],
        row_bytes: None,
        joints: Vec::new(),
        cost: 0,
        reads: Vec::new(),
        counts: Vec::new(),
        across: 0,
        scan: None,
        crossing: None,
    };
    match &graph.node(node).op {
        Op::Reduce(op) => root.fold(graph.ty(inputs[0]), &op.axes),
        Op::ArgReduce(op) => root.fold(graph.ty(inputs[0]), &[op.axis]),
        Op::Contract(op) => {
            let (left, right) = (graph.ty(inputs[0]), graph.ty(inputs[1]));
            root.folded = op.sum.iter().map(|(axis, _)| left.shape[*axis].clone()).collect();
            root.left_axes = left.rank() - op.batch.len() - op.sum.len();
            root.right_axes = right.rank() - op.batch.len() - op.sum.len();
            let inner = root.right_axes == 0 && !root.folded.is_empty();
            root.kind = if inner { Kind::Dot } else { Kind::Product };
            root.by_lanes = root.kind == Kind::Dot;
        }
        Op::Scatter(_) => root.kind = Kind::Scatter,
        Op::Cumulate(_) => root.kind = Kind::Cumulate,
        Op::Sort(_) => root.kind = Kind::Sort,
        Op::Cholesky(_) | Op::Lu(_) | Op::TriangularSolve(_) => root.kind = Kind::Matrices,
        Op::Output(_) => {
            root.kind = Kind::Scan;
            root.scan = inputs.first().copied();
        }
        _ => {}
    }
    let mut found = Found::default();
    let variables: Vec<Dim> = (0..root.parallel.len() + root.folded.len()).map(variable).collect();
    if matches!(root.kind, Kind::Scatter | Kind::Matrices | Kind::Scan) {
        let operands = if root.kind == Kind::Scan { &graph.node(inputs[0]).inputs } else { inputs };
        for input in operands {
            let at: Vec<Dim> = (0..graph.ty(*input).rank()).map(variable).collect();
            let mut leaves = Found::default();
            reads::collect(graph, is_leaf, *input, &at, &mut leaves)?;
            found.reads.extend(leaves.reads.into_iter().map(|(leaf, _)| (leaf, At::Data)));
            found.counts.extend(leaves.counts);
        }
    } else {
        for (operand, at) in elements(graph, node, &variables) {
            let inner = |id: NodeId| is_leaf(id) && id != node;
            reads::collect(graph, &inner, operand, &at, &mut found)?;
        }
    }
    root.reads = found.reads.into_iter().collect();
    root.counts = found.counts.into_iter().collect();
    root.crossing = crossing(graph, is_leaf, node)?.map(Box::new);
    Ok(root)
}

/// How a fold of leading axes reads its operand.
fn crossing(graph: &Graph, is_leaf: &dyn Fn(NodeId) -> bool, node: NodeId) -> Result<Option<Crossing>, Bug> {
    let Op::Reduce(op) = &graph.node(node).op else { return Ok(None) };
    let operand = graph.node(node).inputs[0];
    let shape = graph.ty(operand).shape.clone();
    let folded = op.axes.len();
    if !op.axes.iter().copied().eq(0..folded) {
        return Ok(None);
    }
    let variables: Vec<Dim> = (0..shape.len()).map(variable).collect();
    let mut found = Found::default();
    reads::collect(graph, &|id| is_leaf(id) && id != node, operand, &variables, &mut found)?;
    Ok(Some(Crossing { shape, folded, found }))
}

/// Which elements of which nodes make one element of a root: for a map the node itself, for folds and
/// contractions the operands at the variables of the domain, parallel axes first.
pub(super) fn elements(graph: &Graph, node: NodeId, variables: &[Dim]) -> Vec<(NodeId, Vec<Dim>)> {
    let inputs = &graph.node(node).inputs;
    let rank = graph.ty(node).rank();
    match &graph.node(node).op {
        Op::Reduce(op) => {
            vec![(inputs[0], folded_index(&op.axes, graph.ty(inputs[0]).rank(), rank, variables))]
        }
        Op::ArgReduce(op) => {
            vec![(inputs[0], folded_index(&[op.axis], graph.ty(inputs[0]).rank(), rank, variables))]
        }
        Op::Contract(op) => {
            let mut free = op.batch.len();
            let mut operand = |input: NodeId, side: &dyn Fn(&(usize, usize)) -> usize| {
                let mut at = vec![None; graph.ty(input).rank()];
                for (i, pair) in op.batch.iter().enumerate() {
                    at[side(pair)] = Some(variables[i].clone());
                }
                for (i, pair) in op.sum.iter().enumerate() {
                    at[side(pair)] = Some(variables[rank + i].clone());
                }
                let mut next = || {
                    free += 1;
                    variables[free - 1].clone()
                };
                (input, at.into_iter().map(|index| index.unwrap_or_else(&mut next)).collect())
            };
            let left = operand(inputs[0], &|pair| pair.0);
            let right = operand(inputs[1], &|pair| pair.1);
            vec![left, right]
        }
        _ => vec![(node, variables.to_vec())],
    }
}

fn folded_index(axes: &[usize], operand_rank: usize, rank: usize, variables: &[Dim]) -> Vec<Dim> {
    let (mut kept, mut folded) = (0, rank);
    (0..operand_rank)
        .map(|axis| {
            let position = if axes.contains(&axis) { &mut folded } else { &mut kept };
            *position += 1;
            variables[*position - 1].clone()
        })
        .collect()
}
