//! Loops of the oracle: the body is evaluated step by step.

use tensorjit_runtime::abi::DType;

use crate::diag::Bug;
use crate::graph::ops::fold;
use crate::graph::ops::scan::Scan;
use crate::graph::value::{Element, Env, Scalar, Value};

/// All results for the values of the operands.
pub(super) fn eval(scan: &Scan, env: &Env, operands: &[&Value]) -> Result<Vec<Value>, Bug> {
    let count = env.extent(&scan.count)? as i64;
    let steps = match (scan.counted, operands.last()) {
        (true, Some(steps)) => {
            // The number of steps is an `i64`.
            steps.elements.first().map_or(0, |steps| fold::int(*steps) as i64).min(count)
        }
        _ => count,
    };
    let mut carries: Vec<Value> = operands[..scan.carries].iter().map(|value| (*value).clone()).collect();
    let sliced = &operands[scan.carries..scan.carries + scan.slices];
    let captures = &operands[scan.carries + scan.slices..operands.len() - usize::from(scan.counted)];
    let mut stacks = Vec::with_capacity(scan.stacks());
    for position in 0..scan.stacks() {
        let ty = scan.result(scan.carries + position)?;
        let shape = env.shape(&ty.shape)?;
        stacks.push(Value::build(ty.dtype, &shape, |_| Ok(Element::exact(zero(ty.dtype))))?);
    }
    let mut taken = 0;
    for turn in 0..steps {
        let step = if scan.reverse { steps - 1 - turn } else { turn };
        let mut inputs = carries.clone();
        inputs.extend(sliced.iter().map(|value| row(value, step as usize)));
        inputs.extend(captures.iter().map(|value| (*value).clone()));
        inputs.push(Value::ints(DType::I64, &[], &[step]));
        let mut outputs = super::run(&scan.body, env.dims, &inputs)?;
        if scan.conditional {
            let goes_on = outputs.pop().and_then(|value| value.elements.first().copied());
            if goes_on.is_none_or(|element| fold::int(element) == 0) {
                break;
            }
        }
        taken += 1;
        for (stack, value) in stacks.iter_mut().zip(outputs.drain(scan.carries..)) {
            let len = value.elements.len();
            stack.elements[step as usize * len..][..len].copy_from_slice(&value.elements);
        }
        carries = outputs;
    }
    carries.extend(stacks);
    if scan.conditional {
        carries.push(Value::ints(DType::I64, &[], &[taken]));
    }
    Ok(carries)
}

/// One index of the first axis.
fn row(value: &Value, at: usize) -> Value {
    let len = value.shape[1..].iter().product::<usize>();
    let elements = value.elements[at * len..][..len].to_vec();
    Value { dtype: value.dtype, shape: value.shape[1..].to_vec(), elements }
}

/// What stands where no step has stacked anything.
fn zero(dtype: DType) -> Scalar {
    match dtype {
        DType::Bool => Scalar::Bool(false),
        dtype if dtype.is_float() => Scalar::Float(0.0),
        _ => Scalar::Int(0),
    }
}
