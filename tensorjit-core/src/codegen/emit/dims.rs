//! Dimension expressions in the entry of a function: where the buffers of the arena lie.

use std::collections::{BTreeMap, BTreeSet};

use inkwell::IntPredicate;
use inkwell::values::{BasicValueEnum, IntValue};

use super::Emitter;
use crate::codegen::bug;
use crate::diag::Bug;
use crate::dim::{Atom, Dim, Monomial};
use crate::loops::{Buffer, Place};

impl<'ctx, 'k> Emitter<'ctx, 'k> {
    /// Computes all addresses in the arena.  The runtime has evaluated the same expressions with checks before
    /// the call, so that no offset overflows and divisors are positive.
    pub(super) fn arena_addresses(&mut self) -> Result<(), Bug> {
        let kernel = self.kernel;
        let offset = |buffer: &'k Buffer| match &buffer.place {
            Place::Arena(offset) => Some(offset).filter(|offset| offset.as_const().is_none()),
            _ => None,
        };
        let offsets: BTreeSet<&Dim> = kernel.buffers.iter().filter_map(offset).collect();
        // Offsets are sums of the sizes before them: each product of symbols and quotients is formed once.
        let mut products: BTreeMap<Monomial, IntValue<'ctx>> = BTreeMap::new();
        let mut last = (Dim::default(), self.index(0));
        for offset in offsets {
            // From one to the next in order often takes fewer terms than to begin anew.
            let step = offset - &last.0;
            let (mut sum, terms) = match step.terms().len() < offset.terms().len() {
                true => (last.1, &step),
                false => (self.index(0), offset),
            };
            for (monomial, coefficient) in terms.terms() {
                let product = match products.get(monomial) {
                    Some(product) => *product,
                    None => {
                        let product = self.product(monomial)?;
                        products.insert(monomial.clone(), product);
                        product
                    }
                };
                sum = self.add_term(sum, product, *coefficient)?;
            }
            last = (offset.clone(), sum);
            // Kept on the stack, so that no pass takes the sum into every address apart: strength reduction tries
            // the ways to regroup its terms, which are many.
            let address = self.element(self.context.i8_type().into(), self.arena, sum)?;
            let slot = self.builder.build_alloca(address.get_type(), "")?;
            self.builder.build_store(slot, address)?;
            self.addresses.insert(offset, slot);
        }
        Ok(())
    }

    fn dim(&self, dim: &Dim) -> Result<IntValue<'ctx>, Bug> {
        dim.terms().iter().try_fold(self.index(0), |sum, (monomial, coefficient)| {
            self.add_term(sum, self.product(monomial)?, *coefficient)
        })
    }

    fn add_term(
        &self,
        sum: IntValue<'ctx>,
        product: IntValue<'ctx>,
        coefficient: i128,
    ) -> Result<IntValue<'ctx>, Bug> {
        let coefficient = i64::try_from(coefficient)
            .map_err(|_| bug("a coefficient of an offset in the arena exceeds 64 bits"))?;
        let term = match coefficient {
            1 => product,
            _ => self.builder.build_int_mul(product, self.index(coefficient), "")?,
        };
        // The builder of LLVM folds constants alone.
        if sum.get_sign_extended_constant() == Some(0) {
            return Ok(term);
        }
        Ok(self.builder.build_int_add(sum, term, "")?)
    }

    fn product(&self, monomial: &Monomial) -> Result<IntValue<'ctx>, Bug> {
        let mut product = None;
        for (atom, power) in monomial.0.iter() {
            let factor = self.atom(atom)?;
            for _ in 0..*power {
                product = Some(match product {
                    Some(product) => self.builder.build_int_mul(product, factor, "")?,
                    None => factor,
                });
            }
        }
        Ok(product.unwrap_or_else(|| self.index(1)))
    }

    fn atom(&self, atom: &Atom) -> Result<IntValue<'ctx>, Bug> {
        let b = &self.builder;
        match atom {
            Atom::Sym(sym) => self.symbol(sym.0),
            Atom::FloorDiv(x, y) => {
                let (x, y) = (self.dim(x)?, self.dim(y)?);
                Ok(b.build_int_sub(
                    b.build_int_signed_div(x, y, "")?,
                    self.remains(IntPredicate::SLT, x, y)?,
                    "",
                )?)
            }
            Atom::CeilDiv(x, y) => {
                let (x, y) = (self.dim(x)?, self.dim(y)?);
                Ok(b.build_int_add(
                    b.build_int_signed_div(x, y, "")?,
                    self.remains(IntPredicate::SGT, x, y)?,
                    "",
                )?)
            }
            Atom::Mod(x, y) => {
                let (x, y) = (self.dim(x)?, self.dim(y)?);
                let remainder = b.build_int_signed_rem(x, y, "")?;
                let lifted = b.build_int_add(remainder, y, "")?;
                let negative = b.build_int_compare(IntPredicate::SLT, remainder, self.index(0), "")?;
                Ok(b.build_select(negative, lifted, remainder, "")?.into_int_value())
            }
            Atom::Min(x, y) => self.extremum(IntPredicate::SLT, x, y),
            Atom::Max(x, y) => self.extremum(IntPredicate::SGT, x, y),
        }
    }

    /// 1 where the truncated remainder of `x / y` is on the given side of zero, else 0.
    fn remains(
        &self,
        side: IntPredicate,
        x: IntValue<'ctx>,
        y: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, Bug> {
        let remainder = self.builder.build_int_signed_rem(x, y, "")?;
        let holds = self.builder.build_int_compare(side, remainder, self.index(0), "")?;
        Ok(self.builder.build_int_z_extend(holds, self.context.i64_type(), "")?)
    }

    fn extremum(&self, first_if: IntPredicate, x: &Dim, y: &Dim) -> Result<IntValue<'ctx>, Bug> {
        let (x, y) = (self.dim(x)?, self.dim(y)?);
        let first = self.builder.build_int_compare(first_if, x, y, "")?;
        let value: BasicValueEnum = self.builder.build_select(first, x, y, "")?;
        Ok(value.into_int_value())
    }

    pub(super) fn index(&self, value: i64) -> IntValue<'ctx> {
        self.context.i64_type().const_int(value as u64, true)
    }
}
