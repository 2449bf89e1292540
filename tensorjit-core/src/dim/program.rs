//! Dimension expressions as the runtime evaluates them, and the order in which it solves symbols.

use tensorjit_runtime::abi::{DimOp, MAX_DEPTH};
use thiserror::Error;

use super::{Atom, Dim, Sym};

/// A dimension that the runtime's `i64` arithmetic does not compute.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TooLarge {
    /// A coefficient has more bits.
    #[error("the factor {0} of a dimension does not fit 64 bits")]
    Factor(i128),
    /// Quotients and the like are nested more deeply than the runtime's stack.
    #[error("a dimension is nested too deeply")]
    Depth,
}

/// The postfix program that computes `dim`; it leaves one value.
pub fn compile(dim: &Dim) -> Result<Vec<DimOp>, TooLarge> {
    let mut program = Vec::new();
    push_dim(dim, &mut program)?;
    let (mut depth, mut deepest) = (0_usize, 0);
    for op in &program {
        depth = match op {
            DimOp::Const(_) | DimOp::Symbol(_) => depth + 1,
            _ => depth.saturating_sub(1),
        };
        deepest = deepest.max(depth);
    }
    if deepest > MAX_DEPTH { Err(TooLarge::Depth) } else { Ok(program) }
}

fn push_dim(dim: &Dim, program: &mut Vec<DimOp>) -> Result<(), TooLarge> {
    // The constant is the first term of the normal form; a sum starts best with a positive term.
    let (positive, negative): (Vec<_>, Vec<_>) = dim.terms().iter().partition(|(_, c)| *c > 0);
    if positive.is_empty() {
        program.push(DimOp::Const(0));
    }
    for (position, (monomial, coefficient)) in positive.into_iter().chain(negative).enumerate() {
        let magnitude = i128::try_from(coefficient.unsigned_abs()).ok().and_then(|m| i64::try_from(m).ok());
        let magnitude = magnitude.ok_or(TooLarge::Factor(*coefficient))?;
        let mut pushed = false;
        if magnitude != 1 || monomial.0.is_empty() {
            program.push(DimOp::Const(magnitude));
            pushed = true;
        }
        for (atom, power) in monomial.0.iter() {
            for _ in 0..*power {
                push_atom(atom, program)?;
                if pushed {
                    program.push(DimOp::Mul);
                }
                pushed = true;
            }
        }
        if *coefficient < 0 {
            program.push(DimOp::Sub);
        } else if position > 0 {
            program.push(DimOp::Add);
        }
    }
    Ok(())
}

fn push_atom(atom: &Atom, program: &mut Vec<DimOp>) -> Result<(), TooLarge> {
    let (a, b, op) = match atom {
        Atom::Sym(Sym(index)) => {
            program.push(DimOp::Symbol(*index));
            return Ok(());
        }
        Atom::FloorDiv(a, b) => (a, b, DimOp::FloorDiv),
        Atom::CeilDiv(a, b) => (a, b, DimOp::CeilDiv),
        Atom::Mod(a, b) => (a, b, DimOp::Mod),
        Atom::Min(a, b) => (a, b, DimOp::Min),
        Atom::Max(a, b) => (a, b, DimOp::Max),
    };
    push_dim(a, program)?;
    push_dim(b, program)?;
    program.push(op);
    Ok(())
}

/// How a symbol is found from an extent: `extent == scale*symbol + offset`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolveRow {
    /// The symbol.
    pub symbol: Sym,
    /// Which parameter.
    pub param: u32,
    /// Which axis of it.
    pub axis: u32,
    /// The factor of the symbol; not zero.
    pub scale: i64,
    /// The rest, over symbols of earlier rows.
    pub offset: Dim,
}

/// One axis of a parameter, from which symbols may be found.
#[derive(Clone, Copy, Debug)]
pub struct Axis<'a> {
    /// Which parameter.
    pub param: u32,
    /// Which axis of it.
    pub axis: u32,
    /// Its extent as declared.
    pub extent: &'a Dim,
}

/// The rows that find as many of `symbols` symbols as the axes determine, in an order in which each row needs
/// only earlier ones.  Axes that are a symbol and nothing else come first, then by position.
pub fn solve(symbols: usize, axes: &[Axis<'_>]) -> Vec<SolveRow> {
    let mut rows: Vec<SolveRow> = Vec::new();
    let mut solved = vec![false; symbols];
    let plain = axes.iter().filter(|axis| axis.extent.as_sym().is_some());
    let others = axes.iter().filter(|axis| axis.extent.as_sym().is_none());
    let order: Vec<&Axis<'_>> = plain.chain(others).collect();
    // Each pass but the last solves a symbol at least.
    loop {
        let before = rows.len();
        for axis in &order {
            if let Some(row) = solve_axis(axis, &solved) {
                solved[row.symbol.0 as usize] = true;
                rows.push(row);
            }
        }
        if rows.len() == before {
            return rows;
        }
    }
}

/// A row where exactly one symbol of the extent is unknown and stands in it with a constant factor.
fn solve_axis(axis: &Axis<'_>, solved: &[bool]) -> Option<SolveRow> {
    let unknown = |sym: &Sym| solved.get(sym.0 as usize) == Some(&false);
    let symbols = axis.extent.symbols();
    let mut candidates = symbols.into_iter().filter(unknown);
    let (symbol, None) = (candidates.next()?, candidates.next()) else { return None };
    let (scale, offset) = axis.extent.linear_in(symbol)?;
    let scale = scale.as_const().filter(|scale| *scale != 0)?;
    Some(SolveRow { symbol, param: axis.param, axis: axis.axis, scale, offset })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Sym = Sym(0);
    const B: Sym = Sym(1);

    fn a() -> Dim {
        Dim::sym(A)
    }

    fn b() -> Dim {
        Dim::sym(B)
    }

    fn number(value: i64) -> Dim {
        Dim::constant(value)
    }

    /// The runtime's machine in a few lines.
    fn run(program: &[DimOp], symbols: &[i64]) -> Option<i64> {
        let mut stack: Vec<i64> = Vec::new();
        for op in program {
            let value = match op {
                DimOp::Const(value) => *value,
                DimOp::Symbol(index) => symbols[*index as usize],
                _ => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    match op {
                        DimOp::Add => left + right,
                        DimOp::Sub => left - right,
                        DimOp::Mul => left * right,
                        DimOp::FloorDiv if right > 0 => left.div_euclid(right),
                        DimOp::CeilDiv if right > 0 => -(-left).div_euclid(right),
                        DimOp::Mod if right > 0 => left.rem_euclid(right),
                        DimOp::Min => left.min(right),
                        DimOp::Max => left.max(right),
                        _ => return None,
                    }
                }
            };
            stack.push(value);
        }
        let result = stack.pop()?;
        stack.is_empty().then_some(result)
    }

    #[test]
    fn programs_compute_what_the_expression_says() {
        let expressions = [
            number(0),
            number(-7),
            a(),
            -&a(),
            &(&number(2) * &a()) - &number(1),
            &number(10) - &(&(&a() * &a()) * &b()),
            a().floor_div(&number(4)),
            (&a() + &b()).ceil_div(&number(3)),
            &a().modulo(&(&b() + &number(1))) - &b(),
            a().minimum(&b()).maximum(&number(2)),
        ];
        for dim in &expressions {
            let program = compile(dim).unwrap();
            for x in 0..6 {
                for y in 0..6 {
                    let expected = dim.eval(&|sym| Some([x, y][sym.0 as usize]));
                    assert_eq!(run(&program, &[x, y]), expected, "{dim:?} at {x}, {y}");
                }
            }
        }
    }

    #[test]
    fn coefficients_beyond_64_bits_are_refused() {
        let huge = &(&number(i64::MAX) * &number(2)) * &a();
        assert_eq!(compile(&huge), Err(TooLarge::Factor(i128::from(i64::MAX) * 2)));
        assert!(compile(&(&number(i64::MAX) * &a())).is_ok());
    }

    #[test]
    fn depth_beyond_the_runtimes_stack_is_refused() {
        let nested = |depth| (0..depth).fold(a(), |inner, _| b().floor_div(&(&inner + &number(1))));
        assert!(compile(&nested(100)).is_ok());
        assert_eq!(compile(&nested(300)), Err(TooLarge::Depth));
    }

    #[test]
    fn symbols_are_solved_in_an_order_that_works() {
        let two_b = &(&number(2) * &b()) + &a();
        let row = |symbol, axis, scale, offset: Dim| SolveRow { symbol, param: 0, axis, scale, offset };
        let cases: [(&str, Vec<Dim>, Vec<SolveRow>); 6] = [
            ("plain", vec![a(), b()], vec![row(A, 0, 1, number(0)), row(B, 1, 1, number(0))]),
            ("plain first", vec![&a() + &number(1), a()], vec![row(A, 1, 1, number(0))]),
            ("scaled", vec![&number(3) * &a()], vec![row(A, 0, 3, number(0))]),
            ("chained", vec![two_b, a()], vec![row(A, 1, 1, number(0)), row(B, 0, 2, a())]),
            ("product of unknowns", vec![&a() * &b()], vec![]),
            ("inside an atom", vec![a().floor_div(&number(2))], vec![]),
        ];
        for (name, extents, expected) in cases {
            let axes: Vec<Axis<'_>> = extents
                .iter()
                .enumerate()
                .map(|(i, extent)| Axis { param: 0, axis: i as u32, extent })
                .collect();
            assert_eq!(solve(2, &axes), expected, "{name}");
        }
    }
}
