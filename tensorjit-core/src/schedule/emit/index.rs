//! Index expressions as machine values, and the loads and stores that they address.

use tensorjit_runtime::abi::DType;

use super::{Emit, Var};
use crate::diag::Bug;
use crate::dim::{Dim, Sym};
use crate::lanes::{Lanes, Prim, Val};
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
        let (vars, lanes, symbols) = (&self.vars, self.lanes, self.graph.facts.symbols.len());
        self.b.dim(dim, &|b, sym| match vars.get(&sym).copied() {
            Some(Var::Scalar(value) | Var::Vector(value)) => Ok(value),
            Some(Var::Lane(base)) if by_lane => {
                let numbers = b.lane_numbers(DType::I64, lanes);
                Ok(b.prim(Prim::Add, &[base, numbers]))
            }
            Some(Var::Lane(base)) => Ok(base),
            None if (sym.0 as usize) < symbols => Ok(b.symbol(sym.0)),
            None => Err(Bug::new("schedule", format!("loop variable {} is not open", sym.0))),
        })
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
                if let Some(value) = self.turned(buf, offset)? {
                    return Ok(value);
                }
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
