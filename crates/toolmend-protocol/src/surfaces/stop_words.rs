//! The words in which a protocol says why a turn ended.

use crate::turn::StopReason;

/// The words of one protocol.
pub(super) struct StopWords {
    pub(super) end: &'static str,
    pub(super) calls: &'static str,
    pub(super) length: &'static str,
}

impl StopWords {
    /// Returns the word for a stop reason. `raw` is the server's own word, which stays if the reason has no other.
    pub(super) fn choose<'w>(&self, stop: StopReason, raw: Option<&'w str>) -> &'w str {
        match stop {
            StopReason::End => self.end,
            StopReason::Calls => self.calls,
            StopReason::Length => self.length,
            StopReason::Other => raw.unwrap_or(self.end),
        }
    }
}
