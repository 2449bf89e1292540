//! The contract between compiled kernels, the code that the macro emits, and this runtime.
//!
//! The macro emits one constant [`Function`] for each public tensor function.  [`crate::call`] executes it:
//! it binds the dimensions from the arguments' axes, checks them, reserves the workspace, and jumps.

use crate::plan::Plan;

/// Which contract this is; it is raised with every change to what an entry is handed.
pub const VERSION: u32 = 3;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DType {
    /// Truth values, one byte each, 0 or 1.
    Bool,
    /// 8-bit signed integers.
    I8,
    /// 16-bit signed integers.
    I16,
    /// 32-bit signed integers.
    I32,
    /// 64-bit signed integers.
    I64,
    /// 8-bit unsigned integers.
    U8,
    /// 16-bit unsigned integers.
    U16,
    /// 32-bit unsigned integers.
    U32,
    /// 64-bit unsigned integers.
    U64,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// IEEE binary16, computed as `f32`.
    F16,
    /// The upper half of a binary32, computed as `f32`.
    BF16,
}

impl DType {
    /// All element types.
    pub const ALL: [DType; 13] = [
        DType::Bool,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F32,
        DType::F64,
        DType::F16,
        DType::BF16,
    ];

    /// Bytes of one element in memory.
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::I8 | DType::U8 => 1,
            DType::I16 | DType::U16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::U32 | DType::F32 => 4,
            DType::I64 | DType::U64 | DType::F64 => 8,
        }
    }

    /// The name in the language and in Rust.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::U8 => "u8",
            DType::U16 => "u16",
            DType::U32 => "u32",
            DType::U64 => "u64",
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
        }
    }

    /// Whether it is a type of floats.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::F64) || self.is_half()
    }

    /// Whether it is `f16` or `bf16`, which store numbers that are computed as `f32`.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }

    /// The type that its numbers are computed as.
    pub const fn computed(self) -> DType {
        if self.is_half() { DType::F32 } else { self }
    }

    /// Whether it is an integer type.
    pub const fn is_int(self) -> bool {
        self.is_unsigned() || matches!(self, DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }

    /// Whether it is an unsigned integer type.
    pub const fn is_unsigned(self) -> bool {
        matches!(self, DType::U8 | DType::U16 | DType::U32 | DType::U64)
    }

    /// The least and the greatest value of an integer type.
    pub const fn bounds(self) -> (i128, i128) {
        let values = 1_i128 << (8 * self.size());
        if self.is_unsigned() { (0, values - 1) } else { (-values / 2, values / 2 - 1) }
    }

    /// Whether every value of another integer type is one of this integer type.
    pub const fn holds(self, other: DType) -> bool {
        let ((low, high), (least, greatest)) = (self.bounds(), other.bounds());
        low <= least && greatest <= high
    }

    /// The value of an integer type that is equal modulo the number of its values.
    pub const fn wrap(self, value: i128) -> i128 {
        let (least, greatest) = self.bounds();
        least + value.wrapping_sub(least).rem_euclid(greatest - least + 1)
    }
}

/// One step of a dimension program: postfix, on a stack of `i64`, every operation checked for overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DimOp {
    /// Push a constant.
    Const(i64),
    /// Push the value of the symbol with this index.
    Symbol(u32),
    /// Replace the two topmost values by their sum.
    Add,
    /// Replace the two topmost values by their difference, the topmost subtracted.
    Sub,
    /// Replace the two topmost values by their product.
    Mul,
    /// Floor division by the topmost value, which is positive or the evaluation fails.
    FloorDiv,
    /// Division rounded up by the topmost value, which is positive or the evaluation fails.
    CeilDiv,
    /// Floor remainder by the topmost value, which is positive or the evaluation fails.
    Mod,
    /// The smaller of the two topmost values.
    Min,
    /// The larger of the two topmost values.
    Max,
}

/// How many values a dimension program may have on its stack.
pub const MAX_DEPTH: usize = 256;

/// A dimension expression: the program that evaluates it and the text that errors show.
#[derive(Clone, Copy, Debug)]
pub struct DimExpr {
    /// The postfix program; it leaves exactly one value.
    pub program: &'static [DimOp],
    /// As the user would write it, such as `2*B - 1`.
    pub text: &'static str,
    /// What the program is, known before the call.
    pub(crate) form: Form,
}

/// The programs that most expressions have, which are evaluated without a look at their steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One constant.
    Const(i64),
    /// One symbol.
    Symbol(u32),
    /// Anything else.
    Program,
}

impl DimExpr {
    /// Of a program and its text.
    pub const fn new(program: &'static [DimOp], text: &'static str) -> DimExpr {
        let form = match program {
            [DimOp::Const(value)] => Form::Const(*value),
            [DimOp::Symbol(symbol)] => Form::Symbol(*symbol),
            _ => Form::Program,
        };
        DimExpr { program, text, form }
    }
}

/// A dimension symbol with its bounds, both inclusive.
#[derive(Clone, Copy, Debug)]
pub struct Symbol {
    /// The user's name.
    pub name: &'static str,
    /// The least legal value.
    pub low: i64,
    /// The greatest legal value.
    pub high: i64,
}

/// How a symbol is found from the extents of the arguments.
#[derive(Clone, Copy, Debug)]
pub struct Solve {
    /// Which symbol.
    pub symbol: u32,
    /// Which parameter: an index into [`Function::params`].
    pub param: u32,
    /// Which axis of it.
    pub axis: u32,
    /// The extent is `scale * symbol + offset`; `offset` uses symbols solved before.
    pub scale: i64,
    /// What is subtracted before the division by `scale`.
    pub offset: DimExpr,
}

/// A condition that one call must meet, from `where` clauses.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The left side.
    pub left: DimExpr,
    /// The relation.
    pub relation: Relation,
    /// The right side.
    pub right: DimExpr,
}

/// A dimension expression that the code computes with and that is neither an extent of a parameter nor the workspace.
///
/// It is evaluated before the code runs, which computes without checks.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The expression.
    pub value: DimExpr,
    /// The least legal value: 0 for an extent.
    pub least: i64,
}

/// Relations of [`Check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Relation {
    /// As it is written.
    pub const fn symbol(self) -> &'static str {
        match self {
            Relation::Eq => "==",
            Relation::Ne => "!=",
            Relation::Lt => "<",
            Relation::Le => "<=",
            Relation::Gt => ">",
            Relation::Ge => ">=",
        }
    }
}

/// What a parameter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Read only.
    Input,
    /// Read, and holds the last assigned value after a successful call.
    State,
    /// Written only.
    Output,
}

/// One parameter or result.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The user's name; results are called `result`, or `result.0` and so on for tuples.
    pub name: &'static str,
    /// Element type.
    pub dtype: DType,
    /// What it is for.
    pub role: Role,
    /// The extents; empty for a scalar.
    pub shape: &'static [DimExpr],
    /// Values of an integer argument that is used as an index: each lies in `0..bound`.
    pub index_bound: Option<DimExpr>,
}

impl Param {
    /// A parameter that is no index.
    pub const fn new(name: &'static str, dtype: DType, role: Role, shape: &'static [DimExpr]) -> Param {
        Param { name, dtype, role, shape, index_bound: None }
    }

    /// The same, with values in `0..bound`.
    pub const fn below(self, bound: DimExpr) -> Param {
        Param { index_bound: Some(bound), ..self }
    }
}

/// The machine code of a function for one level of the target.
pub type Entry =
    unsafe extern "C" fn(args: *const *mut u8, dims: *const i64, arena: *mut u8, host: *const Host);

/// What a kernel may call back; so that an object imports nothing.
#[repr(C)]
#[derive(Debug)]
pub struct Host {
    /// Runs `task(context, i)` for every `i` in `0..count`, on any threads, and returns when all are done.
    pub parallel_for: unsafe extern "C" fn(
        host: *const Host,
        count: i64,
        context: *mut u8,
        task: unsafe extern "C" fn(context: *mut u8, index: i64),
    ),
}

/// One entry with the level it needs; a function lists them from the highest level down.
#[derive(Clone, Copy, Debug)]
pub struct LevelEntry {
    /// What the machine must have.
    pub level: Level,
    /// The code.
    pub entry: Entry,
}

/// Instruction-set levels, in rising order within an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// x86-64-v2: SSE4.2.
    X86V2,
    /// x86-64-v3: AVX2, FMA, F16C.
    X86V3,
    /// x86-64-v4: AVX-512 F, BW, CD, DQ, VL.
    X86V4,
    /// aarch64 with NEON.
    Neon,
    /// The processor that the build named; no check at run time.
    Native,
}

impl Level {
    /// The name that compilers use.
    pub const fn name(self) -> &'static str {
        match self {
            Level::X86V2 => "x86-64-v2",
            Level::X86V3 => "x86-64-v3",
            Level::X86V4 => "x86-64-v4",
            Level::Neon => "neon",
            Level::Native => "native",
        }
    }
}

/// What a function was compiled to, for people and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelInfo {
    /// The number of loop nests that a call runs.
    pub nests: usize,
    /// The number of levels that it was compiled for; one is picked at the first call.
    pub levels: usize,
    /// Bytes of workspace, as an expression over the dimension symbols.
    pub workspace: &'static str,
    /// How large the code for each level is, highest first.
    pub code: &'static [CodeSize],
}

/// How large the code for a level is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeSize {
    /// The level.
    pub level: Level,
    /// Bytes of instructions and constants.
    pub bytes: usize,
}

/// Everything that a call needs to know about a compiled function.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The user's name.
    pub name: &'static str,
    /// Dimension symbols in the order of their declaration; `dims` of the entry has this order.
    pub symbols: &'static [Symbol],
    /// Parameters in the order of their declaration, then results in order.  `args` of the entry has this
    /// order: the address of the first element of each in row-major order without gaps.
    pub params: &'static [Param],
    /// How symbols follow from extents, in the order in which to solve them.  Symbols that occur in no row
    /// must be given by the caller.
    pub solve: &'static [Solve],
    /// Conditions of `where` clauses.
    pub checks: &'static [Check],
    /// Further expressions that must have a value.
    pub sizes: &'static [Size],
    /// Bytes of workspace, as a function of the symbols.
    pub workspace: DimExpr,
    /// The code, highest level first.
    pub entries: &'static [LevelEntry],
    /// What the code is.
    pub kernels: KernelInfo,
    /// What a call compares: the shapes of `params` once more.
    pub plan: Plan,
}
