//! The textual form of graphs: what dumps show and what the cache hashes.
//!
//! It is complete: two graphs with the same text are the same but for where the user wrote their nodes.
//!
//! ```text
//! symbol B in 1..=64
//! input x: f32[B, 3]
//! %0 = input 0 : f32[B, 3]
//! %1 = constant 2.0 : f32
//! %2 = broadcast %1, shape = [B, 3], axes = [] : f32[B, 3]
//! %3 = mul %0, %2 : f32[B, 3]
//! output %3
//! ```

use std::fmt;

use super::ops::constant::Constant;
use super::ops::indexing::Indexing;
use super::ops::pad::PadAxis;
use super::ops::scan::Scan;
use super::ops::slice::Range;
use super::{Graph, NodeId, Op, Type};
use crate::dim::facts::Facts;

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for symbol in &self.facts.symbols {
            writeln!(f, "symbol {} in {}..={}", symbol.name, symbol.low, symbol.high)?;
        }
        for condition in &self.facts.conditions {
            let (left, right) = (self.facts.show(&condition.left), self.facts.show(&condition.right));
            writeln!(f, "where {left} {} {right}", condition.relation.symbol())?;
        }
        for input in &self.inputs {
            writeln!(f, "input {}: {}", input.name, show_type(&self.facts, &input.ty))?;
        }
        for id in self.ids() {
            writeln!(f, "{}", self.show_node(id))?;
        }
        for output in &self.outputs {
            writeln!(f, "output {output:?}")?;
        }
        Ok(())
    }
}

impl Graph {
    /// One line of the textual form; its sub-graph follows it, indented.
    pub fn show_node(&self, id: NodeId) -> String {
        let node = self.node(id);
        let mut items: Vec<String> = node.inputs.iter().map(|input| format!("{input:?}")).collect();
        items.extend(attributes(&self.facts, &node.op));
        let name = name(&node.op);
        let space = if items.is_empty() { "" } else { " " };
        let mut line =
            format!("{id:?} = {name}{space}{} : {}", items.join(", "), show_type(&self.facts, &node.ty));
        if let Some(body) = node.op.body() {
            for inner in body.to_string().lines() {
                line.push_str("\n  ");
                line.push_str(inner);
            }
        }
        line
    }
}

/// A type in the user's names, `f32[B, 3]`.
pub fn show_type(facts: &Facts, ty: &Type) -> String {
    match ty.rank() {
        0 => ty.dtype.name().to_owned(),
        _ => format!("{}{}", ty.dtype.name(), facts.show_shape(&ty.shape)),
    }
}

/// The name of an operator.
pub fn name(op: &Op) -> &'static str {
    match op {
        Op::Input(_) => "input",
        Op::Constant(_) => "constant",
        Op::DimValue(_) => "dim",
        Op::Iota(_) => "iota",
        Op::Elementwise(row) => row.row().name,
        Op::Broadcast(_) => "broadcast",
        Op::Permute(_) => "permute",
        Op::Reshape(_) => "reshape",
        Op::Slice(_) => "slice",
        Op::Pad(_) => "pad",
        Op::Window(_) => "window",
        Op::Concat(_) => "concat",
        Op::Reduce(_) => "reduce",
        Op::ArgReduce(op) => {
            if op.least {
                "argmin"
            } else {
                "argmax"
            }
        }
        Op::Contract(_) => "contract",
        Op::Gather(_) => "gather",
        Op::Scatter(_) => "scatter",
        Op::Cumulate(_) => "cumulate",
        Op::Sort(_) => "sort",
        Op::Cholesky(_) => "cholesky",
        Op::TriangularSolve(_) => "triangular_solve",
        Op::Solve(_) => "solve",
        Op::Determinant(_) => "determinant",
        Op::Lu(_) => "lu",
        Op::Variable(_) => "variable",
        Op::StopGradient => "stop_gradient",
        Op::Derivative(op) => op.name(),
        Op::Scan(_) => "scan",
        Op::Output(_) => "output_of",
        Op::Custom(_) => "custom",
        Op::CustomTangent(_) => "custom_tangent",
        Op::Placeholder(_) => "placeholder",
    }
}

/// The attributes of an operator, as they stand after the operands.
fn attributes(facts: &Facts, op: &Op) -> Vec<String> {
    let axis = |axis: &usize| format!("axis = {axis}");
    match op {
        Op::Input(i) | Op::Variable(i) => vec![i.to_string()],
        Op::Constant(constant) => vec![show_constant(constant)],
        Op::DimValue(op) => vec![facts.show(&op.0)],
        Op::Iota(op) => vec![facts.show(&op.extent)],
        Op::Elementwise(_) | Op::StopGradient | Op::Derivative(_) => Vec::new(),
        Op::Broadcast(op) => {
            vec![format!("shape = {}", facts.show_shape(&op.shape)), format!("axes = {:?}", op.axes)]
        }
        Op::Permute(op) => vec![format!("axes = {:?}", op.axes)],
        Op::Reshape(op) => vec![format!("shape = {}", facts.show_shape(&op.shape))],
        Op::Slice(op) => vec![list(&op.ranges, |range| show_range(facts, range))],
        Op::Pad(op) => vec![list(&op.axes, |axis| show_border(facts, axis))],
        Op::Window(op) => {
            let mut shown = vec![axis(&op.axis), format!("taps = {}", op.taps)];
            shown.push(format!("stride = {}, dilation = {}", op.stride, op.dilation));
            shown.push(format!("extent = {}", facts.show(&op.extent)));
            shown.extend(op.inverse.then(|| "inverse".to_owned()));
            shown
        }
        Op::Concat(op) => vec![axis(&op.axis)],
        Op::Reduce(op) => vec![format!("{:?}", op.kind).to_lowercase(), format!("axes = {:?}", op.axes)],
        Op::ArgReduce(op) => vec![axis(&op.axis)],
        Op::Contract(op) => vec![format!("batch = {:?}", op.batch), format!("sum = {:?}", op.sum)],
        Op::Sort(op) => [Some(axis(&op.axis))]
            .into_iter()
            .chain([
                op.descending.then(|| "descending".to_owned()),
                op.nan_first.then(|| "nan first".to_owned()),
            ])
            .flatten()
            .collect(),
        Op::Cholesky(_) | Op::Lu(_) => Vec::new(),
        Op::TriangularSolve(op) => [if op.lower { "lower" } else { "upper" }]
            .into_iter()
            .chain(op.unit.then_some("unit"))
            .map(str::to_owned)
            .collect(),
        Op::Solve(op) => op.transposed.then(|| "transposed".to_owned()).into_iter().collect(),
        Op::Determinant(op) => vec![format!("{:?}", op.part).to_lowercase()],
        Op::Gather(op) => indexing(facts, &op.indexing),
        Op::Cumulate(op) => [Some(op.fold.name().to_owned()), Some(axis(&op.axis))]
            .into_iter()
            .chain([op.reverse.then(|| "reverse".to_owned()), op.exclusive.then(|| "exclusive".to_owned())])
            .flatten()
            .collect(),
        Op::Scatter(op) => {
            [op.combine.name().to_owned()].into_iter().chain(indexing(facts, &op.indexing)).collect()
        }
        Op::Scan(op) => {
            let Scan { body: _, count, carries, slices, reverse, conditional, counted } = op;
            let flags = [("reverse", reverse), ("conditional", conditional), ("counted", counted)];
            let mut shown = vec![
                format!("count = {}", facts.show(count)),
                format!("carries = {carries}"),
                format!("slices = {slices}"),
            ];
            shown.extend(flags.iter().filter(|(_, set)| **set).map(|(name, _)| (*name).to_owned()));
            shown
        }
        Op::Output(op) => vec![op.0.to_string()],
        Op::Custom(op) | Op::CustomTangent(op) => {
            let direction = if op.reverse { "vjp" } else { "jvp" };
            vec![op.name.clone(), direction.to_owned(), format!("results = {}", op.results)]
        }
        Op::Placeholder(op) => vec![op.number.to_string(), op.name.clone()],
    }
}

/// The attributes of a gather or scatter; a window stands behind its axis.
fn indexing(facts: &Facts, indexing: &Indexing) -> Vec<String> {
    let axes = list(&indexing.axes, |indexed| match &indexed.window {
        Some(window) => format!("{} window {}", indexed.axis, facts.show(window)),
        None => indexed.axis.to_string(),
    });
    vec![format!("axes = {axes}"), format!("batch = {:?}", indexing.batch), format!("at = {}", indexing.at)]
}

/// A constant so that its bits can be told; only NaN has payloads.
fn show_constant(constant: &Constant) -> String {
    match constant {
        Constant::Bool(value) => value.to_string(),
        Constant::Int(_, value) => value.to_string(),
        Constant::Float(_, bits) => match f64::from_bits(*bits) {
            value if value.is_nan() => format!("nan({bits:#x})"),
            value => format!("{value:?}"),
        },
    }
}

fn show_range(facts: &Facts, range: &Range) -> String {
    format!("{} step {} len {}", facts.show(&range.start), range.step, facts.show(&range.len))
}

fn show_border(facts: &Facts, axis: &PadAxis) -> String {
    format!("{} gap {} extent {}", facts.show(&axis.low), axis.gap, facts.show(&axis.extent))
}

fn list<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    let items: Vec<String> = items.iter().map(show).collect();
    format!("[{}]", items.join(", "))
}

#[cfg(test)]
mod tests {
    use tensorjit_runtime::abi::DType;

    use super::*;
    use crate::graph::ops::slice::Slice;
    use crate::graph::sketch::{Sketch, dim, n};
    use crate::graph::table::Ew;

    #[test]
    fn the_textual_form_names_every_attribute() {
        let ty = Type::new(DType::F32, [n(), dim(3)]);
        let mut sketch = Sketch::new(std::slice::from_ref(&ty));
        let x = sketch.input(0);
        let two = sketch.full(&ty, 2.0);
        let product = sketch.ew(Ew::Mul, &[x, two]);
        let cast = sketch.ew(Ew::Cast(DType::I64), &[product]);
        let ranges = vec![Range::full(&n()), Range { start: dim(2), step: -1, len: dim(3) }];
        let flipped = sketch.add(Op::Slice(Slice { ranges }), &[cast]);
        let expected = "\
symbol N in 0..=9223372036854775807
symbol M in 0..=9223372036854775807
input x0: f32[N, 3]
%0 = input 0 : f32[N, 3]
%1 = constant 2.0 : f32
%2 = broadcast %1, shape = [N, 3], axes = [] : f32[N, 3]
%3 = mul %0, %2 : f32[N, 3]
%4 = cast_i64 %3 : i64[N, 3]
%5 = slice %4, [0 step 1 len N, 2 step -1 len 3] : i64[N, 3]
output %5
";
        assert_eq!(sketch.finish(&[flipped]).to_string(), expected);
    }

    #[test]
    fn constants_with_other_bits_print_differently() {
        let text = |bits: u64| {
            let mut sketch = Sketch::new(&[]);
            let node = sketch.add(Op::Constant(Constant::Float(DType::F64, bits)), &[]);
            sketch.graph.show_node(node)
        };
        let bits =
            [0.0, -0.0, 0.1, 0.1 + f64::EPSILON / 8.0, f64::NAN, -f64::NAN, f64::INFINITY].map(f64::to_bits);
        let mut shown: Vec<String> = bits.iter().map(|bits| text(*bits)).collect();
        shown.sort();
        shown.dedup();
        assert_eq!(shown.len(), bits.len());
        assert_eq!(text(2.0f64.to_bits()), "%0 = constant 2.0 : f64");
    }
}
