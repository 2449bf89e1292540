//! Arithmetic of polynomials and integers that solving and proving share.

use std::cmp::Ordering;

use super::{Atom, Dim, Monomial};

/// The graded lexicographic order of monomials, which products respect, so that rewriting ends.  What has more
/// quotients and the like is larger, whatever its degree: rewriting does away with them.
pub(super) fn graded(a: &Monomial, b: &Monomial) -> Ordering {
    let degree = |m: &Monomial, all: bool| {
        let counted = m.0.iter().filter(|(atom, _)| all || !matches!(atom, Atom::Sym(_)));
        counted.map(|(_, power)| u64::from(*power)).sum::<u64>()
    };
    let by_degree = |all: bool| degree(a, all).cmp(&degree(b, all));
    by_degree(false).then_with(|| by_degree(true)).then_with(|| {
        for ((atom_a, power_a), (atom_b, power_b)) in a.0.iter().zip(b.0.iter()) {
            // More of an earlier atom is larger.
            match atom_b.cmp(atom_a).then(power_a.cmp(power_b)) {
                Ordering::Equal => {}
                order => return order,
            }
        }
        Ordering::Equal
    })
}

/// The solutions `x = step*q + start` of `scale*x == wanted` modulo `modulus`.
pub(super) fn congruence(scale: i128, wanted: i128, modulus: i128) -> Option<(i128, i128)> {
    if modulus <= 0 {
        return None;
    }
    let divisor = gcd(scale, modulus);
    if divisor == 0 || wanted % divisor != 0 {
        return None;
    }
    let step = modulus / divisor;
    let (scale, wanted) = ((scale / divisor).rem_euclid(step), (wanted / divisor).rem_euclid(step));
    // The inverse by the extended algorithm of Euclid.
    let (mut old, mut new) = ((scale, 1_i128), (step, 0_i128));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    Some((step, old.1.rem_euclid(step).checked_mul(wanted)?.rem_euclid(step)))
}

/// The greatest common divisor; of zeros, zero.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(i128::MAX)
}

/// A constant of any size.
pub(super) fn constant(value: i128) -> Dim {
    Dim::from_terms([(Monomial::default(), value)])
}

/// `factor * dim`.
pub(super) fn scaled(dim: &Dim, factor: i128) -> Dim {
    Dim::from_terms(dim.terms().iter().map(|(m, c)| (m.clone(), c.saturating_mul(factor))))
}

/// `(q, r)` with `dim = divisor*q + r`, the constant coefficients of `r` least and not negative where the
/// divisor is a constant.
pub(super) fn split(dim: &Dim, divisor: &Dim) -> (Dim, Dim) {
    let modulus = divisor.as_const().map(i128::from).filter(|modulus| *modulus > 0);
    let (mut quotient, mut rest) = (Vec::new(), Vec::new());
    for (monomial, coefficient) in dim.terms() {
        if let Some(modulus) = modulus {
            quotient.push((monomial.clone(), coefficient.div_euclid(modulus)));
            rest.push((monomial.clone(), coefficient.rem_euclid(modulus)));
            continue;
        }
        let term = Dim::from_terms([(monomial.clone(), *coefficient)]);
        match term.exact_quotient(divisor) {
            Some(exact) => quotient.extend(exact.terms().iter().cloned()),
            None => rest.push((monomial.clone(), *coefficient)),
        }
    }
    (Dim::from_terms(quotient), Dim::from_terms(rest))
}

/// The atom with its operands replaced.
pub(super) fn rebuild(atom: &Atom, image: &mut dyn FnMut(&Dim) -> Dim) -> Dim {
    match atom {
        Atom::Sym(sym) => Dim::sym(*sym),
        Atom::FloorDiv(a, b) => image(a).floor_div(&image(b)),
        Atom::CeilDiv(a, b) => image(a).ceil_div(&image(b)),
        Atom::Mod(a, b) => image(a).modulo(&image(b)),
        Atom::Min(a, b) => image(a).minimum(&image(b)),
        Atom::Max(a, b) => image(a).maximum(&image(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sym;
    use super::*;

    #[test]
    fn congruences_have_exactly_their_solutions() {
        for scale in -9..=9 {
            for modulus in 1..=9 {
                for wanted in -9..=9 {
                    let solves = |x: i128| (scale * x - wanted).rem_euclid(modulus) == 0;
                    let solution = congruence(scale, wanted, modulus);
                    for x in -20..=20 {
                        let member = solution.is_some_and(|(step, start)| (x - start).rem_euclid(step) == 0);
                        assert_eq!(
                            solves(x),
                            member,
                            "{scale} * {x} == {wanted} mod {modulus}: {solution:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn graded_order_respects_products() {
        let atom = |i| match i {
            2 => Atom::FloorDiv(Dim::sym(Sym(0)), Dim::sym(Sym(1))),
            _ => Atom::Sym(Sym(i)),
        };
        let monomials: Vec<Monomial> = (0..27)
            .map(|code: u32| {
                let powers = [code % 3, code / 3 % 3, code / 9];
                let factors = powers.iter().enumerate().filter(|(_, p)| **p > 0);
                Monomial(factors.map(|(i, p)| (atom(i as u32), *p)).collect())
            })
            .collect();
        let dim = |m: &Monomial| Dim::from_terms([(m.clone(), 1)]);
        for a in &monomials {
            for b in &monomials {
                assert_eq!(graded(a, b) == Ordering::Equal, a == b);
                for c in &monomials {
                    let (ac, bc) = (&dim(a) * &dim(c), &dim(b) * &dim(c));
                    assert_eq!(graded(a, b), graded(&ac.terms()[0].0, &bc.terms()[0].0), "{a:?} {b:?} {c:?}");
                }
            }
        }
    }
}
