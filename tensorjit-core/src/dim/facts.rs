//! What is known of the symbols, and what follows from it.
//!
//! The questions that the checker asks.  How `where` clauses are solved stands in `solver`, how inequalities
//! are proven in `prove`.

use std::cell::OnceCell;

use tensorjit_runtime::abi::Relation;

use super::algebra::gcd;
use super::interval::Interval;
use super::solver::Solver;
use super::{Atom, Dim, Sym};

/// A declared symbol; bounds are inclusive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolInfo {
    /// The user's name.
    pub name: String,
    /// The least value, at least 0.
    pub low: i64,
    /// The greatest value.
    pub high: i64,
}

/// `left relation right`, from a `where` clause.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Condition {
    /// Left side.
    pub left: Dim,
    /// The relation.
    pub relation: Relation,
    /// Right side.
    pub right: Dim,
}

impl Condition {
    /// 1 where the condition holds, else 0.
    pub fn indicator(&self) -> Dim {
        let (zero, one) = (Dim::constant(0), Dim::constant(1));
        let unit = |dim: &Dim| dim.minimum(&one).maximum(&zero);
        let (below, above) = (&self.right - &self.left, &self.left - &self.right);
        let distance = below.maximum(&above);
        match self.relation {
            Relation::Eq => &one - &unit(&distance),
            Relation::Ne => unit(&distance),
            Relation::Lt => unit(&below),
            Relation::Le => unit(&(&below + &one)),
            Relation::Gt => unit(&above),
            Relation::Ge => unit(&(&above + &one)),
        }
    }
}

/// Whether a side condition holds for all values of the symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It always holds.
    Proven,
    /// It never holds.
    Refuted,
    /// It depends: the user must state it in a `where` clause.
    Open,
}

/// The symbols of a function, their bounds, and its `where` clauses.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Facts {
    /// In the order of declaration; [`Sym`] indexes it.
    pub symbols: Vec<SymbolInfo>,
    /// All `where` clauses.
    pub conditions: Vec<Condition>,
}

impl Facts {
    /// Decides `left relation right`.
    ///
    /// Proven and refuted are both for all values of the symbols within their bounds that meet the `where`
    /// clauses; everything else is open.
    pub fn decide(&self, left: &Dim, relation: Relation, right: &Dim) -> Verdict {
        self.questions().decide(left, relation, right)
    }

    /// For who asks more than once.
    pub fn questions(&self) -> Questions<'_> {
        Questions { facts: self, bounds: OnceCell::new(), clauses: OnceCell::new() }
    }

    /// Whether two extents are equal for all values of the symbols: whether [`Facts::decide`] proves it.
    ///
    /// Equality is decided by normal forms alone, so that it agrees with [`Facts::normalize`]; two inequalities
    /// do not make an equality.
    pub fn same(&self, a: &Dim, b: &Dim) -> bool {
        if a == b {
            return true;
        }
        let difference = b - a;
        if difference.as_const().is_some() || self.is_free(&difference) {
            return difference.is(0);
        }
        let vanishes = |solver: &Solver| is_zero(solver, &solver.reduce(&difference));
        vanishes(&Solver::new(&self.symbols, &[])) || !self.conditions.is_empty() && vanishes(&self.solver())
    }

    /// Whether no clause and no bound can make the polynomial vanish: it has plain symbols only, none of them in
    /// an equality and none with a single value.
    fn is_free(&self, dim: &Dim) -> bool {
        let plain = |(atom, _): &(Atom, u32)| matches!(atom, Atom::Sym(_));
        let bound = |Sym(index): &Sym| self.symbols.get(*index as usize).is_some_and(|s| s.low == s.high);
        dim.terms().iter().all(|(monomial, _)| monomial.0.iter().all(plain)) && {
            let symbols = dim.symbols();
            let equalities = self.conditions.iter().filter(|c| c.relation == Relation::Eq);
            let mut stated = equalities.flat_map(|c| [c.left.symbols(), c.right.symbols()]).flatten();
            !symbols.iter().any(bound) && !stated.any(|sym| symbols.contains(&sym))
        }
    }

    /// The canonical form of `dim` modulo the equalities of the `where` clauses, in the user's symbols.
    pub fn normalize(&self, dim: &Dim) -> Dim {
        self.questions().normalize(dim)
    }

    /// The least and the greatest value, where they are bounded.
    pub fn range(&self, dim: &Dim) -> (Option<i64>, Option<i64>) {
        let solver = self.solver();
        let range = solver.range(&solver.reduce(dim));
        (range.low.and_then(|low| low.try_into().ok()), range.high.and_then(|high| high.try_into().ok()))
    }

    /// Whether the value is at least 0 for all values of the symbols.
    pub fn nonneg(&self, dim: &Dim) -> bool {
        self.questions().nonneg(dim)
    }

    /// The `where` clause that makes a condition hold, in the user's names: `where N == 2*M`.
    pub fn require(&self, condition: &Condition) -> String {
        let Condition { left, relation, right } = condition;
        // Like terms cancel, and each term stands on the side where it is positive.
        let difference = left - right;
        let common = difference.terms().iter().fold(0, |common, (_, c)| gcd(common, *c)).max(1);
        let part = |sign: i128| {
            let terms = difference.terms().iter().filter(|(_, c)| (*c > 0) == (sign > 0));
            Dim::from_terms(terms.map(|(m, c)| (m.clone(), sign * c / common)))
        };
        let (mut left, mut relation, mut right) = (part(1), *relation, part(-1));
        // The simplest side that is not a constant goes left.
        if left.as_const().is_some() && right.as_const().is_none()
            || left.as_sym().is_none() && right.as_sym().is_some()
        {
            (left, relation, right) = (right, flipped(relation), left);
        }
        format!("where {} {} {}", self.show_bare(&left), relation.symbol(), self.show_bare(&right))
    }

    /// The expression in the user's names.
    pub fn show(&self, dim: &Dim) -> String {
        dim.show(&|sym| self.name(sym)).to_string()
    }

    /// A shape in the user's names, `[B, 2*N]`.
    pub fn show_shape(&self, shape: &[Dim]) -> String {
        let extents: Vec<String> = shape.iter().map(|dim| self.show(dim)).collect();
        format!("[{}]", extents.join(", "))
    }

    /// A condition in the user's names, `N >= 2*M`.
    pub fn show_condition(&self, condition: &Condition) -> String {
        let Condition { left, relation, right } = condition;
        format!("{} {} {}", self.show_bare(left), relation.symbol(), self.show_bare(right))
    }

    fn name(&self, Sym(index): Sym) -> String {
        self.symbols.get(index as usize).map_or_else(|| format!("?{index}"), |symbol| symbol.name.clone())
    }

    /// As [`Facts::show`], a remainder without its parentheses.
    fn show_bare(&self, dim: &Dim) -> String {
        let text = self.show(dim);
        if let [(monomial, 1)] = dim.terms()
            && let [(Atom::Mod(..), 1)] = &*monomial.0
            && let Some(bare) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'))
        {
            return bare.to_string();
        }
        text
    }

    fn solver(&self) -> Solver {
        Solver::new(&self.symbols, &self.conditions)
    }
}

/// Answers one question after another about the same facts: what answers need is found once.
pub struct Questions<'f> {
    facts: &'f Facts,
    /// The bounds of the symbols alone.
    bounds: OnceCell<Solver>,
    /// The clauses too, where there are any.
    clauses: OnceCell<Solver>,
}

impl Questions<'_> {
    /// As [`Facts::decide`].
    pub fn decide(&self, left: &Dim, relation: Relation, right: &Dim) -> Verdict {
        let difference = right - left;
        if let Some(value) = difference.as_const() {
            return if holds(value.into(), relation) { Verdict::Proven } else { Verdict::Refuted };
        }
        // Bounds alone decide most questions, and cost much less than solving the clauses.
        match verdict(self.bounds(), &difference, relation) {
            Verdict::Open if !self.facts.conditions.is_empty() => {
                verdict(self.clauses(), &difference, relation)
            }
            verdict => verdict,
        }
    }

    /// As [`Facts::nonneg`].
    pub fn nonneg(&self, dim: &Dim) -> bool {
        if let Some(value) = dim.as_const() {
            return value >= 0;
        }
        // Whether it never is does not matter here, and a proof of that would take as long.
        let proven = |solver: &Solver| {
            // Where it has been seen negative nothing has to be solved.
            solver.seen(dim).low.is_none_or(|low| low >= 0) && solver.nonneg(&solver.reduce(dim))
        };
        proven(self.bounds()) || !self.facts.conditions.is_empty() && proven(self.clauses())
    }

    /// Whether the bounds of each term by itself say that the value is at least 0: a look that costs little.
    pub fn is_plainly_nonneg(&self, dim: &Dim) -> bool {
        self.bounds().naive_range(dim).low.is_some_and(|low| low >= 0)
    }

    /// As [`Facts::normalize`].
    pub fn normalize(&self, dim: &Dim) -> Dim {
        if dim.as_const().is_some() || dim.as_sym().is_some() && self.facts.conditions.is_empty() {
            return dim.clone();
        }
        let solver = self.clauses();
        solver.expand(&solver.reduce(dim))
    }

    fn bounds(&self) -> &Solver {
        self.bounds.get_or_init(|| Solver::new(&self.facts.symbols, &[]))
    }

    fn clauses(&self) -> &Solver {
        match self.facts.conditions.is_empty() {
            true => self.bounds(),
            false => self.clauses.get_or_init(|| self.facts.solver()),
        }
    }
}

fn verdict(solver: &Solver, difference: &Dim, relation: Relation) -> Verdict {
    // Where it holds for some values and fails for others nothing has to be solved.
    if let Interval { low: Some(low), high: Some(high) } = solver.seen(difference)
        && holds(low, relation) != holds(high, relation)
    {
        return Verdict::Open;
    }
    let difference = solver.reduce(difference);
    let view = solver.view(&difference);
    let (at_least, at_most) = (|bound| solver.at_least(&view, bound), |bound| solver.at_most(&view, bound));
    let nonzero = || at_least(1) || at_most(-1) || is_nonzero(solver, &difference);
    let zero = || is_zero(solver, &difference);
    let decide = |proven: &dyn Fn() -> bool, refuted: &dyn Fn() -> bool| match proven() {
        true => Verdict::Proven,
        false if refuted() => Verdict::Refuted,
        false => Verdict::Open,
    };
    match relation {
        Relation::Le => decide(&|| at_least(0), &|| at_most(-1)),
        Relation::Lt => decide(&|| at_least(1), &|| at_most(0)),
        Relation::Ge => decide(&|| at_most(0), &|| at_least(1)),
        Relation::Gt => decide(&|| at_most(-1), &|| at_least(0)),
        Relation::Eq => decide(&zero, &nonzero),
        Relation::Ne => decide(&nonzero, &zero),
    }
}

/// Zero by its form alone.
fn is_zero(solver: &Solver, difference: &Dim) -> bool {
    let floored = solver.by_floor(difference);
    difference.is(0) || floored != *difference && solver.reduce(&floored).is(0)
}

/// Never zero because the divisors of its coefficients, or a clause, exclude it.
fn is_nonzero(solver: &Solver, difference: &Dim) -> bool {
    let (constants, others): (Vec<_>, Vec<_>) =
        difference.terms().iter().partition(|(monomial, _)| monomial.0.is_empty());
    let common = others.iter().fold(0, |common, (_, c)| gcd(common, *c));
    let remainder = constants.first().map_or(0, |(_, c)| *c);
    common > 1 && remainder % common != 0
        || solver.nonzero.iter().any(|nonzero| nonzero == difference || nonzero == &-difference)
}

/// Whether `0 relation difference`, that is `left relation left + difference`.
fn holds(difference: i128, relation: Relation) -> bool {
    match relation {
        Relation::Eq => difference == 0,
        Relation::Ne => difference != 0,
        Relation::Lt => difference > 0,
        Relation::Le => difference >= 0,
        Relation::Gt => difference < 0,
        Relation::Ge => difference <= 0,
    }
}

/// The relation with its sides exchanged.
fn flipped(relation: Relation) -> Relation {
    match relation {
        Relation::Eq => Relation::Eq,
        Relation::Ne => Relation::Ne,
        Relation::Lt => Relation::Gt,
        Relation::Le => Relation::Ge,
        Relation::Gt => Relation::Lt,
        Relation::Ge => Relation::Le,
    }
}

#[cfg(test)]
mod tests;
