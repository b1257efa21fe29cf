//! Tolerant JSON: text to a strict value under a guide.

mod command_line;
mod contested_reading;
mod document;
mod encoding;
mod grammar;
mod inner_quotes;
mod lookahead;
mod near_strict;
pub(crate) mod number;
mod reader;
mod reading;
mod rival_reading;
mod string_end;
mod string_escapes;
mod surrounding_text;
mod token;
mod unbracketed;
mod unquoted_value;

use crate::patch::Patch;
use crate::policy::Policy;
use crate::schema::guide::Guide;
use crate::verdict::{Reason, Refusal};

/// How the model's output ended, as far as the caller knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Finish {
    /// Nothing is known.
    #[default]
    Unknown,
    /// The model stopped by itself.
    Stop,
    /// The token limit cut it off.
    Length,
}

impl Finish {
    /// The meaning of a finish reason as servers write it: only `length` and `max_tokens` mean a cut.
    pub fn from_reason(reason: &str) -> Self {
        match reason {
            "length" | "max_tokens" => Finish::Length,
            "stop" | "tool_calls" | "tool_use" | "end_turn" | "function_call" => Finish::Stop,
            _ => Finish::Unknown,
        }
    }
}

/// What the reader knows beside the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadContext<'a> {
    pub(crate) guide: &'a Guide,
    pub(crate) policy: &'a Policy,
    pub(crate) finish: Finish,
    /// The tool that the text is meant for: text that is no JSON at all may then be its arguments.
    pub(crate) tool: Option<&'a str>,
    /// The field that a plain value goes to, where the tool declares one.
    pub(crate) main_field: Option<&'a str>,
}

/// A strict text and the patches that made it, first to last.
#[derive(Debug, Clone)]
pub(crate) struct MendedText {
    pub(crate) text: String,
    pub(crate) layers: Vec<Patch>,
}

/// What the reader made of a text that is not strict.
#[derive(Debug)]
pub(crate) enum Reading {
    /// One value.
    One(MendedText),
    /// Several different values, in order.
    Several(Vec<MendedText>),
    /// The text stops before its value ends.
    Cut(Refusal),
    /// No reading, or more than one.
    Refused(Refusal),
}

/// Reads a text that failed the strict check.
pub(crate) fn read(text: &str, context: &ReadContext<'_>) -> Reading {
    if !context.policy.repairs() {
        return Reading::Refused(Refusal {
            reason: Some(Reason::Syntax),
            message: "the text is not valid JSON, and the policy repairs nothing".to_owned(),
            ..Refusal::default()
        });
    }
    document::read(text, context)
}
