//! Kernels written by hand, for the tests of this stage and of code generation.

use tensorjit_runtime::abi::{DType, Level};

use super::{Block, Buf, Buffer, For, If, Inst, Kernel, Parallel, Place, Target, Ty};
use crate::dim::Dim;
use crate::lanes::{Prim, Val};

/// A kernel in the making: instructions go to the innermost open block.
pub(crate) struct Sketch {
    kernel: Kernel,
    open: Vec<Block>,
}

impl Sketch {
    /// An empty kernel for a machine of no special kind.
    pub(crate) fn new() -> Sketch {
        Sketch::on(Target {
            level: Level::X86V2,
            triple: "x86_64-unknown-linux-gnu".into(),
            cpu: "x86-64-v2".into(),
            features: String::new(),
            vector_bits: 128,
            vector_registers: 16,
            fma: false,
        })
    }

    /// An empty kernel.
    pub(crate) fn on(target: Target) -> Sketch {
        let kernel = Kernel { target, buffers: Vec::new(), types: Vec::new(), body: Block::default() };
        Sketch { kernel, open: vec![Block::default()] }
    }

    /// A new value, not yet defined.
    pub(crate) fn ty(&mut self, dtype: DType, lanes: u32) -> Val {
        self.kernel.types.push(Ty { dtype, lanes });
        Val(self.kernel.types.len() as u32 - 1)
    }

    /// Argument `number`.
    pub(crate) fn arg(&mut self, dtype: DType, number: u32) -> Buf {
        self.buffer(Buffer { dtype, place: Place::Arg(number) })
    }

    /// A buffer in the arena.
    pub(crate) fn arena(&mut self, dtype: DType, offset: Dim) -> Buf {
        self.buffer(Buffer { dtype, place: Place::Arena(offset) })
    }

    fn buffer(&mut self, buffer: Buffer) -> Buf {
        self.kernel.buffers.push(buffer);
        Buf(self.kernel.buffers.len() as u32 - 1)
    }

    pub(crate) fn push(&mut self, inst: Inst) {
        self.open.last_mut().expect("a block is open").insts.push(inst);
    }

    pub(crate) fn int(&mut self, dtype: DType, value: i64) -> Val {
        let val = self.ty(dtype, 1);
        self.push(Inst::Int(val, value));
        val
    }

    /// The constant `true`.
    pub(crate) fn truth(&mut self) -> Val {
        self.int(DType::Bool, 1)
    }

    pub(crate) fn float(&mut self, dtype: DType, value: f64) -> Val {
        let val = self.ty(dtype, 1);
        self.push(Inst::Float(val, value));
        val
    }

    pub(crate) fn symbol(&mut self, symbol: u32) -> Val {
        let val = self.ty(DType::I64, 1);
        self.push(Inst::Symbol(val, symbol));
        val
    }

    pub(crate) fn splat(&mut self, scalar: Val, lanes: u32) -> Val {
        let val = self.ty(self.kernel.types[scalar.0 as usize].dtype, lanes);
        self.push(Inst::Splat(val, scalar));
        val
    }

    pub(crate) fn prim(&mut self, prim: Prim, args: &[Val], ty: Ty) -> Val {
        let val = self.ty(ty.dtype, ty.lanes);
        self.push(Inst::Prim(val, prim, args.to_vec()));
        val
    }

    /// `a + b` of indices.
    pub(crate) fn plus(&mut self, a: Val, b: Val) -> Val {
        self.prim(Prim::Add, &[a, b], Ty { dtype: DType::I64, lanes: 1 })
    }

    /// `a * b` of indices.
    pub(crate) fn times(&mut self, a: Val, b: Val) -> Val {
        self.prim(Prim::Mul, &[a, b], Ty { dtype: DType::I64, lanes: 1 })
    }

    pub(crate) fn load(&mut self, buf: Buf, offset: Val, lanes: u32, mask: Option<Val>) -> Val {
        let result = self.ty(self.kernel.buffers[buf.0 as usize].dtype, lanes);
        self.push(Inst::Load { result, buf, offset, mask });
        result
    }

    pub(crate) fn gather(&mut self, buf: Buf, offsets: Val, lanes: u32, mask: Option<Val>) -> Val {
        let result = self.ty(self.kernel.buffers[buf.0 as usize].dtype, lanes);
        self.push(Inst::Gather { result, buf, offsets, mask });
        result
    }

    pub(crate) fn store(&mut self, buf: Buf, offset: Val, value: Val, mask: Option<Val>) {
        self.push(Inst::Store { buf, offset, value, mask, streamed: false });
    }

    /// A loop; `body` is given the index and the carried values and returns the next ones.
    pub(crate) fn repeat(
        &mut self,
        (from, to, step): (Val, Val, i64),
        initial: &[Val],
        body: impl FnOnce(&mut Sketch, Val, &[Val]) -> Vec<Val>,
    ) -> Vec<Val> {
        let index = self.ty(DType::I64, 1);
        let types: Vec<Ty> = initial.iter().map(|v| self.kernel.types[v.0 as usize]).collect();
        let carried: Vec<Val> = types.iter().map(|t| self.ty(t.dtype, t.lanes)).collect();
        self.open.push(Block::default());
        let yields = body(self, index, &carried);
        let insts = self.open.pop().expect("opened above").insts;
        let results: Vec<Val> = types.iter().map(|t| self.ty(t.dtype, t.lanes)).collect();
        self.push(Inst::For(Box::new(For {
            conditional: false,
            index,
            from,
            to,
            step,
            carried,
            initial: initial.to_vec(),
            body: Block { insts, yields },
            results: results.clone(),
        })));
        results
    }

    /// A branch; both sides return as many values.
    pub(crate) fn choose(
        &mut self,
        condition: Val,
        then: impl FnOnce(&mut Sketch) -> Vec<Val>,
        otherwise: impl FnOnce(&mut Sketch) -> Vec<Val>,
    ) -> Vec<Val> {
        self.open.push(Block::default());
        let yields = then(self);
        let then = Block { insts: self.open.pop().expect("opened above").insts, yields };
        self.open.push(Block::default());
        let yields = otherwise(self);
        let otherwise = Block { insts: self.open.pop().expect("opened above").insts, yields };
        let types: Vec<Ty> = then.yields.iter().map(|v| self.kernel.types[v.0 as usize]).collect();
        let results: Vec<Val> = types.iter().map(|t| self.ty(t.dtype, t.lanes)).collect();
        self.push(Inst::If(Box::new(If { condition, then, otherwise, results: results.clone() })));
        results
    }

    /// Tasks; `body` is given the number of the task.
    pub(crate) fn tasks(&mut self, count: Val, shared: Val, body: impl FnOnce(&mut Sketch, Val)) {
        let index = self.ty(DType::I64, 1);
        self.open.push(Block::default());
        body(self, index);
        let body = self.open.pop().expect("opened above");
        self.push(Inst::Parallel(Box::new(Parallel { index, count, shared, body })));
    }

    /// The kernel.
    pub(crate) fn finish(mut self) -> Kernel {
        self.kernel.body = self.open.pop().expect("the outermost block");
        self.kernel
    }
}
