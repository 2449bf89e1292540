//! Programs damaged at random, and how far the compiler comes with a text: for the tests and the fuzz target.

use crate::check::check;
use crate::codegen::targets::targets;
use crate::diag::Failure;
use crate::pipeline;
use crate::syntax::parse_text;
use crate::testing::states;

/// A small generator: the test is the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Begins with `seed`; 0 would stay 0.
    pub fn new(seed: u64) -> Random {
        Random(seed | 1)
    }

    /// A number below `bound`, or 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }
}

/// The examples of a document that compile.
pub fn examples(document: &str) -> Vec<String> {
    let fences = document.split("```").skip(1).step_by(2);
    fences.filter_map(|fence| fence.strip_prefix("rust tensor\n")).map(str::to_owned).collect()
}

/// A text cut into names, numbers, strings without spaces, and signs; comments and spaces are dropped.
pub fn words(text: &str) -> Vec<String> {
    const SIGNS: [&str; 12] = ["->", "&&", "==", "<=", ">=", "!=", "+=", "-=", "..=", "::", "<<", ">>"];
    let mut words: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("///")) {
        for run in line.split_whitespace() {
            let mut rest = run;
            while let Some(first) = rest.chars().next() {
                let part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
                let length = match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                    Some(sign) => sign.len(),
                    // A string is one word.
                    None if first == '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
                    None if part(first) => rest.find(|c| !part(c)).unwrap_or(rest.len()),
                    None => first.len_utf8(),
                };
                // A range `1..=64` keeps its sign.
                let range = rest[..length].ends_with("..") && rest[length..].starts_with('=');
                let length = length + usize::from(range);
                // So does a number its negative exponent.
                let exponent = first.is_ascii_digit() && rest[..length].ends_with('e');
                let length = match rest[length..].strip_prefix('-').filter(|_| exponent) {
                    Some(digits) => {
                        rest.len() - digits.trim_start_matches(|c: char| c.is_ascii_digit()).len()
                    }
                    None => length,
                };
                words.push(rest[..length].to_owned());
                rest = &rest[length..];
            }
        }
    }
    words
}

/// What a word is, so that it can be replaced by another of its kind.
fn kind(word: &str) -> u8 {
    match word.chars().next() {
        Some(c) if c.is_alphabetic() || c == '_' => 0,
        Some(c) if c.is_ascii_digit() => 1,
        _ if ["+", "-", "*", "/", "%", "@", "&", "|", "==", "<", "<=", ">", ">="].contains(&word) => 2,
        _ => 3,
    }
}

/// One or two words are replaced by words of their kind, or left out, doubled, exchanged, or put in.
pub fn damage(words: &mut Vec<String>, pool: &[String], random: &mut Random) {
    for _ in 0..=random.below(2) {
        let at = random.below(words.len());
        let stranger = &pool[random.below(pool.len())];
        match random.below(16) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[at].clone()),
            2 => {
                let other = random.below(words.len());
                words.swap(at, other);
            }
            3 => words.insert(at, stranger.clone()),
            choice => {
                // Mostly a word of the same program: then names are known, and types decide.
                let own = choice > 6;
                let from: Vec<&String> = if own { words.iter().collect() } else { pool.iter().collect() };
                let same: Vec<&String> =
                    from.into_iter().filter(|word| kind(word) == kind(&words[at])).collect();
                words[at] = same[random.below(same.len())].clone();
            }
        }
        if words.is_empty() {
            words.push(";".to_owned());
        }
    }
}

/// How far a text comes; a bug of the compiler panics.
pub fn compile(text: &str) -> &'static str {
    let parsed = parse_text(text);
    for diagnostic in &parsed.diagnostics {
        assert!(!diagnostic.render(&parsed.sources, "text", text).is_empty());
    }
    if !parsed.diagnostics.is_empty() {
        return "syntax";
    }
    let functions = match check(&parsed.block) {
        Ok(functions) => functions,
        Err(Failure::User(found)) => {
            assert!(!found.is_empty(), "{text}");
            for diagnostic in &found {
                assert!(!diagnostic.render(&parsed.sources, "text", text).is_empty());
            }
            return "check";
        }
        Err(Failure::Bug(bug)) => panic!("{bug}\n{text}"),
    };
    let levels = targets("x86_64-unknown-linux-gnu", None).expect("the targets are known");
    for function in functions {
        let states = states(&function);
        let prepared = match pipeline::prepare(function.graph, &states, &mut |_, _, _| {}) {
            Ok(prepared) => prepared,
            Err(Failure::User(_)) => return "derivatives",
            Err(Failure::Bug(bug)) => panic!("{bug}\n{text}"),
        };
        match prepared.lower(&levels, &mut |_, _, _| {}) {
            Ok(_) => {}
            Err(Failure::User(_)) => return "sizes",
            Err(Failure::Bug(bug)) => panic!("{bug}\n{text}"),
        }
    }
    "loops"
}
