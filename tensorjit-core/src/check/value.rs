//! What an expression stands for while a function is checked.

use std::rc::Rc;

use tensorjit_runtime::abi::DType;

use crate::diag::Origin;
use crate::dim::Dim;
use crate::graph::{NodeId, Op};

/// The meaning of an expression.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A tensor or scalar with an element type.
    Node(NodeId),
    /// A constant tensor or scalar whose element type is still open.
    Literal(Rc<Literal>),
    /// A dimension: an `i64` scalar that is known as an expression over the symbols.
    Dim(Dim),
    /// A constant of the block, with its type.
    Constant(Rc<Literal>, DType),
    /// A truth value known now.
    Bool(bool),
    /// A string, the value of an option.
    Text(String),
    /// An element type, the value of an option.
    Elem(DType),
    /// `[a, b]`: a shape, a list of operands, or a tensor, as its use decides.
    List(Vec<Placed>),
    /// `(a, b)`.
    Tuple(Vec<Placed>),
    /// A struct.
    Struct(Rc<Record>),
    /// An array of structs of one type, at least one.
    Array(Rc<Vec<Value>>),
    /// What a loop does each step, which is read where the loop is.
    Closure,
    /// The value of a block that ends with a statement.
    Unit,
    /// The value of an expression with an error, which has been reported.
    Error,
}

/// The value of a struct.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// The name of the struct.
    pub(super) name: String,
    /// The values of its dimensions; with the name they are its type.
    pub(super) dims: Vec<Dim>,
    /// Of the fields in the order of their declaration; tensors among them are nodes.
    pub(super) values: Vec<Value>,
}

/// A value and where it was written.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    /// The value.
    pub(super) value: Value,
    /// The whole expression.
    pub(super) at: Origin,
}

/// A constant of open element type: a tree that is built into the graph once its type is known.
#[derive(Debug)]
pub(super) struct Literal {
    /// Which types it may take.
    pub(super) kind: Kind,
    /// Its shape.
    pub(super) shape: Vec<Dim>,
    /// How it is computed.
    pub(super) form: Form,
    /// Where it was written.
    pub(super) at: Origin,
    /// How many operators lie one inside the other.
    pub(super) depth: u32,
}

/// Which types a literal may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Any number.
    Int,
    /// Any float.
    Float,
}

/// How a literal is computed.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// An integer.
    Int(i128),
    /// A float, rounded to each of the types that it may take.
    Float {
        /// As `f64`.
        double: f64,
        /// As `f32`.
        single: f32,
    },
    /// `0, 1, ..`.
    Iota(Dim),
    /// A dimension, converted to the type.
    Dim(Dim),
    /// An operand with a type of its own, such as a mask.
    Typed(NodeId),
    /// An operator on literals.
    Apply(Op, Vec<Rc<Literal>>),
}

/// Something with a shape: what operators are applied to.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    /// With an element type.
    Node(NodeId),
    /// Without one.
    Literal(Rc<Literal>),
}

impl Operand {
    pub(super) fn value(self) -> Value {
        match self {
            Operand::Node(id) => Value::Node(id),
            Operand::Literal(literal) => Value::Literal(literal),
        }
    }
}

impl Literal {
    /// An integer without a type.
    pub(super) fn int(value: i128, at: Origin) -> Literal {
        Literal { kind: Kind::Int, shape: Vec::new(), form: Form::Int(value), at, depth: 0 }
    }

    /// The negative, where it is a plain number: so `-1` and `-0.0` are literals too.
    pub(super) fn negated(&self, at: Origin) -> Option<Literal> {
        let form = match self.form {
            Form::Int(value) => Form::Int(value.checked_neg()?),
            Form::Float { double, single } => Form::Float { double: -double, single: -single },
            _ => return None,
        };
        Some(Literal { kind: self.kind, shape: Vec::new(), form, at, depth: 0 })
    }

    /// Whether it is one number, not computed.
    pub(super) fn is_number(&self) -> bool {
        matches!(self.form, Form::Int(_) | Form::Float { .. })
    }
}

impl Value {
    /// The dimension expression that it stands for, where it is an integer known now.
    pub(super) fn as_dim(&self) -> Option<Dim> {
        match self {
            Value::Dim(dim) => Some(dim.clone()),
            Value::Literal(literal) => match literal.form {
                Form::Int(value) => i64::try_from(value).ok().map(Dim::constant),
                _ => None,
            },
            _ => None,
        }
    }

    /// The constant integer that it stands for.
    pub(super) fn as_int(&self) -> Option<i64> {
        self.as_dim()?.as_const()
    }

    /// Whether it is a negative integer as a literal, which counts from the end.
    pub(super) fn counts_from_end(&self) -> bool {
        matches!(self, Value::Literal(literal) if matches!(literal.form, Form::Int(value) if value < 0))
    }

    /// Whether it is made of leaves.
    pub(super) fn is_compound(&self) -> bool {
        matches!(self, Value::Struct(_) | Value::Array(_))
    }

    /// The elements of a list or tuple.
    pub(super) fn elements(&self) -> Option<&[Placed]> {
        match self {
            Value::List(items) | Value::Tuple(items) => Some(items),
            _ => None,
        }
    }
}
