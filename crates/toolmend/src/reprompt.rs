//! Counts how often a failed call is sent back to the model, and says when to give up.
//!
//! It only counts. The caller sends the feedback.

use std::collections::HashMap;
use std::fmt;

use crate::trace::Trace;
use crate::verdict::{Outcome, Verdict};
use crate::wire_names::wire_names;

/// The highest limit that can be set.
const MAX_LIMIT: u8 = 5;

/// What to do with a call that was not clean. The names are labels for logs and metrics.
///
/// ```
/// assert_eq!(toolmend::Recovery::GaveUp.name(), "gave-up");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Recovery {
    /// It was mended and can run.
    LocalSalvage,
    /// Send it back to the model, with the feedback of the verdict.
    Reprompt,
    /// It failed more often than the limit allows.
    GaveUp,
}

wire_names!(
    Recovery, "recovery",
    LocalSalvage => "local-salvage",
    Reprompt => "re-prompt",
    GaveUp => "gave-up",
);

/// The error for a limit over 5.
///
/// ```
/// let error = toolmend::Reprompt::new(9).unwrap_err();
/// assert_eq!(error.to_string(), "expected at most 5 re-prompts for a call, found 9; use a number from 0 to 5");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepromptError {
    /// The limit that was requested.
    pub requested: u8,
}

impl fmt::Display for RepromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected at most {MAX_LIMIT} re-prompts for a call, found {}; use a number from 0 to {MAX_LIMIT}",
            self.requested
        )
    }
}

impl std::error::Error for RepromptError {}

/// Counts how often each call of a conversation was sent back.
///
/// The count of a call only grows, so a conversation always ends. The caller chooses the identifiers: a call and the
/// model's next attempt at it have the same one.
///
/// ```
/// use toolmend::{Mender, Recovery, Reprompt};
/// let mender = Mender::new(&serde_json::json!(["list_dir"])).unwrap();
/// let mut reprompt = Reprompt::default();
/// let failed = mender.mend("remove", "{}");
/// assert_eq!(reprompt.label("call-1", &failed), Some(Recovery::Reprompt));
/// assert_eq!(reprompt.label("call-1", &failed), Some(Recovery::GaveUp));
/// assert_eq!(reprompt.label("call-2", &mender.mend("ListDir", "{}")), Some(Recovery::LocalSalvage));
/// assert_eq!(reprompt.label("call-3", &mender.mend("list_dir", "{}")), None);
/// ```
#[derive(Debug, Clone)]
pub struct Reprompt {
    limit: u8,
    sent_back: HashMap<String, u8>,
    trace: Trace,
}

impl Default for Reprompt {
    fn default() -> Self {
        Reprompt { limit: 1, sent_back: HashMap::new(), trace: Trace::default() }
    }
}

impl Reprompt {
    /// Allows each call to be sent back at most `limit` times. The default is once.
    ///
    /// ```
    /// assert!(toolmend::Reprompt::new(2).is_ok());
    /// ```
    ///
    /// # Errors
    /// If the limit is over 5.
    pub fn new(limit: u8) -> Result<Self, RepromptError> {
        if limit > MAX_LIMIT {
            return Err(RepromptError { requested: limit });
        }
        Ok(Reprompt { limit, ..Reprompt::default() })
    }

    /// Reports each malformed call as the event `tool.call_repaired`, with the target `tool_repair` and the fields `tool`,
    /// `call_id`, `model` and `outcome`.
    ///
    /// ```
    /// let mut reprompt = toolmend::Reprompt::default().trace("some-model");
    /// reprompt.label("1", &toolmend::fix("[1,]"));
    /// ```
    #[cfg(feature = "tracing")]
    #[must_use]
    pub fn trace(self, model: &str) -> Self {
        Reprompt { trace: Trace::of_model(model), ..self }
    }

    /// Returns what to do after this verdict on the call, or `None` if it is clean.
    ///
    /// ```
    /// use toolmend::{Recovery, Reprompt};
    /// let mut reprompt = Reprompt::default();
    /// assert_eq!(reprompt.label("1", &toolmend::fix("[1,]")), Some(Recovery::LocalSalvage));
    /// ```
    pub fn label(&mut self, call: &str, verdict: &Verdict<'_>) -> Option<Recovery> {
        let recovery = match verdict.outcome() {
            Outcome::Clean => return None,
            Outcome::Mended => Recovery::LocalSalvage,
            Outcome::Truncated | Outcome::Rejected => self.send_back(call),
        };
        self.trace.report_recovery(call, verdict, recovery.name());
        Some(recovery)
    }

    fn send_back(&mut self, call: &str) -> Recovery {
        let count = self.sent_back.get(call).copied().unwrap_or(0);
        if count >= self.limit {
            return Recovery::GaveUp;
        }
        self.sent_back.insert(call.to_owned(), count + 1);
        Recovery::Reprompt
    }

    /// Returns how often this call was sent back.
    ///
    /// ```
    /// let mut reprompt = toolmend::Reprompt::default();
    /// reprompt.label("1", &toolmend::fix("no JSON"));
    /// assert_eq!(reprompt.count("1"), 1);
    /// ```
    pub fn count(&self, call: &str) -> u8 {
        self.sent_back.get(call).copied().unwrap_or(0)
    }

    /// Forgets a call that is finished.
    ///
    /// ```
    /// let mut reprompt = toolmend::Reprompt::default();
    /// reprompt.label("1", &toolmend::fix("no JSON"));
    /// reprompt.forget("1");
    /// assert_eq!(reprompt.count("1"), 0);
    /// ```
    pub fn forget(&mut self, call: &str) {
        self.sent_back.remove(call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mender::Mender;
    use serde_json::json;

    #[test]
    fn every_call_has_its_own_count_and_reaches_its_limit() {
        let mender = Mender::new(&json!(["a"])).unwrap();
        let (failed, salvaged) = (mender.mend("x", "{}"), mender.mend("A", "{}"));
        for most in 0..=5 {
            let mut reprompt = Reprompt::new(most).unwrap();
            let mut back = 0;
            for _ in 0..20 {
                // A success in between does not start the count again.
                assert_eq!(reprompt.label("1", &salvaged), Some(Recovery::LocalSalvage));
                back += u8::from(reprompt.label("1", &failed) == Some(Recovery::Reprompt));
            }
            assert_eq!(back, most);
            assert_eq!(reprompt.count("1"), most);
            let first = if most == 0 { Recovery::GaveUp } else { Recovery::Reprompt };
            assert_eq!(reprompt.label("2", &failed), Some(first));
        }
        assert_eq!(Reprompt::new(6).map(|_| ()), Err(RepromptError { requested: 6 }));
    }
}
