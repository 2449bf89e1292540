//! The `where` clauses made usable: substitutions, divisibility, and differences known not to be negative.
//!
//! An equality that is linear in a symbol with coefficient one replaces that symbol.  A divisibility
//! `T % 4 == 0` replaces `T` by `4*q` with a hidden symbol `q`, so that quotients and remainders vanish by
//! plain polynomial arithmetic; [`Solver::expand`] brings the user's symbols back.  What remains of the
//! equalities rewrites their leading monomial.  Each rule makes expressions smaller in a well-founded order.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use tensorjit_runtime::abi::Relation;

use super::algebra::{congruence, constant, graded, rebuild, scaled, split};
use super::facts::{Condition, SymbolInfo};
use super::interval::Interval;
use super::samples::Samples;
use super::{Atom, Dim, Monomial, Sym};

/// A hidden symbol that stands for `(dividend - remainder) / divisor`, which is an integer.
struct Quotient {
    sym: Sym,
    dividend: Dim,
    divisor: Dim,
    remainder: Dim,
}

/// An equality solved for its leading monomial: `coefficient * lead == rest`.
struct Rewrite {
    lead: Monomial,
    coefficient: i128,
    rest: Dim,
}

/// The facts of a function in solved form.
#[derive(Default)]
pub(super) struct Solver {
    bounds: BTreeMap<Sym, Interval>,
    images: BTreeMap<Sym, Dim>,
    quotients: Vec<Quotient>,
    rewrites: Vec<Rewrite>,
    /// Polynomials that are never negative.
    pub(super) known: Vec<Dim>,
    /// Polynomials that are never zero.
    pub(super) nonzero: Vec<Dim>,
    /// Whether all conditions are solved.
    pub(super) solved: bool,
    /// Found when they are first needed: to bring a polynomial into its normal form takes none.
    samples: OnceCell<Samples>,
    /// What atoms can be, as far as somebody has asked since all is solved: proofs come back to the same few.
    pub(super) ranges: RefCell<BTreeMap<Atom, Interval>>,
}

/// How often an expression is simplified again before the last form is taken.
const ROUNDS: usize = 8;

impl Solver {
    /// Solves the conditions, in their order, twice: what a later one says may open an earlier one.
    pub(super) fn new(symbols: &[SymbolInfo], conditions: &[Condition]) -> Solver {
        let mut solver = Solver::default();
        for (index, symbol) in symbols.iter().enumerate() {
            let sym = Sym(index as u32);
            solver.bounds.insert(sym, Interval::of_symbol(symbol.low, symbol.high));
            if symbol.low == symbol.high {
                solver.images.insert(sym, Dim::constant(symbol.low));
            }
        }
        let equalities = || conditions.iter().filter(|c| c.relation == Relation::Eq);
        for round in 0..2 {
            for condition in equalities() {
                solver.assume_equal(&condition.left, &condition.right, round == 1);
            }
        }
        solver.keep_bounds_of_replaced();
        for condition in conditions {
            solver.assume_order(condition);
        }
        solver.solved = true;
        solver
    }

    /// Values that an expression has for some values of the symbols; nothing is known before all conditions are solved.
    pub(super) fn seen(&self, dim: &Dim) -> Interval {
        match self.solved {
            true => self.samples.get_or_init(|| self.sample()).seen(dim),
            false => Interval::ALL,
        }
    }

    fn sample(&self) -> Samples {
        let free = self.bounds.iter().filter(|(sym, _)| !self.images.contains_key(sym));
        let free: Vec<(Sym, Interval)> = free.map(|(sym, bounds)| (*sym, *bounds)).collect();
        Samples::new(&free, &self.images, &self.known, &self.nonzero)
    }

    /// The canonical form, over hidden symbols.
    pub(super) fn reduce(&self, dim: &Dim) -> Dim {
        let mut dim = dim.clone();
        for _ in 0..ROUNDS {
            let mut next = dim.clone();
            if !self.images.is_empty() {
                next = next.substitute(&|sym| self.images.get(&sym).cloned());
            }
            next = self.simplify_atoms(&next);
            next = self.rewrite(next);
            if next == dim {
                break;
            }
            dim = next;
        }
        dim
    }

    /// The same value in the user's symbols.
    pub(super) fn expand(&self, dim: &Dim) -> Dim {
        // A later quotient is defined over earlier hidden symbols.
        self.quotients.iter().rev().fold(dim.clone(), |dim, quotient| expand_quotient(&dim, quotient))
    }

    /// What a symbol can be.  One that is not declared can be anything.
    pub(super) fn bounds(&self, sym: Sym) -> Interval {
        self.bounds.get(&sym).copied().unwrap_or(Interval::ALL)
    }

    fn assume_equal(&mut self, left: &Dim, right: &Dim, last: bool) {
        let difference = &self.reduce(left) - &self.reduce(right);
        if difference.as_const().is_some() || self.replace_symbol(&difference) || self.divide(&difference) {
            return;
        }
        if last {
            self.known.push(difference.clone());
            self.known.push(-&difference);
            self.rewrites.extend(Rewrite::new(&difference));
            // What says something of a remainder says something of the quotient: `4 % G == 0` is `G*floor(4 / G) == 4`.
            let floored = self.by_floor(&difference);
            if floored != difference {
                self.rewrites.extend(Rewrite::new(&floored));
            }
        }
    }

    /// Replaces a symbol that stands in `difference == 0` with coefficient one, the last declared first.
    fn replace_symbol(&mut self, difference: &Dim) -> bool {
        let mut candidates = difference.symbols();
        // Hidden symbols have the highest numbers and go last.
        candidates.sort_by_key(|sym| (self.is_hidden(*sym), std::cmp::Reverse(*sym)));
        for sym in candidates {
            let Some((scale, rest)) = difference.linear_in(sym) else { continue };
            match scale.as_const() {
                Some(1) => self.replace(sym, -&rest),
                Some(-1) => self.replace(sym, rest),
                _ => continue,
            }
            return true;
        }
        false
    }

    fn replace(&mut self, sym: Sym, image: Dim) {
        let only = |s: Sym| (s == sym).then(|| image.clone());
        for earlier in self.images.values_mut() {
            *earlier = earlier.substitute(&only);
        }
        self.images.insert(sym, image);
    }

    /// Uses `dividend % divisor == remainder` with a constant remainder: the dividend is a multiple.
    fn divide(&mut self, difference: &Dim) -> bool {
        let (constant, (monomial, coefficient)) = match difference.terms() {
            [term] => (0, term),
            [(one, constant), term] if one.0.is_empty() => (*constant, term),
            _ => return false,
        };
        let [(Atom::Mod(dividend, divisor), 1)] = &*monomial.0 else { return false };
        if constant % coefficient != 0 {
            return false;
        }
        let Ok(residue) = i64::try_from(-(constant / coefficient)) else { return false };
        let (dividend, divisor) = (dividend.clone(), divisor.clone());
        if residue < 0 || divisor.as_const().is_some_and(|divisor| residue >= divisor) {
            return false;
        }
        for sym in dividend.symbols().into_iter().rev() {
            let Some((scale, rest)) = dividend.linear_in(sym) else { continue };
            if divisor.symbols().contains(&sym) {
                continue;
            }
            if let Some(scale) = scale.as_const()
                && self.divide_symbol(sym, scale, &rest, &dividend, &divisor, residue)
            {
                if divisor.as_const().is_none() {
                    self.known.push(&divisor - &Dim::constant(residue + 1));
                }
                return true;
            }
        }
        false
    }

    /// Replaces `sym` given that `scale*sym + rest` leaves `residue` on division by `divisor`.
    fn divide_symbol(
        &mut self,
        sym: Sym,
        scale: i64,
        rest: &Dim,
        dividend: &Dim,
        divisor: &Dim,
        residue: i64,
    ) -> bool {
        let hidden = Sym(u32::MAX - self.quotients.len() as u32);
        let q = Dim::sym(hidden);
        let wanted = &Dim::constant(residue) - rest;
        let (quotient, image) = if scale == 1 || scale == -1 {
            // scale*sym = divisor*q + residue - rest.
            let image = scaled(&(&(divisor * &q) + &wanted), scale.into());
            let remainder = Dim::constant(residue);
            (Quotient { sym: hidden, dividend: dividend.clone(), divisor: divisor.clone(), remainder }, image)
        } else {
            let (Some(modulus), Some(wanted)) = (divisor.as_const(), wanted.as_const()) else { return false };
            let Some((step, start)) = congruence(scale.into(), wanted.into(), modulus.into()) else {
                return false;
            };
            let (step, start) = (constant(step), constant(start));
            let image = &(&step * &q) + &start;
            (Quotient { sym: hidden, dividend: Dim::sym(sym), divisor: step, remainder: start }, image)
        };
        let numerator = self.range(&(&quotient.dividend - &quotient.remainder));
        let bounds = numerator.floor_div(self.range(&quotient.divisor));
        self.bounds.insert(hidden, bounds);
        self.quotients.push(quotient);
        self.replace(sym, image);
        true
    }

    /// A replaced symbol still has its bounds, now as differences.
    fn keep_bounds_of_replaced(&mut self) {
        for (sym, image) in self.images.clone() {
            let Interval { low, high } = self.bounds(sym);
            let image = self.reduce(&image);
            if let Some(low) = low {
                self.assume_nonnegative(&image - &constant(low));
            }
            if let Some(high) = high {
                self.assume_nonnegative(&constant(high) - &image);
            }
        }
    }

    fn assume_order(&mut self, condition: &Condition) {
        let difference = &self.reduce(&condition.right) - &self.reduce(&condition.left);
        let one = Dim::constant(1);
        match condition.relation {
            Relation::Eq => {}
            Relation::Le => self.assume_nonnegative(difference),
            Relation::Lt => self.assume_nonnegative(&difference - &one),
            Relation::Ge => self.assume_nonnegative(-&difference),
            Relation::Gt => self.assume_nonnegative(&-&difference - &one),
            Relation::Ne => self.nonzero.push(difference),
        }
    }

    /// A difference in one symbol tightens its bounds, any other is kept.
    fn assume_nonnegative(&mut self, difference: Dim) {
        if let [sym] = difference.symbols().as_slice()
            && let Some((scale, rest)) = difference.linear_in(*sym)
            && let (Some(scale), Some(rest)) = (scale.as_const(), rest.as_const())
        {
            let (scale, rest) = (i128::from(scale), i128::from(rest));
            // scale*sym + rest >= 0.
            let bound = if scale > 0 {
                Interval { low: Some(-rest.div_euclid(scale)), high: None }
            } else {
                Interval { low: None, high: Some(rest.div_euclid(-scale)) }
            };
            let bound = self.bounds(*sym).meet(bound);
            self.bounds.insert(*sym, bound);
        } else if difference.as_const().is_none() {
            self.known.push(difference);
        }
    }

    fn is_hidden(&self, sym: Sym) -> bool {
        self.quotients.iter().any(|quotient| quotient.sym == sym)
    }

    fn rewrite(&self, mut dim: Dim) -> Dim {
        for rule in &self.rewrites {
            for _ in 0..ROUNDS {
                match rule.apply(&dim) {
                    Some(next) => dim = next,
                    None => break,
                }
            }
        }
        dim
    }
}

impl Rewrite {
    /// Solves `difference == 0` for the leading monomial of the graded lexicographic order.
    fn new(difference: &Dim) -> Option<Rewrite> {
        let (lead, coefficient) = difference.terms().iter().max_by(|(a, _), (b, _)| graded(a, b))?;
        let rest = &Dim::from_terms([(lead.clone(), *coefficient)]) - difference;
        Some(Rewrite { lead: lead.clone(), coefficient: *coefficient, rest })
    }

    fn apply(&self, dim: &Dim) -> Option<Dim> {
        let lead = Dim::from_terms([(self.lead.clone(), self.coefficient)]);
        for (monomial, coefficient) in dim.terms() {
            let term = Dim::from_terms([(monomial.clone(), *coefficient)]);
            if let Some(factor) = term.exact_quotient(&lead) {
                return Some(&(dim - &term) + &(&factor * &self.rest));
            }
        }
        None
    }
}

/// Replaces the hidden symbol, whole multiples of the divisor by the dividend.
fn expand_quotient(dim: &Dim, quotient: &Quotient) -> Dim {
    let Quotient { sym, dividend, divisor, remainder } = quotient;
    let whole = dividend - remainder;
    let mut sum = Dim::default();
    for (monomial, coefficient) in dim.terms() {
        let mut rest = Dim::from_terms([(Monomial::default(), *coefficient)]);
        let mut power_of_sym = 0;
        for (atom, power) in monomial.0.iter() {
            let value = match atom {
                Atom::Sym(s) if s == sym => {
                    power_of_sym = *power;
                    continue;
                }
                Atom::Sym(s) => Dim::sym(*s),
                _ => rebuild(atom, &mut |inner| expand_quotient(inner, quotient)),
            };
            for _ in 0..*power {
                rest = &rest * &value;
            }
        }
        for _ in 0..power_of_sym {
            // rest*q = multiple*divisor*q + left*q = multiple*(dividend - remainder) + left*q.
            let (multiple, left) = split(&rest, divisor);
            rest = &(&multiple * &whole) + &(&left * &whole.floor_div(divisor));
        }
        sum = &sum + &rest;
    }
    sum
}
