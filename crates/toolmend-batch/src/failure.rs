//! The error of a run. Messages say what was found, where, and what to do next.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a run ends early. The work that is finished by then is kept for `--resume`.
///
/// ```
/// use toolmend_batch::Failure;
/// let failure = Failure::Invalid("log.parquet".into(), "the footer is missing".into());
/// assert_eq!(failure.to_string(), "log.parquet: the footer is missing");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// A file cannot be read.
    Read(PathBuf, io::Error),
    /// A file cannot be written.
    Write(PathBuf, io::Error),
    /// A file does not follow its format.
    Invalid(PathBuf, String),
    /// The job cannot be done as requested.
    Request(String),
    /// The progress callback stopped the run.
    Stopped,
}

impl Failure {
    /// Returns a function that wraps an error from reading this file.
    pub(crate) fn read(path: &Path) -> impl Fn(io::Error) -> Failure + use<> {
        let path = path.to_owned();
        move |error| Failure::Read(path.clone(), error)
    }

    /// Returns a function that wraps an error from writing this file.
    pub(crate) fn write(path: &Path) -> impl Fn(io::Error) -> Failure + use<> {
        let path = path.to_owned();
        move |error| Failure::Write(path.clone(), error)
    }

    /// Returns a function that wraps an error in the contents of this file.
    pub(crate) fn invalid<E: fmt::Display>(path: &Path) -> impl Fn(E) -> Failure + use<E> {
        let path = path.to_owned();
        move |error| Failure::Invalid(path.clone(), error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Failure::Write(path, error) => write!(f, "cannot write {}: {error}", path.display()),
            Failure::Invalid(path, found) => write!(f, "{}: {found}", path.display()),
            Failure::Request(message) => f.write_str(message),
            Failure::Stopped => f.write_str("stopped; run again with --resume to continue"),
        }
    }
}

impl std::error::Error for Failure {}
