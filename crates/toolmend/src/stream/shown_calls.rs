//! Calls that are shown and then made: one call, written twice.
//!
//! Models put a call into a fence for the reader, and then make it with their own marker. Both are the same call, and
//! an edit that runs twice is wrong. Two equal calls of the same source are two calls.
// Case: dialects/hostile/shown-and-made

use crate::turn::{Call, Source};

/// Calls without a marker that were reported, with their arguments on one line.
#[derive(Debug, Default)]
pub(super) struct ShownCalls(Vec<(String, String)>);

/// At most this many are remembered.
const MOST: usize = 32;

impl ShownCalls {
    /// Whether no call was shown yet.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this call was shown before. Remembers a call without a marker.
    pub(super) fn repeats(&mut self, call: &Call) -> bool {
        // Arguments can be large, so they are compacted only if there is something to compare or to remember.
        let arguments = || call.verdict.compact_json();
        match call.source {
            Source::Explicit if !self.0.iter().any(|(name, _)| *name == call.name) => false,
            Source::Explicit => arguments()
                .and_then(|arguments| {
                    self.0.iter().position(|(name, before)| *name == call.name && *before == arguments)
                })
                .map(|index| self.0.remove(index))
                .is_some(),
            Source::Inferred => {
                if let Some(arguments) = arguments().filter(|_| self.0.len() < MOST) {
                    self.0.push((call.name.clone(), arguments));
                }
                false
            }
        }
    }
}
