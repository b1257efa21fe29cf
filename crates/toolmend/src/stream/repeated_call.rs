//! The same call twice with the markers of one.
//!
//! Models that stutter open a call again before they close it, or repeat its body after its closing marker. Two calls with
//! their own markers are two calls. The repetition of one is reported, and does not run.
// Case: dialects/lfm2/echoed-body
// Case: dialects/hermes_json/opened-again-with-the-same-call

use super::{CallContext, Stream};
use crate::dialect::block::Block;
use crate::turn::Call;
use crate::verdict::Reason;

/// The last call after a marker.
#[derive(Debug, Clone)]
pub(super) struct LastCall {
    name: String,
    arguments: String,
    end: CallEnd,
}

/// How the last call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallEnd {
    /// It needs no marker after it.
    Itself,
    /// Its closing marker did not come yet.
    Open,
    /// Its closing marker came.
    Closed,
}

impl Stream {
    /// Refuses the first of these calls, which begin at `at`, if it only repeats the last one. Returns whether it does.
    pub(super) fn refuse_repetition(&self, at: usize, made: &mut [Call]) -> bool {
        let Some(first) = made.first_mut() else { return false };
        // Text between them may be in the buffer or not.
        if !self.buffer[..at].trim().is_empty() || !self.repeats_last_call(first) {
            return false;
        }
        let why = "it repeats the call before it, and only one of them has its markers";
        first.verdict =
            self.mender.refused_verdict(&first.name, &first.raw, Reason::Ambiguous, why).into_owned();
        true
    }

    fn repeats_last_call(&self, call: &Call) -> bool {
        let has_opener = matches!(&self.context, CallContext::Framed(frames, _) if frames.markers.is_empty());
        let repeating = if has_opener { CallEnd::Open } else { CallEnd::Closed };
        self.last_call.as_ref().is_some_and(|last| {
            last.end == repeating
                && last.name == call.name
                && call.arguments() == Some(last.arguments.as_str())
        })
    }

    /// What is remembered of the last of these calls.
    pub(super) fn last_call_of(&self, block: &Block, made: &[Call]) -> Option<LastCall> {
        let is_open = block.calls.last().is_some_and(|call| self.lacks_closer(block, call));
        let end = if is_open { CallEnd::Open } else { CallEnd::Itself };
        let call = made.last()?;
        let arguments = call.arguments()?.to_owned();
        Some(LastCall { name: call.name.clone(), arguments, end })
    }

    /// Notes that a marker closed the last call.
    pub(super) fn note_closed_call(&mut self) {
        if let Some(last) = &mut self.last_call {
            last.end = CallEnd::Closed;
        }
    }
}
