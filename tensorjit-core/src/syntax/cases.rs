//! Test files in the language itself: `.tj` texts with expectations.
//!
//! ```text
//! //@ case: softmax of rows
//! pub fn f<B, N>(x: f32[B, N]) -> f32[B, N] { softmax(x, axis = 1) }
//! //@ kernels: 1
//! //@ workspace: 0
//! //@ sizes: B = 3, N = 17
//! ```
//!
//! A file is read without knowing what the keys mean; each executor takes those it knows.

use std::collections::BTreeMap;

/// Functions and what is expected of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name; empty where a file without `case` lines is one case.
    pub name: String,
    /// The functions.  Lines before the case are blank, so that places are those of the file.
    pub text: String,
    /// Keys, values and their lines, in order.
    pub expectations: Vec<Expectation>,
}

/// One `//@ key: value` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The key.
    pub key: String,
    /// The value without spaces around it.
    pub value: String,
    /// The line, counted from one.
    pub line: usize,
}

impl Case {
    /// The values of a key.
    pub fn all<'c>(&'c self, key: &str) -> impl Iterator<Item = &'c str> {
        self.expectations.iter().filter(move |e| e.key == key).map(|e| e.value.as_str())
    }

    /// The only value of a key; an error where it stands twice.
    pub fn one(&self, key: &str) -> Result<Option<&str>, String> {
        let mut values = self.all(key);
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            _ => Err(format!("case `{}` has `{key}` more than once", self.name)),
        }
    }

    /// An error where a key is none of `known`, so that a misspelt expectation does not pass unread.
    pub fn only(&self, known: &[&str]) -> Result<(), String> {
        match self.expectations.iter().find(|e| !known.contains(&e.key.as_str())) {
            None => Ok(()),
            Some(e) => Err(format!("line {}: `{}` is none of {}", e.line, e.key, known.join(", "))),
        }
    }
}

/// The cases of a file.
pub fn read(file: &str) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    let mut current = Case { name: String::new(), text: String::new(), expectations: Vec::new() };
    for (index, line) in file.lines().enumerate() {
        let number = index + 1;
        let Some(rest) = line.trim_start().strip_prefix("//@") else {
            current.text.push_str(line);
            current.text.push('\n');
            continue;
        };
        let Some((key, value)) = rest.split_once(':') else {
            return Err(format!("line {number}: an expectation is written `//@ key: value`"));
        };
        let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
        if key != "case" {
            current.text.push('\n');
            current.expectations.push(Expectation { key, value, line: number });
            continue;
        }
        let next = Case { name: value, text: "\n".repeat(number), expectations: Vec::new() };
        let before = std::mem::replace(&mut current, next);
        if !before.is_empty() {
            if before.name.is_empty() {
                return Err(format!("line {number}: the first case of a file with several has a name too"));
            }
            cases.push(before);
        }
    }
    cases.push(current);
    let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two cases are called `{}`", pair[0])),
        None => Ok(cases),
    }
}

impl Case {
    /// Whether it is what stands before the first `case` line: comments and nothing else.
    fn is_empty(&self) -> bool {
        let code = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        self.name.is_empty() && self.expectations.is_empty() && !self.text.lines().any(code)
    }
}

/// Reads `B = 3, N = 17`.
pub fn numbers(value: &str) -> Result<BTreeMap<String, i64>, String> {
    let mut found = BTreeMap::new();
    for part in value.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let pair = part.split_once('=').map(|(name, number)| (name.trim(), number.trim().parse::<i64>()));
        let Some((name, Ok(number))) = pair else { return Err(format!("`{part}` is not `NAME = number`")) };
        if found.insert(name.to_owned(), number).is_some() {
            return Err(format!("`{name}` is given twice"));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse_text;

    const FILE: &str = "// About softmax.
//@ case: rows
pub fn f(x: f32) -> f32 { x }
  //@ kernels: 1
//@ sizes: B = 3, N = 17
//@ sizes: B = 0, N = 1

//@ case: bad
pub fn g(x) { x }
//@ error: 9:11
";

    #[test]
    fn cases_keep_their_lines() {
        let cases = read(FILE).unwrap();
        let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, ["rows", "bad"]);
        assert_eq!(cases[0].one("kernels"), Ok(Some("1")));
        assert_eq!(cases[0].one("workspace"), Ok(None));
        assert_eq!(cases[0].all("sizes").collect::<Vec<_>>(), ["B = 3, N = 17", "B = 0, N = 1"]);
        assert!(cases[0].one("sizes").is_err());
        assert_eq!(cases[0].only(&["kernels", "sizes"]), Ok(()));
        assert_eq!(cases[0].only(&["sizes"]), Err("line 4: `kernels` is none of sizes".to_owned()));
        let parsed = parse_text(&cases[1].text);
        let start = parsed.sources.spans(parsed.diagnostics[0].at).0.start();
        assert_eq!(cases[1].one("error"), Ok(Some(format!("{}:{}", start.line, start.column + 1).as_str())));
    }

    #[test]
    fn a_file_may_be_one_case() {
        let cases = read("fn f() { 1 }\n//@ kernels: 1\n").unwrap();
        assert_eq!((cases.len(), cases[0].name.as_str()), (1, ""));
        assert_eq!(cases[0].text, "fn f() { 1 }\n\n");
    }

    #[test]
    fn bad_files_are_refused() {
        for (file, expected) in [
            ("//@ kernels\n", "line 1: an expectation is written `//@ key: value`"),
            ("//@ case: a\n//@ case: a\n", "two cases are called `a`"),
            ("fn f() {}\n//@ case: a\n", "line 2: the first case of a file with several has a name too"),
        ] {
            assert_eq!(read(file), Err(expected.to_owned()), "{file}");
        }
    }

    #[test]
    fn numbers_are_read() {
        let map = |pairs: &[(&str, i64)]| pairs.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
        assert_eq!(numbers(" B = 3, N=-17 "), Ok(map(&[("B", 3), ("N", -17)])));
        assert_eq!(numbers(""), Ok(map(&[])));
        for bad in ["B", "B = x", "B = 1, B = 2"] {
            assert!(numbers(bad).is_err(), "{bad}");
        }
    }
}
