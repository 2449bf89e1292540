//! What a kernel must be before code is made of it: in SSA form, well typed, within its buffers.

use tensorjit_runtime::abi::DType;

use super::{Block, Buf, Buffer, For, If, Inst, Kernel, Parallel, STREAM_BYTES, Ty};
use crate::diag::Bug;
use crate::lanes::{Cmp, Prim, Val};

/// Checks that every value is defined once and before its uses, in a scope that encloses them, that types and
/// lanes agree, and that buffers exist and hold the type that is read or written.
pub fn verify(kernel: &Kernel) -> Result<(), Bug> {
    let states = vec![State::Undefined; kernel.types.len()];
    let mut verifier = Verifier { kernel, states, scope: Vec::new(), in_task: false, inside: false };
    verifier.block(&kernel.body)?;
    ensure(kernel.body.yields.is_empty(), || "the body of a kernel yields values".into())
}

/// What is known of a value at the point that the verifier has reached.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Undefined,
    Visible { constant: bool },
    OutOfScope,
}

struct Verifier<'k> {
    kernel: &'k Kernel,
    states: Vec<State>,
    /// Values in the order of their definition; a block that ends takes its own off.
    scope: Vec<Val>,
    /// Whether it stands in the body of a task.
    in_task: bool,
    /// Whether the block is a nested one.
    inside: bool,
}

const BOOL: Ty = Ty { dtype: DType::Bool, lanes: 1 };
const INDEX: Ty = Ty { dtype: DType::I64, lanes: 1 };

impl Verifier<'_> {
    fn block(&mut self, block: &Block) -> Result<(), Bug> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    /// Checks a nested block that yields `types`, and ends the scope of what it defines.
    fn nested(&mut self, block: &Block, defined: &[Val], types: &[Val]) -> Result<(), Bug> {
        let outer = self.scope.len();
        let inside = std::mem::replace(&mut self.inside, true);
        for val in defined {
            self.define(*val, false)?;
        }
        self.block(block)?;
        self.inside = inside;
        self.all_fit(&block.yields, types)?;
        for val in self.scope.drain(outer..) {
            self.states[val.0 as usize] = State::OutOfScope;
        }
        Ok(())
    }

    fn inst(&mut self, inst: &Inst) -> Result<(), Bug> {
        match inst {
            Inst::Float(result, _) => {
                let ty = self.ty(*result)?;
                ensure(ty.dtype.is_float() && ty.lanes == 1, || format!("{result} is no scalar float"))?;
                self.define(*result, true)
            }
            Inst::Int(result, _) => {
                let ty = self.ty(*result)?;
                ensure(!ty.dtype.is_float() && ty.lanes == 1, || format!("{result} is no scalar integer"))?;
                self.define(*result, true)
            }
            Inst::Symbol(result, _) => self.result(*result, INDEX),
            Inst::Input(result, _) => {
                let ty = self.ty(*result)?;
                ensure(ty.lanes == 1, || format!("{result} is handed over but no scalar"))?;
                self.define(*result, false)
            }
            Inst::Lanes(result) => {
                let ty = self.ty(*result)?;
                ensure(ty.dtype.is_int(), || format!("{result} numbers lanes but is no integer"))?;
                self.define(*result, false)
            }
            Inst::Splat(result, scalar) => {
                let ty = self.ty(*result)?;
                self.has(*scalar, Ty { lanes: 1, ..ty })?;
                self.define(*result, false)
            }
            Inst::Prim(result, prim, args) => {
                self.prim(*result, *prim, args)?;
                self.define(*result, false)
            }
            Inst::Half { result, vector, .. } => {
                let ty = self.ty(*result)?;
                self.has(*vector, Ty { lanes: ty.lanes * 2, ..ty })?;
                self.define(*result, false)
            }
            Inst::Shuffle { result, first, second, order } => {
                let (ty, source) = (self.ty(*result)?, self.used(*first)?);
                self.has(*second, source)?;
                ensure(source.lanes > 1 && ty.lanes > 1, || format!("{result} shuffles a scalar"))?;
                ensure(ty.dtype == source.dtype && ty.lanes as usize == order.len(), || {
                    format!("{result} is {ty}, not a shuffle of {source}")
                })?;
                ensure(order.iter().all(|lane| *lane < 2 * source.lanes), || {
                    format!("{result} takes a lane that is in neither vector")
                })?;
                self.define(*result, false)
            }
            Inst::Entry { result, index, .. } => {
                let Ty { lanes, .. } = self.ty(*result)?;
                ensure(self.kernel.target.vector_bits == 512, || {
                    format!("{result} is the entry of a table at a level without tables")
                })?;
                self.has(*index, Ty { dtype: DType::I32, lanes })?;
                self.result(*result, Ty { dtype: DType::F32, lanes })
            }
            Inst::Extract { result, vector, lane } => {
                let ty = self.used(*vector)?;
                ensure(*lane < ty.lanes, || format!("{vector} has no lane {lane}"))?;
                self.result(*result, Ty { lanes: 1, ..ty })
            }
            Inst::Any { result, mask } => {
                let ty = self.used(*mask)?;
                ensure(ty.dtype == DType::Bool, || format!("{mask} is no mask"))?;
                self.result(*result, BOOL)
            }
            Inst::Load { result, buf, offset, mask } => {
                self.has(*offset, INDEX)?;
                self.access(*result, *buf, *mask)?;
                self.define(*result, false)
            }
            Inst::Gather { result, buf, offsets, mask } => {
                let lanes = self.ty(*result)?.lanes;
                self.has(*offsets, Ty { lanes, ..INDEX })?;
                self.access(*result, *buf, *mask)?;
                self.define(*result, false)
            }
            Inst::Address { result, buf } => {
                self.buffer(*buf)?;
                self.result(*result, INDEX)
            }
            Inst::Store { buf, offset, value, mask, streamed } => {
                self.has(*offset, INDEX)?;
                let ty = self.used(*value)?;
                let is_whole = mask.is_none() && ty.lanes * ty.dtype.size() as u32 >= STREAM_BYTES;
                ensure(!streamed || is_whole, || format!("{value} is streamed in part"))?;
                self.access(*value, *buf, *mask)
            }
            Inst::Prefetch { buf, offset } => {
                self.has(*offset, INDEX)?;
                self.buffer(*buf).map(|_| ())
            }
            Inst::Fence => Ok(()),
            Inst::For(body) => self.counted(body),
            Inst::If(branch) => self.branch(branch),
            Inst::Parallel(tasks) => self.tasks(tasks),
            Inst::Enter(part) => ensure(!self.in_task, || format!("a task enters part {part}")),
            Inst::Call { part, buffers } => {
                ensure(!self.inside, || format!("part {part} is called inside of a nest"))?;
                buffers.iter().try_for_each(|buf| self.buffer(*buf).map(|_| ()))
            }
            Inst::Nest { part, buffers, values } => {
                for val in values {
                    let ty = self.used(*val)?;
                    ensure(ty.lanes == 1, || format!("part {part} is handed the vector {val}"))?;
                }
                buffers.iter().try_for_each(|buf| self.buffer(*buf).map(|_| ()))
            }
        }
    }

    fn counted(&mut self, body: &For) -> Result<(), Bug> {
        let For { index, from, to, step, carried, initial, conditional, body, results } = body;
        self.has(*from, INDEX)?;
        self.has(*to, INDEX)?;
        ensure(*step > 0, || format!("the loop over {index} has step {step}"))?;
        ensure(self.ty(*index)? == INDEX, || format!("the loop variable {index} is no i64"))?;
        self.all_fit(initial, carried)?;
        if *conditional {
            let first =
                carried.first().ok_or_else(|| Bug::new("loops", "a condition is carried by nothing"))?;
            ensure(self.ty(*first)? == BOOL, || format!("the condition {first} of a loop is no bool"))?;
        }
        let inner: Vec<Val> = std::iter::once(*index).chain(carried.iter().copied()).collect();
        self.nested(body, &inner, carried)?;
        ensure(results.len() == carried.len(), || format!("the loop over {index} loses carried values"))?;
        for (result, carried) in results.iter().zip(carried) {
            let ty = self.ty(*carried)?;
            self.result(*result, ty)?;
        }
        Ok(())
    }

    fn branch(&mut self, branch: &If) -> Result<(), Bug> {
        self.has(branch.condition, BOOL)?;
        self.nested(&branch.then, &[], &branch.results)?;
        self.nested(&branch.otherwise, &[], &branch.results)?;
        branch.results.iter().try_for_each(|result| self.define(*result, false))
    }

    fn tasks(&mut self, tasks: &Parallel) -> Result<(), Bug> {
        let Parallel { index, count, shared, body } = tasks;
        ensure(!self.in_task, || format!("the tasks over {index} are within a task"))?;
        self.has(*count, INDEX)?;
        self.has(*shared, BOOL)?;
        ensure(self.ty(*index)? == INDEX, || format!("the number {index} of a task is no i64"))?;
        self.in_task = true;
        self.nested(body, &[*index], &[])?;
        self.in_task = false;
        Ok(())
    }

    /// The elements that a load, gather or store moves are those of the buffer, its mask covers their lanes.
    fn access(&self, value: Val, buf: Buf, mask: Option<Val>) -> Result<(), Bug> {
        let ty = self.ty(value)?;
        let buffer = self.buffer(buf)?;
        ensure(buffer.dtype == ty.dtype, || format!("{value} is {ty}, the elements of {buf} are not"))?;
        match mask {
            Some(mask) => self.has(mask, Ty { dtype: DType::Bool, lanes: ty.lanes }),
            None => Ok(()),
        }
    }

    fn buffer(&self, buf: Buf) -> Result<&Buffer, Bug> {
        let buffer = self.kernel.buffers.get(buf.0 as usize);
        buffer.ok_or_else(|| Bug::new("loops", format!("there is no buffer {buf}")))
    }

    fn prim(&self, result: Val, prim: Prim, args: &[Val]) -> Result<(), Bug> {
        let ty = self.ty(result)?;
        let wrong = || format!("{result}: {ty} cannot be {prim:?} of {args:?}");
        ensure(args.len() == arity(prim), wrong)?;
        let source = self.used(args[args.len() - 1])?.dtype;
        ensure(legal(prim, source, ty.dtype), wrong)?;
        for (position, arg) in args.iter().enumerate() {
            let dtype = if prim == Prim::Select && position == 0 { DType::Bool } else { source };
            self.has(*arg, Ty { dtype, lanes: ty.lanes })?;
        }
        Ok(())
    }

    fn all_fit(&self, vals: &[Val], targets: &[Val]) -> Result<(), Bug> {
        ensure(vals.len() == targets.len(), || format!("{} values for {}", vals.len(), targets.len()))?;
        vals.iter().zip(targets).try_for_each(|(val, target)| self.has(*val, self.ty(*target)?))
    }

    /// A use of `val` as a `ty`; scalar constants fit any number of lanes.
    fn has(&self, val: Val, ty: Ty) -> Result<(), Bug> {
        let found = self.used(val)?;
        let constant = self.states[val.0 as usize] == State::Visible { constant: true };
        ensure(found == ty || (constant && found.dtype == ty.dtype), || {
            format!("{val} is {found} where {ty} is needed")
        })
    }

    fn used(&self, val: Val) -> Result<Ty, Bug> {
        let ty = self.ty(val)?;
        match self.states[val.0 as usize] {
            State::Visible { .. } => Ok(ty),
            State::Undefined => Err(Bug::new("loops", format!("{val} is used before its definition"))),
            State::OutOfScope => Err(Bug::new("loops", format!("{val} is used outside its scope"))),
        }
    }

    fn ty(&self, val: Val) -> Result<Ty, Bug> {
        match self.kernel.types.get(val.0 as usize) {
            Some(ty) if ty.lanes > 0 => Ok(*ty),
            Some(_) => Err(Bug::new("loops", format!("{val} has no lanes"))),
            None => Err(Bug::new("loops", format!("{val} has no type"))),
        }
    }

    fn result(&mut self, val: Val, ty: Ty) -> Result<(), Bug> {
        let found = self.ty(val)?;
        ensure(found == ty, || format!("{val} is {found} where {ty} is made"))?;
        self.define(val, false)
    }

    fn define(&mut self, val: Val, constant: bool) -> Result<(), Bug> {
        self.ty(val)?;
        let state = &mut self.states[val.0 as usize];
        ensure(*state == State::Undefined, || format!("{val} is defined twice"))?;
        *state = State::Visible { constant };
        self.scope.push(val);
        Ok(())
    }
}

/// How many operands an operation has.
pub(crate) fn arity(prim: Prim) -> usize {
    match prim {
        Prim::FNeg | Prim::FAbs | Prim::Sqrt | Prim::Floor | Prim::Ceil | Prim::Trunc | Prim::RoundEven => 1,
        Prim::Bitcast(_) | Prim::Convert(_) => 1,
        Prim::Fma | Prim::Select => 3,
        _ => 2,
    }
}

/// Whether operands of type `source`, the mask of a select aside, make a `result`.
pub(crate) fn legal(prim: Prim, source: DType, result: DType) -> bool {
    let same = source == result;
    match prim {
        Prim::Add | Prim::Sub | Prim::Mul => same && source != DType::Bool && !source.is_half(),
        Prim::FDiv | Prim::Scale | Prim::Fma | Prim::FNeg | Prim::FAbs | Prim::Sqrt => {
            same && source.is_float() && !source.is_half()
        }
        Prim::Floor | Prim::Ceil | Prim::Trunc | Prim::RoundEven => {
            same && source.is_float() && !source.is_half()
        }
        Prim::Cmp(Cmp::Eq | Cmp::Ne) => result == DType::Bool && !source.is_half(),
        Prim::Cmp(_) => result == DType::Bool && source != DType::Bool && !source.is_half(),
        Prim::Select => same,
        Prim::And | Prim::Or | Prim::Xor => same && !source.is_float(),
        Prim::AShr => same && source.is_int() && !source.is_unsigned(),
        Prim::Shl | Prim::LShr | Prim::IDiv | Prim::IRem => same && source.is_int(),
        // A mask has one bit in registers.
        Prim::Bitcast(to) => {
            let bits = |dtype: DType| if dtype == DType::Bool { 1 } else { 8 * dtype.size() };
            to == result && bits(to) == bits(source)
        }
        Prim::Convert(to) if source.is_half() || to.is_half() => {
            to == result && (same || source == DType::F32 || to == DType::F32)
        }
        Prim::Convert(to) => to == result,
    }
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), Bug> {
    if holds { Ok(()) } else { Err(Bug::new("loops", message())) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Sketch;
    use super::*;

    /// A legal kernel is accepted; each change to it makes one rule fail.
    #[test]
    fn every_rule_can_fail() {
        let f32x4 = Ty { dtype: DType::F32, lanes: 4 };
        let make = |change: &dyn Fn(&mut Kernel)| {
            let mut k = Sketch::new();
            let buf = k.arg(DType::F32, 0);
            let zero = k.int(DType::I64, 0);
            let one = k.float(DType::F32, 1.0);
            let n = k.symbol(0);
            let mask = k.ty(DType::Bool, 4);
            let truth = k.truth();
            k.push(Inst::Splat(mask, truth));
            let x = k.load(buf, zero, 4, Some(mask));
            let sum = k.prim(Prim::Add, &[x, one], f32x4);
            let (index, carried, total) = (k.ty(DType::I64, 1), k.ty(DType::F32, 4), k.ty(DType::F32, 4));
            let next = k.ty(DType::F32, 4);
            let body =
                Block { insts: vec![Inst::Prim(next, Prim::Mul, vec![carried, sum])], yields: vec![next] };
            k.push(Inst::For(Box::new(For {
                conditional: false,
                index,
                from: zero,
                to: n,
                step: 1,
                carried: vec![carried],
                initial: vec![sum],
                body,
                results: vec![total],
            })));
            k.store(buf, zero, total, None);
            let mut kernel = k.finish();
            change(&mut kernel);
            verify(&kernel).map_err(|bug| bug.message)
        };
        fn last(kernel: &mut Kernel, at: usize) -> &mut Inst {
            let length = kernel.body.insts.len();
            &mut kernel.body.insts[length - 1 - at]
        }
        fn the_loop(kernel: &mut Kernel) -> &mut For {
            match last(kernel, 1) {
                Inst::For(body) => body,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(make(&|_| ()), Ok(()));
        type Change = fn(&mut Kernel);
        let cases: [(Change, &str); 12] = [
            (|k| k.body.insts.swap(0, 5), "before its definition"),
            (|k| the_loop(k).step = 0, "has step 0"),
            (|k| k.buffers[0].dtype = DType::I32, "the elements of b0 are not"),
            (|k| the_loop(k).results.clear(), "loses carried values"),
            (|k| the_loop(k).body.yields.clear(), "0 values for 1"),
            (
                |k| {
                    let inner = the_loop(k).carried[0];
                    if let Inst::Store { value, .. } = last(k, 0) {
                        *value = inner;
                    }
                },
                "outside its scope",
            ),
            (
                |k| {
                    if let Inst::Prim(_, prim, _) = last(k, 2) {
                        *prim = Prim::Shl;
                    }
                },
                "cannot be Shl",
            ),
            (
                |k| {
                    let copy = last(k, 2).clone();
                    k.body.insts.push(copy);
                },
                "defined twice",
            ),
            (
                |k| {
                    if let Inst::Store { buf, .. } = last(k, 0) {
                        *buf = Buf(7);
                    }
                },
                "there is no buffer b7",
            ),
            (
                |k| {
                    let (first, ty) = (the_loop(k).initial[0], the_loop(k).carried[0]);
                    k.types.push(k.types[ty.0 as usize]);
                    let result = Val(k.types.len() as u32 - 1);
                    k.body.insts.push(Inst::Shuffle {
                        result,
                        first,
                        second: first,
                        order: vec![0, 1, 2, 8],
                    });
                },
                "in neither vector",
            ),
            (
                |k| {
                    let found = k.body.insts.iter().find_map(|inst| match inst {
                        Inst::Load { mask, .. } => *mask,
                        _ => None,
                    });
                    if let Inst::Store { mask, streamed, .. } = last(k, 0) {
                        (*mask, *streamed) = (found, true);
                    }
                },
                "is streamed in part",
            ),
            (
                |k| {
                    let vector = the_loop(k).results[0];
                    if let Inst::Store { offset, .. } = last(k, 0) {
                        *offset = vector;
                    }
                },
                "where i64 is needed",
            ),
        ];
        for (number, (change, expected)) in cases.into_iter().enumerate() {
            let message = make(&change).expect_err(expected);
            assert!(message.contains(expected), "case {number}: {message}");
        }
    }
    /// Tasks are counted, are not nested, and nothing leaves them.
    #[test]
    fn tasks_stand_alone() {
        let make = |change: &dyn Fn(&mut Sketch, [Val; 3])| {
            let mut k = Sketch::new();
            let (n, truth) = (k.symbol(0), k.truth());
            let mut inside = n;
            k.tasks(n, truth, |k, index| inside = k.plus(index, n));
            change(&mut k, [n, truth, inside]);
            verify(&k.finish()).map_err(|bug| bug.message)
        };
        assert_eq!(make(&|_, _| ()), Ok(()));
        type Change = fn(&mut Sketch, [Val; 3]);
        let cases: [(Change, &str); 4] = [
            (|k, [n, truth, _]| k.tasks(truth, n, |_, _| ()), "where i64 is needed"),
            (|k, [n, _, _]| k.tasks(n, n, |_, _| ()), "where bool is needed"),
            (|k, [n, _, inside]| _ = k.plus(n, inside), "outside its scope"),
            (|k, [n, truth, _]| k.tasks(n, truth, |k, _| k.tasks(n, truth, |_, _| ())), "are within a task"),
        ];
        for (change, expected) in cases {
            let message = make(&change).expect_err(expected);
            assert!(message.contains(expected), "{message}");
        }
    }
}
