//! Writing functions in the language.

use std::collections::BTreeSet;

use tensorjit_core::graph::value::Value;
use tensorjit_runtime::abi::DType;

/// An expression with its type.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    /// A name or a literal: it may stand wherever an operand may.
    pub(crate) text: String,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
}

impl Tensor {
    /// A tensor with a name and the type of a value.
    pub(crate) fn named(name: impl Into<String>, value: &Value) -> Tensor {
        Tensor { text: name.into(), dtype: value.dtype, shape: value.shape.clone() }
    }

    /// The number of axes.
    pub(crate) fn rank(&self) -> usize {
        self.shape.len()
    }
}

/// The statements of a function, and how it writes extents.
pub(crate) struct Writer {
    lines: Vec<String>,
    names: usize,
    symbols: BTreeSet<usize>,
}

impl Writer {
    /// Extents of parameters that have a symbol: those that do not broadcast.
    pub(crate) fn new<'t>(symbolic: bool, params: impl Iterator<Item = &'t Tensor>) -> Writer {
        let extents = params.filter(|_| symbolic).flat_map(|param| param.shape.iter().copied());
        Writer { lines: Vec::new(), names: 0, symbols: extents.filter(|extent| *extent > 1).collect() }
    }

    /// The extents that are symbols.
    pub(crate) fn symbols(&self) -> impl Iterator<Item = usize> {
        self.symbols.iter().copied()
    }

    /// Makes an extent a constant, for an operator that is not defined for others.
    pub(crate) fn fix(&mut self, extent: usize) {
        self.symbols.remove(&extent);
    }

    /// An extent: the symbol of its size where there is one.
    pub(crate) fn extent(&self, extent: usize) -> String {
        match self.symbols.contains(&extent) {
            true => format!("N{extent}"),
            false => extent.to_string(),
        }
    }

    /// A shape in brackets.
    pub(crate) fn shape(&self, shape: &[usize]) -> String {
        list(shape.iter().map(|extent| self.extent(*extent)))
    }

    /// A type.
    pub(crate) fn ty(&self, dtype: DType, shape: &[usize]) -> String {
        match shape.is_empty() {
            true => dtype.name().to_owned(),
            false => format!("{}{}", dtype.name(), self.shape(shape)),
        }
    }

    /// Names the value of an expression.
    pub(crate) fn bind(&mut self, value: &str) -> String {
        self.names += 1;
        let name = format!("t{}", self.names);
        self.lines.push(format!("let {name} = {value};"));
        name
    }

    /// Adds a statement.
    pub(crate) fn line(&mut self, line: String) {
        self.lines.push(line);
    }

    /// The statements.
    pub(crate) fn body(&self) -> &[String] {
        &self.lines
    }
}

/// A list in brackets.
pub(crate) fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

/// Axes: one alone, or several in parentheses.
pub(crate) fn axes(axes: &[usize]) -> String {
    tuple(axes.iter().map(usize::to_string))
}

/// One alone, or several in parentheses.
pub(crate) fn tuple(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match items.as_slice() {
        [item] => item.clone(),
        items => format!("({})", items.join(", ")),
    }
}

/// A number of an element type.
pub(crate) fn number(dtype: DType, value: f64) -> String {
    let written = match dtype {
        DType::Bool => return (value != 0.0).to_string(),
        dtype if dtype.is_int() => format!("{}{}", value as i128, dtype.name()),
        _ if value.is_nan() => format!("(0{0} / 0{0})", dtype.name()),
        _ if value.is_infinite() => {
            format!("({}1{1} / 0{1})", if value < 0.0 { "-" } else { "" }, dtype.name())
        }
        _ => format!("{value:e}{}", dtype.name()),
    };
    if value < 0.0 { format!("({written})") } else { written }
}
