//! Notes about mended calls, which the model reads before the result: which values were filled in.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::message::Message;

/// The most calls that may wait for an answer. The notes of further calls are not kept.
const MAX_CALLS: usize = 1024;

/// The notes about calls that the server has not answered, by the ids of their requests.
#[derive(Debug, Default)]
pub(crate) struct CallNotes {
    open_calls: BTreeMap<String, String>,
}

/// The result of a call, as far as it matters here.
#[derive(Debug, Deserialize)]
struct CallResult<'l> {
    #[serde(borrow)]
    content: &'l RawValue,
}

impl CallNotes {
    /// Remembers the notes about the call with this id.
    pub(crate) fn remember(&mut self, id: &RawValue, notes: &[String]) {
        if !notes.is_empty() && self.open_calls.len() < MAX_CALLS {
            self.open_calls.insert(id.get().to_owned(), notes.join("\n"));
        }
    }

    /// Returns the line of an answer with the notes as the first part of the result, or `None` if there are none. Every other
    /// byte stays as it is.
    pub(crate) fn add_to_answer(&mut self, line: &[u8], message: &Message<'_>) -> Option<Vec<u8>> {
        // The server numbers its own requests, so the same id may be on one of them.
        let result = message.result?;
        let notes = self.open_calls.remove(message.id?.get())?;
        let result: CallResult<'_> = serde_json::from_str(result.get()).ok()?;
        let parts = result.content.get().strip_prefix('[')?;
        let at = parts.as_ptr().addr().checked_sub(line.as_ptr().addr()).filter(|at| *at <= line.len())?;
        let comma = if parts.trim_start().starts_with(']') { "" } else { "," };
        let part = format!("{}{comma}", json!({"type": "text", "text": notes}));
        Some([&line[..at], part.as_bytes(), &line[at..]].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, expected: Option<&str>) {
        let mut notes = CallNotes::default();
        let id: Box<RawValue> = serde_json::from_str("7").unwrap();
        notes.remember(&id, &["Note: a".to_owned(), "Note: b".to_owned()]);
        let changed = notes.add_to_answer(answer.as_bytes(), &Message::parse(answer.as_bytes()).unwrap());
        assert_eq!(changed.map(|line| String::from_utf8(line).unwrap()).as_deref(), expected);
    }

    #[test]
    fn notes_come_before_the_result() {
        check(
            r#" {"id":7, "result":{"content":[ {"type":"text","text":"x"}],"isError":false}}"#,
            Some(
                r#" {"id":7, "result":{"content":[{"text":"Note: a\nNote: b","type":"text"}, {"type":"text","text":"x"}],"isError":false}}"#,
            ),
        );
        check(
            r#"{"id":7,"result":{"content":[]}}"#,
            Some(r#"{"id":7,"result":{"content":[{"text":"Note: a\nNote: b","type":"text"}]}}"#),
        );
    }

    #[test]
    fn other_answers_stay_as_they_are() {
        check(r#"{"id":"7","result":{"content":[]}}"#, None);
        check(r#"{"id":7,"error":{"code":-32602,"message":"no"}}"#, None);
        check(r#"{"id":7,"result":{"content":"text"}}"#, None);
        check(r#"{"method":"notifications/progress"}"#, None);
    }
}
