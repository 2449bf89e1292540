//! What the descriptor says of machine code, as the text that is kept beside the archive.

use std::fmt::Write as _;

use tensorjit_core::dim::Dim;
use tensorjit_core::dim::facts::Facts;
use tensorjit_core::dim::program::{TooLarge, compile};
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
    /// The number of loop nests.
    pub(crate) nests: usize,
}

impl Program {
    /// Of an expression over the symbols of `facts`.
    pub(crate) fn new(facts: &Facts, dim: &Dim) -> Result<Program, TooLarge> {
        Ok(Program { ops: compile(dim)?, text: facts.show(dim) })
    }
}

impl CodeFacts {
    /// As it is stored.
    pub(crate) fn write(&self) -> String {
        let mut text = format!("nests {}\nworkspace {}\n", self.nests, self.workspace.text);
        for op in &self.workspace.ops {
            // Writing to a string cannot fail.
            let _ = match op {
                DimOp::Const(value) => writeln!(text, "const {value}"),
                DimOp::Symbol(symbol) => writeln!(text, "symbol {symbol}"),
                other => writeln!(text, "{other:?}"),
            };
        }
        text
    }

    /// What was stored; `None` for a file of anyone else.
    pub(crate) fn read(text: &str) -> Option<CodeFacts> {
        let mut lines = text.lines();
        let nests = lines.next()?.strip_prefix("nests ")?.parse().ok()?;
        let text = lines.next()?.strip_prefix("workspace ")?.to_owned();
        let mut ops = Vec::new();
        for line in lines {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let op = match word {
                "const" => DimOp::Const(rest.parse().ok()?),
                "symbol" => DimOp::Symbol(rest.parse().ok()?),
                name => *BINARY.iter().find(|op| format!("{op:?}") == name)?,
            };
            ops.push(op);
        }
        Some(CodeFacts { workspace: Program { ops, text }, nests })
    }
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
        let facts = CodeFacts { workspace, nests: 12 };
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
        ] {
            assert_eq!(CodeFacts::read(text), None, "{text:?}");
        }
    }
}
