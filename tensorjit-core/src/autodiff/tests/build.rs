//! Graphs for tests, written like formulas, and their values.

use crate::autodiff;
use crate::dim::{Dim, Sym};
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::contract::Contract;
use crate::graph::ops::cumulate::{Cumulate, Running};
use crate::graph::ops::derivative::Derivative;
use crate::graph::ops::indexing::Indexing;
use crate::graph::ops::iota::Iota;
use crate::graph::ops::reduce::{Reduce, ReduceKind};
use crate::graph::ops::reshape::Reshape;
use crate::graph::ops::scatter::{Combine, Scatter};
use crate::graph::sketch::{Sketch, dim, floats, n};
use crate::graph::table::Ew;
use crate::graph::value::Value;
use crate::graph::{Graph, Input, NodeId, Op};
use crate::interp;
use tensorjit_runtime::abi::DType;

impl Sketch {
    /// An input of f64.
    pub(super) fn variable(&mut self, shape: &[Dim]) -> NodeId {
        let position = self.graph.inputs.len() as u32;
        self.graph.inputs.push(Input { name: format!("x{position}"), ty: floats(shape) });
        self.input(position)
    }

    pub(super) fn shape(&self, id: NodeId) -> Vec<Dim> {
        self.graph.ty(id).shape.clone()
    }

    /// A number, shaped like a node.
    pub(super) fn number(&mut self, value: f64, like: NodeId) -> NodeId {
        let ty = self.graph.ty(like).clone();
        self.full(&ty, value)
    }

    pub(super) fn broadcast(&mut self, x: NodeId, shape: &[Dim], axes: &[usize]) -> NodeId {
        self.add(Op::Broadcast(Broadcast { shape: shape.to_vec(), axes: axes.to_vec() }), &[x])
    }

    pub(super) fn reduce(&mut self, kind: ReduceKind, x: NodeId, axes: &[usize]) -> NodeId {
        self.add(Op::Reduce(Reduce { kind, axes: axes.to_vec() }), &[x])
    }

    /// The sum of all elements.
    pub(super) fn total(&mut self, x: NodeId) -> NodeId {
        let axes: Vec<usize> = (0..self.graph.ty(x).rank()).collect();
        if axes.is_empty() { x } else { self.reduce(ReduceKind::Sum, x, &axes) }
    }

    /// The product of two matrices.
    pub(super) fn matmul(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.add(Op::Contract(Contract { batch: Vec::new(), sum: vec![(1, 0)] }), &[a, b])
    }

    /// A batch of matrices of which the diagonal is larger than the rest.
    pub(super) fn matrix(&mut self) -> NodeId {
        let x = self.variable(&[dim(2), n(), n()]);
        let counts = Iota { dtype: DType::I64, extent: n() };
        let counts = self.add(Op::Iota(counts), &[]);
        let shape = [dim(2), n(), n()];
        let (row, column) = (self.broadcast(counts, &shape, &[1]), self.broadcast(counts, &shape, &[2]));
        let diagonal = self.ew(Ew::Eq, &[row, column]);
        let diagonal = self.ew(Ew::Cast(DType::F64), &[diagonal]);
        let weight = self.number(6.0, x);
        let diagonal = self.ew(Ew::Mul, &[diagonal, weight]);
        self.ew(Ew::Add, &[x, diagonal])
    }

    /// `0, 1, ..` in row-major order.
    pub(super) fn counter(&mut self, shape: &[Dim]) -> NodeId {
        let extent = shape.iter().fold(Dim::constant(1), |count, extent| &count * extent);
        let counter = self.add(Op::Iota(Iota { dtype: DType::I64, extent }), &[]);
        self.add(Op::Reshape(Reshape { shape: shape.to_vec() }), &[counter])
    }

    /// A scatter of four updates to two of three places.
    pub(super) fn scatter(&mut self, combine: Combine) -> NodeId {
        let (base, x) = (self.variable(&[n(), dim(3)]), self.variable(&[n(), dim(4)]));
        let x = self.ew(Ew::Sin, &[x]);
        let place = self.counter(&[dim(4)]);
        let two = self.number(2.0, place);
        let place = self.ew(Ew::Rem, &[place, two]);
        self.add(Op::Scatter(Scatter { combine, indexing: Indexing::one(1) }), &[base, place, x])
    }

    /// A running fold of functions of variables.
    pub(super) fn running(&mut self, fold: Running, reverse: bool, exclusive: bool) -> NodeId {
        let mut operands = Vec::new();
        for _ in 0..fold.operands() {
            let x = self.variable(&[n(), dim(4), dim(2)]);
            operands.push(self.ew(Ew::Sin, &[x]));
        }
        self.add(Op::Cumulate(Cumulate { fold, axis: 1, reverse, exclusive }), &operands)
    }

    pub(super) fn grad(&mut self, y: NodeId, x: NodeId) -> NodeId {
        self.add(Op::Derivative(Derivative::Grad), &[y, x])
    }

    pub(super) fn vjp(&mut self, y: NodeId, x: NodeId, seed: NodeId) -> NodeId {
        self.add(Op::Derivative(Derivative::Vjp), &[y, x, seed])
    }

    pub(super) fn jvp(&mut self, y: NodeId, x: NodeId, seed: NodeId) -> NodeId {
        self.add(Op::Derivative(Derivative::Jvp), &[y, x, seed])
    }

    pub(super) fn hvp(&mut self, y: NodeId, x: NodeId, vector: NodeId) -> NodeId {
        self.add(Op::Derivative(Derivative::Hvp), &[y, x, vector])
    }

    /// The graph with its derivatives expanded.
    pub(super) fn expanded(&self, outputs: &[NodeId]) -> Graph {
        let mut graph = self.graph.clone();
        graph.outputs = outputs.to_vec();
        autodiff::run(graph).unwrap()
    }

    /// The values of nodes, derivatives expanded.
    pub(super) fn eval(&self, dims: &[i64], inputs: &[Value], outputs: &[NodeId]) -> Vec<Value> {
        interp::run(&self.expanded(outputs), dims, inputs).unwrap()
    }

    /// The values of one node for inputs of f64 without symbols.
    pub(super) fn at(&self, inputs: &[&[f64]], output: NodeId) -> Vec<f64> {
        let values: Vec<Value> =
            self.graph.inputs.iter().zip(inputs).map(|(i, x)| tensor(i, &[], x)).collect();
        self.eval(&[], &values, &[output])[0].to_f64()
    }
}

/// The value of an input, or of zeros where there are too few numbers.
pub(super) fn tensor(input: &Input, dims: &[i64], numbers: &[f64]) -> Value {
    let extent = |dim: &Dim| dim.eval(&|Sym(i)| dims.get(i as usize).copied()).unwrap() as usize;
    let shape: Vec<usize> = input.ty.shape.iter().map(extent).collect();
    Value::floats(input.ty.dtype, &shape, numbers)
}

/// Random numbers in `low..high`, the same for the same seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }

    pub(super) fn like(&mut self, input: &Input, dims: &[i64], low: f64, high: f64) -> Value {
        let extent = |dim: &Dim| dim.eval(&|Sym(i)| dims.get(i as usize).copied()).unwrap() as usize;
        let count: usize = input.ty.shape.iter().map(extent).product();
        let numbers: Vec<f64> = (0..count).map(|_| self.next(low, high)).collect();
        tensor(input, dims, &numbers)
    }
}
