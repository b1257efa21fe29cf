//! Errors that stop a command, with messages that say what was expected, what was found, where, and what to do next.

use std::fmt;
use std::io;

/// The exit code of a run that could not do its work: wrong usage, an unreadable file, an invalid schema.
pub(crate) const EXIT_FAILURE: u8 = 2;

/// Why a command stops.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// A file or standard input cannot be read.
    Read { name: String, source: io::Error },
    /// A file is not UTF-8 text.
    NotUtf8 { name: String, at: usize },
    /// A schema or a list of tools is invalid.
    Invalid { name: String, expected: &'static str, found: String },
    /// A mended file cannot replace the original, which is unchanged.
    Replace { name: String, source: io::Error },
    /// Standard output cannot be written.
    Write(io::Error),
    /// A file with custom dialects cannot be used.
    Dialects(String),
    /// The gateway, or the program that it runs with, cannot be started.
    Serve(String),
    /// The journal cannot be read, or does not have the entry.
    #[cfg(feature = "serve")]
    Journal(String),
    /// Files cannot be cleaned.
    Clean(String),
    /// This build lacks a feature.
    #[cfg(not(all(feature = "files", feature = "serve", feature = "template")))]
    Missing(String),
}

impl CommandError {
    /// A file with custom dialects or a chat template cannot be used.
    pub(crate) fn dialects(reason: impl fmt::Display) -> Self {
        CommandError::Dialects(reason.to_string())
    }

    /// The gateway, or the program that it runs with, cannot be started.
    pub(crate) fn serve(reason: impl fmt::Display) -> Self {
        CommandError::Serve(reason.to_string())
    }

    /// The journal cannot be read.
    #[cfg(feature = "serve")]
    pub(crate) fn journal(reason: impl fmt::Display) -> Self {
        CommandError::Journal(reason.to_string())
    }

    /// Whether the reader of the output has gone away. That ends the run and is not an error.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, CommandError::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Read { name, source } if source.kind() == io::ErrorKind::IsADirectory => {
                write!(f, "{name} is a directory; name the files in it")
            }
            CommandError::Read { name, source } => write!(f, "cannot read {name}: {source}"),
            CommandError::NotUtf8 { name, at } => {
                write!(f, "{name} is not UTF-8 at byte {at}; convert it first, for example with iconv")
            }
            CommandError::Invalid { name, expected, found } => {
                write!(f, "{name}: expected {expected}, found {found}")
            }
            CommandError::Replace { name, source } => {
                write!(f, "cannot replace {name}, which is unchanged: {source}")
            }
            CommandError::Write(source) => write!(f, "cannot write the output: {source}"),
            CommandError::Dialects(message) | CommandError::Serve(message) | CommandError::Clean(message) => {
                f.write_str(message)
            }
            #[cfg(feature = "serve")]
            CommandError::Journal(message) => f.write_str(message),
            #[cfg(not(all(feature = "files", feature = "serve", feature = "template")))]
            CommandError::Missing(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for CommandError {}
