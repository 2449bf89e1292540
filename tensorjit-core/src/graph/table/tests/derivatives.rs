//! The derivatives of the rows.

use super::*;

/// The value of a row as a float.
fn value(ew: Ew, args: &[f64]) -> f64 {
    ew.eval(DType::F64, &operands(ew, args)).expect("a row takes its own operands").to_f64()
}

/// The derivatives of a row.
fn partials(ew: Ew, args: &[f64]) -> Vec<f64> {
    let scalars = operands(ew, args);
    let out = ew.eval(DType::F64, &scalars).expect("a row takes its own operands");
    ew.partials(&scalars, out).expect("a formula fits its row").expect("every row has a derivative")
}

#[test]
fn derivatives_are_those_of_central_differences() {
    let mut random = Random(7);
    let step = 1e-4;
    // The bits of a float are no function of it that has a derivative, and to differences one rounded to 16 bits is none.
    let with_floats = |ew: &&Ew| {
        ew.row().types.accepts().contains(&DType::F64)
            && ew.row().types != TypeRule::ToBits
            && !matches!(ew, Ew::Cast(to) if to.is_half())
    };
    for ew in Ew::ALL.iter().copied().filter(|ew| with_floats(&ew)) {
        for _ in 0..200 {
            let args = sample(ew, &mut random);
            for (position, partial) in partials(ew, &args).into_iter().enumerate() {
                if ew.row().types.operand(position, DType::F64) == DType::Bool {
                    continue;
                }
                let at = |shift: f64| {
                    let mut moved = args.clone();
                    moved[position] += shift * step;
                    value(ew, &moved)
                };
                // Of fourth order, so that rounding and truncation both stay below the tolerance.
                let difference = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
                let error = (partial - difference).abs();
                assert!(
                    error <= 1e-9 * (1.0 + partial.abs()),
                    "{ew:?} at {args:?}, operand {position}: {partial} is not {difference}"
                );
            }
        }
    }
}

#[test]
fn derivatives_at_kinks_are_the_conventions() {
    for ew in Ew::ALL {
        for kink in ew.row().kinks.values {
            assert_eq!(partials(*ew, kink.at), kink.partials, "{ew:?} at {:?}", kink.at);
        }
    }
}

#[test]
fn small_derivatives_keep_their_digits() {
    for (ew, x, expected) in [
        (Ew::Tanh, 20.0, 1.699_341_702_116_635_6e-17),
        (Ew::Sigmoid, 40.0, 4.248_354_255_291_589e-18),
        (Ew::Sigmoid, -800.0, 0.0),
        (Ew::Expm1, -40.0, 4.248_354_255_291_589e-18),
        (Ew::Erf, 6.0, 2.617_301_239_249_265e-16),
    ] {
        let found = partials(ew, &[x])[0];
        assert!((found - expected).abs() <= 1e-14 * expected, "{ew:?} at {x}: {found:e} is not {expected:e}");
    }
}

#[test]
fn derivatives_neither_overflow_nor_underflow_on_the_way() {
    for (ew, args, expected) in [
        (Ew::Atan2, vec![1e-200, 1e-200], vec![5e199, -5e199]),
        (Ew::Atan2, vec![1e200, 1e200], vec![5e-201, -5e-201]),
        (Ew::Hypot, vec![3e200, 4e200], vec![0.6, 0.8]),
        (Ew::Div, vec![1e-200, 1e-180], vec![1e180, -1e160]),
        (Ew::Rsqrt, vec![1e-200], vec![-5e299]),
    ] {
        for (found, expected) in partials(ew, &args).into_iter().zip(expected) {
            let error = (found - expected).abs() / expected.abs();
            assert!(error < 1e-15, "{ew:?} at {args:?}: {found:e} is not {expected:e}");
        }
    }
}

#[test]
fn linear_rows_are_linear_in_what_they_name() {
    let mut random = Random(11);
    for ew in Ew::ALL {
        let Derivative::Linear { operands: named, transpose } = ew.row().derivative else { continue };
        assert_eq!(named.len(), transpose().len(), "{ew:?}");
        for _ in 0..50 {
            let (a, b) = (sample(*ew, &mut random), sample(*ew, &mut random));
            let mut sum = a.clone();
            let mut second = a.clone();
            for position in named {
                sum[*position] += b[*position];
                second[*position] = b[*position];
            }
            let error = value(*ew, &sum) - value(*ew, &a) - value(*ew, &second);
            // To 16 bits each of the three is rounded.
            let room = if matches!(ew, Ew::Cast(to) if to.is_half()) { 0.1 } else { 1e-14 };
            assert!(error.abs() < room, "{ew:?} of {a:?} and {b:?}");
        }
    }
}
