//! The error of the journal.

use std::fmt;

use crate::location::Location;

/// A journal that cannot be opened, read or written.
///
/// The message names the location of the journal, without its password.
#[derive(Debug)]
pub struct Error {
    location: String,
    message: String,
}

impl Error {
    pub(crate) fn new(location: &Location, message: impl fmt::Display) -> Self {
        Error { location: location.to_string(), message: message.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the journal {}: {}", self.location, self.message)
    }
}

impl std::error::Error for Error {}
