//! Runs all cases of a suite, and says what passes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::case::{Case, Missing, Subject};
use crate::{inexpressible, run};

/// A case by name: its group, and how it is written with constants or with symbols.
pub(crate) struct Entry<'s, S = Case> {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) build: Box<dyn Fn(bool) -> Result<S, Missing> + Sync + Send + 's>,
}

/// How many cases at least do what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Floor {
    /// Give the values of the file.
    pub(crate) passed: usize,
    /// Do so with symbols that no condition gives a value, and have the same bits.
    pub(crate) symbolic: usize,
}

/// What became of a case.
enum Outcome {
    Missing(Missing),
    Failed(String),
    Passed(Result<Vec<String>, String>),
}

/// Runs all, writes the report, and demands the floors of the groups.
pub(crate) fn suite<S: Subject>(name: &str, entries: &[Entry<'_, S>], floors: &[(&str, Floor)]) {
    let only = std::env::var("CASE").ok();
    let chosen: Vec<&Entry<'_, S>> =
        entries.iter().filter(|entry| only.as_ref().is_none_or(|only| entry.name.contains(only))).collect();
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(entry) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = one(entry);
                    outcomes.lock().expect("no thread panics").insert(&entry.name, outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("no thread panics");
    let (mut text, mut counts) = (String::new(), BTreeMap::<&str, (Floor, usize, usize)>::new());
    for entry in &chosen {
        let none = (Floor { passed: 0, symbolic: 0 }, 0, 0);
        let (count, of, apart) = counts.entry(&entry.group).or_insert(none);
        *of += 1;
        if let Some((reason, what)) = inexpressible::reason(name, &entry.name) {
            assert!(
                !matches!(outcomes[&entry.name], Outcome::Passed(_)),
                "{} passes: it is expressible",
                entry.name
            );
            text += &format!("{}: not expressible: {reason}: {what}\n", entry.name);
            *apart += 1;
            continue;
        }
        match &outcomes[&entry.name] {
            Outcome::Missing(reason) => text += &format!("{}: not written: {reason}\n", entry.name),
            Outcome::Failed(reason) => text += &format!("{}: failed: {reason}\n", entry.name),
            Outcome::Passed(symbolic) => {
                count.passed += 1;
                match symbolic {
                    Ok(pinned) if pinned.is_empty() => count.symbolic += 1,
                    Ok(pinned) => text += &format!("{}: constant: {}\n", entry.name, pinned.join(", ")),
                    Err(reason) => text += &format!("{}: not symbolic: {reason}\n", entry.name),
                }
            }
        }
    }
    for (group, (count, of, apart)) in &counts {
        text += &format!(
            "{group}: {} of {of} pass, {} with symbols; {apart} are not expressible\n",
            count.passed, count.symbolic
        );
    }
    if only.is_some() {
        println!("{text}");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance");
    fs::create_dir_all(&folder).expect("the folder can be made");
    fs::write(folder.join(name).with_extension("txt"), &text).expect("the report can be written");
    for (group, floor) in floors {
        let (count, ..) = counts[group];
        assert!(
            count.passed >= floor.passed && count.symbolic >= floor.symbolic,
            "{name}, {group}: {count:?} is below {floor:?}; the report is in {}",
            folder.display()
        );
    }
}

fn one<S: Subject>(entry: &Entry<'_, S>) -> Outcome {
    let case = match (entry.build)(false) {
        Ok(case) => case,
        Err(reason) => return Outcome::Missing(reason),
    };
    let values = match run::constant(&case) {
        Ok(values) => values,
        Err(message) => return Outcome::Failed(message),
    };
    Outcome::Passed((entry.build)(true).and_then(|case| match case.is_symbolic() {
        true => run::symbolic(&case, &values),
        false => Ok(Vec::new()),
    }))
}
