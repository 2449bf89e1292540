//! Documents that list things, written from the tables that the compiler itself reads.
//!
//! `cargo run -p tensorjit-core --example docs` writes them; a test fails where a file is stale.

#[cfg(test)]
mod language;
mod structural;

use std::fmt::Write;

use self::structural::{CONVENTIONS, STRUCTURAL};
use crate::check::described::{Family, families};
use crate::diag::CODES;
use crate::graph::table::Ew;
use crate::graph::table::formula::{Formula, show_number};
use crate::graph::table::row::{Accuracy, Derivative, Form, Kink, Row};

/// A text that stands in a file of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The path from the root of the repository.
    pub path: &'static str,
    /// How much of the file it is.
    pub extent: Extent,
    /// The text.
    pub text: String,
}

/// How much of a file a [`Document`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The whole file.
    Whole,
    /// What stands between `<!-- name -->` and `<!-- end of name -->`.
    Section(&'static str),
}

impl Document {
    /// The file with the document in it, where `found` is the file as it is; `None` where it lacks the section.
    pub fn placed_in(&self, found: &str) -> Option<String> {
        let Extent::Section(name) = self.extent else { return Some(self.text.clone()) };
        let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
        let (before, rest) = found.split_once(&start)?;
        let (_, after) = rest.split_once(&end)?;
        Some([before, &start, "\n", &self.text, "\n", &end, after].concat())
    }
}

/// All documents.
pub fn all() -> Vec<Document> {
    let whole = |path, text| Document { path, extent: Extent::Whole, text };
    vec![
        whole("docs/operators.md", operators()),
        whole("docs/diagnostics.md", diagnostics()),
        Document { path: "README.md", extent: Extent::Section("kinks"), text: kinks() },
    ]
}

/// `docs/diagnostics.md`: every kind of error that a block can have.
pub fn diagnostics() -> String {
    let mut text = String::from(DIAGNOSTICS);
    text.push_str("| code | meaning |\n|---|---|\n");
    for code in CODES {
        push(&mut text, format_args!("| `{}` | {} |", code.name, code.about));
    }
    text
}

/// `docs/operators.md`: every operator with types, meaning, derivative and accuracy.
pub fn operators() -> String {
    let mut text = String::from(OPENING);
    text.push_str("\n## Elementwise functions\n\n");
    text.push_str(ELEMENTWISE);
    elementwise(&mut text, |row| row.form != Form::Internal);
    text.push_str("\n### Made by the compiler alone\n\n");
    elementwise(&mut text, |row| row.form == Form::Internal);
    text.push_str("\n## Structural operators\n\n");
    text.push_str(STRUCTURE);
    text.push_str("| operator | written as | types | meaning | derivative |\n|---|---|---|---|---|\n");
    for row in STRUCTURAL {
        let cells = [row.op, row.written, row.types, row.doc, row.derivative].map(escape).join(" | ");
        push(&mut text, format_args!("| {cells} |"));
    }
    text.push_str("\n## Functions\n\n");
    text.push_str(FUNCTIONS);
    families().iter().for_each(|family| functions(&mut text, family));
    text.push_str("\n## Derivatives at kinks\n\n");
    text.push_str(KINKS);
    text.push_str(&kinks());
    text
}

/// The table of the derivatives where a function is not smooth; the README shows it too.
pub fn kinks() -> String {
    let mut lines: Vec<(Vec<String>, String)> = Vec::new();
    for row in Ew::ALL.iter().map(|ew| ew.row()).filter(|row| row.form != Form::Internal) {
        for kink in row.kinks.values {
            let cells = kink_cells(row, kink);
            // Functions with the same convention at the same place share a line.
            match lines.iter_mut().find(|(_, shared)| *shared == cells) {
                Some((functions, _)) => functions.push(code(&written(row))),
                None => lines.push((vec![code(&written(row))], cells)),
            }
        }
    }
    for row in CONVENTIONS {
        let cells = [row.place, row.derivative, row.why].map(escape).join(" | ");
        lines.push((vec![escape(row.function)], cells));
    }
    let mut text = String::from("| function | where | derivative | why |\n|---|---|---|---|\n");
    for (functions, cells) in lines {
        push(&mut text, format_args!("| {} | {cells} |", functions.join(", ")));
    }
    text
}

const DIAGNOSTICS: &str = "\
# Diagnostics

<!-- Written by `cargo run -p tensorjit-core --example docs` from the tables of the compiler; edit those. -->

Errors of a `tensor_fn!` block, by the code that each shows in brackets after `error`.

";

const OPENING: &str = "\
# Operators

<!-- Written by `cargo run -p tensorjit-core --example docs` from the tables of the compiler; edit those. -->

Everything the language computes is made of the operators below: [elementwise](#elementwise-functions) and
[structural](#structural-operators) ones. [Functions](#functions) such as `softmax`, `gelu` or `layer_norm` are made of these,
and have the derivatives that follow from theirs.
";

const ELEMENTWISE: &str = "\
Operands have one shape and one element type; smaller shapes are broadcast first. *Integers* are `i8` to `i64` and `u8` to
`u64`; *floats* are `f32`, `f64` and, computed as `f32`, `f16` and `bf16`; *numbers* are both. The derivative is by each
operand in order; in it, `out` is the result. It is 0 for integers and bools. A tangent or cotangent that is 0 stays 0, be the derivative infinite or NaN, where a zero may have been
put in its place: once it has passed `select`, `relu`, `clip`, `maximum` or `minimum`, or a slice, `pad`, `concat` or an
index by a tensor. Elsewhere the product is IEEE's.

Accuracy is the greatest error of the machine code in units in the last place (ULP), for f32 and f64: *exact* where nothing
is rounded, *nearest* where the result is the nearest float to the true value. Integers wrap, and are exact.

";

const STRUCTURE: &str = "\
The first column is the name in the textual form of graphs.

";

const FUNCTIONS: &str = "\
What is built into the compiler, or written in the language itself, of the operators above: so the derivatives follow from
theirs. In a signature `T` is an element type and `..S` stands for any axes, both of which the arguments decide; what has a
default is an option. `axes` are an axis, a tuple of them, or `\"all\"`.
";

const KINKS: &str = "\
Where a function is not smooth, its derivative is a convention or a one-sided limit:

";

/// The table of the rows that `keep` keeps.
fn elementwise(text: &mut String, keep: fn(&Row) -> bool) {
    text.push_str("| function | types | meaning | derivative | accuracy |\n|---|---|---|---|---|\n");
    for row in Ew::ALL.iter().map(|ew| ew.row()).filter(|row| keep(row)) {
        let (function, types) = (code(&written(row)), row.types.words());
        let (doc, derivative, accuracy) = (escape(row.doc), derivative(row), accuracy(row.accuracy));
        push(text, format_args!("| {function} | {types} | {doc} | {derivative} | {accuracy} |"));
    }
}

/// The table of a family of functions.
fn functions(text: &mut String, family: &Family) {
    push(text, format_args!("\n### {}\n", family.title));
    if !family.about.is_empty() {
        push(text, format_args!("{}\n", family.about));
    }
    text.push_str("| function | meaning |\n|---|---|\n");
    for function in &family.functions {
        push(text, format_args!("| {} | {} |", code(&function.signature), escape(&function.doc)));
    }
}

/// How the language writes a function of its operands.
fn written(row: &Row) -> String {
    let names: Vec<&str> = row.operands.iter().map(|operand| operand.name).collect();
    match (row.form, names.as_slice()) {
        (Form::Infix(symbol, _), [left, right]) => format!("{left} {symbol} {right}"),
        (Form::Prefix(symbol), [operand]) => format!("{symbol}{operand}"),
        (Form::As, [operand]) => format!("{operand} as {}", row.name.trim_start_matches("cast_")),
        _ => format!("{}({})", row.name, names.join(", ")),
    }
}

/// The longest formula that is shown.
const LONGEST: usize = 400;

/// The derivatives by the operands, or why there are none.
fn derivative(row: &Row) -> String {
    let names: Vec<&str> = row.operands.iter().map(|operand| operand.name).collect();
    let show = |rule: &Formula| match rule.show(&names, "out") {
        long if long.len() > LONGEST => "a formula too long for a table".to_owned(),
        text => code(&text),
    };
    match row.derivative {
        Derivative::Partials(rules) => rules().iter().map(show).collect::<Vec<_>>().join(", "),
        Derivative::Linear { operands, .. } => {
            let linear: Vec<String> = operands.iter().map(|position| code(names[*position])).collect();
            format!("linear in {}", linear.join(" and "))
        }
        Derivative::StrongProduct => "`dmul(d', t) + dmul(d, t')`".to_owned(),
        Derivative::Zero(why) => format!("0: {why}"),
        Derivative::None(why) => format!("none: {why}"),
    }
}

fn accuracy(bound: Accuracy) -> String {
    let one = |ulp: f64| match ulp {
        0.0 => "exact".to_owned(),
        0.5 => "nearest".to_owned(),
        _ => format!("{ulp} ULP"),
    };
    let text = match bound.f32 == bound.f64 {
        true => one(bound.f32),
        false => format!("{}, {}", one(bound.f32), one(bound.f64)),
    };
    match bound.least {
        0.0 => text,
        least => format!("{text}; below {least} in units of {least}"),
    }
}

/// The place of a kink, the derivatives, and why.
fn kink_cells(row: &Row, kink: &Kink) -> String {
    let place: Vec<String> = row
        .operands
        .iter()
        .zip(kink.at)
        .map(|(operand, value)| code(&format!("{} = {value}", operand.name)))
        .collect();
    let partials: Vec<String> = kink.partials.iter().map(|value| show_number(*value)).collect();
    [place.join(", "), partials.join(", "), kink.why.to_owned()].join(" | ")
}

/// Code in a cell of a table.
fn code(text: &str) -> String {
    format!("`{}`", escape(text))
}

/// Text in a cell of a table.
fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace("  ", " ")
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn documents_are_fresh() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for document in all() {
            let found = std::fs::read_to_string(root.join(document.path)).unwrap_or_default();
            assert!(
                document.placed_in(&found).as_ref() == Some(&found),
                "{} is stale: run `cargo run -p tensorjit-core --example docs`",
                document.path
            );
        }
    }

    #[test]
    fn a_section_takes_the_place_of_the_one_before() {
        let document = Document { path: "", extent: Extent::Section("here"), text: "new\n".to_owned() };
        let found = "a\n<!-- here -->\nold\n<!-- end of here -->\nb\n";
        let expected = "a\n<!-- here -->\n\nnew\n\n<!-- end of here -->\nb\n";
        assert_eq!(document.placed_in(found).as_deref(), Some(expected));
        assert_eq!(document.placed_in(expected).as_deref(), Some(expected));
        assert_eq!(document.placed_in("a\nb\n"), None);
    }

    #[test]
    fn every_function_is_listed() {
        let text = operators();
        for ew in Ew::ALL {
            let function = code(&written(ew.row()));
            assert!(text.contains(&format!("| {function} |")), "{function} is missing");
        }
    }

    #[test]
    fn every_variant_of_the_operators_is_listed() {
        let source = include_str!("../graph/op.rs");
        let body = source.split_once("pub enum Op {").expect("the enum").1;
        let body = body.split_once("\n}").expect("its end").0;
        let variants: Vec<&str> = body
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()))
            .map(|line| line.trim_end_matches(',').split('(').next().unwrap_or(line))
            .collect();
        assert!(variants.len() > 15);
        for variant in variants.into_iter().filter(|variant| *variant != "Elementwise") {
            assert!(STRUCTURAL.iter().any(|row| row.variants.contains(&variant)), "{variant} is missing");
        }
    }

    #[test]
    fn rows_have_as_many_cells_as_their_heads() {
        let mut columns = 0;
        for line in operators().lines() {
            let cells = line.replace("\\|", "").matches('|').count();
            if !line.starts_with('|') {
                columns = 0;
            } else if columns == 0 {
                columns = cells;
            } else {
                assert_eq!(cells, columns, "{line}");
            }
        }
    }
}
