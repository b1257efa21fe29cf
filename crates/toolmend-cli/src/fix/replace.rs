//! A file gets its mended text as a whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::source::Source;

/// Puts `text` in the place of the file. The new file is complete on disk before it takes the name.
pub(crate) fn replace(source: &Source, text: &str) -> Result<(), Failure> {
    match source {
        Source::Stdin => Err(io::Error::other("standard input is no file; leave out --in-place")),
        Source::File(path) => replace_file(path, text),
    }
    .map_err(|error| Failure::Replace { name: source.name(), source: error })
}

fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link: what it points to is replaced.
    let target = fs::canonicalize(path)?;
    let about = fs::metadata(&target)?;
    if about.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let folder = target.parent().unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(about.permissions())?;
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
}
