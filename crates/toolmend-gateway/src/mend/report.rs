//! What was mended in one response, for its header, its last comment, the logs and the metrics.

use std::borrow::Cow;
use std::collections::BTreeSet;

use toolmend::{Outcome, Recovery, RepairKind};

use super::notes::Note;
use crate::http::headers::UNREAD;
use crate::observe::{CallEvent, WIRE_FORM};

/// What was mended in one response.
#[derive(Debug, Default, Clone)]
pub(crate) struct ResponseReport {
    /// The worst outcome of its calls.
    pub(crate) outcome: Option<Outcome>,
    /// The repairs of its calls.
    pub(crate) kinds: BTreeSet<RepairKind>,
    /// What else was corrected: in the form of calls and frames, and in text.
    pub(crate) fixes: BTreeSet<&'static str>,
    /// Those of the fixes that were reported with a call.
    reported_fixes: BTreeSet<&'static str>,
    /// Whether a part of the response could not be read.
    pub(crate) is_unread: bool,
    /// The calls of the turn, in order.
    pub(crate) calls: Vec<JudgedCall>,
    /// Why the turn has to end with an error: a call was refused after its start was sent.
    pub(crate) fatal_error: Option<String>,
    /// How often the server was asked again.
    pub(crate) reprompts: u8,
    /// How often that gave no answer.
    pub(crate) failed_reprompts: u8,
    /// Notes for tool results.
    pub(crate) notes: Vec<Note>,
}

/// A call of the turn, as the model is shown it if it is asked again.
#[derive(Debug, Clone)]
pub(crate) struct JudgedCall {
    pub(crate) id: String,
    /// The tool that it means.
    pub(crate) tool: String,
    /// What the model wrote: the arguments, or the whole call if it was in text.
    pub(crate) written: String,
    /// Whether the whole call was in text.
    pub(crate) is_text: bool,
    /// Why it does not run. `None` if it runs.
    pub(crate) refusal: Option<CallRefusal>,
}

/// Why a call does not run, and what is done about it.
#[derive(Debug, Clone)]
pub(crate) struct CallRefusal {
    /// What is wrong with it and what to do next.
    pub(crate) feedback: String,
    /// How it is handled if the server is not asked again.
    pub(crate) recovery: Recovery,
    /// Whether that was logged.
    pub(crate) is_logged: bool,
}

impl ResponseReport {
    /// Adds what was reported about one call.
    pub(crate) fn add_event(&mut self, event: &CallEvent<'_>) {
        self.outcome = self.outcome.max(Some(event.outcome));
        self.kinds.extend(event.repairs.iter().map(|repair| repair.kind));
        self.fixes.extend(event.delivery_fix);
        self.reported_fixes.extend(event.delivery_fix);
    }

    /// Continues the count of an earlier generation for the same request.
    pub(crate) fn continue_from(&mut self, earlier: &ResponseReport) {
        self.reprompts = earlier.reprompts;
        self.failed_reprompts = earlier.failed_reprompts;
    }

    /// Records that the form of calls or frames was corrected, if it was.
    pub(crate) fn fix_form(&mut self, is_fixed: bool) {
        self.fixes.extend(is_fixed.then_some(WIRE_FORM));
    }

    /// Returns the fixes that were not reported with a call, and takes them for reported.
    pub(crate) fn take_unreported_fixes(&mut self) -> Vec<&'static str> {
        let unreported = self.fixes.difference(&self.reported_fixes).copied().collect();
        self.reported_fixes.clone_from(&self.fixes);
        unreported
    }

    /// Returns the calls that do not run, with the reason.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (&JudgedCall, &CallRefusal)> {
        self.calls.iter().filter_map(|call| Some((call, call.refusal.as_ref()?)))
    }

    /// Returns the calls that do not run and were not logged, and takes them for logged.
    pub(crate) fn take_unlogged(&mut self) -> impl Iterator<Item = (&JudgedCall, Recovery)> {
        self.calls.iter_mut().filter_map(|call| {
            let refusal = call.refusal.as_mut()?;
            let recovery = (!std::mem::replace(&mut refusal.is_logged, true)).then_some(refusal.recovery)?;
            Some((&*call, recovery))
        })
    }

    /// Whether a call does not run.
    pub(crate) fn has_refused(&self) -> bool {
        self.refused().next().is_some()
    }

    /// Records how the last call was handled after all.
    pub(crate) fn set_last_recovery(&mut self, recovery: Recovery) {
        if let Some(refusal) = self.calls.last_mut().and_then(|call| call.refusal.as_mut()) {
            refusal.recovery = recovery;
        }
    }

    /// Whether everything was read and nothing was changed.
    pub(crate) fn is_clean(&self) -> bool {
        self.outcome.unwrap_or(Outcome::Clean) == Outcome::Clean && self.fixes.is_empty() && !self.is_unread
    }

    /// Returns the value of the `x-toolmend` header.
    pub(crate) fn summary(&self) -> Cow<'static, str> {
        if self.is_clean() && self.reprompts == 0 {
            return Cow::Borrowed(Outcome::Clean.name());
        }
        let mut outcome = self.outcome.unwrap_or(Outcome::Clean);
        if outcome == Outcome::Clean && !self.fixes.is_empty() {
            outcome = Outcome::Mended;
        }
        let mut out = outcome.name().to_owned();
        if self.is_unread {
            out = if outcome == Outcome::Clean { UNREAD.to_owned() } else { format!("{out}; {UNREAD}") };
        }
        let kinds: Vec<&str> =
            self.kinds.iter().map(|kind| kind.name()).chain(self.fixes.iter().copied()).collect();
        if !kinds.is_empty() {
            out.push_str("; kinds=");
            out.push_str(&kinds.join(","));
        }
        for (name, count) in [("reprompts", self.reprompts), ("failed_reprompts", self.failed_reprompts)] {
            if count > 0 {
                out.push_str("; ");
                out.push_str(name);
                out.push('=');
                out.push_str(&count.to_string());
            }
        }
        Cow::Owned(out)
    }
}
