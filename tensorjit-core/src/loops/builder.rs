//! Makes kernels: interns pure instructions and places each in the outermost loop where its operands exist.
//!
//! Placement makes hoisting and common subexpressions a property of construction, so that LLVM has no loop
//! invariants to look for.

use tensorjit_runtime::abi::DType;

use super::intern::{Interned, Key};
use super::{Block, Buf, Buffer, For, If, Inst, Kernel, Parallel, Target, Ty};
use crate::graph::value::round;
use crate::lanes::{ENTRIES, Lanes, Prim, RepeatBody, Val};

/// An open block.
#[derive(Debug, Default)]
struct Scope {
    /// No two scopes have one; 0 is that of what depends on no scope.
    number: u32,
    block: Block,
    /// The innermost branch that it is or is in, or the kernel.  A branch keeps what is built in it; a loop lets
    /// invariants out.
    branch: usize,
    /// Buffers whose loads do not leave it.
    pinned: Vec<Buf>,
    frame: Frame,
}

/// What an open block belongs to.
#[derive(Debug, Default)]
enum Frame {
    #[default]
    Kernel,
    Loop(For),
    Tasks(Parallel),
    Then(Val),
    Otherwise(Val, Block),
}

/// Views have numbers from here on, in the order in which they are made.
const FIRST_VIEW: u32 = 1 << 31;

/// The builder; it has at least one open scope, the body of the kernel.
#[derive(Debug)]
pub struct Builder {
    target: Target,
    buffers: Vec<Buffer>,
    /// For each buffer: how often it was stored to, and the outermost scope to which its loads may go.
    memory: Vec<(u32, usize)>,
    types: Vec<Ty>,
    /// The scope that defines each value.
    homes: Vec<usize>,
    /// Lanes that the state of a branch or loop made by an elementwise function has.
    width: u32,
    /// The integer constants among the values.
    ints: Vec<Option<i64>>,
    interned: Interned,
    /// Buffers that are parts of others: of which, and from which element on.
    views: Vec<(Buf, Val)>,
    scopes: Vec<Scope>,
    /// The last number of a scope.
    numbered: u32,
}

impl Builder {
    /// A kernel without instructions.
    pub fn new(target: Target) -> Builder {
        Builder {
            target,
            buffers: Vec::new(),
            memory: Vec::new(),
            types: Vec::new(),
            homes: Vec::new(),
            width: 1,
            ints: Vec::new(),
            interned: Interned::default(),
            views: Vec::new(),
            scopes: vec![Scope { number: 1, ..Scope::default() }],
            numbered: 1,
        }
    }

    /// The finished kernel.
    pub fn finish(mut self) -> Kernel {
        let body = self.scopes.swap_remove(0).block;
        Kernel { target: self.target, buffers: self.buffers, types: self.types, body }
    }

    /// Says how many lanes the operands of the elementwise function have that is lowered next.
    pub fn set_width(&mut self, lanes: u32) {
        self.width = lanes;
    }

    /// What the kernel is for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Declares memory.
    pub fn buffer(&mut self, buffer: Buffer) -> Buf {
        self.buffers.push(buffer);
        self.memory.push((0, 0));
        Buf(self.buffers.len() as u32 - 1)
    }

    /// The elements of a buffer from `start` on, as a buffer for the instructions that are made where `start` exists.
    pub fn view(&mut self, buf: Buf, start: Val) -> Buf {
        self.views.push((buf, start));
        Buf(FIRST_VIEW + self.views.len() as u32 - 1)
    }

    /// The buffer itself, and the element at which a view of it begins.
    fn viewed(&self, buf: Buf) -> (Buf, Option<Val>) {
        match buf.0.checked_sub(FIRST_VIEW) {
            Some(view) => {
                let (buf, start) = self.views[view as usize];
                (buf, Some(start))
            }
            None => (buf, None),
        }
    }

    /// The element of the buffer itself at an offset into a view of it.
    fn located(&mut self, buf: Buf, offset: Val) -> (Buf, Val) {
        match self.viewed(buf) {
            (buf, Some(start)) => {
                let offset = self.lanewise(Prim::Add, &[start, offset]);
                self.located(buf, offset)
            }
            (buf, None) => (buf, offset),
        }
    }

    /// The element type of a buffer.
    pub fn buffer_dtype(&self, buf: Buf) -> DType {
        match self.viewed(buf) {
            (buf, Some(_)) => self.buffer_dtype(buf),
            (buf, None) => self.buffers[buf.0 as usize].dtype,
        }
    }

    /// The type of a value.
    pub fn ty(&self, value: Val) -> Ty {
        self.types[value.0 as usize]
    }

    /// Number of lanes of a value; 1 for a scalar.
    pub fn lanes(&self, value: Val) -> u32 {
        self.ty(value).lanes
    }

    fn define(&mut self, ty: Ty, home: usize) -> Val {
        self.types.push(ty);
        self.homes.push(home);
        self.ints.push(None);
        Val(self.types.len() as u32 - 1)
    }

    /// The outermost scope for something made of `operands`.
    fn home(&self, operands: &[Val]) -> usize {
        let defined = operands.iter().map(|v| self.homes[v.0 as usize]).max().unwrap_or(0);
        defined.max(self.scopes[self.scopes.len() - 1].branch)
    }

    fn intern(&mut self, key: Key, home: usize, ty: Ty, inst: impl FnOnce(Val) -> Inst) -> Val {
        if let Some(value) = self.find(&key, home) {
            return value;
        }
        let value = self.define(ty, home);
        let scope = &mut self.scopes[home];
        scope.block.insts.push(inst(value));
        let number = if key.is_plain() { 0 } else { scope.number };
        self.interned.insert(key, (value, number));
        value
    }

    /// An equal value in the scope or in one around it.
    fn find(&self, key: &Key, home: usize) -> Option<Val> {
        let (value, number) = self.interned.get(key)?;
        let place = self.homes[value.0 as usize];
        let is_open = number == 0 || (place <= home && self.scopes[place].number == number);
        is_open.then_some(value)
    }

    fn next_number(&mut self) -> u32 {
        self.numbered += 1;
        self.numbered
    }

    /// Opens a scope in the current one.
    fn open(&mut self, frame: Frame) {
        let is_branch = matches!(frame, Frame::Then(_) | Frame::Otherwise(..));
        let branch = if is_branch { self.scopes.len() } else { self.current().branch };
        let number = self.next_number();
        self.scopes.push(Scope { number, branch, frame, ..Scope::default() });
    }

    /// Makes everything but constants and symbols anew from here on, so that what follows does not depend on what was
    /// made before.
    pub fn forget(&mut self) {
        self.current().number = self.next_number();
    }

    /// The value of symbol `index` of the function.
    pub fn symbol(&mut self, index: u32) -> Val {
        let ty = Ty { dtype: DType::I64, lanes: 1 };
        self.intern(Key::Symbol(index), 0, ty, |v| Inst::Symbol(v, index))
    }

    /// `0, 1, 2, ..` in an integer vector.
    pub fn lane_numbers(&mut self, dtype: DType, lanes: u32) -> Val {
        let ty = Ty { dtype, lanes };
        self.intern(Key::Lanes(ty), 0, ty, Inst::Lanes)
    }

    /// A scalar in every lane; a value that has these lanes already is itself.
    pub fn splat(&mut self, value: Val, lanes: u32) -> Val {
        if self.lanes(value) == lanes {
            return value;
        }
        let ty = Ty { dtype: self.ty(value).dtype, lanes };
        let home = self.home(&[value]);
        self.intern(Key::Splat(value, lanes), home, ty, |v| Inst::Splat(v, value))
    }

    /// Half of a vector.
    pub fn half(&mut self, vector: Val, high: bool) -> Val {
        let Ty { dtype, lanes } = self.ty(vector);
        let home = self.home(&[vector]);
        let ty = Ty { dtype, lanes: lanes / 2 };
        self.intern(Key::Half(vector, high), home, ty, |result| Inst::Half { result, vector, high })
    }

    /// Lanes of two vectors of one type in any order; those of `second` have the numbers after those of `first`.
    pub fn shuffle(&mut self, first: Val, second: Val, order: Vec<u32>) -> Val {
        let ty = Ty { dtype: self.ty(first).dtype, lanes: order.len() as u32 };
        let home = self.home(&[first, second]);
        let key = Key::Shuffle(first, second, order.clone());
        self.intern(key, home, ty, |result| Inst::Shuffle { result, first, second, order })
    }

    /// One lane of a vector; a scalar is its own only lane.
    pub fn extract(&mut self, vector: Val, lane: u32) -> Val {
        if self.lanes(vector) == 1 {
            return vector;
        }
        let ty = Ty { dtype: self.ty(vector).dtype, lanes: 1 };
        let home = self.home(&[vector]);
        self.intern(Key::Extract(vector, lane), home, ty, |result| Inst::Extract { result, vector, lane })
    }

    /// Whether any lane of a mask is set.
    pub fn any(&mut self, mask: Val) -> Val {
        if self.lanes(mask) == 1 {
            return mask;
        }
        let home = self.home(&[mask]);
        let ty = Ty { dtype: DType::Bool, lanes: 1 };
        self.intern(Key::Any(mask), home, ty, |result| Inst::Any { result, mask })
    }

    /// Consecutive elements, or one where `lanes` is 1.
    pub fn load(&mut self, buf: Buf, offset: Val, lanes: u32, mask: Option<Val>) -> Val {
        let (buf, offset) = self.located(buf, offset);
        let ty = Ty { dtype: self.buffer_dtype(buf), lanes };
        let (version, floor) = self.memory[buf.0 as usize];
        let home = self.home(&[&[offset][..], mask.as_slice()].concat()).max(floor);
        let key = Key::Load(ty, buf, offset, mask, version);
        self.intern(key, home, ty, |result| Inst::Load { result, buf, offset, mask })
    }

    /// One element for each lane.
    pub fn gather(&mut self, buf: Buf, offsets: Val, mask: Option<Val>) -> Val {
        let (buf, offsets) = self.located(buf, offsets);
        let ty = Ty { dtype: self.buffer_dtype(buf), lanes: self.lanes(offsets) };
        let (version, floor) = self.memory[buf.0 as usize];
        let home = self.home(&[&[offsets][..], mask.as_slice()].concat()).max(floor);
        let key = Key::Gather(ty, buf, offsets, mask, version);
        self.intern(key, home, ty, |result| Inst::Gather { result, buf, offsets, mask })
    }

    /// Stores consecutive elements in the current scope.
    pub fn store(&mut self, buf: Buf, offset: Val, value: Val, mask: Option<Val>) {
        let (buf, offset) = self.located(buf, offset);
        self.memory[buf.0 as usize].0 += 1;
        self.current().block.insts.push(Inst::Store { buf, offset, value, mask, streamed: false });
    }

    /// Stores consecutive elements past the caches in the current scope.
    pub fn stream(&mut self, buf: Buf, offset: Val, value: Val) {
        let (buf, offset) = self.located(buf, offset);
        self.memory[buf.0 as usize].0 += 1;
        self.current().block.insts.push(Inst::Store { buf, offset, value, mask: None, streamed: true });
    }

    /// Makes what was streamed before visible before what is written after.
    pub fn fence(&mut self) {
        self.current().block.insts.push(Inst::Fence);
    }

    /// The address of a buffer, which is no view of another one.
    pub fn address(&mut self, buf: Buf) -> Val {
        let home = self.home(&[]);
        let ty = Ty { dtype: DType::I64, lanes: 1 };
        self.intern(Key::Address(buf), home, ty, |result| Inst::Address { result, buf })
    }

    /// Whether a buffer is a part of another one.
    pub fn is_view(&self, buf: Buf) -> bool {
        buf.0 >= FIRST_VIEW
    }

    /// Asks for the line of memory around an element in the current scope.
    pub fn prefetch(&mut self, buf: Buf, offset: Val) {
        let (buf, offset) = self.located(buf, offset);
        self.current().block.insts.push(Inst::Prefetch { buf, offset });
    }

    /// Enters a part of the function in the current scope.
    pub fn enter(&mut self, part: u32) {
        self.current().block.insts.push(Inst::Enter(part));
    }

    /// Calls a part of the function on these buffers; what it writes is pinned before.
    pub fn call(&mut self, part: u32, buffers: Vec<Buf>) {
        self.current().block.insts.push(Inst::Call { part, buffers });
    }

    /// From here on no load of the buffer leaves the current scope: it is being written.
    pub fn pin(&mut self, buf: Buf) {
        if let (buf, Some(_)) = self.viewed(buf) {
            return self.pin(buf);
        }
        let here = self.scopes.len() - 1;
        let state = &mut self.memory[buf.0 as usize];
        *state = (state.0 + 1, here);
        self.scopes[here].pinned.push(buf);
    }

    fn current(&mut self) -> &mut Scope {
        let here = self.scopes.len() - 1;
        &mut self.scopes[here]
    }

    /// Opens `for index in (from..to).step_by(step)`; gives the index and the carried values as the body sees
    /// them.  [`Builder::close_loop`] ends it.
    pub fn open_loop(&mut self, (from, to, step): (Val, Val, i64), initial: &[Val]) -> (Val, Vec<Val>) {
        let inside = self.scopes.len();
        let index = self.define(Ty { dtype: DType::I64, lanes: 1 }, inside);
        let carried: Vec<Val> =
            initial.iter().map(|v| self.define(self.types[v.0 as usize], inside)).collect();
        let frame = Frame::Loop(For {
            index,
            from,
            to,
            step,
            carried: carried.clone(),
            initial: initial.to_vec(),
            conditional: false,
            body: Block::default(),
            results: Vec::new(),
        });
        self.open(frame);
        (index, carried)
    }

    /// Has the innermost loop, which is open, go on only while its first carried value is true.
    pub fn conditional_loop(&mut self) {
        if let Frame::Loop(inst) = &mut self.current().frame {
            inst.conditional = true;
        }
    }

    /// Ends the innermost loop with the next carried values; gives the last ones.
    pub fn close_loop(&mut self, yields: Vec<Val>) -> Vec<Val> {
        let (block, frame) = self.close(yields);
        let Frame::Loop(mut inst) = frame else { unreachable!("loops and branches close in order") };
        inst.body = block;
        inst.results = self.results(&inst.body.yields);
        let results = inst.results.clone();
        self.current().block.insts.push(Inst::For(Box::new(inst)));
        results
    }

    /// Opens tasks `0..count`, for other threads where `shared`; gives the number of the task.
    /// [`Builder::close_tasks`] ends them.
    pub fn open_tasks(&mut self, count: Val, shared: Val) -> Val {
        let index = self.define(Ty { dtype: DType::I64, lanes: 1 }, self.scopes.len());
        let frame = Frame::Tasks(Parallel { index, count, shared, body: Block::default() });
        self.open(frame);
        index
    }

    /// Ends the tasks.
    pub fn close_tasks(&mut self) {
        let (body, frame) = self.close(Vec::new());
        let Frame::Tasks(inst) = frame else { unreachable!("loops and branches close in order") };
        self.current().block.insts.push(Inst::Parallel(Box::new(Parallel { body, ..inst })));
    }

    /// Opens a branch on a scalar; [`Builder::otherwise`] goes to its other side.
    pub fn open_branch(&mut self, condition: Val) {
        self.open(Frame::Then(condition));
    }

    /// Ends the first side of a branch with its values and opens the other.
    pub fn otherwise(&mut self, yields: Vec<Val>) {
        let (block, frame) = self.close(yields);
        let Frame::Then(condition) = frame else { unreachable!("loops and branches close in order") };
        self.open(Frame::Otherwise(condition, block));
    }

    /// Ends a branch; gives the values of the side taken.
    pub fn close_branch(&mut self, yields: Vec<Val>) -> Vec<Val> {
        let (otherwise, frame) = self.close(yields);
        let Frame::Otherwise(condition, then) = frame else {
            unreachable!("loops and branches close in order")
        };
        let results = self.results(&then.yields);
        let inst = If { condition, then, otherwise, results: results.clone() };
        self.current().block.insts.push(Inst::If(Box::new(inst)));
        results
    }

    fn results(&mut self, yields: &[Val]) -> Vec<Val> {
        let home = self.scopes.len() - 1;
        yields.iter().map(|v| self.define(self.types[v.0 as usize], home)).collect()
    }

    fn close(&mut self, yields: Vec<Val>) -> (Block, Frame) {
        let here = self.scopes.len() - 1;
        let Scope { mut block, frame, pinned, .. } = self.scopes.swap_remove(here);
        // Loads pinned to the closed scope may from now on go to the one around it.
        for buf in &pinned {
            let (_, floor) = &mut self.memory[buf.0 as usize];
            *floor = (*floor).min(here - 1);
        }
        self.scopes[here - 1].pinned.extend(pinned);
        block.yields = yields;
        (block, frame)
    }

    /// An operation whose operands may mix scalars and vectors: scalars are splat.
    fn lanewise(&mut self, prim: Prim, args: &[Val]) -> Val {
        let lanes = args.iter().map(|v| self.lanes(*v)).max().unwrap_or(1);
        let mut operands = [self.splat(args[0], lanes); 3];
        for (operand, arg) in operands.iter_mut().zip(args).skip(1) {
            *operand = self.splat(*arg, lanes);
        }
        let args = &operands[..args.len()];
        let first = self.ty(args[0]).dtype;
        let dtype = match prim {
            Prim::Cmp(_) => DType::Bool,
            Prim::Bitcast(to) | Prim::Convert(to) if to == first => return args[0],
            Prim::Bitcast(to) | Prim::Convert(to) => to,
            Prim::Select => self.ty(args[1]).dtype,
            _ => first,
        };
        let home = self.home(args);
        let inst = |v| Inst::Prim(v, prim, args.to_vec());
        self.intern(Key::Prim(prim, operands), home, Ty { dtype, lanes }, inst)
    }

    /// The value of an integer constant.
    pub fn as_int(&self, value: Val) -> Option<i64> {
        self.ints[value.0 as usize]
    }
}

impl Lanes for Builder {
    fn float(&mut self, dtype: DType, value: f64) -> Val {
        let value = round(dtype, value);
        let ty = Ty { dtype, lanes: 1 };
        self.intern(Key::Float(dtype, value.to_bits()), 0, ty, |v| Inst::Float(v, value))
    }

    fn int(&mut self, dtype: DType, value: i64) -> Val {
        // Of `u64` the bits, as a signed number.
        let value = match dtype {
            DType::I8 => i64::from(value as i8),
            DType::I16 => i64::from(value as i16),
            DType::I32 => i64::from(value as i32),
            DType::U8 => i64::from(value as u8),
            DType::U16 => i64::from(value as u16),
            DType::U32 => i64::from(value as u32),
            DType::Bool => value & 1,
            _ => value,
        };
        let constant =
            self.intern(Key::Int(dtype, value), 0, Ty { dtype, lanes: 1 }, |v| Inst::Int(v, value));
        self.ints[constant.0 as usize] = Some(value);
        constant
    }

    fn prim(&mut self, prim: Prim, args: &[Val]) -> Val {
        self.lanewise(prim, args)
    }

    fn dtype(&self, value: Val) -> DType {
        self.ty(value).dtype
    }

    fn has_fma(&self) -> bool {
        self.target.fma
    }

    fn has_tables(&self) -> bool {
        self.target.vector_bits == 512
    }

    fn entry(&mut self, table: &[f64; ENTRIES], index: Val) -> Val {
        let (table, ty) = (Box::new(*table), Ty { dtype: DType::F32, lanes: self.lanes(index) });
        let home = self.home(&[index]);
        let key = Key::Entry(Box::new(table.map(f64::to_bits)), index);
        self.intern(key, home, ty, |result| Inst::Entry { result, table, index })
    }

    fn if_any(
        &mut self,
        mask: Val,
        otherwise: &[Val],
        then: &mut dyn FnMut(&mut dyn Lanes) -> Vec<Val>,
    ) -> Vec<Val> {
        let width = self.width;
        let condition = self.any(mask);
        let otherwise: Vec<Val> = otherwise.iter().map(|v| self.splat(*v, width)).collect();
        self.open_branch(condition);
        let values: Vec<Val> = then(self).into_iter().map(|v| self.splat(v, width)).collect();
        self.otherwise(values);
        self.close_branch(otherwise)
    }

    fn repeat(&mut self, count: u32, state: &[Val], body: RepeatBody<'_>) -> Vec<Val> {
        let width = self.width;
        let state: Vec<Val> = state.iter().map(|v| self.splat(*v, width)).collect();
        let bounds = (self.int(DType::I64, 0), self.int(DType::I64, count.into()), 1);
        let (_, carried) = self.open_loop(bounds, &state);
        let next = body(self, &carried).into_iter().map(|v| self.splat(v, width)).collect();
        self.close_loop(next)
    }
}
