//! Writes the documents that list things, from the tables of the compiler.

use std::io::{Error, ErrorKind};
use std::path::Path;

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for document in tensorjit_core::docs::all() {
        let path = root.join(document.path);
        let found = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            found => found?,
        };
        let text = document.placed_in(&found).ok_or_else(|| {
            Error::other(format!("{} lacks the place of {:?}", document.path, document.extent))
        })?;
        std::fs::write(path, text)?;
        println!("wrote {}", document.path);
    }
    Ok(())
}
