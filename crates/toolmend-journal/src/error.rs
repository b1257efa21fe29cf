//! What goes wrong with a database.

use std::fmt;

use crate::place::Place;

/// A journal that cannot be opened, read or written.
#[derive(Debug)]
pub struct Error {
    place: String,
    message: String,
}

impl Error {
    pub(crate) fn new(place: &Place, message: impl fmt::Display) -> Self {
        Error { place: place.to_string(), message: message.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the journal {}: {}", self.place, self.message)
    }
}

impl std::error::Error for Error {}
