//! Folds of the oracle, each with a bound on the error of a kernel that folds in any order.

use tensorjit_runtime::abi::DType;

use super::reduce::ReduceKind;
use crate::graph::value::{Element, Index, Scalar, Value, flat, rounding, unit, wrap};

/// Folds `elements`, of type `dtype`.
pub fn fold(kind: ReduceKind, dtype: DType, elements: &[Element]) -> Element {
    match kind {
        ReduceKind::Sum => sum(dtype, elements),
        ReduceKind::Prod => prod(dtype, elements),
        ReduceKind::Max => extreme(dtype, elements, false),
        ReduceKind::Min => extreme(dtype, elements, true),
        ReduceKind::Any => decide(elements, true),
        ReduceKind::All => decide(elements, false),
    }
}

/// The sum; 0 of none.
pub fn sum(dtype: DType, elements: &[Element]) -> Element {
    if !dtype.is_float() {
        return int_fold(dtype, elements, 0, i128::wrapping_add);
    }
    // Rust's own sum of floats begins at -0.
    let total = elements.iter().fold(0.0, |total, e| total + e.float());
    // What any order of summation may reach on the way, and so what each rounding is relative to.
    let reach: f64 =
        elements.iter().filter(|e| e.float().is_finite()).map(|e| e.float().abs() + e.error).sum();
    let error: f64 = elements.iter().map(|e| e.error).sum();
    // Zeros without error have a sum without error.
    let rounded = if reach == 0.0 { 0.0 } else { rounding(dtype, reach, elements.len() as f64) };
    let error = error + rounded;
    Element { scalar: Scalar::Float(total), error: finite_or_lost(error) }
}

/// The product; 1 of none.
pub fn prod(dtype: DType, elements: &[Element]) -> Element {
    if !dtype.is_float() {
        return int_fold(dtype, elements, 1, i128::wrapping_mul);
    }
    let total: f64 = elements.iter().map(|e| e.float()).product();
    let finite = || elements.iter().filter(|e| e.float().is_finite());
    let upper: f64 = finite().map(|e| e.float().abs() + e.error).product();
    let exact: f64 = finite().map(|e| e.float().abs()).product();
    // The greatest and the least product of any part: kernels may overflow or underflow on the way.
    let greatest: f64 = finite().map(|e| (e.float().abs() + e.error).max(1.0)).product();
    let least: f64 = finite().map(|e| e.float().abs()).filter(|x| *x > 0.0).map(|x| x.min(1.0)).product();
    let normal = if dtype == DType::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let infinite = elements.iter().any(|e| e.float().is_infinite());
    let lost = infinite && (least < normal || finite().any(|e| e.error >= e.float().abs() && e.error > 0.0));
    let count = elements.len() as f64;
    let underflow = if least < normal { count * normal * unit(dtype) * greatest } else { 0.0 };
    let error = if lost || elements.iter().any(|e| e.error.is_infinite()) {
        f64::INFINITY
    } else {
        upper - exact + underflow + rounding(dtype, greatest, 0.0) + count * unit(dtype) * upper
    };
    Element { scalar: Scalar::Float(total), error: finite_or_lost(error) }
}

/// The product of two floats.
pub fn product(dtype: DType, a: Element, b: Element) -> Element {
    if !dtype.is_float() {
        return int_fold(dtype, &[a, b], 1, i128::wrapping_mul);
    }
    let (x, y) = (a.float(), b.float());
    let unsure = |e: Element| e.error.is_infinite() || (e.error > 0.0 && e.error >= e.float().abs());
    let value = x * y;
    let error = if a.error.is_infinite() || b.error.is_infinite() {
        f64::INFINITY
    } else if x.is_finite() && y.is_finite() {
        let upper = (x.abs() + a.error) * (y.abs() + b.error);
        let rounded = if upper == 0.0 { 0.0 } else { rounding(dtype, upper, 1.0) };
        x.abs() * b.error + y.abs() * a.error + a.error * b.error + rounded
    } else if unsure(a) || unsure(b) {
        f64::INFINITY
    } else {
        0.0
    };
    Element { scalar: Scalar::Float(value), error: finite_or_lost(error) }
}

/// The greatest or least element, NaN winning.
fn extreme(dtype: DType, elements: &[Element], least: bool) -> Element {
    let error = elements.iter().fold(0.0, |error: f64, e| error.max(e.error));
    if !dtype.is_float() {
        let ints = elements.iter().map(|e| int(*e));
        let found = if least { ints.min() } else { ints.max() };
        let (low, high) = dtype.bounds();
        let none = if least { high } else { low };
        return Element { scalar: Scalar::Int(found.unwrap_or(none)), error };
    }
    let none = if least { f64::INFINITY } else { f64::NEG_INFINITY };
    let value = elements.iter().map(|e| e.float()).fold(none, |best, x| {
        if best.is_nan() || x.is_nan() {
            f64::NAN
        } else if least {
            best.min(x)
        } else {
            best.max(x)
        }
    });
    Element { scalar: Scalar::Float(value), error }
}

/// `any` where `winner` is true, `all` where it is false: the winner where one element is it.
fn decide(elements: &[Element], winner: bool) -> Element {
    let wins = |e: &&Element| e.scalar == Scalar::Bool(winner);
    let certain = elements.iter().filter(wins).any(|e| e.error == 0.0);
    let sure = certain || elements.iter().all(|e| e.error == 0.0);
    let found = elements.iter().any(|e| wins(&e));
    let value = if found { winner } else { !winner };
    Element { scalar: Scalar::Bool(value), error: if sure { 0.0 } else { f64::INFINITY } }
}

fn int_fold(dtype: DType, elements: &[Element], none: i128, step: fn(i128, i128) -> i128) -> Element {
    // Products of 64 bits fit 128, so that each step is wrapped before the next.
    let value = elements.iter().fold(none, |total, e| wrap(dtype, step(total, int(*e))));
    let error = if elements.iter().all(|e| e.error == 0.0) { 0.0 } else { f64::INFINITY };
    Element { scalar: Scalar::Int(value), error }
}

/// The integer of an element of an integer type.
pub fn int(element: Element) -> i128 {
    match element.scalar {
        Scalar::Int(value) => value,
        Scalar::Bool(value) => i128::from(value),
        Scalar::Float(value) => value as i128,
    }
}

/// An error bound that became NaN, as of infinity times zero, bounds nothing.
fn finite_or_lost(error: f64) -> f64 {
    if error.is_nan() { f64::INFINITY } else { error }
}

/// Sorts the elements of `x` by their index along the axes that are not folded away.
///
/// The result has one list for each element of the folded tensor, in row-major order.
pub fn groups(x: &Value, folded: &[usize]) -> Vec<Vec<Element>> {
    let kept: Vec<usize> = (0..x.shape.len()).filter(|axis| !folded.contains(axis)).collect();
    let shape: Vec<usize> = kept.iter().map(|axis| x.shape[*axis]).collect();
    let mut groups = vec![Vec::new(); shape.iter().product()];
    let mut walk = Index::new(&x.shape);
    let mut target = vec![0; kept.len()];
    let mut position = 0;
    while let Some(index) = walk.next() {
        for (place, axis) in target.iter_mut().zip(&kept) {
            *place = index[*axis];
        }
        groups[flat(&shape, &target)].push(x.elements[position]);
        position += 1;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f64]) -> Vec<Element> {
        values.iter().map(|value| Element::exact(Scalar::Float(*value))).collect()
    }

    #[test]
    fn folds_of_nothing() {
        let cases = [
            (ReduceKind::Sum, 0.0),
            (ReduceKind::Prod, 1.0),
            (ReduceKind::Max, f64::NEG_INFINITY),
            (ReduceKind::Min, f64::INFINITY),
        ];
        for (kind, expected) in cases {
            let found = fold(kind, DType::F64, &[]).float();
            assert_eq!(found.to_bits(), expected.to_bits(), "{kind:?}");
        }
        assert_eq!(fold(ReduceKind::Max, DType::I32, &[]).scalar, Scalar::Int(i32::MIN.into()));
        assert_eq!(fold(ReduceKind::Any, DType::Bool, &[]).scalar, Scalar::Bool(false));
        assert_eq!(fold(ReduceKind::All, DType::Bool, &[]).scalar, Scalar::Bool(true));
    }

    #[test]
    fn nan_wins_an_extreme() {
        for kind in [ReduceKind::Max, ReduceKind::Min] {
            assert!(fold(kind, DType::F64, &floats(&[1.0, f64::NAN, 2.0])).float().is_nan(), "{kind:?}");
        }
    }

    #[test]
    fn bounds_hold_for_f32_in_both_directions() {
        let values: Vec<f64> = (0..100).map(|i| f64::from((f64::from(i) * 0.37).sin() as f32)).collect();
        let forward = values.iter().fold(0.0f32, |s, x| s + *x as f32);
        let backward = values.iter().rev().fold(0.0f32, |s, x| s + *x as f32);
        let found = sum(DType::F32, &floats(&values));
        for total in [forward, backward] {
            assert!((f64::from(total) - found.float()).abs() <= found.error);
        }
        assert!(found.error < 1e-3);
    }

    #[test]
    fn a_product_that_may_overflow_on_the_way_is_lost() {
        assert_eq!(prod(DType::F32, &floats(&[1e30, 1e30, 1e-30, 1e-30])).error, f64::INFINITY);
        assert!(prod(DType::F32, &floats(&[3.0, 0.0, 2.0])).error < 1e-5);
    }

    #[test]
    fn a_truth_value_that_is_unsure_spreads_only_where_it_decides() {
        let unsure = Element { scalar: Scalar::Bool(false), error: f64::INFINITY };
        let yes = Element::exact(Scalar::Bool(true));
        assert_eq!(fold(ReduceKind::Any, DType::Bool, &[unsure, yes]).error, 0.0);
        assert_eq!(fold(ReduceKind::All, DType::Bool, &[unsure, yes]).error, f64::INFINITY);
    }

    #[test]
    fn groups_keep_the_order() {
        let x = Value::ints(DType::I64, &[2, 3], &[1, 2, 3, 4, 5, 6]);
        let found = groups(&x, &[0]);
        let ints: Vec<Vec<i128>> = found.iter().map(|g| g.iter().map(|e| int(*e)).collect()).collect();
        assert_eq!(ints, [[1, 4], [2, 5], [3, 6]]);
    }
}
