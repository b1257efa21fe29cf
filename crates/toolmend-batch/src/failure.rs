//! What stops a run: what was expected, what was found, where, and what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a run stops. What was finished until then is kept for `--resume`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// A file cannot be read.
    Read(PathBuf, io::Error),
    /// A file cannot be written.
    Write(PathBuf, io::Error),
    /// A file is not what its format asks for.
    Broken(PathBuf, String),
    /// What was asked for cannot be done.
    Asked(String),
    /// Whoever watched stopped it.
    Stopped,
}

impl Failure {
    pub(crate) fn read(path: &Path) -> impl Fn(io::Error) -> Failure + use<> {
        let path = path.to_owned();
        move |error| Failure::Read(path.clone(), error)
    }

    pub(crate) fn write(path: &Path) -> impl Fn(io::Error) -> Failure + use<> {
        let path = path.to_owned();
        move |error| Failure::Write(path.clone(), error)
    }

    pub(crate) fn broken<E: fmt::Display>(path: &Path) -> impl Fn(E) -> Failure + use<E> {
        let path = path.to_owned();
        move |error| Failure::Broken(path.clone(), error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Failure::Write(path, error) => write!(f, "cannot write {}: {error}", path.display()),
            Failure::Broken(path, found) => write!(f, "{}: {found}", path.display()),
            Failure::Asked(message) => f.write_str(message),
            Failure::Stopped => f.write_str("stopped; --resume goes on from here"),
        }
    }
}

impl std::error::Error for Failure {}
