//! What the last calls of this thread found out about their symbols.
//!
//! Whether symbols are legal, and how much workspace they ask for, follows from them alone. A call with the symbols of
//! the last call of its function need not work it out again: the workspace of a product has a long formula.

use std::cell::Cell;
use std::ptr;

use crate::abi::Function;

/// Functions with more symbols are not remembered.
const SYMBOLS: usize = 6;

/// How many functions a thread remembers, one at each place.
const PLACES: usize = 16;

/// Symbols that met all conditions; a cache line.
#[repr(align(64))]
struct Memo {
    function: Cell<*const Function>,
    symbols: [Cell<i64>; SYMBOLS],
    arena: Cell<usize>,
}

thread_local! {
    static MEMOS: [Memo; PLACES] = const {
        [const {
            Memo {
                function: Cell::new(ptr::null()),
                symbols: [const { Cell::new(0) }; SYMBOLS],
                arena: Cell::new(0),
            }
        }; PLACES]
    };
}

fn place(function: &'static Function) -> usize {
    let address = ptr::from_ref(function) as usize;
    ((address >> 6) ^ (address >> 10)) % PLACES
}

/// The bytes of the arena, if the last call of this function had these symbols and met all conditions on them.
#[inline]
pub(crate) fn find(function: &'static Function, symbols: &[i64]) -> Option<usize> {
    MEMOS.with(|memos| {
        let memo = &memos[place(function)];
        let same = symbols.len() <= SYMBOLS
            && ptr::eq(memo.function.get(), function)
            && symbols.iter().zip(&memo.symbols).all(|(symbol, last)| *symbol == last.get());
        same.then(|| memo.arena.get())
    })
}

/// Remembers symbols that meet all conditions, and the bytes of the arena for them.
#[cold]
pub(crate) fn keep(function: &'static Function, symbols: &[i64], arena: usize) {
    if symbols.len() <= SYMBOLS {
        MEMOS.with(|memos| {
            let memo = &memos[place(function)];
            memo.function.set(function);
            symbols.iter().zip(&memo.symbols).for_each(|(symbol, last)| last.set(*symbol));
            memo.arena.set(arena);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{DimExpr, DimOp, KernelInfo};
    use crate::plan::Plan;

    static FUNCTIONS: [Function; 2 * PLACES] = [Function {
        name: "f",
        symbols: &[],
        params: &[],
        solve: &[],
        checks: &[],
        sizes: &[],
        workspace: DimExpr::new(&[DimOp::Const(0)], "0"),
        entries: &[],
        kernels: KernelInfo { nests: 0, levels: 0, workspace: "", code: &[] },
        plan: Plan::EMPTY,
    }; 2 * PLACES];

    #[test]
    fn only_the_same_symbols_of_the_same_function_are_found() {
        let [f, g, ..] = &FUNCTIONS;
        assert_eq!(find(f, &[3, 4]), None);
        keep(f, &[3, 4], 128);
        assert_eq!(find(f, &[3, 4]), Some(128));
        assert_eq!((find(f, &[3, 5]), find(f, &[4, 4]), find(g, &[3, 4])), (None, None, None));
        keep(f, &[3, 5], 192);
        assert_eq!((find(f, &[3, 4]), find(f, &[3, 5])), (None, Some(192)));
        let many = [1; SYMBOLS + 1];
        keep(g, &many, 64);
        assert_eq!(find(g, &many), None);
        let other = std::thread::scope(|scope| scope.spawn(|| find(f, &[3, 5])).join().unwrap());
        assert_eq!(other, None, "each thread has its own");
    }

    #[test]
    fn functions_that_share_a_place_are_told_apart() {
        for (number, function) in FUNCTIONS.iter().enumerate() {
            keep(function, &[7], number);
            assert_eq!(find(function, &[7]), Some(number));
        }
        let found = FUNCTIONS.iter().enumerate().filter_map(|(number, function)| {
            let arena = find(function, &[7])?;
            assert_eq!(arena, number);
            Some(())
        });
        assert!((1..=PLACES).contains(&found.count()));
    }
}
