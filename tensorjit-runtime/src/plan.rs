//! What a call compares, worked out from a function's description while Rust compiles.
//!
//! The description says what every axis must be, for people and for errors. A call wants to know only whether all
//! of them are right: the plan is one short list of comparisons.

use std::mem::offset_of;

use crate::abi::{DimExpr, DimOp, Function, Param, Role};
use crate::arg::ArgView;

/// One comparison: the extent at `place` must be the sum of a value and `offset`.
///
/// The values are those of the symbols, a zero behind them, and those of the programs of the plan.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// Where the extent is, in bytes from the first argument's description.
    place: u32,
    /// Which value.
    value: u32,
    /// What is added to it.
    offset: i64,
}

/// All comparisons of a function.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// In the order of the parameters, results last.
    comparisons: &'static [Comparison],
    /// How many of them are about parameters that are no results.
    inputs: usize,
    /// The expressions of axes that are more than a symbol and a constant.
    pub(crate) programs: &'static [DimExpr],
    /// Whether some parameter is an index tensor.
    pub(crate) indexed: bool,
}

/// The lists of a plan: `N` axes, `M` of which have a program.
#[derive(Debug)]
pub struct Lists<const N: usize, const M: usize> {
    comparisons: [Comparison; N],
    programs: [DimExpr; M],
}

impl Plan {
    /// Of a function without axes.
    pub const EMPTY: Plan = Plan { comparisons: &[], inputs: 0, programs: &[], indexed: false };

    /// Of a function with these parameters and their lists.
    pub const fn new<const N: usize, const M: usize>(params: &[Param], lists: &'static Lists<N, M>) -> Plan {
        let (mut inputs, mut indexed, mut index) = (0, false, 0);
        while index < params.len() {
            if !matches!(params[index].role, Role::Output) {
                inputs += params[index].shape.len();
            }
            indexed |= params[index].index_bound.is_some();
            index += 1;
        }
        Plan { comparisons: &lists.comparisons, inputs, programs: &lists.programs, indexed }
    }

    /// How many values the comparisons need, where there are so many symbols.
    pub(crate) const fn values(&self, symbols: usize) -> usize {
        symbols + 1 + self.programs.len()
    }

    /// Whether the extents of the arguments are those that follow from the values, all of which are known.
    ///
    /// # Safety
    ///
    /// The plan is that of the parameters of `function`, of which `args` describes all or all but the results, each with
    /// its rank; there are as many values as the plan needs.
    #[inline(never)]
    pub(crate) unsafe fn agrees(&self, function: &Function, args: &[ArgView<'_>], values: &[i64]) -> bool {
        let count = if args.len() == function.params.len() { self.comparisons.len() } else { self.inputs };
        let first = args.as_ptr().cast::<u8>();
        // Some bit is set where an extent is not the one expected, and the sign where one expected is negative.
        let (mut differences, mut signs) = (0, 0);
        for comparison in self.comparisons.iter().take(count) {
            // SAFETY: an argument of this rank has an extent at this place, and there is such a value.
            let (extent, value) = unsafe {
                let extent = first.add(comparison.place as usize).cast::<i64>().read();
                (extent, *values.get_unchecked(comparison.value as usize))
            };
            let expected = value.wrapping_add(comparison.offset);
            differences |= expected ^ extent;
            signs |= expected;
        }
        (differences == 0) & (signs >= 0)
    }
}

impl<const N: usize, const M: usize> Lists<N, M> {
    /// Of these parameters of a function with so many symbols, where `N` and `M` are as [`axes`] and [`composed`] say.
    pub const fn of(params: &[Param], symbols: usize) -> Lists<N, M> {
        let mut comparisons = [Comparison { place: 0, value: 0, offset: 0 }; N];
        let mut programs = [DimExpr::new(&[], ""); M];
        let (mut next, mut program, mut index) = (0, 0, 0);
        while index < params.len() {
            let shape = params[index].shape;
            let mut axis = 0;
            while axis < shape.len() {
                let within = offset_of!(ArgView<'_>, shape) + axis * size_of::<usize>();
                let place = index * size_of::<ArgView<'_>>() + within;
                let (value, offset) = match simple(&shape[axis], symbols) {
                    Some(simple) => simple,
                    None => {
                        programs[program] = shape[axis];
                        program += 1;
                        (symbols + program, 0)
                    }
                };
                comparisons[next] = Comparison { place: place as u32, value: value as u32, offset };
                next += 1;
                axis += 1;
            }
            index += 1;
        }
        assert!(next == N && program == M, "the lists are as long as they must be");
        Lists { comparisons, programs }
    }
}

/// The number of axes of all parameters.
pub const fn axes(params: &[Param]) -> usize {
    let (mut count, mut index) = (0, 0);
    while index < params.len() {
        count += params[index].shape.len();
        index += 1;
    }
    count
}

/// The number of axes whose expressions are more than the sum of a symbol and a constant.
pub const fn composed(params: &[Param]) -> usize {
    let (mut count, mut index) = (0, 0);
    while index < params.len() {
        let shape = params[index].shape;
        let mut axis = 0;
        while axis < shape.len() {
            count += simple(&shape[axis], usize::MAX).is_none() as usize;
            axis += 1;
        }
        index += 1;
    }
    count
}

/// An expression as the sum of a value and a constant, where it is one; behind the values of so many symbols is a zero.
const fn simple(expr: &DimExpr, symbols: usize) -> Option<(usize, i64)> {
    let (symbol, offset) = match expr.program {
        [DimOp::Const(value)] => return Some((symbols, *value)),
        [DimOp::Symbol(symbol)] => (*symbol as usize, 0),
        [DimOp::Symbol(symbol), DimOp::Const(more), DimOp::Add]
        | [DimOp::Const(more), DimOp::Symbol(symbol), DimOp::Add] => (*symbol as usize, *more),
        [DimOp::Symbol(symbol), DimOp::Const(less), DimOp::Sub] => (*symbol as usize, less.wrapping_neg()),
        _ => return None,
    };
    assert!(symbol < symbols, "a symbol in a shape is declared");
    Some((symbol, offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{DType, KernelInfo};
    use DimOp::*;

    const fn param(role: Role, shape: &'static [DimExpr]) -> Param {
        Param { name: "x", dtype: DType::F32, role, shape, index_bound: None }
    }

    const fn dim(program: &'static [DimOp]) -> DimExpr {
        DimExpr::new(program, "")
    }

    /// `[B, 3]`, a scalar, `[B + 1, N - 1, 2*N]`, and the result `[N]`.
    const PARAMS: &[Param] = &[
        param(Role::Input, &[dim(&[Symbol(0)]), dim(&[Const(3)])]),
        param(Role::Input, &[]),
        param(
            Role::State,
            &[
                dim(&[Const(1), Symbol(0), Add]),
                dim(&[Symbol(1), Const(1), Sub]),
                dim(&[Const(2), Symbol(1), Mul]),
            ],
        ),
        param(Role::Output, &[dim(&[Symbol(1)])]),
    ];

    static FUNCTION: Function = Function {
        name: "f",
        symbols: &[],
        params: PARAMS,
        solve: &[],
        checks: &[],
        sizes: &[],
        workspace: dim(&[Const(0)]),
        entries: &[],
        kernels: KernelInfo { nests: 0, levels: 0, workspace: "", code: &[] },
        plan: Plan::new(PARAMS, const { &Lists::<{ axes(PARAMS) }, { composed(PARAMS) }>::of(PARAMS, 2) }),
    };

    /// Whether arguments of these shapes agree with `B = 7` and `N = n`.
    fn agrees(n: i64, shapes: &[&[usize]]) -> bool {
        // SAFETY: nothing is read through these views.
        let view = |shape: &&[usize]| unsafe {
            ArgView::from_raw(std::ptr::null_mut(), DType::F32, shape, &[0; 6][..shape.len()])
        };
        let args: Vec<ArgView<'_>> = shapes.iter().map(view).collect();
        // SAFETY: the shapes have the ranks of the parameters, and there are three values and one of a program.
        unsafe { FUNCTION.plan.agrees(&FUNCTION, &args, &[7, n, 0, 2 * n]) }
    }

    #[test]
    fn only_symbols_and_constants_need_no_program() {
        assert_eq!((axes(PARAMS), composed(PARAMS), FUNCTION.plan.values(2)), (6, 1, 4));
        assert_eq!(FUNCTION.plan.programs[0].program, [Const(2), Symbol(1), Mul]);
    }

    #[test]
    fn every_axis_counts() {
        let right: [&[usize]; 4] = [&[7, 3], &[], &[8, 4, 10], &[5]];
        assert!(agrees(5, &right) && agrees(5, &right[..3]), "with the result and without");
        for (param, axis) in [(0, 0), (0, 1), (2, 0), (2, 1), (2, 2), (3, 0)] {
            let mut shape = right[param].to_vec();
            shape[axis] += 1;
            let mut wrong = right;
            wrong[param] = &shape;
            assert!(!agrees(5, &wrong), "axis {axis} of {param}");
            assert_eq!(agrees(5, &wrong[..3]), param == 3);
        }
    }

    #[test]
    fn no_extent_is_negative() {
        assert!(!agrees(0, &[&[7, 3], &[], &[8, usize::MAX, 0], &[0]]), "N - 1 is negative");
        assert!(agrees(1, &[&[7, 3], &[], &[8, 0, 2], &[1]]));
    }
}
