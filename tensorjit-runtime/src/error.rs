//! Errors of a call: what was expected of which argument, and what was found.

use std::fmt;

/// The result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call was refused.  No buffer has been touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Details>);

/// What [`Error`] holds, behind one pointer so that results stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Details {
    pub(crate) kind: ErrorKind,
    pub(crate) function: &'static str,
    pub(crate) place: Place,
    pub(crate) expected: String,
    pub(crate) found: String,
}

/// What an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The call as a whole.
    Call,
    /// A dimension symbol that the caller gives.
    Dimension(&'static str),
    /// An argument or an output.
    Param { name: &'static str, output: bool, part: Part },
}

/// Which part of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// The extent of one axis.
    Axis(usize),
    /// One element.
    Position(Vec<usize>),
}

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The extent of an axis is not the one that its dimension expression has.
    Extent,
    /// No whole number makes the dimension expression of an axis equal to its extent, as with `2*B` and 7.
    Indivisible,
    /// A dimension symbol lies outside the bounds of its declaration.
    Bounds,
    /// A condition of a `where` clause does not hold.
    Condition,
    /// A value of an index tensor lies outside the axis that it indexes.
    Index,
    /// A size or a dimension expression is too large for the machine.
    Overflow,
    /// A result, or a value inside the function, would have a negative extent.
    Negative,
    /// A dimension symbol follows from no argument and was not given.
    Unbound,
    /// There is not enough memory for the results or the workspace.
    Memory,
    /// The processor has none of the levels that the function was compiled for.
    Level,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: &'static [ErrorKind] = &[
        ErrorKind::Extent,
        ErrorKind::Indivisible,
        ErrorKind::Bounds,
        ErrorKind::Condition,
        ErrorKind::Index,
        ErrorKind::Overflow,
        ErrorKind::Negative,
        ErrorKind::Unbound,
        ErrorKind::Memory,
        ErrorKind::Level,
    ];
}

impl Error {
    #[cold]
    pub(crate) fn new(details: Details) -> Error {
        Error(Box::new(details))
    }

    /// What kind of thing is wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The function that was called.
    pub fn function(&self) -> &str {
        self.0.function
    }

    /// The argument or output that the error is about, where it is about one.
    pub fn argument(&self) -> Option<&str> {
        match &self.0.place {
            Place::Param { name, .. } => Some(name),
            Place::Call | Place::Dimension(_) => None,
        }
    }

    /// The axis of the argument, where the error is about an axis.
    pub fn axis(&self) -> Option<usize> {
        match &self.0.place {
            Place::Param { part: Part::Axis(axis), .. } => Some(*axis),
            _ => None,
        }
    }

    /// The index of the element, where the error is about an element.
    pub fn position(&self) -> Option<&[usize]> {
        match &self.0.place {
            Place::Param { part: Part::Position(position), .. } => Some(position),
            _ => None,
        }
    }

    /// What was expected and why, as in the text of the error.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// What was found instead.
    pub fn found(&self) -> &str {
        &self.0.found
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { function, place, expected, found, .. } = &*self.0;
        write!(f, "{function}: {place}expected {expected}, found {found}")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Call => Ok(()),
            Place::Dimension(name) => write!(f, "dimension `{name}`: "),
            Place::Param { name, output, part } => {
                write!(f, "{} `{name}`", if *output { "output" } else { "argument" })?;
                match part {
                    Part::Axis(axis) => write!(f, ", axis {axis}")?,
                    Part::Position(position) if !position.is_empty() => write!(f, ", position {position:?}")?,
                    Part::Whole | Part::Position(_) => {}
                }
                write!(f, ": ")
            }
        }
    }
}

impl std::error::Error for Error {}
