//! What the compiler that expands the macro was asked for, read from its own arguments.
//!
//! Paths that a build script bakes in break when the target folder moves; the arguments of rustc do not.

use std::io;
use std::path::{Path, PathBuf};

/// The folder that the face's build script adds to the search path ends so.
pub(crate) const FOLDER: &str = "kernels";

/// What rustc will do with the expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    /// Whether machine code is wanted: not under `cargo check`, clippy, rustdoc or an editor.
    pub(crate) code: bool,
    /// Folders of the search path that may hold kernels, in order.
    folders: Vec<PathBuf>,
    /// The processor that the build names.
    pub(crate) cpu: Option<String>,
    /// What tells the crate that is built from others: its name, and what Cargo hashes into its symbols.
    pub(crate) package: String,
}

impl Session {
    /// Of this process.
    pub(crate) fn current() -> Session {
        Session::read(std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()), |path| {
            std::fs::read_to_string(path)
        })
    }

    /// Of a process with these arguments, where `@path` stands for the lines of a file.
    fn read(mut args: impl Iterator<Item = String>, file: impl Fn(&Path) -> io::Result<String>) -> Session {
        let program = args.next().unwrap_or_default();
        let args: Vec<String> = args
            .flat_map(|arg| match arg.strip_prefix('@').map(|path| file(Path::new(path))) {
                // rustc has refused a file that cannot be read before any macro is expanded.
                Some(lines) => lines.unwrap_or_default().lines().map(str::to_owned).collect(),
                None => vec![arg],
            })
            .collect();
        let emits: Vec<&str> = values(&args, "--emit").collect();
        // Without `--emit` rustc links.
        let links = emits.is_empty()
            || emits.iter().flat_map(|list| list.split(',')).any(|kind| {
                // A kind may name its file: `link=path`.
                matches!(kind.split('=').next(), Some("link" | "obj" | "asm" | "llvm-ir" | "llvm-bc"))
            });
        let folders = values(&args, "-L")
            .filter_map(|path| path.strip_prefix("native=").or(path.strip_prefix("all=")))
            .map(PathBuf::from)
            .filter(|path| path.ends_with(Path::new("out").join(FOLDER)))
            .collect();
        let cpu = values(&args, "-C")
            .chain(values(&args, "--codegen"))
            .filter_map(|option| option.strip_prefix("target-cpu="))
            .last()
            .map(str::to_owned);
        let hash = values(&args, "-C").find_map(|option| option.strip_prefix("metadata="));
        let name = values(&args, "--crate-name").next();
        let package = format!("{} {}", name.unwrap_or_default(), hash.unwrap_or_default());
        Session { package, code: compiles(&program) && links, folders, cpu }
    }

    /// Where kernels are kept: the folder that belongs to the build of the crate whose macro is expanded.
    ///
    /// Another version of that crate may have a folder of its own; any will do, as the names of the files are
    /// hashes of what is in them.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folders.first().map(PathBuf::as_path)
    }
}

/// Whether the program makes code at all.  Documentation tools and the servers of editors run macros too.
fn compiles(program: &str) -> bool {
    let name = Path::new(program).file_stem().unwrap_or_default().to_string_lossy();
    !(name.contains("rustdoc") || name.contains("rust-analyzer") || name.contains("proc-macro-srv"))
}

/// The values of an option: `-L value`, `-Lvalue`, `--emit value` or `--emit=value`.
fn values<'a>(args: &'a [String], option: &'a str) -> impl Iterator<Item = &'a str> {
    args.iter().enumerate().filter_map(move |(position, arg)| {
        let rest = arg.strip_prefix(option)?;
        match rest.strip_prefix('=') {
            _ if rest.is_empty() => args.get(position + 1).map(String::as_str),
            Some(value) => Some(value),
            None if !option.starts_with("--") => Some(rest),
            None => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(line: &str) -> Session {
        Session::read(line.split(' ').map(str::to_owned), |path| match path.to_str() {
            Some("args") => Ok("--emit=link\n-Lnative=/a/out/kernels\n-C\ntarget-cpu=znver5\n".to_owned()),
            _ => Err(io::ErrorKind::NotFound.into()),
        })
    }

    #[test]
    fn code_is_made_only_where_it_is_linked() {
        for (line, code) in [
            ("rustc a.rs", true),
            ("rustc --emit=dep-info,metadata,link a.rs", true),
            ("rustc --emit=dep-info,link a.rs", true),
            ("rustc --emit link=out/a a.rs", true),
            ("/usr/bin/rustc --emit=dep-info,metadata a.rs", false),
            ("rustc --emit metadata a.rs", false),
            ("clippy-driver rustc --emit=dep-info,metadata a.rs", false),
            ("rustdoc --crate-type lib a.rs", false),
            ("/bin/rust-analyzer-proc-macro-srv", false),
            ("rustc @args", true),
            ("rustc @missing --emit=metadata", false),
        ] {
            assert_eq!(session(line).code, code, "{line}");
        }
    }

    #[test]
    fn the_folder_is_found_in_every_spelling() {
        let kernels = Some(Path::new("/t/debug/build/tensorjit-1/out/kernels"));
        for line in [
            "rustc -L native=/t/debug/build/tensorjit-1/out/kernels a.rs",
            "rustc -L dependency=/t/deps -Lnative=/t/debug/build/tensorjit-1/out/kernels a.rs",
            "rustc -L native=/t/build/x/out -L native=/t/debug/build/tensorjit-1/out/kernels a.rs",
        ] {
            assert_eq!(session(line).folder(), kernels, "{line}");
        }
        assert_eq!(session("rustc -L native=/t/kernels a.rs").folder(), None);
        assert_eq!(session("rustc @args").folder(), Some(Path::new("/a/out/kernels")));
    }

    #[test]
    fn crates_are_told_apart() {
        assert_eq!(session("rustc --crate-name a -C metadata=1f a.rs").package, "a 1f");
        assert_eq!(session("rustc --crate-name=a -Cmetadata=1f a.rs").package, "a 1f");
        assert_eq!(session("rustc a.rs").package, " ");
    }

    #[test]
    fn the_last_processor_wins() {
        for (line, cpu) in [
            ("rustc a.rs", None),
            ("rustc -C target-cpu=native a.rs", Some("native")),
            ("rustc -Ctarget-cpu=a -C opt-level=3 --codegen target-cpu=b", Some("b")),
            ("rustc --codegen=target-cpu=c", Some("c")),
            ("rustc @args", Some("znver5")),
        ] {
            assert_eq!(session(line).cpu.as_deref(), cpu, "{line}");
        }
    }
}
