//! Counts of all calls since the start, for the summary at the end.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use toolmend::Outcome;

use super::call_event::CallEvent;

/// Counts of calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallCounts {
    outcomes: [u64; Outcome::ALL.len()],
    kinds: BTreeMap<&'static str, u64>,
}

impl CallCounts {
    /// Returns the number of judged calls.
    pub fn calls(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    /// Returns how many calls had an outcome.
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        self.outcomes.get(outcome as usize).copied().unwrap_or(0)
    }

    /// Returns how many calls do not run.
    pub fn refused(&self) -> u64 {
        Outcome::ALL.iter().filter(|outcome| !outcome.runs()).map(|outcome| self.outcome(*outcome)).sum()
    }

    /// Returns how often each kind of repair was made, by its name.
    pub fn kinds(&self) -> &BTreeMap<&'static str, u64> {
        &self.kinds
    }
}

/// The counts of a gateway that runs.
#[derive(Debug, Default)]
pub(crate) struct SharedCounts(Mutex<CallCounts>);

impl SharedCounts {
    pub(crate) fn add(&self, event: &CallEvent<'_>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.outcomes.get_mut(event.outcome as usize) {
            *count += 1;
        }
        for kind in event.kinds() {
            *counts.kinds.entry(kind).or_default() += 1;
        }
    }

    pub(crate) fn add_answer_fix(&self, kind: &'static str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.kinds.entry(kind).or_default() += 1;
    }

    pub(crate) fn snapshot(&self) -> CallCounts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
