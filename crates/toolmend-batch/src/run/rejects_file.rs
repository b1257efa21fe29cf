//! The file of rejects. It has another name until the run is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::write::{create_parent_folder, part_path};

/// The file that reports what was left unchanged.
pub(super) struct RejectsFile {
    path: PathBuf,
    part: PathBuf,
    file: File,
    length: u64,
}

impl RejectsFile {
    /// Creates the file, or continues it after its first `length` bytes.
    pub(super) fn open(path: &Path, length: u64) -> Result<RejectsFile, Failure> {
        create_parent_folder(path)?;
        let part = part_path(path);
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(length == 0)
            .open(&part)
            .map_err(Failure::write(&part))?;
        file.set_len(length).map_err(Failure::write(&part))?;
        file.seek(SeekFrom::End(0)).map_err(Failure::write(&part))?;
        Ok(RejectsFile { path: path.to_owned(), part, file, length })
    }

    /// Appends lines and returns where they end.
    pub(super) fn append(&mut self, lines: &[u8]) -> Result<u64, Failure> {
        self.file.write_all(lines).map_err(Failure::write(&self.part))?;
        self.length += lines.len() as u64;
        Ok(self.length)
    }

    /// Waits until everything is on the disk.
    pub(super) fn sync(&self) -> Result<(), Failure> {
        self.file.sync_data().map_err(Failure::write(&self.part))
    }

    /// Completes the file and gives it its name.
    pub(super) fn complete(self) -> Result<(), Failure> {
        self.sync()?;
        fs::rename(&self.part, &self.path).map_err(Failure::write(&self.path))
    }
}
