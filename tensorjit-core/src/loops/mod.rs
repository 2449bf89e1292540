//! The loop language: structured loops over scalars and vectors, in SSA form.
//!
//! Every kernel, matrix products included, is a [`Kernel`] in it.  The scheduler makes kernels through
//! [`Builder`]; code generation walks them and decides nothing.

mod intern;
mod builder;
pub mod cells;
mod dims;
mod print;
mod transpose;
pub mod walk;
pub mod split;
pub mod nests;
pub mod versions;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod verify;

pub use builder::Builder;
pub use verify::verify;

use tensorjit_runtime::abi::{DType, Level};

use crate::dim::Dim;
use crate::lanes::{ENTRIES, Prim, Val};

/// What the code is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The level that the caller tests before it enters.
    pub level: Level,
    /// LLVM's target triple.
    pub triple: String,
    /// LLVM's processor name.
    pub cpu: String,
    /// LLVM's feature string.
    pub features: String,
    /// Width of a vector register.
    pub vector_bits: u32,
    /// Number of vector registers.
    pub vector_registers: u32,
    /// Whether it has fused multiply-add.
    pub fma: bool,
}

/// Bytes of a cache line.
pub const LINE: u32 = 64;

/// Bytes of the smallest store past the caches.
pub const STREAM_BYTES: u32 = 16;

/// The type of a [`Val`]: `lanes` is 1 for scalars.  `Bool` is a one-bit mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ty {
    /// Of each lane.
    pub dtype: DType,
    /// How many.
    pub lanes: u32,
}

/// A buffer: an index into [`Kernel::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Buf(pub u32);

/// Memory that a kernel reads or writes; elements are addressed by `i64` offsets from its start.
/// `Bool` elements are bytes, 0 or 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Buffer {
    /// The element type.
    pub dtype: DType,
    /// Where it lies.
    pub place: Place,
}

/// Where a buffer lies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Argument `i` of the call.  No two arguments overlap but where both are read only.
    Arg(u32),
    /// In the arena, at this offset in bytes, a multiple of 64.
    Arena(Dim),
    /// At address `number` of those that the calling kernel hands over.  What lies in different memories does not
    /// overlap, but where it is read only.
    Given {
        /// Which address.
        number: u32,
        /// Which memory.
        memory: u32,
    },
    /// So many bytes on the stack, aligned to 64, of whatever function touches it.  Each task and each part has its
    /// own, and nothing stands there from one to another, nor passes into or out of a loop without results.
    Stack(u32),
}

impl Place {
    /// Which memory it lies in: the number of an argument, or none for the arena and the stack.
    pub fn memory(&self) -> Option<u32> {
        match self {
            Place::Arg(number) | Place::Given { memory: number, .. } => Some(*number),
            Place::Arena(_) | Place::Stack(_) => None,
        }
    }
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Inst {
    /// A float constant; it is a scalar, and operands that are vectors take it splat.
    Float(Val, f64),
    /// An integer or bool constant.
    Int(Val, i64),
    /// The value of symbol `i` of the function, an `i64`.
    Symbol(Val, u32),
    /// Scalar `i` of those that an [`Inst::Nest`] hands over.
    Input(Val, u32),
    /// `0, 1, 2, ..` in the lanes of an integer vector.
    Lanes(Val),
    /// All lanes equal to a scalar.
    Splat(Val, Val),
    /// A lane-wise operation; operands have the lanes of the result.
    Prim(Val, Prim, Vec<Val>),
    /// One half of a vector with an even number of lanes; `high` for the upper half.
    Half {
        /// The result, with half as many lanes.
        result: Val,
        /// The vector.
        vector: Val,
        /// Which half.
        high: bool,
    },
    /// Lanes of two vectors of one type in any order: lane `i` of the result is lane `order[i]` of `first` followed
    /// by `second`.
    Shuffle {
        /// The result, with as many lanes as `order` has numbers: two or more.
        result: Val,
        /// The vector with the lower numbers.
        first: Val,
        /// The vector with the higher numbers.
        second: Val,
        /// A lane for each of the result.
        order: Vec<u32>,
    },
    /// In each lane the entry of a table of `f32` whose number is in the low bits of an `i32`, modulo [`ENTRIES`]; at
    /// levels with registers of 512 bits.
    Entry {
        /// The result.
        result: Val,
        /// The table.
        table: Box<[f64; ENTRIES]>,
        /// Numbers of entries in as many lanes.
        index: Val,
    },
    /// One lane of a vector, which is in range.
    Extract {
        /// The result, a scalar.
        result: Val,
        /// The vector.
        vector: Val,
        /// Which lane.
        lane: u32,
    },
    /// Whether any lane of a mask is set.
    Any {
        /// The result, a scalar `Bool`.
        result: Val,
        /// A vector of `Bool`.
        mask: Val,
    },
    /// Loads consecutive elements from a scalar offset; lanes outside the mask are not read and are zero.
    Load {
        /// The result.
        result: Val,
        /// From.
        buf: Buf,
        /// The first element.
        offset: Val,
        /// A mask of as many lanes.
        mask: Option<Val>,
    },
    /// Loads one element for each lane at a vector of offsets; lanes outside the mask are not read and are zero.
    Gather {
        /// The result.
        result: Val,
        /// From.
        buf: Buf,
        /// `i64` lanes.
        offsets: Val,
        /// A mask of as many lanes.
        mask: Option<Val>,
    },
    /// The address of the first element of a buffer.
    Address {
        /// The result, an `i64` scalar.
        result: Val,
        /// The buffer.
        buf: Buf,
    },
    /// Stores consecutive elements; lanes outside the mask are not written.
    Store {
        /// To.
        buf: Buf,
        /// The first element.
        offset: Val,
        /// The elements.
        value: Val,
        /// A mask of as many lanes.
        mask: Option<Val>,
        /// Whether past the caches: no mask, at least [`STREAM_BYTES`], at a multiple of its size or, where it is longer,
        /// of a [`LINE`].  Other threads see it only after an [`Inst::Fence`].
        streamed: bool,
    },
    /// Asks for the line of memory around an element, which is about to be read or written.  It changes nothing, and
    /// the element need not exist.
    Prefetch {
        /// Where.
        buf: Buf,
        /// The element.
        offset: Val,
    },
    /// Makes what was streamed before visible before what is written after.
    Fence,
    /// A counted loop: `for index in (from..to).step_by(step)`.
    For(Box<For>),
    /// A branch on a scalar `Bool`.
    If(Box<If>),
    /// Independent tasks.
    Parallel(Box<Parallel>),
    /// Runs a part of the function with what this kernel was entered with.
    Enter(u32),
    /// Runs part `part` of the function on buffers of this kernel; only the outermost block calls.
    Call {
        /// Which part.
        part: u32,
        /// What the part's buffers are.
        buffers: Vec<Buf>,
    },
    /// Runs part `part` of the function, a nest without tasks, on buffers and scalars of this kernel; in any block.
    Nest {
        /// Which part.
        part: u32,
        /// What the part's buffers are.
        buffers: Vec<Buf>,
        /// The scalars, by number.
        values: Vec<Val>,
    },
}

/// A counted loop with carried values.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The loop variable, an `i64` scalar.
    pub index: Val,
    /// The first value.
    pub from: Val,
    /// The bound, exclusive.
    pub to: Val,
    /// Positive.
    pub step: i64,
    /// The values that the body sees, one for each of `initial`.
    pub carried: Vec<Val>,
    /// The values before the first turn.
    pub initial: Vec<Val>,
    /// Whether it ends after a turn that yields false as the first carried value, a scalar `Bool`.
    pub conditional: bool,
    /// What is done each turn; it yields the next carried values.
    pub body: Block,
    /// The carried values after the last turn.
    pub results: Vec<Val>,
}

/// A branch.
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    /// A scalar `Bool`.
    pub condition: Val,
    /// Where it is true.
    pub then: Block,
    /// Where it is false.
    pub otherwise: Block,
    /// What the branches yield.
    pub results: Vec<Val>,
}

/// Tasks `0..count`, in any order and on any threads, all done when the next instruction begins.
///
/// No task writes what another one reads or writes. A task has no tasks of its own and carries nothing out.
#[derive(Clone, Debug, PartialEq)]
pub struct Parallel {
    /// The number of the task, an `i64` scalar.
    pub index: Val,
    /// How many there are, an `i64` scalar.
    pub count: Val,
    /// Whether they are worth other threads, a scalar `Bool`; otherwise the calling thread runs them in order.
    pub shared: Val,
    /// What a task does.
    pub body: Block,
}

/// Instructions in order, and what the enclosing loop or branch takes from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// In order.
    pub insts: Vec<Inst>,
    /// The next carried values, or the results of the branch.
    pub yields: Vec<Val>,
}

/// A whole tensor function for one target.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// What the code is for.
    pub target: Target,
    /// The memory it touches.
    pub buffers: Vec<Buffer>,
    /// The types of all values; [`Val`] indexes it.
    pub types: Vec<Ty>,
    /// What is done.
    pub body: Block,
}

impl Inst {
    /// Calls `visit` with every value that it uses, those of nested blocks included.
    pub fn uses(&self, visit: &mut dyn FnMut(Val)) {
        match self {
            Inst::Float(..) | Inst::Int(..) | Inst::Symbol(..) | Inst::Input(..) | Inst::Lanes(_) => {}
            Inst::Enter(_) | Inst::Call { .. } | Inst::Address { .. } | Inst::Fence => {}
            Inst::Splat(_, val) => visit(*val),
            Inst::Prim(_, _, args) | Inst::Nest { values: args, .. } => args.iter().copied().for_each(visit),
            Inst::Half { vector, .. } | Inst::Extract { vector, .. } => visit(*vector),
            Inst::Entry { index, .. } => visit(*index),
            Inst::Shuffle { first, second, .. } => [*first, *second].into_iter().for_each(visit),
            Inst::Any { mask, .. } => visit(*mask),
            Inst::Prefetch { offset, .. } => visit(*offset),
            Inst::Load { offset: at, mask, .. } | Inst::Gather { offsets: at, mask, .. } => {
                std::iter::once(*at).chain(*mask).for_each(visit);
            }
            Inst::Store { offset, value, mask, .. } => {
                [*offset, *value].into_iter().chain(*mask).for_each(visit);
            }
            Inst::For(body) => {
                [body.from, body.to].iter().chain(&body.initial).copied().for_each(&mut *visit);
                body.body.uses(visit);
            }
            Inst::If(branch) => {
                visit(branch.condition);
                branch.then.uses(visit);
                branch.otherwise.uses(visit);
            }
            Inst::Parallel(tasks) => {
                visit(tasks.count);
                visit(tasks.shared);
                tasks.body.uses(visit);
            }
        }
    }

    /// The blocks that it holds.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let (first, second) = match self {
            Inst::For(body) => (Some(&body.body), None),
            Inst::If(branch) => (Some(&branch.then), Some(&branch.otherwise)),
            Inst::Parallel(tasks) => (Some(&tasks.body), None),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The blocks that it holds, to be changed.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let (first, second) = match self {
            Inst::For(body) => (Some(&mut body.body), None),
            Inst::If(branch) => (Some(&mut branch.then), Some(&mut branch.otherwise)),
            Inst::Parallel(tasks) => (Some(&mut tasks.body), None),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }
}

impl Block {
    /// Calls `visit` with every value that its instructions use and that it yields.
    pub fn uses(&self, visit: &mut dyn FnMut(Val)) {
        self.insts.iter().for_each(|inst| inst.uses(visit));
        self.yields.iter().copied().for_each(visit);
    }
}
