//! What was mended in one response, for its header, its last comment, the logs and the metrics.

use std::borrow::Cow;
use std::collections::BTreeSet;

use toolmend::{Outcome, RepairKind, Verdict};

use crate::observe::journal::{CALL_IN_TEXT, WIRE_FORM};

/// What was mended in one response.
#[derive(Debug, Default, Clone)]
pub(crate) struct ResponseReport {
    /// The worst outcome of its calls.
    pub(crate) outcome: Option<Outcome>,
    /// The repairs of its calls.
    pub(crate) kinds: BTreeSet<RepairKind>,
    /// How many calls were found in text.
    pub(crate) leaked_calls: usize,
    /// Whether the form of calls or frames was corrected although their arguments were fine.
    pub(crate) form_fixed: bool,
    /// The calls that do not run.
    pub(crate) refused: Vec<RefusedCall>,
    /// Why the turn has to end with an error: a call was refused after its start was sent.
    pub(crate) fatal_error: Option<String>,
    /// How often the server was asked again.
    pub(crate) reprompts: u8,
    /// Notes for tool results, by the id of the call.
    pub(crate) notes: Vec<(String, Vec<String>)>,
}

/// A call that does not run.
#[derive(Debug, Clone)]
pub(crate) struct RefusedCall {
    /// What the model wrote.
    pub(crate) raw: String,
    /// What is wrong with it and what to do next.
    pub(crate) feedback: String,
}

impl ResponseReport {
    /// Adds the verdict on one call.
    pub(crate) fn add_verdict(&mut self, verdict: &Verdict<'_>, outcome: Outcome) {
        self.outcome = self.outcome.max(Some(outcome));
        self.kinds.extend(verdict.repairs().iter().map(|repair| repair.kind));
    }

    /// Whether nothing was changed.
    pub(crate) fn is_clean(&self) -> bool {
        self.outcome.unwrap_or(Outcome::Clean) == Outcome::Clean && !self.form_fixed && self.leaked_calls == 0
    }

    /// Returns the value of the `x-toolmend` header.
    pub(crate) fn summary(&self) -> Cow<'static, str> {
        if self.is_clean() && self.kinds.is_empty() && self.reprompts == 0 {
            return Cow::Borrowed(Outcome::Clean.name());
        }
        let mut outcome = self.outcome.unwrap_or(Outcome::Clean);
        if outcome == Outcome::Clean && !self.is_clean() {
            outcome = Outcome::Mended;
        }
        let fixes = [(self.leaked_calls > 0, CALL_IN_TEXT), (self.form_fixed, WIRE_FORM)];
        let fixes = fixes.into_iter().filter(|(applied, _)| *applied).map(|(_, name)| name);
        let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).chain(fixes).collect();
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
