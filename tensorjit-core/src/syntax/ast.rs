//! The syntax tree: what the user wrote, with names unresolved and nothing checked.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::Origin;
use tensorjit_runtime::abi::Relation;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub text: String,
    /// Its place.
    pub at: Origin,
}

/// A block of items.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// In the order of the text.
    pub items: Vec<Item>,
    /// The same items as they were written.
    pub texts: Vec<Text>,
    /// The names that come from other blocks, in the order of the text.
    pub uses: Vec<Use>,
    /// The other blocks, as much of them as is needed; one comes after those that it imports from.
    pub modules: Vec<Module>,
}

/// An item as others import it.
#[derive(Clone, Debug)]
pub struct Text {
    /// The rule of its derivative, `pub` where it is public in any way, and all from its keyword on.
    pub tokens: proc_macro2::TokenStream,
    /// Every word in it.
    pub words: BTreeSet<String>,
}

/// A name that is imported: `use path::item as name;`
#[derive(Clone, Debug)]
pub struct Use {
    /// The visibility, as written.
    pub visibility: proc_macro2::TokenStream,
    /// What stands before the item, as written: `path::`.
    pub path: proc_macro2::TokenStream,
    /// The item, as its block calls it.
    pub item: Ident,
    /// Its name in this block.
    pub name: Ident,
    /// The item that is meant, once it has been fetched.
    pub home: Option<Import>,
}

/// An item of another block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The index of the block among the modules.
    pub module: usize,
    /// Its name, with that of the block before it.
    pub item: String,
}

/// Another block, as much of it as is needed.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// What no other block is called.
    pub id: String,
    /// Its items.  The name of each has that of the block before it, and so is the name of no other item; within
    /// the texts they are named as they were written.
    pub items: Vec<Item>,
    /// The same items as they were written.
    pub texts: Vec<Text>,
    /// What it imports itself, by the names that it has there.
    pub imports: BTreeMap<String, Import>,
}

/// An item of a block.
#[derive(Clone, Debug)]
pub enum Item {
    /// A function.
    Fn(Function),
    /// A struct of tensors.
    Struct(Struct),
    /// `const NAME: type = expr;`
    Const(Const),
}

/// The name of an item in its own block, where that of the block may stand before it.
pub fn plain_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

impl Item {
    /// Puts the name of its block before its own.
    pub(super) fn qualify(&mut self, block: &str) {
        let name = match self {
            Item::Fn(function) => &mut function.name,
            Item::Struct(declared) => &mut declared.name,
            Item::Const(constant) => &mut constant.name,
        };
        name.text = format!("{block}/{}", name.text);
    }

    /// Its name.
    pub fn name(&self) -> &Ident {
        match self {
            Item::Fn(function) => &function.name,
            Item::Struct(declared) => &declared.name,
            Item::Const(constant) => &constant.name,
        }
    }

    /// Whether Rust sees it.
    pub fn public(&self) -> bool {
        match self {
            Item::Fn(function) => function.public,
            Item::Struct(declared) => declared.public,
            Item::Const(constant) => constant.public,
        }
    }

    /// The visibility, as written.
    pub fn visibility(&self) -> &proc_macro2::TokenStream {
        match self {
            Item::Fn(function) => &function.visibility,
            Item::Struct(declared) => &declared.visibility,
            Item::Const(constant) => &constant.visibility,
        }
    }

    /// Attributes as written, but for those that the compiler takes.
    pub fn attributes(&self) -> &[proc_macro2::TokenStream] {
        match self {
            Item::Fn(function) => &function.attributes,
            Item::Struct(declared) => &declared.attributes,
            Item::Const(constant) => &constant.attributes,
        }
    }
}

/// A constant of the block.
#[derive(Clone, Debug)]
pub struct Const {
    /// Attributes as written, documentation among them.
    pub attributes: Vec<proc_macro2::TokenStream>,
    /// The visibility, as written.
    pub visibility: proc_macro2::TokenStream,
    /// Whether it has one.
    pub public: bool,
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: TypeExpr,
    /// Its value: literals, other constants and arithmetic.
    pub value: Expr,
    /// The item as the macro re-emits it: attributes, visibility and all; empty outside the macro.
    pub tokens: proc_macro2::TokenStream,
}

/// `struct Layer<I, O> { w: f32[I, O], b: f32[O] }`
#[derive(Clone, Debug)]
pub struct Struct {
    /// Attributes as written, documentation among them.
    pub attributes: Vec<proc_macro2::TokenStream>,
    /// The visibility, as written.
    pub visibility: proc_macro2::TokenStream,
    /// Whether a Rust item is emitted.
    pub public: bool,
    /// Its name.
    pub name: Ident,
    /// Its dimensions.
    pub generics: Vec<Generic>,
    /// In order.
    pub fields: Vec<Field>,
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub struct Field {
    /// Attributes as written, documentation among them.
    pub attributes: Vec<proc_macro2::TokenStream>,
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: TypeExpr,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Attributes but for those that the compiler takes, as written; documentation comments are among them.
    pub attributes: Vec<proc_macro2::TokenStream>,
    /// The visibility, as written; empty for a helper.
    pub visibility: proc_macro2::TokenStream,
    /// Whether a Rust item is emitted.
    pub public: bool,
    /// Its name.
    pub name: Ident,
    /// `<B: 1..=64, T: float, ..S>`.
    pub generics: Vec<Generic>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// The type of the result; `None` where the function only assigns to state.
    pub result: Option<TypeExpr>,
    /// The `where` clauses.
    pub conditions: Vec<Condition>,
    /// The cases of `#[specialize(..)]`, in order.
    pub versions: Vec<Version>,
    /// `#[vjp(..)]` or `#[jvp(..)]`.
    pub rule: Option<DerivativeRule>,
    /// The body.
    pub body: Body,
    /// The whole item.
    pub at: Origin,
}

/// `#[vjp(name)]` or `#[jvp(name)]`: the function that is the derivative of another one.
#[derive(Clone, Debug)]
pub struct DerivativeRule {
    /// Whether it gives cotangents, `vjp`.
    pub reverse: bool,
    /// The name of the function.
    pub name: Ident,
    /// The attribute without its `#`.
    pub at: Origin,
}

/// A generic parameter.
#[derive(Clone, Debug)]
pub enum Generic {
    /// A dimension with optional bounds, both inclusive here.
    Dim {
        /// Its name.
        name: Ident,
        /// The least value: an expression of literals and constants.
        low: Option<Expr>,
        /// The greatest value.
        high: Option<Expr>,
    },
    /// An element type, `T: float`; helpers only.
    Elem {
        /// Its name.
        name: Ident,
        /// `float`, `int` or `number`.
        bound: Ident,
    },
    /// Any number of leading axes, `..S`; helpers only.
    Axes {
        /// Its name.
        name: Ident,
    },
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: Ident,
    /// Its type, without the `&mut`.
    pub ty: TypeExpr,
    /// Written `&mut`: state that may be assigned.
    pub mutable: bool,
    /// The default of a constant option, `axis: int = -1`; helpers only.
    pub default: Option<Expr>,
}

/// A written type.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// What was written.
    pub kind: TypeKind,
    /// Its place.
    pub at: Origin,
}

/// Forms of types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `f32`, `f32[B, 3]`, `T[..S, N]`; also the option types `int`, `bool`, `axes`, and structs without dimensions.
    Tensor {
        /// The element type.
        elem: Ident,
        /// The extents.
        shape: Vec<Extent>,
    },
    /// `Layer<I, O>`.
    Struct {
        /// The struct.
        name: Ident,
        /// Its dimensions.
        dims: Vec<Extent>,
    },
    /// `[Layer<D, D>; 6]`.
    Array {
        /// The type of the elements.
        element: Box<TypeExpr>,
        /// Their number.
        len: Extent,
    },
    /// `(A, B)`.
    Tuple(Vec<TypeExpr>),
    /// `"mean" | "sum"`: an option that is one of these strings.
    Choice(Vec<String>),
}

/// One extent of a written shape.
#[derive(Clone, Debug)]
pub enum Extent {
    /// An expression over symbols and constants.
    Dim(Expr),
    /// `..S`.
    Axes(Ident),
}

/// One condition of a `where` clause.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Left side, over dimensions.
    pub left: Expr,
    /// The relation.
    pub relation: Relation,
    /// Right side.
    pub right: Expr,
    /// Its place.
    pub at: Origin,
}

/// A case that gets a version of the code of its own.
#[derive(Clone, Debug)]
pub struct Version {
    /// All of them hold in it.
    pub conditions: Vec<Condition>,
    /// Its place.
    pub at: Origin,
}

/// Statements and the value of a block.
#[derive(Clone, Debug)]
pub struct Body {
    /// In order.
    pub statements: Vec<Statement>,
    /// The value; `None` where the block ends with a statement.
    pub value: Option<Box<Expr>>,
    /// Its place.
    pub at: Origin,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `let pattern: type = value;`
    Let {
        /// One name, or the names of a tuple; `_` is a name that cannot be read.
        pattern: Pattern,
        /// The ascription.
        ty: Option<TypeExpr>,
        /// The value.
        value: Expr,
    },
    /// `name = value;`, `params.layers[0].w = value;`
    Assign {
        /// A state parameter or a name bound by `let mut`, or a part of it.
        target: Target,
        /// The value.
        value: Expr,
        /// The whole statement.
        at: Origin,
    },
    /// `for pattern in iterable { .. }`
    For {
        /// What is bound in each step.
        pattern: Pattern,
        /// What it goes over.
        over: Iterable,
        /// The body of a step.
        body: Body,
        /// `for`.
        at: Origin,
    },
}

/// What is assigned.
#[derive(Clone, Debug)]
pub struct Target {
    /// The name.
    pub name: Ident,
    /// Which part of it; the whole where there are none.
    pub steps: Vec<Step>,
}

/// A step from a value to a part of it.
#[derive(Clone, Debug)]
pub enum Step {
    /// `.field`
    Field(Ident),
    /// `[index]`
    Index(Vec<IndexItem>, Origin),
}

/// What a `for` goes over.
#[derive(Clone, Debug)]
pub enum Iterable {
    /// `from..to` or `from..=to`.
    Range {
        /// The first value.
        from: Expr,
        /// The end.
        to: Expr,
        /// Whether the end is among the values.
        inclusive: bool,
        /// Its place.
        at: Origin,
    },
    /// The elements of an array, or `zip` or `enumerate` of them.
    Each(Expr),
}

/// What a `let` binds.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// One name.
    Name(Ident),
    /// `mut name`, which may be assigned.
    Mutable(Ident),
    /// A tuple of patterns.
    Tuple(Vec<Pattern>, Origin),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What was written.
    pub kind: ExprKind,
    /// Its place; for an operator, the operator.
    pub at: Origin,
    /// The place of the whole expression.
    pub span: Origin,
}

/// Forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer literal and its suffix.
    Int(i128, Option<String>),
    /// A float literal as written without its suffix, and its suffix.
    Float(String, Option<String>),
    /// `true` or `false`.
    Bool(bool),
    /// A string literal: only as the value of an option.
    Str(String),
    /// A name.
    Name(String),
    /// A unary operator.
    Unary(UnaryOp, Box<Expr>),
    /// A binary operator.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `f(args, option = value)` or `receiver.f(args)`, the receiver first among the arguments.
    Call {
        /// The function.
        name: Ident,
        /// Positional arguments.
        args: Vec<Expr>,
        /// Named options.
        options: Vec<(Ident, Expr)>,
        /// Written in method form.
        method: bool,
    },
    /// `value as f32`.
    Cast(Box<Expr>, Ident),
    /// `{ .. }`.
    Block(Body),
    /// `(a, b)`.
    Tuple(Vec<Expr>),
    /// `[a, b]`.
    Array(Vec<Expr>),
    /// `..S` in an array: the extents of these axes.
    Axes(Ident),
    /// `value[items]`.
    Index(Box<Expr>, Vec<IndexItem>),
    /// `Layer { w: a, b, ..base }`
    Struct {
        /// The struct.
        name: Ident,
        /// Fields with their values.
        fields: Vec<(Ident, Expr)>,
        /// Where the other fields come from.
        base: Option<Box<Expr>>,
    },
    /// `tuple.0` or `value.field`.
    Field(Box<Expr>, Ident),
    /// `if condition { .. } else { .. }`.
    If {
        /// A truth value.
        condition: Box<Expr>,
        /// Where it is true.
        then: Body,
        /// Where it is false; `else if` is an `if` in it.
        otherwise: Body,
    },
    /// `|a, (b, c)| value`: what a loop does each step; only as an argument.
    Closure(Vec<Pattern>, Box<Expr>),
}

/// One item of an index.
#[derive(Clone, Debug)]
pub enum IndexItem {
    /// `..` at the first place it may stand for any number of axes; elsewhere a whole axis.
    Rest(Origin),
    /// `from..to;step`; each may be missing.
    Range {
        /// First index.
        from: Option<Box<Expr>>,
        /// One past the last index.
        to: Option<Box<Expr>>,
        /// Distance, a positive constant.
        step: Option<Box<Expr>>,
        /// Its place.
        at: Origin,
    },
    /// An index: a constant, a dimension expression, or an integer tensor.
    At(Expr),
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `@`
    MatMul,
    /// `==`, `!=`, `<`, `<=`, `>`, `>=`
    Compare(Relation),
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
}
