//! Objects in this process, for tests: linked as a shared library and opened.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use libloading::Library;
use tensorjit_runtime::abi::Entry;

use super::{Object, bug};
use crate::diag::Bug;

/// A loaded library; its functions live as long as it.
#[derive(Debug)]
pub struct Loaded {
    library: Library,
}

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing depends on its removal.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Loaded {
    /// Links objects, compiled as [`Visibility::Exported`](super::Visibility), with the system's C compiler.
    pub fn new(objects: &[Object]) -> Result<Loaded, Bug> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let scratch = Scratch(env::temp_dir().join(format!("tensorjit-{}-{number}", process::id())));
        let failed = |error: std::io::Error| bug(format!("cannot link for a test: {error}"));
        fs::create_dir_all(&scratch.0).map_err(failed)?;
        let library = scratch.0.join("kernels.so");
        let mut link = Command::new("cc");
        link.args(["-shared", "-nostdlib", "-o"]).arg(&library);
        for (number, object) in objects.iter().enumerate() {
            let path = scratch.0.join(format!("{number}.o"));
            fs::write(&path, &object.bytes).map_err(failed)?;
            link.arg(path);
        }
        let output = link.output().map_err(failed)?;
        if !output.status.success() {
            return Err(bug(String::from_utf8_lossy(&output.stderr)));
        }
        // SAFETY: the library was made above of kernels, which have no initialisers.
        let library = unsafe { Library::new(&library) }.map_err(|error| bug(error.to_string()))?;
        Ok(Loaded { library })
    }

    /// The function of that name; it must not be called after `self` is dropped.
    pub fn entry(&self, symbol: &str) -> Result<Entry, Bug> {
        // SAFETY: every function of an object of kernels has this type.
        unsafe { self.library.get::<Entry>(symbol) }
            .map(|entry| *entry)
            .map_err(|error| bug(error.to_string()))
    }
}
