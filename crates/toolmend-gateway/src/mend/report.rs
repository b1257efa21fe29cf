//! What was done to one response: for its header, its last comment, the logs and the counters.

use std::borrow::Cow;
use std::collections::BTreeSet;

use toolmend::{Outcome, RepairKind, Verdict};

use crate::observe::journal::{CALL_IN_TEXT, WIRE_FORM};

/// What was done to one response.
#[derive(Debug, Default, Clone)]
pub(crate) struct Report {
    /// The worst outcome of its calls.
    pub(crate) outcome: Option<Outcome>,
    /// The repairs of its calls.
    pub(crate) kinds: BTreeSet<RepairKind>,
    /// Calls that were found in text.
    pub(crate) leaked: usize,
    /// Whether calls or frames were put in order though their arguments were fine.
    pub(crate) rewired: bool,
    /// What the model is told about the calls that do not run.
    pub(crate) refused: Vec<Refused>,
    /// Why the turn cannot go on: a call was refused after its beginning was sent.
    pub(crate) stuck: Option<String>,
    /// How often the server was asked again.
    pub(crate) reprompts: u8,
    /// Notes for tool results, by the id of the call.
    pub(crate) notes: Vec<(String, Vec<String>)>,
}

/// A call that does not run.
#[derive(Debug, Clone)]
pub(crate) struct Refused {
    /// As the model wrote it.
    pub(crate) raw: String,
    /// What was wrong and what to do next.
    pub(crate) feedback: String,
}

impl Report {
    /// Adds the verdict on one call.
    pub(crate) fn add(&mut self, verdict: &Verdict<'_>) {
        self.outcome = self.outcome.max(Some(verdict.outcome()));
        self.kinds.extend(verdict.repairs().iter().map(|repair| repair.kind));
    }

    /// Whether anything is not as it came.
    pub(crate) fn is_clean(&self) -> bool {
        self.outcome.unwrap_or(Outcome::Clean) == Outcome::Clean && !self.rewired && self.leaked == 0
    }

    /// The value of the `x-toolmend` header.
    pub(crate) fn summary(&self) -> Cow<'static, str> {
        if self.is_clean() && self.kinds.is_empty() && self.reprompts == 0 {
            return Cow::Borrowed(Outcome::Clean.name());
        }
        let mut outcome = self.outcome.unwrap_or(Outcome::Clean);
        if outcome == Outcome::Clean && !self.is_clean() {
            outcome = Outcome::Mended;
        }
        let wire = [(self.leaked > 0, CALL_IN_TEXT), (self.rewired, WIRE_FORM)];
        let wire = wire.into_iter().filter(|(done, _)| *done).map(|(_, name)| name);
        let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).chain(wire).collect();
        let mut out = outcome.name().to_owned();
        if !kinds.is_empty() {
            out.push_str("; kinds=");
            out.push_str(&kinds.join(","));
        }
        if self.reprompts > 0 {
            out.push_str("; reprompts=");
            out.push_str(&self.reprompts.to_string());
        }
        Cow::Owned(out)
    }
}
