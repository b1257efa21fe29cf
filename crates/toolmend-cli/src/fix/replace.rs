//! Replaces a file with its mended text, completely or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::CommandError;
use crate::input::Input;

/// Replaces the file with `text`. The new file is complete on disk before it takes the name of the old one.
pub(crate) fn replace_input(input: &Input, text: &str) -> Result<(), CommandError> {
    match input {
        Input::Stdin => Err(io::Error::other("standard input is not a file; leave out --in-place")),
        Input::File(path) => replace_file(path, text),
    }
    .map_err(|error| CommandError::Replace { name: input.name(), source: error })
}

fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    // A symbolic link stays one: its target is replaced.
    let target = fs::canonicalize(path)?;
    let metadata = fs::metadata(&target)?;
    if metadata.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let folder = target.parent().unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(metadata.permissions())?;
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
}
