//! The error of the typed entry points: what `serde_json` said, and why no repair helped.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::feedback;
use crate::fix::fix;
use crate::json::strict::{self, MAX_DEPTH};
use crate::verdict::{Outcome, Reason, Refusal};

/// The error of [`from_str`](crate::from_str) and its siblings.
///
/// It reads and behaves as the error of `serde_json` on the unchanged input. In addition it says why no repair helped,
/// and has feedback for the model.
///
/// ```
/// use toolmend::{Outcome, Reason};
///
/// let error = toolmend::from_str::<bool>("[1]").unwrap_err();
/// assert_eq!(error.to_string(), serde_json::from_str::<bool>("[1]").unwrap_err().to_string());
/// assert_eq!((error.line(), error.column()), (1, 0));
/// assert_eq!((error.outcome(), error.reason()), (Outcome::Rejected, Some(Reason::Schema)));
/// assert!(error.feedback().unwrap().contains("expected a boolean"));
///
/// let error = toolmend::from_str::<Vec<String>>(r#"["one", "tw"#).unwrap_err();
/// assert_eq!((error.outcome(), error.reason()), (Outcome::Truncated, None));
/// ```
pub struct Error {
    strict: serde_json::Error,
    refusal: Box<Refusal>,
}

impl Error {
    /// Explains why `text` cannot be read as a `T`, although it was repaired as far as possible.
    pub(super) fn explain<T: DeserializeOwned>(strict: serde_json::Error, text: &str) -> Self {
        if strict.is_data() && strict::check(text, MAX_DEPTH).is_ok() {
            let message = strict.to_string();
            return Error::mismatch(strict, message, text);
        }
        match fix(text).into_result() {
            Ok(success) => {
                let mismatch = success.parse::<T>().err();
                let message = mismatch.as_ref().unwrap_or(&strict).to_string();
                Error::mismatch(strict, message, text)
            }
            Err(refusal) => Error { strict, refusal: Box::new(refusal) },
        }
    }

    /// The text is JSON, or can be read as such, and does not fit the type.
    fn mismatch(strict: serde_json::Error, message: String, text: &str) -> Self {
        let refusal = Refusal {
            reason: Some(Reason::Schema),
            feedback: Some(feedback::write_type_mismatch(&message, text)),
            message,
            ..Refusal::default()
        };
        Error { strict, refusal: Box::new(refusal) }
    }

    /// Returns whether the input was truncated or rejected.
    ///
    /// ```
    /// let error = toolmend::from_str::<String>("\"never clos").unwrap_err();
    /// assert_eq!(error.outcome(), toolmend::Outcome::Truncated);
    /// ```
    pub fn outcome(&self) -> Outcome {
        self.refusal.outcome()
    }

    /// Returns the class of a rejection: `Schema` if the input does not fit the type, `None` if it was truncated.
    ///
    /// ```
    /// let error = toolmend::from_str::<u8>("300").unwrap_err();
    /// assert_eq!(error.reason(), Some(toolmend::Reason::Schema));
    /// ```
    pub fn reason(&self) -> Option<Reason> {
        self.refusal.reason
    }

    /// Returns feedback for the model: what was wrong and what to do next. An error that was converted from one of
    /// `serde_json` has none.
    ///
    /// ```
    /// let error = toolmend::from_str::<u8>("300").unwrap_err();
    /// assert!(error.feedback().unwrap().starts_with("JSON rejected"));
    /// ```
    pub fn feedback(&self) -> Option<&str> {
        self.refusal.feedback.as_deref()
    }

    /// Returns everything that is known about why no repair helped.
    ///
    /// ```
    /// let error = toolmend::from_str::<Vec<String>>(r#"["one", "tw"#).unwrap_err();
    /// assert_eq!(error.refusal().cut.as_deref(), Some("/1"));
    /// ```
    pub fn refusal(&self) -> &Refusal {
        &self.refusal
    }

    /// Returns the line of the error in the input, from 1; 0 if the input was not text.
    ///
    /// ```
    /// assert_eq!(toolmend::from_str::<u8>("\n\n[]").unwrap_err().line(), 3);
    /// ```
    pub fn line(&self) -> usize {
        self.strict.line()
    }

    /// Returns the column of the error in the input, from 1; 0 if the input was not text.
    ///
    /// ```
    /// assert_eq!(toolmend::from_str::<u8>("300").unwrap_err().column(), 3);
    /// ```
    pub fn column(&self) -> usize {
        self.strict.column()
    }

    /// Returns the category that `serde_json` gives the error.
    ///
    /// ```
    /// use serde_json::error::Category;
    /// assert_eq!(toolmend::from_str::<u8>("300").unwrap_err().classify(), Category::Data);
    /// ```
    pub fn classify(&self) -> Category {
        self.strict.classify()
    }

    /// Returns the error of `serde_json` itself.
    ///
    /// ```
    /// let error: serde_json::Error = toolmend::from_str::<u8>("300").unwrap_err().into_inner();
    /// assert!(error.is_data());
    /// ```
    pub fn into_inner(self) -> serde_json::Error {
        self.strict
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.strict, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.strict, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.strict.source()
    }
}

impl From<serde_json::Error> for Error {
    fn from(strict: serde_json::Error) -> Self {
        let reason = match strict.classify() {
            Category::Eof => None,
            Category::Data => Some(Reason::Schema),
            Category::Syntax | Category::Io => Some(Reason::Syntax),
        };
        let refusal = Refusal { reason, message: strict.to_string(), ..Refusal::default() };
        Error { strict, refusal: Box::new(refusal) }
    }
}

impl From<Error> for serde_json::Error {
    fn from(error: Error) -> Self {
        error.strict
    }
}
