//! Whole answers whose text, reasoning and calls are members of one object.

use crate::adapter::TurnMender;
use crate::turn::{MendedItem, OutgoingPart, Part, ReadyCall, StopReason};

/// The members of an answer, as the parts that are mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Reasoning,
    Text,
    /// The call at this position.
    Call(usize),
    Stop,
}

/// The members of an answer, as they arrived.
pub(super) struct ReceivedMessage<'d> {
    pub(super) reasoning: &'d str,
    pub(super) text: &'d str,
    /// One part for each call.
    pub(super) calls: Vec<Part>,
    /// Missing if the answer does not say why it ended.
    pub(super) stop: Option<StopReason>,
}

/// A call of the mended answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MendedCall {
    /// The call at this position, as it arrived.
    Unchanged(usize),
    /// A call to write.
    Written(ReadyCall),
}

/// The members of the mended answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MendedMessage {
    /// Whether anything differs from what arrived.
    pub(super) changed: bool,
    /// The new text, if it differs.
    pub(super) text: Option<String>,
    /// The new reasoning, if it differs.
    pub(super) reasoning: Option<String>,
    pub(super) calls: Vec<MendedCall>,
    /// The new stop reason, if it differs.
    pub(super) stop: Option<StopReason>,
}

impl ReceivedMessage<'_> {
    /// Mends the message.
    pub(super) fn mend(self, mender: &mut dyn TurnMender) -> MendedMessage {
        let mut members = Vec::with_capacity(self.calls.len() + 3);
        let mut parts = Vec::with_capacity(self.calls.len() + 3);
        if !self.reasoning.is_empty() {
            members.push(Member::Reasoning);
            parts.push(Part::Reasoning(self.reasoning.to_owned()));
        }
        members.push(Member::Text);
        parts.push(Part::Text(self.text.to_owned()));
        for (at, part) in self.calls.into_iter().enumerate() {
            members.push(Member::Call(at));
            parts.push(part);
        }
        if let Some(stop) = self.stop {
            members.push(Member::Stop);
            parts.push(Part::Stop(stop));
        }
        let mut message = MendedMessage::default();
        let (mut text, mut reasoning) = (String::new(), String::new());
        for item in mender.mend_parts(parts) {
            match item {
                MendedItem::Unchanged(at) => match members[at] {
                    Member::Text => text.push_str(self.text),
                    Member::Reasoning => reasoning.push_str(self.reasoning),
                    Member::Call(at) => message.calls.push(MendedCall::Unchanged(at)),
                    Member::Stop => {}
                },
                MendedItem::Rewritten(_, parts) => {
                    message.changed = true;
                    for part in parts {
                        match part {
                            OutgoingPart::Text(more) => text.push_str(&more),
                            OutgoingPart::Reasoning(more) => reasoning.push_str(&more),
                            OutgoingPart::Call(call) | OutgoingPart::CallEnd(call, _) => {
                                message.calls.push(MendedCall::Written(call));
                            }
                            // Whole answers have no pieces of calls.
                            OutgoingPart::CallStart(_) | OutgoingPart::CallArguments(_) => {}
                            OutgoingPart::Stop(stop) => message.stop = Some(stop),
                        }
                    }
                }
            }
        }
        message.text = (text != self.text).then_some(text);
        message.reasoning = (reasoning != self.reasoning).then_some(reasoning);
        message
    }
}
