//! The examples of `docs/language.md` are compiled, and its error messages compared.

use std::collections::BTreeSet;

use crate::check::{check, described};
use crate::diag::Failure;
use crate::syntax::parse_text;

/// The fenced blocks of a document: the words after the fence, and the text.
fn fences(document: &str) -> Vec<(&str, &str)> {
    document
        .split("```")
        .skip(1)
        .step_by(2)
        .map(|fence| fence.split_once('\n').expect("a fence has a line of its own"))
        .collect()
}

/// All errors of a block, as people read them.
fn errors(text: &str) -> String {
    let parsed = parse_text(text);
    let found = match parsed.diagnostics.is_empty() {
        false => parsed.diagnostics,
        true => match check(&parsed.block) {
            Ok(_) => Vec::new(),
            Err(Failure::User(found)) => found,
            Err(Failure::Bug(bug)) => panic!("{bug}\n{text}"),
        },
    };
    found.iter().map(|diagnostic| diagnostic.render(&parsed.sources, "language.md", text)).collect()
}

fn document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/language.md");
    std::fs::read_to_string(path).expect("the document can be read")
}

#[test]
fn every_function_has_its_place_and_no_other_has_one() {
    let document = document();
    let (_, section) = document.split_once("\n## Functions by family\n").expect("the section");
    let (table, _) = section.split_once("\n```").expect("the example behind it");
    let listed: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with('|'))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .collect();
    let once: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(once, described::names().collect());
    assert_eq!(once.len(), listed.len(), "a function stands twice");
}

#[test]
fn examples_are_as_the_document_says() {
    let document = document();
    let fences = fences(&document);
    let (mut good, mut bad) = (0, 0);
    let mut wrong = String::new();
    for (index, (words, text)) in fences.iter().enumerate() {
        match *words {
            "rust tensor" => {
                wrong.push_str(&errors(text));
                good += 1;
            }
            "rust tensor error" => {
                let (_, expected) = fences.get(index + 1).expect("an error follows its example");
                let found = errors(text);
                if found != *expected {
                    wrong.push_str(&found);
                }
                bad += 1;
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(good >= 18 && bad >= 3, "{good} good and {bad} bad examples");
}
