//! How often a failed call may be sent back to the model before one gives up.

use std::collections::HashMap;
use std::fmt;

use crate::verdict::{Outcome, Verdict};

/// The most times that one call may be sent back.
const MOST: u8 = 5;

/// What became of a call that was not clean, as a label for events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Recovery {
    /// It was mended here.
    LocalSalvage,
    /// It goes back to the model with the verdict's feedback.
    Reprompt,
    /// It failed more often than allowed.
    GaveUp,
}

impl Recovery {
    /// The label.
    pub const fn name(self) -> &'static str {
        match self {
            Recovery::LocalSalvage => "local-salvage",
            Recovery::Reprompt => "re-prompt",
            Recovery::GaveUp => "gave-up",
        }
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A number of re-prompts outside of 0 to 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepromptError {
    /// The number that was asked for.
    pub asked: u8,
}

impl fmt::Display for RepromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected at most {MOST} re-prompts for a call, found {}; use a number from 0 to {MOST}",
            self.asked
        )
    }
}

impl std::error::Error for RepromptError {}

/// Counts how often each call was sent back. One belongs to one conversation and goes with it.
///
/// The count of a call only grows, so no sequence of verdicts can go on for ever. The identifier is the caller's:
/// the same for a call and for the model's next try at it.
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
    most: u8,
    sent_back: HashMap<String, u8>,
}

impl Default for Reprompt {
    fn default() -> Self {
        Reprompt { most: 1, sent_back: HashMap::new() }
    }
}

impl Reprompt {
    /// Sends each call back at most so often.
    ///
    /// # Errors
    /// Where the number is over 5.
    pub fn new(most: u8) -> Result<Self, RepromptError> {
        if most > MOST {
            return Err(RepromptError { asked: most });
        }
        Ok(Reprompt { most, ..Reprompt::default() })
    }

    /// What to do with this verdict on the call. Nothing for one that is clean.
    pub fn label(&mut self, call: &str, verdict: &Verdict<'_>) -> Option<Recovery> {
        match verdict.outcome() {
            Outcome::Clean => None,
            Outcome::Mended => Some(Recovery::LocalSalvage),
            Outcome::Truncated | Outcome::Rejected => Some(self.send_back(call)),
        }
    }

    fn send_back(&mut self, call: &str) -> Recovery {
        let count = self.sent_back.get(call).copied().unwrap_or(0);
        if count >= self.most {
            return Recovery::GaveUp;
        }
        self.sent_back.insert(call.to_owned(), count + 1);
        Recovery::Reprompt
    }

    /// How often this call was sent back.
    pub fn count(&self, call: &str) -> u8 {
        self.sent_back.get(call).copied().unwrap_or(0)
    }

    /// Forgets a call that is over.
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
    fn every_call_has_its_own_count_and_none_goes_on_for_ever() {
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
        assert_eq!(Reprompt::new(6).map(|_| ()), Err(RepromptError { asked: 6 }));
    }
}
