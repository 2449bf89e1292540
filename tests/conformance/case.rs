//! One case: its function, its arguments and what they must give.

use tensorjit_core::graph::value::Value;

use crate::text::{Tensor, Writer, tuple};

/// Why a case is not run.
pub(crate) type Missing = String;

/// A function in the language, its arguments, and what it must give.
pub(crate) trait Subject {
    /// The text, given conditions and the types of results that are not those of the file.
    fn text(&self, clauses: &[String], types: &[Option<String>]) -> String;

    /// The arguments.
    fn inputs(&self) -> Vec<Value>;

    /// What the results must be.
    fn expected(&self) -> impl Iterator<Item = &Expected>;

    /// Whether an extent is a symbol.
    fn is_symbolic(&self) -> bool;

    /// The value of a symbol that is no extent of an argument.
    fn size(&self, _symbol: &str) -> Option<i64> {
        None
    }

    /// Whether a result may be as far off as the oracle's bound allows, where that is more than the tolerance.
    const BOUNDED: bool = true;

    /// Whether cases have one text, for which it is compiled once.
    const SHARED: bool = false;
}

/// A function that is written by translations.
pub(crate) struct Case {
    params: Vec<(Tensor, Value)>,
    results: Vec<(String, Expected)>,
    writer: Writer,
}

/// What a result must be.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// What the report calls it.
    pub(crate) name: String,
    /// The values of the file, with the type of the result.
    pub(crate) value: Value,
    /// The values in more digits, where the file has them.
    pub(crate) exact: Option<Value>,
    /// The relative error that is allowed in any case.
    pub(crate) tolerance: f64,
}

impl Case {
    /// A case of these parameters.
    pub(crate) fn new(symbolic: bool, params: Vec<(Tensor, Value)>) -> Case {
        let writer = Writer::new(symbolic, params.iter().map(|(tensor, _)| tensor));
        Case { params, results: Vec::new(), writer }
    }

    /// Where its statements are written.
    pub(crate) fn writer(&mut self) -> &mut Writer {
        &mut self.writer
    }

    /// Adds a result.
    pub(crate) fn result(&mut self, text: String, expected: Expected) {
        self.results.push((text, expected));
    }
}

impl Subject for Case {
    fn is_symbolic(&self) -> bool {
        self.writer.symbols().next().is_some()
    }

    fn text(&self, clauses: &[String], types: &[Option<String>]) -> String {
        let symbols: Vec<String> = self.writer.symbols().map(|extent| self.writer.extent(extent)).collect();
        let symbols = if symbols.is_empty() { String::new() } else { format!("<{}>", symbols.join(", ")) };
        let params = self
            .params
            .iter()
            .map(|(tensor, _)| format!("{}: {}", tensor.text, self.writer.ty(tensor.dtype, &tensor.shape)));
        let results = self.results.iter().enumerate().map(|(i, (_, expected))| {
            let written = types.get(i).cloned().flatten();
            written.unwrap_or_else(|| self.writer.ty(expected.value.dtype, &expected.value.shape))
        });
        let clauses =
            if clauses.is_empty() { String::new() } else { format!("\nwhere {}", clauses.join(", ")) };
        let mut body = String::new();
        for line in self.writer.body() {
            body += &format!("    {line}\n");
        }
        format!(
            "pub fn case{symbols}({}) -> {}{clauses} {{\n{body}    {}\n}}\n",
            params.collect::<Vec<_>>().join(", "),
            tuple(results),
            tuple(self.results.iter().map(|(text, _)| text.clone()))
        )
    }

    fn inputs(&self) -> Vec<Value> {
        self.params.iter().map(|(_, value)| value.clone()).collect()
    }

    fn expected(&self) -> impl Iterator<Item = &Expected> {
        self.results.iter().map(|(_, expected)| expected)
    }
}
