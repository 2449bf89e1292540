//! Writes the documents that list things, from the tables of the compiler.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for document in tensorjit_core::docs::all() {
        std::fs::write(root.join(document.path), &document.text)?;
        println!("wrote {}", document.path);
    }
    Ok(())
}
