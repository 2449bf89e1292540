//! Rows of the table, element by element, with their error.

use tensorjit_runtime::abi::DType;

use crate::diag::Bug;
use crate::graph::table::Ew;
use crate::graph::value::{Element, Scalar, Value, rounding};

/// The value of a row whose operands have the shape of the result.
pub(super) fn eval(row: Ew, dtype: DType, operands: &[&Value], shape: &[usize]) -> Result<Value, Bug> {
    // All operands but masks have one type; it decides at which width a row works.
    let work = operands.last().map_or(dtype, |operand| operand.dtype);
    let mut args = Vec::with_capacity(operands.len());
    let mut elements = Vec::with_capacity(shape.iter().product());
    for position in 0..shape.iter().product() {
        args.clear();
        for operand in operands {
            let element = operand.elements.get(position);
            args.push(*element.ok_or_else(|| Bug::new("interp", "an elementwise operand is too short"))?);
        }
        elements.push(element(row, work, dtype, &args)?);
    }
    Ok(Value { dtype, shape: shape.to_vec(), elements })
}

fn element(row: Ew, work: DType, dtype: DType, args: &[Element]) -> Result<Element, Bug> {
    let scalars: Vec<Scalar> = args.iter().map(|arg| arg.scalar).collect();
    let scalar = row.eval(work, &scalars)?;
    let error = match row {
        Ew::Select => select_error(args),
        _ if scalars.iter().all(|scalar| !matches!(scalar, Scalar::Float(_))) => {
            exact_error(dtype, scalar, args)
        }
        _ => match scalar {
            Scalar::Float(result) => float_error(row, dtype, &scalars, args, result)?,
            Scalar::Int(_) | Scalar::Bool(_) => discrete_error(row, work, args, scalar)?,
        },
    };
    Ok(Element { scalar, error })
}

/// Of integers and truth values: none, unless an operand is unknown.  One that becomes a float is rounded.
fn exact_error(dtype: DType, scalar: Scalar, args: &[Element]) -> f64 {
    match scalar {
        _ if args.iter().any(|arg| arg.error != 0.0) => f64::INFINITY,
        Scalar::Float(result) => conversion_error(dtype, result),
        Scalar::Int(_) | Scalar::Bool(_) => 0.0,
    }
}

/// What the conversion of an exact number to `dtype` adds.
fn conversion_error(dtype: DType, result: f64) -> f64 {
    // A result of 16 bits is rounded as a kernel rounds it.
    if dtype == DType::F32 && f64::from(result as f32) != result { rounding(dtype, result, 0.5) } else { 0.0 }
}

/// Of a selection: that of the branch taken, unless the mask is unknown.
fn select_error(args: &[Element]) -> f64 {
    match args {
        [mask, yes, no] if mask.error == 0.0 => {
            if mask.scalar == Scalar::Bool(true) {
                yes.error
            } else {
                no.error
            }
        }
        // Whichever is taken, equal branches give the same.
        [_, yes, no] if yes.scalar == no.scalar => yes.error.max(no.error),
        _ => f64::INFINITY,
    }
}

/// Of integers and truth values made from floats: none, unless another value is within the operands' errors.
fn discrete_error(row: Ew, work: DType, args: &[Element], scalar: Scalar) -> Result<f64, Bug> {
    let certain = match (row, args) {
        _ if args.iter().all(|arg| arg.error == 0.0) => true,
        (Ew::Lt | Ew::Le | Ew::Gt | Ew::Ge | Ew::Eq | Ew::Ne, [a, b]) => {
            let (left, right) = (a.float(), b.float());
            left.is_nan() || right.is_nan() || (left - right).abs() > a.error + b.error
        }
        (Ew::Cast(DType::Bool), [x]) => x.float().abs() > x.error,
        _ => {
            let mut same = true;
            for corner in corners(args) {
                same &= row.eval(work, &corner)? == scalar;
            }
            same
        }
    };
    Ok(if certain { 0.0 } else { f64::INFINITY })
}

/// Of floats: what the kernel's own rounding adds, and what the operands' errors become.
fn float_error(row: Ew, dtype: DType, scalars: &[Scalar], args: &[Element], result: f64) -> Result<f64, Bug> {
    if let (Ew::Dmul, [_, t]) = (row, args)
        && t.scalar == Scalar::Float(0.0)
        && t.error == 0.0
    {
        return Ok(0.0);
    }
    let own = own_error(row, dtype, args, result);
    if args.iter().all(|arg| arg.error == 0.0) {
        return Ok(own);
    }
    Ok(own + propagated(row, dtype, scalars, args, result)?)
}

/// Whether a kernel has exactly zero too.
fn is_zero(element: &Element) -> bool {
    element.float() == 0.0 && element.error == 0.0
}

fn own_error(row: Ew, dtype: DType, args: &[Element], result: f64) -> f64 {
    let accuracy = row.row().accuracy;
    let ulps = accuracy.of(dtype);
    match (row, args) {
        (Ew::Cast(_), _) => conversion_error(dtype, result),
        _ if ulps == 0.0 => 0.0,
        // A zero without error stays one: it decides whether a derivative is multiplied at all.
        (Ew::Add | Ew::Sub, [a, b]) if is_zero(a) && is_zero(b) => 0.0,
        (Ew::Mul | Ew::Dmul, [a, b]) if result == 0.0 && (is_zero(a) || is_zero(b)) => 0.0,
        // Without FMA the product is rounded too.
        (Ew::Fma, [a, b, _]) => {
            rounding(dtype, result, ulps + 0.5) + rounding(dtype, a.float() * b.float(), 0.5)
        }
        // The oracle's functions are themselves off by a unit of f64 at most.
        _ => {
            let size = if result.is_nan() { result } else { result.abs().max(accuracy.least) };
            rounding(dtype, size, ulps) + rounding(DType::F64, size, 1.0)
        }
    }
}

/// The greater of the first order and of what the function does at the corners of the operands' errors;
/// infinite where it may jump within them.
fn propagated(row: Ew, dtype: DType, scalars: &[Scalar], args: &[Element], result: f64) -> Result<f64, Bug> {
    let widest = args.iter().fold(0.0, |widest: f64, arg| widest.max(arg.error));
    if widest == f64::INFINITY {
        return Ok(f64::INFINITY);
    }
    let kinks = &row.row().kinks;
    let floats: Vec<f64> = args.iter().map(|arg| arg.float()).collect();
    // The distance is a rough one, so that a little room is left.
    if kinks.jumps && (kinks.distance)(&floats) <= 4.0 * widest {
        return Ok(f64::INFINITY);
    }
    let mut error = 0.0;
    for corner in corners(args) {
        let there = row.eval(dtype, &corner)?.to_f64();
        let same = there == result || (there.is_nan() && result.is_nan());
        let distance = if same { 0.0 } else { (there - result).abs() };
        error = if distance.is_nan() { f64::INFINITY } else { distance.max(error) };
        if error == f64::INFINITY {
            return Ok(error);
        }
    }
    if !result.is_finite() {
        return Ok(0.0);
    }
    let mut first_order = 0.0;
    for (partial, arg) in row.partials(scalars, Scalar::Float(result))?.iter().flatten().zip(args) {
        if arg.error != 0.0 {
            first_order += partial.abs() * arg.error;
        }
    }
    Ok(if first_order.is_nan() { f64::INFINITY } else { first_order.max(error) })
}

/// The operands with each float at either end of its error.
fn corners(args: &[Element]) -> impl Iterator<Item = Vec<Scalar>> {
    (0..1usize << args.len()).map(|ends| {
        let end = |(position, arg): (usize, &Element)| match arg.scalar {
            Scalar::Float(value) if ends >> position & 1 == 1 => Scalar::Float(value + arg.error),
            Scalar::Float(value) => Scalar::Float(value - arg.error),
            exact => exact,
        };
        args.iter().enumerate().map(end).collect()
    })
}
