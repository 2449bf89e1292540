//! Diagnostics as text, with the lines they speak of, for text files and for tests.

use std::fmt::Write;

use super::sources::Sources;
use crate::diag::{Diagnostic, Origin};

/// A place in a text, lines and columns counted from one.
struct Place {
    line: usize,
    column: usize,
    /// How many characters, on the first line.
    width: usize,
}

impl Diagnostic {
    /// The diagnostic as people read it: code, message, `file:line:column`, source lines with carets, help.
    ///
    /// `text` is what was parsed into `sources`.
    pub fn render(&self, sources: &Sources, file: &str, text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let labels = self.labels.iter().map(|(at, label)| (*at, '-', label.as_str()));
        let places: Vec<(Place, char, &str)> = std::iter::once((self.at, '^', ""))
            .chain(labels)
            .map(|(at, mark, label)| (place(sources, at, &lines), mark, label))
            .collect();
        let widest = places.iter().map(|(place, ..)| place.line).max().unwrap_or(1).to_string().len();
        let margin = " ".repeat(widest);
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "error[{}]: {}", self.code, self.message);
        let first = &places[0].0;
        let _ = writeln!(out, "{margin}--> {file}:{}:{}", first.line, first.column);
        let _ = writeln!(out, "{margin} |");
        let mut shown = 0;
        for (place, mark, label) in &places {
            let source = lines.get(place.line - 1).copied().unwrap_or("");
            if shown != place.line {
                let _ = writeln!(out, "{:>widest$} | {}", place.line, source.trim_end());
                shown = place.line;
            }
            // Tabs stay tabs, so that the marks stand under what they mark.
            let indent = source.chars().take(place.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' });
            let marks = mark.to_string().repeat(place.width);
            let line = format!("{margin} | {}{marks} {label}", indent.collect::<String>());
            let _ = writeln!(out, "{}", line.trim_end());
        }
        if let Some(help) = &self.help {
            let _ = writeln!(out, "{margin} = help: {help}");
        }
        out
    }
}

fn place(sources: &Sources, origin: Origin, lines: &[&str]) -> Place {
    let (first, last) = sources.spans(origin);
    let (start, end) = (first.start(), last.end());
    let line = start.line.max(1);
    let rest = lines.get(line - 1).map_or(1, |text| text.chars().count().saturating_sub(start.column));
    let width = if start.line == end.line { end.column.saturating_sub(start.column) } else { rest };
    Place { line, column: start.column + 1, width: width.max(1) }
}
