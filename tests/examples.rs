//! Every example in its short form: each fails where it does not reach what it is to show.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where cargo puts the examples that it builds with this test.
fn folder() -> PathBuf {
    let test = std::env::current_exe().expect("a program knows its file");
    let target = test.parent().and_then(Path::parent).expect("tests stand in `deps`");
    target.join("examples")
}

/// The names of the examples, but for those that need a feature that is off.
fn examples() -> Vec<String> {
    let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let names = files.filter(|file| file.extension().is_some_and(|end| end == "rs"));
    let mut names: Vec<String> =
        names.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.retain(|name| name != "char_gpt" || cfg!(feature = "safetensors"));
    names.sort();
    names
}

#[test]
fn examples_reach_their_goals() {
    let names = examples();
    assert!(names.len() > 3, "{names:?}");
    for name in names {
        let program = folder().join(&name);
        assert!(program.is_file(), "`cargo test` builds {name}; with `--test examples` add `--examples`");
        let output = Command::new(&program).arg("--short").output().unwrap();
        let (out, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{name}:\n{out}\n{log}");
    }
}
