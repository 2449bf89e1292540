//! Dimension expressions as instructions.

use tensorjit_runtime::abi::{DType, Relation};

use super::Builder;
use crate::diag::Bug;
use crate::dim::facts::Condition;
use crate::dim::{Atom, Dim, Monomial, Sym};
use crate::lanes::{Cmp, Lanes, Prim, Val};

/// What a symbol, or a loop variable among the symbols, is worth.
pub(crate) type Symbol<'s> = &'s dyn Fn(&mut Builder, Sym) -> Result<Val, Bug>;

impl Builder {
    /// Whether a condition on the symbols of the function holds.
    pub fn holds(&mut self, condition: &Condition) -> Result<Val, Bug> {
        let symbol: Symbol<'_> = &|builder, sym| Ok(builder.symbol(sym.0));
        let (left, right) = (self.dim(&condition.left, symbol)?, self.dim(&condition.right, symbol)?);
        let compare = match condition.relation {
            Relation::Eq => Cmp::Eq,
            Relation::Ne => Cmp::Ne,
            Relation::Lt => Cmp::Lt,
            Relation::Le => Cmp::Le,
            Relation::Gt => Cmp::Gt,
            Relation::Ge => Cmp::Ge,
        };
        Ok(self.prim(Prim::Cmp(compare), &[left, right]))
    }

    fn index(&mut self, value: i64) -> Val {
        self.int(DType::I64, value)
    }

    /// The value of an expression.
    pub fn dim(&mut self, dim: &Dim, symbol: Symbol<'_>) -> Result<Val, Bug> {
        let mut sum: Option<Val> = None;
        // The constant comes last: expressions that differ in it alone share all else, and addresses take it for
        // nothing.
        let constants = dim.terms().iter().take_while(|(monomial, _)| monomial.0.is_empty()).count();
        let (constant, others) = dim.terms().split_at(constants);
        for (monomial, coefficient) in others.iter().chain(constant) {
            let coefficient = i64::try_from(*coefficient)
                .map_err(|_| Bug::new("loops", "a coefficient leaves the range of i64"))?;
            let term = self.term(monomial, coefficient, symbol)?;
            sum = Some(match sum {
                Some(sum) => self.prim(Prim::Add, &[sum, term]),
                None => term,
            });
        }
        Ok(sum.unwrap_or_else(|| self.index(0)))
    }

    fn term(&mut self, monomial: &Monomial, coefficient: i64, symbol: Symbol<'_>) -> Result<Val, Bug> {
        let mut product: Option<Val> = None;
        for (atom, power) in monomial.0.iter() {
            let factor = self.atom(atom, symbol)?;
            for _ in 0..*power {
                product = Some(match product {
                    Some(product) => self.prim(Prim::Mul, &[product, factor]),
                    None => factor,
                });
            }
        }
        let Some(product) = product else { return Ok(self.index(coefficient)) };
        if coefficient == 1 {
            return Ok(product);
        }
        let coefficient = self.index(coefficient);
        Ok(self.prim(Prim::Mul, &[product, coefficient]))
    }

    fn atom(&mut self, atom: &Atom, symbol: Symbol<'_>) -> Result<Val, Bug> {
        let (a, b) = match atom {
            Atom::Sym(sym) => return symbol(self, *sym),
            Atom::FloorDiv(a, b)
            | Atom::CeilDiv(a, b)
            | Atom::Mod(a, b)
            | Atom::Min(a, b)
            | Atom::Max(a, b) => (self.dim(a, symbol)?, self.dim(b, symbol)?),
        };
        Ok(match atom {
            Atom::Sym(_) | Atom::FloorDiv(..) => self.floor_div(a, b).0,
            Atom::Mod(..) => self.floor_div(a, b).1,
            Atom::CeilDiv(..) => {
                let zero = self.index(0);
                let negated = self.prim(Prim::Sub, &[zero, a]);
                let quotient = self.floor_div(negated, b).0;
                self.prim(Prim::Sub, &[zero, quotient])
            }
            Atom::Min(..) => {
                let less = self.prim(Prim::Cmp(Cmp::Lt), &[a, b]);
                self.prim(Prim::Select, &[less, a, b])
            }
            Atom::Max(..) => {
                let less = self.prim(Prim::Cmp(Cmp::Lt), &[a, b]);
                self.prim(Prim::Select, &[less, b, a])
            }
        })
    }

    /// Quotient rounded down and its remainder.  The divisor is positive wherever the result is used; it is
    /// kept from zero since the division may be hoisted out of a loop that does not run.
    fn floor_div(&mut self, a: Val, b: Val) -> (Val, Val) {
        let (zero, one) = (self.index(0), self.index(1));
        let b = if self.as_int(b).is_some_and(|b| b > 0) {
            b
        } else {
            let positive = self.prim(Prim::Cmp(Cmp::Gt), &[b, zero]);
            self.prim(Prim::Select, &[positive, b, one])
        };
        let quotient = self.prim(Prim::IDiv, &[a, b]);
        let whole = self.prim(Prim::Mul, &[quotient, b]);
        let rest = self.prim(Prim::Sub, &[a, whole]);
        let below = self.prim(Prim::Cmp(Cmp::Lt), &[rest, zero]);
        let lower = self.prim(Prim::Sub, &[quotient, one]);
        let lifted = self.prim(Prim::Add, &[rest, b]);
        let quotient = self.prim(Prim::Select, &[below, lower, quotient]);
        (quotient, self.prim(Prim::Select, &[below, lifted, rest]))
    }
}
