//! A crate outside the workspace with one path dependency: it builds, runs, links its tests and its doc tests,
//! and `cargo check` makes no machine code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;
use std::{fs, io};

const LIBRARY: &str = r#"
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs)]
//! A library with one tensor function.

tensorjit::tensor_fn! {
    /// Mean squared error of a linear model and its gradients.
    pub fn linear_step<B: 1..=64>(
        x: f32[B, 3], y: f32[B, 2], w: f32[3, 2], bias: f32[2], scale: f32,
    ) -> (f32, f32[3, 2], f32[2]) {
        let error = x @ w + bias - y;
        let loss = sum(error * error) * scale;
        (loss, grad(loss, w), grad(loss, bias))
    }
}

/// The loss of a zero model.
///
/// ```
/// tensorjit::tensor_fn! {
///     pub fn add<N>(total: &mut f64[N], x: f64[N]) { total = total + x; }
/// }
/// let mut total = [1.0; 3];
/// add(&mut total, &[outside::loss().into(); 3]).unwrap();
/// assert_eq!(total, [1.625; 3]);
/// ```
pub fn loss() -> f32 {
    let (x, y) = ([[1.0, 2.0, 3.0]; 8], [[0.5, 1.0]; 8]);
    linear_step(&x, &y, &[[0.0; 2]; 3], &[0.0; 2], 1.0 / 16.0).unwrap().0
}
"#;

const PROGRAM: &str = r#"
fn main() {
    println!("loss {}", outside::loss());
    let error = outside::linear_step(&[[0.0; 3]; 8], &[[0.0; 2]; 7], &[[0.0; 2]; 3], &[0.0; 2], 1.0);
    println!("{}", error.unwrap_err());
}
"#;

const TEST: &str = r#"
#[test]
fn links() {
    assert_eq!(outside::loss(), 0.625);
}
"#;

/// A package below the target folder, which is a workspace of its own.
struct Project {
    folder: PathBuf,
    target: PathBuf,
}

impl Project {
    fn new(name: &str, files: &[(&str, &str)]) -> io::Result<Project> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[dependencies]\n\
             tensorjit = {{ path = {root:?} }}\n\n[workspace]\n"
        );
        for (path, text) in [("Cargo.toml", manifest.as_str())].iter().chain(files) {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap())?;
            fs::write(path, text)?;
        }
        // The versions of the workspace, so that nothing is resolved or fetched.
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        Ok(Project { target: Path::new(env!("CARGO_TARGET_TMPDIR")).join("target"), folder })
    }

    fn cargo(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO"));
        command.args(args).arg("--offline").current_dir(&self.folder);
        command.env("CARGO_TARGET_DIR", &self.target).env_remove("RUSTFLAGS").env_remove("TENSORJIT_LEVELS");
        command.output().unwrap()
    }

    #[track_caller]
    fn succeeds(&self, args: &[&str]) -> String {
        let output = self.cargo(args);
        let (out, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "cargo {args:?}:\n{out}\n{log}");
        out.into_owned()
    }

    /// All archives of kernels, and when they were written.
    fn archives(&self) -> BTreeMap<PathBuf, SystemTime> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.target.join("debug/build")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if name.starts_with("libtensorjit_") && name.ends_with(".a") {
                    found.insert(path, entry.metadata().unwrap().modified().unwrap());
                }
            }
        }
        found
    }
}

#[test]
fn a_crate_outside_the_workspace_needs_nothing_but_the_dependency() {
    let files = [("src/lib.rs", LIBRARY), ("src/main.rs", PROGRAM), ("tests/links.rs", TEST)];
    let project = Project::new("outside", &files).unwrap();
    // Kernels of earlier runs of this test.
    for path in project.archives().keys() {
        fs::remove_file(path).unwrap();
    }
    project.succeeds(&["check"]);
    assert_eq!(project.archives(), BTreeMap::new(), "`cargo check` makes no machine code");
    project.succeeds(&["doc", "--no-deps"]);
    assert_eq!(project.archives(), BTreeMap::new(), "rustdoc makes no machine code");

    let out = project.succeeds(&["run"]);
    assert!(out.contains("loss 0.625"), "{out}");
    assert!(
        out.contains("linear_step: argument `y`, axis 0: expected B = 8 (from `x`, axis 0), found 7"),
        "{out}"
    );
    let built = project.archives();
    assert_eq!(built.len(), 1, "one archive for one function");

    // Another text around the same function, further down.
    fs::write(project.folder.join("src/lib.rs"), format!("{LIBRARY}\n/// More.\npub fn more() {{}}\n"))
        .unwrap();
    project.succeeds(&["build"]);
    assert_eq!(project.archives(), built, "an unchanged function is not compiled again");

    let out = project.succeeds(&["test"]);
    assert_eq!(out.matches("test result: ok. 1 passed").count(), 2, "a test and a doc test:\n{out}");
}

#[test]
fn an_error_is_the_only_one() {
    let broken = LIBRARY.replace("x @ w + bias - y", "x @ y");
    let (program, test) = (PROGRAM.replace("outside", "broken"), TEST.replace("outside", "broken"));
    let files = [("src/lib.rs", broken.as_str()), ("src/main.rs", &program), ("tests/links.rs", &test)];
    let project = Project::new("broken", &files).unwrap();
    let output = project.cargo(&["check", "--all-targets", "--keep-going"]);
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    // The library is checked by itself and for its tests; cargo adds which targets could not be compiled.
    let mut errors: Vec<&str> = log.lines().filter(|line| line.starts_with("error")).collect();
    errors.retain(|line| !line.starts_with("error: could not compile"));
    errors.dedup();
    assert_eq!(errors.len(), 1, "{log}");
    assert!(log.contains("src/lib.rs:11:"), "the error is at the user's tokens:\n{log}");
}

#[test]
fn users_get_the_compiler_through_the_macro_alone() {
    let project = Project::new("tree", &[("src/lib.rs", "")]).unwrap();
    let tree = project.succeeds(&["tree", "--edges", "normal,no-proc-macro", "--prefix", "none"]);
    assert!(tree.contains("tensorjit-runtime"), "{tree}");
    for package in ["syn ", "inkwell", "llvm-sys", "tensorjit-core", "tensorjit-macros"] {
        assert!(!tree.lines().any(|line| line.starts_with(package)), "{package} in\n{tree}");
    }
}
