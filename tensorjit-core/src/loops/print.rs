//! The text of a kernel, for dumps and messages.

use std::fmt::{self, Display, Formatter};

use super::split::Parts;
use super::{Block, Buf, For, If, Inst, Kernel, Parallel, Place, Ty};
use crate::lanes::Val;

impl Display for Val {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl Display for Buf {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

impl Display for Ty {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dtype.name())?;
        if self.lanes == 1 { Ok(()) } else { write!(f, "x{}", self.lanes) }
    }
}

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "kernel for {} {}", self.target.cpu, self.target.triple)?;
        for (number, buffer) in self.buffers.iter().enumerate() {
            write!(f, "  {}: {} ", Buf(number as u32), buffer.dtype.name())?;
            match &buffer.place {
                Place::Arg(arg) => writeln!(f, "argument {arg}")?,
                Place::Arena(offset) => {
                    writeln!(f, "arena {}", offset.show(&|sym| format!("s{}", sym.0)))?;
                }
                Place::Stack(bytes) => writeln!(f, "{bytes} bytes of the stack")?,
                Place::Given { number, memory } => writeln!(f, "given {number} in memory {memory}")?,
            }
        }
        Printer { kernel: self, depth: 1 }.block(f, &self.body)
    }
}

impl Display for Parts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.entry)?;
        self.parts.iter().enumerate().try_for_each(|(number, part)| write!(f, "part {number}: {part}"))
    }
}

struct Printer<'k> {
    kernel: &'k Kernel,
    depth: usize,
}

impl Printer<'_> {
    fn block(&self, f: &mut Formatter<'_>, block: &Block) -> fmt::Result {
        for inst in &block.insts {
            self.indent(f)?;
            self.inst(f, inst)?;
        }
        if !block.yields.is_empty() {
            self.indent(f)?;
            writeln!(f, "yield {}", list(&block.yields))?;
        }
        Ok(())
    }

    fn nested(&self, f: &mut Formatter<'_>, block: &Block) -> fmt::Result {
        Printer { kernel: self.kernel, depth: self.depth + 1 }.block(f, block)?;
        self.indent(f)
    }

    fn indent(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:width$}", "", width = 2 * self.depth)
    }

    /// `v3: f32x8`
    fn typed(&self, val: Val) -> String {
        match self.kernel.types.get(val.0 as usize) {
            Some(ty) => format!("{val}: {ty}"),
            None => format!("{val}: ?"),
        }
    }

    fn inst(&self, f: &mut Formatter<'_>, inst: &Inst) -> fmt::Result {
        match inst {
            Inst::Float(result, value) => writeln!(f, "{} = {value:?}", self.typed(*result)),
            Inst::Int(result, value) => writeln!(f, "{} = {value}", self.typed(*result)),
            Inst::Symbol(result, symbol) => writeln!(f, "{} = symbol s{symbol}", self.typed(*result)),
            Inst::Input(result, number) => writeln!(f, "{} = input {number}", self.typed(*result)),
            Inst::Lanes(result) => writeln!(f, "{} = lanes", self.typed(*result)),
            Inst::Splat(result, scalar) => writeln!(f, "{} = splat {scalar}", self.typed(*result)),
            Inst::Prim(result, prim, args) => {
                writeln!(f, "{} = {prim:?} {}", self.typed(*result), list(args))
            }
            Inst::Half { result, vector, high } => {
                writeln!(f, "{} = {} half {vector}", self.typed(*result), if *high { "high" } else { "low" })
            }
            Inst::Shuffle { result, first, second, order } => {
                writeln!(f, "{} = shuffle {first}, {second} {order:?}", self.typed(*result))
            }
            Inst::Entry { result, table, index } => {
                writeln!(f, "{} = entry {index} of {table:?}", self.typed(*result))
            }
            Inst::Extract { result, vector, lane } => {
                writeln!(f, "{} = {vector}[{lane}]", self.typed(*result))
            }
            Inst::Any { result, mask } => writeln!(f, "{} = any {mask}", self.typed(*result)),
            Inst::Load { result, buf, offset, mask } => {
                writeln!(f, "{} = load {buf}[{offset}]{}", self.typed(*result), masked(mask))
            }
            Inst::Gather { result, buf, offsets, mask } => {
                writeln!(f, "{} = gather {buf}[{offsets}]{}", self.typed(*result), masked(mask))
            }
            Inst::Address { result, buf } => writeln!(f, "{} = address of {buf}", self.typed(*result)),
            Inst::Store { buf, offset, value, mask, streamed } => {
                let name = if *streamed { "stream" } else { "store" };
                writeln!(f, "{name} {buf}[{offset}] = {value}{}", masked(mask))
            }
            Inst::Prefetch { buf, offset } => writeln!(f, "prefetch {buf}[{offset}]"),
            Inst::Fence => writeln!(f, "fence"),
            Inst::For(body) => self.counted(f, body),
            Inst::If(branch) => self.branch(f, branch),
            Inst::Parallel(tasks) => self.parallel(f, tasks),
            Inst::Enter(part) => writeln!(f, "enter {part}"),
            Inst::Call { part, buffers } => {
                let buffers: Vec<String> = buffers.iter().map(Buf::to_string).collect();
                writeln!(f, "call {part} on {}", buffers.join(", "))
            }
            Inst::Nest { part, buffers, values } => {
                let buffers: Vec<String> = buffers.iter().map(Buf::to_string).collect();
                let values: Vec<String> = values.iter().map(Val::to_string).collect();
                writeln!(f, "nest {part} on {} with {}", buffers.join(", "), values.join(", "))
            }
        }
    }

    fn counted(&self, f: &mut Formatter<'_>, body: &For) -> fmt::Result {
        self.results(f, &body.results)?;
        write!(f, "for {} in {}..{} step {}", body.index, body.from, body.to, body.step)?;
        for (position, (carried, initial)) in body.carried.iter().zip(&body.initial).enumerate() {
            let lead = if position == 0 { " with " } else { ", " };
            write!(f, "{lead}{} = {initial}", self.typed(*carried))?;
        }
        let goes_on = if body.conditional { " while the first holds" } else { "" };
        writeln!(f, "{goes_on} {{")?;
        self.nested(f, &body.body)?;
        writeln!(f, "}}")
    }

    fn parallel(&self, f: &mut Formatter<'_>, tasks: &Parallel) -> fmt::Result {
        let Parallel { index, count, shared, body } = tasks;
        writeln!(f, "tasks {index} in 0..{count} shared if {shared} {{")?;
        self.nested(f, body)?;
        writeln!(f, "}}")
    }

    fn branch(&self, f: &mut Formatter<'_>, branch: &If) -> fmt::Result {
        self.results(f, &branch.results)?;
        writeln!(f, "if {} {{", branch.condition)?;
        self.nested(f, &branch.then)?;
        if !branch.otherwise.insts.is_empty() || !branch.otherwise.yields.is_empty() {
            writeln!(f, "}} else {{")?;
            self.nested(f, &branch.otherwise)?;
        }
        writeln!(f, "}}")
    }

    fn results(&self, f: &mut Formatter<'_>, results: &[Val]) -> fmt::Result {
        for (position, result) in results.iter().enumerate() {
            let lead = if position == 0 { "" } else { ", " };
            write!(f, "{lead}{}", self.typed(*result))?;
        }
        if results.is_empty() { Ok(()) } else { write!(f, " = ") }
    }
}

fn list(vals: &[Val]) -> String {
    vals.iter().map(Val::to_string).collect::<Vec<_>>().join(", ")
}

fn masked(mask: &Option<Val>) -> String {
    mask.map_or_else(String::new, |mask| format!(" where {mask}"))
}

#[cfg(test)]
mod tests {
    use tensorjit_runtime::abi::DType;

    use super::super::tests::Sketch;
    use super::*;
    use crate::lanes::Prim;

    #[test]
    fn a_kernel_reads_as_text() {
        let mut k = Sketch::new();
        let buf = k.arg(DType::F32, 0);
        let (zero, n) = (k.int(DType::I64, 0), k.symbol(0));
        let (index, next) = (k.ty(DType::I64, 1), k.ty(DType::F32, 4));
        let x = k.ty(DType::F32, 4);
        let body = Block {
            insts: vec![
                Inst::Load { result: x, buf, offset: index, mask: None },
                Inst::Prim(next, Prim::Add, vec![x, x]),
                Inst::Store { buf, offset: index, value: next, mask: None, streamed: false },
            ],
            yields: vec![],
        };
        k.push(Inst::For(Box::new(For {
            conditional: false,
            index,
            from: zero,
            to: n,
            step: 4,
            carried: vec![],
            initial: vec![],
            body,
            results: vec![],
        })));
        let truth = k.truth();
        k.tasks(n, truth, |k, index| {
            let y = k.load(buf, index, 1, None);
            k.store(buf, index, y, None);
        });
        let text = k.finish().to_string();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "  b0: f32 argument 0",
                "  v0: i64 = 0",
                "  v1: i64 = symbol s0",
                "  for v2 in v0..v1 step 4 {",
                "    v4: f32x4 = load b0[v2]",
                "    v3: f32x4 = Add v4, v4",
                "    store b0[v2] = v3",
                "  }",
                "  v5: bool = 1",
                "  tasks v6 in 0..v1 shared if v5 {",
                "    v7: f32 = load b0[v6]",
                "    store b0[v6] = v7",
                "  }",
            ]
        );
    }
}
