//! What stops the command: a message that says what was expected, found, where, and what to do.

use std::fmt;
use std::io;

/// The exit code of a run that could not do its work: bad usage, an unreadable file, a broken schema.
pub(crate) const FAILED: u8 = 2;

/// Why the command stops.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A file or standard input cannot be read.
    Read { name: String, source: io::Error },
    /// A file is text of another encoding, or no text.
    NotUtf8 { name: String, at: usize },
    /// A schema or tools file is not what it must be.
    Broken { name: String, expected: &'static str, found: String },
    /// A mended file cannot be put in its place; the original is untouched.
    Replace { name: String, source: io::Error },
    /// Standard output cannot be written.
    Write(io::Error),
    /// A file with dialects cannot be used.
    Dialects(String),
    /// The gateway cannot be started or kept running.
    Serve(String),
    /// The journal cannot be read, or has no such entry.
    Journal(String),
    /// Files cannot be cleaned.
    Clean(String),
}

impl Failure {
    /// The gateway cannot be started or kept running.
    pub(crate) fn serve(why: impl fmt::Display) -> Self {
        Failure::Serve(why.to_string())
    }

    /// The journal cannot be read.
    pub(crate) fn journal(why: impl fmt::Display) -> Self {
        Failure::Journal(why.to_string())
    }

    /// Whether nobody reads the output any more: not an error, the run just ends.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Failure::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Read { name, source } if source.kind() == io::ErrorKind::IsADirectory => {
                write!(f, "{name} is a directory; name the files in it")
            }
            Failure::Read { name, source } => write!(f, "cannot read {name}: {source}"),
            Failure::NotUtf8 { name, at } => {
                write!(f, "{name} is not UTF-8 at byte {at}; convert it first, for example with iconv")
            }
            Failure::Broken { name, expected, found } => {
                write!(f, "{name}: expected {expected}, found {found}")
            }
            Failure::Replace { name, source } => {
                write!(f, "cannot replace {name}, it is unchanged: {source}")
            }
            Failure::Write(source) => write!(f, "cannot write the output: {source}"),
            Failure::Dialects(message)
            | Failure::Serve(message)
            | Failure::Journal(message)
            | Failure::Clean(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Failure {}
