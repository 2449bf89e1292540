//! What is in an object, as the linker sees it.

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};

use super::bug;
use crate::diag::Bug;

/// All that an object may import; the C library of every system has them, and Rust's own code needs them too.
pub const MAY_IMPORT: [&str; 3] = ["memcpy", "memmove", "memset"];

/// The symbols that an object needs from others, in order.
pub fn undefined_symbols(object: &[u8]) -> Result<Vec<String>, Bug> {
    symbols(object, true)
}

/// The symbols that others may use, in order.
pub fn defined_symbols(object: &[u8]) -> Result<Vec<String>, Bug> {
    symbols(object, false)
}

/// Bytes of instructions and constants.
pub fn code_bytes(object: &[u8]) -> Result<usize, Bug> {
    let file = object::File::parse(object).map_err(|error| bug(error.to_string()))?;
    let of_code =
        |kind| matches!(kind, SectionKind::Text | SectionKind::ReadOnlyData | SectionKind::ReadOnlyString);
    let sections = file.sections().filter(|section| of_code(section.kind()));
    Ok(sections.map(|section| section.size() as usize).sum())
}

fn symbols(object: &[u8], undefined: bool) -> Result<Vec<String>, Bug> {
    let file = object::File::parse(object).map_err(|error| bug(error.to_string()))?;
    let mut names = Vec::new();
    for symbol in file.symbols().filter(|symbol| symbol.is_global() && symbol.is_undefined() == undefined) {
        let name = symbol.name().map_err(|error| bug(error.to_string()))?;
        if !name.is_empty() {
            names.push(name.to_owned());
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}
