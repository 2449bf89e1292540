//! Programs damaged at random go through the whole compiler up to the loops: whatever is wrong with a text is an
//! error of its author, never a bug or a panic of the compiler.

use std::collections::BTreeMap;

use tensorjit_core::testing::texts::{Random, compile, damage, examples, words};

/// How many damaged programs are tried.
const PROGRAMS: usize = 3000;

/// The examples of the language's document.
const LANGUAGE: &str = include_str!("../../docs/language.md");

#[test]
fn damaged_programs_are_never_bugs() {
    let programs: Vec<Vec<String>> = examples(LANGUAGE).iter().map(|text| words(text)).collect();
    assert!(programs.len() >= 18);
    for program in &programs {
        assert_eq!(compile(&program.join(" ")), "loops", "{}", program.join(" "));
    }
    let pool: Vec<String> = programs.iter().flatten().cloned().collect();
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let mut reached: BTreeMap<&str, usize> = BTreeMap::new();
    for index in 0..PROGRAMS {
        let mut words = programs[index % programs.len()].clone();
        damage(&mut words, &pool, &mut random);
        let text = words.join(" ");
        let end = std::panic::catch_unwind(|| compile(&text));
        match end {
            Ok(stage) => *reached.entry(stage).or_default() += 1,
            Err(_) => panic!("program {index}:\n{text}"),
        }
    }
    // The damage is neither always fatal to the syntax nor harmless.
    for stage in ["syntax", "check", "loops"] {
        assert!(reached.get(stage).is_some_and(|count| *count > PROGRAMS / 40), "{reached:?}");
    }
}
