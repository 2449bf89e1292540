//! The polynomial normal form and its arithmetic.
//!
//! Terms and factors are shared: the scheduler copies expressions all the time and changes none.

use std::cmp::Ordering;
use std::fmt;
use std::ops;
use std::sync::Arc;

/// A dimension symbol, or a loop variable in an index expression: an index into a table kept elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sym(pub u32);

/// A factor of a monomial.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A symbol.
    Sym(Sym),
    /// Quotient rounded down; the divisor is positive.
    FloorDiv(Dim, Dim),
    /// Quotient rounded up; the divisor is positive.
    CeilDiv(Dim, Dim),
    /// Remainder of the division rounded down; the divisor is positive.
    Mod(Dim, Dim),
    /// The smaller one; the operands are ordered.
    Min(Dim, Dim),
    /// The larger one; the operands are ordered.
    Max(Dim, Dim),
}

/// A product of atoms with their powers, in order; the empty product is one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Monomial(pub Arc<[(Atom, u32)]>);

/// A polynomial with integer coefficients, its terms in order and none of them zero.
///
/// Coefficients saturate; one that leaves the range of `i64` is refused where a program is made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dim {
    terms: Arc<[(Monomial, i128)]>,
}

impl Dim {
    /// The constant `value`.
    pub fn constant(value: i64) -> Dim {
        Dim::from_terms([(Monomial::default(), value.into())])
    }

    /// The symbol itself.
    pub fn sym(sym: Sym) -> Dim {
        Dim::atom(Atom::Sym(sym))
    }

    /// One atom.
    pub fn atom(atom: Atom) -> Dim {
        Dim { terms: Arc::new([(Monomial(Arc::new([(atom, 1)])), 1)]) }
    }

    /// Sums like terms and drops zeros.
    pub fn from_terms(terms: impl IntoIterator<Item = (Monomial, i128)>) -> Dim {
        let mut terms: Vec<(Monomial, i128)> = terms.into_iter().collect();
        if terms.len() > 1 {
            terms.sort_by(|(a, _), (b, _)| a.cmp(b));
            terms.dedup_by(|(later, c), (earlier, sum)| {
                let same = later == earlier;
                if same {
                    *sum = sum.saturating_add(*c);
                }
                same
            });
        }
        terms.retain(|(_, c)| *c != 0);
        Dim { terms: terms.into() }
    }

    /// The terms in order.
    pub fn terms(&self) -> &[(Monomial, i128)] {
        &self.terms
    }

    /// Its value, where it has no symbol and fits.
    pub fn as_const(&self) -> Option<i64> {
        match &*self.terms {
            [] => Some(0),
            [(monomial, c)] if monomial.0.is_empty() => i64::try_from(*c).ok(),
            _ => None,
        }
    }

    /// Whether it is the constant `value`.
    pub fn is(&self, value: i64) -> bool {
        self.as_const() == Some(value)
    }

    /// The symbol, where it is nothing else.
    pub fn as_sym(&self) -> Option<Sym> {
        match &*self.terms {
            [(Monomial(factors), 1)] => match &**factors {
                [(Atom::Sym(sym), 1)] => Some(*sym),
                _ => None,
            },
            _ => None,
        }
    }

    /// Quotient rounded down: exact where every coefficient divides, otherwise an atom.
    pub fn floor_div(&self, divisor: &Dim) -> Dim {
        self.divide(divisor, Atom::FloorDiv, i128::div_euclid)
    }

    /// Quotient rounded up.
    pub fn ceil_div(&self, divisor: &Dim) -> Dim {
        self.divide(divisor, Atom::CeilDiv, |a, b| -(-a).div_euclid(b))
    }

    /// Remainder of the division rounded down.
    pub fn modulo(&self, divisor: &Dim) -> Dim {
        match (self.as_const(), divisor.as_const()) {
            (Some(a), Some(b)) if b > 0 => Dim::constant(a.rem_euclid(b)),
            _ if self.exact_quotient(divisor).is_some() => Dim::constant(0),
            _ => Dim::atom(Atom::Mod(self.clone(), divisor.clone())),
        }
    }

    /// The smaller one.
    pub fn minimum(&self, other: &Dim) -> Dim {
        self.extremum(other, Atom::Min, i64::min)
    }

    /// The larger one.
    pub fn maximum(&self, other: &Dim) -> Dim {
        self.extremum(other, Atom::Max, i64::max)
    }

    /// `self / divisor` where it is a polynomial: the divisor is one term that divides every term.
    pub fn exact_quotient(&self, divisor: &Dim) -> Option<Dim> {
        let [(by, by_coefficient)] = &*divisor.terms else { return None };
        let mut terms = Vec::with_capacity(self.terms.len());
        for (monomial, coefficient) in self.terms.iter() {
            if coefficient % by_coefficient != 0 {
                return None;
            }
            terms.push((monomial.without(by)?, coefficient / by_coefficient));
        }
        Some(Dim::from_terms(terms))
    }

    /// Replaces every symbol for which `image` gives a value, inside atoms too.
    pub fn substitute(&self, image: &dyn Fn(Sym) -> Option<Dim>) -> Dim {
        let mut sum = Dim::default();
        for (monomial, coefficient) in self.terms.iter() {
            let mut product = Dim::from_terms([(Monomial::default(), *coefficient)]);
            for (atom, power) in monomial.0.iter() {
                let value = atom.substitute(image);
                for _ in 0..*power {
                    product = &product * &value;
                }
            }
            sum = &sum + &product;
        }
        sum
    }

    /// Every symbol in it, in order, those inside atoms too.
    pub fn symbols(&self) -> Vec<Sym> {
        let mut found = Vec::new();
        self.visit_symbols(&mut |sym| found.push(sym));
        found.sort();
        found.dedup();
        found
    }

    fn visit_symbols(&self, visit: &mut dyn FnMut(Sym)) {
        for (atom, _) in self.terms.iter().flat_map(|(monomial, _)| monomial.0.iter()) {
            match atom {
                Atom::Sym(sym) => visit(*sym),
                Atom::FloorDiv(a, b)
                | Atom::CeilDiv(a, b)
                | Atom::Mod(a, b)
                | Atom::Min(a, b)
                | Atom::Max(a, b) => {
                    a.visit_symbols(visit);
                    b.visit_symbols(visit);
                }
            }
        }
    }

    /// `(a, b)` where `self = a * sym + b` and `sym` is in neither, not even inside an atom.
    pub fn linear_in(&self, sym: Sym) -> Option<(Dim, Dim)> {
        let (mut scale, mut rest) = (Vec::new(), Vec::new());
        for (monomial, coefficient) in self.terms.iter() {
            let part = Dim { terms: Arc::new([(monomial.clone(), *coefficient)]) };
            match part.exact_quotient(&Dim::sym(sym)) {
                Some(quotient) if quotient.symbols().contains(&sym) => return None,
                Some(quotient) => scale.extend_from_slice(&quotient.terms),
                None if part.symbols().contains(&sym) => return None,
                None => rest.extend_from_slice(&part.terms),
            }
        }
        Some((Dim::from_terms(scale), Dim::from_terms(rest)))
    }

    /// Its value for given symbols, `None` on overflow, a missing symbol or a divisor that is not positive.
    pub fn eval(&self, value: &dyn Fn(Sym) -> Option<i64>) -> Option<i64> {
        let mut sum: i64 = 0;
        for (monomial, coefficient) in self.terms.iter() {
            let mut product = i64::try_from(*coefficient).ok()?;
            for (atom, power) in monomial.0.iter() {
                let factor = atom.eval(value)?;
                for _ in 0..*power {
                    product = product.checked_mul(factor)?;
                }
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }

    fn divide(&self, divisor: &Dim, atom: fn(Dim, Dim) -> Atom, exact: fn(i128, i128) -> i128) -> Dim {
        match (self.as_const(), divisor.as_const()) {
            (_, Some(1)) => self.clone(),
            (Some(a), Some(b)) if b > 0 => {
                Dim::from_terms([(Monomial::default(), exact(a.into(), b.into()))])
            }
            _ => {
                self.exact_quotient(divisor).unwrap_or_else(|| Dim::atom(atom(self.clone(), divisor.clone())))
            }
        }
    }

    fn extremum(&self, other: &Dim, atom: fn(Dim, Dim) -> Atom, exact: fn(i64, i64) -> i64) -> Dim {
        match (self.as_const(), other.as_const()) {
            (Some(a), Some(b)) => Dim::constant(exact(a, b)),
            _ if self == other => self.clone(),
            _ => {
                let (low, high) = if self <= other { (self, other) } else { (other, self) };
                Dim::atom(atom(low.clone(), high.clone()))
            }
        }
    }

    fn fmt_operand(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: &dyn Fn(Sym) -> String,
        parentheses: bool,
    ) -> fmt::Result {
        if parentheses { write!(f, "({})", self.show(name)) } else { write!(f, "{}", self.show(name)) }
    }

    /// A value whose `Display` shows the symbols by `name`.
    pub fn show<'a>(&'a self, name: &'a dyn Fn(Sym) -> String) -> impl fmt::Display + 'a {
        Shown { dim: self, name }
    }
}

impl Atom {
    fn substitute(&self, image: &dyn Fn(Sym) -> Option<Dim>) -> Dim {
        match self {
            Atom::Sym(sym) => image(*sym).unwrap_or_else(|| Dim::sym(*sym)),
            Atom::FloorDiv(a, b) => a.substitute(image).floor_div(&b.substitute(image)),
            Atom::CeilDiv(a, b) => a.substitute(image).ceil_div(&b.substitute(image)),
            Atom::Mod(a, b) => a.substitute(image).modulo(&b.substitute(image)),
            Atom::Min(a, b) => a.substitute(image).minimum(&b.substitute(image)),
            Atom::Max(a, b) => a.substitute(image).maximum(&b.substitute(image)),
        }
    }

    fn eval(&self, value: &dyn Fn(Sym) -> Option<i64>) -> Option<i64> {
        let divided = |a: &Dim, b: &Dim, divide: fn(i64, i64) -> Option<i64>| {
            let divisor = b.eval(value)?;
            if divisor > 0 { divide(a.eval(value)?, divisor) } else { None }
        };
        match self {
            Atom::Sym(sym) => value(*sym),
            Atom::FloorDiv(a, b) => divided(a, b, i64::checked_div_euclid),
            Atom::CeilDiv(a, b) => {
                divided(a, b, |a, b| a.checked_neg()?.checked_div_euclid(b)?.checked_neg())
            }
            Atom::Mod(a, b) => divided(a, b, i64::checked_rem_euclid),
            Atom::Min(a, b) => Some(a.eval(value)?.min(b.eval(value)?)),
            Atom::Max(a, b) => Some(a.eval(value)?.max(b.eval(value)?)),
        }
    }
}

impl Monomial {
    fn times(&self, other: &Monomial) -> Monomial {
        let mut factors = self.0.to_vec();
        for (atom, power) in other.0.iter() {
            match factors.iter_mut().find(|(a, _)| a == atom) {
                Some((_, p)) => *p += power,
                None => factors.push((atom.clone(), *power)),
            }
        }
        factors.sort();
        Monomial(factors.into())
    }

    /// The quotient by `other`, where it divides.
    fn without(&self, other: &Monomial) -> Option<Monomial> {
        let mut factors = self.0.to_vec();
        for (atom, power) in other.0.iter() {
            let (_, p) = factors.iter_mut().find(|(a, p)| a == atom && p >= power)?;
            *p -= power;
        }
        factors.retain(|(_, p)| *p > 0);
        Some(Monomial(factors.into()))
    }
}

impl From<i64> for Dim {
    fn from(value: i64) -> Dim {
        Dim::constant(value)
    }
}

impl ops::Add for &Dim {
    type Output = Dim;
    fn add(self, other: &Dim) -> Dim {
        let (mut left, mut right) = (&*self.terms, &*other.terms);
        if left.is_empty() || right.is_empty() {
            return if left.is_empty() { other.clone() } else { self.clone() };
        }
        // Both are in order: one pass merges them.
        let mut terms = Vec::with_capacity(left.len() + right.len());
        while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
            match a.0.cmp(&b.0) {
                Ordering::Less => {
                    terms.push(a.clone());
                    left = left_rest;
                }
                Ordering::Greater => {
                    terms.push(b.clone());
                    right = right_rest;
                }
                Ordering::Equal => {
                    let sum = a.1.saturating_add(b.1);
                    if sum != 0 {
                        terms.push((a.0.clone(), sum));
                    }
                    (left, right) = (left_rest, right_rest);
                }
            }
        }
        terms.extend_from_slice(left);
        terms.extend_from_slice(right);
        Dim { terms: terms.into() }
    }
}

impl ops::Neg for &Dim {
    type Output = Dim;
    fn neg(self) -> Dim {
        Dim { terms: self.terms.iter().map(|(m, c)| (m.clone(), c.saturating_neg())).collect() }
    }
}

impl ops::Sub for &Dim {
    type Output = Dim;
    fn sub(self, other: &Dim) -> Dim {
        self + &-other
    }
}

impl ops::Mul for &Dim {
    type Output = Dim;
    fn mul(self, other: &Dim) -> Dim {
        match (&*self.terms, &*other.terms) {
            ([], _) | (_, []) => Dim::default(),
            ([(one, 1)], _) if one.0.is_empty() => other.clone(),
            (_, [(one, 1)]) if one.0.is_empty() => self.clone(),
            ([(one, factor)], terms) | (terms, [(one, factor)]) if one.0.is_empty() => {
                Dim { terms: terms.iter().map(|(m, c)| (m.clone(), c.saturating_mul(*factor))).collect() }
            }
            (left, right) => Dim::from_terms(
                left.iter().flat_map(|(a, p)| right.iter().map(|(b, q)| (a.times(b), p.saturating_mul(*q)))),
            ),
        }
    }
}

struct Shown<'a> {
    dim: &'a Dim,
    name: &'a dyn Fn(Sym) -> String,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dim.terms.is_empty() {
            return write!(f, "0");
        }
        // Terms of higher degree first, as people write them; the constant comes last.
        let mut terms: Vec<_> = self.dim.terms.iter().collect();
        terms.sort_by_key(|(monomial, _)| std::cmp::Reverse(monomial.0.iter().map(|(_, p)| *p).sum::<u32>()));
        for (position, (monomial, coefficient)) in terms.into_iter().enumerate() {
            match (position, *coefficient < 0) {
                (0, false) => {}
                (0, true) => write!(f, "-")?,
                (_, false) => write!(f, " + ")?,
                (_, true) => write!(f, " - ")?,
            }
            let magnitude = coefficient.unsigned_abs();
            let mut first = true;
            if magnitude != 1 || monomial.0.is_empty() {
                write!(f, "{magnitude}")?;
                first = false;
            }
            for (atom, power) in monomial.0.iter() {
                for _ in 0..*power {
                    if !first {
                        write!(f, "*")?;
                    }
                    first = false;
                    atom.fmt(f, self.name)?;
                }
            }
        }
        Ok(())
    }
}

impl Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>, name: &dyn Fn(Sym) -> String) -> fmt::Result {
        let (call, a, b) = match self {
            Atom::Sym(sym) => return write!(f, "{}", name(*sym)),
            Atom::FloorDiv(a, b) => ("floor_div", a, b),
            Atom::CeilDiv(a, b) => ("ceil_div", a, b),
            Atom::Mod(a, b) => {
                write!(f, "(")?;
                a.fmt_operand(f, name, a.terms.len() > 1)?;
                write!(f, " % ")?;
                b.fmt_operand(f, name, b.as_const().is_none() && b.as_sym().is_none())?;
                return write!(f, ")");
            }
            Atom::Min(a, b) => ("min", a, b),
            Atom::Max(a, b) => ("max", a, b),
        };
        write!(f, "{call}({}, {})", a.show(name), b.show(name))
    }
}
