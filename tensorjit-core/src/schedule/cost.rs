//! What an elementwise function costs: counted from its own lowering, so that no list of functions is kept here.

use tensorjit_runtime::abi::DType;

use crate::diag::Bug;
use crate::graph::table::Ew;
use crate::lanes::{ENTRIES, Lanes, Prim, RepeatBody, Val};

/// An epilogue is made for every register of the tile; a longer one costs more in code than a pass over the cache.
pub(super) const EPILOGUE_COST: u32 = 12;

/// The rough number of instructions of one element whose operands have these types.
pub(super) fn cost(function: Ew, operands: &[DType]) -> Result<u32, Bug> {
    let mut count = Count { operations: 0, types: Vec::new() };
    let args: Vec<Val> = operands.iter().map(|dtype| count.value(*dtype)).collect();
    function.lower(&mut count, &args)?;
    Ok(count.operations)
}

/// Builds nothing and counts.
struct Count {
    operations: u32,
    types: Vec<DType>,
}

impl Count {
    fn value(&mut self, dtype: DType) -> Val {
        self.types.push(dtype);
        Val(self.types.len() as u32 - 1)
    }
}

impl Lanes for Count {
    fn float(&mut self, dtype: DType, _value: f64) -> Val {
        self.value(dtype)
    }

    fn int(&mut self, dtype: DType, _value: i64) -> Val {
        self.value(dtype)
    }

    fn prim(&mut self, prim: Prim, args: &[Val]) -> Val {
        self.operations += match prim {
            Prim::FDiv | Prim::Sqrt => 5,
            Prim::IDiv | Prim::IRem => 20,
            _ => 1,
        };
        let dtype = match prim {
            Prim::Cmp(_) => DType::Bool,
            Prim::Bitcast(to) | Prim::Convert(to) => to,
            Prim::Select => self.dtype(args[1]),
            _ => self.dtype(args[0]),
        };
        self.value(dtype)
    }

    fn dtype(&self, value: Val) -> DType {
        self.types[value.0 as usize]
    }

    fn has_fma(&self) -> bool {
        true
    }

    fn has_tables(&self) -> bool {
        false
    }

    fn entry(&mut self, _table: &[f64; ENTRIES], _index: Val) -> Val {
        self.operations += 1;
        self.value(DType::F32)
    }

    /// The rare side is not counted, nor what only it needs.
    fn if_any(
        &mut self,
        _mask: Val,
        otherwise: &[Val],
        _then: &mut dyn FnMut(&mut dyn Lanes) -> Vec<Val>,
    ) -> Vec<Val> {
        self.operations += 2;
        otherwise.to_vec()
    }

    fn repeat(&mut self, count: u32, state: &[Val], body: RepeatBody<'_>) -> Vec<Val> {
        let before = self.operations;
        let state = body(self, state);
        self.operations = before + (self.operations - before).saturating_mul(count);
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_from_operators() {
        let cost = |function, operands: &[DType]| cost(function, operands).unwrap();
        assert_eq!(cost(Ew::Add, &[DType::F32; 2]), 1);
        assert_eq!(cost(Ew::Div, &[DType::F64; 2]), 5);
        assert!(cost(Ew::Exp, &[DType::F32]) >= 8);
        assert!(cost(Ew::Pow, &[DType::F64; 2]) > cost(Ew::Exp, &[DType::F64]));
    }
}
