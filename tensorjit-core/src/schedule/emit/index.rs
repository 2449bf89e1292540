//! Index expressions as machine values, and the loads and stores that they address.

use tensorjit_runtime::abi::DType;

use super::{Emit, Var};
use crate::diag::Bug;
use crate::dim::{Atom, Dim, Monomial, Sym};
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::loops::Buf;

/// How an expression depends on the lane.
enum Form {
    Uniform,
    /// Rises by one from lane to lane.
    Contiguous,
    Any,
}

impl Emit<'_> {
    /// The value in lane 0: lane variables have their base.
    pub(super) fn scalar_index(&mut self, dim: &Dim) -> Result<Val, Bug> {
        self.index(dim, false)
    }

    /// The values in all lanes; a scalar where it is the same in all.
    pub(super) fn lane_index(&mut self, dim: &Dim) -> Result<Val, Bug> {
        self.index(dim, true)
    }

    fn index(&mut self, dim: &Dim, by_lane: bool) -> Result<Val, Bug> {
        let mut sum: Option<Val> = None;
        for (monomial, coefficient) in dim.terms() {
            let coefficient = i64::try_from(*coefficient)
                .map_err(|_| Bug::new("schedule", "a coefficient leaves the range of i64"))?;
            let term = self.term(monomial, coefficient, by_lane)?;
            sum = Some(match sum {
                Some(sum) => self.b.prim(Prim::Add, &[sum, term]),
                None => term,
            });
        }
        Ok(sum.unwrap_or_else(|| self.int(0)))
    }

    fn term(&mut self, monomial: &Monomial, coefficient: i64, by_lane: bool) -> Result<Val, Bug> {
        let mut product: Option<Val> = None;
        for (atom, power) in &monomial.0 {
            let factor = self.atom(atom, by_lane)?;
            for _ in 0..*power {
                product = Some(match product {
                    Some(product) => self.b.prim(Prim::Mul, &[product, factor]),
                    None => factor,
                });
            }
        }
        let Some(product) = product else { return Ok(self.int(coefficient)) };
        if coefficient == 1 {
            return Ok(product);
        }
        let coefficient = self.int(coefficient);
        Ok(self.b.prim(Prim::Mul, &[product, coefficient]))
    }

    fn atom(&mut self, atom: &Atom, by_lane: bool) -> Result<Val, Bug> {
        let (a, b) = match atom {
            Atom::Sym(sym) => return self.variable(*sym, by_lane),
            Atom::FloorDiv(a, b)
            | Atom::CeilDiv(a, b)
            | Atom::Mod(a, b)
            | Atom::Min(a, b)
            | Atom::Max(a, b) => (self.index(a, by_lane)?, self.index(b, by_lane)?),
        };
        Ok(match atom {
            Atom::Sym(_) | Atom::FloorDiv(..) => self.floor_div(a, b).0,
            Atom::Mod(..) => self.floor_div(a, b).1,
            Atom::CeilDiv(..) => {
                let zero = self.int(0);
                let negated = self.b.prim(Prim::Sub, &[zero, a]);
                let quotient = self.floor_div(negated, b).0;
                self.b.prim(Prim::Sub, &[zero, quotient])
            }
            Atom::Min(..) => {
                let less = self.b.prim(Prim::Cmp(Cmp::Lt), &[a, b]);
                self.b.prim(Prim::Select, &[less, a, b])
            }
            Atom::Max(..) => {
                let less = self.b.prim(Prim::Cmp(Cmp::Lt), &[a, b]);
                self.b.prim(Prim::Select, &[less, b, a])
            }
        })
    }

    /// Quotient rounded down and its remainder.  The divisor is positive wherever the result is used; it is
    /// kept from zero since the division may be hoisted out of a loop that does not run.
    fn floor_div(&mut self, a: Val, b: Val) -> (Val, Val) {
        let (zero, one) = (self.int(0), self.int(1));
        let b = if self.b.as_int(b).is_some_and(|b| b > 0) {
            b
        } else {
            let positive = self.b.prim(Prim::Cmp(Cmp::Gt), &[b, zero]);
            self.b.prim(Prim::Select, &[positive, b, one])
        };
        let quotient = self.b.prim(Prim::IDiv, &[a, b]);
        let whole = self.b.prim(Prim::Mul, &[quotient, b]);
        let rest = self.b.prim(Prim::Sub, &[a, whole]);
        let below = self.b.prim(Prim::Cmp(Cmp::Lt), &[rest, zero]);
        let lower = self.b.prim(Prim::Sub, &[quotient, one]);
        let lifted = self.b.prim(Prim::Add, &[rest, b]);
        let quotient = self.b.prim(Prim::Select, &[below, lower, quotient]);
        (quotient, self.b.prim(Prim::Select, &[below, lifted, rest]))
    }

    fn variable(&mut self, sym: Sym, by_lane: bool) -> Result<Val, Bug> {
        match self.vars.get(&sym).copied() {
            Some(Var::Scalar(value) | Var::Vector(value)) => Ok(value),
            Some(Var::Lane(base)) if by_lane => {
                let numbers = self.b.lane_numbers(DType::I64, self.lanes);
                Ok(self.b.prim(Prim::Add, &[base, numbers]))
            }
            Some(Var::Lane(base)) => Ok(base),
            None if (sym.0 as usize) < self.graph.facts.symbols.len() => Ok(self.b.symbol(sym.0)),
            None => Err(Bug::new("schedule", format!("loop variable {} is not open", sym.0))),
        }
    }

    fn form(&self, dim: &Dim) -> Form {
        let varying: Vec<Sym> = dim
            .symbols()
            .into_iter()
            .filter(|sym| matches!(self.vars.get(sym), Some(Var::Lane(_) | Var::Vector(_))))
            .collect();
        match varying.as_slice() {
            _ if self.lanes == 1 => Form::Uniform,
            [] => Form::Uniform,
            [sym] if matches!(self.vars.get(sym), Some(Var::Lane(_))) => match dim.linear_in(*sym) {
                Some((scale, _)) if scale.is(1) => Form::Contiguous,
                _ => Form::Any,
            },
            _ => Form::Any,
        }
    }

    /// The lanes in which memory may be read, as a mask of this many lanes.
    fn mask(&mut self, lanes: u32) -> Option<Val> {
        if lanes == 1 {
            return self.guard.map(|guard| self.b.any(guard));
        }
        let guard = self.guard.map(|guard| self.b.splat(guard, lanes));
        match (self.tail, guard) {
            (Some(tail), Some(guard)) => Some(self.b.prim(Prim::And, &[tail, guard])),
            (tail, guard) => tail.or(guard),
        }
    }

    /// The element at an offset, or the elements at the offsets of all lanes.
    pub(super) fn load_at(&mut self, buf: Buf, offset: &Dim) -> Result<Val, Bug> {
        match self.form(offset) {
            Form::Uniform => {
                let mask = self.mask(1);
                let offset = self.scalar_index(offset)?;
                Ok(self.b.load(buf, offset, 1, mask))
            }
            Form::Contiguous => {
                let mask = self.mask(self.lanes);
                let offset = self.scalar_index(offset)?;
                Ok(self.b.load(buf, offset, self.lanes, mask))
            }
            Form::Any => {
                let mask = self.mask(self.lanes);
                let offsets = self.lane_index(offset)?;
                let offsets = self.b.splat(offsets, self.lanes);
                Ok(self.b.gather(buf, offsets, mask))
            }
        }
    }

    /// Stores at an offset that is the same in all lanes, or consecutive.
    pub(super) fn store_at(&mut self, buf: Buf, offset: &Dim, value: Val) -> Result<(), Bug> {
        match self.form(offset) {
            Form::Uniform => {
                let offset = self.scalar_index(offset)?;
                let value = self.b.extract(value, 0);
                self.b.store(buf, offset, value, None);
            }
            Form::Contiguous => {
                let mask = self.tail;
                let offset = self.scalar_index(offset)?;
                let value = self.b.splat(value, self.lanes);
                self.b.store(buf, offset, value, mask);
            }
            Form::Any => return Err(Bug::new("schedule", "a store is not contiguous")),
        }
        Ok(())
    }
}
