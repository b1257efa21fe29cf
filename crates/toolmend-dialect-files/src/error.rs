//! The error for a file that cannot be used.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a file of dialects cannot be used. The message names the file and, for TOML, the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialectFileError {
    path: PathBuf,
    message: String,
}

impl DialectFileError {
    pub(crate) fn new(path: &Path, reason: impl fmt::Display) -> Self {
        DialectFileError { path: path.to_owned(), message: reason.to_string() }
    }
}

impl fmt::Display for DialectFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message.trim_end())
    }
}

impl std::error::Error for DialectFileError {}
