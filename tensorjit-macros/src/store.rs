//! The folder of compiled functions: what is there is not compiled again.
//!
//! A function is two files named by its key: the archive that rustc links, and a text that says what the
//! descriptor needs to know of it.  Files are renamed into place, so that compilers that run side by side see
//! whole files; two that write the same file write the same bytes.  What a machine that lost power, or a full disk,
//! left of them is not taken for a function: the text ends with a line that says how long the archive is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// One function of the folder.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    archive: PathBuf,
    facts: PathBuf,
}

impl Slot {
    /// The function of that library name in `folder`.
    pub(crate) fn new(folder: &Path, library: &str) -> Slot {
        Slot { archive: folder.join(format!("lib{library}.a")), facts: folder.join(format!("{library}.txt")) }
    }

    /// The text beside the archive, where both are there and whole.
    pub(crate) fn read(&self) -> Option<String> {
        // The text is written last.
        let mut facts = fs::read_to_string(&self.facts).ok()?;
        let archive = fs::metadata(&self.archive).ok().filter(|archive| archive.is_file())?;
        let length = facts.strip_suffix(&end(archive.len()))?.len();
        facts.truncate(length);
        Some(facts)
    }

    /// Stores both.
    pub(crate) fn write(&self, archive: &[u8], facts: &str) -> io::Result<()> {
        put(&self.archive, archive)?;
        put(&self.facts, format!("{facts}{}", end(archive.len() as u64)).as_bytes())
    }
}

/// The last line of the text beside an archive of so many bytes.
fn end(archive: u64) -> String {
    format!("archive {archive}\n")
}

/// Writes a file beside `path` and renames it.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let name = format!("{}.{}-{number}", path.display(), std::process::id());
    let temporary = PathBuf::from(name);
    let done = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if done.is_err() {
        // What could not be moved is of no use; that it stays harms nobody.
        let _ = fs::remove_file(&temporary);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_files_make_a_function() {
        let folder = std::env::temp_dir().join(format!("tensorjit-store-{}", std::process::id()));
        let slot = Slot::new(&folder, "one");
        assert_eq!(slot.read(), None);
        slot.write(b"archive", "facts").unwrap();
        assert_eq!(slot.read().as_deref(), Some("facts"));
        slot.write(b"archive", "other").unwrap();
        assert_eq!(slot.read().as_deref(), Some("other"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing temporary stays");
        for (file, bytes) in [("libone.a", "archive"), ("one.txt", "otherarchive 7\n")] {
            let path = folder.join(file);
            assert_eq!(fs::read_to_string(&path).unwrap(), bytes);
            for part in 0..bytes.len() {
                fs::write(&path, &bytes[..part]).unwrap();
                assert_eq!(slot.read(), None, "{part} bytes of {file}");
            }
            fs::write(&path, bytes).unwrap();
        }
        assert_eq!(slot.read().as_deref(), Some("other"));
        fs::remove_file(folder.join("libone.a")).unwrap();
        assert_eq!(slot.read(), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
