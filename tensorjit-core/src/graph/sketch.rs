//! Small graphs and operands for tests.

use tensorjit_runtime::abi::DType;

use super::ops::constant::Constant;
use super::table::Ew;
use super::value::{Element, Scalar, Value};
use super::{Graph, Input, NodeId, Op, Type};
use crate::diag::Origin;
use crate::dim::facts::{Facts, SymbolInfo};
use crate::dim::{Dim, Sym};

/// A graph under construction, whose nodes cannot be ill-typed.
pub(crate) struct Sketch {
    pub(crate) graph: Graph,
}

impl Sketch {
    /// A graph over the symbols N and M, both at least 0, with inputs of these types.
    pub(crate) fn new(inputs: &[Type]) -> Sketch {
        let symbol = |name: &str| SymbolInfo { name: name.into(), low: 0, high: i64::MAX };
        let facts = Facts { symbols: vec![symbol("N"), symbol("M")], conditions: Vec::new() };
        let named = inputs.iter().enumerate().map(|(i, ty)| Input { name: format!("x{i}"), ty: ty.clone() });
        Sketch { graph: Graph::new(facts, named.collect()) }
    }

    pub(crate) fn input(&mut self, i: u32) -> NodeId {
        self.add(Op::Input(i), &[])
    }

    pub(crate) fn add(&mut self, op: Op, inputs: &[NodeId]) -> NodeId {
        self.graph.add(op, inputs, Origin::default()).unwrap()
    }

    pub(crate) fn ew(&mut self, row: Ew, inputs: &[NodeId]) -> NodeId {
        self.add(Op::Elementwise(row), inputs)
    }

    /// A tensor of one number.
    pub(crate) fn full(&mut self, ty: &Type, value: f64) -> NodeId {
        Constant::number(ty.dtype, value).splat(&mut self.graph, &ty.shape, Origin::default()).unwrap()
    }

    pub(crate) fn finish(mut self, outputs: &[NodeId]) -> Graph {
        self.graph.outputs = outputs.to_vec();
        super::verify::verify(&self.graph, "test").unwrap();
        self.graph
    }
}

/// The symbol N.
pub(crate) fn n() -> Dim {
    Dim::sym(Sym(0))
}

/// The symbol M.
pub(crate) fn m() -> Dim {
    Dim::sym(Sym(1))
}

/// A constant extent.
pub(crate) fn dim(value: i64) -> Dim {
    Dim::constant(value)
}

/// A tensor of f64.
pub(crate) fn floats(shape: &[Dim]) -> Type {
    Type::new(DType::F64, shape)
}

/// Small numbers, all exact and none zero, that look random; the same for the same seed.
pub(crate) fn sample(dtype: DType, shape: &[usize], seed: u64) -> Value {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    Value::build(dtype, shape, |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = (state >> 33) as i64 % 31 - 15;
        let draw = if draw >= 0 { draw + 1 } else { draw };
        Ok(Element::exact(match dtype {
            DType::Bool => Scalar::Bool(draw > 0),
            dtype if dtype.is_int() => Scalar::Int(dtype.wrap(draw.into())),
            _ => Scalar::Float(draw as f64 / 8.0),
        }))
    })
    .unwrap()
}
