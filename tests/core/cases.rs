//! Test files in the language: each case is run by the oracle and as machine code of every level, with every
//! buffer flush against a guard page at either end, and all are held against what the file expects.
//!
//! ```text
//! //@ case: the name
//! pub fn f<N>(x: f32[N]) -> (f32[N], f32) { (relu(x), sum(x)) }
//! //@ sizes: N = 3              one run for each line; needed where there are symbols
//! //@ input: x = [1, -2, nan]   sampled where it is not given
//! //@ output: result.0 = [1, 0, nan]
//! //@ output: result.1 = nan    states have the names of their parameters
//! //@ kernels: 2                loop nests
//! //@ scans: 2                  loops of the language that are loops of the code
//! //@ carries: 6, 3             what each of them carries
//! //@ workspace: 0              a formula of the dimensions
//! //@ unread: x                 the parameter's elements are not read
//! //@ error: text               what the report of a block that must not compile has in it
//! ```
//!
//! An expected number is exact, to the sign of a zero; `~0.25` is met within a few units in the last place of
//! what is written.  `_` stands for any number.

mod expect;
mod neon;
mod run;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tensorjit_core::autodiff;
use tensorjit_core::graph::Op;
use tensorjit_core::graph::table::Ew;
use tensorjit_core::syntax::cases::{Case, read};

use crate::support;

/// What a case may say.
const KEYS: [&str; 9] =
    ["sizes", "input", "output", "kernels", "scans", "carries", "workspace", "unread", "error"];

/// Runs all cases of a topic, and reports all that fail.
fn topic(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name);
    let only = std::env::var("CASE").ok();
    let mut count = 0;
    let mut failed = Vec::new();
    for file in files(&folder) {
        let label = format!("{name}/{}", file.file_name().unwrap_or_default().display());
        let text = fs::read_to_string(&file).expect("the file can be read");
        let cases = read(&text).unwrap_or_else(|message| panic!("{label}: {message}"));
        for case in cases {
            if only.as_ref().is_some_and(|only| !case.name.contains(only.as_str())) {
                continue;
            }
            count += 1;
            if let Err(message) = one(&case) {
                failed.push(format!("{label}, `{}`: {message}", case.name));
            }
        }
    }
    assert!(count > 0 || only.is_some(), "no cases in {}", folder.display());
    assert!(failed.is_empty(), "{} of {count} cases fail\n{}", failed.len(), failed.join("\n"));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "tj"));
    files.sort();
    files
}

fn one(case: &Case) -> Result<(), String> {
    case.only(&KEYS)?;
    let checked = support::functions(&case.text);
    if let Some(expected) = case.one("error")? {
        return match checked {
            Err(report) if report.contains(expected) => Ok(()),
            Err(report) => Err(format!("the report lacks `{expected}`\n{report}")),
            Ok(_) => Err("it compiles".to_owned()),
        };
    }
    match checked?.as_slice() {
        [function] => run::function(case, function),
        functions => Err(format!("a case has one public function, this has {}", functions.len())),
    }
}

/// Every elementwise function stands in a case, as written or as a derivative makes it.
#[test]
fn every_row_has_a_case() {
    let mut seen = BTreeSet::new();
    for folder in
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")).expect("the folders")
    {
        for file in files(&folder.expect("a folder").path()) {
            let cases = read(&fs::read_to_string(&file).expect("the file can be read")).expect("its cases");
            // Those that must not compile have no functions.
            for function in cases.iter().filter_map(|case| support::functions(&case.text).ok()).flatten() {
                let graph = autodiff::run(function.graph).expect("it has derivatives");
                seen.extend(graph.ids().filter_map(|id| match graph.node(id).op {
                    Op::Elementwise(row) => Some(row),
                    _ => None,
                }));
            }
        }
    }
    // The last step of simplification alone makes it.
    seen.insert(Ew::Fma);
    let missing: Vec<_> = Ew::ALL.iter().filter(|row| !seen.contains(row)).collect();
    assert!(missing.is_empty(), "no case has {missing:?}");
}

/// One test for each folder, so that they run side by side.
macro_rules! topics {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                topic(stringify!($name));
            }
        )*

        #[test]
        fn every_folder_is_run() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
            for entry in fs::read_dir(folder).expect("the folder can be read") {
                let name = entry.expect("an entry").file_name();
                assert!([$(stringify!($name)),*].iter().any(|topic| name == *topic), "{}", name.display());
            }
        }
    };
}

topics! {
    types
    language
    running
    indexing
    sorting
    random
    linalg
    loops
    windows
    elementwise
    kinks
    reductions
    products
    movement
    creation
    prelude
    gradients
    strong_zero
    state
    kernels
}
