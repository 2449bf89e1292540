//! The order of the modules: each uses only modules above it in `lib.rs`.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules in the order of `lib.rs`.
fn modules(source: &Path) -> Vec<String> {
    let text = fs::read_to_string(source.join("lib.rs")).expect("there is a lib.rs");
    let name = |line: &str| Some(line.strip_prefix("pub mod ")?.strip_suffix(';')?.to_owned());
    text.lines().filter_map(name).collect()
}

/// Rust files of a module that are not tests.
fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("a readable folder");
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| files(entry, found));
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        found.push(path.to_owned());
    }
}

/// Modules named after `crate::` in the code before the tests of a file, documentation aside.
fn used(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code = code.split("\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let names = lines.flat_map(|line| line.split("crate::").skip(1));
    names
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
        .collect()
}

#[test]
fn modules_use_only_modules_above_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let modules = modules(&source);
    assert!(modules.len() > 10, "the modules of lib.rs were not found");
    let mut upward = Vec::new();
    for (position, module) in modules.iter().enumerate() {
        let mut found = Vec::new();
        files(&source.join(module), &mut found);
        found.extend(Some(source.join(format!("{module}.rs"))).filter(|path| path.is_file()));
        assert!(!found.is_empty(), "{module} has no file");
        for file in found.iter().filter(|file| !file.components().any(|part| part.as_os_str() == "tests")) {
            let text = fs::read_to_string(file).expect("a readable file");
            let tests = file.file_stem().is_some_and(|stem| stem == "tests" || stem == "sketch");
            for name in used(&text).into_iter().filter(|_| !tests) {
                if modules.iter().position(|other| other == name).is_some_and(|other| other > position) {
                    upward.push(format!("{}: {module} uses {name}", file.display()));
                }
            }
        }
    }
    assert!(upward.is_empty(), "{}", upward.join("\n"));
}
