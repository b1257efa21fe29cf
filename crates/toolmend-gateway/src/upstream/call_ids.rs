//! The ids of calls that a server accepts.
//!
//! Ids belong to whoever wrote them, so they stay as they are until a server rejects them: some models depend on the form of
//! their own ids. What a server accepts is learned from its errors, once for each of its models.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use toolmend_protocol::short_id;

/// For how many models the form is remembered.
const MAX_MODELS: usize = 1000;
/// Models that continue from their own ids. Another id makes their next call worse.
const OWN_ID_MODELS: &str = "kimi";

/// How errors name the ids of calls.
const SUBJECTS: [&str; 7] =
    ["tool call id", "tool_call_id", "tool_use.id", "tool_use_id", "tooluseid", "call_id", "].id"];

/// The ids that a server accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdForm {
    /// Nine letters and digits.
    Nine,
    /// Letters, digits, `_` and `-`, up to a length.
    Words(usize),
}

impl IdForm {
    /// Returns the form that an error message of a server asks for. `None` if it is about something else.
    pub(crate) fn from_error(message: &str) -> Option<IdForm> {
        let message = message.to_ascii_lowercase();
        if !SUBJECTS.iter().any(|subject| message.contains(subject)) {
            return None;
        }
        if message.contains("length of 9") || message.contains("length 9") {
            return Some(IdForm::Nine);
        }
        if let Some((_, rest)) = message.split_once("maximum length ") {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            return digits.parse().ok().filter(|length| *length >= 9).map(IdForm::Words);
        }
        message.contains("a-z0-9_-").then_some(IdForm::Words(64))
    }

    /// Returns an id that is accepted in place of this one. `None` if it is accepted itself.
    pub(crate) fn replace(self, id: &str) -> Option<String> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_accepted = match self {
            IdForm::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            IdForm::Words(length) => id.len() <= length && id.bytes().all(is_word),
        };
        (!is_accepted).then(|| short_id(id))
    }
}

/// What was learned about the ids that a server accepts.
#[derive(Debug, Default)]
pub(crate) struct KnownIdForms(Mutex<HashMap<Box<str>, IdForm>>);

impl KnownIdForms {
    /// Returns what is known about a model.
    pub(crate) fn get(&self, model: &str) -> Option<IdForm> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(model).copied()
    }

    /// Learns from an error. Returns the form if it is new.
    pub(crate) fn learn(&self, model: &str, message: &str) -> Option<IdForm> {
        if model.to_ascii_lowercase().contains(OWN_ID_MODELS) {
            return None;
        }
        let form = IdForm::from_error(message)?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_MODELS {
            known.clear();
        }
        (known.insert(model.into(), form) != Some(form)).then_some(form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_which_ids_are_accepted() {
        for (message, expected) in [
            ("Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", Some(IdForm::Nine)),
            ("Tool call IDs should be alphanumeric strings with length 9!", Some(IdForm::Nine)),
            (
                "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
                Some(IdForm::Words(64)),
            ),
            (
                "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got 53",
                Some(IdForm::Words(40)),
            ),
            ("No tool output found for function call call_id abc", None),
            ("the prompt is too long", None),
        ] {
            assert_eq!(IdForm::from_error(message), expected, "{message}");
        }
    }

    #[test]
    fn ids_are_replaced_the_same_way_every_time() {
        assert_eq!(IdForm::Words(64).replace("call_1"), None);
        assert_eq!(IdForm::Words(64).replace("functions.f:0"), Some(short_id("functions.f:0")));
        assert_eq!(IdForm::Words(9).replace("call_1_and_more"), Some(short_id("call_1_and_more")));
        assert_eq!(IdForm::Nine.replace("abcdef123"), None);
        assert_eq!(IdForm::Nine.replace("call_1").map(|id| id.len()), Some(9));
        let known = KnownIdForms::default();
        assert_eq!(known.learn("moonshotai/Kimi-K2", "tool call id must have length 9"), None);
        assert_eq!(known.learn("m", "tool call id must have length 9"), Some(IdForm::Nine));
        assert_eq!(known.learn("m", "tool call id must have length 9"), None);
        assert_eq!((known.get("m"), known.get("n")), (Some(IdForm::Nine), None));
    }
}
