//! Why a value of the wanted type could not be read.

use std::fmt;

/// The error of the strict reading, which no repair could help. It reads and behaves as `serde_json`'s own.
///
/// ```
/// let error = toolmend::from_str::<bool>("[1").unwrap_err();
/// assert_eq!(error.to_string(), serde_json::from_str::<bool>("[1").unwrap_err().to_string());
/// assert_eq!(error.line(), 1);
/// ```
pub struct Error(serde_json::Error);

impl Error {
    /// The line of the place, from 1; 0 where there is no text.
    pub fn line(&self) -> usize {
        self.0.line()
    }

    /// The column of the place, from 1; 0 where there is no text.
    pub fn column(&self) -> usize {
        self.0.column()
    }

    /// The class of the error.
    pub fn classify(&self) -> serde_json::error::Category {
        self.0.classify()
    }

    /// The strict reader's error itself.
    pub fn into_inner(self) -> serde_json::Error {
        self.0
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl From<serde_json::Error> for Error {
    fn from(strict: serde_json::Error) -> Self {
        Error(strict)
    }
}

impl From<Error> for serde_json::Error {
    fn from(error: Error) -> Self {
        error.0
    }
}
