//! From a recipe to a typed graph.
//!
//! Every tensor of the pool has some of the axes N, M and 3, in this order; so any two can be made to fit by
//! sums and broadcasts.  Before a row of the table is applied, its operands are brought into the range in which
//! the row is meant to be sampled, so that values neither die in NaN nor grow without bound.

use std::sync::Arc;

use tensorjit_core::diag::{Bug, Origin};
use tensorjit_core::dim::facts::{Facts, SymbolInfo};
use tensorjit_core::dim::{Dim, Sym};
use tensorjit_core::graph::ops::arg_reduce::ArgReduce;
use tensorjit_core::graph::ops::broadcast::Broadcast;
use tensorjit_core::graph::ops::concat::Concat;
use tensorjit_core::graph::ops::constant::Constant;
use tensorjit_core::graph::ops::contract::Contract;
use tensorjit_core::graph::ops::cumulate::{Cumulate, Running};
use tensorjit_core::graph::ops::derivative::Derivative;
use tensorjit_core::graph::ops::gather::Gather;
use tensorjit_core::graph::ops::indexing::Indexing;
use tensorjit_core::graph::ops::pad::{Pad, PadAxis};
use tensorjit_core::graph::ops::permute::Permute;
use tensorjit_core::graph::ops::reduce::{Reduce, ReduceKind};
use tensorjit_core::graph::ops::reshape::Reshape;
use tensorjit_core::graph::ops::scan::{Output, Scan};
use tensorjit_core::graph::ops::scatter::{Combine, Scatter};
use tensorjit_core::graph::ops::slice::{Range, Slice};
use tensorjit_core::graph::table::Ew;
use tensorjit_core::graph::table::row::TypeRule;
use tensorjit_core::graph::value::Value;
use tensorjit_core::graph::{Graph, Input, NodeId, Op, Type};
use tensorjit_runtime::abi::DType;

use crate::recipe::{Kind, Recipe, Step};

/// The integer types.
const INTEGERS: [DType; 8] =
    [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64];

/// A graph with its point.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Outputs are not set.
    pub(crate) graph: Graph,
    /// The values of the symbols.
    pub(crate) dims: Vec<i64>,
    /// The values of the inputs.
    pub(crate) inputs: Vec<Value>,
    /// The inputs as nodes.
    pub(crate) variables: Vec<NodeId>,
    /// What the program computes.
    pub(crate) results: Vec<NodeId>,
    /// A scalar of the results.
    pub(crate) loss: NodeId,
}

/// The axes that a tensor has: bit 0 is N, bit 1 is M, bit 2 is the constant 3.
type Axes = u8;

/// The axis of constant extent.
const FIXED: Axes = 4;
const FIXED_EXTENT: i64 = 3;

/// Builds the program of a recipe.
pub(crate) fn build(recipe: &Recipe) -> Result<Program, Bug> {
    let info = |name: &str| SymbolInfo { name: name.to_owned(), low: 0, high: 64 };
    let facts = Facts { symbols: vec![info("N"), info("M")], ..Facts::default() };
    let mut builder =
        Builder { graph: Graph::new(facts, Vec::new()), dtype: recipe.dtype, pool: Vec::new(), variables: 0 };
    for axes in [0b101, 0b110, 0b011, 0] {
        builder.input(axes)?;
    }
    let variables: Vec<NodeId> = builder.pool.iter().map(|(id, _)| *id).collect();
    for step in &recipe.steps {
        let made = builder.step(step)?;
        builder.pool.push(made);
    }
    let results: Vec<NodeId> = builder.pool.iter().rev().take(2).map(|(id, _)| *id).collect();
    let mut loss = builder.number(0.0, 0)?;
    for (id, axes) in builder.pool.split_off(variables.len().max(builder.pool.len() - 4)) {
        let total = builder.fit(id, axes, 0)?;
        loss = builder.ew(Ew::Add, &[loss, total])?;
    }
    let mut numbers = Numbers(recipe.seed);
    let inputs = builder.graph.inputs.iter().map(|input| numbers.value(input, &recipe.dims)).collect();
    let dims = recipe.dims.to_vec();
    Ok(Program { graph: builder.graph, dims, inputs, variables, results, loss })
}

impl Program {
    /// Adds a derivative.
    pub(crate) fn derivative(&mut self, kind: Derivative, inputs: &[NodeId]) -> Result<NodeId, Bug> {
        self.graph.add(Op::Derivative(kind), inputs, Origin::default())
    }

    /// The gradients of the loss by all inputs.
    pub(crate) fn gradients(&mut self) -> Result<Vec<NodeId>, Bug> {
        let variables = self.variables.clone();
        variables.iter().map(|x| self.derivative(Derivative::Grad, &[self.loss, *x])).collect()
    }
}

/// Numbers that depend on the seed alone.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        4.0 * ((self.0 >> 11) as f64 / (1u64 << 53) as f64) - 2.0
    }

    /// A value for an input, between -2 and 2.
    pub(crate) fn value(&mut self, input: &Input, dims: &[i64]) -> Value {
        let extent = |dim: &Dim| dim.eval(&|Sym(i)| dims.get(i as usize).copied()).unwrap_or(0) as usize;
        let shape: Vec<usize> = input.ty.shape.iter().map(extent).collect();
        let numbers: Vec<f64> = (0..shape.iter().product::<usize>()).map(|_| self.next()).collect();
        Value::floats(input.ty.dtype, &shape, &numbers)
    }
}

struct Builder {
    graph: Graph,
    dtype: DType,
    pool: Vec<(NodeId, Axes)>,
    variables: u32,
}

impl Builder {
    fn op(&mut self, op: Op, inputs: &[NodeId]) -> Result<NodeId, Bug> {
        self.graph.add(op, inputs, Origin::default())
    }

    fn ew(&mut self, row: Ew, inputs: &[NodeId]) -> Result<NodeId, Bug> {
        self.op(Op::Elementwise(row), inputs)
    }

    fn input(&mut self, axes: Axes) -> Result<(), Bug> {
        let position = self.graph.inputs.len() as u32;
        let ty = Type::new(self.dtype, shape(axes));
        self.graph.inputs.push(Input { name: format!("x{position}"), ty });
        let id = self.op(Op::Input(position), &[])?;
        self.pool.push((id, axes));
        Ok(())
    }

    fn typed_number(&mut self, dtype: DType, value: f64, axes: Axes) -> Result<NodeId, Bug> {
        let scalar = self.op(Op::Constant(Constant::number(dtype, value)), &[])?;
        self.fit(scalar, 0, axes)
    }

    fn number(&mut self, value: f64, axes: Axes) -> Result<NodeId, Bug> {
        self.typed_number(self.dtype, value, axes)
    }

    /// The same tensor with other axes: sums over those that go, broadcasts along those that come.
    fn fit(&mut self, x: NodeId, from: Axes, to: Axes) -> Result<NodeId, Bug> {
        let gone: Vec<usize> = axes(from & !to).iter().map(|axis| place(from, *axis)).collect();
        let mut x = x;
        if !gone.is_empty() {
            x = self.op(Op::Reduce(Reduce { kind: ReduceKind::Sum, axes: gone }), &[x])?;
        }
        if from & to != to {
            let kept = axes(from & to).iter().map(|axis| place(to, *axis)).collect();
            x = self.op(Op::Broadcast(Broadcast { shape: shape(to), axes: kept }), &[x])?;
        }
        Ok(x)
    }

    /// Operand `position` of a step: mostly one of the latest, so that the program hangs together.
    fn operand(&self, step: &Step, position: usize) -> (NodeId, Axes) {
        let recent = if position == 0 { 3.min(self.pool.len()) } else { self.pool.len() };
        let candidates = &self.pool[self.pool.len() - recent..];
        candidates[usize::from(step.operands[position]) % recent]
    }

    /// Brings a tensor into `low..=high`, by a smooth map or by clipping.
    fn tame(&mut self, x: NodeId, axes: Axes, low: f64, high: f64, smooth: bool) -> Result<NodeId, Bug> {
        let bottom = self.number(low, axes)?;
        if !smooth {
            let top = self.number(high, axes)?;
            return self.ew(Ew::Clip, &[x, bottom, top]);
        }
        let (unit, width) = (self.ew(Ew::Sigmoid, &[x])?, self.number(high - low, axes)?);
        let scaled = self.ew(Ew::Mul, &[unit, width])?;
        self.ew(Ew::Add, &[scaled, bottom])
    }

    fn float_of(&mut self, x: NodeId) -> Result<NodeId, Bug> {
        if self.graph.ty(x).dtype == self.dtype { Ok(x) } else { self.ew(Ew::Cast(self.dtype), &[x]) }
    }

    /// Whether elements are greater than a half.
    fn mask(&mut self, x: NodeId, axes: Axes) -> Result<NodeId, Bug> {
        let half = self.number(0.5, axes)?;
        self.ew(Ew::Gt, &[x, half])
    }

    fn step(&mut self, step: &Step) -> Result<(NodeId, Axes), Bug> {
        let (x, from) = self.operand(step, 0);
        match step.kind {
            Kind::Row(row) => self.row(row, step),
            Kind::Reduce => self.reduce(step, x, from),
            Kind::Contract => self.contract(step),
            Kind::Move => self.movement(step, x, from),
            Kind::Index => self.index(step, x, from | FIXED),
            Kind::ArgReduce => {
                let wide = self.fit(x, from, from | FIXED)?;
                let axis = place(from | FIXED, FIXED);
                let least = step.choice & 1 == 1;
                let found = self.op(Op::ArgReduce(ArgReduce { least, axis }), &[wide])?;
                Ok((self.float_of(found)?, from & !FIXED))
            }
            Kind::Running => self.running(step, x, from),
            Kind::Scan => self.scan(step),
            Kind::Mark => {
                self.variables += 1;
                let op = if step.choice.is_multiple_of(4) {
                    Op::StopGradient
                } else {
                    Op::Variable(self.variables)
                };
                Ok((self.op(op, &[x])?, from))
            }
        }
    }

    fn row(&mut self, row: Ew, step: &Step) -> Result<(NodeId, Axes), Bug> {
        let described = row.row();
        let operands: Vec<(NodeId, Axes)> = (0..row.arity()).map(|i| self.operand(step, i)).collect();
        let to = operands.iter().fold(0, |all, (_, axes)| all | axes);
        let work = match described.types {
            TypeRule::Number | TypeRule::Order | TypeRule::Equality if step.choice & 4 == 0 => {
                INTEGERS[usize::from(step.choice >> 3) % INTEGERS.len()]
            }
            TypeRule::Bits => match usize::from(step.choice) % (INTEGERS.len() + 1) {
                0 => DType::Bool,
                number => INTEGERS[number - 1],
            },
            TypeRule::Int => INTEGERS[usize::from(step.choice) % INTEGERS.len()],
            TypeRule::FromBits if self.dtype == DType::F32 => DType::U32,
            TypeRule::FromBits => DType::U64,
            _ => self.dtype,
        };
        let mut inputs = Vec::with_capacity(operands.len());
        for (position, ((x, from), described_operand)) in operands.iter().zip(described.operands).enumerate()
        {
            let x = self.fit(*x, *from, to)?;
            let (low, high) = (described_operand.low, described_operand.high);
            inputs.push(match described.types.operand(position, work) {
                DType::Bool => self.mask(x, to)?,
                dtype if dtype.is_int() => {
                    let bounded = self.tame(x, to, -9.0, 9.0, false)?;
                    self.ew(Ew::Cast(dtype), &[bounded])?
                }
                _ => self.tame(x, to, low, high, step.choice & 1 == 1)?,
            });
        }
        let found = self.ew(row, &inputs)?;
        Ok((self.float_of(found)?, to))
    }

    fn reduce(&mut self, step: &Step, x: NodeId, from: Axes) -> Result<(NodeId, Axes), Bug> {
        let present = axes(from);
        let Some(axis) = present.get(usize::from(step.choice >> 4) % present.len().max(1)) else {
            return Ok((self.ew(Ew::Neg, &[x])?, from));
        };
        let kinds = [
            ReduceKind::Sum,
            ReduceKind::Prod,
            ReduceKind::Max,
            ReduceKind::Min,
            ReduceKind::Any,
            ReduceKind::All,
        ];
        let kind = kinds[usize::from(step.choice) % kinds.len()];
        let operand = match kind {
            ReduceKind::Any | ReduceKind::All => self.mask(x, from)?,
            ReduceKind::Prod => self.tame(x, from, -1.5, 1.5, step.choice & 64 == 0)?,
            _ => x,
        };
        let folded = self.op(Op::Reduce(Reduce { kind, axes: vec![place(from, *axis)] }), &[operand])?;
        let folded = self.float_of(folded)?;
        // The extreme of nothing is infinite.
        Ok((self.tame(folded, from & !axis, -9.0, 9.0, false)?, from & !axis))
    }

    fn contract(&mut self, step: &Step) -> Result<(NodeId, Axes), Bug> {
        let ((a, left), (b, right)) = (self.operand(step, 0), self.operand(step, 1));
        let shared = left & right;
        let summed = shared & step.choice as Axes;
        let batch = shared & !summed;
        let pairs = |chosen: Axes| {
            axes(chosen).iter().map(|axis| (place(left, *axis), place(right, *axis))).collect()
        };
        let op = Contract { batch: pairs(batch), sum: pairs(summed) };
        let product = self.op(Op::Contract(op), &[a, b])?;
        // The result's axes stand in the order batch, left, right; the pool wants them in their own.
        let order: Vec<Axes> = [batch, left & !shared, right & !shared].into_iter().flat_map(axes).collect();
        let to = (left | right) & !summed;
        let sorted =
            axes(to).iter().filter_map(|axis| order.iter().position(|found| found == axis)).collect();
        Ok((self.op(Op::Permute(Permute { axes: sorted }), &[product])?, to))
    }

    fn movement(&mut self, step: &Step, x: NodeId, from: Axes) -> Result<(NodeId, Axes), Bug> {
        let present = axes(from);
        let Some(axis) = present.get(usize::from(step.choice >> 4) % present.len().max(1)) else {
            return Ok((self.ew(Ew::Neg, &[x])?, from));
        };
        let (at, extents) = (place(from, *axis), shape(from));
        let (extent, one) = (extents[at].clone(), Dim::constant(1));
        let moved = match step.choice % 6 {
            0 => {
                let last = &extent - &one;
                self.op(Op::Slice(slice(&extents, at, last, -1, &extent)), &[x])?
            }
            1 => {
                // One step along the axis, a constant in front.
                let fill = self.number(0.25, 0)?;
                let pad = pad(&extents, at, &one, &(&extent + &one), 0);
                let padded = self.op(Op::Pad(pad), &[x, fill])?;
                self.op(Op::Slice(slice(&extents, at, Dim::constant(0), 1, &extent)), &[padded])?
            }
            2 => {
                let (y, other) = self.operand(step, 1);
                let y = self.fit(y, other, from)?;
                let joined = self.op(Op::Concat(Concat { axis: at }), &[x, y])?;
                self.op(Op::Slice(slice(&extents, at, Dim::constant(0), 2, &extent)), &[joined])?
            }
            3 => {
                let flat = extents.iter().fold(one, |product, extent| &product * extent);
                let flat = self.op(Op::Reshape(Reshape { shape: vec![flat] }), &[x])?;
                let sine = self.ew(Ew::Sin, &[flat])?;
                self.op(Op::Reshape(Reshape { shape: extents }), &[sine])?
            }
            4 => {
                let turned: Vec<usize> = (0..extents.len()).rev().collect();
                let there = self.op(Op::Permute(Permute { axes: turned.clone() }), &[x])?;
                let sine = self.ew(Ew::Sin, &[there])?;
                self.op(Op::Permute(Permute { axes: turned }), &[sine])?
            }
            _ => {
                // Gaps between the elements, and every second place of what results, from the front.
                let fill = self.number(-0.5, 0)?;
                let spaced = pad(&extents, at, &Dim::constant(0), &(&extent + &extent), 1);
                let spaced = self.op(Op::Pad(spaced), &[x, fill])?;
                self.op(Op::Slice(slice(&extents, at, Dim::constant(0), 1, &extent)), &[spaced])?
            }
        };
        Ok((moved, from))
    }

    fn index(&mut self, step: &Step, x: NodeId, to: Axes) -> Result<(NodeId, Axes), Bug> {
        let x = self.fit(x, to & !FIXED | (self.operand(step, 0).1 & FIXED), to)?;
        let (y, other) = self.operand(step, 1);
        let y = self.fit(y, other, FIXED)?;
        // Out of range on both sides, so that clamping is tested too.
        let bounded = self.tame(y, FIXED, -1.5, 3.5, true)?;
        let place_of = self.ew(Ew::Cast(DType::I64), &[bounded])?;
        let axis = place(to, FIXED);
        let combine = match step.choice % 8 {
            0..4 => return Ok((self.op(Op::Gather(Gather::one(axis)), &[x, place_of])?, to)),
            4 => Combine::Set,
            5 => Combine::Max,
            6 => Combine::Mul,
            _ => Combine::Add,
        };
        let updates = self.ew(Ew::Sin, &[x])?;
        let scatter = Scatter { combine, indexing: Indexing::one(axis) };
        Ok((self.op(Op::Scatter(scatter), &[x, place_of, updates])?, to))
    }

    fn running(&mut self, step: &Step, x: NodeId, from: Axes) -> Result<(NodeId, Axes), Bug> {
        let to = from | FIXED;
        let x = self.fit(x, from, to)?;
        let folds = [Running::Sum, Running::Prod, Running::Max, Running::Min, Running::Linear];
        let fold = folds[usize::from(step.choice) % folds.len()];
        let (reverse, exclusive) = (step.choice & 16 != 0, step.choice & 32 != 0);
        let sine = self.ew(Ew::Sin, &[x])?;
        let operands = if fold == Running::Linear { vec![sine, x] } else { vec![x] };
        let op = Cumulate { fold, axis: place(to, FIXED), reverse, exclusive };
        Ok((self.op(Op::Cumulate(op), &operands)?, to))
    }

    /// Two steps at most of `p = sin(p) * q`, each of which stacks `select(p > q, p, sin(p))`: the last `p`, or the sum
    /// of what is stacked.
    fn scan(&mut self, step: &Step) -> Result<(NodeId, Axes), Bug> {
        let ((x, left), (y, right)) = (self.operand(step, 0), self.operand(step, 1));
        let to = left | right;
        let (x, y) = (self.fit(x, left, to)?, self.fit(y, right, to)?);
        let ty = self.graph.ty(x).clone();
        let number = Type::scalar(DType::I64);
        let inputs = [("p", &ty), ("q", &ty), ("step", &number)];
        let inputs = inputs.map(|(name, ty)| Input { name: name.to_owned(), ty: ty.clone() });
        let mut body = Graph::new(self.graph.facts.clone(), inputs.to_vec());
        let mut add = |op, inputs: &[NodeId]| body.add(op, inputs, Origin::default());
        let (p, q, number) = (add(Op::Input(0), &[])?, add(Op::Input(1), &[])?, add(Op::Input(2), &[])?);
        let sine = add(Op::Elementwise(Ew::Sin), &[p])?;
        let product = add(Op::Elementwise(Ew::Mul), &[sine, q])?;
        let mask = add(Op::Elementwise(Ew::Gt), &[p, q])?;
        let chosen = add(Op::Elementwise(Ew::Select), &[mask, p, sine])?;
        let one = add(Op::Constant(Constant::number(DType::I64, 1.0)), &[])?;
        let first = add(Op::Elementwise(Ew::Lt), &[number, one])?;
        // What steps that are not taken would stack is not defined.
        let (last, conditional) = (step.choice & 1 == 0, step.choice & 3 == 0);
        body.outputs = vec![product];
        body.outputs.extend((!last).then_some(chosen));
        body.outputs.extend(conditional.then_some(first));
        let scan = Scan {
            body: Arc::new(body),
            count: Dim::constant(2),
            carries: 1,
            slices: 0,
            reverse: !conditional && step.choice & 4 != 0,
            conditional,
            counted: false,
        };
        let scan = self.op(Op::Scan(scan), &[x, y])?;
        if last {
            return Ok((self.op(Op::Output(Output(0)), &[scan])?, to));
        }
        let stack = self.op(Op::Output(Output(1)), &[scan])?;
        let sum = Reduce { kind: ReduceKind::Sum, axes: vec![0] };
        Ok((self.op(Op::Reduce(sum), &[stack])?, to))
    }
}

/// The axes of a set, in order.
fn axes(set: Axes) -> Vec<Axes> {
    [1, 2, FIXED].into_iter().filter(|axis| set & axis != 0).collect()
}

/// The position of an axis in a tensor that has it.
fn place(set: Axes, axis: Axes) -> usize {
    (set & (axis - 1)).count_ones() as usize
}

fn shape(set: Axes) -> Vec<Dim> {
    let extent = |axis: Axes| match axis {
        1 => Dim::sym(Sym(0)),
        2 => Dim::sym(Sym(1)),
        _ => Dim::constant(FIXED_EXTENT),
    };
    axes(set).into_iter().map(extent).collect()
}

fn slice(extents: &[Dim], at: usize, start: Dim, step: i64, len: &Dim) -> Slice {
    let whole = |extent: &Dim| Range { start: Dim::constant(0), step: 1, len: extent.clone() };
    let mut ranges: Vec<Range> = extents.iter().map(whole).collect();
    ranges[at] = Range { start, step, len: len.clone() };
    Slice { ranges }
}

fn pad(extents: &[Dim], at: usize, low: &Dim, extent: &Dim, gap: i64) -> Pad {
    let whole = |extent: &Dim| PadAxis { low: Dim::constant(0), extent: extent.clone(), gap: 0 };
    let mut axes: Vec<PadAxis> = extents.iter().map(whole).collect();
    axes[at] = PadAxis { low: low.clone(), extent: extent.clone(), gap };
    Pad { axes }
}
