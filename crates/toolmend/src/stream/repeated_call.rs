//! The same call twice with the markers of one.
//!
//! Models that stutter open a call again before they close it, or repeat its body after its closing marker. Two calls with
//! their own markers are two calls. The repetition of one is reported, and does not run.
// Case: dialects/lfm2/echoed-body
// Case: dialects/hermes_json/opened-again-with-the-same-call
// Case: dialects/qwen3_xml/opened-again-with-the-same-call

use super::{CallContext, Stream};
use crate::dialect::block::Block;
use crate::turn::Call;
use crate::verdict::Reason;

/// The last call after a marker.
#[derive(Debug, Clone)]
pub(super) struct LastCall {
    name: String,
    arguments: String,
    /// The outermost marker before it, if calls after that are always closed.
    opener: Option<String>,
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
    /// Refuses the first of these calls of a block, which begins at `at`, if it only repeats the last one. Returns whether it
    /// does.
    pub(super) fn refuse_repetition(&self, at: usize, block: &Block, made: &mut [Call]) -> bool {
        let Some(first) = made.first_mut() else { return false };
        // Text between them may be in the buffer or not.
        if !self.buffer[..at].trim().is_empty() || !self.repeats_last_call(block, first) {
            return false;
        }
        let why = "it repeats the call before it, and only one of them has its markers";
        first.verdict =
            self.mender.refused_verdict(&first.name, &first.raw, Reason::Ambiguous, why).into_owned();
        true
    }

    fn repeats_last_call(&self, block: &Block, call: &Call) -> bool {
        let has_opener = matches!(&self.context, CallContext::Framed(frames, _) if frames.markers.is_empty());
        let opener = self.closed_opener(block);
        self.last_call.as_ref().is_some_and(|last| {
            let is_opened_again = last.end != CallEnd::Closed && opener.is_some() && last.opener == opener;
            // Arguments after arguments, with one name before both.
            let is_nameless = !call.raw.contains(&call.name);
            let repeats = if has_opener {
                last.end == CallEnd::Open || is_opened_again
            } else {
                last.end == CallEnd::Closed || is_nameless
            };
            repeats && last.name == call.name && call.arguments() == Some(last.arguments.as_str())
        })
    }

    /// What is remembered of the last of these calls.
    pub(super) fn last_call_of(&self, block: &Block, made: &[Call]) -> Option<LastCall> {
        let is_open = block.calls.last().is_some_and(|call| self.lacks_closer(block, call));
        let end = if is_open { CallEnd::Open } else { CallEnd::Itself };
        let call = made.last()?;
        let opener = self.closed_opener(block);
        let arguments = call.arguments()?.to_owned();
        Some(LastCall { name: call.name.clone(), arguments, opener, end })
    }

    /// The outermost marker of these calls, if calls after it are always closed.
    fn closed_opener(&self, block: &Block) -> Option<String> {
        block.frames.markers.first().filter(|mark| self.custom.table().is_closed(mark)).cloned()
    }

    /// Notes that a marker closed the last call.
    pub(super) fn note_closed_call(&mut self) {
        if let Some(last) = &mut self.last_call {
            last.end = CallEnd::Closed;
        }
    }
}
