//! Proofs of inequalities: intervals first, then sums of differences that are known not to be negative.

use std::cell::OnceCell;

use super::algebra::{constant, gcd, rebuild, scaled, split};
use super::interval::Interval;
use super::solver::Solver;
use super::{Atom, Dim, Monomial};

/// How many known differences one proof may add up.
const DEPTH: usize = 3;

/// How many attempts one proof may make, so that hostile clauses cost no time.
const ATTEMPTS: usize = 200;

/// Polynomials with more terms are not multiplied out.
const TERMS: usize = 24;

/// An expression as proofs about it see it.
pub(super) struct View<'d> {
    dim: &'d Dim,
    /// Values that it has for some values of the symbols.
    seen: Interval,
    proven: OnceCell<Proven>,
}

struct Proven {
    /// Over atoms that start at 0, where that can be written out.
    shifted: Option<Dim>,
    range: Interval,
}

impl Solver {
    /// Bounds by interval arithmetic, of the polynomial as it stands and over symbols shifted to start at 0.
    pub(super) fn range(&self, dim: &Dim) -> Interval {
        self.proven(dim).range
    }

    /// What the proofs about `dim` share.
    pub(super) fn view<'d>(&self, dim: &'d Dim) -> View<'d> {
        View { dim, seen: self.seen(dim), proven: OnceCell::new() }
    }

    fn proven(&self, dim: &Dim) -> Proven {
        let plain = self.naive_range(dim);
        if dim.terms().len() < 2 {
            return Proven { shifted: self.shift(dim), range: plain };
        }
        let shifted = self.shift(dim);
        let range = match &shifted {
            Some(shifted) if plain.low.is_none() || plain.high.is_none() => {
                let high = self.shifted_low(&-shifted).and_then(i128::checked_neg);
                plain.meet(Interval { low: self.shifted_low(shifted), high })
            }
            _ => plain,
        };
        Proven { shifted, range }
    }

    /// Whether the value is at least `bound` for all values of the symbols.
    pub(super) fn at_least(&self, view: &View<'_>, bound: i64) -> bool {
        let bound = i128::from(bound);
        if view.seen.low.is_some_and(|low| low < bound) {
            return false;
        }
        let Proven { shifted, range } = view.proven.get_or_init(|| self.proven(view.dim));
        range.low.is_some_and(|low| low >= bound)
            || shifted.as_ref().is_some_and(|dim| self.nonneg_shifted(&(dim - &constant(bound))))
    }

    /// Whether the value is at most `bound` for all values of the symbols.
    pub(super) fn at_most(&self, view: &View<'_>, bound: i64) -> bool {
        let bound = i128::from(bound);
        if view.seen.high.is_some_and(|high| high > bound) {
            return false;
        }
        let Proven { shifted, range } = view.proven.get_or_init(|| self.proven(view.dim));
        range.high.is_some_and(|high| high <= bound)
            || shifted.as_ref().is_some_and(|dim| self.nonneg_shifted(&(&constant(bound) - dim)))
    }

    /// Whether the value is at least 0 for all values of the symbols.
    pub(super) fn nonneg(&self, dim: &Dim) -> bool {
        match dim.as_const() {
            Some(value) => value >= 0,
            None => self.at_least(&self.view(dim), 0),
        }
    }

    fn nonneg_shifted(&self, dim: &Dim) -> bool {
        let mut attempts = ATTEMPTS;
        self.nonneg_by_sums(dim, DEPTH, &mut attempts)
    }

    pub(super) fn naive_range(&self, dim: &Dim) -> Interval {
        dim.terms().iter().fold(Interval::point(0), |sum, (monomial, coefficient)| {
            let factors = monomial.0.iter().map(|(atom, power)| self.atom_range(atom).pow(*power));
            sum.add(factors.fold(Interval::point(*coefficient), Interval::mul))
        })
    }

    fn atom_range(&self, atom: &Atom) -> Interval {
        if !self.solved || matches!(atom, Atom::Sym(_)) {
            return self.range_of_atom(atom);
        }
        if let Some(range) = self.ranges.borrow().get(atom) {
            return *range;
        }
        let range = self.range_of_atom(atom);
        self.ranges.borrow_mut().insert(atom.clone(), range);
        range
    }

    fn range_of_atom(&self, atom: &Atom) -> Interval {
        match atom {
            Atom::Sym(sym) => self.bounds(*sym),
            Atom::FloorDiv(a, b) => self.range(a).floor_div(self.range(b)),
            Atom::CeilDiv(a, b) => self.range(a).neg().floor_div(self.range(b)).neg(),
            Atom::Mod(a, b) => self.range(a).modulo(self.range(b)),
            Atom::Min(a, b) => self.range(a).minimum(self.range(b)),
            Atom::Max(a, b) => self.range(a).maximum(self.range(b)),
        }
    }

    /// Rewrites over atoms from which their lower bounds are subtracted: `N` stands for `N - low`.
    ///
    /// `None` where that has too many terms or too large coefficients for exact arithmetic.
    fn shift(&self, dim: &Dim) -> Option<Dim> {
        let starts_at_zero = |(atom, _): &(Atom, u32)| self.atom_range(atom).low.unwrap_or(0) == 0;
        if dim.terms().iter().all(|(monomial, _)| monomial.0.iter().all(starts_at_zero)) {
            return is_small(dim).then(|| dim.clone());
        }
        let mut sum = Dim::default();
        for (monomial, coefficient) in dim.terms() {
            let mut product = constant(*coefficient);
            for (atom, power) in monomial.0.iter() {
                let low = self.atom_range(atom).low.unwrap_or(0);
                let value = &Dim::atom(atom.clone()) + &constant(low);
                for _ in 0..*power {
                    product = &product * &value;
                    if product.terms().len() > TERMS {
                        return None;
                    }
                }
            }
            sum = &sum + &product;
        }
        is_small(&sum).then_some(sum)
    }

    /// The lower bound of a shifted polynomial.
    fn shifted_low(&self, dim: &Dim) -> Option<i128> {
        dim.terms().iter().try_fold(0_i128, |sum, term| sum.checked_add(self.shifted_term(term)?))
    }

    fn shifted_term(&self, (monomial, coefficient): &(Monomial, i128)) -> Option<i128> {
        let factors = monomial.0.iter().map(|(atom, power)| {
            let Interval { low, high } = self.atom_range(atom);
            match low {
                Some(low) => Interval { low: Some(0), high: high.and_then(|high| high.checked_sub(low)) },
                None => Interval { low, high },
            }
            .pow(*power)
        });
        factors.fold(Interval::point(*coefficient), Interval::mul).low
    }

    /// Cancels a negative term of `dim` (shifted) against one of a known difference, and tries again.
    fn nonneg_by_sums(&self, dim: &Dim, depth: usize, attempts: &mut usize) -> bool {
        if self.shifted_low(dim).is_some_and(|low| low >= 0) {
            return true;
        }
        if depth == 0 || dim.terms().len() > TERMS || !is_small(dim) {
            return false;
        }
        let known = self.differences(dim);
        for (monomial, coefficient) in dim.terms().iter().filter(|(_, c)| *c < 0) {
            let term = Dim::from_terms([(monomial.clone(), 1)]);
            for difference in &known {
                for (by, by_coefficient) in difference.terms().iter().filter(|(_, c)| *c < 0) {
                    let Some(factor) = term.exact_quotient(&Dim::from_terms([(by.clone(), 1)])) else {
                        continue;
                    };
                    if *attempts == 0 {
                        return false;
                    }
                    *attempts -= 1;
                    if self.shifted_low(&factor).is_none_or(|low| low < 0) {
                        continue;
                    }
                    let common = gcd(*coefficient, *by_coefficient);
                    let rest = &scaled(dim, -by_coefficient / common)
                        - &scaled(&(difference * &factor), -coefficient / common);
                    if self.nonneg_by_sums(&rest, depth - 1, attempts) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Shifted polynomials that are not negative and may serve in a proof about `dim`.
    fn differences(&self, dim: &Dim) -> Vec<Dim> {
        let mut found: Vec<Dim> = self.known.iter().filter_map(|known| self.shift(known)).collect();
        let mut atoms: Vec<&Atom> =
            dim.terms().iter().flat_map(|(m, _)| m.0.iter().map(|(a, _)| a)).collect();
        atoms.sort();
        atoms.dedup();
        for atom in atoms {
            let Interval { low, high } = self.atom_range(atom);
            if let (Some(low), Some(high)) = (low, high)
                && let Some(width) = high.checked_sub(low)
            {
                found.push(&constant(width) - &Dim::atom(atom.clone()));
            }
            found.extend(definition(atom).iter().filter_map(|difference| self.shift(difference)));
        }
        found
    }

    /// Simplifies every quotient, remainder and extremum, innermost first.
    pub(super) fn simplify_atoms(&self, dim: &Dim) -> Dim {
        let plain = |atom: &Atom| matches!(atom, Atom::Sym(_));
        if dim.terms().iter().all(|(monomial, _)| monomial.0.iter().all(|(atom, _)| plain(atom))) {
            return dim.clone();
        }
        let mut sum = Dim::default();
        for (monomial, coefficient) in dim.terms() {
            let mut product = constant(*coefficient);
            for (atom, power) in monomial.0.iter() {
                let value = self.simplify_atom(atom);
                for _ in 0..*power {
                    product = &product * &value;
                }
            }
            sum = &sum + &product;
        }
        sum
    }

    fn simplify_atom(&self, atom: &Atom) -> Dim {
        match atom {
            Atom::Sym(sym) => Dim::sym(*sym),
            Atom::FloorDiv(a, b) => self.floor_div(&self.simplify_atoms(a), &self.simplify_atoms(b)),
            Atom::CeilDiv(a, b) => self.ceil_div(&self.simplify_atoms(a), &self.simplify_atoms(b)),
            Atom::Mod(a, b) => self.modulo(&self.simplify_atoms(a), &self.simplify_atoms(b)),
            Atom::Min(a, b) => {
                let (a, b) = (self.simplify_atoms(a), self.simplify_atoms(b));
                self.smaller(&a, &b).cloned().unwrap_or_else(|| a.minimum(&b))
            }
            Atom::Max(a, b) => {
                let (a, b) = (self.simplify_atoms(a), self.simplify_atoms(b));
                match self.smaller(&a, &b) {
                    Some(smaller) => {
                        if smaller == &a {
                            b
                        } else {
                            a
                        }
                    }
                    None => a.maximum(&b),
                }
            }
        }
    }

    fn smaller<'d>(&self, a: &'d Dim, b: &'d Dim) -> Option<&'d Dim> {
        if self.nonneg(&(b - a)) {
            Some(a)
        } else if self.nonneg(&(a - b)) {
            Some(b)
        } else {
            None
        }
    }

    /// `floor((b*q + r) / b) = q + floor(r / b)`, and `floor(floor(a / c) / b) = floor(a / (c*b))`.
    fn floor_div(&self, a: &Dim, b: &Dim) -> Dim {
        let (quotient, rest) = split(a, b);
        if self.is_remainder(&rest, b) {
            return quotient;
        }
        if let ([(monomial, 1)], true) = (rest.terms(), self.nonneg(&(b - &Dim::constant(1))))
            && let [(Atom::FloorDiv(inner, by), 1)] = &*monomial.0
        {
            return &quotient + &self.floor_div(inner, &(by * b));
        }
        let (rest, b) = self.cancel(&rest, b);
        &quotient + &rest.floor_div(&b)
    }

    /// `ceil(a / b) = -floor(-a / b)`, kept as it is written where nothing simplifies.
    fn ceil_div(&self, a: &Dim, b: &Dim) -> Dim {
        let (quotient, rest) = split(&-a, b);
        if self.is_remainder(&rest, b) {
            return -&quotient;
        }
        let (quotient, rest) = split(a, b);
        if self.is_remainder(&(&rest - &Dim::constant(1)), b) {
            return &quotient + &Dim::constant(1);
        }
        let (rest, b) = self.cancel(&rest, b);
        &quotient + &rest.ceil_div(&b)
    }

    /// `(b*q + r) mod b = r mod b`.
    fn modulo(&self, a: &Dim, b: &Dim) -> Dim {
        let (_, rest) = split(a, b);
        if self.is_remainder(&rest, b) {
            return rest;
        }
        let common = common_factor(&rest, b);
        let (rest, b) = self.cancel(&rest, b);
        scaled(&rest.modulo(&b), common)
    }

    /// Whether `0 <= rest < divisor`.
    fn is_remainder(&self, rest: &Dim, divisor: &Dim) -> bool {
        self.nonneg(rest) && self.nonneg(&(&(divisor - rest) - &Dim::constant(1)))
    }

    /// Both without their common constant factor.
    fn cancel(&self, a: &Dim, b: &Dim) -> (Dim, Dim) {
        let common = common_factor(a, b);
        let reduced = |dim: &Dim| Dim::from_terms(dim.terms().iter().map(|(m, c)| (m.clone(), c / common)));
        if common > 1 { (reduced(a), reduced(b)) } else { (a.clone(), b.clone()) }
    }

    /// The same expression with remainders and rounded-up quotients written by floor quotients:
    /// `a mod b = a - b*floor(a / b)` and `ceil(a / b) = floor((a + b - 1) / b)`.
    pub(super) fn by_floor(&self, dim: &Dim) -> Dim {
        let mut sum = Dim::default();
        for (monomial, coefficient) in dim.terms() {
            let mut product = constant(*coefficient);
            for (atom, power) in monomial.0.iter() {
                let value = match rebuild(atom, &mut |inner| self.by_floor(inner)) {
                    value if value.terms().len() != 1 => value,
                    value => match value.terms()[0].0.0.as_ref() {
                        [(Atom::Mod(a, b), 1)] => a - &(b * &self.floor_div(a, b)),
                        [(Atom::CeilDiv(a, b), 1)] => self.floor_div(&(&(a + b) - &Dim::constant(1)), b),
                        _ => value,
                    },
                };
                for _ in 0..*power {
                    product = &product * &value;
                }
            }
            sum = &sum + &product;
        }
        sum
    }
}

/// Whether products of two such polynomials are exact in `i128`.
fn is_small(dim: &Dim) -> bool {
    dim.terms().iter().all(|(_, c)| c.unsigned_abs() < 1 << 60)
}

/// The greatest constant that divides every coefficient of both.
fn common_factor(a: &Dim, b: &Dim) -> i128 {
    a.terms().iter().chain(b.terms()).fold(0, |common, (_, c)| gcd(common, *c)).max(1)
}

/// What an atom's meaning says, as differences that are not negative.
fn definition(atom: &Atom) -> Vec<Dim> {
    let this = Dim::atom(atom.clone());
    let one = Dim::constant(1);
    match atom {
        Atom::Sym(_) => Vec::new(),
        // b*floor(a / b) <= a <= b*floor(a / b) + b - 1
        Atom::FloorDiv(a, b) => {
            let rest = a - &(b * &this);
            vec![rest.clone(), &(b - &one) - &rest]
        }
        // a <= b*ceil(a / b) <= a + b - 1
        Atom::CeilDiv(a, b) => {
            let excess = &(b * &this) - a;
            vec![excess.clone(), &(b - &one) - &excess]
        }
        Atom::Mod(_, b) => vec![&(b - &one) - &this],
        Atom::Min(a, b) => vec![a - &this, b - &this],
        Atom::Max(a, b) => vec![&this - a, &this - b],
    }
}
