//! The oracle: evaluates a graph node by node, in order, as plainly as can be.
//!
//! Floats are computed in f64 whatever their type; every element carries a bound on what rounding in a kernel
//! may add.  Nothing here is shared with the code that schedules or emits kernels.

mod elementwise;
mod scan;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use tensorjit_runtime::abi::DType;

use crate::diag::Bug;
use crate::graph::value::{Env, Value};
use crate::graph::{Graph, NodeId, Op, Type};

/// The outputs of a graph for values of its symbols, in the order of the facts, and of its inputs.
pub fn run(graph: &Graph, dims: &[i64], inputs: &[Value]) -> Result<Vec<Value>, Bug> {
    let env = Env { dims };
    if inputs.len() != graph.inputs.len() {
        return Err(bug(format!("{} values for {} inputs", inputs.len(), graph.inputs.len())));
    }
    for (value, input) in inputs.iter().zip(&graph.inputs) {
        check(&env, value, &input.ty, &input.name)?;
    }
    let needed = graph.reachable(&graph.outputs);
    let mut values: Vec<Option<Value>> = vec![None; graph.len()];
    let mut scans: BTreeMap<NodeId, Vec<Value>> = BTreeMap::new();
    for id in graph.ids().filter(|id| needed[id.0 as usize]) {
        let node = graph.node(id);
        let operands = node.inputs.iter().map(|input| values[input.0 as usize].as_ref());
        let operands: Vec<&Value> =
            operands.collect::<Option<_>>().ok_or_else(|| bug(format!("{id:?} comes before an operand")))?;
        let shape = env.shape(&node.ty.shape)?;
        if let Op::Scan(op) = &node.op {
            scans.insert(id, scan::eval(op, &env, &operands)?);
            values[id.0 as usize] = Some(Value::bools(&[], &[false]));
            continue;
        }
        if let (Op::Output(op), [from]) = (&node.op, node.inputs.as_slice()) {
            let value = scans.get(from).and_then(|results| results.get(op.0));
            values[id.0 as usize] = Some(value.cloned().ok_or_else(|| bug("a scan lacks a result"))?);
            continue;
        }
        let value = apply(&node.op, &env, &operands, &shape, inputs, node.ty.dtype)?;
        check(&env, &value, &node.ty, &graph.show_node(id))?;
        values[id.0 as usize] = Some(value);
    }
    let outputs = graph.outputs.iter().map(|id| values.get(id.0 as usize).cloned().flatten());
    outputs.collect::<Option<_>>().ok_or_else(|| bug("an output does not exist"))
}

fn apply(
    op: &Op,
    env: &Env,
    operands: &[&Value],
    shape: &[usize],
    inputs: &[Value],
    dtype: DType,
) -> Result<Value, Bug> {
    match op {
        Op::Input(i) => inputs.get(*i as usize).cloned().ok_or_else(|| bug(format!("there is no input {i}"))),
        Op::Constant(op) => op.eval(env, operands, shape),
        Op::DimValue(op) => op.eval(env, operands, shape),
        Op::Iota(op) => op.eval(env, operands, shape),
        Op::Elementwise(row) => elementwise::eval(*row, dtype, operands, shape),
        Op::Broadcast(op) => op.eval(env, operands, shape),
        Op::Permute(op) => op.eval(env, operands, shape),
        Op::Reshape(op) => op.eval(env, operands, shape),
        Op::Slice(op) => op.eval(env, operands, shape),
        Op::Pad(op) => op.eval(env, operands, shape),
        Op::Window(op) => op.eval(env, operands, shape),
        Op::Concat(op) => op.eval(env, operands, shape),
        Op::Reduce(op) => op.eval(env, operands, shape),
        Op::ArgReduce(op) => op.eval(env, operands, shape),
        Op::Contract(op) => op.eval(env, operands, shape),
        Op::Gather(op) => op.eval(env, operands, shape),
        Op::Scatter(op) => op.eval(env, operands, shape),
        Op::Cumulate(op) => op.eval(env, operands, shape),
        Op::Sort(op) => op.eval(env, operands, shape),
        Op::Cholesky(op) => op.eval(env, operands, shape),
        Op::TriangularSolve(op) => op.eval(env, operands, shape),
        Op::Solve(op) => op.eval(env, operands, shape),
        Op::Determinant(op) => op.eval(env, operands, shape),
        Op::Lu(op) => op.eval(env, operands, shape),
        Op::Variable(_) | Op::StopGradient => match operands {
            [operand, ..] => Ok((*operand).clone()),
            _ => Err(bug("an identity of nothing")),
        },
        Op::Scan(_) | Op::Output(_) => Err(bug("a scan has several values")),
        Op::Custom(op) | Op::CustomTangent(op) => Err(bug(format!("the rule of {} is not used", op.name))),
        Op::Placeholder(op) => Err(bug(format!("`{}` is bound to nothing", op.name))),
        Op::Derivative(op) => Err(bug(format!("{} is not differentiated", op.name()))),
    }
}

/// Checks a value against a type.
fn check(env: &Env, value: &Value, ty: &Type, what: &str) -> Result<(), Bug> {
    if value.dtype == ty.dtype && value.shape == env.shape(&ty.shape)? && value.is_valid() {
        return Ok(());
    }
    let found = format!("{} elements of {}{:?}", value.elements.len(), value.dtype.name(), value.shape);
    Err(bug(format!("{what}: the value is {found}")))
}

fn bug(message: impl Into<String>) -> Bug {
    Bug::new("interp", message)
}
