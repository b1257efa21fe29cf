//! What was removed from the text, and is in no call and in no frame.
//!
//! The frames of calls, of reasoning and of messages are the notation of the model. A marker without its partner, a special
//! token in the text and a made-up result are not: whoever removes them says so, and the turn is not clean.

use std::ops::Range;

use super::Stream;
use crate::repair::{Repair, RepairKind};
use crate::turn::Event;

/// More positions than this are listed as one.
const MAX_LISTED: usize = 32;

impl Stream {
    /// Notes that bytes of the buffer leave the text.
    // Case: dialects/hostile/lone-closer
    pub(super) fn note_removed(&mut self, at: Range<usize>) {
        let at = at.start + self.offset..at.end + self.offset;
        match self.removed.last_mut() {
            _ if at.is_empty() => {}
            Some(last) if last.end == at.start => last.end = at.end,
            _ => self.removed.push(at),
        }
    }

    /// Reports what was removed.
    pub(super) fn report_removed(&mut self) {
        let mut removed = std::mem::take(&mut self.removed);
        if removed.len() > MAX_LISTED {
            let end = removed.last().map_or(0, |last| last.end);
            removed.truncate(1);
            removed[0].end = end;
        }
        let repairs =
            removed.into_iter().map(|at| Repair::new(RepairKind::MarkupRemoved, String::new(), Some(at)));
        self.events.extend(repairs.map(Event::Removed));
    }
}
