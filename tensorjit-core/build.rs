//! Hashes the compiler's own sources: code made by another compiler is not taken from the cache.

use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=src");
    let mut files = Vec::new();
    list(Path::new("src"), &mut files)?;
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let text = fs::read(&file)?;
        let name = file.to_string_lossy().into_owned();
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name);
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=TENSORJIT_FINGERPRINT={digits}");
    Ok(())
}

/// All files below `folder`.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
