//! Static libraries, the same bytes for the same members.

use std::io::Cursor;

use ar_archive_writer::{ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream};

use super::bug;
use crate::diag::Bug;

/// The archive of the members, names and objects, in their order, with a symbol table and without times and
/// owners.
pub fn write(members: &[(String, Vec<u8>)]) -> Result<Vec<u8>, Bug> {
    let members: Vec<NewArchiveMember> = members
        .iter()
        .map(|(name, object)| NewArchiveMember::new(object, &DEFAULT_OBJECT_READER, name.clone()))
        .collect();
    let mut archive = Cursor::new(Vec::new());
    write_archive_to_stream(&mut archive, &members, ArchiveKind::Gnu, false, None)
        .map_err(|error| bug(format!("the archive cannot be written: {error}")))?;
    Ok(archive.into_inner())
}
