//! What the descriptor says of machine code, as the text that is kept beside the archive.

use std::fmt::Write as _;

use tensorjit_core::dim::Dim;
use tensorjit_core::dim::facts::Facts;
use tensorjit_core::dim::program::{TooLarge, compile};
use tensorjit_core::pipeline::Lowered;
use tensorjit_core::sizes::Size;
use tensorjit_runtime::abi::DimOp;

/// A dimension expression as the runtime takes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Program {
    /// The postfix program.
    pub(crate) ops: Vec<DimOp>,
    /// As the user would write it.
    pub(crate) text: String,
}

/// What is known of a function once it is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeFacts {
    /// Bytes of workspace.
    pub(crate) workspace: Program,
    /// What a call must evaluate beside, each with its least value.
    pub(crate) sizes: Vec<(Program, i64)>,
    /// The number of loop nests.
    pub(crate) nests: usize,
    /// Bytes of code for each level, highest first.
    pub(crate) code: Vec<usize>,
}

impl Program {
    /// Of an expression over the symbols of `facts`.
    pub(crate) fn new(facts: &Facts, dim: &Dim) -> Result<Program, TooLarge> {
        Ok(Program { ops: compile(dim)?, text: facts.show(dim) })
    }
}

impl CodeFacts {
    /// Of a lowered function.
    pub(crate) fn new(facts: &Facts, lowered: &Lowered, code: Vec<usize>) -> Result<CodeFacts, TooLarge> {
        let size = |size: &Size| Ok((Program::new(facts, &size.value)?, size.least));
        Ok(CodeFacts {
            workspace: Program::new(facts, &lowered.workspace)?,
            sizes: lowered.sizes.iter().map(size).collect::<Result<_, TooLarge>>()?,
            nests: lowered.nests,
            code,
        })
    }

    /// As it is stored: each expression is a line with its text, and its operations on the lines after it.
    pub(crate) fn write(&self) -> String {
        let mut text = format!("nests {}\nworkspace {}\n", self.nests, self.workspace.text);
        write_operations(&mut text, &self.workspace.ops);
        for bytes in &self.code {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "code {bytes}");
        }
        for (program, least) in &self.sizes {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "size {least} {}", program.text);
            write_operations(&mut text, &program.ops);
        }
        text
    }

    /// What was stored; `None` for a file of anyone else.
    pub(crate) fn read(text: &str) -> Option<CodeFacts> {
        let mut lines = text.lines();
        let nests = lines.next()?.strip_prefix("nests ")?.parse().ok()?;
        let text = lines.next()?.strip_prefix("workspace ")?.to_owned();
        let workspace = Program { ops: Vec::new(), text };
        let mut facts = CodeFacts { workspace, sizes: Vec::new(), nests, code: Vec::new() };
        for line in lines {
            if let Some(bytes) = line.strip_prefix("code ") {
                facts.code.push(bytes.parse().ok()?);
                continue;
            }
            if let Some(rest) = line.strip_prefix("size ") {
                let (least, text) = rest.split_once(' ')?;
                facts.sizes.push((Program { ops: Vec::new(), text: text.to_owned() }, least.parse().ok()?));
                continue;
            }
            let program = facts.sizes.last_mut().map_or(&mut facts.workspace, |(program, _)| program);
            program.ops.push(read_operation(line)?);
        }
        Some(facts)
    }
}

fn write_operations(text: &mut String, ops: &[DimOp]) {
    for op in ops {
        // Writing to a string cannot fail.
        let _ = match op {
            DimOp::Const(value) => writeln!(text, "const {value}"),
            DimOp::Symbol(symbol) => writeln!(text, "symbol {symbol}"),
            other => writeln!(text, "{other:?}"),
        };
    }
}

fn read_operation(line: &str) -> Option<DimOp> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    Some(match word {
        "const" => DimOp::Const(rest.parse().ok()?),
        "symbol" => DimOp::Symbol(rest.parse().ok()?),
        name => *BINARY.iter().find(|op| format!("{op:?}") == name)?,
    })
}

/// The operators without attributes.
const BINARY: [DimOp; 8] =
    [DimOp::Add, DimOp::Sub, DimOp::Mul, DimOp::FloorDiv, DimOp::CeilDiv, DimOp::Mod, DimOp::Min, DimOp::Max];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut ops = vec![DimOp::Const(-64), DimOp::Symbol(3)];
        ops.extend(BINARY);
        let workspace = Program { ops, text: "64*B + 3".to_owned() };
        let size =
            Program { ops: vec![DimOp::Symbol(0), DimOp::Symbol(0), DimOp::Mul], text: "B*B".to_owned() };
        let other = Program { ops: vec![DimOp::Const(7)], text: "7 - N % 2".to_owned() };
        let sizes = vec![(size, 0), (other, i64::MIN)];
        let facts = CodeFacts { workspace, sizes, nests: 12, code: vec![4096, 123] };
        assert_eq!(CodeFacts::read(&facts.write()), Some(facts));
        assert_eq!(CodeFacts::read(&CodeFacts::default().write()), Some(CodeFacts::default()));
    }

    #[test]
    fn other_files_are_refused() {
        for text in [
            "",
            "nests 1",
            "nests 1\nworkspace 0\nconst x",
            "nests 1\nworkspace 0\nPow",
            "nests x\nworkspace 0",
            "nests 1\nworkspace 0\nsize x B",
            "nests 1\nworkspace 0\ncode x",
        ] {
            assert_eq!(CodeFacts::read(text), None, "{text:?}");
        }
    }
}
