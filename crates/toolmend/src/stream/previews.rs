//! Previews of calls: events with the arguments so far, at every depth, for user interfaces.
//!
//! Unlike live delivery, a preview promises nothing about the call: it may be refused, and a repair may change it. So it is an event of its
//! own, off by default. What it costs stays linear: text is read once, and a long preview is sent again only after it has grown by a part
//! of its length.

use super::Stream;
use super::live_arguments::certain_length;
use crate::dialect::raw_call::{Field, RawArguments, RawCall, RawValue};
use crate::dialect::token::TextKind;
use crate::dialect::untyped_values;
use crate::json::text;
use crate::preview::Preview;
use crate::schema::guide::Guide;
use crate::turn::Event;

/// Up to this length a preview is sent whenever it grows, beyond it after every part of its length.
const SHORT: usize = 4096;
const PART: usize = 32;

/// What a stream shows of the call that is being written.
#[derive(Debug, Clone, Default)]
pub(super) struct Previews {
    is_on: bool,
    call: Option<ShownCall>,
}

/// The call, and what was last sent of it.
#[derive(Debug, Clone)]
struct ShownCall {
    index: usize,
    name: String,
    arguments: ShownArguments,
    /// How long the preview was that was sent, without its closing brackets.
    sent: usize,
}

#[derive(Debug, Clone)]
enum ShownArguments {
    /// One text, which begins at `start`; the text before `read` is known. Both are positions in the output.
    Text { start: usize, read: usize, preview: Preview },
    /// Fields with markup of their own: those that are complete, and where the value of the next one begins.
    Fields { complete: String, open: Option<usize> },
}

impl Previews {
    pub(super) fn new(is_on: bool) -> Self {
        Previews { is_on, call: None }
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }
}

impl Stream {
    /// Notes which call is at this position, so that the next event can show it.
    pub(super) fn find_shown_call(&mut self, at: usize) {
        let is_hidden = self.text_kind != TextKind::Content || self.held.is_some();
        if !self.previews.is_on || is_hidden || self.is_lone_word(at) || self.may_be_in_sentence(at) {
            return;
        }
        let Some(block) = self.stable_block_up_to(at, self.buffer.len()) else { return };
        let index = self.calls + block.calls.len().saturating_sub(1);
        let Some(call) = block.calls.last() else { return };
        let Some(arguments) = self.shown_arguments(call) else { return };
        match &mut self.previews.call {
            Some(known) if known.index == index && known.arguments.continues_in(&arguments) => {}
            Some(known) if known.index == index => known.arguments = arguments,
            known => *known = Some(ShownCall { index, name: call.name.clone(), arguments, sent: 0 }),
        }
    }

    /// The arguments of a declared tool, or of any if none is declared.
    fn shown_arguments(&self, call: &RawCall) -> Option<ShownArguments> {
        let tool = self.mender.tool(&call.name);
        if tool.is_none() && !self.mender.tools().is_empty() {
            return None;
        }
        let any = Guide::default();
        let guide = tool.and_then(|tool| tool.schema()).map_or(&any, |schema| schema.guide());
        match &call.arguments {
            RawArguments::Text(range) => {
                let start = self.offset + range.start;
                Some(ShownArguments::Text { start, read: start, preview: Preview::new() })
            }
            RawArguments::Fields(fields) if !fields.iter().any(is_doubtful) => {
                let mut complete = untyped_values::write_object(fields, guide);
                let is_new = |key: &str| fields.iter().all(|field| field.key != key);
                let is_text = |key: &str| super::live_arguments::is_string(guide, key);
                let open = call.open.as_ref().filter(|open| is_new(&open.key) && is_text(&open.key));
                let open = open.map(|open| {
                    complete.pop();
                    complete.push_str(if fields.is_empty() { "" } else { ", " });
                    text::quote_into(&mut complete, &open.key);
                    complete.push_str(": ");
                    let value = &self.buffer[open.at..];
                    let frame = if open.verbatim {
                        0
                    } else {
                        value.len() - value.trim_start_matches(['\r', '\n']).len()
                    };
                    self.offset + open.at + frame.min(2)
                });
                Some(ShownArguments::Fields { complete, open })
            }
            _ => None,
        }
    }

    /// Sends what can be shown now of the call that is being written.
    pub(super) fn send_preview(&mut self) {
        let Some(mut call) = self.previews.call.take() else { return };
        if call.index < self.calls {
            return;
        }
        let Some((json, length)) = self.continue_preview(&mut call.arguments, call.sent) else {
            // The call turned out to be text if its beginning is gone.
            self.previews.call = (call.arguments.start() >= self.offset).then_some(call);
            return;
        };
        call.sent = length;
        self.events.push(Event::Preview { index: call.index, name: call.name.clone(), json });
        self.previews.call = Some(call);
    }

    /// Reads what is new, and returns the arguments so far and their length if they have grown enough since the last event.
    fn continue_preview(&self, arguments: &mut ShownArguments, sent: usize) -> Option<(String, usize)> {
        let least = sent + 1 + if sent < SHORT { 0 } else { sent / PART };
        match arguments {
            ShownArguments::Text { start, read, preview } => {
                start.checked_sub(self.offset)?;
                let new = self.buffer.get(*read - self.offset..)?;
                preview.push(new);
                *read += new.len();
                if preview.len() < least { None } else { preview.json().map(|json| (json, preview.len())) }
            }
            ShownArguments::Fields { complete, open: None } => {
                (complete.len() > least).then(|| (complete.clone(), complete.len() - 1))
            }
            ShownArguments::Fields { complete, open: Some(at) } => {
                let value = self.buffer.get(at.checked_sub(self.offset)?..)?;
                // Without its escapes, so that most pieces need no look at the value.
                if complete.len() + value.len() < least {
                    return None;
                }
                let value = &value[..certain_length(value, self.custom.table())];
                let value = value.trim_end_matches(['\r', '\n']);
                let length = complete.len() + value.len();
                if length < least {
                    return None;
                }
                let mut json = complete.clone();
                text::quote_into(&mut json, value);
                json.push('}');
                Some((json, length))
            }
        }
    }
}

impl ShownArguments {
    /// A position in the output that is in the call.
    fn start(&self) -> usize {
        match self {
            ShownArguments::Text { start, .. } => *start,
            ShownArguments::Fields { open, .. } => open.unwrap_or(usize::MAX),
        }
    }

    /// Whether this is the same text, of which more may have been read.
    fn continues_in(&self, found: &ShownArguments) -> bool {
        matches!((self, found), (ShownArguments::Text { start, .. }, ShownArguments::Text { start: found, .. }) if start == found)
    }
}

fn is_doubtful(field: &Field) -> bool {
    matches!(field.value, RawValue::Doubtful(_))
}
