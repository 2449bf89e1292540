//! Faults: what the checks find, small enough for the fast path, and their explanation to the user.

use crate::abi::{DimExpr, DimOp, Function, Role};
use crate::arg::MAX_RANK;
use crate::dims::symbols_of;
use crate::error::{Details, Error, ErrorKind, Part, Place};

/// An axis: indices into [`Function::params`] and the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Axis {
    pub(crate) param: usize,
    pub(crate) axis: usize,
}

/// Why a call is refused.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// The extent at `at` is not the value of its expression.
    Extent { at: Axis, expected: i64, found: usize },
    /// The symbol that is solved from `at` has no whole value.
    Indivisible { at: Axis, symbol: usize, found: usize },
    /// A symbol that is solved from `at` lies outside its bounds.
    Bounds { at: Axis, symbol: usize, found: usize },
    /// A given symbol lies outside its bounds.
    GivenBounds { symbol: usize, found: usize },
    /// A symbol has no value.
    Unbound { symbol: usize },
    /// A condition does not hold.
    Condition { check: usize },
    /// A side of a condition overflows.
    ConditionOverflow { check: usize },
    /// An element of an index tensor is out of range.
    Index { param: usize, position: [usize; MAX_RANK], rank: usize, bound: i64, found: i128 },
    /// The bound of an index tensor overflows.
    IndexOverflow { param: usize },
    /// The expression of an axis overflows.
    AxisOverflow { at: Axis },
    /// All extents of a parameter multiply to more bytes than there are addresses.
    Size { param: usize },
    /// A result would have a negative extent.
    Negative { at: Axis, value: i64 },
    /// A size inside the function is below its least value.
    SizeBelow { size: usize, value: i64 },
    /// A size inside the function overflows.
    SizeOverflow { size: usize },
    /// The workspace is larger than the address space.
    WorkspaceOverflow,
    /// An allocation failed.
    Memory { bytes: usize },
    /// No entry runs on this processor.
    Level,
}

/// What an explanation draws on.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) function: &'static Function,
    /// The values of the symbols as far as they are known.
    pub(crate) symbols: &'a [i64],
    /// Whether the caller gave them.
    pub(crate) given: bool,
}

impl Context<'_> {
    /// The fault in the user's names.
    #[cold]
    pub(crate) fn explain(self, fault: Fault) -> Error {
        let too_large = || "a number beyond 2^63 - 1".to_owned();
        let (kind, place, expected, found) = match fault {
            Fault::Extent { at, expected, found } => {
                (ErrorKind::Extent, self.axis(at), self.value(self.expr(at), expected), found.to_string())
            }
            Fault::Indivisible { at, symbol, found } => {
                let expected = format!("{} for a whole number {}", self.expr(at).text, self.name(symbol));
                (ErrorKind::Indivisible, self.axis(at), expected, found.to_string())
            }
            Fault::Bounds { at, symbol, found } => {
                let expr = self.expr(at);
                let expected = match expr.program {
                    [DimOp::Symbol(_)] => self.bounds(symbol),
                    _ => format!("{} with {}", expr.text, self.bounds(symbol)),
                };
                (ErrorKind::Bounds, self.axis(at), expected, found.to_string())
            }
            Fault::GivenBounds { symbol, found } => {
                let place = Place::Dimension(self.name(symbol));
                (ErrorKind::Bounds, place, self.bounds(symbol), found.to_string())
            }
            Fault::Unbound { symbol } => {
                let place = Place::Dimension(self.name(symbol));
                (ErrorKind::Unbound, place, "a value".to_owned(), "none".to_owned())
            }
            Fault::Condition { check } => {
                (ErrorKind::Condition, Place::Call, self.condition(check), self.operands(check))
            }
            Fault::ConditionOverflow { check } => {
                (ErrorKind::Overflow, Place::Call, self.condition(check), too_large())
            }
            Fault::Index { param, position, rank, bound, found } => {
                let part = Part::Position(position[..rank].to_vec());
                let expected = format!("an index in 0..{bound}");
                (ErrorKind::Index, self.param(param, part), expected, found.to_string())
            }
            Fault::IndexOverflow { param } => {
                let expected = "a bound of its values that fits 64 bits".to_owned();
                (ErrorKind::Overflow, self.param(param, Part::Whole), expected, too_large())
            }
            Fault::AxisOverflow { at } => {
                (ErrorKind::Overflow, self.axis(at), self.expr(at).text.to_owned(), too_large())
            }
            Fault::Size { param } => {
                let expected = "at most 2^63 - 1 bytes".to_owned();
                (ErrorKind::Overflow, self.param(param, Part::Whole), expected, "more".to_owned())
            }
            Fault::Negative { at, value } => {
                let expected = format!("{} >= 0", self.expr(at).text);
                (ErrorKind::Negative, self.axis(at), expected, value.to_string())
            }
            Fault::SizeBelow { size, value } => {
                let size = &self.function.sizes[size];
                let expected = format!("{} >= {}", size.value.text, size.least);
                (ErrorKind::Negative, Place::Call, expected, self.value(&size.value, value))
            }
            Fault::SizeOverflow { size } => {
                let expr = &self.function.sizes[size].value;
                let expected = format!("a size {} of at most 2^63 - 1", expr.text);
                let found = match self.reasons(&symbols_of(expr)) {
                    reasons if reasons.is_empty() => too_large(),
                    reasons => reasons,
                };
                (ErrorKind::Overflow, Place::Call, expected, found)
            }
            Fault::WorkspaceOverflow => {
                let expected = "a workspace of at most 2^63 - 1 bytes".to_owned();
                (ErrorKind::Overflow, Place::Call, expected, "more".to_owned())
            }
            Fault::Memory { bytes } => {
                let expected = format!("{bytes} bytes of memory");
                (ErrorKind::Memory, Place::Call, expected, "less".to_owned())
            }
            Fault::Level => {
                let levels: Vec<&str> =
                    self.function.entries.iter().map(|entry| entry.level.name()).collect();
                let expected = format!("a processor with {}", levels.join(" or "));
                (ErrorKind::Level, Place::Call, expected, "one without".to_owned())
            }
        };
        Error::new(Details { kind, function: self.function.name, place, expected, found })
    }

    fn name(&self, symbol: usize) -> &'static str {
        self.function.symbols[symbol].name
    }

    fn expr(&self, at: Axis) -> &'static DimExpr {
        &self.function.params[at.param].shape[at.axis]
    }

    fn axis(&self, at: Axis) -> Place {
        self.param(at.param, Part::Axis(at.axis))
    }

    fn param(&self, param: usize, part: Part) -> Place {
        let param = &self.function.params[param];
        Place::Param { name: param.name, output: param.role == Role::Output, part }
    }

    /// `B in 1..=64`.
    fn bounds(&self, symbol: usize) -> String {
        let symbol = &self.function.symbols[symbol];
        match (symbol.low, symbol.high) {
            (low, i64::MAX) => format!("{} in {low}..", symbol.name),
            (low, high) => format!("{} in {low}..={high}", symbol.name),
        }
    }

    /// An expression's value and why: `3`, ``B = 8 (from `x`, axis 0)``, ``2*B = 16 (B = 8 from `x`, axis 0)``.
    fn value(&self, expr: &DimExpr, value: i64) -> String {
        match expr.program {
            [DimOp::Const(_)] => value.to_string(),
            [DimOp::Symbol(symbol)] => format!("{} = {value} ({})", expr.text, self.reason(*symbol as usize)),
            _ => match self.reasons(&symbols_of(expr)) {
                reasons if reasons.is_empty() => value.to_string(),
                reasons => format!("{} = {value} ({reasons})", expr.text),
            },
        }
    }

    /// ``B = 8 from `x`, axis 0; N = 2 as given``.
    fn reasons(&self, symbols: &[u32]) -> String {
        let each = symbols.iter().map(|&symbol| {
            let symbol = symbol as usize;
            format!("{} = {} {}", self.name(symbol), self.symbols[symbol], self.reason(symbol))
        });
        each.collect::<Vec<_>>().join("; ")
    }

    /// Where a symbol's value comes from.
    fn reason(&self, symbol: usize) -> String {
        let row = self.function.solve.iter().find(|row| row.symbol as usize == symbol);
        match row {
            Some(row) if !self.given => {
                format!("from `{}`, axis {}", self.function.params[row.param as usize].name, row.axis)
            }
            _ => "as given".to_owned(),
        }
    }

    fn condition(&self, check: usize) -> String {
        let check = &self.function.checks[check];
        format!("{} {} {}", check.left.text, check.relation.symbol(), check.right.text)
    }

    fn operands(&self, check: usize) -> String {
        let check = &self.function.checks[check];
        let mut symbols = symbols_of(&check.left);
        symbols.extend(symbols_of(&check.right));
        symbols.sort_unstable();
        symbols.dedup();
        match self.reasons(&symbols) {
            reasons if reasons.is_empty() => "that it is false".to_owned(),
            reasons => reasons,
        }
    }
}
