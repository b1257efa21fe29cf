//! An answer in neutral terms, for translation between protocols.

use crate::json::ValueRef;
use crate::turn::ReadyCall;

/// One part of a model's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerPart {
    /// Text for the user.
    Text(String),
    /// The model's reasoning.
    Reasoning(String),
    /// A call.
    Call(ReadyCall),
}

/// Why an answer ended. Finer than [`StopReason`](crate::StopReason), because a translation has to name the reason in
/// the client's words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AnswerEnd {
    /// The model was finished.
    #[default]
    Done,
    /// The model wrote a text at which the client wanted it to stop. Not every server says which one.
    StopText(Option<String>),
    /// The model wants its calls to be run.
    Calls,
    /// The token limit truncated the answer.
    Length,
    /// A content filter of the server intervened.
    Filtered,
}

impl AnswerEnd {
    /// Returns the end that fits an answer with or without calls. An answer with calls ends for their sake, whatever the
    /// server says. An answer that announces calls and has none keeps its end: clients notice that, and ask again.
    #[must_use]
    pub fn with_calls(self, has_calls: bool) -> AnswerEnd {
        match self {
            AnswerEnd::Done | AnswerEnd::StopText(_) if has_calls => AnswerEnd::Calls,
            other => other,
        }
    }
}

/// Token counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// All input tokens, including cached ones.
    pub input: u64,
    /// Input tokens that were read from a cache.
    pub cached: u64,
    /// Input tokens that were written to a cache.
    pub stored: u64,
    /// All output tokens.
    pub output: u64,
    /// Output tokens that were reasoning.
    pub reasoning: u64,
}

/// What an answer says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnswerMeta {
    /// Its id, in the client's form.
    pub id: String,
    /// The model.
    pub model: String,
    /// Seconds since 1970.
    pub created: u64,
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// What it says about itself.
    pub meta: AnswerMeta,
    /// Its parts, in order.
    pub parts: Vec<AnswerPart>,
    /// Why it ended.
    pub end: AnswerEnd,
    /// Its token counts.
    pub usage: Usage,
}

impl Answer {
    /// Returns all text, joined.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                AnswerPart::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Returns all reasoning, joined.
    pub fn reasoning(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                AnswerPart::Reasoning(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Returns the calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ReadyCall> {
        self.parts.iter().filter_map(|part| match part {
            AnswerPart::Call(call) => Some(call),
            _ => None,
        })
    }
}

/// What a frame of a stream carries beside text, reasoning and function calls.
#[derive(Debug, Default)]
pub struct FrameExtras {
    /// The model, if the frame names it.
    pub model: Option<String>,
    /// The end of the answer, if the frame carries it.
    pub end: Option<AnswerEnd>,
    /// Parts that the decoder does not find.
    pub parts: Vec<AnswerPart>,
    /// Whether `parts` already holds everything that the decoder finds in the frame.
    pub replaces_parts: bool,
}

/// Returns the number of a member, 0 if there is none.
pub(crate) fn read_count(of: Option<ValueRef<'_>>, name: &str) -> u64 {
    of.and_then(|of| of.get(name)).and_then(ValueRef::number).unwrap_or(0)
}

#[test]
fn an_answer_without_the_calls_that_it_announces_keeps_its_end() {
    assert_eq!(AnswerEnd::Calls.with_calls(false), AnswerEnd::Calls);
    assert_eq!(AnswerEnd::Done.with_calls(true), AnswerEnd::Calls);
}
